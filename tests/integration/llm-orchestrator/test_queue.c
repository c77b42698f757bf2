/*
 * Turns of one session run one at a time, across processes.
 */
#include "state/turn.h"
#include "testkit/orch_fixture.h"

#define TURNS 6

/* In the order in which they entered the queue, across two processes. */
TEST_T(turns_of_a_session_run_in_order, 90)
{
	struct orch_fixture b;
	struct orch_turn t[TURNS];
	char text[32], seen[2][64] = { "", "" };

	orch_fixture_start(&b, 2);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	for (int i = 0; i < TURNS; i++) {
		snprintf(text, sizeof(text), "回答 %d", i);
		orch_model_reply_after(&b.model, text, NULL, 200);
	}
	for (int i = 0; i < TURNS; i++) {
		snprintf(text, sizeof(text), "问 %d", i);
		orch_turn_start(&t[i], &b, text);
		orch_turn_wait_entered(&t[i]);
	}
	for (int i = 0; i < TURNS; i++) {
		snprintf(text, sizeof(text), "回答 %d", i);
		orch_ck_completed(
		    &t[i], .reply = text, .executed = "", .failed = "");
		const char *who = orch_text(t[i].end, "instance");
		if (seen[0][0] == '\0')
			snprintf(seen[0], sizeof(seen[0]), "%s", who);
		else if (strcmp(seen[0], who) != 0)
			snprintf(seen[1], sizeof(seen[1]), "%s", who);
	}
	json_t *m = orch_fixture_messages(&b, "s1", 2 * TURNS);
	ck_assert_uint_eq(json_array_size(m), 2 * TURNS);
	for (int i = 0; i < TURNS; i++) {
		json_t *q = json_array_get(m, (size_t)(2 * i));
		json_t *a = json_array_get(m, (size_t)(2 * i) + 1);
		ck_assert_str_eq(orch_text(q, "turn_id"), t[i].turn_id);
		ck_assert_str_eq(orch_text(a, "turn_id"), t[i].turn_id);
		ck_assert_str_eq(orch_text(a, "role"), "assistant");
		orch_turn_close(&t[i]);
	}
	json_decref(m);
	printf("processes that ran turns: %d\n", 1 + (seen[1][0] != '\0'));
	orch_fixture_stop(&b);
}

/* Another session does not wait, and "s1" of another user is another one. */
TEST_T(sessions_run_independently, 60)
{
	struct orch_fixture b;
	struct orch_turn slow, fast;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply_after(&b.model, "慢", NULL, 2000);
	orch_model_reply(&b.model, "快", NULL);
	orch_turn_start(&slow, &b, "一");
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&slow, 20);
	orch_turn_start_with(
	    &fast, &b, "二", &(struct orch_turn_opts){ .session = "s2" });
	orch_ck_completed(&fast, .reply = "快", .executed = "", .failed = "");
	ck_assert_ptr_null(slow.end);
	orch_ck_completed(&slow, .reply = "慢", .executed = "", .failed = "");
	orch_turn_close(&slow);
	orch_turn_close(&fast);
	orch_fixture_stop(&b);
}

TEST_T(a_full_queue_rejects_the_turn, 60)
{
	struct orch_fixture b;
	struct orch_turn t[TURN_QUEUE_MAX + 2];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply_after(&b.model, "慢", NULL, 2500);
	for (int i = 0; i <= TURN_QUEUE_MAX; i++)
		orch_model_reply(&b.model, "好", NULL);
	for (size_t i = 0; i < NELEM(t); i++)
		orch_turn_start(&t[i], &b, "问");
	size_t refused = 0;
	for (size_t i = 0; i < NELEM(t); i++) {
		json_t *j = orch_turn_end(&t[i]);
		if (strcmp(orch_text(j, "state"), "completed") == 0)
			continue;
		refused++;
		orch_ck_failed(&t[i], 429, "overloaded");
		ck_assert_str_eq(orch_text(j, "error.error"),
		    "too many turns of this session are waiting");
	}
	ck_assert_uint_ge(refused, 1);
	ck_assert_uint_le(refused, 2);
	for (size_t i = 0; i < NELEM(t); i++)
		orch_turn_close(&t[i]);
	orch_fixture_stop(&b);
}

