/*
 * Turns are requested as chat-gateway requests them; the session's log is read
 * from Redis.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "state/events.h"
#include "state/session.h"
#include "state/turn_detail.h"
#include "testkit/json.h"
#include "testkit/orch_fixture.h"

/* The body's record, if chat-gateway could read it and let the chat begin. */
static json_t *
orch_turn_terminal(struct orch_fixture *b, const struct orch_turn_opts *o)
{
	const char *id = o->terminal != NULL ? o->terminal : "t1";
	const char *user = o->owner != NULL ? o->owner
	    : o->user != NULL               ? o->user
					    : "u1";
	struct terminal t;

	if (o->unread || !state_up(b->state))
		return NULL;
	arena_reset(b->arena);
	if (terminal_read_brief(b->state, str_of(id), b->writer.ttl_ms,
		b->arena, &t) != RC_OK ||
	    !str_eq(t.user_id, str_of(user)) || t.soul_id.p == NULL ||
	    (o->soul != NULL && !str_eq(t.soul_id, str_of(o->soul))))
		return NULL;
	return json_pack("{s:s,s:s*,s:b,s:s*,s:s*,s:I}", "soul_id", t.soul_id.p,
	    "broker", t.broker.p, "present", t.present, "skills", t.skills.p,
	    "catalog_hash", t.catalog_hash.p, "catalog_bytes",
	    (json_int_t)t.catalog_bytes);
}

static json_t *
orch_turn_request(
    struct orch_turn *t, const char *user_text, const struct orch_turn_opts *o)
{
	json_t *chat = json_pack("{s:s,s:s,s:s*}", "session_id",
	    o->session != NULL ? o->session : "s1", "terminal_id",
	    o->terminal != NULL ? o->terminal : "t1", "soul_id", o->soul);
	json_t *inputs = o->inputs != NULL
	    ? json_loads(o->inputs, 0, NULL)
	    : json_pack(
		  "[{s:s,s:s}]", "type", "keyboard_text", "text", user_text);

	ck_assert_ptr_nonnull(inputs);
	json_object_set_new(chat, "inputs", inputs);
	if (o->stream)
		json_object_set_new(chat, "stream", json_true());
	return json_pack("{s:s,s:s,s:s*,s:o,s:o*,s:o*}", "turn_id", t->turn_id,
	    "user_id", o->user != NULL ? o->user : "u1", "owner_id", o->owner,
	    "chat", chat, "terminal", orch_turn_terminal(t->b, o), "unasked",
	    o->unasked != NULL ? json_loads(o->unasked, 0, NULL) : NULL);
}

void
orch_turn_start_with(struct orch_turn *t, struct orch_fixture *b,
    const char *user_text, const struct orch_turn_opts *o)
{
	char deadline[32];
	natsMsg *m = NULL;

	memset(t, 0, sizeof(*t));
	t->b = b;
	snprintf(t->turn_id, sizeof(t->turn_id), "turn_%zu", ++b->turns);
	json_t *req = orch_turn_request(t, user_text, o);
	char *text = json_dumps(req, 0);
	natsInbox_Create(&t->reply);
	ck_assert_int_eq(
	    natsConnection_SubscribeSync(&t->inbox, b->peers.nc, t->reply),
	    NATS_OK);
	ck_assert_int_eq(natsMsg_Create(&m, "soul.rpc.turn.start", t->reply,
			     text, (int)strlen(text)),
	    NATS_OK);
	snprintf(deadline, sizeof(deadline), "%lld",
	    (long long)(clock_wall().ms +
		(o->deadline_ms != 0 ? o->deadline_ms : ORCH_WAIT_MS)));
	natsMsgHeader_Set(m, "Soul-Deadline", deadline);
	if (o->trace != NULL)
		natsMsgHeader_Set(m, "traceparent", o->trace);
	ck_assert_int_eq(natsConnection_PublishMsg(b->peers.nc, m), NATS_OK);
	natsMsg_Destroy(m);
	free(text);
	json_decref(req);
}

