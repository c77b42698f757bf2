/*
 * REDIS_WAIT_REPLICAS: what is done but not replicated is not reported as done.
 */
#include <signal.h>
#include <stdio.h>

#include "testkit/gateway_turn_fixture.h"
#include "testkit/redis_set.h"

#define UNSAFE "what could be done was done, but is not stored safely: see GET"
#define REPLY_UNSAFE                                           \
	",\"status\":503,\"error\":{\"error\":\"" UNSAFE "\"," \
	"\"code\":\"not_replicated\"}"

static struct gw_conversation k;
static struct tk_server replica;

static void
replicated_open(void)
{
	char soul[GW_SOUL_ID];

	k = (struct gw_conversation){ 0 };
	gateway_fixture_servers(&k.b);
	tk_redis_do(
	    &k.b.redis, NULL, 0, "CONFIG SET repl-diskless-sync-delay 0");
	tk_server_start(&replica, TK_REDIS);
	tk_redis_do(
	    &replica, NULL, 0, "REPLICAOF 127.0.0.1 %d", k.b.redis.port);
	tk_redis_wait(&k.b.redis, "INFO replication", "state=online");
	gateway_fixture_spawn(&k.b, &k.b.gateway, "chat-gateway",
	    TK_ENV("REDIS_WAIT_REPLICAS=1", "REDIS_WAIT_MS=2000"));
	gw_soul(&k.b, NULL, "s", soul);
	gw_bind_ok(&k.b, "demo-user", "t1", soul);
	k.turns = gw_turns_subscribe(&k.b);
}

static void
replicated_close(void)
{
	gw_conversation_close(&k);
	tk_server_stop(&replica, SIGKILL);
}

TEST_T(a_change_that_is_not_replicated_is_an_error, 60)
{
	struct tk_response a = { 0 };

	replicated_open();
	tk_signal(&replica.proc, SIGSTOP);
	ck_assert_int_eq(gw_request(&k.b, &a, "POST", "/v1/souls",
			     "{\"name\":\"n\",\"mbti_type\":\"INFP\"}"),
	    503);
	ck_assert(tk_response_has(&a, "\"code\":\"not_replicated\""));
	ck_assert(tk_response_has(&a, "\"it was done, but is not stored"));
	tk_response_free(&a);
	tk_signal(&replica.proc, SIGCONT);
	/* It was done. */
	gw_rejects(&k.b, "POST", "/v1/souls",
	    "{\"name\":\"n\",\"mbti_type\":\"INFP\"}", 400,
	    "soul name already exists: n");
	replicated_close();
}

/* An orchestrator's error is passed on. */
TEST_T(a_turn_that_is_not_replicated_is_503, 60)
{
	replicated_open();
	gw_conversation_send(&k, "", GW_CHAT_BODY);
	gw_turn_reply(&k.b, &k.t, "failed", REPLY_UNSAFE);
	gw_conversation_response(&k, 503);
	ck_assert(tk_response_has(&k.a, "\"code\":\"not_replicated\""));
	gw_check_error(&k.a, 503, UNSAFE);
	replicated_close();
}

/* The log has the end before it is known that replicas have it. */
TEST_T(a_stream_ends_as_the_turn_does, 60)
{
	json_t *j;
	int safe;

	replicated_open();
	for (safe = 0; safe < 2; safe++) {
		gw_conversation_begin(&k, "", GW_CHAT_STREAMED);
		tk_sse_begun(&k.s);
		tk_sse_is(&k.s, k.r.seq, STARTED);
		gw_run_end(&k.r);
		tk_sse_is(&k.s, k.r.seq - 1, FINAL);
		if (safe)
			gw_turn_complete(&k.b, &k.t);
		else
			gw_turn_reply(&k.b, &k.t, "failed", REPLY_UNSAFE);
		j = tk_sse_take(&k.s, k.r.seq, safe ? COMPLETED : FAILED);
		if (!safe)
			ck_assert_str_eq(
			    tk_text(j, "data.error.message"), UNSAFE);
		json_decref(j);
		gw_conversation_end(&k);
	}
	replicated_close();
}

/*
 * A chat that repeats another one whose end is stored, but not safely: its
 * process may still be waiting for replicas.
 */
TEST_T(a_stored_end_that_is_not_replicated_is_503, 60)
{
	replicated_open();
	gw_conversation_send(&k, "", GW_CHAT_BODY);
	gw_run_begin(&k.r, &k.b, "s1", "first");
	tk_signal(&replica.proc, SIGSTOP);
	gw_run_end(&k.r);
	gw_turn_reply(&k.b, &k.t, "repeated", ",\"first\":\"first\"");
	gw_conversation_response(&k, 503);
	gw_check_error(&k.a, 503,
	    "what could be done was done, but is not stored safely: too few "
	    "replicas of Redis have it; before you send it again, see GET "
	    "/v1/turns/first");
	tk_signal(&replica.proc, SIGCONT);
	tk_redis_wait_replica(&k.b.redis, &replica);
	replicated_close();
}

/*
 * A failover loses events that clients have seen live; those of the turn's end
 * get their numbers.
 */
TEST_T(a_stream_has_the_reply_in_spite_of_lost_events, 60)
{
	char json[1024];
	json_t *j;

	replicated_open();
	gw_conversation_begin(&k, "", GW_CHAT_STREAMED);
	tk_sse_begun(&k.s);
	tk_sse_is(&k.s, k.r.seq, STARTED);
	gw_run_event(&k.r, json, sizeof(json), DELTA,
	    "{\"message_id\":\"m\",\"text_delta\":\"lost\"}");
	gw_run_publish(&k.r, k.r.seq + 1, json);
	tk_sse_is(&k.s, k.r.seq + 1, DELTA);
	gw_run_end(&k.r);
	gw_turn_complete(&k.b, &k.t);
	j = tk_sse_take(&k.s, k.r.seq - 1, FINAL);
	ck_assert_str_eq(tk_text(j, "data.text"), "好的。");
	json_decref(j);
	tk_sse_is(&k.s, k.r.seq, COMPLETED);
	gw_conversation_end(&k);
	replicated_close();
}
