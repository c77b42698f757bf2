/*
 * What the recogniser makes of texts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/mem.h"
#include "emotion.h"
#include "feeling.h"
#include "testkit/testkit.h"

struct said {
	const char *text;
	enum wire_emotion emotion;
};

#define SAID(e, text)                    \
	{                                \
		(text), WIRE_EMOTION_##e \
	}

static struct feeling *
recogniser(void)
{
	struct feeling *f;
	char why[128];

	ck_assert_msg(
	    feeling_new("", &f, why, sizeof(why)) == RC_OK, "%s", why);
	return f;
}

static void
check(const struct said *t, size_t n)
{
	struct feeling *f = recogniser();
	struct wire_user_emotion u;
	size_t i;

	for (i = 0; i < n; i++) {
		feeling_read(f, str_of(t[i].text), &u);
		ck_assert_msg(u.emotion == t[i].emotion, "%s is %.*s (%.3f)",
		    t[i].text, STR_ARG(wire_emotion_names[u.emotion]),
		    u.confidence);
		ck_assert(!u.has_second || u.second != u.emotion);
		ck_assert(u.has_confidence && u.confidence >= 0 &&
		    u.confidence <= 1 && u.intensity <= 1);
		ck_assert(u.p >= -1 && u.p <= 1 && u.a <= 1 && u.d <= 1);
		ck_assert(
		    (u.emotion == WIRE_EMOTION_NEUTRAL) == (u.intensity == 0));
	}
	feeling_free(f);
}

static const struct said plain[] = {
	SAID(SADNESS, "我很难过"),
	SAID(SADNESS, "我失恋了"),
	SAID(ANGER, "我很生气"),
	SAID(ANGER, "气死我了"),
	SAID(ANXIETY, "我很焦虑"),
	SAID(SURPRISE, "太惊讶了"),
	SAID(BOREDOM, "好无聊"),
	SAID(NEUTRAL, "开灯"),
	SAID(NEUTRAL, "请帮我记录一下"),
	SAID(SADNESS, "今天被老板批评了"),
	SAID(ANGER, "你个混蛋！"),
	SAID(JOY, "哈哈哈哈哈"),
	SAID(ANXIETY, "压力很大睡不着"),
	SAID(SURPRISE, "没想到居然下雨了"),
	SAID(RELIEF, "松了一口气"),
	SAID(SADNESS, "不开心"),
	SAID(SURPRISE, "吓我一跳"),
	SAID(NEUTRAL, "你好"),
	SAID(NEUTRAL, "今天上海天气如何？"),
	SAID(NEUTRAL, "帮我把灯变成绿色并且10分钟后提醒我"),
	SAID(DISGUST, "这味道真恶心"),
	SAID(FEAR, "打雷了，我好害怕"),
	SAID(FRUSTRATION, "作业怎么都做不出来，烦死了"),
	SAID(DISAPPOINTMENT, "本以为能去公园，太失望了"),
	SAID(GRATITUDE, "谢谢你陪着我"),
	SAID(EXCITEMENT, "明天去迪士尼，好激动啊"),
	SAID(CALM, "泡完澡觉得很放松"),
	SAID(JOY, "今天考了满分，真开心"),
	SAID(ANGER, "I'm so angry right now"),
	SAID(SADNESS, "I feel really sad today"),
	SAID(JOY, "What a wonderful day!"),
	SAID(FEAR, "i am scared of the dark"),
	SAID(ANXIETY, "I'm nervous about the exam"),
	SAID(DISGUST, "eww that is disgusting"),
	SAID(FRUSTRATION, "Ugh, this is so frustrating"),
	SAID(DISAPPOINTMENT, "I'm disappointed in you"),
	SAID(BOREDOM, "there is nothing to do, I'm bored"),
	SAID(GRATITUDE, "Thank you so much"),
	SAID(RELIEF, "Phew, it's finally over"),
	SAID(EXCITEMENT, "I can't wait for tomorrow"),
	SAID(SURPRISE, "Wow, I did not see that coming"),
	SAID(CALM, "I feel calm and peaceful"),
	SAID(NEUTRAL, "turn on the light"),
	SAID(NEUTRAL, "remind me in ten minutes"),
	SAID(JOY, "😊"),
	SAID(SADNESS, "今天😭😭"),
	SAID(SURPRISE, "?!"),
	SAID(SURPRISE, "！？"),
	SAID(NEUTRAL, ""),
	SAID(NEUTRAL, "   "),
	SAID(NEUTRAL, "。。。"),
};

TEST(plain_words)
{
	check(plain, NELEM(plain));
}

static const struct said denied[] = {
	SAID(SADNESS, "我不是很开心"),
	SAID(SADNESS, "一点都不快乐"),
	SAID(SADNESS, "太不开心了"),
	SAID(SADNESS, "I'm not happy"),
	SAID(SADNESS, "I don't feel very happy"),
	/* What looks like a negator and is none. */
	SAID(JOY, "真不错"),
	SAID(JOY, "not bad"),
	SAID(SADNESS, "忍不住想哭"),
	SAID(SURPRISE, "不敢相信"),
	SAID(RELIEF, "好不容易放心了"),
	SAID(JOY, "从来没有这么开心"),
	SAID(JOY, "I've never been so happy"),
	SAID(EXCITEMENT, "I cannot wait"),
	SAID(BOREDOM, "没意思"),
	SAID(SADNESS, "没有人陪我，难过"),
	/* Never across a clause, never far. */
	SAID(JOY, "不，我很开心"),
	SAID(SADNESS, "不去上学我就难过"),
	SAID(JOY, "no, I am happy"),
	SAID(NEUTRAL, "开不开心"),
};