void
orch_turn_start(
    struct orch_turn *t, struct orch_fixture *b, const char *user_text)
{
	orch_turn_start_with(t, b, user_text, &(struct orch_turn_opts){ 0 });
}

/* Receive one reply; false: none within ms. */
bool
orch_turn_next(struct orch_turn *t, int ms)
{
	natsMsg *m = NULL;

	if (natsSubscription_NextMsg(&m, t->inbox, ms) != NATS_OK)
		return false;
	json_t *j = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);
	ck_assert_ptr_nonnull(j);
	natsMsg_Destroy(m);
	const char *state = json_string_value(json_object_get(j, "state"));
	ck_assert_msg(t->end == NULL, "a reply after the final one");
	if (state != NULL && strcmp(state, "accepted") == 0) {
		ck_assert(!t->accepted);
		t->accepted = true;
		json_decref(j);
	} else if (state != NULL && strcmp(state, "running") == 0) {
		t->running++;
		json_decref(j);
	} else {
		t->end = j;
	}
	return true;
}

/* Wait for the final reply. */
json_t *
orch_turn_end(struct orch_turn *t)
{
	while (t->end == NULL)
		ck_assert_msg(
		    orch_turn_next(t, 20000), "%s: no reply", t->turn_id);
	return t->end;
}

void
orch_turn_close(struct orch_turn *t)
{
	natsSubscription_Destroy(t->inbox);
	natsInbox_Destroy(t->reply);
	json_decref(t->end);
}

const char *
orch_text(json_t *j, const char *path)
{
	const char *s = json_string_value(tk_find(j, path));

	return s != NULL ? s : "(none)";
}

/* A list of texts, or of objects' members of that name: "a,b". */
const char *
orch_list(
    json_t *j, const char *path, const char *member, char *dst, size_t size)
{
	json_t *e;
	size_t i, n = 0;

	dst[0] = '\0';
	json_array_foreach (tk_find(j, path), i, e)
		n += (size_t)snprintf(dst + n, size - n, "%s%s",
		    i > 0 ? "," : "",
		    json_string_value(
			member != NULL ? json_object_get(e, member) : e));
	return dst;
}

void
orch_turn_check_completed(
    struct orch_turn *t, const struct orch_expected *w, int line)
{
	json_t *j = orch_turn_end(t);
	char text[1024];

	ck_assert_msg(strcmp(orch_text(j, "state"), "completed") == 0,
	    "line %d: %s %s", line, orch_text(j, "state"),
	    orch_text(j, "error.error"));
	ck_assert_msg(w->reply == NULL ||
		strcmp(orch_text(j, "response.reply"), w->reply) == 0,
	    "line %d: \"%s\"", line, orch_text(j, "response.reply"));
	orch_list(j, "response.executed_skills", NULL, text, sizeof(text));
	ck_assert_msg(
	    strcmp(text, w->executed) == 0, "line %d: did %s", line, text);
	orch_list(j, "response.failed_skills", "skill", text, sizeof(text));
	ck_assert_msg(
	    strcmp(text, w->failed) == 0, "line %d: failed %s", line, text);
	orch_list(j, "response.failed_skills", "error", text, sizeof(text));
	ck_assert_msg(w->errors == NULL || strcmp(text, w->errors) == 0,
	    "line %d: errors %s", line, text);
}

void
orch_turn_check_failed(
    struct orch_turn *t, int status, const char *code, int line)
{
	json_t *j = orch_turn_end(t);

	ck_assert_msg(strcmp(orch_text(j, "state"), "failed") == 0 &&
		json_integer_value(tk_find(j, "status")) == status &&
		strcmp(orch_text(j, "error.code"), code) == 0,
	    "line %d: %s %lld %s", line, orch_text(j, "state"),
	    (long long)json_integer_value(tk_find(j, "status")),
	    orch_text(j, "error.code"));
}

/* ---- events of a session ---- */

