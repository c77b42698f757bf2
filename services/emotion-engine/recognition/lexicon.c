/*
 * The index of the lexicon, and the words that modify cues or classify a whole
 * text.
 */
#include "recognition/lexicon.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "recognition/codepoints.h"

#define WORD(k, words, yes, no)                                            \
	{                                                                  \
		LEXICON_##k, WIRE_EMOTION_NEUTRAL, 0, (words), (yes), (no) \
	}

static const struct lexicon_row lexicon_rules[] = {
	WORD(NOT,
	    "不|没|没有|没法|没办法|别|不要|不是|不会|不太|不怎么|不再|"
	    "不那么|没那么|并不|并没有|从不|从来不|毫不|绝不|一点也不|"
	    "一点都不|一点儿也不|没啥|不用|不必|无需|未|勿|甭|"
	    "不算|no|not|never|isn't|aren't|wasn't|weren't|"
	    "don't|doesn't|didn't|won't|can't|cannot|couldn't|wouldn't|"
	    "shouldn't|haven't|hasn't|ain't|isnt|dont|didnt|without|hardly|"
	    "barely|no longer|not at all|neither|nor|stop",
	    "我不难过|我没有那么焦虑|I'm not happy|never afraid",
	    "不，我很开心|不去上学我就难过|no, I am happy|忍不住想哭|真不错"),
	WORD(FAR,
	    "谈不上|说不上|算不上|称不上|没觉得|不觉得|不认为|没感到|没感觉|"
	    "没什么|没有什么|没人会|没有人会|没有像|并没有像|"
	    "从来就没|从来都没|从没有|从来没有|没有一天|没有一刻|没有一次|"
	    "没有的事|谁说|不能说|并不是|倒不是|哪里会|哪能|"
	    "哪会|有什么好|有什么值得|有什么可|有啥可|才怪|"
	    "才没有|哪来的|何来|哪门子|算什么|别以为|谁会|还没到|不至于|"
	    "犯不着|没必要|用不着|挤不出|提不起|别指望|别想让|哪有|哪里|早就没|"
	    "又不是|我什么时候|没有让|没让|不用替|不必为|不用为|别为|别替|"
	    "说不出哪里|没什么值得|没有半点|没有一丝|"
	    "can't say|cannot say|couldn't say|can't honestly say|"
	    "wouldn't say|would not say|wouldn't call|would not call|"
	    "wouldn't exactly|not exactly|not what i'd call|"
	    "hardly what i'd call|can't call|nothing makes|nothing made|"
	    "nothing about|nothing could|nobody could|"
	    "no one could|"
	    "never once|not once|it's not like|its not like|it isn't like|"
	    "it isn't that|it's not that|it wasn't that|"
	    "not that i|i'm not saying|im not saying|not saying|no way i|"
	    "no way i'm|who said i|who says i|anything but|far from|"
	    "hard to feel|hard to be happy|difficult to feel|"
	    "impossible to feel|"
	    "can't remember the last time|can't remember being|"
	    "don't think i'm|don't think i am|wouldn't describe|"
	    "it would be a lie|no reason to|not as if|refuse to be|"
	    "refuse to feel|refuse to get|failed to|bring myself to|yet to|"
	    "nothing seems|don't find|don't see|wasn't exactly|"
	    "isn't exactly|won't see me|won't catch me|won't find me|"
	    "takes more than that|never said i|don't expect me to|"
	    "how am i supposed to be|why would i be|who could be|"
	    "nothing to be|impossible to stay|impossible to be|"
	    "slightest bit|feel less|felt less|be less|nowhere near|"
	    "no need to be|wish i could be|pretend to be|pretending to be|"
	    "none of that|none of this|nobody could|no one could|nobody needs|"
	    "no one needs|have it in me to|"
	    "nothing to|never a moment|isn't a single|wasn't a single|"
	    "too old to be|too tired to be|too busy to be|"
	    "wrong to think i'm|don't feel like|didn't feel like|"
	    "occurred to me to be|the opposite of how|the last thing i feel|"
	    "not remotely|not in the least|by no means|"
	    "stopped being|stopped feeling",
	    "说不上有多难过|我没觉得有什么好生气的|I can't say I'm happy|"
	    "nothing about today made me happy",
	    "我很难过"),
	WORD(MORE,
	    "别提多|别提有多|甭提多|不要太|很|太|非常|特别|超|超级|极|极其|"
	    "极度|十分|相当|真|真的|真是|"
	    "好|老|更|最|尤其|格外|异常|这么|那么|如此|多么|无比|万分|完全|"
	    "实在|可真|挺|贼|巨|从没这么|从没有这么|从来没这么|"
	    "从来没有这么|从来没觉得这么|从没觉得这么|还没这么|very|so|really|"
	    "extremely|totally|super|"
	    "too|incredibly|absolutely|truly|such|damn|fucking|freaking|"
	    "deeply|terribly|awfully|utterly|most|never been so|"
	    "never been this|never been more|never felt so|never felt more|"
	    "quite",
	    "我很难过|从来没有这么开心|I am really angry", "难过"),
	WORD(LESS,
	    "有点|有点儿|有些|一点|一点点|稍微|略|略微|还算|比较|些许|"
	    "a bit|a little|a little bit|kind of|kinda|sort of|slightly|"
	    "somewhat|rather|fairly",
	    "有点难过|kind of happy", "一点都不快乐"),
	WORD(LINK,
	    "觉得|感到|感觉|再|也|都|到|地|让人|让我|令人|令我|怎么|是|的|"
	    "又|就|被|想|会|儿|为我|为你|为这|对我|给我|在|过|feel|feeling|be|"
	    "been|being|that|this|a|an|"
	    "the|any|to|all|even|get|getting|at|it|is|exactly|particularly|"
	    "much|of",
	    NULL, NULL),
	WORD(MOST,
	    "死了|死我了|死人了|死啦|极了|坏了|透了|透顶|得不行|得要命|"
	    "要命|爆了|惨了|到爆|疯了|得要死|到哭|as hell|as fuck|to death|"
	    "like crazy",
	    "难过死了|sad as hell", "难过"),
	WORD(THING,
	    "歌|歌曲|曲子|音乐|故事|电影|视频|笑话|表情|动画|图片|小说|"
	    "铃声|节目|song*|music|movie*|story|stories|film*|playlist*|"
	    "video*|joke*|picture*|emoji*",
	    "放一首悲伤的歌|play a happy song", "歌让我难过"),
	WORD(UNDO, "不起来|不到哪|不了|不下去|不出来|不得起来", NULL, NULL),
	WORD(BUT, "但是|但|可是|不过|然而|but|however|though|although|yet",
	    "昨天很开心，可是今天想哭|I was angry but now I'm calm", NULL),
	WORD(YOU, "你|您|你们|you|u|your|you're|yours", "你开心吗", NULL),
	WORD(ME, "我|我们|咱|咱们|俺|i|i'm|im|i've|i'll|i'd|me|my|we|we're|us",
	    NULL, "你知道我很难过吗？"),
	WORD(QUESTION, "吗|么|为什么|为啥|why|什么时候|when", "你难过吗", NULL),
	WORD(THEY,
	    "他|她|它|他们|她们|老师说|妈妈说|爸爸说|医生说|同学说|听说|"
	    "据说|别人|人家|大家说|小兔子|小熊|故事里|书里|书上|新闻|"
	    "邻居说|有人说|he|she|they|he's|she's|they're|my sister|"
	    "my brother|my boss|my friend|the article|the news|the book|"
	    "somebody said|people say",
	    "老师说小兔子很害怕|She was worried", "他说我很难过"),
	WORD(ORDER,
	    "打开|关掉|关上|开灯|关灯|把灯|调高|调低|调大|调小|播放|放一首|"
	    "放首|来一首|来首|唱一首|唱首|讲个|讲一个|给我讲|说个|帮我查|"
	    "帮我看|帮我算|帮我把|帮我设|帮我打开|帮我关|帮我记|帮我订|"
	    "帮我找|帮我定|请把|请你把|请帮我|请打开|请关|设一个|设个|定个|"
	    "定一个|叫我起床|记一下|记住|查一下|查查|搜一下|搜索|翻译|导航|"
	    "暂停|继续|下一首|上一首|音量|声音大|声音小|退出|返回|停止|"
	    "turn on|turn off|turn up|turn down|switch on|switch off|play|"
	    "pause|set a|set an|set the|remind me|add|open the|close the|"
	    "call|text|send|read me|tell me a|tell me the|show me|find me|"
	    "search|look up|book a|order|start|stop the|translate|increase|"
	    "decrease|volume|dim|mute|wake me|put on|could you turn|"
	    "can you turn|would you turn|please turn|please play|"
	    "can you play|could you play|can you set|could you set",
	    "打开空调|请帮我记录一下|turn on the light|remind me at eight",
	    "我想打开空调|I turn on the light"),
	WORD(META,
	    "怎么读|怎么写|怎么拼|怎么念|几声|反义词|近义词|同义词|"
	    "什么意思|啥意思|是什么意思|用英语|英语怎么说|英文怎么说|"
	    "用英文|拼音|造句|造个句|这个词|这个字|那个字|两个字|个字怎么|"
	    "成语|歌名|片名|书名|台词|歌词|这首歌|这部电影|叫做|标题是|"
	    "写成|翻译成|篇关于|基本情绪|心理学上|日记里要写|读几声|偏旁|笔画|"
	    "多音字|how do you spell|"
	    "how do you say|how do i say|how do you pronounce|what does|"
	    "what's the word|the word|the phrase|synonym*|antonym*|"
	    "opposite of|meaning of|is called|called the|define|definition|"
	    "paper about|paper on|"
	    "homework is to|the chapter on|the lesson on|film called|"
	    "movie called|book called|novel called|basic emotions|"
	    "words for|is also a first name|"
	    "same as|letters are in|noun form|adjective|in the dictionary|"
	    "is stronger|spelled|has to look|in scene|"
	    "difference between|essay|survey|do plants|do animals|"
	    "can animals|can plants|do babies|the author of|"
	    "的作者|动物会|小狗会|小猫会|植物会|怎么解释|"
	    "一回事吗|一样吗|写一句话|组词|的区别是|"
	    "in french|in chinese|in english|in spanish|rhyme*|the song|"
	    "the film|the movie|the novel|headline|chapter called|title",
	    "“难过”用英语怎么说|无聊的无怎么写|how do you spell \"angry\"",
	    "我很难过"),
	WORD(FACT,
	    "开不开心|高不高兴|生不生气|难不难过|喜不喜欢|怕不怕|天气|气温|"
	    "下雨吗|几度|多少度|几点钟|现在几点|星期几|几号|几月|多少钱|"
	    "怎么走|怎么去|怎么用|怎么做的|怎么做才|在哪里|在哪儿|"
	    "在什么地方|多远|多高|多大岁数|多重|多长时间|多少人|多少米|"
	    "多少公里|有几个|有多少|是谁|谁写的|谁发明|哪一年|哪年|"
	    "哪个国家|首都|人口|面积|为什么天|为什么会|原理|步骤|区别|配方|"
	    "热量|含量|属于|成分|能活多久|几条腿|营业时间|电话号码|地址|"
	    "如何|what time|what day|what date|what's the weather|"
	    "the weather|how many|how much|how far|how tall|how long does|"
	    "how long is|how long should|how old is|how do i get to|"
	    "where is|where's the|where can i|when is|when does|when was|"
	    "who is|who was|who wrote|who invented|which country|"
	    "capital of|population|recipe|opening hours|phone number|"
	    "address of|what breed|what colour is|what color is|"
	    "what is the|what's the difference|is there such a thing|"
	    "how does|does a|do cats|do dogs|do fish|can you eat|"
	    "is it true that",
	    "今天上海天气如何？|开不开心|what time is it", "今天很难过"),
	WORD(ACK,
	    "嗯|嗯嗯|哦|噢|好的|好吧|行|可以|是的|对|对的|知道了|明白|收到|"
	    "了解|你好|您好|早|早上好|晚安|再见|拜拜|在吗|喂|ok|okay|yes|"
	    "yeah|yep|nope|sure|right|got it|i see|hi|hello|hey|bye|"
	    "goodnight|good night|good morning|fine|alright|maybe|k|lol ok|"
	    "never mind|nevermind|just now|later|next",
	    "好的|你好|ok|got it", "好的开始|ok I am sad"),
	WORD(MOCK,
	    "呵呵|你真棒啊|你可真棒|真谢谢你|可真行|真有你的|你真行|你可真行|"
	    "我谢谢你|我真谢谢你|"
	    "谢谢您嘞|好得很|可真会|可真聪明|真聪明啊你|真会挑时候|"
	    "真是时候|真及时|了不起啊|就你能|你厉害你|真是太感谢你了|"
	    "可把你|您老|太贴心了|可真贴心|真会照顾人|可真会做人|多谢夸奖|"
	    "感恩戴德|"
	    "好极了又|棒极了又|真棒又|可真棒|可真好|真够可以|"
	    "算你狠|我服了|真不愧|oh great|oh brilliant|oh wonderful|"
	    "oh perfect|oh fantastic|oh lovely|oh joy|oh good|just great|"
	    "just what i needed|just perfect|just brilliant|just wonderful|"
	    "how lovely another|nice job|thanks for waking|"
	    "how thoughtful of you|how kind of you to|how lovely of you to|"
	    "what a genius|love that for me|lucky me|so considerate of you|"
	    "my favourite hobby|my favorite hobby|just my luck|"
	    "oh wow thanks|oh thanks|thanks for nothing|"
	    "thanks a bunch|nice going|nice one genius|well done you|"
	    "well isn't that|great just|real mature|real nice|"
	    "brilliant another|great another|wonderful another|"
	    "fantastic another|lovely another|sure because|big help|genius",
	    "你可真行啊|呵呵|oh great, it broke|thanks for nothing",
	    "谢谢你|great"),
	WORD(BAD,
	    "又坏|又停|又迟到|又死机|又涨价|又加班|又取消|又晚点|又下雨|"
	    "又丢|又堵|又熄火|又漏水|被你弄坏|弄丢了|弄坏了|全洒|洒了|泡坏|"
	    "停水|白跑一趟|摔碎|打碎|吵醒|三点吵|又双叒|"
	    "大半夜|就醒了|扔雨里|没人管|dead battery|broke again|"
	    "broken again|crashed again|late again|down again|"
	    "another update|another meeting|delayed again|right before|"
	    "right in the middle|two minutes before|cancelled again|"
	    "spilled|lost my|deleted|it broke|flat tyre|flat tire|"
	    "parking ticket|at three in the morning|rained all|"
	    "died again|is cancelled|is delayed|locked the keys|"
	    "eating my|ate my|breaking the|breaking my|"
	    "at 6 am|at six in the morning|"
	    "being ignored|because of you|"
	    "leaking again|stuck in traffic|crashed|"
	    "power cut|flooded|cancelled on me|"
	    "another fine|another bill",
	    "太好了，又停了|lovely, it broke again", "断了"),
	WORD(PLAIN,
	    "不得不|不是我不|不是不|不能说不|怎么可能不|怎么能不|怎么会不|"
	    "哪能不|哪有不|不可能不|没法不|岂能不|谁能不|不会不|没理由不|"
	    "不得了|couldn't be more|could not be more|can't help|can't stop|"
	    "don't know why|never thought|"
	    "never imagined|not a day goes by|no wonder|"
	    "impossible not to|can't deny|can't hide|couldn't hide|"
	    "how can i not|how could i not|can't say i'm not|"
	    "can't say i am not|who wouldn't be|no way i'm not|"
	    "not that i'm not|nobody could be more|no one is more|"
	    "no one could be more|hardly anyone was more|haven't been this|"
	    "haven't been so|haven't felt this|haven't felt so|"
	    "don't think i've ever been|can't imagine being|"
	    "couldn't imagine being|how could anyone not|who wouldn't|"
	    "who doesn't|没哪天不|谁不|"
	    "没有一天不|没有一刻不|忍不住|不由得|要不要|是不是|好不容易|不仅|"
	    "不但|不止|"
	    "不只|说不定|对不起|不好意思|差不多|能不能|可不可以|有没有|"
	    "不客气|不管|不同|不一样|不知道|不然|不要紧|别的|性别|级别|"
	    "分别|别墅|恐怕|哪怕|怕是|麻烦|还好吗|还好么|客气|脾气|好气质|"
	    "真气派|凉爽|清爽|意外险|甜点|甜品|甜食|点赞|赞助|赞成|丧失|"
	    "丧生|压力表|压力锅|慌忙|未来|没收|沉没|说服|佩服|克服|衣服|"
	    "耶稣|玩笑|什么|怎么样|那么多|这么多|开心果|快乐星球|安静一点|"
	    "安静点|臭豆腐|电影院|汗毛巾|云南|云端|not only|not just|"
	    "no problem|no doubt|not sure|fun fact|make fun of|mad max|"
	    "great wall|great britain|cool down|joystick*|stop it|"
	    "fear of missing|thank you note|inside out|good evening|"
	    "good afternoon|grand theft",
	    NULL, "什么make fun of it"),
};

