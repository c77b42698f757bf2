/*
 * REDIS_WAIT_REPLICAS: what a turn does, and says, when the replica of Redis
 * does not have what was written.
 */
#include "testkit/orch_fixture.h"
#include "testkit/redis_set.h"

#define INPUTS                                                           \
	"[{\"type\":\"keyboard_text\",\"text\":\"点头\",\"input_id\":" \
	"\"in-1\"}]"

static const struct orch_turn_opts streamed = { .stream = true,
	.inputs = INPUTS };

struct replicated {
	struct orch_fixture b;
	struct tk_server replica;
};

static void
replicated_start(struct replicated *r)
{
	orch_fixture_start(&r->b, 0);
	tk_redis_do(
	    &r->b.redis, NULL, 0, "CONFIG SET repl-diskless-sync-delay 0");
	tk_server_start(&r->replica, TK_REDIS);
	tk_redis_do(
	    &r->replica, NULL, 0, "REPLICAOF 127.0.0.1 %d", r->b.redis.port);
	tk_redis_wait(&r->b.redis, "INFO replication", "state=online");
	r->b.more[0] = "REDIS_WAIT_REPLICAS=1";
	r->b.more[1] = "REDIS_WAIT_MS=2000";
	orch_fixture_spawn(&r->b, 0);
	orch_peers_set(&r->b.peers, filter, INTENT_FALLBACK);
}

static void
replicated_stop(struct replicated *r)
{
	orch_fixture_stop(&r->b);
	tk_server_stop(&r->replica, SIGKILL);
}

/* The error's text begins so, and has the other part. */
static void
ck_text(struct orch_turn *t, const char *begin, const char *part)
{
	const char *text = orch_text(t->end, "error.error");

	ck_assert_msg(strncmp(text, begin, strlen(begin)) == 0 &&
		strstr(text, part) != NULL,
	    "%s", text);
}

static void
wait_model(struct replicated *r, struct orch_turn *t, size_t requests)
{
	while (orch_model_requests(&r->b.model) < requests) {
		ck_assert_ptr_null(t->end);
		orch_turn_next(t, 20);
	}
}