/* Its envelope is whole. */
static void
orch_ck_event(json_t *e)
{
	json_t *raw = tk_find(e, "raw_ref");

	ck_assert_int_eq(json_integer_value(tk_find(e, "meta.attempt")), 1);
	ck_assert(json_number_value(tk_find(e, "meta.confidence")) == 1);
	ck_assert_uint_eq(json_object_size(raw), 4);
	ck_assert_int_eq(json_integer_value(tk_find(raw, "stderr_to")), 0);
	if (strcmp(orch_text(e, "type"), "conversation.started") != 0)
		return;
	ck_assert(json_is_string(tk_find(e, "data.title")));
	ck_assert_str_eq(orch_text(e, "data.mode"), "interactive");
}

/* All events of a session of u1, each with its seq; freed by json_decref(). */
static json_t *
orch_events_read(struct orch_fixture *b, const char *session)
{
	const struct events_key k = { EVENTS_SESSION, STR("u1"),
		str_of(session) };
	json_t *out = json_array();
	struct events page;

	arena_reset(b->arena);
	ck_assert_int_eq(
	    events_read(b->state, &k, 0, false, b->arena, &page), RC_OK);
	ck_assert(!page.more);
	for (size_t i = 0; i < page.n; i++) {
		const struct event *e = &page.item[i];
		json_t *j = e->json.p != NULL
		    ? json_loadb(e->json.p, e->json.n, 0, NULL)
		    : json_pack("{s:s,s:s%}", "type", "lost", "run_id",
			  e->lost_turn.p, e->lost_turn.n);
		ck_assert_ptr_nonnull(j);
		if (e->json.p != NULL)
			orch_ck_event(j);
		json_object_set_new(j, "seq", json_integer(e->seq));
		json_array_append_new(out, j);
	}
	return out;
}

/* The last part of a type's name: "started", "delta", …. */
const char *
orch_event_type(json_t *e)
{
	const char *s = orch_text(e, "type"), *dot = strrchr(s, '.');

	return dot != NULL ? dot + 1 : s;
}

/* The events of one turn: "started delta final completed". */
const char *
orch_event_types(json_t *events, const char *turn, char *dst, size_t size)
{
	size_t i, n = 0;
	json_t *e;

	dst[0] = '\0';
	json_array_foreach (events, i, e) {
		if (strcmp(orch_text(e, "run_id"), turn) == 0)
			n += (size_t)snprintf(dst + n, size - n, "%s%s",
			    n > 0 ? " " : "", orch_event_type(e));
	}
	return dst;
}

/* Event number nth (from 0) of a type of a turn, or NULL. */
json_t *
orch_event(json_t *events, const char *turn, const char *type, size_t nth)
{
	json_t *e;
	size_t i;

	json_array_foreach (events, i, e) {
		if (strcmp(orch_text(e, "run_id"), turn) == 0 &&
		    strcmp(orch_event_type(e), type) == 0 && nth-- == 0)
			return e;
	}
	return NULL;
}

/* The chunks of a message, joined. */
const char *
orch_event_text(json_t *events, const char *message, char *dst, size_t size)
{
	size_t i, n = 0;
	json_t *e;

	dst[0] = '\0';
	json_array_foreach (events, i, e) {
		if (strcmp(orch_event_type(e), "delta") == 0 &&
		    strcmp(orch_text(e, "data.message_id"), message) == 0)
			n += (size_t)snprintf(dst + n, size - n, "%s",
			    orch_text(e, "data.text_delta"));
	}
	return dst;
}

/*
 * seq rises by one; every turn that began ended once, with nothing after it;
 * the chunks of a final message, if any, are its text.
 */
