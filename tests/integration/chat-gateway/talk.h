/*
 * talk: a chat that is streamed or plain, and the turn that comes of it.
 */
#ifndef TALK_H
#define TALK_H

#include "orch.h"

#define SAID_WITH(more)                                       \
	"{\"session_id\":\"s1\",\"terminal_id\":\"t1\"," more \
	"\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"hi\"}]}"
#define SAID     SAID_WITH("")
#define STREAMED SAID_WITH("\"stream\":true,")
#define LOST     "the turn was lost"

struct talk {
	struct bed b;
	natsSubscription *turns;
	struct tk_sse s;
	struct turn t;
	struct run r;
	struct tk_answer a;
};

static inline void
talk_open(struct talk *k)
{
	char id[SOUL_ID];

	*k = (struct talk){ 0 };
	bed_servers(&k->b);
	bed_spawn(&k->b, &k->b.gateway, "chat-gateway", NULL);
	make_soul(&k->b, NULL, "friendly", id);
	bound(&k->b, "demo-user", "t1", id);
	k->turns = turns_listen(&k->b);
}

/* A chat with this body has reached the orchestrator. */
static inline void
talk_say(struct talk *k, const char *accept, const char *body)
{
	tk_sse_post(&k->s, k->b.gateway.http, accept, body);
	turn_take(k->turns, &k->t);
}

/* Its turn has a place, and has begun. */
static inline void
talk_enter(struct talk *k)
{
	ck_assert_int_eq(
	    run_enter(&k->r, &k->b, "s1", tk_text(k->t.j, "turn_id"), NULL),
	    RC_OK);
	turn_say(&k->b, &k->t, "accepted", NULL);
}

static inline void
talk_begin(struct talk *k, const char *accept, const char *body)
{
	talk_say(k, accept, body);
	talk_enter(k);
	run_start(&k->r);
}

/* The plain answer, which must have this status. */
static inline void
talk_answer(struct talk *k, int status)
{
	ck_assert(tk_http_read(&k->s.c, &k->a, BED_MS));
	ck_assert_msg(
	    k->a.status == status, "%d: %s", k->a.status, k->a.body.p);
	tk_sse_close(&k->s);
	turn_end(&k->t);
}

/* Nothing more comes in the stream. */
static inline void
talk_over(struct talk *k)
{
	ck_assert(tk_sse_ends(&k->s, BED_MS));
	tk_sse_close(&k->s);
	turn_end(&k->t);
}

static inline void
talk_close(struct talk *k)
{
	tk_answer_free(&k->a);
	natsSubscription_Destroy(k->turns);
	bed_stop(&k->b);
}

#endif /* !TALK_H */