const struct lexicon_part lexicon_rule = { lexicon_rules,
	NELEM(lexicon_rules) };

const struct lexicon_part *const lexicon_parts[LEXICON_PARTS_N] = {
	&lexicon_rule,
	&lexicon_zh,
	&lexicon_en,
	&lexicon_hint_zh,
	&lexicon_hint_en_bad,
	&lexicon_hint_en_good,
};

#define HEADS_N  8192 /* a power of two */
#define WORD_MAX 32   /* code points */

struct lexicon_word {
	const struct lexicon_row *row;
	uint32_t *codepoints;
	uint16_t n;
	bool open;                 /* written with a '*': matches any ending */
	struct lexicon_word *next; /* in its chain */
};

struct lexicon {
	struct lexicon_word *all;
	size_t n;
	struct lexicon_word *heads[HEADS_N];
};

static size_t
lexicon_head(uint32_t first, uint32_t second)
{
	uint32_t h = first * UINT32_C(2654435761) ^ second * UINT32_C(40503);

	return (h ^ h >> 15) & (HEADS_N - 1);
}

static bool
lexicon_is_letter(uint32_t r)
{
	return codepoint_is_latin(r) && r != '\'';
}

static void
word_init(struct lexicon_word *w, const struct lexicon_row *row, struct str s)
{
	uint32_t codepoints[WORD_MAX];

	w->row = row;
	w->open = s.n > 0 && s.p[s.n - 1] == '*';
	if (w->open)
		s.n--;
	w->n = (uint16_t)codepoints_fold(s, codepoints, WORD_MAX);
	w->codepoints = mem_calloc(w->n, sizeof(codepoints[0]));
	memcpy(w->codepoints, codepoints, w->n * sizeof(codepoints[0]));
}

