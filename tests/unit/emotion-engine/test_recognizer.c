/*
 * Emotions recognised in texts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/mem.h"
#include "persona/emotion.h"
#include "recognition/feature.h"
#include "recognition/recognizer.h"
#include "testkit/testkit.h"

struct utterance {
	const char *text;
	enum wire_emotion emotion;
};

#define TEXT(e, text)                    \
	{                                \
		(text), WIRE_EMOTION_##e \
	}

static struct recognizer *
new_recognizer(void)
{
	struct recognizer *f;
	char why[128];

	ck_assert_msg(
	    recognizer_new("", &f, why, sizeof(why)) == RC_OK, "%s", why);
	return f;
}

static void
check_utterances(const struct utterance *t, size_t n)
{
	struct recognizer *f = new_recognizer();
	struct wire_user_emotion u;
	size_t i;

	for (i = 0; i < n; i++) {
		recognizer_read(f, str_of(t[i].text), &u);
		ck_assert_msg(u.emotion == t[i].emotion, "%s is %.*s (%.3f)",
		    t[i].text, STR_ARG(wire_emotion_names[u.emotion]),
		    u.confidence);
		ck_assert(!u.has_second || u.second != u.emotion);
		ck_assert(u.has_second == u.has_second_confidence);
		ck_assert(u.second_confidence <= u.confidence &&
		    u.second_confidence + u.confidence < 1 + 1e-9);
		ck_assert(u.has_confidence && u.confidence >= 0 &&
		    u.confidence <= 1 && u.intensity <= 1);
		ck_assert(u.p >= -1 && u.p <= 1 && u.a <= 1 && u.d <= 1);
		ck_assert(
		    (u.emotion == WIRE_EMOTION_NEUTRAL) == (u.intensity == 0));
	}
	recognizer_free(f);
}

static const struct utterance plain[] = {
	TEXT(SADNESS, "我很难过"),
	TEXT(SADNESS, "我失恋了"),
	TEXT(ANGER, "我很生气"),
	TEXT(ANGER, "气死我了"),
	TEXT(ANXIETY, "我很焦虑"),
	TEXT(SURPRISE, "太惊讶了"),
	TEXT(BOREDOM, "好无聊"),
	TEXT(NEUTRAL, "开灯"),
	TEXT(NEUTRAL, "请帮我记录一下"),
	TEXT(SADNESS, "今天被老板批评了"),
	TEXT(ANGER, "你个混蛋！"),
	TEXT(JOY, "哈哈哈哈哈"),
	TEXT(ANXIETY, "压力很大睡不着"),
	TEXT(SURPRISE, "没想到居然下雨了"),
	TEXT(RELIEF, "松了一口气"),
	TEXT(SADNESS, "不开心"),
	TEXT(SURPRISE, "吓我一跳"),
	TEXT(NEUTRAL, "你好"),
	TEXT(NEUTRAL, "今天上海天气如何？"),
	TEXT(NEUTRAL, "帮我把灯变成绿色并且10分钟后提醒我"),
	TEXT(DISGUST, "这味道真恶心"),
	TEXT(FEAR, "打雷了，我好害怕"),
	TEXT(FRUSTRATION, "作业怎么都做不出来，烦死了"),
	TEXT(DISAPPOINTMENT, "本以为能去公园，太失望了"),
	TEXT(GRATITUDE, "谢谢你陪着我"),
	TEXT(EXCITEMENT, "明天去迪士尼，好激动啊"),
	TEXT(CALM, "泡完澡觉得很放松"),
	TEXT(JOY, "今天考了满分，真开心"),
	TEXT(ANGER, "I'm so angry right now"),
	TEXT(SADNESS, "I feel really sad today"),
	TEXT(JOY, "What a wonderful day!"),
	TEXT(FEAR, "i am scared of the dark"),
	TEXT(ANXIETY, "I'm nervous about the exam"),
	TEXT(DISGUST, "eww that is disgusting"),
	TEXT(FRUSTRATION, "Ugh, this is so frustrating"),
	TEXT(DISAPPOINTMENT, "I'm disappointed in you"),
	TEXT(BOREDOM, "there is nothing to do, I'm bored"),
	TEXT(GRATITUDE, "Thank you so much"),
	TEXT(RELIEF, "Phew, it's finally over"),
	TEXT(EXCITEMENT, "I can't wait for tomorrow"),
	TEXT(SURPRISE, "Wow, I did not see that coming"),
	TEXT(CALM, "I feel calm and peaceful"),
	TEXT(NEUTRAL, "turn on the light"),
	TEXT(NEUTRAL, "remind me in ten minutes"),
	TEXT(JOY, "😊"),
	TEXT(SADNESS, "今天😭😭"),
	TEXT(SURPRISE, "?!"),
	TEXT(SURPRISE, "！？"),
	TEXT(NEUTRAL, ""),
	TEXT(NEUTRAL, "   "),
	TEXT(NEUTRAL, "。。。"),
};

TEST(plain_sentences_are_recognised)
{
	check_utterances(plain, NELEM(plain));
}

static const struct utterance denied[] = {
	TEXT(SADNESS, "我不是很开心"),
	TEXT(SADNESS, "一点都不快乐"),
	TEXT(SADNESS, "太不开心了"),
	TEXT(SADNESS, "I'm not happy"),
	TEXT(SADNESS, "I don't feel very happy"),
	/* Not negations. */
	TEXT(JOY, "真不错"),
	TEXT(JOY, "not bad"),
	TEXT(SADNESS, "忍不住想哭"),
	TEXT(SURPRISE, "不敢相信"),
	TEXT(RELIEF, "好不容易放心了"),
	TEXT(JOY, "从来没有这么开心"),
	TEXT(JOY, "I've never been so happy"),
	TEXT(EXCITEMENT, "I cannot wait"),
	TEXT(BOREDOM, "没意思"),
	TEXT(SADNESS, "没有人陪我，难过"),
	/* Never across a clause, never far. */
	TEXT(JOY, "不，我很开心"),
	TEXT(SADNESS, "不去上学我就难过"),
	TEXT(JOY, "no, I am happy"),
	TEXT(NEUTRAL, "开不开心"),
};

