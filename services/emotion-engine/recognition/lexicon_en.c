/*
 * English words in lower case, and emoji and tags, which have no language.
 */
#include "recognition/lexicon.h"

#include "core/mem.h"

#define CUE(e, strength, words, yes, no)                                   \
	{                                                                  \
		LEXICON_CUE, WIRE_EMOTION_##e, (strength), (words), (yes), \
		    (no)                                                   \
	}

static const struct lexicon_row en_cues[] = {
	/* ---- per emotion from strong to weak ---- */
	CUE(ANGER, .8,
	    "hmph*|humph*|grr*|"
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
	    "agh*|aagh*|gahh*|bah|dammit|darn it|"
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
	    "eek*|yikes*|"
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
	    "boo hoo|boohoo*|waah*|"
	    "sad|unhappy|upset|lonely|cry|miss you|miss him|miss her|miss my|"
	    "feel down|feeling down|feeling blue|sorrow|gloomy|left out|"
	    ":(|:-(|:'(|:[|=(|</3|d:|nooo*|"
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
	    "holy cow|blimey|"
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

const struct lexicon_part lexicon_en = { en_cues, NELEM(en_cues) };

#define HINT(e, words, yes, no)                                         \
	{                                                               \
		LEXICON_CUE, WIRE_EMOTION_##e, .3, (words), (yes), (no) \
	}

static const struct lexicon_row en_negative_hints[] = {
	HINT(ANGER,
	    "lied|lying|stole|stolen|steal|blame|blamed|blaming|refund|"
	    "overcharged|charged me|ripped off|rip off|manager|complaint|sue|"
	    "lawyer|shouted|yelled|slammed|smashed|punch|keyed|cut me off|"
	    "pushed in|jumped the queue|behind my back|on purpose|apologise|"
	    "apologize|no right|my fault|their fault|his fault|her fault|"
	    "don't you dare|stop hitting|stop telling|stop touching|"
	    "i've had enough|had it with|one more word|who said you could|"
	    "without asking|swear|threw|wrecked|selfish|dirty|stingy|"
	    "laughed at me|talked over|interrupted|who gave you the right|"
	    "the impudence|scoundrel*|i won't have it|i'm going to the board|"
	    "shaking with rage|to my face|how could they|what a piece of work|"
	    "ignore me|benched|ruined|ruin|sabotage*|humiliated|humiliate|"
	    "mocked|mocking|made fun of me|called me|slapped|pushed me|shoved|"
	    "kicked|spat at|tore up|ripped up|broke my|trampled|damaged|"
	    "scratched my|parked across|blocked me|evicted|banged my|"
	    "told everybody|told everyone|my diary|my password|went through my|"
	    "read my|hung up on me|treat me like|treats me like|like a servant|"
	    "talk to me like|disrespect*|two-faced|backstab*|traitor|betray*|"
	    "crook*|thief|thieves|greedy|swindle*|robbed|robbery|nasty piece|"
	    "fed me lies|took credit|takes the credit|stole my idea|"
	    "get your hands off|get off my|get out|go away|back off|"
	    "enough is enough|i demand|explain yourself|answer me|"
	    "don't you ever|and you knew|annoyed|resent*|hostile|vicious|"
	    "spiteful|spite|revenge|hateful|despise*|bitter|snapped|yelling|"
	    "yell|shouting|argue*|arguing|argument|quarrel*|feud|offended|"
	    "offensive|bossy|arrogant|condescending|patronis*|patroniz*|smug|"
	    "obnoxious|bigot*|racist|sexist|unjust|injustice|discriminat*|"
	    "harass*|abuse|abused|abusive|threaten|threat|accus*|framed|"
	    "cheating|unfaithful|affair|deceiv*|deceit|dishonest|unreasonable|"
	    "intolerable|inexcusable|unforgivable|negligen*|incompeten*|"
	    "careless|reckless|drunk|vandal*|trespass*|honk*|tailgat*|snitch|"
	    "tattle*|confiscated|he started it|she started it|they started it|"
	    "took my|taken my|cut it out|knock it off|excuses|excuse|lame|"
	    "pathetic|coward*|brat|brats|spoiled|spoilt|jerks|pig|pigs|"
	    "monsters|rage quit|temper|boiling|steaming|explode|blew up|"
	    "hate when|hate how|hate that|hate it when|sick and tired|"
	    "last straw|crossed the line|crossed a line|overstepped|"
	    "who do they think|who does he think|who does she think|"
	    "pay for this|won't forget this|not having it|don't care what|"
	    "for the last time|i said no|i told you not|you always|you never",
	    "they lied and blamed me", NULL),
	HINT(DISGUST,
	    "mould|mold|slug|slugs|maggot*|cockroach*|roach*|rat|rats|fly in|"
	    "flies|hair in|hairball|spit|spat|snot|bogey|booger*|phlegm|mucus|"
	    "pus|wart|toenail*|nail clippings|dandruff|earwax|armpit*|sweaty|"
	    "sweat|unwashed|raw chicken|raw meat|litter box|poo|poop|pee|urine|"
	    "wee|toilet|flush*|sewage|drain|sick on|bin juice|garbage|gone off|"
	    "off milk|curdled|lumpy|smell|smelt|squelch*|ooze*|oozing|slurp*|"
	    "licked|lick|chewed|chewing gum|plaster in|lice|flea*|tick|worm*|"
	    "burp*|belch*|fart*|scab*|leering|groped|ogling|suck up|hypocrit*|"
	    "wet sock|dead mouse|entrails|guts|dead rat|rolled in|teeth out|"
	    "dentures|gravy off|fingernails|fingernail|boil burst|blister|"
	    "exploded out|diaper|nappy|sick everywhere|drool*|dribbl*|saliva|"
	    "sneezed|coughed on|cough in|unflushed|clogged|plughole|"
	    "hair in the|in my soup|in my salad|in my drink|bug in|larvae|"
	    "carcass|roadkill|stench|stinking|whiff|pong|mildew|fungus|rash|"
	    "crusty|congealed|gristle|fatty|raw|undercooked|expired|"
	    "past its date|double dip*|picks his nose|picking his nose|"
	    "picked his nose|scratches his|bragged about|gloat*|catcall*|"
	    "undress*|stared at my|touched my leg|perv|seedy|corrupt|shameless|"
	    "exploit*|cruel|cruelty|sickening|makes my stomach|"
	    "lost my appetite|can't unsee|wish i hadn't seen|washed my hands|"
	    "scrub|bleach|bare feet|bodily|warm seat|wet hair|used tissue|"
	    "tissue|bandage|band-aid|hairs|grime|gunk|sludge|scum|stain|"
	    "stained|yellow stains|appalling|abhorrent|abominable|atrocious|"
	    "despicable|depraved|deplorable|detest*|distasteful|dreadful smell|"
	    "grotesque|gruesome|gory|heinous|hideous|horrid|indecent|lewd|"
	    "lecher*|loathsome|macabre|monstrous|nauseous|noxious|obscene|"
	    "offal|odious|off-putting|perverse|predator|repugnan*|scuzzy|"
	    "shameful|skanky|slobber*|smut*|sordid|squalid|squalor|tasteless|"
	    "tawdry|trashy|unhygienic|unsanitary|unclean|vulgar|wretch*|"
	    "bedbug*|bed bugs|botfly|centipede*|earwig*|gnat*|leech*|locust*|"
	    "mealworm*|millipede*|mite|mites|pigeon droppings|droppings|dung|"
	    "manure|faeces|feces|poop bag|skid mark*|soiled|spew*|upchuck|"
	    "barf*|hurl*|heaving|dry heave|bile|clot*|gangren*|infected|"
	    "infestation|infested|open sore|sores|pimple*|zit*|blackhead*|wax|"
	    "wet bandage|toe jam|foot fungus|foot odour|body odor|body odour|"
	    "bo|morning breath|bad breath|halitosis|onion breath|egg smell|"
	    "rotten egg*|sour milk|spoilt milk|slop|swill|mystery meat|"
	    "gelatin*|aspic|tripe|tongue on|eyeball*|chewed with|chews with|"
	    "mouth open|talks with his mouth|double-dipped|licks her|licks his|"
	    "licking|sucks his|sucks her|sniffs|sniffing|pawing|pawed|slobbery",
	    "there is mould and a slug in it", NULL),
	HINT(FRUSTRATION,
	    "again|still|third time|fourth time|fifth time|tenth time|"
	    "ten times|five times|password|incorrect|captcha|error|crash*|"
	    "frozen|froze|buffering|loading|reboot|restart|update|printer|wifi|"
	    "wi-fi|router|jammed|jam|traffic|queue|on hold|press one|automated|"
	    "customer service|instructions|manual|screw|knot|tangled|zip|lid|"
	    "remote|glasses|misunderst*|misheard|i said|no i said|not that one|"
	    "the other one|how many times|nobody listens|nobody ever|"
	    "never works|half an hour|two hours|all morning|undone|for nothing|"
	    "unraveled|lost my work|didn't save|deleted everything|"
	    "doesn't listen|offline|spinning|not again|how many times do i|"
	    "i could cry|slipped out|slipped off|sunk in the middle|"
	    "followed the recipe|to the letter|never me|no signal|"
	    "dropped the call|dropped out|flat battery|batteries|out of paper|"
	    "out of ink|unexpected item|ticked the wrong|wrong box|form|forms|"
	    "reset|locked out|log in|login|timed out|times out|try again|"
	    "tried everything|i've tried|nothing changes|not listening|"
	    "keeps asking|keeps saying|keeps stopping|keeps falling|falls off|"
	    "falls apart|fell apart|came off|undo|redo|all over again|"
	    "start again|starting again|half way|nearly done and|and it's gone|"
	    "lost it all|the left one|other one|not that|said left|clumsy|"
	    "won't stay|won't listen|won't budge|budge|squeak*|drip*|leak*|"
	    "missing piece|one piece missing|last piece|instructions say|"
	    "the app|the site|the screen|this thing|stupid thing|blasted|"
	    "wretched|damned|out of order|detour|roadworks|red light|"
	    "missed the bus|counting sheep|more awake|smudged|burnt it|"
	    "overflow*|ran out|tripped|can't hear me|can you hear me|speak up|"
	    "why does|why won't|why can't|why is it always|answers in english",
	    "the printer is offline again", NULL),
	HINT(ANXIETY,
	    "tomorrow|results|test results|scan|biopsy|lump|clinic|doctor|"
	    "hospital|temperature|operation|surgery|exam|exams|interview|"
	    "presentation|speech|audition|deadline|due|overdue|mortgage|rent|"
	    "bills|redundan*|layoffs|laid off|tax|letter|missed call|"
	    "haven't heard|hasn't called|hasn't rung|not answering|voicemail|"
	    "should have called|should be home|should've|late|not back|"
	    "checking|checked the|did i lock|did i leave|the stove|suppose|"
	    "might|maybe they|do you think|is it normal|is it serious|"
	    "poisonous|dangerous|rattle|noise|circling|turbulence|storm|"
	    "penalties|any minute|keep looking at|keep checking|find out|"
	    "found out|run out|forget my|mess up|messed up|fail|"
	    "something isn't right|something's wrong|what does that mean|"
	    "what will|if i fall|on my own if|googled|symptom*|my turn|"
	    "i'm next|sweaty palms|throat closes|stomach's in|my stomach|knots|"
	    "they're typing|she's typing|still raining|who's affected|"
	    "let us know|by friday|waiting for the call|waiting for news|"
	    "call me|just says|what did i do|am i in trouble|"
	    "called to the office|going to happen|going to say|supposed to say|"
	    "should i|how am i going to|how will i|how are we going to|"
	    "can't afford|make ends meet|savings|debt|bank|eviction|"
	    "contract ends|probation|performance review|my boss wants|"
	    "first day|new school|moving|the dentist|the vet|due date|"
	    "contractions|baby hasn't|hasn't eaten|hasn't moved|not eating|"
	    "won't eat|breathing funny|cough won't|mole|bleeding|dizzy|"
	    "heart skips|chest feels|crack in|crack over|every creak|break-in|"
	    "alone in the house|walk home|second-guess*|overthink*|"
	    "can't concentrate|can't settle|can't eat|keep waking|awake at|"
	    "three am|clock says|counting the hours|hours to go|gone quiet|"
	    "no reply|left on read|read my message|didn't text|hope it|"
	    "hope they|hope she|hope he|please let|fingers crossed|touch wood|"
	    "just in case|maybe it's nothing|i swear it's|afraid that|"
	    "concerned|concern|troubled|uncertain|uncertainty|unsure|doubt|"
	    "doubts|hesitant|insecure|self-conscious|shy|awkward|embarrass*|"
	    "nerve*|rattled|on pins|pins and needles|twitchy|fidget*|trembly|"
	    "sleepless|insomnia|toss and turn|tossing and turning|"
	    "racing thoughts|spiral*|ruminat*|catastroph*|hyperventilat*|"
	    "heartburn|ulcer|stomach ache before|butterflies in|lose my job|"
	    "losing my job|lose the house|losing the house|lose everything|"
	    "get fired|got fired|let them down|let everyone down|"
	    "disappoint them|make a fool|fool of myself|laugh at me|judge me|"
	    "judging me|hate me|mad at me|angry with me|did i say|did i do|"
	    "was it something|they know|what they'll say|what they'll think|"
	    "what people think|first time i|before the flight|"
	    "before the operation|before my|ahead of me|looming|pending|"
	    "awaiting|inspection|audit|trial|court|verdict|custody|visa|"
	    "immigration|border|exam tomorrow|test tomorrow|unprepared|"
	    "haven't studied|haven't finished|behind on|falling behind|"
	    "too much to do|so much to do|pile|piling up|backlog|"
	    "clock is ticking|ticking|countdown to|time is running",
	    "the test results are due tomorrow", NULL),
	HINT(FEAR,
	    "footsteps|someone's|somebody's|somebody is|someone is|"
	    "at the window|at the door|in the house|under the bed|inside the|"
	    "behind me|following|followed me|watching me|intruder|burglar|"
	    "knife|gun|barrel|blood|dark|shadow|spider*|snake*|wasp*|shark*|"
	    "bear|wolf|thunder|lightning|earthquake|fire|smoke|flames|"
	    "explosion|bang|brakes|skid*|drown*|underwater|can't breathe|"
	    "no air|cliff|ledge|falling|fall off|lift stuck|elevator|chute|"
	    "the ground|attack*|bite|bitten|growl*|chasing|chased|grab*|"
	    "hold my hand|don't let go|don't turn off|leave the light|"
	    "stay with me|won't stop bleeding|needle|injection|quick quick|run|"
	    "basement|cellar|attic|wardrobe|lights went out|power went out|"
	    "not a drill|smell burning|smell gas|behind me since|crossed twice|"
	    "collapsed|isn't breathing|not breathing|lips are|"
	    "going off the road|won't stop the|pedal|where am i|who are you|"
	    "this isn't my|i've lost her|i've lost him|let go of her hand|"
	    "by the water|in the water|the tide|the ice|cracking|the ladder|"
	    "the roof|the edge|so high|look down|the dog's loose|it's loose|"
	    "teeth|claws|eyes in the|in the mirror|something moved|"
	    "something's moving|moved by itself|handle turned|handle moved|"
	    "door opened|window was shut|it's open now|breathing on|"
	    "breathing in the|whisper*|scratching|knocking|creak*|"
	    "lock the door|call the police|call 911|call an ambulance|"
	    "ambulance|siren*|gunshot*|shots|shooter|bomb|hostage|robber*|"
	    "masked|threatened to|threatening|he'll kill|going to die|"
	    "gonna die|we're going to crash|swerved|nearly hit|truck was|"
	    "car was coming|headlights|tornado|flood|avalanche|volcano|tsunami|"
	    "hurricane|stuck in the lift|trapped|locked in|can't get out|"
	    "get me out|get it off|get it away|it's crawling|on my leg|"
	    "don't make me|please don't|i don't want to go|big dog|clown|"
	    "vampire*|zombie*|witch|skeleton|graveyard|coffin|possessed|curse|"
	    "scare|scares|scaring|fright|fearful|alarmed|alarm going|"
	    "panic attack|hysterical|freaked|freaked out|spooked|creeping|"
	    "creepy noise|unsafe|danger|lethal|deadly|killer|murder*|stab*|"
	    "shoot*|shot at|assault*|kidnap*|stalk*|stalker|prowl*|lurking|"
	    "lurk*|peering|glowing eyes|red eyes|hissing|hiss|rattlesnake|"
	    "scorpion*|crocodile|alligator|tiger|lion|rabid|venom*|poison|"
	    "sting|stung|swarm|choking|choke|suffocat*|sinking|capsiz*|"
	    "overboard|undertow|lightning hit|struck by|thunderstorm|blackout|"
	    "pitch black|pitch dark|darkness|alone in the dark|dark alley|"
	    "alley|woods at night|forest at night|abandoned house|asylum|"
	    "exorc*|demon*|devil|seance|ouija|poltergeist|paralyzed|paralysed|"
	    "couldn't move|can't move|heart pounding|pounding heart|"
	    "blood ran cold|chill down|spine|knees were|knees went|cold sweat|"
	    "screamed|shriek*|yelped|hid in|hide in|under the covers|"
	    "under the blanket|locked myself|barricad*|run away|ran away from|"
	    "got to run|duck|get down|take cover|evacuat*|mayday|brace|impact|"
	    "emergency|lost control|out of control",
	    "footsteps, someone's at the window", NULL),
	HINT(SADNESS,
	    "last time|never again|anymore|any more|used to|empty chair|"
	    "his chair|her chair|grave|cemetery|ashes|urn|anniversary of|"
	    "without him|without her|without you|without mum|without dad|"
	    "moved away|moved out|moving away|giving up my|gave up my|"
	    "gave away|said goodbye|packed up|sold the house|old photos|"
	    "his voice|her voice|his coat|her coat|hospice|cancer|dementia|"
	    "doesn't know me|doesn't remember|forgotten me|forgot me|divorce|"
	    "separated|splitting up|left me|leaving|looked right through|"
	    "wouldn't let me play|not invited|everyone but me|everyone except|"
	    "nobody came|nobody rang|nobody calls|by myself|on my own|"
	    "by her grave|buried|gone now|years ago today|widow*|orphan*|"
	    "held her paw|held his paw|the vet said|time to let|let her go|"
	    "let him go|candles myself|bought the cake anyway|set out his|"
	    "set out her|his slippers|her slippers|old messages|voicemail from|"
	    "last post|last message|last photo|only photo|treatment|"
	    "nothing left to try|won't see|not going to see|the doctor says|"
	    "wheelchair|can't get out of bed|grey and heavy|heavy heart|heavy|"
	    "numb|what's the point|no point|nobody to talk|no one to talk|"
	    "only one i've spoken|spoken to this week|smiled until|ate alone|"
	    "eat alone|dinner alone|lunch alone|sat alone|sit alone|"
	    "on the bench|picked me|ran off|too little|they laughed|"
	    "don't belong|breakup|broke it off|signed the papers|"
	    "packed the truck|the ring back|wedding photo|would've been our|"
	    "would have been|turn forty|if only|wish i'd|wish i had|wish she|"
	    "wish he|too late|never got to|never said|didn't get to say|"
	    "barked at me|doesn't want me|took the train back|empty nest|"
	    "her room|his room|her side of the bed|his side of the bed|"
	    "the house is so|so quiet now|nursing home|care home|"
	    "can't remember my|forgets my|slipping away|fading|withered|wilted|"
	    "lost the baby|miscarri*|stillborn|adopted out|gave him away|"
	    "gave her away|run over|put down|put to sleep|buried him|"
	    "buried her|my old dog|no letter|no one calls|tears|tissues|"
	    "swallow hard|despair|anguish|mourn*|weep*|wept|sob|sorry for your|"
	    "sorrows|lonesome|isolated|abandon*|unloved|unwanted|rejected me|"
	    "dumped|dumps me|jilted|widower|motherless|fatherless|homeless|"
	    "hungry|poor thing|poor|suffering|suffer*|pain|painful|aches|ache|"
	    "wound*|scar|scars|regret*|mistake|my fault i|guilt*|ashamed|"
	    "worthless|useless i|nobody would|no one would|doesn't matter|"
	    "does it matter|meaningless|pointless|lost|losing|miss|missing|"
	    "missed you|remember when|those days|good old days|long gone|faded|"
	    "distance|far away|overseas|deployed|prison|hospital bed|coma|"
	    "terminal|stroke|parkinson*|alzheimer*|tumour|tumor|leukaemia|"
	    "leukemia|stillness|dark days|rainy|november|winter alone|"
	    "photo album|letters|lullaby|wreath|tombstone|headstone|obituary|"
	    "eulogy|casket|mother's grave|father's grave|anniversary|memorial|"
	    "candle for|empty|emptiness|silent|silence at|broken|shattered|"
	    "torn apart|fell apart inside|crushed|defeated|helpless|drained|"
	    "exhaust|weary|withdrawn|hurt me|hurt my feelings|feelings hurt|"
	    "left behind|didn't want me|doesn't love me|not loved|friendless",
	    "his empty chair, without him", NULL),
	HINT(DISAPPOINTMENT,
	    "promise|promised|instead|hoped|hoping|wanted|thought it|"
	    "thought you|thought he|thought she|thought they|i really thought|"
	    "all that way|saved up|drove|travelled|queued|dressed up|my good|"
	    "closed|shut|no tickets|no seats|rained off|forgot my|smaller than|"
	    "on the box|the picture|the trailer|the reviews|the advert|"
	    "the ending|the sequel|flopped|soggy|bland|cold chips|overcooked|"
	    "stale|cheap|rejection|rejected|turned down|went to someone|"
	    "somebody else got|picked someone|overlooked|waste of|wasted|pity|"
	    "shame|oh well|nearly|almost|inches|is that all|fizzled|"
	    "on their phones|size of my thumb|ordered the|rained for|"
	    "no dolphins|all i caught|all i got|all i wanted|just one|one card|"
	    "stopped looking|pictured|i'd pictured|i imagined|on a sign|"
	    "ran out of|just as we got|in line for that|for that?|pulled out|"
	    "that's that|and that was that|day ninety|already picked a name|"
	    "can't have him|can't have her|because of our|wouldn't be|"
	    "changed the ending|left out the|skipped|lip-sync*|half empty|"
	    "nobody clapped|no one clapped|didn't even look|didn't even open|"
	    "didn't even say|didn't even try|never called back|"
	    "never wrote back|never rang|never replied|forgot our|forgot about|"
	    "wasn't there|weren't there|empty seat|chose him|chose her|"
	    "chose someone|didn't choose|not chosen|not selected|reserve|"
	    "waiting list|last place|fourth place|by one point|one point short|"
	    "one mark|failed by|missed by|not good enough|thought we'd|"
	    "thought there'd|thought it'd|thought i'd get|told us it|"
	    "they'd said|said it would|said he'd|said she'd|said you'd|"
	    "you said|expected a bit|more fun|bigger|less than|not as|isn't as|"
	    "wasn't as|doesn't taste|tastes of nothing|like cardboard|"
	    "knock-off|fake|plastic|turned out he|turned out she|turns out he|"
	    "believed in|looked up to|hero turned|such a waste|waste|"
	    "disillusion*|dishearten*|discourag*|dismay*|dejected|despond*|"
	    "downcast|lacklustre|lackluster|mediocre|meh result|subpar|so-so|"
	    "average at best|overhyped|overrated|overpriced|hype|fell flat|"
	    "fell short|came up short|short of|missed out|miss out|passed over|"
	    "passed up|turned us down|turned me down|said no|declin*|denied|"
	    "refused|unsuccessful|regret to inform|unfortunately|sadly not|"
	    "sadly no|alas|no luck|unlucky|out of luck|bad luck|tough luck|"
	    "blew it|lost in the final|lost on penalties|lost the match|"
	    "lost the game|lost again|knocked out|eliminated|relegated|"
	    "missed the podium|bronze|consolation|honourable mention|"
	    "honorable mention|participation|thanks for trying|better luck|"
	    "try next year|next year maybe|maybe next|another time|"
	    "some other time|rain check|raincheck|stood me up|stood up again|"
	    "bailed|flaked|no-show|no show|ghosted|didn't bother|"
	    "couldn't be bothered|too busy for|too busy to|forgot it was|"
	    "nobody remembered|no one remembered|not one card|not a single|"
	    "not one person|empty hall|half the seats|no encore|short set|"
	    "cut short|ended early|over already|out of stock|discontinued|"
	    "backordered|wrong colour|wrong color|wrong size|too small|too big|"
	    "doesn't fit|didn't fit|arrived broken|came broken|"
	    "broken on arrival|missing parts|nothing inside|empty box|"
	    "empty packet|melted|burst|wilted already|didn't bloom|"
	    "didn't sprout|didn't grow|never grew|never bloomed|didn't rise|"
	    "flat cake|watered down|not the same|changed so much|closed down|"
	    "shut down|torn down|gone now it's",
	    "I saved up and it was closed", NULL),
};

const struct lexicon_part lexicon_hint_en_bad = { en_negative_hints,
	NELEM(en_negative_hints) };

static const struct lexicon_row en_positive_hints[] = {
	HINT(BOREDOM,
	    "every day|lecture|sermon|slides|powerpoint|meeting|agenda|minutes|"
	    "waiting room|waiting|rerun*|repeat*|rainy sunday|long afternoon|"
	    "are we there|how much longer|how long till|quarter past|o'clock|"
	    "spreadsheet*|filing|paper clips|stapl*|conveyor|shelf|shelves|"
	    "ceiling|tiles|doodl*|flicked through|channels|this town|"
	    "no one around|nobody around|could recite|the same|pages|chapter|"
	    "homework|beige|grey|hold music|small talk|queueing|hour three|"
	    "hour two|third hour|could have been an email|porridge|zoned out|"
	    "left my body|no plot|samey|grab me|none of them|every game|"
	    "not a soul|nobody checks|hums|humming|i've done the crossword|"
	    "the other crossword|shuffle the|isn't even ten|isn't even noon|"
	    "only ten past|only five minutes|still only|two hours to go|"
	    "peel drop|peel|gull|field after field|nothing but|paint to dry|"
	    "paint dry|are we there yet|long drive|back seat|long flight|"
	    "layover|waited for|in line|line hasn't|monday again|grind|routine|"
	    "same four walls|four walls|same people|same jokes|same story|"
	    "same walk|same song|same breakfast|like yesterday|tomorrow too|"
	    "counting cars|counting your|rivets|bald heads|sugar cubes|"
	    "tower out of|fiddling|drumming my|tapping my|spinning my|stare at|"
	    "stared at the|gazed|daydream*|what now|what shall we do|"
	    "what can we do|what should i do today|do something|play something|"
	    "amuse me|anything to do|give me something|any games|"
	    "another round of|his stamps|tulip bulbs|accounting|compliance|"
	    "training video|terms and conditions|assembly|maths|speech went|"
	    "the vicar|slow day|no customers|quiet shift|watching the door|"
	    "refresh*|bore|bores|boringly|dreary|drab|bland day|mundane|"
	    "monoton*|repetitive|repetitious|humdrum|uneventful|unexciting|"
	    "uninteresting|uninspir*|lifeless|listless|apathetic|sluggish|"
	    "lethargic|idle|idling|aimless|restless day|dragged|dragged on|"
	    "drawn out|long-winded|longwinded|rambl*|lecturing|waffl*|endless|"
	    "never-ending|never ending|neverending|eternity|forever|"
	    "all day long|hours and hours|for hours|minutes left|still twenty|"
	    "still thirty|still an hour|an hour left|is it over|is it lunch|"
	    "is it time|is it friday|what's on|nothing new|nothing good|"
	    "nothing interesting|nothing else to|nothing left to|"
	    "seen everything|seen them all|read them all|played them all|"
	    "tried them all|finished everything|already seen|already read|"
	    "already done|i've seen|old news|yada|blah|blah blah|whatever|"
	    "so what|who cares|couldn't care less|snor*|snoring|dozing|dozed|"
	    "doze|eyelids|wake me when|wake me up when|put me to sleep|"
	    "putting me to sleep|puts me to sleep|sends me to sleep|lull*|"
	    "stare into|staring out|staring into|blank wall|window seat|"
	    "solitaire|sudoku again|minesweeper",
	    "slides in a meeting, the same every day", NULL),
	HINT(JOY,
	    "birthday|party|cake|ice cream|pancakes|pizza|doughnut*|picnic|"
	    "sunshine|sun's out|sun came out|rainbow|puppy|kitten|wag*|purr*|"
	    "baby|first steps|first word|grandson|granddaughter|grandchildren|"
	    "grandkids|wedding|married|engaged|promotion|raise|bonus|payday|"
	    "weekend|holiday|day off|snowman|sledg*|beach|swim|tied my|"
	    "learned to|can ride|sang|sing|dance|dancing|hug|hugged|kissed|"
	    "held hands|reunion|old friend|together|bloom*|blossom*|sprout*|"
	    "first tomato|spring|a plus|got an a|goal|medal|whistl*|"
	    "laughed till|laughed until|belly hurts|oysters|feet in the sea|"
	    "adore|laid her first|made my whole year|made my week|"
	    "my whole year|two legs|saw my wife's face|walked in on|good hair|"
	    "hair did|new bike|new shoes|new dress|first snow|snowing|"
	    "sandcastle|swing|swings|bubbles|tickle*|splash*|jumped in|"
	    "fed the ducks|petting|petted|licked my face|tail|ran to me|"
	    "ran to the door|jumped into my arms|daddy's home|mummy's home|"
	    "mum's home|dad's home|came home|home for|stayed up late|"
	    "best friend|my favourite|my favorite|favourite|favorite|homemade|"
	    "home-made|baked|bread came out|came out perfect|"
	    "turned out perfect|roses are|tomatoes|garden's|harvest|"
	    "caught a fish|won the|first prize|first place|beat my|"
	    "personal best|a hundred percent|ten out of ten|everyone clapped|"
	    "they clapped|applause|standing ovation|said yes|she said yes|"
	    "he said yes|our anniversary|golden wedding|fifty years together|"
	    "brought me flowers|said i was|called me pretty|proud of|high five|"
	    "we danced|we sang|sunny|warm bread|hot chocolate|good song|"
	    "my song|on the radio|turned it up|payrise|got a raise|"
	    "all together|whole family|everyone round|round the table|"
	    "first time walking|rode my bike|without stabilisers|jolly|gleeful|"
	    "glee|ecstatic|elated|euphor*|exhilarat*|radiant|glowing|sparkl*|"
	    "sunny side|sunshiny|blissful|heaven|heavenly|paradise|magic|"
	    "magical|dreamy|fabulous|marvelous|marvellous|splendid|superb|"
	    "stellar|glorious|delightful|charming|adorable|precious|sweetest|"
	    "funniest|hilarious|cracked me up|cracking up|lmao|rofl|lolz|"
	    "tee hee|teehee|chuckle*|snigger*|grin|grins|cheer*|celebrat*|"
	    "champagne|toast|confetti|balloon*|carnival|merry-go-round|ferris|"
	    "cotton candy|candyfloss|lollipop|chocolate|cookies|cupcake*|"
	    "muffin*|bbq|barbecue|feast|yum|mmm|scrumptious|success|succeeded|"
	    "achiev*|accomplish*|triumph*|victory|champion*|winning|won|win|"
	    "trophy|ribbon|award|scholarship|graduat*|diploma|honor roll|"
	    "straight a's|a star|full house|jackpot|bargain|freebie|"
	    "free upgrade|upgrade|compliment*|praised|praise|crush said|"
	    "crush smiled|kiss|love letter|valentine|honeymoon|newborn|"
	    "she's walking|he's walking|said mama|said dada|first smile|"
	    "smiled at me|waved at me|hugged me",
	    "the puppy wagged and we had cake", NULL),
	HINT(GRATITUDE,
	    "you remembered|you stayed|you listened|you helped|helped me|"
	    "helped us|stayed up|sat with me|sat up with|held my hand|"
	    "carried my|carried me|gave me a|gave us|gave me his|gave me her|"
	    "brought me|brought us|brought soup|lent me|drove me|waited with|"
	    "a stranger|the nurse|the neighbour|the neighbor|the driver|"
	    "the teacher|volunteer*|wouldn't take a|wouldn't let me pay|"
	    "never asked|didn't have to|taught me|looked after|took care|"
	    "patient with me|put up with me|always there|for me|"
	    "had a collection|from all of us|only one who came|meant the world|"
	    "let us sleep|let us stay|their best room|slept on the floor|"
	    "think of them|changed my tyre|bless my|took the kids|"
	    "so that we could|so i could sleep|so i could rest|still brought|"
	    "brought me soup|left a note|left flowers|paid for my|paid my|"
	    "picked up the tab|covered my shift|covered for me|stood up for me|"
	    "stuck up for me|believed in me|gave me a chance|gave me a second|"
	    "second chance|gave me his seat|gave up her seat|gave up his seat|"
	    "held the door|pulled me out|got me out|found my|handed it in|"
	    "returned my|brought it back|walked me home|walked me to|"
	    "drove all night|drove all the way|came all the way|"
	    "dropped everything|in the middle of the night|waited up|"
	    "woke me in time|warned me|reminded me|you noticed|you knew i|"
	    "you didn't give up|never gave up on me|made me feel welcome|"
	    "welcomed|fixed my|fixed it for|mended|shovelled|shoveled|mowed|"
	    "carried the|carried our|carried up|packed me a|made me lunch|"
	    "knitted me|sewed|baked us|baked me|cooked for us|fed us|"
	    "took me in|raised me|my gran|everything i am|all i am|forever in|"
	    "in your debt|makes all the difference|don't deserve|"
	    "how can i ever|i won't forget|never forget it|toast to|hat off|"
	    "hats off|shout out|blessing|blessed|thankfully|thanking|thanked|"
	    "appreciation|grateful to|owe everything|gracious|courtesy|favor|"
	    "favour|godsend|saint|legend|mvp|star|real one|true friend|"
	    "shoulder to|lean on|had my back|has my back|got my back|"
	    "by my side|stood by|stuck by|in my corner|rooting for|vouched|"
	    "recommended me|put in a word|spoke up for|defended me|forgave me|"
	    "took a chance|believed when|encourag*|cheered me|cheering me|"
	    "comforted me|consoled me|hugged me when|dried my|nursed me|nursed|"
	    "tended|rescued|rescue|donat*|kidney|bone marrow|blood donor|"
	    "paramedic*|firefighter*|surgeon*|midwife|carer|caregiver|babysat|"
	    "babysit|house-sat|fed my cat|fed the cat|walked my dog|"
	    "walked the dog|watered my|picked me up|picked up my|dropped off|"
	    "delivered|lent us|loaned|gifted|gave it to me|shared her|"
	    "shared his|shared their|split his|split her|half of her|"
	    "half of his|last slice|saved me a|saved us a|kept me a|"
	    "kept my seat|kept it warm|kept dinner|left the light|left me a|"
	    "packed my|wrote me|called to check|checked on me|checked in on|"
	    "asked how i|remembered my|never forgot my|always remember",
	    "a stranger carried me home", NULL),
	HINT(RELIEF,
	    "found|found it|found him|found her|there she was|there he was|"
	    "there it was|in my pocket|the whole time|all along|working again|"
	    "back online|recovered|restored|backup|saved|fever broke|"
	    "fever's gone|woke up|came round|pulled through|passed|cleared|"
	    "landed|home safe|made the train|made it|caught the|paid off|"
	    "extension|pushed back|it counts|not broken|not cancer|no fracture|"
	    "not fired|kept my job|wasn't mad|not mad|isn't cross|"
	    "never have to|don't have to|no more|over with|done with|"
	    "sleep tonight|exhale|breath|unclench*|stopped crying|good as new|"
	    "is clear|scan is|scan was|scan's|came back|was sure|was certain|"
	    "i was certain|convinced|thought i was done|thought it was|"
	    "thought she was|thought he was|thought we|already said goodbye|"
	    "and then the light|then i heard|didn't get told off|told off|"
	    "was an accident|just an accident|deleted it in time|in time|"
	    "just made|with a second to spare|to spare|minutes to spare|"
	    "standing|still standing|stopped at the|bone dry|only a cyst|"
	    "nothing else|just a|only the|the cat|it was just|it was only|"
	    "they're letting me|letting me stay|can keep|we can keep|"
	    "i can keep|signed it|it just didn't|hurt for months|last one ever|"
	    "had my last|last exam|last day of|no users|rollback|worked and|"
	    "out through the window|got out|got everybody out|accounted for|"
	    "all accounted|on my nose|oh what a mercy|mercy|to root|killed it|"
	    "alive|she's awake|he's awake|opened her eyes|opened his eyes|"
	    "breathing on her own|out of danger|out of the woods|"
	    "out of surgery|stable|turned a corner|the pain's gone|"
	    "pain had gone|stopped hurting|stopped raining|stopped bleeding|"
	    "power's back|lights are back|water's back|heating's back|"
	    "signal's back|got through|through to|they answered|she answered|"
	    "he answered|rang back|she texted|he texted|home at last|"
	    "door's locked|was locked after all|it was off|oven was off|"
	    "insurance|covered by|waived|let me off|just a warning|refunded|"
	    "money's back|got it back|under the sofa|in the fridge|behind the|"
	    "where i left it|spare key|alleviat*|reassur*|comforted|consol*|"
	    "off the hook|in the clear|good to go|sorted|solved|resolved|"
	    "settled it|fixed|it's fixed|finally fixed|works again|working now|"
	    "running again|restored my|retrieved|recovering|recovery|remission|"
	    "cured|healed|healing|improving|better now|feeling better|"
	    "much better|no need to|needn't have|no damage|no injuries|"
	    "no broken|not lost|not serious|not infected|not pregnant|"
	    "not contagious|not guilty|acquitted|forgiven|she forgave|"
	    "he forgave|made up with|we made up|not angry with|understood|"
	    "believed me|accepted my|approved|passed the|passed it|"
	    "scraped through|squeaked|barely made|made the cut|made the flight|"
	    "made the deadline|beat the deadline|handed in|submitted|"
	    "sent it off|it's sent|done and dusted|it's done|it's finished|"
	    "all done|finished at last|exams are over|term is over|"
	    "the last box|last payment|debt-free|debt free|paid in full|"
	    "loan approved|rent's paid|got the extension|deadline moved|"
	    "cancelled the test|test is cancelled|snowed off|called to say|"
	    "rang to say|texted to say|arrived safely|landed safely|got home|"
	    "they're home|he's home|she's home|back safe|back home safe|"
	    "storm passed|storm's passed|storm missed|missed us|blew over|"
	    "all right after all|all right in the end|okay after all|"
	    "fine after all|in the end it",
	    "the fever broke and she woke up", NULL),
	HINT(EXCITEMENT,
	    "tickets|concert|front row|backstage|final|kickoff|kick off|season|"
	    "premiere|launch|countdown|rollercoaster|roller coaster|theme park|"
	    "disneyland|disney|camping|road trip|trip|flight|first flight|"
	    "passport|surprise party|unbox*|parcel|package|delivery|release|"
	    "drop|drops|new game|level|boss|overtime|last minute goal|scored|"
	    "parade|fireworks|circus|fair|snow day|christmas|santa|sleepover|"
	    "adventure|idea|project|accepted|got in|got the part|got the job|"
	    "first date|a date|drum|guitar|pop*|three more|two more sleeps|"
	    "sleeps|look look|lift me|quick|going up in|aeroplane|airplane|"
	    "rocket|spades|treasure|map|i've found it|pyramids|in twelve hours|"
	    "in two hours|in an hour|tonight's the night|tonight|about to|"
	    "any minute now|almost time|the van's there|skateboard|"
	    "can i go now|can i go|can we go|show me show me|parachute*|"
	    "jump off|bungee|signing up|signed up|casting|i'm in|eeee|eee|aaah|"
	    "trampoline|pony|new puppy|new school bag|getting a|we're getting|"
	    "we might get|moving to|new house|keys to|first gig|our first|"
	    "my first|sold out show|encore|they're playing|on stage|curtain|"
	    "opening night|match point|sudden death|penalty shootout|last lap|"
	    "finish line|quarterfinal|semifinal|world cup|olympics|"
	    "world record|new album|new season|new episode|trailer|sequel|"
	    "preorder*|midnight release|queue overnight|camped out|"
	    "breakthrough|it works|prototype|startup|launch day|lift-off|"
	    "liftoff|three two one|ready set|on your marks|woo|wooo|whee|"
	    "yippee|geronimo|bring it on|game on|all aboard|hit the road|"
	    "suitcase*|bags are packed|can't sleep i'm|too wired|"
	    "heart's pounding with|jumping up and down|bouncing off|eager|"
	    "eagerly|anticipat*|enthusias*|keen|raring|fired up|amped|electric|"
	    "electrif*|adrenaline|rush|wild|insane|epic|legendary|lit|legit|"
	    "let's do this|go go go|let's roll|let's get|here goes|"
	    "wait till you|guess what|you won't believe what i|big news|"
	    "huge news|announcement|reveal|teaser|sneak peek|opening|"
	    "grand opening|debut|audition went|callback|recording|studio|tour|"
	    "festival|headliner|mosh|rave|dj|dance floor|sold out in|"
	    "front seat|vip|meet and greet|autograph|selfie with|surfing|"
	    "skydiv*|snowboard*|ski|skiing|scuba|safari|zip line|zipline|"
	    "white water|summit|marathon|race day|race starts|start line|"
	    "playoffs|championship|derby|hat trick|touchdown|home run|"
	    "slam dunk|knockout|speedrun|new record|first place in reach|"
	    "unlock*|level up|levelled up|rare drop|legendary drop|shiny|"
	    "new phone|new console|new bike day|new car|test drive|new baby|"
	    "it's a boy|it's a girl|proposal|going to propose|gonna propose|"
	    "elope|abroad|exchange year|gap year|backpack*|tokyo|paris|"
	    "new york|hawaii|iceland|northern lights|eclipse|comet|"
	    "rocket launch|mars",
	    "tickets for the concert, front row", NULL),
	HINT(SURPRISE,
	    "suddenly|all of a sudden|turns out|turned round|turned around|"
	    "you mean|you speak|you can|it talks|it moved|by itself|on its own|"
	    "all this time|whole time|twin*|twins|same birthday|same name|"
	    "overnight|already|how did you know|how did you|how do you know|"
	    "didn't know|never knew|had no idea|no idea|don't know how|"
	    "first time ever|haven't seen|ages|two yolks|three yolks|"
	    "six babies|tooth fell|with his paw|i saw it|doubled|upside down|"
	    "no card|everyone jumped|disappeared|vanished|appeared|actually|"
	    "blow me down|lottery people|are on the line|moose|"
	    "a man on a horse|look twice|look again|had to look|can't get over|"
	    "weigh*|heavier than|used to be a|never believe|you'll never|"
	    "you're telling me|stood up from|only realised|only realized|"
	    "dna test|nobody in this family|little room|behind it there|"
	    "newspaper from|thanked me in|what for|chin|daddy shaved|"
	    "can't boil|has just served|full of balloons|isn't even my|"
	    "all our mouths|mouths were open|mouth fell|eyes popped|dropped my|"
	    "nearly dropped|did a double|double take|rub my eyes|"
	    "rubbed my eyes|pinch me|am i dreaming|is this real|is that really|"
	    "is it really|are you kidding|you're kidding|kidding me|you what|"
	    "say that again|come again|excuse me|wait a minute|hang about|"
	    "of all the|in the middle of the street|at my door|on my doorstep|"
	    "after thirty years|after twenty years|after all these years|"
	    "long-lost|my double|looks exactly like|same dress|same tattoo|"
	    "same name as|by chance|coincidence|bumped into|ran into|"
	    "knew my name|knows my name|spoke chinese|speaks|can talk|can sing|"
	    "can dance|secretly|secret|hidden|buried in the|inside the wall|"
	    "older than|younger than|he's eighty|she's ninety|a hundred and|"
	    "pregnant|triplets|quadruplets|engaged?|married?|since when do|"
	    "snow in|in july|in may|in august|purple|blue egg|two heads|"
	    "three legs|a fox|an owl|a deer|a parrot|a snake in|amazed|amaze|"
	    "astound*|bewilder*|baffl*|perplex*|puzzl*|mystif*|curious|"
	    "peculiar|bizarre|uncanny|freaky|wacky|extraordinary|incredible|"
	    "incredibly odd|miracle|miraculous|magic trick|sleight|trick|plot|"
	    "twist|revelation|reveal that|unannounced|uninvited|"
	    "unexpected guest|stranger than|out of the blue|all at once|"
	    "abruptly|in a flash|one second|popped up|popped out|turned up|"
	    "showed up|showing up|shows up|walked in|walks in|burst in|"
	    "fell from|dropped from|flew in|flew through|landed on my|"
	    "found under|found behind|found inside|tucked inside|stuffed with|"
	    "full of cash|worth a|worth thousands|worth millions|antique|"
	    "original painting|lost for|missing for|since nineteen|"
	    "back in nineteen|hundred years|centuries|fossil|meteor*|ufo|"
	    "aliens|talking bird|learned to talk|reads minds|mind reader|"
	    "psychic|lottery|jackpot winner|inherit*|will left|long lost|"
	    "half-brother|half-sister|secret sister|secret brother|real father|"
	    "real mother|adopted?|same school|same street|small world|"
	    "neighbour is|neighbor is|is that you|is that your|it was you|"
	    "that was you|you did that|you made this|by yourself|"
	    "all by yourself|he can cook|she can sing|grandma can|grandpa can|"
	    "gran's got|nan's got|tattoo|motorbike|bald|blonde|hair is blue|"
	    "shaved",
	    "you speak French? had no idea", NULL),
	HINT(CALM,
	    "tea|kettle|blanket|candle*|rain on|rain outside|the rain|stream|"
	    "lake|waves|breeze|clouds|stars|moon|sunset|birdsong|blackbird*|"
	    "moss|garden|deckchair|hammock|armchair|rocking chair|porch|bench|"
	    "knit*|crochet*|embroid*|jigsaw|crossword|whittl*|fishing|strolled|"
	    "stroll|yoga|meditat*|breathe|breathing|deep breath|bath|fire is|"
	    "fireplace|crackling|cat on my|cat asleep|purring|sleepy|drowsy|"
	    "nap|drifting|quiet|silence|still water|slowly|evening|book|page|"
	    "used to it|made my peace|doesn't bother|don't lie awake|lie back|"
	    "not going anywhere|thinking of nothing|evens out|all evens|"
	    "suits me|crickets|drumming on the tent|harbour|mending nets|"
	    "with a coffee|coffee|my cup|cup of|whole plan|that's the plan|"
	    "risotto|stirring|watering|i water|beans|weeding|pottering|potter|"
	    "shelling|kneading|folding laundry|folding|ironing|embers|glow|"
	    "lamplight|lantern|dusk|dawn|mist|dew|pond|ducks on|heron|swans|"
	    "boat|rowing|drift|float|floating|snow falling|snow outside|"
	    "wind in the|wind chimes|chimes|leaves|under the tree|under a tree|"
	    "in the shade|sit here|sitting here|sit a while|a while longer|"
	    "listen to the|listening to the|hum|humming to|breathe in|"
	    "breathe out|in no hurry|there's time|plenty of time|whenever|"
	    "no plans|no alarm|no phone|phone's off|switched off|"
	    "sunday morning|slow sunday|early night|warm milk|chamomile|socks|"
	    "slippers|soft light|settling down|baby's asleep|asleep on|"
	    "everyone's asleep|all quiet|it'll sort|sort itself|let them talk|"
	    "water under|bygones|no hard feelings|as it comes|either way|"
	    "whatever happens|i'm okay|i'm good|i'm all right|doing fine|"
	    "steady|even keel|enough for me|that's enough|good enough for|"
	    "content with|placid|composed|collected|untroubled|undisturbed|"
	    "quietly|quieter|stillness in|gentle|mellow evening|laid-back|"
	    "laid back|easygoing|easy-going|carefree|unwind*|recharg*|reset my|"
	    "rested|well rested|slept well|slept like|good sleep|long sleep|"
	    "lie-in|lie in|snooz*|basking|sunbath*|lounging|lounge|reclin*|"
	    "recliner|sofa|couch|cushion*|fleece|duvet|robe|bathrobe|"
	    "bubble bath|spa|massage|sauna|steam|incense|lavender|herbal|"
	    "peppermint|cocoa|decaf|broth|soup simmer*|simmer*|slow cook*|"
	    "bread rising|rising dough|vinyl|record player|jazz|cello|lullab*|"
	    "piano softly|humming softly|soft music|low light|dim light|"
	    "nightlight|fairy lights|fireflies|moonlight|starlight|snowfall|"
	    "drizzle|raindrop*|pitter|puddle*|brook|creek|shore|tide out|"
	    "gulls far|beach walk|forest path|woods|pine|meadow|hillside|"
	    "orchard|vineyard|balcony|veranda|terrace|patio|courtyard|"
	    "greenhouse|allotment|prun*|rak*|sweeping|sweep|tidied|tidy|dusted|"
	    "watercolour|watercolor|painting|sketch*|pottery|origami|puzzle|"
	    "chess in the park|bird feeder|feeding the birds|goldfish swim|"
	    "cat dozing|cat curled|dog asleep|dog snoring|slow breath*|inhale*|"
	    "long breath|centred|centered|balanced|grounded|accept it|"
	    "acceptance|i've accepted|no regrets",
	    "tea under a blanket, rain outside", NULL),
};

const struct lexicon_part lexicon_hint_en_good = { en_positive_hints,
	NELEM(en_positive_hints) };
