/*
 * Calls that need the user's approval: the question, the reply, and what is
 * then sent.
 */
#include "core/mem.h"
#include "state/session.h"
#include "testkit/orch_fixture.h"
#include "testkit/redis_set.h"
#include "testkit/tool_provider.h"
#include "tools/approval.h"

#define WRITE          TOOL_PROVIDER_TOOL("fs", "write_file", "ask", "false")
#define READ           TOOL_PROVIDER_TOOL("fs", "read_file", "auto", "true")
#define ON(name, path) "[\"" name "\",\"{\\\"path\\\":\\\"" path "\\\"}\"]"
#define TOOLS          WRITE "," READ
#define LIST           "\"tools\":[" TOOLS "],\"left_out\":[],\"notes\":[]"
#define PROMPT                                   \
	"要用 fs 的工具「write_file」，" \
	"参数是 {\"path\":\"a.txt\"}。"      \
	"可以吗？（这次可以 / 一直可以 / 不要）"

struct bench {
	struct orch_fixture f;
	struct tool_provider p;
	struct orch_turn t;
};

static void
begin(struct bench *b, int orchs)
{
	orch_fixture_start(&b->f, orchs);
	orch_peers_set(&b->f.peers, filter, INTENT_FALLBACK);
	tool_provider_start(&b->p, b->f.nats.url, "mcp-host");
	tool_provider_set(&b->p, list, LIST);
}

static void
finish(struct bench *b)
{
	orch_turn_close(&b->t);
	tool_provider_stop(&b->p);
	orch_fixture_stop(&b->f);
}

/* A turn that ends with a question. */
static void
ask(struct bench *b)
{
	orch_model_reply(&b->f.model, "好的，写好了。",
	    "[" ON("fs__write_file", "a.txt") "]");
	orch_turn_start(&b->t, &b->f, "把它写到 a.txt");
	orch_ck_completed(&b->t, .reply = PROMPT, .executed = "",
	    .failed = "fs__write_file", .errors = "approval required");
	ck_assert_uint_eq(tool_provider_calls(&b->p), 0);
}

/* What the session has of it; absent: nothing. */
static struct str
waiting(struct bench *b)
{
	struct session_key k = { STR("u1"), STR("s1") };
	struct session s;

	ck_assert_int_eq(session_read(b->f.state, &k, b->f.arena, &s), RC_OK);
	return s.approval;
}

static void
reply(struct bench *b, const char *text)
{
	orch_turn_close(&b->t);
	orch_turn_start(&b->t, &b->f, text);
}

TEST_T(a_turn_with_a_question_sends_nothing, 60)
{
	struct bench b;
	char text[256];

	begin(&b, 1);
	ask(&b);
	json_t *events = orch_events(&b.f);
	ck_assert_str_eq(
	    orch_event_types(events, b.t.turn_id, text, sizeof(text)),
	    "started final required");
	json_t *e = orch_event(events, b.t.turn_id, "required", 0);
	ck_assert_str_eq(orch_text(e, "data.kind"), "single_choice");
	ck_assert_str_eq(orch_text(e, "data.prompt"), PROMPT);
	ck_assert_str_eq(
	    orch_list(e, "data.options", "value", text, sizeof(text)),
	    "once,always,no");
	ck_assert_str_eq(
	    orch_list(e, "data.options", "label", text, sizeof(text)),
	    "这次可以,一直可以,不要");
	ck_assert_uint_gt(waiting(&b).n, 0);
	json_decref(events);
	finish(&b);
}

static void
check_approved(struct bench *b, const char *words, const char *scope)
{
	ask(b);
	tool_provider_set(&b->p, reply, "\"ok\":true,\"text\":\"written\"");
	orch_model_reply(&b->f.model, "写好了。", NULL);
	reply(b, words);
	orch_ck_completed(&b->t, .reply = "写好了。",
	    .executed = "fs__write_file", .failed = "");
	ck_assert_uint_eq(tool_provider_calls(&b->p), 1);
	json_t *call = tool_provider_call(&b->p, 0);
	ck_assert_str_eq(orch_text(call, "arguments.path"), "a.txt");
	ck_assert_str_eq(orch_text(call, "approval.scope"), scope);
	ck_assert_str_eq(orch_text(call, "approval.interaction_id"),
	    orch_text(call, "call_id"));
	/* The model sees the result of exactly this call. */
	json_t *q = orch_model_request(&b->f.model, 1);
	ck_assert_str_eq(orch_model_text(q, -1),
	    "{\"ok\":true,\"tool_output\":\"written\"}");
	ck_assert_uint_eq(waiting(b).n, 0);
}