TEST(negation_applies_within_its_clause_only)
{
	check_utterances(denied, NELEM(denied));
}

/* Calm, relief or neutral. */
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

TEST(negated_negative_emotions_are_not_recognised)
{
	struct recognizer *f = new_recognizer();
	struct wire_user_emotion u;
	size_t i;

	for (i = 0; i < NELEM(no_longer_bad); i++) {
		recognizer_read(f, str_of(no_longer_bad[i]), &u);
		ck_assert_msg(emotion_valence(u.emotion) != EMOTION_NEGATIVE,
		    "%s is %.*s", no_longer_bad[i],
		    STR_ARG(wire_emotion_names[u.emotion]));
	}
	recognizer_free(f);
}

static const struct utterance about_others[] = {
	TEXT(NEUTRAL, "你开心吗"),
	TEXT(NEUTRAL, "你今天难过吗？"),
	TEXT(NEUTRAL, "are you happy?"),
	TEXT(NEUTRAL, "why are you sad"),
	TEXT(NEUTRAL, "放一首悲伤的歌"),
	TEXT(NEUTRAL, "我想听恐怖故事"),
	TEXT(NEUTRAL, "play a happy song"),
	TEXT(NEUTRAL, "“难过”用英语怎么说"),
	TEXT(NEUTRAL, "how do you spell \"angry\""),
	TEXT(NEUTRAL, "播放《伤心太平洋》"),
	/* The user's own emotion all the same. */
	TEXT(SADNESS, "你知道我很难过吗？"),
	TEXT(GRATITUDE, "谢谢你，可以吗？"),
	TEXT(SADNESS, "我为什么这么难过"),
	TEXT(SADNESS, "那部电影让我想哭"),
	TEXT(ANGER, "你怎么这么过分？气死我了"),
};

TEST(questions_quotes_and_requests_are_neutral)
{
	check_utterances(about_others, NELEM(about_others));
}

static const struct utterance turns[] = {
	TEXT(RELIEF, "刚才很紧张，但是现在放心了"),
	TEXT(SADNESS, "昨天很开心，可是今天想哭"),
	TEXT(CALM, "I was angry but now I'm calm"),
	TEXT(SADNESS, "我 很 难 过"),
	TEXT(SADNESS, "我很難過"),
	TEXT(GRATITUDE, "謝謝你"),
	TEXT(FEAR, "嚇死我了"),
	TEXT(ANGER, "Ｉ ａｍ ＡＮＧＲＹ"),
	TEXT(SADNESS, "我\n很难过"),
	TEXT(JOY, "I’m happy"),
	TEXT(NEUTRAL, "unhappyish madrid nothankyou"),
	TEXT(NEUTRAL, "make fun of it"),
	TEXT(NEUTRAL, "i won't do it"),
	TEXT(JOY, "happy开心"),
};

TEST(contrasts_and_spellings_are_recognised)
{
	check_utterances(turns, NELEM(turns));
}