/* A killed process loses its turn, but does not block the session. */
TEST_T(a_killed_process_does_not_block_the_queue, 90)
{
	struct orch_fixture b;
	struct orch_turn dead, waits, next;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply_after(&b.model, "没了", NULL, 15000);
	orch_turn_start(&dead, &b, "一");
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&dead, 20);
	orch_fixture_spawn(&b, 1);
	/* One waits for it, in the other process. */
	for (;;) {
		orch_turn_start(&waits, &b, "二");
		orch_turn_wait_entered(&waits);
		if (orch_peers_count(&b.peers, "observe") == 1)
			break;
		orch_turn_close(&waits);
	}
	orch_fixture_kill(&b, 0);
	orch_model_reply(&b.model, "好", NULL);
	orch_model_reply(&b.model, "好", NULL);
	orch_model_reply(&b.model, "好", NULL);
	struct mono start = clock_mono();
	orch_turn_start(&next, &b, "三");
	orch_ck_completed(&next, .reply = "好", .executed = "", .failed = "");
	ck_assert_int_lt(mono_diff_ms(clock_mono(), start), 8000);
	ck_assert_ptr_null(dead.end);
	orch_turn_close(&dead);
	orch_turn_close(&waits);
	orch_turn_close(&next);
	orch_fixture_stop(&b);
}

/* ---- cancel ---- */

