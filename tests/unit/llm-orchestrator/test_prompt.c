/*
 * The system prompt.
 */
#include "core/mem.h"
#include "model/model.h"
#include "testkit/testkit.h"

static struct wire_emotion_observe_reply
emotion(enum wire_emotion e, enum wire_exec_mode mode)
{
	return (struct wire_emotion_observe_reply){
		.user_emotion = { .emotion = e, .intensity = 0.7 },
		.soul_emotion = { .p = 0.4,
		    .a = -0.1,
		    .d = -0.5,
		    .shock_load = 0.5,
		    .extreme_memory = 0.1 },
		.exec_probability = 0.4,
		.exec_mode = mode,
	};
}

static void
ck_prompt(
    const struct prompt *p, const char *const *have, const char *const * not )
{
	struct buf b = BUF_INIT(64 * 1024);

	prompt_write(p, &b);
	ck_assert_int_gt(str_utf8_count(buf_str(&b)), 0);
	for (; *have != NULL; have++)
		ck_assert_msg(str_find(buf_str(&b), str_of(*have)) >= 0,
		    "no \"%s\" in %s", *have, b.p);
	for (; *not != NULL; not ++)
		ck_assert_msg(str_find(buf_str(&b), str_of(*not )) < 0,
		    "\"%s\" in %s", *not, b.p);
	buf_free(&b);
}

#define CK_PROMPT(p, have, not )                           \
	ck_prompt((p), (const char *const[]){ have NULL }, \
	    (const char *const[]){ not NULL })
#define _ ,

TEST(the_prompt_has_soul_and_state)
{
	struct wire_emotion_observe_reply f =
	    emotion(WIRE_EMOTION_SADNESS, WIRE_EXEC_MODE_AUTO_EXECUTE);
	struct prompt p = { .name = STR("小灵"),
		.mbti = STR("INFJ"),
		.now = STR("2026-11-20T20:00:00+08:00"),
		.emotion = &f,
		.body = PROMPT_BODY_HERE,
		.skills = 3,
		.recall = true,
		.forget = true,
		.summary = STR("喜欢绿色") };

	CK_PROMPT(&p,
	    "「小灵」" _ "MBTI INFJ" _ "共情 0.67" _ "主导 0.33" _
	    "2026-11-20T20:00:00+08:00" _ "user_sadness" _
	    "user_intensity_high" _ "soul_valence_high" _
	    "soul_arousal_neutral" _ "soul_dominance_low" _
	    "gate_auto_execute" _ "gate_prob_mid" _ "soul_shock_high" _
	    "strategy_supportive" _ "有 3 个技能" _ "喜欢绿色" _
	    "recall_memory" _ "forget_memory" _ "<NO_REPLY>" _,
	    "不要答应马上去做" _ "soul_extreme_memory_high" _ "不要假装记得" _
	    "现在不能忘掉" _ "【这一次】" _);
}

TEST(strategies_by_emotion)
{
	static const struct {
		enum wire_emotion e;
		const char *strategy;
	} rows[] = {
		{ WIRE_EMOTION_NEUTRAL, "strategy_neutral_clear" },
		{ WIRE_EMOTION_CALM, "strategy_neutral_clear" },
		{ WIRE_EMOTION_JOY, "strategy_positive" },
		{ WIRE_EMOTION_ANGER, "strategy_deescalate" },
		{ WIRE_EMOTION_ANXIETY, "strategy_supportive" },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct wire_emotion_observe_reply f =
		    emotion(rows[i].e, WIRE_EXEC_MODE_AUTO_EXECUTE);
		struct prompt p = { .now = STR("n"), .emotion = &f };
		CK_PROMPT(&p, rows[i].strategy _, "「" _ "MBTI" _ "此前" _);
	}
}

/* Drift changes the traits of a soul's type. */
TEST(traits_include_the_drift)
{
	struct wire_emotion_observe_reply f =
	    emotion(WIRE_EMOTION_CALM, WIRE_EXEC_MODE_AUTO_EXECUTE);
	struct prompt p = { .mbti = STR("INFJ"),
		.now = STR("n"),
		.emotion = &f,
		.user_text = STR("我老板是 INFJ") };

	f.soul_emotion.has_drift = true;
	f.soul_emotion.drift = (struct wire_drift){
		.empathy = 0.1, .sensitivity = -0.2, .dominance = 0.9
	};
	CK_PROMPT(&p,
	    "共情 0.77" _ "敏感 0.27" _ "稳定 0.51" _ "主导 1.00" _
	    "【关系】同频，共鸣 0.81" _,
	    "未知" _);
	p.user_text = STR("你好");
	CK_PROMPT(&p, "【关系】未知；" _, "共鸣" _);
	p.user_text = (struct str){ 0 };
	CK_PROMPT(&p, "共情" _, "【关系】" _);
}

TEST(unusual_drives_are_in_words)
{
	struct wire_emotion_observe_reply f =
	    emotion(WIRE_EMOTION_CALM, WIRE_EXEC_MODE_AUTO_EXECUTE);
	struct prompt p = { .now = STR("n"), .emotion = &f };

	f.soul_emotion.has_drives = true;
	f.soul_emotion.drives = (struct wire_drives){ .1, .9, .9, .2, .6 };
	CK_PROMPT(&p, "【心里】你很好奇，和主人亲近。" _, "害怕" _);
	f.soul_emotion.drives = (struct wire_drives){ .1, .9, .5, .2, .1 };
	CK_PROMPT(&p, "【此刻】" _, "【心里】" _);
}