static double
intensity(struct recognizer *f, const char *text)
{
	struct wire_user_emotion u;

	recognizer_read(f, str_of(text), &u);
	return u.intensity;
}

/* Intensity increases from left to right. */
static const char *const ladders[][5] = {
	{ "有点难过", "难过", "很难过", "难过死了", "非常难过，难过死了！！" },
	{ "a bit sad", "sad", "very sad", "so sad, heartbroken", NULL },
	{ "有些生气", "生气", "特别生气", "特别生气！", "特别生气！！！" },
	{ "kind of happy", "happy", "really happy", "really happy!", NULL },
};

TEST(intensity_follows_words_of_degree)
{
	struct recognizer *f = new_recognizer();
	size_t i, j;

	for (i = 0; i < NELEM(ladders); i++) {
		for (j = 1; j < 5 && ladders[i][j] != NULL; j++)
			ck_assert_msg(intensity(f, ladders[i][j]) >
				intensity(f, ladders[i][j - 1]),
			    "%s %.3f, %s %.3f", ladders[i][j - 1],
			    intensity(f, ladders[i][j - 1]), ladders[i][j],
			    intensity(f, ladders[i][j]));
	}
	recognizer_free(f);
}

TEST(mixed_emotions_lower_the_confidence)
{
	struct recognizer *f = new_recognizer();
	struct wire_user_emotion one, two;

	recognizer_read(f, STR("我很难过"), &one);
	recognizer_read(f, STR("我很难过，也很生气"), &two);
	ck_assert_double_lt(two.confidence, one.confidence);
	recognizer_free(f);
}

TEST(any_bytes_give_a_result_in_range)
{
	struct recognizer *f = new_recognizer();
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
		recognizer_read(f, (struct str){ big, len }, &u);
		ck_assert(u.intensity >= 0 && u.intensity <= 1);
		ck_assert(u.confidence >= 0 && u.confidence <= 1);
	}
	/* More cues than are counted; and one endless word. */
	for (j = 0; j + 6 <= n; j += 6)
		memcpy(big + j, "难过", 6);
	recognizer_read(f, (struct str){ big, j }, &u);
	ck_assert_int_eq(u.emotion, WIRE_EMOTION_SADNESS);
	ck_assert_double_le(u.intensity, 1);
	memset(big, 'a', n);
	recognizer_read(f, (struct str){ big, n }, &u);
	ck_assert_double_le(u.intensity, 1);
	memset(big, '"', n);
	recognizer_read(f, (struct str){ big, n }, &u);
	ck_assert_double_le(u.intensity, 1);
	free(big);
	recognizer_free(f);
	recognizer_free(NULL);
}

TEST(the_point_is_a_weighted_mean)
{
	const struct wire_pad *anger = emotion_prototype(WIRE_EMOTION_ANGER);
	struct recognizer *f = new_recognizer();
	struct wire_user_emotion u;

	recognizer_read(f, STR("气死我了，滚开！"), &u);
	ck_assert_int_eq(u.emotion, WIRE_EMOTION_ANGER);
	/* Near the prototype, shifted towards the alternatives. */
	ck_assert(u.p < 0 && u.p > -1 && u.p != anger->p);
	ck_assert_double_eq_tol(u.a, anger->a, .35);
	recognizer_read(f, STR(""), &u);
	ck_assert_double_eq(u.p, 0);
	ck_assert_double_eq(u.a, emotion_prototype(WIRE_EMOTION_NEUTRAL)->a);
	recognizer_free(f);
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

TEST(evidence_names_the_rule_and_the_text)
{
	struct wire_emotion_analyze_response_evidence e[EVIDENCE_MAX];
	struct recognizer *f = new_recognizer();
	struct arena *a = arena_new(1 << 16);
	struct wire_user_emotion u;
	size_t i, k, n;
	bool found;

	for (i = 0; i < NELEM(evidence); i++) {
		recognizer_read(f, str_of(evidence[i].text), &u);
		n = recognizer_evidence(f, a, e);
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
	recognizer_free(f);
}

TEST(invalid_weights_are_rejected)
{
	struct recognizer *f;
	char why[128];

	tk_write_file(tk_path("w"),
	    "not weights, whatever its length is, "
	    "which is longer than a head of 64 bytes");
	ck_assert_int_eq(
	    recognizer_new(tk_path("w"), &f, why, sizeof(why)), RC_INVALID);
	ck_assert_ptr_null(f);
	ck_assert_str_eq(why, "it is not a weights file");
}
