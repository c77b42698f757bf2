/*
 * Messages for the model and for the session's record.
 */
#include <stdlib.h>

#include "core/mem.h"
#include "model/model.h"
#include "testkit/testkit.h"
#include "wire/tree.h"
#include "wire/wire.h"

static const struct history_mark mark = { STR_INIT("turn_1"),
	STR_INIT("2026-11-20T12:00:00Z") };

#define MSG(role, content, more)                                     \
	"{\"id\":\"-\",\"role\":\"" role "\",\"content\":\"" content \
	"\",\"created_at\":\"2026-11-20T12:00:00Z\"" more "}"
#define CALLS(...) ",\"tool_calls\":[" __VA_ARGS__ "]"
#define CALL(id)                                                 \
	"{\"id\":\"" id "\",\"type\":\"function\",\"function\":" \
	"{\"name\":\"nod\",\"arguments\":\"{\\\"a\\\":1}\"}}"
#define RESULT(id) MSG("tool", "{}", ",\"tool_call_id\":\"" id "\"")

/* The messages as "s:text|a[2]:text|t(c1):text". */
static void
reads_as(const char *const *json, size_t n, const char *want)
{
	struct arena *a = arena_new(1024 * 1024);
	struct str list[16];
	struct history_stored in = { .list = list, .n = n };
	struct history_list out;
	struct buf b = BUF_INIT(4096);

	for (size_t i = 0; i < n; i++)
		list[i] = str_of(json[i]);
	ck_assert_int_eq(history_read(&in, STR("turn_now"), a, &out), RC_OK);
	for (size_t i = 0; i < out.n; i++) {
		const struct llm_message *m = &out.list[i];
		buf_printf(&b, "%s%c", i > 0 ? "|" : "", "suat"[m->role]);
		if (m->ncalls > 0)
			buf_printf(
			    &b, "[%.*s]", STR_ARG(m->calls[0].arguments));
		if (m->role == LLM_TOOL)
			buf_printf(&b, "(%.*s)", STR_ARG(m->tool_call_id));
		buf_printf(&b, ":%.*s", STR_ARG(m->text));
	}
	ck_assert_str_eq(buf_str(&b).p, want);
	buf_free(&b);
	arena_free(a);
}

#define READS(want, ...)                               \
	reads_as((const char *const[]){ __VA_ARGS__ }, \
	    NELEM(((const char *const[]){ __VA_ARGS__ })), (want))

TEST(plain_messages_are_shown)
{
	READS("u:你好|a:嗨|u:[presence] data={}", MSG("user", "你好", ""),
	    MSG("assistant", "嗨", ""),
	    MSG("observation", "[presence] data={}", ""));
	/* An empty reply is shown as the model writes it. */
	READS("u:哦|a:<NO_REPLY>|u:喂", MSG("user", "哦", ""),
	    MSG("assistant", "", ""), MSG("user", "喂", ""));
	/* This turn's messages and invalid ones are left out. */
	READS("u:b", MSG("user", "a", ",\"turn_id\":\"turn_now\""), "{}",
	    "no json", MSG("user", "b", ",\"turn_id\":\"turn_0\""));
}

TEST(calls_are_shown_with_their_results)
{
	READS("a[{\"a\":1}]:|t(c1):{}|a:好",
	    MSG("assistant", "", CALLS(CALL("c1"))), RESULT("c1"),
	    MSG("assistant", "好", ""));
	/* Several, in any order. */
	READS("a[{\"a\":1}]:说|t(c2):{}|t(c1):{}",
	    MSG("assistant", "说", CALLS(CALL("c1") "," CALL("c2"))),
	    RESULT("c2"), RESULT("c1"));
}

/* What a strict provider would reject is not shown. */
TEST(calls_without_all_results_are_left_out)
{
	/* Truncated at the beginning. */
	READS("u:然后", RESULT("c1"), MSG("user", "然后", ""));
	/* A result is missing, is of another call, or is one too many. */
	READS("u:x", MSG("assistant", "", CALLS(CALL("c1"))),
	    MSG("user", "x", ""));
	READS("a:说|u:x", MSG("assistant", "说", CALLS(CALL("c1"))),
	    RESULT("c2"), MSG("user", "x", ""));
	READS("u:x", MSG("assistant", "", CALLS(CALL("c1") "," CALL("c2"))),
	    RESULT("c1"), MSG("user", "x", ""));
	READS("u:x", MSG("assistant", "", CALLS(CALL("c1"))), RESULT("c1"),
	    RESULT("c3"), MSG("user", "x", ""));
	READS("u:x", MSG("assistant", "", CALLS("7")), RESULT("c1"),
	    MSG("user", "x", ""));
	READS("u:x", MSG("assistant", "", CALLS()), MSG("user", "x", ""));
}

/* ---- a turn ---- */

static void
begin(struct turn *t)
{
	turn_init(t, 4);
	t->phase = TURN_COMMITTING;
}

