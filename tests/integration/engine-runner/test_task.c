/*
 * Tasks of souls: engine-runner as a provider of tools, called as a turn calls
 * it.
 */
#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "state/run.h"
#include "testkit/engine_runner_fixture.h"
#include "testkit/nats.h"
#include "tool/tool_digest.h"

#define PROVIDER "engine-runner"

static struct engine_runner_fixture f;

/* ---- requests ---- */

static json_t *
tool_list(int max)
{
	char body[256], code[TK_CODE];

	snprintf(body, sizeof(body),
	    "{\"user_id\":\"ann\",\"soul_id\":\"lena\",\"text\":\"x\",\"max\":"
	    "%d}",
	    max);
	return tk_nats_request(
	    f.gw.nc, "soul.tool." PROVIDER ".list", body, code);
}

/* The pin of a tool, as it is listed. */
static const char *
tool_definition(const char *name)
{
	static char pin[TOOL_DIGEST_MAX];
	json_t *list = tool_list(24), *t;
	size_t i;

	pin[0] = '\0';
	json_array_foreach (json_object_get(list, "tools"), i, t) {
		if (strcmp(tk_text(t, "name"), name) == 0)
			snprintf(
			    pin, sizeof(pin), "%s", tk_text(t, "definition"));
	}
	json_decref(list);
	ck_assert_uint_eq(strlen(pin), TOOL_DIGEST_MAX - 1);
	return pin;
}

struct call {
	const char *id, *name;
	json_t *arguments;
	const char *scope; /* NULL: no approval */
	json_t *approved;  /* arguments; NULL: those of the call */
	const char *pin;   /* NULL: the tool's */
	const char *soul;  /* NULL: lena */
};

#define CALL(number, tool, ...) \
	(&(struct call){ .id = number, .name = tool, .arguments = __VA_ARGS__ })

static void
call_put_approval(
    json_t *q, const struct call *c, const char *pin, json_t *arguments)
{
	char *text = json_dumps(arguments, JSON_COMPACT);
	const struct tool_sealed_call sealed = { STR(PROVIDER), STR(PROVIDER),
		str_of(c->name), str_of(pin), str_of(text) };
	char seal[TOOL_DIGEST_MAX];

	ck_assert_int_eq(tool_seal(&sealed, seal), RC_OK);
	json_object_set_new(q, "approval",
	    json_pack("{s:s,s:s,s:s}", "interaction_id", "ix_t1", "scope",
		c->scope, "seal", seal));
	free(text);
}

/* The reply; consumes the arguments. */
static json_t *
call_tool(const struct call *c)
{
	char pin[TOOL_DIGEST_MAX], code[TK_CODE];
	json_t *q, *rep;
	char *body;

	snprintf(pin, sizeof(pin), "%s",
	    c->pin != NULL ? c->pin : tool_definition(c->name));
	q = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:O}", "call_id", c->id,
	    "user_id", "ann", "soul_id", c->soul != NULL ? c->soul : "lena",
	    "session_id", "s1", "turn_id", "t1", "name", c->name, "definition",
	    pin, "arguments", c->arguments);
	ck_assert_ptr_nonnull(q);
	if (c->scope != NULL)
		call_put_approval(q, c, pin,
		    c->approved != NULL ? c->approved : c->arguments);
	body = json_dumps(q, JSON_COMPACT);
	rep =
	    tk_nats_request(f.gw.nc, "soul.tool." PROVIDER ".call", body, code);
	ck_assert_str_eq(code, "");
	ck_assert_str_eq(tk_text(rep, "call_id"), c->id);
	ck_assert_str_eq(tk_text(rep, "state"), "ended");
	free(body);
	json_decref(q);
	json_decref(c->arguments);
	json_decref(c->approved);
	return rep;
}

/* It is rejected with this code. */
static void
call_fails(const struct call *c, const char *code)
{
	json_t *rep = call_tool(c);

	ck_assert_msg(json_is_false(json_object_get(rep, "ok")) &&
		strcmp(tk_find_text(rep, "error.code"), code) == 0,
	    "%s: %s", code, json_dumps(rep, JSON_COMPACT));
	json_decref(rep);
}

/* It is accepted, and says that nothing is done; the run. */
static void
call_starts(const struct call *c, char id[RUN_ID_MAX])
{
	json_t *rep = call_tool(c);
	const char *text = tk_text(rep, "text"), *run;

	ck_assert_msg(json_is_true(json_object_get(rep, "ok")), "%s",
	    json_dumps(rep, JSON_COMPACT));
	ck_assert_ptr_nonnull(strstr(text, "not done"));
	run = strstr(text, "run 2");
	ck_assert_ptr_nonnull(run);
	snprintf(id, RUN_ID_MAX, "%.*s", (int)strcspn(run + 4, " ,"), run + 4);
	json_decref(rep);
}