/* Neither the turn nor what it would send exists; it can be sent again. */
TEST_T(a_turn_whose_input_is_not_replicated_does_nothing, 60)
{
	static const struct orch_turn_opts repeated = { .inputs = INPUTS };
	struct replicated r;
	struct orch_turn t;

	replicated_start(&r);
	orch_peers_set(&r.b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	tk_signal(&r.replica.proc, SIGSTOP);
	orch_turn_start_with(&t, &r.b, "点头", &repeated);
	orch_ck_failed(&t, 503, "not_replicated");
	ck_text(&t, "nothing was done:", "try again");
	ck_assert_uint_eq(orch_peers_count(&r.b.peers, "observe"), 0);
	ck_assert_uint_eq(orch_peers_count(&r.b.peers, "intent_action"), 0);
	orch_turn_close(&t);
	tk_signal(&r.replica.proc, SIGCONT);
	orch_turn_start_with(&t, &r.b, "点头", &repeated);
	orch_ck_completed(&t, .executed = "control_light", .failed = "");
	ck_assert_uint_eq(orch_peers_count(&r.b.peers, "intent_action"), 1);
	orch_turn_close(&t);
	replicated_stop(&r);
}

/* The replica is lost between the input and what the model wants to do. */
TEST_T(an_action_is_not_sent_before_it_is_replicated, 60)
{
	struct replicated r;
	struct orch_turn t;

	replicated_start(&r);
	orch_model_hold(&r.b.model, true);
	orch_model_stream(&r.b.model, "我", "[[\"nod\",\"{}\"]]", 1);
	orch_turn_start_with(&t, &r.b, "点头", &streamed);
	wait_model(&r, &t, 1);
	tk_signal(&r.replica.proc, SIGSTOP);
	orch_model_hold(&r.b.model, false);
	orch_ck_failed(&t, 503, "not_replicated");
	ck_text(&t, "nothing was done:", "try again");
	ck_assert_uint_eq(orch_peers_invokes(&r.b.peers), 0);
	orch_turn_close(&t);
	/* The same input is no retry of a turn that did nothing. */
	tk_signal(&r.replica.proc, SIGCONT);
	orch_model_reply(&r.b.model, NULL, "[[\"nod\",\"{}\"]]");
	orch_model_reply(&r.b.model, "点了", NULL);
	orch_turn_start_with(&t, &r.b, "点头", &streamed);
	orch_ck_completed(&t, .executed = "nod", .failed = "");
	ck_assert_uint_eq(orch_peers_invokes(&r.b.peers), 1);
	orch_turn_close(&t);
	replicated_stop(&r);
}

/* The body has acted, and the reply is not replicated. */
TEST_T(a_turn_that_acted_but_is_not_replicated_is_an_error, 60)
{
	char see[128], skills[64];
	struct turn_record rec;
	struct replicated r;
	struct orch_turn t;
	json_t *reply;

	replicated_start(&r);
	orch_model_hold(&r.b.model, true);
	orch_model_reply(&r.b.model, NULL, "[[\"nod\",\"{}\"]]");
	orch_model_stream(&r.b.model, "点|了", NULL, 1);
	orch_turn_start_with(&t, &r.b, "点头", &streamed);
	wait_model(&r, &t, 2);
	ck_assert_uint_eq(orch_peers_invokes(&r.b.peers), 1);
	tk_signal(&r.replica.proc, SIGSTOP);
	orch_model_hold(&r.b.model, false);
	orch_ck_failed(&t, 503, "not_replicated");
	snprintf(see, sizeof(see), "see GET /v1/turns/%s", t.turn_id);
	ck_text(&t, "what could be done was done, but", see);
	/* The record has what was done. */
	rec = orch_turn_stored(&r.b, t.turn_id);
	reply = json_loadb(rec.reply.p, rec.reply.n, 0, NULL);
	ck_assert_str_eq(orch_text(reply, "state"), "completed");
	ck_assert_str_eq(orch_list(reply, "response.executed_skills", NULL,
			     skills, sizeof(skills)),
	    "nod");
	json_decref(reply);
	orch_turn_close(&t);
	tk_signal(&r.replica.proc, SIGCONT);
	replicated_stop(&r);
}

/* No body acted: the client may send it again, and gets the stored reply. */
TEST_T(a_reply_that_is_not_replicated_may_be_requested_later, 60)
{
	struct replicated r;
	struct orch_turn t;

	replicated_start(&r);
	orch_model_hold(&r.b.model, true);
	orch_model_stream(&r.b.model, "你|好", NULL, 1);
	orch_turn_start_with(&t, &r.b, "点头", &streamed);
	wait_model(&r, &t, 1);
	tk_signal(&r.replica.proc, SIGSTOP);
	orch_model_hold(&r.b.model, false);
	orch_ck_failed(&t, 503, "not_replicated");
	ck_text(&t, "the reply is not stored safely:", "send it again");
	orch_turn_close(&t);
	tk_signal(&r.replica.proc, SIGCONT);
	orch_turn_start_with(&t, &r.b, "点头", &streamed);
	ck_assert_str_eq(orch_text(orch_turn_end(&t), "state"), "repeated");
	orch_turn_close(&t);
	replicated_stop(&r);
}

/* A replica that comes back within the retries costs nothing but time. */
TEST_T(a_replica_that_returns_in_time_is_waited_for, 60)
{
	struct replicated r;
	struct orch_turn t;

	replicated_start(&r);
	orch_model_hold(&r.b.model, true);
	orch_model_stream(&r.b.model, "你|好", NULL, 1);
	orch_turn_start_with(&t, &r.b, "点头", &streamed);
	wait_model(&r, &t, 1);
	tk_signal(&r.replica.proc, SIGSTOP);
	orch_model_hold(&r.b.model, false);
	while (!tk_log_has(&r.b.orch[0].proc, "state.unreplicated"))
		orch_turn_next(&t, 20);
	ck_assert_ptr_null(t.end);
	tk_signal(&r.replica.proc, SIGCONT);
	orch_ck_completed(&t, .reply = "你好", .executed = "", .failed = "");
	json_decref(orch_events(&r.b));
	orch_turn_close(&t);
	replicated_stop(&r);
}