TEST_T(the_next_words_approve_it, 60)
{
	struct bench b;
	char text[256];

	begin(&b, 1);
	check_approved(&b, " 可以。", "once");
	json_t *events = orch_events(&b.f);
	ck_assert_str_eq(
	    orch_event_types(events, b.t.turn_id, text, sizeof(text)),
	    "started replied final completed");
	json_t *e = orch_event(events, b.t.turn_id, "replied", 0);
	ck_assert_str_eq(orch_text(e, "data.interaction_id"),
	    orch_text(tool_provider_call(&b.p, 0), "call_id"));
	json_decref(events);
	/* A second time the same words are only words. */
	orch_model_reply(&b.f.model, "什么可以？", NULL);
	reply(&b, "可以");
	orch_ck_completed(
	    &b.t, .reply = "什么可以？", .executed = "", .failed = "");
	ck_assert_uint_eq(tool_provider_calls(&b.p), 1);
	finish(&b);
}

TEST_T(always_is_passed_on, 60)
{
	struct bench b;

	begin(&b, 1);
	check_approved(&b, "一直可以", "always");
	finish(&b);
}

TEST_T(a_denied_call_is_not_sent, 60)
{
	struct bench b;

	begin(&b, 1);
	ask(&b);
	reply(&b, "不要");
	orch_ck_completed(&b.t, .reply = "好的，write_file没有做。",
	    .executed = "", .failed = "fs__write_file",
	    .errors = "not approved");
	ck_assert_uint_eq(tool_provider_calls(&b.p), 0);
	ck_assert_uint_eq(orch_model_requests(&b.f.model), 1);
	ck_assert_uint_eq(waiting(&b).n, 0);
	finish(&b);
}

TEST_T(other_words_drop_it_and_the_reply_has_that, 60)
{
	struct bench b;

	begin(&b, 1);
	ask(&b);
	orch_model_reply(&b.f.model, "晴天。", NULL);
	reply(&b, "今天天气怎么样");
	orch_ck_completed(&b.t,
	    .reply = "晴天。\nwrite_file没有得到同意，没有做。", .executed = "",
	    .failed = "");
	ck_assert_uint_eq(waiting(&b).n, 0);
	ck_assert_uint_eq(tool_provider_calls(&b.p), 0);
	finish(&b);
}

/* Another session, another user: there is nothing to approve. */
TEST_T(only_the_same_session_approves, 60)
{
	struct orch_turn_opts other = { .session = "s2" };
	struct bench b;

	begin(&b, 1);
	ask(&b);
	orch_turn_close(&b.t);
	orch_model_reply(&b.f.model, "什么可以？", NULL);
	orch_turn_start_with(&b.t, &b.f, "可以", &other);
	orch_ck_completed(
	    &b.t, .reply = "什么可以？", .executed = "", .failed = "");
	ck_assert_uint_eq(tool_provider_calls(&b.p), 0);
	ck_assert_uint_gt(waiting(&b).n, 0);
	finish(&b);
}

/* Replace a text in what waits, as a process with access to Redis could. */
static void
alter(struct bench *b, const char *from, const char *to)
{
	tk_redis_do(&b->f.redis, NULL, 0,
	    "EVAL \"local k = redis.call('KEYS', 'soul:session:*:u1:s1')[1] "
	    "local s = redis.call('HGET', k, 'ask') redis.call('HSET', k, "
	    "'ask', (string.gsub(s, '%s', '%s', 1)))\" 0",
	    from, to);
}

TEST_T(an_altered_call_is_rejected, 60)
{
	struct bench b;

	begin(&b, 1);
	ask(&b);
	alter(&b, "a%.txt", "b.txt");
	orch_model_reply(&b.f.model, "嗯。", NULL);
	reply(&b, "可以");
	orch_ck_completed(&b.t,
	    .reply = "嗯。\nwrite_file的请求已经不是问过的那个，没有做。",
	    .executed = "", .failed = "");
	ck_assert_uint_eq(tool_provider_calls(&b.p), 0);
	finish(&b);
}