static int
word_by_length(const void *a, const void *b)
{
	const struct lexicon_word *x = a, *y = b;

	return (x->n > y->n) - (x->n < y->n);
}

static size_t
lexicon_count_words(void)
{
	size_t i, k, n = 0;

	for (k = 0; k < LEXICON_PARTS_N; k++) {
		for (i = 0; i < lexicon_parts[k]->n; i++) {
			struct str rest =
			    str_of(lexicon_parts[k]->rows[i].words);

			for (; rest.p != NULL; n++)
				(void)str_split(&rest, '|');
		}
	}
	return n;
}

static void
lexicon_add_row(struct lexicon *w, const struct lexicon_row *row)
{
	struct str rest = str_of(row->words);

	while (rest.p != NULL)
		word_init(&w->all[w->n++], row, str_split(&rest, '|'));
}

struct lexicon *
lexicon_new(void)
{
	struct lexicon *w = mem_zalloc(sizeof(*w));
	size_t i, k;

	w->all = mem_calloc(lexicon_count_words(), sizeof(w->all[0]));
	for (k = 0; k < LEXICON_PARTS_N; k++) {
		for (i = 0; i < lexicon_parts[k]->n; i++)
			lexicon_add_row(w, &lexicon_parts[k]->rows[i]);
	}
	/* Words are prepended to their chain, so the longest come first. */
	qsort(w->all, w->n, sizeof(w->all[0]), word_by_length);
	for (i = 0; i < w->n; i++) {
		struct lexicon_word *x = &w->all[i];
		size_t h = lexicon_head(
		    x->codepoints[0], x->n > 1 ? x->codepoints[1] : 0);

		x->next = w->heads[h];
		w->heads[h] = x;
	}
	return w;
}