TEST(negation_is_tight)
{
	check(denied, NELEM(denied));
}

/* Calm, relieved, or nothing at all. */
static const char *const no_longer_bad[] = {
	"我不难过",
	"我不生气了",
	"我没有那么焦虑",
	"一点也不害怕",
	"别担心",
	"I'm not sad",
	"I am not really worried",
	"never afraid",
	"不生气",
	"不用担心",
	"I'm not angry",
};

TEST(what_is_denied_is_not_felt)
{
	struct feeling *f = recogniser();
	struct wire_user_emotion u;
	size_t i;

	for (i = 0; i < NELEM(no_longer_bad); i++) {
		feeling_read(f, str_of(no_longer_bad[i]), &u);
		ck_assert_msg(emotion_valence(u.emotion) != EMOTION_NEGATIVE,
		    "%s is %.*s", no_longer_bad[i],
		    STR_ARG(wire_emotion_names[u.emotion]));
	}
	feeling_free(f);
}

static const struct said about_others[] = {
	SAID(NEUTRAL, "你开心吗"),
	SAID(NEUTRAL, "你今天难过吗？"),
	SAID(NEUTRAL, "are you happy?"),
	SAID(NEUTRAL, "why are you sad"),
	SAID(NEUTRAL, "放一首悲伤的歌"),
	SAID(NEUTRAL, "我想听恐怖故事"),
	SAID(NEUTRAL, "play a happy song"),
	SAID(NEUTRAL, "“难过”用英语怎么说"),
	SAID(NEUTRAL, "how do you spell \"angry\""),
	SAID(NEUTRAL, "播放《伤心太平洋》"),
	/* And yet of the user. */
	SAID(SADNESS, "你知道我很难过吗？"),
	SAID(GRATITUDE, "谢谢你，可以吗？"),
	SAID(SADNESS, "我为什么这么难过"),
	SAID(SADNESS, "那部电影让我想哭"),
	SAID(ANGER, "你怎么这么过分？气死我了"),
};

TEST(not_every_word_is_about_the_user)
{
	check(about_others, NELEM(about_others));
}

static const struct said turns[] = {
	SAID(RELIEF, "刚才很紧张，但是现在放心了"),
	SAID(SADNESS, "昨天很开心，可是今天想哭"),
	SAID(CALM, "I was angry but now I'm calm"),
	SAID(SADNESS, "我 很 难 过"),
	SAID(SADNESS, "我很難過"),
	SAID(GRATITUDE, "謝謝你"),
	SAID(FEAR, "嚇死我了"),
	SAID(ANGER, "Ｉ ａｍ ＡＮＧＲＹ"),
	SAID(SADNESS, "我\n很难过"),
	SAID(JOY, "I’m happy"),
	SAID(NEUTRAL, "unhappyish madrid nothankyou"),
	SAID(NEUTRAL, "make fun of it"),
	SAID(NEUTRAL, "i won't do it"),
	SAID(JOY, "happy开心"),
};

TEST(turns_and_spellings)
{
	check(turns, NELEM(turns));
}

static double
intensity(struct feeling *f, const char *text)
{
	struct wire_user_emotion u;

	feeling_read(f, str_of(text), &u);
	return u.intensity;
}

/* Each is felt more strongly than the one before it. */
static const char *const ladders[][5] = {
	{ "有点难过", "难过", "很难过", "难过死了", "非常难过，难过死了！！" },
	{ "a bit sad", "sad", "very sad", "so sad, heartbroken", NULL },
	{ "有些生气", "生气", "特别生气", "特别生气！", "特别生气！！！" },
	{ "kind of happy", "happy", "really happy", "really happy!", NULL },
};

TEST(degrees)
{
	struct feeling *f = recogniser();
	size_t i, j;

	for (i = 0; i < NELEM(ladders); i++) {
		for (j = 1; j < 5 && ladders[i][j] != NULL; j++)
			ck_assert_msg(intensity(f, ladders[i][j]) >
				intensity(f, ladders[i][j - 1]),
			    "%s %.3f, %s %.3f", ladders[i][j - 1],
			    intensity(f, ladders[i][j - 1]), ladders[i][j],
			    intensity(f, ladders[i][j]));
	}
	feeling_free(f);
}

