/*
 * Turns as an orchestrator would run them, and the chats that start them.
 */
#include "testkit/gateway_turn_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "state/keys.h"

natsSubscription *
gw_turns_subscribe(struct gateway_fixture *b)
{
	natsSubscription *sub = NULL;

	ck_assert_int_eq(natsConnection_QueueSubscribeSync(
			     &sub, b->nc, GW_TURN_SUBJECT, "llm-orchestrator"),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(b->nc), NATS_OK);
	return sub;
}

void
gw_turns_unsubscribe(struct gateway_fixture *b, natsSubscription *sub)
{
	natsSubscription_Destroy(sub);
	ck_assert_int_eq(natsConnection_Flush(b->nc), NATS_OK);
}

void
gw_turn_read(struct gw_turn *t)
{
	t->j = tk_nats_json(t->m);
}

void
gw_turn_next(natsSubscription *turns, struct gw_turn *t)
{
	ck_assert_int_eq(
	    natsSubscription_NextMsg(&t->m, turns, GW_MS), NATS_OK);
	gw_turn_read(t);
}

void
gw_turn_free(struct gw_turn *t)
{
	natsMsg_Destroy(t->m);
	json_decref(t->j);
	*t = (struct gw_turn){ 0 };
}

void
gw_turn_reply_text(
    struct gateway_fixture *b, const struct gw_turn *t, const char *text)
{
	tk_nats_send(b->nc, natsMsg_GetReply(t->m), text);
}

void
gw_turn_reply(struct gateway_fixture *b, const struct gw_turn *t,
    const char *state, const char *more)
{
	char text[2048];

	snprintf(text, sizeof(text), "{\"turn_id\":\"%s\",\"state\":\"%s\"%s}",
	    tk_text(t->j, "turn_id"), state, more != NULL ? more : "");
	gw_turn_reply_text(b, t, text);
}

void
gw_turn_complete(struct gateway_fixture *b, const struct gw_turn *t)
{
	gw_turn_reply(b, t, "completed", ",\"response\":" GW_RESPONSE);
}

static void
gw_peer_reply(natsConnection *nc, natsMsg *m, const char *id, const char *rest)
{
	char text[1024];

	snprintf(text, sizeof(text), "{\"turn_id\":\"%s\",%s}", id, rest);
	(void)natsConnection_PublishString(nc, natsMsg_GetReply(m), text);
}

static void
gw_peer_on_turn(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *closure)
{
	struct gw_peer *p = closure;
	json_t *j = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);
	const char *id = json_string_value(json_object_get(j, "turn_id"));

	(void)sub;
	gw_peer_reply(nc, m, id, "\"state\":\"accepted\"");
	gw_peer_reply(
	    nc, m, id, "\"state\":\"completed\",\"response\":" GW_RESPONSE);
	atomic_fetch_add(&p->turns, 1);
	json_decref(j);
	natsMsg_Destroy(m);
}

void
gw_peer_start(struct gateway_fixture *b, struct gw_peer *p)
{
	natsOptions *o = NULL;

	atomic_init(&p->turns, 0);
	ck_assert_int_eq(natsOptions_Create(&o), NATS_OK);
	ck_assert_int_eq(natsOptions_SetURL(o, b->nats.url), NATS_OK);
	ck_assert_int_eq(natsOptions_SetMaxReconnect(o, 10000), NATS_OK);
	ck_assert_int_eq(natsOptions_SetReconnectWait(o, 20), NATS_OK);
	ck_assert_int_eq(natsOptions_SetSendAsap(o, true), NATS_OK);
	ck_assert_int_eq(natsConnection_Connect(&p->nc, o), NATS_OK);
	natsOptions_Destroy(o);
	ck_assert_int_eq(
	    natsConnection_QueueSubscribe(&p->sub, p->nc, GW_TURN_SUBJECT,
		"llm-orchestrator", gw_peer_on_turn, p),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(p->nc), NATS_OK);
}

void
gw_peer_stop(struct gw_peer *p)
{
	natsSubscription_Destroy(p->sub);
	natsConnection_Destroy(p->nc);
}

