/*
 * Turns that nobody asked for, as alarm-clock starts them.
 */
#include <stdarg.h>

#include "core/mem.h"
#include "state/events.h"
#include "testkit/orch_fixture.h"

#define SKILL_OF(name, properties)                                             \
	"{\"name\":\"" name "\",\"description\":\"" name                       \
	"\",\"input_schema\":{\"type\":\"object\",\"properties\":{" properties \
	"}}}"
#define SPEAK                                                \
	SKILL_OF("speak",                                    \
	    "\"text\":{\"type\":\"string\",\"minLength\":1," \
	    "\"maxLength\":100}")
/* A result is not waited for long. */
#define SPEAK_QUICKLY                                                 \
	"{\"name\":\"speak\",\"input_schema\":{\"type\":\"object\","  \
	"\"x-timeout-seconds\":1,\"properties\":{\"text\":{\"type\":" \
	"\"string\"}}}}"
#define LIGHT SKILL_OF("light", "\"mode\":{\"enum\":[\"on\",\"off\"]}")
#define ALARM                                   \
	SKILL_OF("create_alarm",                \
	    "\"trigger_in_seconds\":{\"type\":" \
	    "\"number\"},\"label\":{\"type\":\"string\"}")

#define ONE "\"occurrence\":\"a1-1\",\"request_id\":\"a1-1-t1\""
#define DRINK(more) \
	"{\"reason\":\"alarm\",\"text\":\"该喝水了。\"," ONE more "}"
#define PHRASED DRINK(",\"verbatim\":false")
#define ACTION(mode)                                                      \
	DRINK(",\"action\":{\"intents\":[{\"intent_id\":\"i_light\","     \
	      "\"intent_name\":\"灯\",\"confidence\":1,\"normalized\":{" \
	      "\"skill\":\"light\",\"mode\":\"" mode "\"}}]}")

static void
unasked_fixture(struct orch_fixture *b, const char *skills)
{
	orch_fixture_start(b, 1);
	orch_fixture_set_skills(b, skills);
}

static json_t *
unasked_start(struct orch_fixture *b, struct orch_turn *t, const char *unasked)
{
	orch_turn_start_with(t, b, NULL,
	    &(struct orch_turn_opts){ .unasked = unasked,
		.unread = true,
		.inputs = "[{\"type\":\"event_note\",\"text\":\"alarm\"}]" });
	return orch_turn_end(t);
}

/* How an unasked turn ends; detail NULL: none. */
static void
unasked_check(struct orch_fixture *b, const char *unasked, const char *outcome,
    const char *detail, int line)
{
	struct orch_turn t;
	json_t *j = unasked_start(b, &t, unasked);
	const char *have = orch_text(j, "unasked.detail");

	ck_assert_msg(strcmp(orch_text(j, "state"), "completed") == 0,
	    "line %d: %s: %s", line, orch_text(j, "state"),
	    orch_text(j, "error.error"));
	ck_assert_msg(strcmp(orch_text(j, "unasked.outcome"), outcome) == 0,
	    "line %d: %s: %s", line, orch_text(j, "unasked.outcome"), have);
	if (detail != NULL)
		ck_assert_msg(
		    strstr(have, detail) != NULL, "line %d: %s", line, have);
	orch_turn_close(&t);
}
#define ENDS(b, unasked, outcome, detail) \
	unasked_check((b), (unasked), (outcome), (detail), __LINE__)

/* The texts of all messages of the session, "role:text;". */
static const char *
unasked_messages(struct orch_fixture *b, char *dst, size_t size)
{
	json_t *list = orch_fixture_messages(b, "s1", 20), *m;
	size_t i, n = 0;

	dst[0] = '\0';
	json_array_foreach (list, i, m)
		n += (size_t)snprintf(dst + n, size - n, "%s:%s;",
		    orch_text(m, "role"), orch_text(m, "content"));
	json_decref(list);
	return dst;
}

static void
unasked_stored(struct orch_fixture *b, const char *want, int line)
{
	char have[1024];

	unasked_messages(b, have, sizeof(have));
	ck_assert_msg(strcmp(have, want) == 0, "line %d: \"%s\"", line, have);
}
#define STORES(b, want) unasked_stored((b), (want), __LINE__)

static void
unasked_log(struct orch_fixture *b, const char *want, int line)
{
	char have[1024];

	orch_peers_log(&b->peers, have, sizeof(have));
	ck_assert_msg(strcmp(have, want) == 0, "line %d: \"%s\"", line, have);
	orch_peers_clear(&b->peers);
}
#define REQUESTS(b, want) unasked_log((b), (want), __LINE__)

