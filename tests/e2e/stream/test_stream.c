/*
 * Streamed conversations through the whole stack, from HTTP to the device and
 * back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/json.h"
#include "testkit/sse.h"
#include "testkit/stack/client.h"
#include "testkit/stack/peer.h"

#define WEATHER "今天上海天气如何？"

STACK_SHARED({ .env = { [STACK_BODY_SIM] = { "BODY_COUNT=9" },
		   [STACK_LLM_SIM] = { "LLM_SIM_TOKEN_MS=30" } } })

static int
gateway_port(void)
{
	return stack.service[STACK_CHAT_GATEWAY].http;
}

/*
 * Send a message and read the response as a stream; more are members of the
 * request.
 */
static void
stream_chat(struct tk_sse *s, const struct client *o, const char *text,
    const char *member)
{
	json_t *req = client_chat_request(o, text);

	json_object_set_new(req, "stream", json_true());
	if (member != NULL)
		json_object_set_new(req, member, json_true());
	char *body = json_dumps(req, 0);
	tk_sse_post(s, gateway_port(), "", body);
	free(body);
	json_decref(req);
	tk_sse_begun(s);
}

/* The events of a turn: the text of all chunks, and the last event. */
struct events {
	char turn[64];
	int64_t first, last; /* seqs */
	size_t chunks;
	struct buf text; /* of the last message */
	json_t *final, *end;
};

static bool
is_type(json_t *j, const char *type)
{
	return strcmp(tk_text(j, "type"), type) == 0;
}

static void
events_note(struct events *t, json_t *j)
{
	int64_t seq = tk_int(j, "seq");

	if (t->last == 0) {
		ck_assert(is_type(j, STARTED));
		ck_assert_uint_gt(strlen(tk_text(j, "data.title")), 0);
		ck_assert_str_eq(tk_text(j, "data.mode"), "interactive");
		snprintf(t->turn, sizeof(t->turn), "%s", tk_text(j, "run_id"));
		t->first = seq;
	} else {
		ck_assert_int_eq(seq, t->last + 1);
	}
	t->last = seq;
	ck_assert_int_eq(tk_int(j, "meta.attempt"), 1);
	ck_assert_uint_eq(json_object_size(tk_at(j, "raw_ref")), 4);
	ck_assert_str_eq(tk_text(j, "run_id"), t->turn);
	if (is_type(j, DELTA)) {
		t->chunks++;
		buf_puts(&t->text, tk_text(j, "data.text_delta"));
	} else if (is_type(j, FINAL)) {
		t->final = json_incref(j);
	} else if (is_type(j, COMPLETED) || is_type(j, FAILED)) {
		t->end = json_incref(j);
	}
}

static void
chat_listen(struct tk_sse *s, struct events *t)
{
	struct tk_sse_event e;

	*t = (struct events){ .text = BUF_INIT(65536) };
	while (t->end == NULL) {
		ck_assert(tk_sse_next(s, STACK_MS, &e));
		events_note(t, e.j);
		json_decref(e.j);
	}
}

static void
events_free(struct events *t)
{
	json_decref(t->final);
	json_decref(t->end);
	buf_free(&t->text);
}

static json_t *
turn_of(const struct client *o, const char *turn)
{
	char path[256];

	snprintf(path, sizeof(path), "/v1/turns/%s?user_id=%s", turn, o->user);
	return client_ok(&stack, "GET", path, NULL);
}

TEST(a_reply_is_streamed_in_chunks)
{
	struct client o = client_bound(&stack, "u-pieces", "terminal-001");
	struct tk_sse s;
	struct events t;
	json_t *j;

	stream_chat(&s, &o, WEATHER, NULL);
	chat_listen(&s, &t);
	ck_assert(tk_sse_ends(&s, STACK_MS));
	tk_sse_close(&s);
	ck_assert(is_type(t.end, COMPLETED));
	ck_assert_uint_ge(t.chunks, 2);
	ck_assert_str_eq(t.text.p, tk_text(t.final, "data.text"));
	ck_assert_str_eq(
	    tk_text(t.final, "data.structured_payload.reply"), t.text.p);
	/* The timeline. */
	j = turn_of(&o, t.turn);
	ck_assert_str_eq(tk_text(j, "state"), "completed");
	ck_assert_uint_ge(json_array_size(tk_at(j, "timeline")), 5);
	json_decref(j);
	events_free(&t);
}

TEST(a_command_streams_its_skills)
{
	struct client o = client_bound(&stack, "u-command", "terminal-002");
	struct tk_sse s;
	struct events t;

	stream_chat(&s, &o, "把灯变成绿色", NULL);
	chat_listen(&s, &t);
	tk_sse_close(&s);
	ck_assert(tk_list_has(tk_at(t.final, "data.structured_payload"),
	    "executed_skills", "control_light"));
	events_free(&t);
}

/* A client that reconnects continues at its cursor and misses no event. */
TEST(a_lost_connection_resumes_from_its_cursor)
{
	struct client o = client_bound(&stack, "u-resume", "terminal-003");
	struct tk_sse_event e;
	struct tk_sse s;
	struct events t;
	char cursor[24];

	stream_chat(&s, &o, WEATHER, NULL);
	ck_assert(tk_sse_next(&s, STACK_MS, &e));
	json_decref(e.j);
	ck_assert(tk_sse_next(&s, STACK_MS, &e));
	snprintf(
	    cursor, sizeof(cursor), "%lld", (long long)tk_int(e.j, "seq") - 2);
	json_decref(e.j);
	tk_sse_close(&s);
	tk_sse_send(&s, gateway_port(),
	    "/v1/sessions/s1/events?user_id=u-resume", cursor);
	tk_sse_begun(&s);
	chat_listen(&s, &t);
	tk_sse_close(&s);
	ck_assert(is_type(t.end, COMPLETED));
	ck_assert_str_eq(t.text.p, tk_text(t.final, "data.text"));
	events_free(&t);
}