TEST(mixed_feelings_are_less_sure)
{
	struct feeling *f = recogniser();
	struct wire_user_emotion one, two;

	feeling_read(f, STR("我很难过"), &one);
	feeling_read(f, STR("我很难过，也很生气"), &two);
	ck_assert_double_lt(two.confidence, one.confidence);
	feeling_free(f);
}

TEST(any_bytes_are_read)
{
	struct feeling *f = recogniser();
	struct wire_user_emotion u;
	size_t i, j, n = 4 * (size_t)FEATURES_TEXT_MAX;
	uint64_t x = 7;
	char *big = mem_alloc(n);

	for (i = 0; i < 300; i++) {
		size_t len = i % 200;

		for (j = 0; j < len; j++) {
			x = x * UINT64_C(6364136223846793005) + 1;
			big[j] = (char)(x >> 56);
		}
		feeling_read(f, (struct str){ big, len }, &u);
		ck_assert(u.intensity >= 0 && u.intensity <= 1);
		ck_assert(u.confidence >= 0 && u.confidence <= 1);
	}
	/* Nothing but cues, far more than are kept; and one endless word. */
	for (j = 0; j + 6 <= n; j += 6)
		memcpy(big + j, "难过", 6);
	feeling_read(f, (struct str){ big, j }, &u);
	ck_assert_int_eq(u.emotion, WIRE_EMOTION_SADNESS);
	ck_assert_double_le(u.intensity, 1);
	memset(big, 'a', n);
	feeling_read(f, (struct str){ big, n }, &u);
	ck_assert_double_le(u.intensity, 1);
	memset(big, '"', n);
	feeling_read(f, (struct str){ big, n }, &u);
	ck_assert_double_le(u.intensity, 1);
	free(big);
	feeling_free(f);
	feeling_free(NULL);
}

TEST(the_point_is_a_blend)
{
	const struct wire_pad *anger = emotion_prototype(WIRE_EMOTION_ANGER);
	struct feeling *f = recogniser();
	struct wire_user_emotion u;

	feeling_read(f, STR("气死我了，滚开！"), &u);
	ck_assert_int_eq(u.emotion, WIRE_EMOTION_ANGER);
	/* Near the prototype, drawn towards what it may be beside. */
	ck_assert(u.p < 0 && u.p > -1 && u.p != anger->p);
	ck_assert_double_eq_tol(u.a, anger->a, .35);
	feeling_read(f, STR(""), &u);
	ck_assert_double_eq(u.p, 0);
	ck_assert_double_eq(u.a, emotion_prototype(WIRE_EMOTION_NEUTRAL)->a);
	feeling_free(f);
}

static const struct {
	const char *text, *rule, *found;
	enum wire_emotion emotion;
} evidence[] = {
	{ "气死我了", "cue", "气死我了", WIRE_EMOTION_ANGER },
	{ "我不难过", "denied", "难过", WIRE_EMOTION_CALM },
	{ "我很難過", "words", "难过", WIRE_EMOTION_SADNESS },
	{ "打开客厅的灯", "command", "打开", WIRE_EMOTION_NEUTRAL },
	{ "“难过”用英语怎么说", "meta", "用英语", WIRE_EMOTION_NEUTRAL },
};

TEST(evidence_says_why)
{
	struct wire_emotion_analyze_response_evidence e[FEELING_EVIDENCE_MAX];
	struct feeling *f = recogniser();
	struct arena *a = arena_new(1 << 16);
	struct wire_user_emotion u;
	size_t i, k, n;
	bool found;

	for (i = 0; i < NELEM(evidence); i++) {
		feeling_read(f, str_of(evidence[i].text), &u);
		n = feeling_evidence(f, a, e);
		found = false;
		for (k = 0; k < n; k++) {
			ck_assert(k == 0 ||
			    fabs(e[k].weight) <= fabs(e[k - 1].weight));
			found = found ||
			    (str_eq(e[k].rule, str_of(evidence[i].rule)) &&
				str_eq(e[k].text, str_of(evidence[i].found)) &&
				e[k].emotion == evidence[i].emotion);
		}
		ck_assert_msg(found, "%s", evidence[i].text);
	}
	arena_free(a);
	feeling_free(f);
}

TEST(wrong_weights_are_refused)
{
	struct feeling *f;
	char why[128];

	tk_write_file(tk_path("w"),
	    "not weights, whatever its length is, "
	    "which is longer than a head of 64 bytes");
	ck_assert_int_eq(
	    feeling_new(tk_path("w"), &f, why, sizeof(why)), RC_INVALID);
	ck_assert_ptr_null(f);
	ck_assert_str_eq(why, "it is not a weights file");
}