int
gw_chat(struct gateway_fixture *b, struct tk_response *a, const char *terminal,
    const char *more)
{
	char body[1024];

	snprintf(body, sizeof(body),
	    "{\"session_id\":\"s1\",\"terminal_id\":\"%s\",%s%s"
	    "\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"hi\"}]}",
	    terminal, more, more[0] != '\0' ? "," : "");
	return gw_request(b, a, "POST", "/v1/chat", body);
}

void
gw_chat_rejects(struct gateway_fixture *b, const char *terminal,
    const char *more, int status, const char *text)
{
	struct tk_response a = { 0 };

	gw_chat(b, &a, terminal, more);
	gw_check_error(&a, status, text);
	tk_response_free(&a);
}

void
gw_chat_ok(struct gateway_fixture *b, const char *terminal, const char *more)
{
	struct tk_response a = { 0 };

	gw_chat(b, &a, terminal, more);
	json_decref(gw_response_json(&a, 200));
	tk_response_free(&a);
}

void
gw_chat_start(
    struct gateway_fixture *b, struct gw_peer *p, char soul[GW_SOUL_ID])
{
	gateway_fixture_start(b, NULL);
	gw_peer_start(b, p);
	gw_soul(b, NULL, "friendly", soul);
	gw_bind_ok(b, "demo-user", "t1", soul);
}

void
gw_check_binding(struct gateway_fixture *b, const char *user,
    const char *terminal, const char *soul)
{
	char path[256];
	json_t *j;

	snprintf(
	    path, sizeof(path), "/v1/terminals/%s?user_id=%s", terminal, user);
	j = gw_json(b, "GET", path, NULL);
	ck_assert_str_eq(tk_text(j, "soul_id"), soul);
	ck_assert_str_eq(tk_text(j, "user_id"), user);
	json_decref(j);
}

bool
gw_is_bound(struct gateway_fixture *b, const char *terminal)
{
	struct terminal t;

	arena_reset(b->db.arena);
	ck_assert_int_eq(
	    terminal_read(b->db.s, str_of(terminal), 60000, b->db.arena, &t),
	    RC_OK);
	return t.soul_id.p != NULL;
}

/* ---- stored turns ---- */

void
gw_run_event(const struct gw_run *r, char *dst, size_t size, const char *type,
    const char *data)
{
	int n = snprintf(dst, size,
	    "{\"protocol_version\":\"fcmp/1.0\",\"run_id\":\"%s\","
	    "\"ts\":\"2026-02-22T10:20:30Z\",\"engine\":\"soul\","
	    "\"session_id\":\"%s\",\"type\":\"%s\",\"data\":%s}",
	    r->id, r->session, type, data);

	ck_assert_int_lt(n, (int)size);
}

void
gw_run_publish(struct gw_run *r, int64_t seq, const char *json)
{
	size_t size = strlen(json) + 64;
	char *text = mem_alloc(size), subject[128];

	snprintf(text, size, "{\"seq\":%lld,%s", (long long)seq, json + 1);
	snprintf(
	    subject, sizeof(subject), "soul.stream.%s.%s", r->user, r->session);
	tk_nats_send(r->b->nc, subject, text);
	free(text);
}

enum rc
gw_run_alive(struct gw_run *r, int64_t ms)
{
	unsigned bucket;
	enum rc rc = state_bucket(r->p.key.user_id, &bucket);

	if (rc == RC_OK)
		rc = turn_alive(r->b->db.s, r->p.instance, &bucket, 1, ms);
	return rc;
}

enum rc
gw_run_enter(struct gw_run *r, struct gateway_fixture *b, const char *session,
    const char *id, const char *input)
{
	struct turn_entry e = { .fingerprint = str_of(input),
		.trace_id = STR("0123456789abcdef0123456789abcdef") };
	struct turn_entered in;

	*r = (struct gw_run){ .b = b };
	snprintf(r->id, sizeof(r->id), "%s", id);
	snprintf(r->session, sizeof(r->session), "%s", session);
	snprintf(r->user, sizeof(r->user), "demo-user");
	snprintf(r->instance, sizeof(r->instance), "o_%.28s", id);
	r->p = (struct turn_slot){ { str_of(r->user), str_of(r->session) },
		str_of(r->instance), str_of(r->id) };
	ck_assert_int_eq(gw_run_alive(r, 60000), RC_OK);
	return turn_enter(b->db.s, &r->p, &e, b->db.arena, &in);
}