/* Another client follows the same session. */
TEST(a_session_can_be_followed)
{
	struct client o = client_bound(&stack, "u-watch", "terminal-004");
	struct tk_sse s;
	struct events t;

	tk_sse_send(&s, gateway_port(),
	    "/v1/sessions/s1/events?user_id=u-watch&cursor=0", NULL);
	tk_sse_begun(&s);
	for (int i = 0; i < 3; i++) {
		json_decref(client_chat(&o, "把灯变成绿色"));
		chat_listen(&s, &t);
		ck_assert(is_type(t.end, COMPLETED));
		ck_assert_uint_eq(t.chunks, 0);
		events_free(&t);
	}
	tk_sse_close(&s);
}

/* The model is slowed down, so that there is time to cancel. */
static void
slow_model(void)
{
	int status;

	json_decref(client_call(stack.service[STACK_LLM_SIM].http, "POST",
	    "/sim/script",
	    json_loads("{\"faults\":[{\"kind\":\"slow\",\"delay_ms\":6000}]}",
		0, NULL),
	    &status));
	ck_assert_int_eq(status, 200);
}

static json_t *
turn_cancel(const struct client *o, const char *turn)
{
	char path[128];

	snprintf(path, sizeof(path), "/v1/turns/%s/cancel", turn);
	return client_ok(&stack, "POST", path,
	    json_pack("{ssss}", "user_id", o->user, "reason",
		"I have heard enough of it"));
}

TEST(a_turn_can_be_canceled)
{
	struct client o = client_bound(&stack, "u-cancel", "terminal-005");
	struct tk_sse_event e;
	struct tk_sse s;
	char turn[64];
	json_t *j;

	slow_model();
	stream_chat(&s, &o, WEATHER, NULL);
	ck_assert(tk_sse_next(&s, STACK_MS, &e));
	snprintf(turn, sizeof(turn), "%s", tk_text(e.j, "run_id"));
	json_decref(e.j);
	j = turn_of(&o, turn);
	ck_assert_str_eq(tk_text(j, "state"), "running");
	json_decref(j);
	j = turn_cancel(&o, turn);
	ck_assert(json_is_true(tk_at(j, "canceled")));
	json_decref(j);
	ck_assert(tk_sse_next(&s, STACK_MS, &e));
	ck_assert(is_type(e.j, FAILED));
	ck_assert_str_eq(tk_text(e.j, "data.error.code"), "CANCELED");
	json_decref(e.j);
	tk_sse_close(&s);
	j = turn_cancel(&o, turn);
	ck_assert(json_is_false(tk_at(j, "canceled")));
	json_decref(j);
	j = turn_of(&o, turn);
	ck_assert_str_eq(tk_text(j, "state"), "canceled");
	json_decref(j);
	json_decref(client_chat(&o, "把灯变成绿色"));
}

struct wanted {
	const struct client *o;
	const char *turn, *state;
};

static bool
has_state(void *arg)
{
	struct wanted *w = arg;
	json_t *j = turn_of(w->o, w->turn);
	bool is = strcmp(tk_text(j, "state"), w->state) == 0;

	json_decref(j);
	return is;
}

/* A disconnect cancels the turn only if the request said so. */
static void
check_disconnect(const struct client *o, const char *member, const char *state)
{
	struct wanted w = { o, NULL, state };
	struct tk_sse_event e;
	struct tk_sse s;
	char turn[64];

	stream_chat(&s, o, WEATHER, member);
	ck_assert(tk_sse_next(&s, STACK_MS, &e));
	snprintf(turn, sizeof(turn), "%s", tk_text(e.j, "run_id"));
	json_decref(e.j);
	tk_sse_close(&s);
	w.turn = turn;
	ck_assert_msg(tk_until(has_state, &w, STACK_MS), "it is not %s", state);
	json_decref(client_chat(o, "把灯变成绿色"));
}

TEST(a_disconnected_client_ends_its_stream)
{
	struct client o = client_bound(&stack, "u-gone", "terminal-006");

	check_disconnect(&o, NULL, "completed");
	slow_model();
	check_disconnect(&o, "cancel_on_disconnect", "canceled");
}

/* A repeated input gets the first response, and no action is repeated. */
TEST(a_retry_does_nothing_twice)
{
	struct client o = client_bound(&stack, "u-retry", "terminal-007");
	struct peer *p = peer_new(&stack, &(struct peer_opts){ 0 });
	json_t *first, *resumed, *req = client_chat_request(&o, "把灯变成绿色");

	peer_subscribe(p, "soul/terminal/terminal-007/#");
	json_object_set_new(json_array_get(json_object_get(req, "inputs"), 0),
	    "input_id", json_string("i-1"));
	first = client_ok(&stack, "POST", "/v1/chat", json_deep_copy(req));
	resumed = client_ok(&stack, "POST", "/v1/chat", json_deep_copy(req));
	ck_assert(json_equal(first, resumed));
	ck_assert(tk_list_has(first, "executed_skills", "control_light"));
	ck_assert_uint_eq(peer_count(p, "/intent_action"), 1);
	json_decref(first);
	json_decref(resumed);
	json_decref(req);
	peer_free(p);
}