TEST_T(a_text_is_spoken_without_a_model, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char types[128];
	json_t *j, *events;

	unasked_fixture(&b, "[" SPEAK "," LIGHT "]");
	j = unasked_start(&b, &t, DRINK(",\"title\":\"喝水\""));
	ck_assert_str_eq(orch_text(j, "state"), "completed");
	ck_assert_str_eq(orch_text(j, "unasked.outcome"), "spoken");
	ck_assert_str_eq(orch_text(j, "unasked.text"), "该喝水了。");
	ck_assert_str_eq(orch_text(j, "response.reply"), "该喝水了。");
	ck_assert_str_eq(orch_text(j, "response.soul_id"), "soul_1");
	j = orch_peers_last(&b.peers, invoke);
	ck_assert_str_eq(orch_text(j, "request_id"), "a1-1-t1");
	ck_assert_str_eq(orch_text(j, "arguments.text"), "该喝水了。");
	ck_assert_uint_eq(orch_model_requests(&b.model), 0);
	REQUESTS(&b, "gate invoke:speak");
	STORES(&b, "assistant:该喝水了。;");
	events = orch_events(&b);
	ck_assert_str_eq(
	    orch_event_types(events, t.turn_id, types, sizeof(types)),
	    "started final completed");
	ck_assert_str_eq(orch_text(orch_event(events, t.turn_id, "started", 0),
			     "data.title"),
	    "喝水");
	ck_assert_str_eq(
	    orch_text(orch_event(events, t.turn_id, "final", 0), "data.text"),
	    "该喝水了。");
	json_decref(events);
	orch_turn_close(&t);
	/* A request that is repeated gets what became of the first. */
	ENDS(&b, DRINK(",\"attempt\":2"), "spoken", NULL);
	REQUESTS(&b, "");
	STORES(&b, "assistant:该喝水了。;");
	/* The next user's turn knows of it. */
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply(&b.model, "好。", NULL);
	orch_turn_start(&t, &b, "知道了");
	orch_ck_completed(&t, .reply = "好。", .executed = "", .failed = "");
	ck_assert_str_eq(orch_model_roles(orch_model_request(&b.model, 0),
			     types, sizeof(types)),
	    "sau");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

TEST_T(the_model_phrases_a_text, 60)
{
	struct orch_fixture b;
	const char *system;
	char tools[64];

	unasked_fixture(&b, "[" SPEAK "]");
	orch_model_reply(&b.model, "主人，喝口水吧！", NULL);
	ENDS(&b, PHRASED, "spoken", NULL);
	ck_assert_str_eq(
	    orch_text(orch_peers_last(&b.peers, invoke), "arguments.text"),
	    "主人，喝口水吧！");
	system = orch_model_text(orch_model_request(&b.model, 0), 0);
	ck_assert_ptr_nonnull(strstr(system, "「该喝水了。」"));
	ck_assert_str_eq(orch_model_tools(orch_model_request(&b.model, 0),
			     tools, sizeof(tools)),
	    "");
	STORES(&b, "assistant:主人，喝口水吧！;");
	orch_fixture_stop(&b);
}

/* It fails, says nothing, says too much for the skill. */
TEST_T(without_words_of_the_model_the_text_is_spoken, 60)
{
	static char text[1024];
	struct orch_fixture b;

	unasked_fixture(&b, "[" SPEAK "]");
	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < 3; i++) {
		char unasked[512];

		if (i == 0)
			orch_model_fail(&b.model, 400);
		else
			orch_model_reply(
			    &b.model, i == 1 ? "<NO_REPLY>" : text, NULL);
		snprintf(unasked, sizeof(unasked),
		    "{\"reason\":\"push\",\"text\":\"该喝水了。\","
		    "\"verbatim\":false,\"occurrence\":\"p\","
		    "\"request_id\":\"p%d\"}",
		    i);
		ENDS(&b, unasked, "spoken", NULL);
		ck_assert_str_eq(orch_text(orch_peers_last(&b.peers, invoke),
				     "arguments.text"),
		    "该喝水了。");
	}
	ck_assert_uint_eq(orch_model_requests(&b.model), 3);
	orch_fixture_stop(&b);
}

TEST_T(a_slow_model_is_not_waited_for, 60)
{
	struct orch_fixture b = { .more = { NULL } };
	struct mono begin;

	orch_fixture_start(&b, 0);
	orch_fixture_set_skills(&b, "[" SPEAK "]");
	b.more[0] = "LLM_TIMEOUT_MS=60000";
	b.more[1] = "UNASKED_LLM_TIMEOUT_MS=200";
	orch_fixture_spawn(&b, 0);
	orch_model_reply_after(&b.model, "喝吧。", NULL, 30000);
	begin = clock_mono();
	ENDS(&b, PHRASED, "spoken", NULL);
	ck_assert_int_lt(mono_diff_ms(clock_mono(), begin), 30000);
	ck_assert_uint_eq(orch_model_requests(&b.model), 1);
	STORES(&b, "assistant:该喝水了。;");
	orch_fixture_stop(&b);
}