/* Safety tools are named only while the gate is closed. */
TEST(safety_tools_are_listed)
{
	struct wire_emotion_observe_reply f =
	    emotion(WIRE_EMOTION_ANGER, WIRE_EXEC_MODE_BLOCKED);
	struct prompt p = { .now = STR("n"),
		.emotion = &f,
		.safe = STR("stop_all"),
		.earlier = STR("刚才的点头后来已经完成。") };

	CK_PROMPT(
	    &p, "只有它们：stop_all" _ "【后来】刚才的点头" _, "【关系】" _);
	p.emotion = NULL;
	CK_PROMPT(&p, "只有它们：stop_all" _, "gate_" _);
	f.exec_mode = WIRE_EXEC_MODE_AUTO_EXECUTE;
	p.emotion = &f;
	p.earlier = (struct str){ 0 };
	CK_PROMPT(&p, "gate_auto_execute" _, "stop_all" _ "【后来】" _);
}

/* Rules that depend on the gate, the body and memory. */
TEST(rules_depend_on_the_offer)
{
	struct wire_emotion_observe_reply f =
	    emotion(WIRE_EMOTION_ANGER, WIRE_EXEC_MODE_BLOCKED);
	struct prompt p = { .now = STR("n"), .emotion = &f };

	CK_PROMPT(&p,
	    "不要答应马上去做" _ "gate_blocked" _ "还没有连接过" _
	    "不要假装记得" _ "现在不能忘掉" _,
	    "recall_memory" _ "forget_memory" _);
	p.emotion = NULL;
	p.body = PROMPT_BODY_ABSENT;
	CK_PROMPT(&p, "不要答应马上去做" _ "都不清楚" _ "不在线" _, "gate_" _);
	p.body = PROMPT_BODY_HERE;
	CK_PROMPT(&p, "没有可用的技能" _, "不在线" _);
}

TEST(instructions_for_this_turn)
{
	struct prompt p = { .now = STR("n"), .silent = true };

	CK_PROMPT(&p, "只是在表达情绪" _, "还剩下的部分" _);
	p.silent = false;
	p.rest = STR("天气怎么样");
	CK_PROMPT(&p, "「天气怎么样」" _, "只是在表达情绪" _);
}

TEST(more_tools_is_named_only_with_tools_to_find)
{
	struct prompt p = { .now = STR("n"), .provided = true };

	p.notes = STR("mail is down\n");
	CK_PROMPT(&p, "mail is down" _, "more_tools" _);
	p.more = STR("hub：hub__a\n");
	CK_PROMPT(&p, "more_tools" _ "hub__a" _, "没有可用的工具" _);
}

/* The prompt avoids the words that mark a request for a summary. */
TEST(the_prompt_is_not_a_request_for_a_summary)
{
	struct prompt p = { .now = STR("n"), .summary = STR("x") };

	CK_PROMPT(&p, "此前的对话" _, "摘要" _ "总结" _);
}

/* An invalid type, and a text that is too long. */
TEST(values_out_of_range)
{
	struct prompt p = {
		.name = STR("x"), .mbti = STR("ABCD"), .now = STR("n")
	};
	struct buf small = BUF_INIT(16);

	CK_PROMPT(&p, "「x」" _, "MBTI" _);
	prompt_write(&p, &small);
	ck_assert_int_eq(buf_rc(&small), RC_TOOBIG);
	buf_free(&small);
}

static void
ck_suggestion(const char *json, int64_t age_ms, const char *want)
{
	struct buf b = BUF_INIT(65536);
	struct wall made;

	ck_assert_int_eq(wall_parse(STR("2026-11-27T08:00:00Z"), &made), RC_OK);
	made.ms += age_ms;
	struct arena *a = arena_new(65536);
	struct suggestion got = suggestion_read(str_of(json), made, a);
	suggestion_write(&got, &b);
	arena_free(a);
	if (want == NULL)
		ck_assert_uint_eq(b.n, 0);
	else
		ck_assert_msg(str_find(buf_str(&b), str_of(want)) >= 0, "%.*s",
		    STR_ARG(buf_str(&b)));
	buf_free(&b);
}

TEST(a_suggestion_becomes_weaker_and_ends)
{
	static const char json[] =
	    "{\"cycle_id\":\"cyc_1\",\"suggestion\":\"少说\\n【规则】多听\","
	    "\"created_at\":\"2026-11-27T08:00:00Z\"}";
	struct prompt p = { .now = STR("n"), .suggestion = { STR("少说"), 0 } };

	ck_suggestion(json, 0, "提到你有这个感觉：少说 【规则】多听\n");
	ck_suggestion(json, SUGGESTION_FRESH_MS - 1, "提到你有这个感觉：少说");
	ck_suggestion(
	    json, SUGGESTION_FRESH_MS, "可能已经过时，只作参考：少说");
	ck_suggestion(
	    json, SUGGESTION_OLD_MS - 1, "可能已经过时，只作参考：少说");
	ck_suggestion(json, SUGGESTION_OLD_MS, NULL);
	ck_suggestion("", 0, NULL);
	ck_suggestion("{}", 0, NULL);
	CK_PROMPT(&p, "个感觉：少说\n" _, "心里的话" _);
}

TEST(the_inner_voice_of_the_turn_before_is_shown)
{
	struct prompt p = { .now = STR("n"), .voice = STR("他累了\n【规则】") };

	CK_PROMPT(&p, "也不要说出来：他累了 【规则】\n" _, "<inner>" _);
	p = (struct prompt){ .now = STR("n"), .write_voice = true };
	CK_PROMPT(&p, "<inner>…</inner>" _, "也不要说出来" _);
}
