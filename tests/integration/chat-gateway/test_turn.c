/*
 * From the orchestrator's replies to the response.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/gateway_turn_fixture.h"

#define CHAT_BODY                                                   \
	"{\"session_id\":\"s1\",\"terminal_id\":\"t1\",\"inputs\":" \
	"[{\"type\":\"keyboard_text\",\"text\":\"hi\"}]}"
#define GW_LOST_TEXT "the turn was lost"

/* A chat that waits for the replies of its turn. */
struct chat_exchange {
	struct gateway_fixture b;
	natsSubscription *turns;
	struct tk_http c;
	struct gw_turn t;
	struct tk_response a;
};

static void
chat_exchange_open(struct chat_exchange *k)
{
	char id[GW_SOUL_ID];

	*k = (struct chat_exchange){ 0 };
	gateway_fixture_start_alone(&k->b, NULL);
	gw_soul(&k->b, NULL, "friendly", id);
	gw_bind_ok(&k->b, "demo-user", "t1", id);
	k->turns = gw_turns_subscribe(&k->b);
}

static void
chat_exchange_begin(struct chat_exchange *k)
{
	gw_send(&k->b, &k->c, "POST", "/v1/chat", CHAT_BODY);
	gw_turn_next(k->turns, &k->t);
}

/* The response, which must have this status. */
static void
chat_exchange_response(struct chat_exchange *k, int status)
{
	ck_assert(tk_http_read(&k->c, &k->a, GW_MS));
	ck_assert_msg(
	    k->a.status == status, "%d: %s", k->a.status, k->a.body.p);
	tk_http_close(&k->c);
	gw_turn_free(&k->t);
}

static void
chat_exchange_rejects(
    struct chat_exchange *k, int status, const char *text, const char *code)
{
	char want[64];

	chat_exchange_response(k, status);
	gw_check_error(&k->a, status, text);
	snprintf(want, sizeof(want), "\"code\":\"%s\"", code);
	ck_assert_msg(tk_response_has(&k->a, want), "%s", k->a.body.p);
}

static void
chat_exchange_close(struct chat_exchange *k)
{
	tk_response_free(&k->a);
	natsSubscription_Destroy(k->turns);
	gateway_fixture_stop(&k->b);
}

TEST(the_response_of_a_completed_turn_is_passed_on)
{
	struct chat_exchange k;

	chat_exchange_open(&k);
	chat_exchange_begin(&k);
	gw_turn_reply(
	    &k.b, &k.t, "accepted", ",\"instance\":\"o1\",\"ahead\":0");
	gw_turn_reply(&k.b, &k.t, "running", ",\"stage\":\"thinking\"");
	gw_turn_reply(&k.b, &k.t, "running", NULL);
	gw_turn_complete(&k.b, &k.t);
	/* Replies after the final one are ignored. */
	gw_turn_complete(&k.b, &k.t);
	gw_turn_reply(&k.b, &k.t, "running", NULL);
	chat_exchange_response(&k, 200);
	ck_assert_str_eq(k.a.body.p, GW_RESPONSE);
	/* An empty text is a valid response. */
	chat_exchange_begin(&k);
	gw_turn_reply(&k.b, &k.t, "completed",
	    ",\"response\":{\"session_id\":\"s1\",\"terminal_id\":\"t1\","
	    "\"soul_id\":\"x\",\"reply\":\"\",\"executed_skills\":[]}");
	chat_exchange_response(&k, 200);
	ck_assert_str_eq(k.a.body.p,
	    "{\"session_id\":\"s1\",\"terminal_id\":\"t1\",\"soul_id\":\"x\","
	    "\"reply\":\"\",\"executed_skills\":[]}");
	chat_exchange_close(&k);
}

static const struct {
	const char *state, *more;
	int status;
	const char *text, *code;
} outcomes[] = {
	{ "failed",
	    ",\"status\":502,\"error\":{\"error\":\"the language model is "
	    "unavailable\",\"code\":\"llm_unavailable\"}",
	    502, "the language model is unavailable", "llm_unavailable" },
	{ "failed",
	    ",\"status\":429,\"error\":{\"error\":\"too many turns of this "
	    "session are waiting\",\"code\":\"too_many_turns\"}",
	    429, "too many turns of this session are waiting",
	    "too_many_turns" },
	{ "failed",
	    ",\"status\":504,\"error\":{\"error\":\"deadline exceeded\","
	    "\"code\":\"deadline_exceeded\"}",
	    504, "deadline exceeded", "deadline_exceeded" },
	{ "failed", ",\"error\":{\"error\":\"词\\n\\\"穷\\\"\"}", 500,
	    "词\n\"穷\"", "internal" },
	{ "failed", ",\"status\":503", 503, "the turn failed", "internal" },
	{ "failed", NULL, 500, "the turn failed", "internal" },
	{ "canceled", NULL, 409, "the turn was canceled", "canceled" },
	/* Invalid replies: the outcome is unknown. */
	{ "completed", NULL, 502, GW_LOST_TEXT, "turn_lost" },
	{ "completed", ",\"response\":{\"reply\":\"x\"}", 502, GW_LOST_TEXT,
	    "turn_lost" },
	{ "done", NULL, 502, GW_LOST_TEXT, "turn_lost" },
	{ "failed", ",\"status\":200", 502, GW_LOST_TEXT, "turn_lost" },
};