/* A soul that turns find, and which is in no list. */
static void
gw_run_put_soul(struct gw_run *r)
{
	const struct str ids[] = { r->p.key.user_id, STR("soul_x") };
	char text[STATE_KEY_MAX];
	struct str key;

	ck_assert_int_eq(
	    state_key(text, KEY_SOUL, ids, NELEM(ids), &key), RC_OK);
	ck_assert_int_eq(
	    state_cmd(r->b->db.s,
		STATE_ARGS(STR("HSET"), key, STR("v"), STR(SOUL_FORMAT)), NULL),
	    RC_OK);
}

void
gw_run_start(struct gw_run *r)
{
	struct str input = STR("{\"role\":\"user\",\"content\":\"hi\"}"), event;
	struct turn_events log = { &event, 1, 0, false };
	char json[1024];

	gw_run_event(r, json, sizeof(json), STARTED, "{\"title\":\"x\"}");
	event = str_of(json);
	gw_run_put_soul(r);
	ck_assert_int_eq(
	    turn_append_input(r->b->db.s, &r->p,
		&(struct session_new){ .json = &input, .n = 1 },
		&(struct turn_input){ STR("soul_x"), STR("t1"), 180000 }, &log),
	    RC_OK);
	r->seq = log.seq;
	if (!r->mute)
		gw_run_publish(r, r->seq, json);
}

void
gw_run_begin(struct gw_run *r, struct gateway_fixture *b, const char *session,
    const char *id)
{
	enum rc rc = gw_run_enter(r, b, session, id, NULL);

	ck_assert_msg(rc == RC_OK, "%s", rc_name(rc));
	gw_run_start(r);
}

void
gw_run_log(struct gw_run *r, const struct str *json, size_t n)
{
	struct state_pipe *pipe = state_pipe_new(r->b->db.s, 1);

	ck_assert_int_eq(turn_log_events(pipe, &r->p,
			     &(struct turn_events){ json, n, 0, false }),
	    RC_OK);
	ck_assert_int_eq(state_pipe_run(pipe), RC_OK);
	ck_assert_int_eq(turn_log_events_reply(pipe, 0, &r->seq), RC_OK);
	state_pipe_free(pipe);
}

void
gw_run_delta(struct gw_run *r, const char *text)
{
	char data[512], json[1024];
	struct str event;

	snprintf(data, sizeof(data),
	    "{\"message_id\":\"m\",\"text_delta\":\"%s\"}", text);
	gw_run_event(r, json, sizeof(json), DELTA, data);
	event = str_of(json);
	gw_run_log(r, &event, 1);
	if (!r->mute)
		gw_run_publish(r, r->seq, json);
}

void
gw_run_deltas(struct gw_run *r, int n)
{
	static char json[TURN_EVENTS_MAX][512];
	struct str events[TURN_EVENTS_MAX];
	char data[128];
	int i, k;

	for (i = 0; i < n; i += k) {
		for (k = 0; k < TURN_EVENTS_MAX && i + k < n; k++) {
			snprintf(data, sizeof(data),
			    "{\"message_id\":\"m\",\"text_delta\":\"%d\"}",
			    i + k);
			gw_run_event(r, json[k], sizeof(json[k]), DELTA, data);
			events[k] = str_of(json[k]);
		}
		gw_run_log(r, events, (size_t)k);
	}
}