static struct turn_call *
call(struct turn *t, enum turn_call_kind kind, size_t round, const char *id)
{
	struct turn_call *d = &t->calls[t->n_calls++];

	*d = (struct turn_call){ .kind = kind,
		.round = round,
		.outcome = TURN_OK,
		.skill = STR("点头"),
		.tool = STR("nod"),
		.call_id = str_of(id),
		.args = STR("{\"a\":1}") };
	return d;
}

TEST(a_running_turn_is_shown)
{
	struct arena *a = arena_new(1024 * 1024);
	struct history_list l;
	struct turn t;

	begin(&t);
	call(&t, TURN_DIRECT, 0, "ia_0");
	call(&t, TURN_DIRECT, 0, "ia_1")->tool = (struct str){ 0 };
	t.route.rest = STR("天气呢");
	t.round_text[t.round++] = STR("先点头");
	call(&t, TURN_INVOKE, 1, "c1")->output = STR("\"done\"");
	struct turn_call *bad = call(&t, TURN_INVOKE, 1, "c2");
	bad->outcome = TURN_ERROR;
	bad->why = STR("no \"neck\"");
	ck_assert_int_eq(history_turn(&t, a, &l), RC_OK);
	ck_assert_uint_eq(l.n, 6);
	ck_assert_int_eq(l.list[0].role, LLM_ASSISTANT);
	ck_assert_uint_eq(l.list[0].ncalls, 1);
	ck_assert_ptr_null(l.list[0].text.p);
	ck_assert(str_eq(l.list[1].text, STR("{\"ok\":true}")));
	ck_assert_int_eq(l.list[2].role, LLM_USER);
	ck_assert(str_eq(l.list[2].text, STR("天气呢")));
	ck_assert_uint_eq(l.list[3].ncalls, 2);
	ck_assert(str_eq(l.list[3].text, STR("先点头")));
	ck_assert(
	    str_eq(l.list[4].text, STR("{\"ok\":true,\"output\":\"done\"}")));
	ck_assert(str_eq(l.list[5].text,
	    STR("{\"ok\":false,\"error\":\"no \\\"neck\\\"\"}")));
	arena_free(a);
	a = arena_new(700);
	ck_assert_int_eq(history_turn(&t, a, &l), RC_TOOBIG);
	arena_free(a);
}

/* Other programs read these: query is at the top level in any case. */
TEST(results_of_forget_memory)
{
	static const struct {
		enum turn_outcome outcome;
		const char *output, *want;
	} rows[] = {
		{ TURN_OK, "{\"query\":\"茶\",\"forgotten\":[\"喜欢茶\"]}",
		    "{\"query\":\"茶\",\"forgotten\":[\"喜欢茶\"]}" },
		{ TURN_NO_MATCH, "{\"query\":\"茶\",\"forgotten\":[]}",
		    "{\"query\":\"茶\",\"forgotten\":[]}" },
		{ TURN_NOT_CONFIRMED, NULL,
		    "{\"query\":\"茶\",\"ok\":false,\"error\":"
		    "\"not confirmed\",\"advice\":\"it was sent, but not "
		    "confirmed; it is not known whether it was done\"}" },
		{ TURN_ERROR, NULL,
		    "{\"query\":\"茶\",\"ok\":false,\"error\":"
		    "\"failed\"}" },
	};
	struct arena *a = arena_new(1024 * 1024);
	struct history_stored s;
	struct history_list l;
	struct turn t;

	for (size_t i = 0; i < NELEM(rows); i++) {
		begin(&t);
		t.round = 1;
		struct turn_call *d = call(&t, TURN_FORGET, 1, "c1");
		d->outcome = rows[i].outcome;
		d->skill = d->tool = STR("forget_memory");
		d->args = STR("{\"query\":\"茶\"}");
		d->output = str_of(rows[i].output);
		ck_assert_int_eq(history_turn(&t, a, &l), RC_OK);
		ck_assert_uint_eq(l.n, 2);
		ck_assert_msg(str_eq(l.list[1].text, str_of(rows[i].want)),
		    "%.*s", STR_ARG(l.list[1].text));
		ck_assert_int_eq(
		    history_outcome(&t, STR("好"), &mark, a, &s), RC_OK);
		ck_assert_uint_eq(s.n, 3);
		ck_assert_int_ge(
		    str_find(s.list[1], STR("\"name\":\"forget_memory\"")), 0);
	}
	/* Arguments without text have no query. */
	t.calls[0].args = STR("{}");
	ck_assert_int_eq(history_turn(&t, a, &l), RC_OK);
	ck_assert(str_starts(l.list[1].text, STR("{\"ok\":false")));
	arena_free(a);
}

TEST(large_outputs_are_truncated)
{
	struct arena *a = arena_new(1024 * 1024);
	char *big = mem_alloc(4 * HISTORY_OUTPUT_MAX);
	struct history_list l;
	struct wire_tree *v;
	struct turn t;

	memset(big, 'x', 4 * HISTORY_OUTPUT_MAX);
	big[0] = big[4 * HISTORY_OUTPUT_MAX - 1] = '"';
	begin(&t);
	t.round = 1;
	call(&t, TURN_INVOKE, 1, "c")->output =
	    (struct str){ big, 4 * HISTORY_OUTPUT_MAX };
	ck_assert_int_eq(history_turn(&t, a, &l), RC_OK);
	ck_assert_uint_lt(l.list[1].text.n, HISTORY_OUTPUT_MAX + 100);
	ck_assert_int_eq(wire_tree_parse(l.list[1].text, &v), RC_OK);
	ck_assert_uint_eq(wire_tree_text(wire_tree_get(v, STR("output"))).n,
	    HISTORY_OUTPUT_MAX);
	wire_tree_free(v);
	free(big);
	arena_free(a);
}