static json_t *
task_of(const char *const steps[])
{
	struct buf b = BUF_INIT(65536);
	json_t *args;

	for (size_t i = 0; steps[i] != NULL; i++)
		buf_printf(&b, "%s\n", steps[i]);
	args = json_pack("{s:s}", "task", b.p);
	buf_free(&b);
	return args;
}

static size_t
runs(void)
{
	json_t *j = gw_json(&f.gw, "GET", "/v1/runs?user_id=ann", NULL);
	size_t n = json_array_size(tk_find(j, "items"));

	json_decref(j);
	return n;
}

/* ---- notes ---- */

static struct arena *notes_arena;

static bool
has_note(void *state)
{
	const struct session_key k = { STR("ann"), STR("s1") };
	struct session_notes notes;

	ck_assert_int_eq(
	    run_notes_read(f.gw.db.s, &k, notes_arena, &notes), RC_OK);
	return notes.n == 1 && str_find(notes.json[0], str_of(state)) >= 0;
}

static void
await_note(const char *text)
{
	char copy[256];

	snprintf(copy, sizeof(copy), "%s", text);
	notes_arena = arena_new(1024 * 1024);
	ck_assert_msg(tk_until(has_note, copy, ER_MS), "no note: %s", text);
	arena_free(notes_arena);
}

/* ---- tests ---- */

TEST(the_tools_are_announced_and_listed)
{
	natsSubscription *sub;
	json_t *j;

	er_start(&f, NULL);
	sub = tk_nats_listen(f.gw.nc, "soul.tool.present.*");
	j = tk_nats_next(sub, ER_MS, NULL);
	ck_assert_str_eq(tk_text(j, "provider"), PROVIDER);
	ck_assert_str_eq(tk_text(j, "instance"), "r1");
	json_t *list = tool_list(24);
	ck_assert_str_eq(tk_text(j, "revision"), tk_text(list, "revision"));
	ck_assert_uint_eq(json_array_size(json_object_get(list, "tools")), 2);
	ck_assert_str_eq(tk_find_text(list, "tools.0.name"), "run_task");
	ck_assert_str_eq(tk_find_text(list, "tools.0.policy"), "ask");
	ck_assert_str_eq(tk_find_text(list, "tools.1.name"), "answer_task");
	json_decref(list);
	list = tool_list(1);
	ck_assert_str_eq(
	    tk_find_text(list, "left_out.0.names.0"), "answer_task");
	json_decref(list);
	json_decref(j);
	natsSubscription_Destroy(sub);
	er_stop(&f);
}

TEST(a_task_is_started_with_an_approval_of_this_call_alone)
{
	char id[RUN_ID_MAX], second[RUN_ID_MAX];

	er_start(&f, NULL);
	call_fails(
	    CALL("c1", "run_task", task_of(ER_DONE)), "APPROVAL_REQUIRED");
	call_fails(CALL("c2", "run_task", task_of(ER_DONE), .scope = "once",
		       .approved = task_of(ER_QUESTION)),
	    "APPROVAL_REQUIRED");
	ck_assert_uint_eq(runs(), 0);
	call_starts(
	    CALL("c3", "run_task", task_of(ER_DONE), .scope = "once"), id);
	er_is(&f, id, "succeeded", "DONE_MARKER_FOUND");
	await_note("\"state\":\"succeeded\",\"text\":\"Hi\"");
	/* As a caller repeats it that does not know what came of it. */
	call_starts(
	    CALL("c3", "run_task", task_of(ER_DONE), .scope = "once"), second);
	ck_assert_str_eq(second, id);
	ck_assert_uint_eq(runs(), 1);
	call_fails(
	    CALL("c4", "run_task", task_of(ER_DONE)), "APPROVAL_REQUIRED");
	er_stop(&f);
}

TEST(always_is_for_a_soul_and_a_definition)
{
	static const char other[] =
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	call_starts(
	    CALL("c1", "run_task", task_of(ER_DONE), .scope = "always"), id);
	call_starts(CALL("c2", "run_task", task_of(ER_DONE)), id);
	call_fails(CALL("c3", "run_task", task_of(ER_DONE), .soul = "mia"),
	    "APPROVAL_REQUIRED");
	call_fails(CALL("c4", "run_task", task_of(ER_DONE), .pin = other),
	    "DEFINITION_CHANGED");
	er_is(&f, id, "succeeded", NULL);
	ck_assert_uint_eq(runs(), 2);
	er_stop(&f);
}