TEST(other_outcomes_become_errors)
{
	char retry[16];
	struct chat_exchange k;
	size_t i;

	chat_exchange_open(&k);
	for (i = 0; i < NELEM(outcomes); i++) {
		chat_exchange_begin(&k);
		gw_turn_reply(&k.b, &k.t, "accepted", NULL);
		gw_turn_reply(&k.b, &k.t, outcomes[i].state, outcomes[i].more);
		chat_exchange_rejects(
		    &k, outcomes[i].status, outcomes[i].text, outcomes[i].code);
		tk_response_field(&k.a, "Retry-After", retry, sizeof(retry));
		ck_assert_int_eq(retry[0] != '\0',
		    outcomes[i].status == 429 || outcomes[i].status == 503);
	}
	chat_exchange_begin(&k);
	gw_turn_reply_text(&k.b, &k.t, "no JSON");
	chat_exchange_rejects(&k, 502, GW_LOST_TEXT, "turn_lost");
	chat_exchange_begin(&k);
	gw_turn_reply_text(&k.b, &k.t, "");
	chat_exchange_rejects(&k, 502, GW_LOST_TEXT, "turn_lost");
	chat_exchange_close(&k);
}

/* A machine-readable reason of provider errors; other errors have none. */
TEST(the_reason_of_a_turn_that_failed_is_passed_on)
{
	struct chat_exchange k;

	chat_exchange_open(&k);
	chat_exchange_begin(&k);
	gw_turn_reply(&k.b, &k.t, "accepted", NULL);
	gw_turn_reply(&k.b, &k.t, "failed",
	    ",\"status\":502,\"error\":{\"error\":\"no\",\"code\":"
	    "\"llm_unavailable\",\"reason\":\"unauthorized\"}");
	chat_exchange_rejects(&k, 502, "no", "llm_unavailable");
	ck_assert(tk_response_has(&k.a, "\"reason\":\"unauthorized\""));
	chat_exchange_begin(&k);
	gw_turn_reply(&k.b, &k.t, "accepted", NULL);
	gw_turn_reply(&k.b, &k.t, "failed", outcomes[0].more);
	chat_exchange_rejects(&k, 502, outcomes[0].text, outcomes[0].code);
	ck_assert(!tk_response_has(&k.a, "reason"));
	chat_exchange_close(&k);
}

static void
turn_error(struct chat_exchange *k, const char *name, const char *status,
    const char *body)
{
	natsMsg *m = NULL;

	ck_assert_int_eq(natsMsg_Create(&m, natsMsg_GetReply(k->t.m), NULL,
			     body, (int)strlen(body)),
	    NATS_OK);
	natsMsgHeader_Set(m, "Nats-Service-Error", name);
	natsMsgHeader_Set(m, "Nats-Service-Error-Code", status);
	ck_assert_int_eq(natsConnection_PublishMsg(k->b.nc, m), NATS_OK);
	natsMsg_Destroy(m);
}

/* Rejected before the start, with errors in the suite's format. */
TEST(errors_of_turn_start_are_passed_on)
{
	static const struct {
		const char *name, *status, *body;
		int want;
		const char *text, *code;
	} errors[] = {
		{ "overloaded", "503",
		    "{\"error\":\"too many turns of this session are "
		    "waiting\",\"code\":\"too_many_turns\"}",
		    429, "too many turns of this session are waiting",
		    "too_many_turns" },
		{ "overloaded", "503", "", 429, "overloaded", "overloaded" },
		{ "deadline_exceeded", "504", "{\"error\":\"late\"}", 504,
		    "deadline exceeded", "deadline_exceeded" },
		{ "unavailable", "503", "{\"error\":\"no state\"}", 503,
		    "no state", "unavailable" },
		{ "not_found", "404",
		    "{\"error\":\"soul not found\",\"code\":\"not_found\"}",
		    404, "soul not found", "not_found" },
		{ "internal", "500", "?", 500, "the turn failed", "internal" },
	};
	struct chat_exchange k;
	size_t i;

	chat_exchange_open(&k);
	for (i = 0; i < NELEM(errors); i++) {
		chat_exchange_begin(&k);
		turn_error(
		    &k, errors[i].name, errors[i].status, errors[i].body);
		chat_exchange_rejects(
		    &k, errors[i].want, errors[i].text, errors[i].code);
	}
	chat_exchange_close(&k);
}