TEST_T(nothing_is_spoken_that_is_not_confirmed, 60)
{
	struct orch_fixture b;
	json_t *events;

	unasked_fixture(&b, "[" SPEAK_QUICKLY "]");
	orch_peers_set(&b.peers, body, BODY_MUTE);
	ENDS(&b, DRINK(""), "not_confirmed", "not confirmed");
	orch_peers_set(&b.peers, body, BODY_ERROR);
	ENDS(&b, DRINK(",\"attempt\":2"), "not_confirmed", "stuck");
	STORES(&b, "");
	events = orch_events(&b);
	ck_assert_uint_eq(json_array_size(events), 0);
	json_decref(events);
	/* The next attempt has the same request_id, and is stored. */
	orch_peers_set(&b.peers, body, BODY_OK);
	ENDS(&b, DRINK(",\"attempt\":3"), "spoken", NULL);
	ck_assert_str_eq(
	    orch_text(orch_peers_last(&b.peers, invoke), "request_id"),
	    "a1-1-t1");
	ck_assert_uint_eq(orch_peers_invokes(&b.peers), 3);
	STORES(&b, "assistant:该喝水了。;");
	orch_fixture_stop(&b);
}

TEST_T(a_body_that_cannot_speak_is_reported, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	json_t *j;

	unasked_fixture(&b, "[" ALARM "," LIGHT "]");
	ENDS(&b, DRINK(""), "no_skill", NULL);
	REQUESTS(&b, "");
	/* An alarm rings by what the body has. */
	ENDS(&b, DRINK(",\"ring\":true,\"attempt\":2"), "spoken", NULL);
	REQUESTS(&b, "gate invoke:create_alarm");
	j = orch_peers_last(&b.peers, invoke);
	ck_assert_str_eq(orch_text(j, "arguments.label"), "该喝水了。");
	ck_assert_int_eq(
	    json_integer_value(tk_find(j, "arguments.trigger_in_seconds")), 1);
	STORES(&b, "assistant:该喝水了。;");
#define OTHER(id)                                                  \
	"{\"reason\":\"push\",\"text\":\"x\",\"occurrence\":\"" id \
	"\",\"request_id\":\"" id "\"}"
	orch_fixture_set_skills(&b, "[" SPEAK "]");
	orch_peers_set(&b.peers, delivery, "no_subscriber");
	ENDS(&b, OTHER("p1"), "no_body", NULL);
	orch_peers_set(&b.peers, delivery, "delivered");
	orch_fixture_set_online(&b, false);
	ENDS(&b, OTHER("p2"), "no_body", "offline");
	/* Of another user. */
	orch_turn_start_with(&t, &b, NULL,
	    &(struct orch_turn_opts){ .unasked = OTHER("p3"),
		.unread = true,
		.user = "u2",
		.inputs = "[{\"type\":\"event_note\",\"text\":\"x\"}]" });
	j = orch_turn_end(&t);
	ck_assert_str_eq(orch_text(j, "unasked.outcome"), "no_body");
	ck_assert_ptr_null(json_object_get(j, "response"));
	orch_turn_close(&t);
	STORES(&b, "assistant:该喝水了。;");
	orch_fixture_stop(&b);
}

TEST_T(the_gate_blocks_what_is_not_urgent, 60)
{
	struct orch_fixture b;

	unasked_fixture(&b, "[" SPEAK "," LIGHT "]");
	orch_peers_set(&b.peers, exec_mode, "blocked");
	ENDS(&b, DRINK(""), "blocked", "blocked");
	ENDS(&b, ACTION("off"), "blocked", "blocked");
	REQUESTS(&b, "gate gate");
	orch_peers_set(&b.peers, exec_mode, NULL);
	ENDS(&b, DRINK(""), "blocked", "gate unknown");
	orch_peers_clear(&b.peers);
	ENDS(&b, DRINK(",\"urgent\":true"), "spoken", NULL);
	REQUESTS(&b, "invoke:speak");
	orch_fixture_stop(&b);
}

