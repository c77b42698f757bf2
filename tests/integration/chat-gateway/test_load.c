/*
 * Many concurrent chats, each with its own turn.
 */
#include <stdio.h>
#include <string.h>

#include "testkit/gateway_turn_fixture.h"

#define CHATS 256

struct clients {
	struct tk_http c[CHATS];
	struct gw_turn t[CHATS];
	int n;
};

static void
clients_start(struct gateway_fixture *b, struct clients *w, int n)
{
	char body[256];
	int i;

	for (i = 0; i < n; i++) {
		snprintf(body, sizeof(body),
		    "{\"session_id\":\"s%d\",\"terminal_id\":\"t1\",\"inputs\":"
		    "[{\"type\":\"speech_text\",\"text\":\"I am %d\"}]}",
		    i, i);
		gw_send(b, &w->c[i], "POST", "/v1/chat", body);
	}
	w->n = n;
}

/* Complete a turn with its session's id as text. */
static void
complete_turn(struct gateway_fixture *b, const struct gw_turn *t)
{
	char more[512];

	snprintf(more, sizeof(more),
	    ",\"response\":{\"session_id\":\"%s\",\"terminal_id\":\"t1\","
	    "\"soul_id\":\"x\",\"reply\":\"%s\",\"executed_skills\":[]}",
	    tk_text(t->j, "chat.session_id"), tk_text(t->j, "turn_id"));
	gw_turn_reply(b, t, "completed", more);
}

/* Whether a turn has this id. */
static bool
has_turn(const struct clients *w, int turns, const char *id)
{
	int i;

	for (i = 0; i < turns; i++)
		if (strcmp(tk_text(w->t[i].j, "turn_id"), id) == 0)
			return true;
	return false;
}

static void
clients_have_responses(struct clients *w, int turns, int want_rejected)
{
	struct tk_response a = { 0 };
	int i, refusals = 0;
	char session[16], retry[16];
	json_t *j;

	for (i = 0; i < w->n; i++) {
		ck_assert(tk_http_read(&w->c[i], &a, GW_MS));
		tk_http_close(&w->c[i]);
		if (a.status == 503) {
			tk_response_field(
			    &a, "Retry-After", retry, sizeof(retry));
			ck_assert_str_eq(retry, "1");
			refusals++;
			continue;
		}
		j = gw_response_json(&a, 200);
		snprintf(session, sizeof(session), "s%d", i);
		ck_assert_str_eq(tk_text(j, "session_id"), session);
		ck_assert(has_turn(w, turns, tk_text(j, "reply")));
		json_decref(j);
	}
	ck_assert_int_eq(refusals, want_rejected);
	tk_response_free(&a);
}

/* The responses received so far. */
static int
clients_read_responses(struct clients *w)
{
	int i, gw_audit_next = 0;

	for (i = 0; i < w->n; i++) {
		(void)tk_http_fill(&w->c[i], 0);
		gw_audit_next += w->c[i].in.n > 0;
	}
	return gw_audit_next;
}

/*
 * All chat; none is answered before each has a turn or was rejected.  Returns
 * the number of turns.
 */
static int
clients_chat(struct gateway_fixture *b, struct clients *w)
{
	natsSubscription *sub = gw_turns_subscribe(b);
	int i, turns = 0, gw_rejects = 0;

	clients_start(b, w, CHATS);
	while (turns + gw_rejects < CHATS) {
		if (natsSubscription_NextMsg(&w->t[turns].m, sub, 100) !=
		    NATS_OK) {
			gw_rejects = clients_read_responses(w);
			continue;
		}
		gw_turn_read(&w->t[turns]);
		gw_turn_reply(b, &w->t[turns++], "accepted", NULL);
	}
	for (i = turns - 1; i >= 0; i--)
		complete_turn(b, &w->t[i]);
	clients_have_responses(w, turns, gw_rejects);
	for (i = 0; i < turns; i++)
		gw_turn_free(&w->t[i]);
	gw_turns_unsubscribe(b, sub);
	return turns;
}

static void
start(struct gateway_fixture *b, const char *const more[])
{
	char id[GW_SOUL_ID];

	gateway_fixture_start_alone(b, more);
	gw_soul(b, NULL, "friendly", id);
	gw_bind_ok(b, "demo-user", "t1", id);
}

TEST_T(many_chats_have_concurrent_turns, 60)
{
	static struct clients w;
	struct gateway_fixture b;

	start(&b, TK_ENV("HTTP_WORKERS=300"));
	ck_assert_int_eq(clients_chat(&b, &w), CHATS);
	ck_assert_int_eq(clients_chat(&b, &w), CHATS);
	gateway_fixture_stop(&b);
}

/* 16 of 256 workers are reserved for rejections, which are immediate. */
TEST_T(chats_exceeding_the_workers_are_rejected, 60)
{
	static struct clients w;
	struct gw_peer p;
	struct gateway_fixture b;
	int turns;

	start(&b, NULL);
	turns = clients_chat(&b, &w);
	/* Earlier connections may still be closing. */
	ck_assert_int_le(turns, 256 - 16);
	ck_assert_int_ge(turns, 256 - 16 - 8);
	gw_peer_start(&b, &p);
	gw_chat_ok(&b, "t1", "");
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}
