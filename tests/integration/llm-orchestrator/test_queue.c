/*
 * Turns of one session, one at a time, whichever process runs them.
 */
#include "state/turn.h"
#include "talk.h"

#define TURNS 6

static void
accept_turn(struct talk *t)
{
	while (!t->accepted && t->end == NULL)
		ck_assert(talk_next(t, BED_MS));
	ck_assert_ptr_null(t->end);
}

/* In the order in which they were accepted, across two processes. */
TEST_T(turns_in_their_order, 90)
{
	struct bed b;
	struct talk t[TURNS];
	char said[32], seen[2][64] = { "", "" };

	bed_start(&b, 2);
	peers_set(&b.peers, filter, FALLBACK);
	for (int i = 0; i < TURNS; i++) {
		snprintf(said, sizeof(said), "回答 %d", i);
		model_will_say_late(&b.model, said, NULL, 200);
	}
	for (int i = 0; i < TURNS; i++) {
		snprintf(said, sizeof(said), "问 %d", i);
		talk_start(&t[i], &b, said);
		accept_turn(&t[i]);
	}
	for (int i = 0; i < TURNS; i++) {
		snprintf(said, sizeof(said), "回答 %d", i);
		talk_want(&t[i], .reply = said, .executed = "", .failed = "");
		const char *who = text_at(t[i].end, "instance");
		if (seen[0][0] == '\0')
			snprintf(seen[0], sizeof(seen[0]), "%s", who);
		else if (strcmp(seen[0], who) != 0)
			snprintf(seen[1], sizeof(seen[1]), "%s", who);
	}
	json_t *m = bed_messages(&b, "s1", 2 * TURNS);
	ck_assert_uint_eq(json_array_size(m), 2 * TURNS);
	for (int i = 0; i < TURNS; i++) {
		json_t *q = json_array_get(m, (size_t)(2 * i));
		json_t *a = json_array_get(m, (size_t)(2 * i) + 1);
		ck_assert_str_eq(text_at(q, "turn_id"), t[i].turn_id);
		ck_assert_str_eq(text_at(a, "turn_id"), t[i].turn_id);
		ck_assert_str_eq(text_at(a, "role"), "assistant");
		talk_close(&t[i]);
	}
	json_decref(m);
	printf("processes that ran turns: %d\n", 1 + (seen[1][0] != '\0'));
	bed_stop(&b);
}

/* Another session does not wait, and "s1" of another user is another one. */
TEST_T(sessions_do_not_wait_for_each_other, 60)
{
	struct bed b;
	struct talk slow, fast;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say_late(&b.model, "慢", NULL, 2000);
	model_will_say(&b.model, "快", NULL);
	talk_start(&slow, &b, "一");
	while (model_asked(&b.model) < 1)
		talk_next(&slow, 20);
	talk_start_with(
	    &fast, &b, "二", &(struct talk_opts){ .session = "s2" });
	talk_want(&fast, .reply = "快", .executed = "", .failed = "");
	ck_assert_ptr_null(slow.end);
	talk_want(&slow, .reply = "慢", .executed = "", .failed = "");
	talk_close(&slow);
	talk_close(&fast);
	bed_stop(&b);
}

TEST_T(a_full_queue_is_an_error, 60)
{
	struct bed b;
	struct talk t[TURN_QUEUE_MAX + 2];

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say_late(&b.model, "慢", NULL, 2500);
	for (int i = 0; i <= TURN_QUEUE_MAX; i++)
		model_will_say(&b.model, "好", NULL);
	for (size_t i = 0; i < NELEM(t); i++)
		talk_start(&t[i], &b, "问");
	size_t refused = 0;
	for (size_t i = 0; i < NELEM(t); i++) {
		json_t *j = talk_end(&t[i]);
		if (strcmp(text_at(j, "state"), "completed") == 0)
			continue;
		refused++;
		talk_want_fault(&t[i], 429, "overloaded");
		ck_assert_str_eq(text_at(j, "error.error"),
		    "too many turns of this session are waiting");
	}
	ck_assert_uint_ge(refused, 1);
	ck_assert_uint_le(refused, 2);
	for (size_t i = 0; i < NELEM(t); i++)
		talk_close(&t[i]);
	bed_stop(&b);
}