TEST_T(an_action_is_executed_at_its_time, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	json_t *j;

	unasked_fixture(&b, "[" LIGHT "]");
	orch_peers_set(&b.peers, body, BODY_ERROR);
	ENDS(&b, ACTION("off"), "not_confirmed", "stuck");
	ENDS(&b, ACTION("blink"), "failed", "/mode");
	STORES(&b, "");
	orch_peers_set(&b.peers, body, BODY_OK);
	j = unasked_start(&b, &t, ACTION("off"));
	ck_assert_str_eq(orch_text(j, "unasked.outcome"), "done");
	ck_assert_str_eq(orch_text(j, "response.reply"), "好的，灯已执行。");
	j = orch_peers_last(&b.peers, invoke);
	ck_assert_str_eq(orch_text(j, "skill"), "light");
	ck_assert_str_eq(orch_text(j, "arguments.mode"), "off");
	ck_assert_str_eq(orch_text(j, "request_id"), "a1-1-t1");
	orch_turn_close(&t);
	STORES(&b, "assistant:好的，灯已执行。;");
	orch_fixture_set_skills(&b, "[" SPEAK "]");
	ENDS(&b,
	    "{\"reason\":\"alarm\",\"text\":\"\",\"occurrence\":\"a2\","
	    "\"request_id\":\"a2\",\"action\":{\"intents\":[{\"intent_id\":"
	    "\"i\",\"confidence\":1,\"normalized\":{\"skill\":\"light\"}}]}}",
	    "no_skill", NULL);
	ck_assert_uint_eq(orch_model_requests(&b.model), 0);
	orch_fixture_stop(&b);
}

TEST_T(an_unasked_turn_waits_for_the_users, 60)
{
	struct orch_turn user, t;
	struct orch_fixture b;

	unasked_fixture(&b, "[" SPEAK "]");
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply_after(&b.model, "你好。", NULL, 500);
	orch_turn_start(&user, &b, "你好");
	orch_turn_wait_entered(&user);
	(void)unasked_start(&b, &t, DRINK(""));
	orch_ck_completed(
	    &user, .reply = "你好。", .executed = "", .failed = "");
	STORES(&b, "user:你好;assistant:你好。;assistant:该喝水了。;");
	orch_turn_close(&t);
	orch_turn_close(&user);
	orch_fixture_stop(&b);
}

/* Until then the process that had the first attempt may be alive. */
static bool
unasked_is_repeated(void *arg)
{
	struct orch_fixture *b = arg;
	struct orch_turn t;
	json_t *j = unasked_start(b, &t, DRINK(""));
	bool ended = strcmp(orch_text(j, "state"), "repeated") != 0;

	if (ended)
		ck_assert_str_eq(orch_text(j, "unasked.outcome"), "spoken");
	orch_turn_close(&t);
	return ended;
}

TEST_T(a_text_that_was_spoken_before_a_kill_is_stored_one_time, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	unasked_fixture(&b, "[" SPEAK "]");
	orch_peers_set(&b.peers, body, BODY_MUTE);
	orch_turn_start_with(&t, &b, NULL,
	    &(struct orch_turn_opts){ .unasked = DRINK(""),
		.unread = true,
		.inputs = "[{\"type\":\"event_note\",\"text\":\"x\"}]" });
	while (orch_peers_invokes(&b.peers) == 0)
		orch_turn_next(&t, 20);
	orch_fixture_kill(&b, 0);
	orch_turn_close(&t);
	orch_peers_set(&b.peers, body, BODY_OK);
	orch_fixture_spawn(&b, 0);
	ck_assert(tk_until(unasked_is_repeated, &b, ORCH_WAIT_MS));
	ck_assert_str_eq(
	    orch_text(orch_peers_last(&b.peers, invoke), "request_id"),
	    "a1-1-t1");
	ENDS(&b, DRINK(""), "spoken", NULL);
	ck_assert_uint_eq(orch_peers_invokes(&b.peers), 2);
	STORES(&b, "assistant:该喝水了。;");
	orch_fixture_stop(&b);
}

TEST_T(an_unasked_turn_that_makes_no_sense_is_rejected, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	unasked_fixture(&b, "[" SPEAK "]");
	(void)unasked_start(
	    &b, &t, "{\"reason\":\"push\",\"text\":\" \"," ONE "}");
	orch_ck_failed(&t, 400, "invalid_request");
	orch_turn_close(&t);
	orch_turn_start_with(&t, &b, NULL,
	    &(struct orch_turn_opts){ .unasked = DRINK(""),
		.stream = true,
		.inputs = "[{\"type\":\"event_note\",\"text\":\"x\"}]" });
	orch_ck_failed(&t, 400, "invalid_request");
	orch_turn_close(&t);
	REQUESTS(&b, "");
	STORES(&b, "");
	orch_fixture_stop(&b);
}