/* Stored messages are read back unchanged. */
TEST(messages_survive_a_round_trip)
{
	static const char want[] = "a[{\"a\":1}]:|t(ia_0):{\"ok\":true}|"
				   "a[{\"a\":1}]:先|t(c1):{\"ok\":true}|"
				   "a:点好了";
	struct arena *a = arena_new(1024 * 1024);
	struct history_stored s;
	const char *json[16];
	struct turn t;

	begin(&t);
	call(&t, TURN_DIRECT, 0, "ia_0");
	t.route.rest = STR("其余");
	t.round_text[t.round++] = STR("先");
	call(&t, TURN_INVOKE, 1, "c1")->extra = STR("{\"sig\":\"x\"}");
	ck_assert_int_eq(
	    history_outcome(&t, STR("点好了"), &mark, a, &s), RC_OK);
	ck_assert_uint_eq(s.n, 5);
	for (size_t i = 0; i < s.n; i++)
		json[i] = s.list[i].p;
	reads_as(json, s.n, want);
	ck_assert_ptr_nonnull(strstr(json[1], "\"name\":\"点头\""));
	ck_assert_ptr_nonnull(strstr(json[2], "\"sig\""));
	ck_assert_ptr_nonnull(strstr(json[4], "\"turn_id\":\"turn_1\""));
	/* A turn without a reply stores its calls. */
	ck_assert_int_eq(
	    history_outcome(&t, (struct str){ 0 }, &mark, a, &s), RC_OK);
	ck_assert_uint_eq(s.n, 4);
	arena_free(a);
}

/* Calls that are too large are stored without their arguments. */
TEST(calls_too_large_lose_their_arguments)
{
	struct arena *a = arena_new(4 * 1024 * 1024);
	char *big = mem_alloc(20000);
	struct history_stored s;
	struct turn t;

	memset(big, '"', 20000);
	begin(&t);
	t.round = 1;
	for (int i = 0; i < 8; i++)
		call(&t, TURN_INVOKE, 1, "c")->args =
		    (struct str){ big, 20000 };
	ck_assert_int_eq(history_outcome(&t, STR("x"), &mark, a, &s), RC_OK);
	ck_assert_ptr_nonnull(strstr(s.list[0].p, "\"arguments\":\"{}\""));
	free(big);
	arena_free(a);
}

/* ---- input ---- */

static struct wire_chat_request
chat_of(const char *inputs, struct arena *a)
{
	struct wire_chat_request chat;
	struct wire_err err;
	struct str json = arena_printf(a,
	    "{\"session_id\":\"s\",\"terminal_id\":\"t\",\"inputs\":%s}",
	    inputs);
	enum rc rc = wire_decode(&wire_chat_request_desc, json, a, &chat, &err);

	ck_assert_msg(rc == RC_OK, "%s: %s", err.path, err.why);
	return chat;
}

TEST(inputs_are_stored)
{
	struct arena *a = arena_new(1024 * 1024);
	struct wire_chat_request chat = chat_of(
	    "[{\"type\":\"keyboard_text\",\"text\":\" 开灯 \"},"
	    "{\"type\":\"event_note\",\"text\":\"门\\n开了\",\"source\":"
	    "\"door\"},"
	    "{\"type\":\"sensor_state\",\"data\":{\"t\":21.5}},"
	    "{\"type\":\"image\",\"media\":{\"mime\":\"image/jpeg\",\"url\":"
	    "\"https://x/y\"}},"
	    "{\"type\":\"speech_text\",\"text\":\"谢谢\"},"
	    "{\"type\":\"speech_text\",\"text\":\"  \"}]",
	    a);
	struct history_stored s;
	const char *json[8];

	ck_assert(str_eq(history_user_text(&chat, a), STR("开灯\n谢谢")));
	ck_assert_int_eq(history_input(&chat, &mark, a, &s), RC_OK);
	for (size_t i = 0; i < s.n; i++)
		json[i] = s.list[i].p;
	reads_as(json, s.n,
	    "u:[event_note] source=door text=门 开了|"
	    "u:[sensor_state] data={\"t\":21.5}|"
	    "u:[image] mime=image/jpeg url=https://x/y|"
	    "u:开灯\n谢谢");
	arena_free(a);
}

TEST(inputs_without_text_become_lines)
{
	struct arena *a = arena_new(1024 * 1024);
	struct wire_chat_request chat =
	    chat_of("[{\"type\":\"presence\",\"data\":true}]", a);

	ck_assert_uint_eq(history_user_text(&chat, a).n, 0);
	arena_free(a);
}