TEST(a_task_that_waits_gets_its_reply)
{
	char id[RUN_ID_MAX], other[RUN_ID_MAX];
	json_t *rep;

	er_start(&f, ER_STEPS("TASK_POLICY=auto"));
	call_starts(CALL("c1", "run_task", task_of(ER_QUESTION)), id);
	er_is(&f, id, "waiting_user", NULL);
	await_note("\"state\":\"waiting_user\",\"text\":\"Which one?\"");

	rep = call_tool(CALL("c2", "answer_task",
	    json_pack("{s:s,s:s}", "answer", "x", "run_id", "nobodys")));
	ck_assert_str_eq(tk_find_text(rep, "error.code"), "TOOL_ERROR");
	json_decref(rep);
	call_starts(CALL("c3", "answer_task",
			json_pack("{s:s}", "answer",
			    ER_MESSAGE("i1", "Hi" ER_DONE_TEXT) "\n" ER_END)),
	    other);
	ck_assert_str_eq(other, id);
	er_is(&f, id, "succeeded", NULL);
	await_note("\"state\":\"succeeded\"");
	/* The same answer again, and another one. */
	call_starts(CALL("c3", "answer_task",
			json_pack("{s:s,s:s}", "answer",
			    ER_MESSAGE("i1", "Hi" ER_DONE_TEXT) "\n" ER_END,
			    "run_id", id)),
	    other);
	call_fails(
	    CALL("c4", "answer_task", json_pack("{s:s}", "answer", "more")),
	    "TOOL_ERROR");
	er_stop(&f);
}

TEST(of_several_that_wait_one_is_named)
{
	char id[RUN_ID_MAX], other[RUN_ID_MAX];
	json_t *rep;

	er_start(&f, ER_STEPS("TASK_POLICY=auto"));
	call_starts(CALL("c1", "run_task", task_of(ER_QUESTION)), id);
	call_starts(CALL("c2", "run_task", task_of(ER_QUESTION)), other);
	er_is(&f, id, "waiting_user", NULL);
	er_is(&f, other, "waiting_user", NULL);
	rep = call_tool(
	    CALL("c3", "answer_task", json_pack("{s:s}", "answer", "x")));
	ck_assert_str_eq(tk_find_text(rep, "error.code"), "INVALID_ARGUMENTS");
	ck_assert_ptr_nonnull(strstr(tk_find_text(rep, "error.message"), id));
	ck_assert_ptr_nonnull(
	    strstr(tk_find_text(rep, "error.message"), other));
	json_decref(rep);
	ck_assert(er_cancel(&f, id));
	ck_assert(er_cancel(&f, other));
	er_stop(&f);
}

TEST(a_call_that_is_wrong_starts_nothing)
{
	char pin[TOOL_DIGEST_MAX];

	er_start(&f, ER_STEPS("TASK_POLICY=auto"));
	snprintf(pin, sizeof(pin), "%s", tool_definition("run_task"));
	call_fails(CALL("c1", "run_task", json_object()), "INVALID_ARGUMENTS");
	call_fails(CALL("c2", "run_task",
		       json_pack("{s:s,s:s}", "task", "x", "engine", "vim")),
	    "INVALID_ARGUMENTS");
	call_fails(CALL("c3", "run_task",
		       json_pack("{s:s,s:s}", "task", "x", "more", "y")),
	    "INVALID_ARGUMENTS");
	call_fails(
	    CALL("c4", "stop_task", json_object(), .pin = pin), "UNKNOWN_TOOL");
	call_fails(CALL("c5", "run_task",
		       json_pack("{s:s,s:s}", "task", "x", "engine", "gemini")),
	    "SERVER_UNAVAILABLE");
	ck_assert_uint_eq(runs(), 0);
	er_stop(&f);
}

TEST(a_canceled_call_cancels_its_run)
{
	char id[RUN_ID_MAX];

	er_start(&f, ER_STEPS("TASK_POLICY=auto"));
	call_starts(
	    CALL("c1", "run_task", task_of(ER_STEPS(ER_THREAD, "silent"))), id);
	er_await_events(&f, id, 1);
	tk_nats_send(
	    f.gw.nc, "soul.tool." PROVIDER ".cancel", "{\"call_id\":\"c2\"}");
	tk_nats_send(
	    f.gw.nc, "soul.tool." PROVIDER ".cancel", "{\"call_id\":\"c1\"}");
	er_is(&f, id, "canceled", "CANCELED");
	await_note("\"state\":\"canceled\"");
	er_stop(&f);
}
