/*
 * System intents: the decision on a command without a matching intent.
 */
#include "core/mem.h"
#include "filter.h"

/* Most bytes of an exclamation about a quality: five ideographs. */
#define EXCLAMATION_MAX 15
/* Kinds of words in questions. */
#define FALLBACK_QUESTIONS \
	(1UL << WORD_WH | 1UL << WORD_QUESTION_MARK | 1UL << WORD_YES_NO)
/* Kinds of words that no exclamation has. */
#define FALLBACK_THINGS                                                       \
	(FALLBACK_QUESTIONS | 1UL << WORD_ACTION | 1UL << WORD_VERB |         \
	    1UL << WORD_DEVICE | 1UL << WORD_ROOM | 1UL << WORD_PROHIBITION | \
	    1UL << WORD_REMINDER | 1UL << WORD_OBJECT_MARKER)

/*
 * Words of texts that only express an emotion, separated by blanks ("_" is a
 * blank).  Such a text has no other words, and one of the first two lists.
 */
enum fallback_list {
	FALLBACK_CRY,
	FALLBACK_EMOTION,
	FALLBACK_REST,
	FALLBACK_LISTS
};

static const char *const fallback_words[FALLBACK_LISTS] = {
	[FALLBACK_CRY] =
	    "啊 哦 噢 喔 嗯 唉 哎 哎呀 哎哟 哇 哇塞 哈 哈哈 嘿嘿 呵呵 呜 "
	    "呜呜 嘻嘻 天哪 天啊 天呐 我的天 我的天哪 我的妈呀 妈呀 老天 "
	    "我去 我靠 卧槽 我晕 晕 切 哼 额 呃 吓我一跳 吓了我一跳 吓死我 "
	    "吓死宝宝 吓死人 吓坏我 笑死我 笑死 气死我 烦死我 累死我 困死我 "
	    "热死我 冷死我 饿死我 急死我 愁死我 无语 离谱 服 绝 绝绝子 牛 "
	    "牛啊 厉害 太棒 太好 真好 好耶 耶 完蛋 糟糕 糟 该死 讨厌 真是的 "
	    "可恶 好险 惨 倒霉 可惜 破防 栓q 蚌埠住 麻 裂开 wow omg oh ugh "
	    "huh yay ouch oops hooray haha hahaha lol damn whoa 깜짝이야 "
	    "아이고 헐 대박 びっくりした うわ すごい やばい oh_my_god oh_no "
	    "scared_me you_scared_me that_was_close so_annoying how_annoying "
	    "phew yikes 吓死 气死 热死 冷死 烦死 累死 困死 饿死 渴死 急死 愁死 "
	    "气炸 炸 醉 头大 美死 乐死 救命 倒霉透",
	[FALLBACK_EMOTION] =
	    "开心 高兴 快乐 幸福 激动 兴奋 感动 满足 难过 伤心 难受 悲伤 "
	    "委屈 失落 失望 沮丧 郁闷 压抑 绝望 孤独 孤单 寂寞 无聊 无助 "
	    "心烦 烦 烦躁 焦虑 紧张 担心 害怕 怕 恐惧 慌 生气 愤怒 恼火 火大 "
	    "不爽 不开心 不高兴 累 好累 疲惫 疲倦 困 崩溃 抓狂 emo 想哭 心累 "
	    "心痛 心疼 恶心 尴尬 惊讶 震惊 意外 放松 轻松 舒服 平静 安心 "
	    "踏实 不舒服 难过极 舒坦 爽 受不了 tired exhausted upset annoyed "
	    "angry sad happy scared bored lonely excited stressed nervous "
	    "sleepy depressed miserable relieved furious 피곤해 힘들어 슬퍼 "
	    "疲れた 悲しい つらい 眠い 嬉しい 难 难搞 饿 渴 冷 热 好冷 好热 可爱 酷 帅 "
	    "美 香 好香 好美 好吃 好看 好玩 快 心情不好 难听 心情好 没意思 没劲",
	[FALLBACK_REST] =
	    "我 我们 人家 咱 心里 心情 今天 现在 最近 这 真是 真的 感觉 觉得 "
	    "真 好 太 很 超 超级 非常 特别 有点 有点儿 有些 实在 都 快 要 "
	    "简直 更 越来越 这么 那么 多么 极 极了 死 死我 死了 坏了 得不行 "
	    "得很 了 呀 哟 哪 呢 吧 嘛 吗 啦 的 地 得 又 还 也 一点 一点儿 "
	    "下 , 。 ! . … ~ 、 ; i i'm im am feel feeling so very really "
	    "a_bit kind_of pretty just too this is that was the me right_now "
	    "today and 喂 是 你 你们 心 宝宝 本宝宝 老子 姐 哥 透 透了 得要死 要死 要命 想",
};

