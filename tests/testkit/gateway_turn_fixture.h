/*
 * gateway_turn_fixture: turns in place of llm-orchestrator, run by the test or
 * completed at once by a thread, their records and events in Redis and on NATS,
 * and the chats that start them.
 */
#ifndef TESTKIT_GATEWAY_TURN_FIXTURE_H
#define TESTKIT_GATEWAY_TURN_FIXTURE_H

#include <stdatomic.h>

#include "state/session.h"
#include "state/turn.h"
#include "testkit/gateway_fixture.h"
#include "testkit/sse.h"

#define GW_TURN_SUBJECT "soul.rpc.turn.start"

/* The response of a completed turn. */
#define GW_RESPONSE                                       \
	"{\"session_id\":\"s1\",\"terminal_id\":\"t1\","  \
	"\"soul_id\":\"soul_x\",\"reply\":\"好的。\"," \
	"\"executed_skills\":[\"control_light\"],"        \
	"\"intent_decision\":\"execute_intents\","        \
	"\"exec_mode\":\"auto_execute\",\"exec_probability\":0.88}"

/* A turn.start request. */
struct gw_turn {
	natsMsg *m;
	json_t *j;
};

/*
 * gw_turns_subscribe(b):        Receive turns.
 * gw_turns_unsubscribe(b, sub): No turn is delivered after it returns.
 * gw_turn_read(t):              Parse t->m.
 * gw_turn_next(turns, t):       The next turn.
 * gw_turn_free(t):              Free it.
 */
natsSubscription *gw_turns_subscribe(struct gateway_fixture *b);
void gw_turns_unsubscribe(struct gateway_fixture *b, natsSubscription *sub);
void gw_turn_read(struct gw_turn *t);
void gw_turn_next(natsSubscription *turns, struct gw_turn *t);
void gw_turn_free(struct gw_turn *t);

/*
 * gw_turn_reply_text(b, t, text):    Reply with these bytes.
 * gw_turn_reply(b, t, state, more):  Reply with a turn_reply; more are further
 *                                    members, or NULL.
 * gw_turn_complete(b, t):            Reply with GW_RESPONSE.
 */
void gw_turn_reply_text(
    struct gateway_fixture *b, const struct gw_turn *t, const char *text);
void gw_turn_reply(struct gateway_fixture *b, const struct gw_turn *t,
    const char *state, const char *more);
void gw_turn_complete(struct gateway_fixture *b, const struct gw_turn *t);

/* Completes every turn at once, on a thread of its own. */
struct gw_peer {
	natsConnection *nc;
	natsSubscription *sub;
	_Atomic int turns;
};

/* gw_peer_start(b, p), gw_peer_stop(p): Start and stop it. */
void gw_peer_start(struct gateway_fixture *b, struct gw_peer *p);
void gw_peer_stop(struct gw_peer *p);

/*
 * gw_chat(b, a, terminal, more):    Chat through a terminal; more are further
 *                                   members, or "".  Returns the status.
 * gw_chat_ok(…), gw_chat_rejects(…, status, text): It must be that.
 * gw_chat_start(b, p, soul):        Start everything, with a soul bound to t1.
 */
int gw_chat(struct gateway_fixture *b, struct tk_response *a,
    const char *terminal, const char *more);
void gw_chat_ok(
    struct gateway_fixture *b, const char *terminal, const char *more);
void gw_chat_rejects(struct gateway_fixture *b, const char *terminal,
    const char *more, int status, const char *text);
void gw_chat_start(
    struct gateway_fixture *b, struct gw_peer *p, char soul[GW_SOUL_ID]);

/*
 * gw_check_binding(b, user, terminal, soul): The terminal must be bound so.
 * gw_is_bound(b, terminal):                  Whether it is bound at all.
 */
void gw_check_binding(struct gateway_fixture *b, const char *user,
    const char *terminal, const char *soul);
bool gw_is_bound(struct gateway_fixture *b, const char *terminal);

/* ---- stored turns ---- */

