/*
 * peer: who answers soul.rpc.turn.start instead of llm-orchestrator: the test
 * itself, turn by turn, or a thread that completes every turn at once.
 */
#ifndef PEER_H
#define PEER_H

#include <stdatomic.h>

#include "bed.h"

#define TURN_SUBJECT "soul.rpc.turn.start"

/* ---- turn by turn ---------------------------------------------------------
 */

/* A turn that was started, as its request says. */
struct turn {
	natsMsg *m;
	json_t *j;
};

static inline natsSubscription *
turns_listen(struct bed *b)
{
	natsSubscription *sub = NULL;

	ck_assert_int_eq(natsConnection_QueueSubscribeSync(
			     &sub, b->nc, TURN_SUBJECT, "llm-orchestrator"),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(b->nc), NATS_OK);
	return sub;
}

/* None comes here once this has returned. */
static inline void
turns_leave(struct bed *b, natsSubscription *sub)
{
	natsSubscription_Destroy(sub);
	ck_assert_int_eq(natsConnection_Flush(b->nc), NATS_OK);
}

/* What is in t->m. */
static inline void
turn_read(struct turn *t)
{
	t->j = tk_nats_json(t->m);
}

static inline void
turn_take(natsSubscription *turns, struct turn *t)
{
	ck_assert_int_eq(
	    natsSubscription_NextMsg(&t->m, turns, BED_MS), NATS_OK);
	turn_read(t);
}

static inline void
turn_end(struct turn *t)
{
	natsMsg_Destroy(t->m);
	json_decref(t->j);
	*t = (struct turn){ 0 };
}

static inline void
turn_answer(struct bed *b, const struct turn *t, const char *text)
{
	tk_nats_send(b->nc, natsMsg_GetReply(t->m), text);
}

/* A turn_reply with this state and, unless NULL, more members. */
static inline void
turn_say(
    struct bed *b, const struct turn *t, const char *state, const char *more)
{
	char text[2048];

	snprintf(text, sizeof(text), "{\"turn_id\":\"%s\",\"state\":\"%s\"%s}",
	    tk_text(t->j, "turn_id"), state, more != NULL ? more : "");
	turn_answer(b, t, text);
}

/* The response that the peers give. */
#define RESPONSE                                          \
	"{\"session_id\":\"s1\",\"terminal_id\":\"t1\","  \
	"\"soul_id\":\"soul_x\",\"reply\":\"好的。\"," \
	"\"executed_skills\":[\"control_light\"],"        \
	"\"intent_decision\":\"execute_intents\","        \
	"\"exec_mode\":\"auto_execute\",\"exec_probability\":0.88}"

static inline void
turn_complete(struct bed *b, const struct turn *t)
{
	turn_say(b, t, "completed", ",\"response\":" RESPONSE);
}

/* ---- every turn at once ---------------------------------------------------
 */

struct peer {
	natsConnection *nc;
	natsSubscription *sub;
	_Atomic int turns;
};

static inline void
peer_reply(natsConnection *nc, natsMsg *m, const char *id, const char *rest)
{
	char text[1024];

	snprintf(text, sizeof(text), "{\"turn_id\":\"%s\",%s}", id, rest);
	(void)natsConnection_PublishString(nc, natsMsg_GetReply(m), text);
}

static inline void
peer_turn(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *closure)
{
	struct peer *p = closure;
	json_t *j = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);
	const char *id = json_string_value(json_object_get(j, "turn_id"));

	(void)sub;
	peer_reply(nc, m, id, "\"state\":\"accepted\"");
	peer_reply(nc, m, id, "\"state\":\"completed\",\"response\":" RESPONSE);
	atomic_fetch_add(&p->turns, 1);
	json_decref(j);
	natsMsg_Destroy(m);
}

static inline void
peer_start(struct bed *b, struct peer *p)
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
	ck_assert_int_eq(natsConnection_QueueSubscribe(&p->sub, p->nc,
			     TURN_SUBJECT, "llm-orchestrator", peer_turn, p),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(p->nc), NATS_OK);
}

static inline void
peer_stop(struct peer *p)
{
	natsSubscription_Destroy(p->sub);
	natsConnection_Destroy(p->nc);
}

/* ---- chats ----------------------------------------------------------------
 */

/* What the user says through a terminal; more are other members, or "". */
static inline int
chat(struct bed *b, struct tk_answer *a, const char *terminal, const char *more)
{
	char body[1024];

	snprintf(body, sizeof(body),
	    "{\"session_id\":\"s1\",\"terminal_id\":\"%s\",%s%s"
	    "\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"hi\"}]}",
	    terminal, more, more[0] != '\0' ? "," : "");
	return ask(b, a, "POST", "/v1/chat", body);
}

static inline void
chat_refused(struct bed *b, const char *terminal, const char *more, int status,
    const char *text)
{
	struct tk_answer a = { 0 };

	chat(b, &a, terminal, more);
	answer_refuses(&a, status, text);
	tk_answer_free(&a);
}

static inline void
chat_ok(struct bed *b, const char *terminal, const char *more)
{
	struct tk_answer a = { 0 };

	chat(b, &a, terminal, more);
	json_decref(answer_json(&a, 200));
	tk_answer_free(&a);
}

/* Everything, a peer that answers, and a soul that is bound to t1. */
static inline void
chat_start(struct bed *b, struct peer *p, char soul[SOUL_ID])
{
	bed_start(b, NULL);
	peer_start(b, p);
	make_soul(b, NULL, "friendly", soul);
	bound(b, "demo-user", "t1", soul);
}

/* Whose terminal it is, as the user sees it. */
static inline void
has_soul(
    struct bed *b, const char *user, const char *terminal, const char *soul)
{
	char path[256];
	json_t *j;

	snprintf(
	    path, sizeof(path), "/v1/terminals/%s?user_id=%s", terminal, user);
	j = take(b, "GET", path, NULL);
	ck_assert_str_eq(tk_text(j, "soul_id"), soul);
	ck_assert_str_eq(tk_text(j, "user_id"), user);
	json_decref(j);
}

static inline bool
is_bound(struct bed *b, const char *terminal)
{
	struct terminal t;

	arena_reset(b->db.arena);
	ck_assert_int_eq(
	    terminal_read(b->db.s, str_of(terminal), 60000, b->db.arena, &t),
	    RC_OK);
	return t.soul_id.p != NULL;
}

#endif /* !PEER_H */