void
lexicon_free(struct lexicon *w)
{
	size_t i;

	if (w == NULL)
		return;
	for (i = 0; i < w->n; i++)
		free(w->all[i].codepoints);
	free(w->all);
	free(w);
}

/* Whether a Latin word continues at text[at]: "i won" is not in "i won't". */
static bool
word_continues(const uint32_t *text, size_t n, size_t at)
{
	if (at < n && text[at] == '\'')
		at++;
	return at < n && lexicon_is_letter(text[at]);
}

/* The length of the match of x at text[at]; 0: none. */
static size_t
word_match(
    const struct lexicon_word *x, const uint32_t *text, size_t n, size_t at)
{
	size_t end = at + x->n;

	if (end > n ||
	    memcmp(text + at, x->codepoints, x->n * sizeof(text[0])) != 0)
		return 0;
	if (!lexicon_is_letter(text[end - 1]) || !word_continues(text, n, end))
		return end - at;
	if (!x->open)
		return 0;
	while (end < n && lexicon_is_letter(text[end]))
		end++;
	return end - at;
}

const struct lexicon_row *
lexicon_find(const struct lexicon *w, const uint32_t *text, size_t n, size_t at,
    size_t *len)
{
	uint32_t second = at + 1 < n ? text[at + 1] : 0;
	const struct lexicon_word *x;
	size_t i;

	if (lexicon_is_letter(text[at]) && at > 0 &&
	    lexicon_is_letter(text[at - 1]))
		return NULL;
	for (i = 0; i < 2; i++) {
		x = w->heads[lexicon_head(text[at], i == 0 ? second : 0)];
		for (; x != NULL; x = x->next) {
			*len = word_match(x, text, n, at);
			if (*len > 0)
				return x->row;
		}
	}
	return NULL;
}