TEST(without_an_orchestrator_chats_are_unavailable)
{
	struct chat_exchange k;

	chat_exchange_open(&k);
	natsSubscription_Destroy(k.turns);
	k.turns = NULL;
	ck_assert_int_eq(natsConnection_Flush(k.b.nc), NATS_OK);
	gw_rejects(&k.b, "POST", "/v1/chat", CHAT_BODY, 503,
	    "no llm-orchestrator is running; try again");
	k.turns = gw_turns_subscribe(&k.b);
	chat_exchange_begin(&k);
	gw_turn_complete(&k.b, &k.t);
	chat_exchange_response(&k, 200);
	chat_exchange_close(&k);
}

/* Whether there is no response within ms; the time itself is under test. */
static bool
chat_exchange_is_silent(struct chat_exchange *k, int ms)
{
	return !tk_http_fill(&k->c, ms) && !k->c.eof;
}

/* One reply every two seconds is enough. */
TEST(progress_replies_prevent_the_loss_of_a_turn)
{
	struct chat_exchange k;
	int i;

	chat_exchange_open(&k);
	chat_exchange_begin(&k);
	gw_turn_reply(&k.b, &k.t, "accepted", NULL);
	for (i = 0; i < 4; i++) {
		ck_assert(chat_exchange_is_silent(&k, 2000));
		gw_turn_reply(&k.b, &k.t, "running", NULL);
	}
	gw_turn_complete(&k.b, &k.t);
	chat_exchange_response(&k, 200);
	chat_exchange_close(&k);
}

/*
 * Started or not: after 6 s of silence the turn is lost and nothing is retried.
 */
TEST(a_silent_turn_is_lost)
{
	struct tk_http mute = { 0 };
	struct mono start;
	struct gw_turn t;
	struct chat_exchange k;
	natsMsg *m;

	chat_exchange_open(&k);
	start = clock_mono();
	gw_send(&k.b, &mute, "POST", "/v1/chat", CHAT_BODY);
	gw_turn_next(k.turns, &t);
	chat_exchange_begin(&k);
	gw_turn_reply(&k.b, &k.t, "accepted", NULL);
	ck_assert(chat_exchange_is_silent(&k, 2000));
	gw_turn_reply(&k.b, &k.t, "running", NULL);
	/* Replies of another turn do not count. */
	ck_assert(tk_http_read(&mute, &k.a, GW_MS));
	gw_check_error(&k.a, 502, GW_LOST_TEXT);
	ck_assert_int_ge(mono_diff_ms(clock_mono(), start), 5900);
	ck_assert_int_le(mono_diff_ms(clock_mono(), start), 9000);
	chat_exchange_rejects(&k, 502, GW_LOST_TEXT, "turn_lost");
	ck_assert_int_ge(mono_diff_ms(clock_mono(), start), 7900);
	ck_assert_int_le(mono_diff_ms(clock_mono(), start), 12000);
	/* A late reply is ignored, and the turn was requested once. */
	gw_turn_complete(&k.b, &t);
	ck_assert_int_eq(
	    natsSubscription_NextMsg(&m, k.turns, 1), NATS_TIMEOUT);
	chat_exchange_begin(&k);
	gw_turn_complete(&k.b, &k.t);
	chat_exchange_response(&k, 200);
	gw_turn_free(&t);
	tk_http_close(&mute);
	chat_exchange_close(&k);
}

/* The turn and the gateway continue after a disconnect. */
TEST(a_disconnected_client_does_not_end_the_turn)
{
	struct chat_exchange k;

	chat_exchange_open(&k);
	chat_exchange_begin(&k);
	gw_turn_reply(&k.b, &k.t, "accepted", NULL);
	tk_http_close(&k.c);
	gw_turn_complete(&k.b, &k.t);
	gw_turn_free(&k.t);
	chat_exchange_begin(&k);
	gw_turn_complete(&k.b, &k.t);
	chat_exchange_response(&k, 200);
	chat_exchange_close(&k);
}

/* SIGTERM: running turns are answered before the exit. */
TEST(a_running_turn_gets_its_response_while_draining)
{
	struct chat_exchange k;

	chat_exchange_open(&k);
	chat_exchange_begin(&k);
	gw_turn_reply(&k.b, &k.t, "accepted", NULL);
	tk_signal(&k.b.gateway.proc, SIGTERM);
	ck_assert(chat_exchange_is_silent(&k, 200));
	gw_turn_complete(&k.b, &k.t);
	chat_exchange_response(&k, 200);
	ck_assert_int_eq(tk_wait(&k.b.gateway.proc, GW_MS), 0);
	k.b.gateway.proc.pid = 0;
	chat_exchange_close(&k);
}