/* A process that dies takes its turn with it, and not the session. */
TEST_T(a_killed_process_sticks_nothing, 90)
{
	struct bed b;
	struct talk dead, waits, next;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say_late(&b.model, "没了", NULL, 15000);
	talk_start(&dead, &b, "一");
	while (model_asked(&b.model) < 1)
		talk_next(&dead, 20);
	bed_spawn(&b, 1);
	/* One waits behind it, in the other process. */
	for (;;) {
		talk_start(&waits, &b, "二");
		accept_turn(&waits);
		if (peers_count(&b.peers, "observe") == 1)
			break;
		talk_close(&waits);
	}
	bed_kill(&b, 0);
	model_will_say(&b.model, "好", NULL);
	model_will_say(&b.model, "好", NULL);
	model_will_say(&b.model, "好", NULL);
	struct mono start = clock_mono();
	talk_start(&next, &b, "三");
	talk_want(&next, .reply = "好", .executed = "", .failed = "");
	ck_assert_int_lt(mono_diff_ms(clock_mono(), start), 8000);
	ck_assert_ptr_null(dead.end);
	talk_close(&dead);
	talk_close(&waits);
	talk_close(&next);
	bed_stop(&b);
}

/* ---- cancel ------------------------------------------------------------ */

static json_t *
cancel(struct bed *b, const char *turn_id, const char *user)
{
	char subject[128], body[256];
	natsMsg *m = NULL;

	snprintf(subject, sizeof(subject), "soul.rpc.turn.cancel.%s", turn_id);
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
want_canceled(struct bed *b, struct talk *t)
{
	json_t *j = cancel(b, t->turn_id, "u1");

	ck_assert_ptr_nonnull(j);
	ck_assert(json_is_true(json_object_get(j, "canceled")));
	json_decref(j);
	ck_assert_str_eq(text_at(talk_end(t), "state"), "canceled");
	/* It is gone: nobody answers for it any more. */
	ck_assert_ptr_null(cancel(b, t->turn_id, "u1"));
}

TEST_T(cancel_in_every_phase, 90)
{
	struct bed b;
	struct talk first, t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	peers_set(&b.peers, ready, true);

	/* Thinking, with another one waiting. */
	model_will_say_late(&b.model, "慢", NULL, 15000);
	talk_start(&first, &b, "一");
	while (model_asked(&b.model) < 1)
		talk_next(&first, 20);
	talk_start(&t, &b, "二");
	accept_turn(&t);
	want_canceled(&b, &t);
	talk_close(&t);
	want_canceled(&b, &first);
	talk_close(&first);

	/* Invoking: what was sent is kept as not confirmed. */
	model_will_say(&b.model, NULL, "[[\"nod\",\"{}\"]]");
	peers_set(&b.peers, body, BODY_MUTE);
	talk_start(&t, &b, "三");
	while (peers_invokes(&b.peers) < 1)
		talk_next(&t, 20);
	want_canceled(&b, &t);
	talk_close(&t);
	json_t *m = bed_messages(&b, "s1", 1);
	ck_assert_str_eq(text_at(json_array_get(m, 0), "role"), "tool");
	ck_assert_ptr_nonnull(
	    strstr(text_at(json_array_get(m, 0), "content"), "not confirmed"));
	json_decref(m);

	/* Sensing. */
	peers_set(&b.peers, exec_mode, NULL);
	talk_start(&t, &b, "四");
	while (peers_count(&b.peers, "observe") < 3)
		talk_next(&t, 20);
	want_canceled(&b, &t);
	talk_close(&t);
	peers_set(&b.peers, exec_mode, "auto_execute");

	/* The session goes on. */
	model_will_say(&b.model, "好", NULL);
	talk_start(&t, &b, "五");
	talk_want(&t, .reply = "好", .executed = "", .failed = "");
	talk_close(&t);
	bed_stop(&b);
}

TEST_T(nobody_cancels_anothers_turn, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say_late(&b.model, "好", NULL, 700);
	talk_start(&t, &b, "一");
	accept_turn(&t);
	json_t *j = cancel(&b, t.turn_id, "u2");
	ck_assert_str_eq(text_at(j, "code"), "not_found");
	json_decref(j);
	ck_assert_ptr_null(cancel(&b, "turn_none", "u1"));
	talk_want(&t, .reply = "好", .executed = "", .failed = "");
	talk_close(&t);
	bed_stop(&b);
}