void
gw_run_end_as(struct gw_run *r, const char *reply, const char *timeline)
{
	bool ok = strstr(reply, "completed") != NULL;
	char json[2][1024], last[2048];
	struct str events[2];
	struct turn_ending end = { .timeline = str_of(timeline) };

	snprintf(last, sizeof(last), "{\"turn_id\":\"%s\",%s}", r->id, reply);
	end.reply = str_of(last);
	gw_run_event(r, json[0], sizeof(json[0]), ok ? FINAL : FAILED,
	    ok ? "{\"message_id\":\"m\",\"text\":\"好的。\","
		 "\"structured_payload\":" GW_RESPONSE "}"
	       : "{\"error\":{\"category\":\"engine\",\"code\":\"X\"}}");
	gw_run_event(r, json[1], sizeof(json[1]), COMPLETED,
	    "{\"state\":\"completed\",\"reason_code\":\"R\","
	    "\"skill_done\":true}");
	events[0] = str_of(json[0]);
	events[1] = str_of(json[1]);
	end.events.json = events;
	end.events.n = r->seq == 0 ? 0 : ok ? 2 : 1;
	ck_assert_int_eq(
	    turn_leave(r->b->db.s, &r->p, &end, r->b->db.arena), RC_OK);
	if (r->seq != 0)
		r->seq = end.events.seq;
	if (r->mute || r->seq == 0)
		return;
	gw_run_publish(r, ok ? r->seq - 1 : r->seq, json[0]);
	if (ok)
		gw_run_publish(r, r->seq, json[1]);
}

void
gw_run_end(struct gw_run *r)
{
	gw_run_end_as(r, GW_REPLY_COMPLETED, NULL);
}

static bool
gw_run_is_dead(void *arg)
{
	struct gw_run *r = arg;
	struct turn_record rec;

	ck_assert_int_eq(turn_record_read(r->b->db.s, r->p.key.user_id,
			     r->p.turn_id, r->b->db.arena, &rec),
	    RC_OK);
	/* The gateway may have ended it by now. */
	return rec.state != TURN_STATE_OPEN;
}

void
gw_run_kill(struct gw_run *r)
{
	ck_assert_int_eq(gw_run_alive(r, 1), RC_OK);
	ck_assert(tk_until(gw_run_is_dead, r, GW_MS));
}

/* ---- conversations ---- */

void
gw_conversation_open(struct gw_conversation *k)
{
	char id[GW_SOUL_ID];

	*k = (struct gw_conversation){ 0 };
	gateway_fixture_start_alone(&k->b, NULL);
	gw_soul(&k->b, NULL, "friendly", id);
	gw_bind_ok(&k->b, "demo-user", "t1", id);
	k->turns = gw_turns_subscribe(&k->b);
}

void
gw_conversation_send(
    struct gw_conversation *k, const char *accept, const char *body)
{
	tk_sse_post(&k->s, k->b.gateway.http, accept, body);
	gw_turn_next(k->turns, &k->t);
}

void
gw_conversation_enter(struct gw_conversation *k)
{
	ck_assert_int_eq(
	    gw_run_enter(&k->r, &k->b, "s1", tk_text(k->t.j, "turn_id"), NULL),
	    RC_OK);
	gw_turn_reply(&k->b, &k->t, "accepted", NULL);
}

void
gw_conversation_begin(
    struct gw_conversation *k, const char *accept, const char *body)
{
	gw_conversation_send(k, accept, body);
	gw_conversation_enter(k);
	gw_run_start(&k->r);
}

void
gw_conversation_response(struct gw_conversation *k, int status)
{
	ck_assert(tk_http_read(&k->s.c, &k->a, GW_MS));
	ck_assert_msg(
	    k->a.status == status, "%d: %s", k->a.status, k->a.body.p);
	tk_sse_close(&k->s);
	gw_turn_free(&k->t);
}

void
gw_conversation_end(struct gw_conversation *k)
{
	ck_assert(tk_sse_ends(&k->s, GW_MS));
	tk_sse_close(&k->s);
	gw_turn_free(&k->t);
}

void
gw_conversation_close(struct gw_conversation *k)
{
	tk_response_free(&k->a);
	natsSubscription_Destroy(k->turns);
	gateway_fixture_stop(&k->b);
}