static json_t *
cancel(struct orch_fixture *b, const char *instance, const char *turn_id,
    const char *user)
{
	char subject[128], body[256];
	natsMsg *m = NULL;

	snprintf(subject, sizeof(subject), "soul.rpc.turn.cancel.%s", instance);
	snprintf(body, sizeof(body), "{\"turn_id\":\"%s\",\"user_id\":\"%s\"}",
	    turn_id, user);
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

static void
want_canceled(struct orch_fixture *b, struct orch_turn *t)
{
	char instance[64];

	snprintf(instance, sizeof(instance), "%s",
	    orch_turn_stored(b, t->turn_id).instance.p);
	json_t *j = cancel(b, instance, t->turn_id, "u1");

	ck_assert_ptr_nonnull(j);
	ck_assert(json_is_true(json_object_get(j, "canceled")));
	json_decref(j);
	ck_assert_str_eq(orch_text(orch_turn_end(t), "state"), "canceled");
	/* It has ended. */
	j = cancel(b, instance, t->turn_id, "u1");
	ck_assert_str_eq(orch_text(j, "code"), "not_found");
	json_decref(j);
}

TEST_T(a_cancel_works_while_queued_and_running, 90)
{
	struct orch_fixture b;
	struct orch_turn first, t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_peers_set(&b.peers, ready, true);

	/* During the model call, with another turn queued. */
	orch_model_reply_after(&b.model, "慢", NULL, 15000);
	orch_turn_start(&first, &b, "一");
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&first, 20);
	orch_turn_start(&t, &b, "二");
	orch_turn_wait_entered(&t);
	want_canceled(&b, &t);
	orch_turn_close(&t);
	want_canceled(&b, &first);
	orch_turn_close(&first);

	/* During an invoke: it is stored as not confirmed. */
	orch_model_reply(&b.model, NULL, "[[\"nod\",\"{}\"]]");
	orch_peers_set(&b.peers, body, BODY_MUTE);
	orch_turn_start(&t, &b, "三");
	while (orch_peers_invokes(&b.peers) < 1)
		orch_turn_next(&t, 20);
	want_canceled(&b, &t);
	orch_turn_close(&t);
	json_t *m = orch_fixture_messages(&b, "s1", 1);
	ck_assert_str_eq(orch_text(json_array_get(m, 0), "role"), "tool");
	ck_assert_ptr_nonnull(strstr(
	    orch_text(json_array_get(m, 0), "content"), "not confirmed"));
	json_decref(m);

	/* While perceiving. */
	orch_peers_set(&b.peers, exec_mode, NULL);
	orch_turn_start(&t, &b, "四");
	while (orch_peers_count(&b.peers, "observe") < 3)
		orch_turn_next(&t, 20);
	want_canceled(&b, &t);
	orch_turn_close(&t);
	orch_peers_set(&b.peers, exec_mode, "auto_execute");

	/* The session goes on. */
	orch_model_reply(&b.model, "好", NULL);
	orch_turn_start(&t, &b, "五");
	orch_ck_completed(&t, .reply = "好", .executed = "", .failed = "");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* ---- turns that nobody runs ---- */

/*
 * Put a turn of a process, which lives, into the queue of s1, as it is there
 * again when Redis has lost that it ended.
 */
static void
put_back(struct orch_fixture *b, const char *instance, const char *turn)
{
	const struct turn_slot p = { { STR("u1"), STR("s1") }, str_of(instance),
		str_of(turn) };
	struct turn_entry e = { .trace_id = STR("x") };
	struct turn_entered in;
	unsigned bucket;

	ck_assert_int_eq(turn_enter(b->state, &p, &e, b->arena, &in), RC_OK);
	ck_assert_int_eq(in.ahead, 0);
	ck_assert_int_eq(state_bucket(p.key.user_id, &bucket), RC_OK);
	ck_assert_int_eq(
	    turn_alive(b->state, p.instance, &bucket, 1, 60000), RC_OK);
}

/* Run a turn; who becomes its process. */
static void
run_turn(struct orch_fixture *b, const char *text, char who[64])
{
	struct orch_turn t;

	orch_model_reply(&b->model, text, NULL);
	orch_turn_start(&t, b, text);
	orch_ck_completed(&t, .reply = text, .executed = "", .failed = "");
	snprintf(who, 64, "%s", orch_text(t.end, "instance"));
	orch_turn_close(&t);
}

TEST_T(a_turn_that_its_process_does_not_run_holds_up_none, 60)
{
	struct orch_fixture b;
	char who[64];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	run_turn(&b, "一", who);
	put_back(&b, who, "back");
	run_turn(&b, "二", who);
	ck_assert_int_eq(orch_turn_stored(&b, "back").state, TURN_STATE_LOST);
	orch_fixture_stop(&b);
}

TEST_T(a_turn_that_another_process_does_not_run_holds_up_none, 90)
{
	struct orch_fixture b;
	char first[64], who[64], turn[16];
	int i = 0;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	run_turn(&b, "一", first);
	orch_fixture_spawn(&b, 1);
	/* Until the second process takes a turn. */
	do {
		snprintf(turn, sizeof(turn), "back-%d", i++);
		put_back(&b, first, turn);
		run_turn(&b, "二", who);
		ck_assert_int_eq(
		    orch_turn_stored(&b, turn).state, TURN_STATE_LOST);
	} while (strcmp(who, first) == 0);
	orch_fixture_stop(&b);
}

/* One that is run is waited for, for longer than until it is asked for. */
TEST_T(a_turn_that_another_process_runs_is_waited_for, 90)
{
	struct orch_fixture b;
	struct orch_turn slow, t[4];

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	/* A call of 2.5 s, a body that does not answer for 2 s, and another. */
	orch_peers_set(&b.peers, body, BODY_MUTE);
	orch_model_reply_after(&b.model, NULL, "[[\"nod\",\"{}\"]]", 2500);
	orch_model_reply_after(&b.model, "慢", NULL, 2500);
	orch_turn_start(&slow, &b, "一");
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&slow, 20);
	orch_fixture_spawn(&b, 1);
	for (size_t i = 0; i < 4; i++) {
		orch_model_reply(&b.model, "快", NULL);
		orch_turn_start(&t[i], &b, "二");
		orch_turn_wait_entered(&t[i]);
	}
	orch_ck_completed(
	    &slow, .reply = NULL, .executed = "", .failed = "nod");
	orch_turn_close(&slow);
	for (size_t i = 0; i < 4; i++) {
		orch_ck_completed(
		    &t[i], .reply = "快", .executed = "", .failed = "");
		orch_turn_close(&t[i]);
	}
	orch_fixture_stop(&b);
}

TEST_T(another_users_turn_cannot_be_canceled, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_reply_after(&b.model, "好", NULL, 700);
	orch_turn_start(&t, &b, "一");
	orch_turn_wait_entered(&t);
	char instance[64];
	snprintf(instance, sizeof(instance), "%s",
	    orch_turn_stored(&b, t.turn_id).instance.p);
	json_t *j = cancel(&b, instance, t.turn_id, "u2");
	ck_assert_str_eq(orch_text(j, "code"), "not_found");
	json_decref(j);
	j = cancel(&b, instance, "turn_none", "u1");
	ck_assert_str_eq(orch_text(j, "code"), "not_found");
	json_decref(j);
	orch_ck_completed(&t, .reply = "好", .executed = "", .failed = "");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}
