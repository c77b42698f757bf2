/*
 * The words, simplified and in lower case, as runes_read() makes them.
 */
#include "lexicon.h"

#include "core/mem.h"

#define CUE(e, strength, words)                                    \
	{                                                          \
		LEXICON_CUE, WIRE_EMOTION_##e, (strength), (words), 0, 0 \
	}
#define WORD(k, words)                                        \
	{                                                     \
		LEXICON_##k, WIRE_EMOTION_NEUTRAL, 0, (words), 0, 0 \
	}

const struct lexicon_row lexicon[] = {
	/* ---- Chinese cues, per emotion from strong to weak ---- */
	CUE(ANGER, .85,
	    "气死|气死我了|气炸|暴怒|大怒|火冒三丈|忍无可忍|欺人太甚|混蛋|"
	    "王八蛋|滚开|给我滚|去死|混账|畜生|他妈的|妈的|抓狂"),
	CUE(ANGER, .7,
	    "生气|愤怒|火大|恼火|怒了|发火|气坏|气人|气愤|气得|恼怒|可恶|"
	    "可恨|来气|怒气|好气|真气|闭嘴|你有病|太过分|过分了|窝火|"
	    "一肚子火|凭什么"),
	CUE(DISGUST, .75,
	    "恶心|反胃|厌恶|作呕|想吐|倒胃口|看吐了|臭死|脏死|恶臭"),
	CUE(DISGUST, .6,
	    "嫌弃|讨厌|鄙视|好臭|好脏|肮脏|太脏|下头|呕|膈应|油腻"),
	CUE(DISGUST, .4, "不喜欢|不爱"),
	CUE(FRUSTRATION, .75,
	    "挫败|受挫|崩溃|烦死|烦死了|烦透|受不了|气馁|破防|绷不住|"
	    "蚌埠住了|真的会谢|裂开|心态崩"),
	CUE(FRUSTRATION, .6,
	    "卡住了|做不出来|好烦|真烦|太烦|烦躁|心烦|烦人|郁闷|无语|心累|"
	    "头大|没辙|搞不定|弄不好|修不好|学不会|不会做|不耐烦|又失败|"
	    "又报错|又坏了|又断|又卡|怎么又|难搞|服了|哭笑不得|白忙|折腾"),
	CUE(FRUSTRATION, .45, "烦"),
	CUE(ANXIETY, .75,
	    "焦虑|忐忑|坐立不安|坐立难安|心神不宁|急死|愁死|慌死"),
	CUE(ANXIETY, .65,
	    "紧张|不安|睡不着|压力很大|压力好大|压力太大|压力大|担心|担忧|"
	    "忧虑|发愁|着急|心里没底|失眠|好慌|心慌|慌了|慌张|放心不下|"
	    "不放心|来不及了|压力山大|喘不过气"),
	CUE(ANXIETY, .4, "慌|怎么办|压力"),
	CUE(FEAR, .8, "吓死|恐惧|恐慌|毛骨悚然|瑟瑟发抖|胆战|心惊|吓坏|救命"),
	CUE(FEAR, .65,
	    "害怕|吓到|可怕|发怵|好怕|很怕|怕死|怕黑|怕怕|恐怖|发抖|不敢|"
	    "吓人|吓得|噩梦|惊恐|发毛|阴森"),
	CUE(FEAR, .45, "怕"),
	CUE(SADNESS, .8,
	    "心碎|悲痛|痛哭|痛苦|绝望|去世|离世|失恋|悲伤|哭死|崩溃大哭"),
	CUE(SADNESS, .7,
	    "难过|伤心|想哭|哭了|低落|不开心|不快乐|孤独|孤单|寂寞|难受|心痛|"
	    "委屈|心酸|流泪|眼泪|分手|抑郁|泪目|emo|走丢|伤感|悲观|心疼|"
	    "没人陪|没有人陪"),
	CUE(SADNESS, .5,
	    "不高兴|好丧|很丧|想家|哭|批评|挨批|挨骂|被骂|骂我|骂了我|"
	    "心情不好|心情很差|心情差|心情糟|不舒服|被欺负|想念|唉"),
	CUE(SADNESS, .35, "好累|太累|累死|累坏|疲惫|不太好"),
	CUE(DISAPPOINTMENT, .7,
	    "失望|落空|白期待|不如预期|失落|寒心|白高兴|白等|泡汤|扫兴|心凉|"
	    "辜负"),
	CUE(DISAPPOINTMENT, .5,
	    "遗憾|可惜|不过如此|还以为|本以为|白费|没考上|没选上|没通过|落选|"
	    "取消了|又没来|没抢到"),
	CUE(BOREDOM, .65,
	    "无聊|没意思|无趣|乏味|枯燥|百无聊赖|闲得|无所事事|没劲|闷得慌"),
	CUE(BOREDOM, .5,
	    "很闲|好闲|发呆|好闷|没事干|没事做|闲着没事|打不起精神|提不起劲|"
	    "提不起兴趣|单调|腻了"),
	CUE(JOY, .7,
	    "开心|高兴|快乐|幸福|喜悦|太棒了|太好了|棒极了|乐死|笑死|美滋滋|"
	    "欢喜|愉快|乐开花"),
	CUE(JOY, .6,
	    "哈哈|嘻嘻|嘿嘿|满意|好棒|真棒|爱死|爱你|爱了|心情好|心情不错|"
	    "成功了|做到了|通过了|考上了|满分|第一名"),
	CUE(JOY, .45,
	    "不错|喜欢|可爱|好玩|有趣|有意思|真好|厉害|给力|完美|好吃|好听|"
	    "好看|赞|甜|乐了|生日快乐|笑了|真乖|好乖"),
	CUE(GRATITUDE, .7,
	    "感谢|谢谢|多谢|感激|感恩|谢啦|谢了|谢过|帮大忙|帮了大忙|谢谢你"),
	CUE(GRATITUDE, .5, "辛苦了|辛苦你|辛苦啦|多亏|蟹蟹|3q|有你真好"),
	CUE(RELIEF, .7,
	    "松了一口气|松了口气|松口气|如释重负|谢天谢地|虚惊一场|终于结束|"
	    "放心了|释然|解脱|万幸"),
	CUE(RELIEF, .5,
	    "还好|幸好|幸亏|总算|好险|踏实|轻松多了|轻松了|没事了|终于好了|"
	    "搞定了|终于搞定|熬过|安心|找到了|终于找到"),
	CUE(RELIEF, .4, "终于"),
	CUE(EXCITEMENT, .75,
	    "兴奋|激动|太爽|燃起来|冲啊|冲鸭|迫不及待|等不及|热血|沸腾|中奖|"
	    "赢了|万岁|太刺激|好刺激|好燃|燃爆|嗨起来|啊啊啊"),
	CUE(EXCITEMENT, .55,
	    "期待|太酷|泰裤辣|绝了|牛逼|牛啊|yyds|爽|欧耶|耶|好耶"),
	CUE(SURPRISE, .65,
	    "惊讶|震惊|没想到|想不到|惊呆|难以置信|不敢相信|大吃一惊|"
	    "怎么可能|出乎意料|吓我一跳|吓一跳|吓了一跳|吓了我一跳|惊喜|惊到"),
	CUE(SURPRISE, .5,
	    "居然|竟然|哇|天啊|天哪|天呐|真的假的|不会吧|不是吧|意外|我的天|"
	    "我去|卧槽|好家伙|哇塞|哇哦|什么鬼|咦"),
	CUE(CALM, .6,
	    "平静|冷静|淡定|放松|安稳|惬意|安逸|宁静|安宁|悠闲|心静|平和|"
	    "从容|岁月静好|释怀|想开"),
	CUE(CALM, .45, "自在|慢慢来|不急|顺其自然|随缘|舒服|舒心|没关系"),

	/* ---- English cues ---- */
	CUE(ANGER, .8,
	    "furious|livid|enrage*|infuriat*|outrage*|pissed|pissed off|"
	    "how dare|shut up|screw you|go to hell|damn you|fuck you|so mad|"
	    "mad at"),
	CUE(ANGER, .65,
	    "angry|wtf|unacceptable|hate you|i hate|damn it|idiot|"
	    "makes me mad|rage|ridiculous|mad"),
	CUE(DISGUST, .7,
	    "disgust*|repuls*|revolt*|sicken*|gross|yuck|eww*|ew|vomit*|puke|"
	    "loath*|vile|filthy|nasty|creepy"),
	CUE(DISGUST, .45, "hate|stinks|smelly|don't like|dislike*"),
	CUE(FRUSTRATION, .65,
	    "frustrat*|annoy*|ugh|argh*|fed up|irritat*|sick of|tired of|"
	    "nothing works|keeps failing|keeps crashing|can't take it|"
	    "give up|at my wits' end|drives me crazy"),
	CUE(FRUSTRATION, .45,
	    "stuck|not working|doesn't work|won't work|exhausting|so done|"
	    "again and again"),
	CUE(ANXIETY, .65,
	    "anxious|anxiety|nervous|worried|worry|worries|worrying|stressed|"
	    "uneasy|panicking|panicked|on edge|overwhelm*|freaking out|"
	    "can't sleep|restless"),
	CUE(ANXIETY, .45, "stress|stressful|pressure|what if|panic"),
	CUE(FEAR, .7,
	    "afraid|scared|terrif*|frighten*|horrif*|nightmare*|petrified"),
	CUE(FEAR, .55, "scary|spooky|dread*|creeps me out|fear"),
	CUE(SADNESS, .75,
	    "heartbroken|depress*|hopeless|grief|griev*|miserable|"
	    "passed away|broke up|in tears|crying|cried|devastated"),
	CUE(SADNESS, .65,
	    "sad|unhappy|upset|lonely|cry|miss you|miss him|miss her|miss my|"
	    "feel down|feeling down|feeling blue|sorrow|gloomy|left out|:(|"
	    ":'("),
	CUE(SADNESS, .4,
	    "bad day|awful day|terrible day|rough day|so tired|exhausted|"
	    "hurts|not well|worn out"),
	CUE(DISAPPOINTMENT, .65,
	    "disappoint*|let down|let me down|had hoped|expected more|"
	    "expected better|underwhelm*|bummer|what a shame"),
	CUE(DISAPPOINTMENT, .45,
	    "too bad|what a pity|such a pity|canceled|cancelled"),
	CUE(BOREDOM, .65,
	    "bored|boring|boredom|tedious|monotonous|nothing to do|dull"),
	CUE(BOREDOM, .35, "meh|same old"),
	CUE(JOY, .7,
	    "happy|glad|delight*|overjoyed|joy*|wonderful|cheerful|so good|"
	    "great day|love it|love you|good mood|happiest|happier"),
	CUE(JOY, .55,
	    "haha*|hehe*|yay|terrific|awesome|amazing|fantastic|brilliant|"
	    "perfect|great job|well done|good job|lovely|enjoy*|lol|:)|:d|"
	    "laugh*|fun"),
	CUE(JOY, .4,
	    "great|nice|cool|cute|funny|not bad|nice to meet you|excellent|"
	    "love"),
	CUE(GRATITUDE, .7,
	    "thank you|thanks|thank|thx|grateful|gratitude|appreciat*|"
	    "much obliged|thankful"),
	CUE(RELIEF, .7,
	    "reliev*|relief|phew|whew|thank god|thank goodness|thank heavens|"
	    "finally over|finally done|dodged a bullet"),
	CUE(RELIEF, .45, "luckily|at last|finally|fortunately|that was close"),
	CUE(EXCITEMENT, .75,
	    "excit*|can't wait|cannot wait|thrill*|pumped|hyped|stoked|"
	    "psyched|woohoo|woo hoo|hooray|we won|i won"),
	CUE(EXCITEMENT, .5, "omg|let's go|here we go|looking forward to"),
	CUE(SURPRISE, .65,
	    "surpris*|can't believe|cannot believe|unexpected*|shocked|"
	    "shocking|astonish*|unbelievable|didn't expect|out of nowhere|"
	    "startled"),
	CUE(SURPRISE, .5,
	    "wow|whoa|no way|oh my god|oh my|what the|are you serious|"
	    "for real"),
	CUE(CALM, .6,
	    "calm|calmer|relaxed|relaxing|peaceful|at peace|serene|tranquil*|"
	    "at ease"),
	CUE(CALM, .4,
	    "no rush|no hurry|take it easy|chill|mellow|no worries|cozy"),

	/* ---- signs ---- */
	CUE(JOY, .55,
	    "😀|😁|😂|🤣|😊|😄|😃|😆|🙂|😍|🥰|😘|❤|💕|👍"),
	CUE(SADNESS, .6, "😭|😢|😞|💔|🥺|😿"),
	CUE(ANGER, .65, "😡|😠|🤬|👿"),
	CUE(FRUSTRATION, .55, "😤|😩|😫|🤦|😒|🙄"),
	CUE(FEAR, .6, "😱|😨|👻"),
	CUE(ANXIETY, .55, "😰|😟|😥|😓"),
	CUE(SURPRISE, .6, "😮|😲|😯|🤯"),
	CUE(DISGUST, .6, "🤢|🤮"),
	CUE(DISAPPOINTMENT, .55, "😔|😕"),
	CUE(GRATITUDE, .5, "🙏"),
	CUE(EXCITEMENT, .6, "🥳|🎉|🤩|🔥"),
	CUE(RELIEF, .5, "😌|😮‍💨"),
	CUE(BOREDOM, .5, "😴|🥱|😑"),

	/* ---- what acts on cues ---- */
	WORD(NOT,
	    "不|没|没有|没法|没办法|别|不要|不是|不会|不太|不怎么|不再|"
	    "不那么|没那么|并不|并没有|从不|从来不|毫不|绝不|一点也不|"
	    "一点都不|一点儿也不|没什么|没啥|不用|不必|无需|未|勿|甭|不觉得|"
	    "不算|谈不上|no|not|never|isn't|aren't|wasn't|weren't|don't|"
	    "doesn't|didn't|won't|can't|cannot|couldn't|wouldn't|shouldn't|"
	    "haven't|hasn't|ain't|isnt|dont|didnt|without|hardly|barely|"
	    "no longer|not at all|neither|nor|stop"),
	WORD(MORE,
	    "很|太|非常|特别|超|超级|极|极其|极度|十分|相当|真|真的|真是|好|"
	    "老|更|最|尤其|格外|异常|这么|那么|如此|多么|无比|万分|完全|实在|"
	    "可真|挺|贼|巨|从没这么|从没有这么|从来没这么|从来没有这么|"
	    "还没这么|very|so|really|extremely|totally|super|too|incredibly|"
	    "absolutely|truly|such|damn|fucking|freaking|deeply|terribly|"
	    "awfully|utterly|most|never been so|never been this|"
	    "never been more|never felt so|never felt more|quite"),
	WORD(LESS,
	    "有点|有点儿|有些|一点|一点点|稍微|略|略微|还算|比较|些许|a bit|"
	    "a little|a little bit|kind of|kinda|sort of|slightly|somewhat|"
	    "rather|fairly"),
	WORD(LINK,
	    "觉得|感到|感觉|再|也|都|到|地|让人|让我|令人|令我|怎么|是|的|又|"
	    "就|被|想|会|儿|feel|feeling|be|been|being|that|this|a|an|the|"
	    "any|to|all|even|get|getting|at|it|is|exactly|particularly|much|"
	    "of"),
	WORD(MOST,
	    "死了|死我了|死人了|死啦|极了|坏了|透了|透顶|得不行|得要命|要命|"
	    "爆了|惨了|到爆|疯了|得要死|到哭|as hell|as fuck|to death|"
	    "like crazy"),
	WORD(THING,
	    "歌|歌曲|曲子|音乐|故事|电影|视频|笑话|表情|动画|图片|小说|铃声|"
	    "节目|song*|music|movie*|story|stories|film*|playlist*|video*|"
	    "joke*|picture*|emoji*"),
	WORD(BUT, "但是|但|可是|不过|然而|but|however|though|although|yet"),
	WORD(YOU, "你|您|你们|you|u|your|you're|yours"),
	WORD(ME, "我|我们|咱|咱们|俺|i|i'm|im|i've|i'll|i'd|me|my|we|we're|us"),
	WORD(ASK, "吗|么|为什么|为啥|why|什么时候|when"),

	/* ---- what only looks like it ---- */
	WORD(PLAIN,
	    "不得不|忍不住|不由得|要不要|是不是|好不容易|不仅|不但|不止|不只|"
	    "没完没了|说不定|对不起|不好意思|差不多|能不能|可不可以|会不会|"
	    "有没有|没问题|不客气|不管|不同|不一样|不知道|不然|不要紧|"
	    "开不开心|高不高兴|生不生气|难不难过|喜不喜欢|怕不怕|别人|别的|"
	    "性别|级别|区别|分别|告别|别墅|恐怕|哪怕|怕是|麻烦|还好吗|还好么|"
	    "天气|客气|脾气|好气质|真气派|爽约|凉爽|清爽|意外险|甜点|甜品|"
	    "甜食|歌词|点赞|赞助|赞成|丧失|丧生|压力表|压力锅|慌忙|未来|没收|"
	    "沉没|说服|佩服|克服|衣服|耶稣|玩笑|什么|怎么样|那么多|这么多|"
	    "not only|not just|no problem|no doubt|not sure|fun fact|"
	    "make fun of|mad max|great wall|great britain|cool down|"
	    "joystick*|stop it|fear of missing|thank you note"),
};

const size_t lexicon_n = NELEM(lexicon);
