/*
 * The English words, in lower case; and emoji and tags, which have no language.
 */
#include "core/mem.h"
#include "lexicon.h"

#define CUE(e, strength, words, yes, no)                                   \
	{                                                                  \
		LEXICON_CUE, WIRE_EMOTION_##e, (strength), (words), (yes), \
		    (no)                                                   \
	}

static const struct lexicon_row rows[] = {
	/* ---- per emotion from strong to weak ---- */
	CUE(ANGER, .8,
	    "furious|livid|enrage*|infuriat*|outrage*|pissed|pissed off|"
	    "how dare|shut up|screw you|go to hell|damn you|fuck you|so mad|"
	    "mad at|fuming|seething|blood boil|seeing red|see red|"
	    "lost my temper|hit the roof|get out of my|how could you|"
	    "makes my blood|makes me sick how",
	    "I am furious|how dare you", "he said \"I am furious\""),
	CUE(ANGER, .65,
	    "angry|wtf|unacceptable|hate you|i hate|damn it|idiot|makes me mad|"
	    "rage|ridiculous|mad|cross with|the nerve|the cheek|the gall|liar|"
	    "liars|cheat|cheats|cheated|scam|scammers|disgrace|disgraceful|"
	    "bastard*|jerk|moron*|bloody|hands off|so unfair|not fair|"
	    "wind me up|insult*|insolent|rude|bully|bullied|bullies",
	    "I'm so angry right now|the nerve of him", "I'm not angry"),
	CUE(DISGUST, .7,
	    "disgust*|repuls*|revolt*|sicken*|gross|grossed|yuck|yucky|eww*|ew|"
	    "vomit*|puke*|puking|loath*|vile|filthy|nasty|creepy|urgh|blech|"
	    "bleh|ick|icky|foul|rancid|putrid|nauseat*|turned my stomach|"
	    "turns my stomach|made me gag|gagging|gag|retch*|stomach churn|"
	    "skin crawl|flesh creep|throw up|threw up|sleazy",
	    "eww that is disgusting", "not gross"),
	CUE(DISGUST, .45,
	    "hate|stinks|stink|stank|smelly|don't like|dislike*|reeks|reek|"
	    "slimy|mouldy|moldy|sticky|greasy|grubby|creep|pervert|slime|"
	    "rotten|rotting",
	    "it stinks", NULL),
	CUE(FRUSTRATION, .65,
	    "frustrat*|annoy*|ugh|argh*|aargh*|gah|fed up|irritat*|sick of|"
	    "tired of|nothing works|keeps failing|keeps crashing|can't take it|"
	    "give up|at my wits' end|drives me crazy|driving me mad|"
	    "driving me nuts|drives me mad|for heaven's sake|for pity's sake|"
	    "for the love of|for crying out loud|for goodness sake|had enough|"
	    "losing patience|doing my head in|pulling my hair|infernal|"
	    "maddening|useless|this is hopeless|beyond me",
	    "Ugh, this is so frustrating", "not annoying"),
	CUE(FRUSTRATION, .45,
	    "stuck|not working|doesn't work|won't work|exhausting|so done|"
	    "again and again|won't open|won't start|won't load|won't connect|"
	    "won't charge|won't go|won't fit|won't stick|isn't working|"
	    "stopped working|still broken|over and over|keeps|"
	    "every single time|every time i|no matter what|whatever i|"
	    "can't get|can't figure|makes no sense|going in circles|"
	    "back to square one|start over|from scratch|wrong again",
	    "it won't open, I'm stuck", NULL),
	CUE(ANXIETY, .65,
	    "anxious|anxiety|nervous|nervy|worried|worry|worries|worrying|"
	    "stressed|uneasy|panicking|panicked|on edge|overwhelm*|"
	    "freaking out|can't sleep|restless|butterflies|jittery|jumpy|tense|"
	    "fret*|dreading|agitated|apprehensive|can't stop thinking|"
	    "biting my nails|heart is racing|heart's racing|palms are|"
	    "sick with|in knots|lying awake|lie awake|pacing|could go wrong|"
	    "on tenterhooks|bricking it|unsettled",
	    "I'm nervous about the exam", "I am not really worried"),
	CUE(ANXIETY, .45,
	    "stress|stressful|pressure|what if|panic|what do i do|"
	    "what am i supposed|haven't dared|can't look|don't dare|not ready|"
	    "running out of time",
	    "what if I fail", NULL),
	CUE(FEAR, .7,
	    "afraid|scared|terrif*|frighten*|horrif*|nightmare*|petrified|"
	    "scream*|trembling|shaking|help me|heart stopped|don't leave me|"
	    "run for|somebody help|frozen with|fear for my|scares me|"
	    "wet myself|scared stiff|hair stood|goosebumps",
	    "i am scared of the dark", "never afraid|are you scared?"),
	CUE(FEAR, .55,
	    "scary|spooky|dread*|creeps me out|fear|eerie|shiver*|horror|help|"
	    "hiding|hide|hid|too dark|monster*|ghost*|haunted",
	    "there is a ghost in the room", NULL),
	CUE(SADNESS, .75,
	    "heartbroken|depress*|hopeless|grief|griev*|miserable|passed away|"
	    "broke up|in tears|crying|cried|devastated|heartache|sobbing|"
	    "sobbed|weeping|bereaved|heart broke|breaks my heart|broken heart|"
	    "died|funeral|bawling|i'm broken|never coming back|gone forever",
	    "my dog died", "I'm not depressed"),
	CUE(SADNESS, .65,
	    "sad|unhappy|upset|lonely|cry|miss you|miss him|miss her|miss my|"
	    "feel down|feeling down|feeling blue|sorrow|gloomy|left out|:(|:'(|"
	    "miss them|i miss|homesick|lump in my throat|tearful|melanchol*|"
	    "alone again|nobody loves|nobody likes|no one likes|no friends|"
	    "aching|hollow|feel empty|so empty|low today|teary",
	    "I feel really sad today", "I'm not sad"),
	CUE(SADNESS, .4,
	    "bad day|awful day|terrible day|rough day|so tired|exhausted|hurts|"
	    "not well|worn out|goodbye|farewell|alone|loss|lost him|lost her",
	    "a rough day", NULL),
	CUE(DISAPPOINTMENT, .65,
	    "disappoint*|let down|let me down|had hoped|expected more|"
	    "expected better|underwhelm*|bummer|what a shame|letdown|"
	    "anticlimax|gutted|crestfallen|dashed|got my hopes up|so much for|"
	    "was hoping|deflated|not what i expected|nothing like the",
	    "I'm disappointed in you", "not disappointed"),
	CUE(DISAPPOINTMENT, .45,
	    "too bad|what a pity|such a pity|canceled|cancelled|called off|"
	    "sold out|never came|didn't come|didn't show|never showed|"
	    "didn't win|didn't get|you promised|he promised|she promised|"
	    "they promised|promised me|postponed|second place|runner up|"
	    "fell through|one number off|turned out to be|supposed to|"
	    "was meant to|looked forward|waited all|for this|is that it|"
	    "that's it?|not even",
	    "you promised and never came", NULL),
	CUE(BOREDOM, .65,
	    "bored|boring|boredom|tedious|monotonous|nothing to do|dull|tedium|"
	    "snoozefest|mind-numbing|mind numbing|drags on|dragging on|drags|"
	    "dragging|watching paint|yawn*|zzz*|snooze|going nowhere|so slow",
	    "I'm bored", "never boring|are you bored?"),
	CUE(BOREDOM, .35,
	    "meh|same old|time is crawling|crawling|on and on|drone*|droning|"
	    "nothing ever|nothing happens|nothing on|killing time|twiddling|"
	    "staring at|counting the|counted the|i counted|watched the clock|"
	    "the clock|same thing|something new|anything new|tell me something|"
	    "entertain me|heard this|heard it|million times|by heart|"
	    "half asleep|nodded off|nodding off|fell asleep|scrolled|scrolling|"
	    "seen it",
	    "same old, nothing on", NULL),
	CUE(JOY, .7,
	    "happy|glad|delight*|overjoyed|joy*|wonderful|cheerful|so good|"
	    "great day|love it|love you|good mood|happiest|happier|"
	    "over the moon|on cloud nine|tickled pink|made my day|best day|"
	    "couldn't be happier|bliss*|beaming|grinning|happiness|merry|"
	    "chuffed|singing|never felt better|life is good|happily",
	    "I'm so happy!", "I'm not happy|are you happy?"),
	CUE(JOY, .55,
	    "haha*|hehe*|yay|terrific|awesome|amazing|fantastic|brilliant|"
	    "perfect|great job|well done|good job|lovely|enjoy*|lol|:)|:d|"
	    "laugh*|fun|i did it|we did it|proud|smil*|giggl*|hooray|hurray|"
	    "winner|best ever|the best|full marks|passed my|top of the|"
	    "gold star|cuddl*|danced|nailed it|w day",
	    "What a lovely, fun day", NULL),
	CUE(JOY, .4,
	    "great|nice|cool|cute|funny|not bad|nice to meet you|excellent|"
	    "love|loved|sweet|pretty|beautiful|gorgeous|delicious|tasty|yummy|"
	    "good news|lucky|pleased|good|gift",
	    "that is cute", NULL),
	CUE(GRATITUDE, .7,
	    "thank you|thanks|thank|thx|ty|grateful|gratitude|appreciat*|"
	    "much obliged|thankful|bless you|bless her|bless him|god bless|"
	    "indebted|cheers for|i owe you|kudos|much appreciated|"
	    "couldn't have done",
	    "Thank you so much", NULL),
	CUE(GRATITUDE, .35,
	    "so kind|kindness|too kind|without your|without you i|"
	    "if it weren't for|if it wasn't for|saved me|saved my|lifesaver|"
	    "life saver|you shouldn't have|means a lot|means the world|"
	    "means so much|touched|never forget what|owe|good of you|"
	    "kind of you|nice of you|thoughtful|generous|angel|you're a star|"
	    "you're a gem|hero|repay",
	    "that means a lot, you're a star", NULL),
	CUE(RELIEF, .7,
	    "reliev*|relief|phew|whew|thank god|thank goodness|thank heavens|"
	    "finally over|finally done|dodged a bullet|weight off|load off|"
	    "breathe again|sigh of|all clear|false alarm|made it just|"
	    "close call|close one",
	    "Phew, it's finally over", NULL),
	CUE(RELIEF, .45,
	    "luckily|at last|finally|fortunately|that was close|it's over|"
	    "safe and|he's safe|she's safe|they're safe|you're safe|"
	    "just in time|in the nick|turned out fine|turned out to be nothing|"
	    "it was nothing|only a|nothing serious|benign|negative|"
	    "came back clear|came back fine|nobody hurt|nobody was hurt|"
	    "no one was hurt|unharmed|survived|wasn't even|didn't notice|"
	    "no harm|still there|for a moment there|thought i'd lost|"
	    "thought i had lost|had it backed up|back on",
	    "finally, nobody hurt", NULL),
	CUE(EXCITEMENT, .75,
	    "excit*|can't wait|cannot wait|thrill*|pumped|hyped|stoked|psyched|"
	    "woohoo|woo hoo|we won|i won|we've won|let's gooo|buzzing|"
	    "all of a flutter|dying to|counting down|so ready|goosebumps of|"
	    "yeehaw",
	    "I can't wait for tomorrow", NULL),
	CUE(EXCITEMENT, .5,
	    "omg|let's go|here we go|looking forward to|hurry|come on come on|"
	    "here it comes|make way|wahoo|yesss|yes yes|it's happening|"
	    "it's here|it's coming|any second now|we're going to|brand new",
	    "here we go, it's happening", NULL),
	CUE(SURPRISE, .65,
	    "surpris*|can't believe|cannot believe|unexpected*|shocked|"
	    "shocking|astonish*|unbelievable|didn't expect|out of nowhere|"
	    "startled|flabbergasted|gobsmacked|jaw*|speechless|blimey|crikey|"
	    "stunned|dumbfounded|never expected|see it coming|saw that coming|"
	    "who knew|would you believe|what are the odds|plot twist",
	    "I can't believe it, out of nowhere", NULL),
	CUE(SURPRISE, .5,
	    "wow|whoa|no way|oh my god|oh my|what the|are you serious|for real|"
	    "my word|good grief|good heavens|goodness me|huh|wait what|hang on|"
	    "hold on|since when|how on earth|who on earth|what on earth|"
	    "well i never|strange|weird|odd|of all people|of all places|"
	    "really?|seriously?|wasn't ready",
	    "Wow, no way", NULL),
	CUE(CALM, .6,
	    "calm|calmer|calming|relaxed|relaxing|peaceful|at peace|serene|"
	    "tranquil*|at ease|soothing|unhurried|unbothered|contented|content|"
	    "quiet mind|restful|settled|peace and quiet|peace",
	    "I feel calm and peaceful", "I'm not calm"),
	CUE(CALM, .4,
	    "no rush|no hurry|take it easy|chill|mellow|no worries|cozy|cosy|"
	    "snug|slow morning|lazy|nowhere to be|all is well|can't complain|"
	    "it is what it is|what comes comes|take my time|"
	    "one thing at a time|don't mind|let it go|fine by me|it's fine|"
	    "i'm fine|just sitting|gently|softly|mindful*",
	    "no rush, just sitting", NULL),

	/* ---- signs ---- */
	CUE(JOY, .55,
	    "😀|😁|😂|🤣|😊|😄|😃|😆|🙂|😍|🥰|😘|❤|💕|👍|😋|🤗|😜|😝|🎂|💖|💗|"
	    "[哈哈]|[嘻嘻]|[太开心]|[笑哈哈]|[可爱]|[爱你]|[鼓掌]|[赞]|[good]|"
	    "[心]|[笑cry]|[偷笑]|[亲亲]|[害羞]",
	    "😊|到家[哈哈]", NULL),
	CUE(SADNESS, .6,
	    "😭|😢|💔|🥺|😿|☹|🙁|[泪]|[悲伤]|[伤心]|[大哭]|[泪流满面]|[可怜]|"
	    "[委屈]|[蜡烛]",
	    "今天😭😭|走了[泪]", NULL),
	CUE(ANGER, .65,
	    "😡|😠|🤬|👿|💢|😤|[怒]|[怒骂]|[愤怒]|[怒火]|[哼]",
	    "😡", NULL),
	CUE(FRUSTRATION, .55,
	    "😩|😫|🤦|😖|😣|[抓狂]|[衰]|[崩溃]|[跪了]|[捂脸]|[悲催]",
	    "又来🤦", NULL),
	CUE(DISGUST, .6, "🤢|🤮|👎|[吐]|[鄙视]|[弱]|[挖鼻屎]",
	    "🤮", NULL),
	CUE(FEAR, .6, "😱|😨|👻|[惊恐]", "😱", NULL),
	CUE(ANXIETY, .55, "😰|😟|😥|😓|😬|[汗]", "😰", NULL),
	CUE(SURPRISE, .6, "😮|😲|😯|🤯|😳|[吃惊]", "😲", NULL),
	CUE(DISAPPOINTMENT, .55, "😔|😕|😞|[失望]", "😞", NULL),
	CUE(GRATITUDE, .5, "🙏|[作揖]|🌹|[鲜花]", "🙏", NULL),
	CUE(EXCITEMENT, .6, "🥳|🎉|🤩|🔥|🚀|[噢耶]|[耶]|[给力]",
	    "🎉", NULL),
	CUE(RELIEF, .5, "😮‍💨|💨|😅", "😅", NULL),
	CUE(CALM, .5, "😌|🍃|🧘|🍵|[微笑]", "😌", NULL),
	CUE(BOREDOM, .5,
	    "😴|🥱|😑|😒|🙄|[打哈气]|[懒得理你]|[睡觉]|[困]",
	    "🥱", NULL),
};

const struct lexicon_part lexicon_en = { rows, NELEM(rows) };