/* What else the round did is reported before the question. */
TEST_T(results_beside_a_question_are_reported, 60)
{
	struct bench b;

	begin(&b, 1);
	tool_provider_set(&b.p, reply, "\"ok\":true,\"text\":\"hello\"");
	orch_model_reply(&b.f.model, "",
	    "[" ON("fs__read_file", "b.txt") "," ON(
		"fs__write_file", "a.txt") "]");
	orch_model_reply(&b.f.model, "b 里是 hello。", NULL);
	orch_turn_start(&b.t, &b.f, "读 b，再写 a");
	orch_ck_completed(&b.t, .reply = "b 里是 hello。\n" PROMPT,
	    .executed = "fs__read_file", .failed = "fs__write_file",
	    .errors = "approval required");
	finish(&b);
}

/* The provider's word counts: it may ask for what was listed as auto. */
TEST_T(a_provider_may_require_an_approval, 60)
{
	struct bench b;

	begin(&b, 1);
	tool_provider_set(&b.p, reply,
	    "\"ok\":false,\"error\":{\"code\":\"APPROVAL_REQUIRED\","
	    "\"message\":\"x\"}");
	orch_model_reply(&b.f.model, "", "[" ON("fs__read_file", "a.txt") "]");
	orch_turn_start(&b.t, &b.f, "读 a.txt");
	orch_ck_completed(&b.t, .executed = "", .failed = "fs__read_file",
	    .errors = "approval required");
	ck_assert_uint_gt(waiting(&b).n, 0);
	finish(&b);
}

static bool
one_call(void *p)
{
	return tool_provider_calls(p) == 1;
}

/* The process that sends it dies: nobody sends it a second time. */
TEST_T(an_approved_call_is_sent_by_one_turn_only, 60)
{
	struct bench b;

	begin(&b, 1);
	ask(&b);
	tool_provider_set(&b.p, mode, TOOL_RUNS);
	reply(&b, "可以");
	ck_assert(tk_until(one_call, &b.p, ORCH_WAIT_MS));
	orch_fixture_kill(&b.f, 0);
	orch_turn_close(&b.t);
	ck_assert_uint_eq(waiting(&b).n, 0);
	orch_fixture_spawn(&b.f, 0);
	tool_provider_announce(&b.p, NULL);
	orch_model_reply(&b.f.model, "什么可以？", NULL);
	orch_turn_start(&b.t, &b.f, "可以");
	orch_ck_completed(
	    &b.t, .reply = "什么可以？", .executed = "", .failed = "");
	ck_assert_uint_eq(tool_provider_calls(&b.p), 1);
	finish(&b);
}

/* A call of name with characters that are not seen, which take six each. */
static void
call_hidden(struct bench *b, const char *name)
{
	char text[16384];
	size_t n = (size_t)snprintf(
	    text, sizeof(text), "[[\"%s\",\"{\\\"path\\\":\\\"", name);

	for (size_t i = 0; i < 3000; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "\u00ad");
	snprintf(text + n, sizeof(text) - n, "\\\"}\"]]");
	orch_model_reply(&b->f.model, "", text);
}

/* Whether the list says so, or the provider. */
TEST_T(a_call_that_the_question_cannot_show_fails, 60)
{
	static const char *const names[] = { "fs__write_file",
		"fs__read_file" };
	struct bench b;

	begin(&b, 1);
	tool_provider_set(&b.p, reply,
	    "\"ok\":false,\"error\":{\"code\":\"APPROVAL_REQUIRED\","
	    "\"message\":\"x\"}");
	for (size_t i = 0; i < NELEM(names); i++) {
		call_hidden(&b, names[i]);
		orch_model_reply(&b.f.model, "太长了。", NULL);
		orch_turn_start(&b.t, &b.f, "写");
		orch_ck_completed(&b.t, .executed = "", .failed = names[i],
		    .errors = "invalid arguments: " APPROVAL_NOT_SHOWABLE);
		ck_assert_uint_eq(waiting(&b).n, 0);
		ck_assert_uint_eq(tool_provider_calls(&b.p), i);
		orch_turn_close(&b.t);
	}
	orch_model_reply(&b.f.model, "什么可以？", NULL);
	orch_turn_start(&b.t, &b.f, "可以");
	orch_ck_completed(
	    &b.t, .reply = "什么可以？", .executed = "", .failed = "");
	finish(&b);
}