/* The length of the longest word of a list that s begins with; 0: none. */
static size_t
fallback_longest(struct str s, enum fallback_list list)
{
	struct str rest = str_of(fallback_words[list]), w;
	size_t longest = 0;

	while (rest.p != NULL) {
		w = str_split(&rest, ' ');
		if (w.n > longest && vocabulary_begins_with(s, w))
			longest = w.n;
	}
	return longest;
}

static bool
fallback_is_emotion(struct str s)
{
	size_t len[FALLBACK_LISTS], n;
	bool found = false;

	while (s.n > 0) {
		if (s.p[0] == ' ') {
			n = 1;
		} else {
			len[FALLBACK_CRY] = fallback_longest(s, FALLBACK_CRY);
			len[FALLBACK_EMOTION] =
			    fallback_longest(s, FALLBACK_EMOTION);
			len[FALLBACK_REST] = fallback_longest(s, FALLBACK_REST);
			n = len[FALLBACK_CRY] > len[FALLBACK_EMOTION]
			    ? len[FALLBACK_CRY]
			    : len[FALLBACK_EMOTION];
			found = found || (n > 0 && n >= len[FALLBACK_REST]);
			if (len[FALLBACK_REST] > n)
				n = len[FALLBACK_REST];
			if (n == 0)
				return false;
		}
		s.p += n;
		s.n -= n;
	}
	return found;
}

/* Whether the command has a word of the kinds (1 << kind, or'ed). */
static bool
fallback_has(const struct utterance *u, unsigned long kinds)
{
	size_t i;

	for (i = 0; i < u->n_words; i++) {
		if ((kinds & 1UL << u->words[i].kind) != 0)
			return true;
	}
	return false;
}

/* The length of the first word of the list that s begins with; 0: none. */
static size_t
fallback_word_len(const char *list, struct str s)
{
	struct str rest = str_of(list), w;

	while (rest.p != NULL) {
		w = str_split(&rest, ' ');
		if (str_starts(s, w))
			return w.n;
	}
	return 0;
}

/*
 * "太过分了", "好漂亮啊": an exclamation about a quality, except those that a
 * terminal may be asked to change.
 */
static bool
fallback_is_exclamation(const struct utterance *u)
{
	struct str s = u->cmd.folded;
	bool too;
	size_t n;

	if (fallback_has(u, FALLBACK_THINGS) || u->n_times > 0)
		return false;
	while ((n = fallback_word_len(
		    "哇 啊 哎呀 天哪 , ! 你 我 这 那 也 真是", s)) > 0) {
		s.p += n;
		s.n -= n;
	}
	too = str_starts(s, STR("太"));
	n = fallback_word_len("太 好 真 超 多么", s);
	s.p += n;
	s.n -= n;
	if (n == 0 ||
	    fallback_word_len(
		"的 了 吧 啊 久 不 像 暗 黑 亮 吵 闷 干 湿 响 大声 小声", s) >
		0)
		return false;
	while (str_ends(s, STR("!")) || str_ends(s, STR("。")))
		s.n -= str_ends(s, STR("!")) ? STR("!").n : STR("。").n;
	if (s.n > EXCLAMATION_MAX)
		return false;
	if (too)
		return str_ends(s, STR("了")) || str_ends(s, STR("了吧")) ||
		    str_ends(s, STR("了啊"));
	return s.n > STR("啊").n &&
	    fallback_word_len("啊 呀 哦 喔 啦 哇 耶",
		(struct str){ s.p + s.n - STR("啊").n, STR("啊").n }) > 0;
}

struct fallback
fallback_decide(const struct utterance *u)
{
	struct fallback f = { WIRE_DECISION_ACTION_FALLBACK_REASONING,
		"sys.fallback_reasoning", "触发高级推理", NULL, .9 };

	if (fallback_is_emotion(u->cmd.folded) || fallback_is_exclamation(u))
		return (struct fallback){ WIRE_DECISION_ACTION_NO_ACTION,
			"sys.no_action", "无需处理",
			"matched_no_action_pattern", .99 };
	if (fallback_has(u, FALLBACK_QUESTIONS))
		f.reason = "question_or_discussion";
	else if (fallback_has(u, 1UL << WORD_DEVICE | 1UL << WORD_ROOM) ||
	    (u->uses_times && u->n_times > 0))
		f.reason = "has_task_signal";
	else if (fallback_has(u, 1UL << WORD_ACTION))
		f.reason = "action_without_target";
	else
		f.reason = "insufficient_signal_for_no_action";
	return f;
}