static void
orch_events_check(json_t *events)
{
	char ended[4096] = "", text[65536], mark[80];
	json_int_t last = 0;
	json_t *e;
	size_t i;

	json_array_foreach (events, i, e) {
		json_int_t seq = json_integer_value(tk_find(e, "seq"));
		ck_assert_int_eq(seq, last + 1);
		last = seq;
		if (strcmp(orch_event_type(e), "lost") == 0)
			continue;
		ck_assert_str_eq(orch_text(e, "protocol_version"), "fcmp/1.0");
		ck_assert_str_eq(orch_text(e, "engine"), "soul");
		ck_assert(json_is_string(tk_find(e, "session_id")));
		snprintf(mark, sizeof(mark), "|%s|", orch_text(e, "run_id"));
		ck_assert_msg(strstr(ended, mark) == NULL,
		    "%s after the end of %s", orch_event_type(e), mark);
		const char *type = orch_event_type(e);
		if (strcmp(type, "completed") == 0 ||
		    strcmp(type, "failed") == 0 ||
		    strcmp(type, "required") == 0)
			snprintf(ended + strlen(ended),
			    sizeof(ended) - strlen(ended), "%s", mark);
		if (strcmp(type, "final") != 0)
			continue;
		orch_event_text(events, orch_text(e, "data.message_id"), text,
		    sizeof(text));
		if (text[0] != '\0')
			ck_assert_str_eq(text, orch_text(e, "data.text"));
	}
}

/* The events of a session, and of s1, checked. */
json_t *
orch_session_events(struct orch_fixture *b, const char *session)
{
	json_t *events = orch_events_read(b, session);

	orch_events_check(events);
	return events;
}

json_t *
orch_events(struct orch_fixture *b)
{
	return orch_session_events(b, "s1");
}

/* The turn's record in Redis. */
struct turn_record
orch_turn_stored(struct orch_fixture *b, const char *turn)
{
	struct turn_record t;

	arena_reset(b->arena);
	ck_assert_int_eq(
	    turn_record_read(b->state, STR("u1"), str_of(turn), b->arena, &t),
	    RC_OK);
	ck_assert(t.known);
	return t;
}

struct detail_poll {
	struct orch_fixture *b;
	const char *turn;
	struct str json;
};

static bool
orch_turn_has_detail(void *arg)
{
	struct detail_poll *d = arg;

	arena_reset(d->b->arena);
	return turn_detail_read(d->b->state, STR("u1"), str_of(d->turn),
		   d->b->arena, &d->json) == RC_OK;
}

json_t *
orch_turn_detail(struct orch_fixture *b, const char *turn)
{
	struct detail_poll d = { b, turn, { NULL, 0 } };

	ck_assert(tk_until(orch_turn_has_detail, &d, ORCH_WAIT_MS));
	return tk_json(d.json.p, d.json.n);
}

static bool
orch_turn_has_record(void *arg)
{
	struct orch_turn *t = arg;
	struct turn_record r;

	arena_reset(t->b->arena);
	ck_assert_int_eq(turn_record_read(t->b->state, STR("u1"),
			     str_of(t->turn_id), t->b->arena, &r),
	    RC_OK);
	return r.known;
}

void
orch_turn_wait_entered(struct orch_turn *t)
{
	ck_assert(tk_until(orch_turn_has_record, t, ORCH_WAIT_MS));
	(void)orch_turn_next(t, 1);
	ck_assert_ptr_null(t->end);
}

/* Query that process; NULL: no reply. */
json_t *
orch_turn_query_at(struct orch_fixture *b, const char *instance,
    const char *what, const char *turn)
{
	char subject[128], body[128];
	natsMsg *m = NULL;

	snprintf(
	    subject, sizeof(subject), "soul.rpc.turn.%s.%s", what, instance);
	snprintf(body, sizeof(body), "{\"turn_id\":\"%s\"}", turn);
	if (natsConnection_RequestString(
		&m, b->peers.nc, subject, body, 5000) != NATS_OK)
		return NULL;
	json_t *j = natsMsg_GetDataLength(m) > 0
	    ? json_loadb(
		  natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL)
	    : NULL;
	natsMsg_Destroy(m);
	return j;
}

json_t *
orch_turn_query(struct orch_fixture *b, const char *what, const char *turn)
{
	return orch_turn_query_at(
	    b, orch_turn_stored(b, turn).instance.p, what, turn);
}

void
orch_ck_reply(struct orch_fixture *f, const char *reply)
{
	struct orch_turn t;

	orch_model_reply(&f->model, "你好。", NULL);
	orch_turn_start(&t, f, "你好");
	orch_ck_completed(&t, .reply = reply, .executed = "", .failed = "");
	orch_turn_close(&t);
}