/* A turn that runs in a session. */
struct gw_run {
	struct gateway_fixture *b;
	struct turn_slot p;
	char id[64], session[32], user[32], instance[32];
	int64_t seq; /* of its newest event */
	bool mute;   /* publish nothing: the log only */
};

#define GW_REPLY_COMPLETED "\"state\":\"completed\",\"response\":" GW_RESPONSE
#define GW_REPLY_FAILED                                                   \
	"\"state\":\"failed\",\"status\":502,\"error\":{\"error\":\"the " \
	"language model is unavailable\",\"code\":\"llm_unavailable\"}"
#define GW_REPLY_CANCELED "\"state\":\"canceled\""

/*
 * gw_run_alive(r, ms):                   Its process is alive for so long.
 * gw_run_enter(r, b, session, id, text): Enter the session's queue.
 * gw_run_start(r):                The first event.
 * gw_run_begin(r, b, session, id): Both.
 * gw_run_event(r, dst, size, type, data): Format an event.
 * gw_run_publish(r, seq, json):   Publish an event.
 * gw_run_log(r, json, n):         Log n events.
 * gw_run_delta(r, text):          Log and publish a text delta.
 * gw_run_deltas(r, n):            Log n numbered text deltas.
 * gw_run_end_as(r, reply, timeline): End with this reply and its events.
 * gw_run_end(r):                  End with GW_REPLY_COMPLETED.
 * gw_run_kill(r):                 Let its process expire.
 */
enum rc gw_run_alive(struct gw_run *r, int64_t ms);
enum rc gw_run_enter(struct gw_run *r, struct gateway_fixture *b,
    const char *session, const char *id, const char *text);
void gw_run_start(struct gw_run *r);
void gw_run_begin(struct gw_run *r, struct gateway_fixture *b,
    const char *session, const char *id);
void gw_run_event(const struct gw_run *r, char *dst, size_t size,
    const char *type, const char *data);
void gw_run_publish(struct gw_run *r, int64_t seq, const char *json);
void gw_run_log(struct gw_run *r, const struct str *json, size_t n);
void gw_run_delta(struct gw_run *r, const char *text);
void gw_run_deltas(struct gw_run *r, int n);
void gw_run_end_as(struct gw_run *r, const char *reply, const char *timeline);
void gw_run_end(struct gw_run *r);
void gw_run_kill(struct gw_run *r);

/* ---- conversations ---- */

#define GW_CHAT_WITH(more)                                    \
	"{\"session_id\":\"s1\",\"terminal_id\":\"t1\"," more \
	"\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"hi\"}]}"
#define GW_CHAT_BODY     GW_CHAT_WITH("")
#define GW_CHAT_STREAMED GW_CHAT_WITH("\"stream\":true,")
#define GW_LOST_TEXT     "the turn was lost"

/* A chat and the turn it starts. */
struct gw_conversation {
	struct gateway_fixture b;
	natsSubscription *turns;
	struct tk_sse s;
	struct gw_turn t;
	struct gw_run r;
	struct tk_response a;
};

/*
 * gw_conversation_open(k):          Start a gateway, with a soul bound to t1.
 * gw_conversation_send(k, accept, body): Send a chat and receive its turn.
 * gw_conversation_enter(k):         Accept the turn.
 * gw_conversation_begin(k, accept, body): All of it, and the first event.
 * gw_conversation_response(k, status): The response, which must be of this
 *                                   status.
 * gw_conversation_end(k):           The stream must end.
 * gw_conversation_close(k):         Stop.
 */
void gw_conversation_open(struct gw_conversation *k);
void gw_conversation_send(
    struct gw_conversation *k, const char *accept, const char *body);
void gw_conversation_enter(struct gw_conversation *k);
void gw_conversation_begin(
    struct gw_conversation *k, const char *accept, const char *body);
void gw_conversation_response(struct gw_conversation *k, int status);
void gw_conversation_end(struct gw_conversation *k);
void gw_conversation_close(struct gw_conversation *k);

#endif /* !TESTKIT_GATEWAY_TURN_FIXTURE_H */
