/*
 * A turn that carries the body's record: slot, input and fence in one step,
 * and what that must not change.
 */
#include "core/mem.h"
#include "state/keys.h"
#include "state/turn.h"
#include "testkit/orch_fixture.h"
#include "testkit/service.h"

static void
begin_start(struct orch_fixture *b)
{
	orch_fixture_start(b, 1);
	orch_peers_set(&b->peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
}

/* With and without the record in the request. */
TEST_T(a_turn_is_the_same_either_way, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	char types[256];

	begin_start(&b);
	for (int unread = 0; unread < 2; unread++) {
		orch_turn_start_with(&t, &b, "把灯变绿",
		    &(struct orch_turn_opts){ .unread = unread });
		orch_ck_completed(&t, .reply = "好的，控制灯已执行。",
		    .executed = "control_light", .failed = "");
		ck_assert_int_eq(t.accepted, unread);
		json_t *events = orch_events(&b);
		ck_assert_str_eq(
		    orch_event_types(events, t.turn_id, types, sizeof(types)),
		    "started final completed");
		json_decref(events);
		orch_turn_close(&t);
	}
	json_t *m = orch_fixture_messages(&b, "s1", 10);
	ck_assert_uint_eq(json_array_size(m), 8);
	json_decref(m);
	orch_fixture_stop(&b);
}

/* Nothing but the question for intents, which has no effect, was sent. */
static void
ck_no_effect(struct orch_fixture *b)
{
	char log[1024];

	ck_assert_msg(orch_peers_count(&b->peers, "observe") == 0 &&
		orch_peers_count(&b->peers, "intent_action") == 0,
	    "%s", orch_peers_log(&b->peers, log, sizeof(log)));
}

TEST_T(a_turn_that_does_not_begin_has_no_effect, 90)
{
	struct orch_fixture b;
	struct orch_turn first, waiting[TURN_QUEUE_MAX], t;
	static const struct orch_turn_opts broken = { .session = "broken" },
					   streamed = { .stream = true };

	begin_start(&b);
	/* Redis rejects its script. */
	ck_assert_int_eq(
	    state_cmd(b.state,
		STATE_ARGS(STR("SET"), STR("soul:session:{b0478}:u1:broken"),
		    STR("of another type")),
		NULL),
	    RC_OK);
	orch_turn_start_with(&t, &b, "把灯变绿", &broken);
	orch_ck_failed(&t, 500, "internal");
	orch_turn_close(&t);
	ck_no_effect(&b);
	/* Its queue is full. */
	orch_model_hold(&b.model, true);
	orch_model_stream(&b.model, "很|好", NULL, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_turn_start_with(&first, &b, "你好", &streamed);
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&first, 20);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	orch_peers_clear(&b.peers);
	for (int i = 0; i < TURN_QUEUE_MAX; i++) {
		orch_turn_start(&waiting[i], &b, "把灯变绿");
		orch_turn_wait_entered(&waiting[i]);
	}
	orch_turn_start(&t, &b, "把灯变绿");
	orch_ck_failed(&t, 429, "overloaded");
	orch_turn_close(&t);
	ck_no_effect(&b);
	/* Those that waited run, each once, with what is true by then. */
	orch_fixture_set_online(&b, false);
	for (int i = 0; i < TURN_QUEUE_MAX; i++)
		orch_model_reply(&b.model, "不在", NULL);
	orch_model_hold(&b.model, false);
	orch_ck_completed(
	    &first, .reply = "很好", .executed = "", .failed = "");
	for (int i = 0; i < TURN_QUEUE_MAX; i++) {
		ck_assert_str_eq(orch_text(orch_turn_end(&waiting[i]), "state"),
		    "completed");
		orch_turn_close(&waiting[i]);
	}
	ck_assert_uint_eq(
	    orch_peers_count(&b.peers, "observe"), TURN_QUEUE_MAX);
	ck_assert_uint_eq(orch_peers_count(&b.peers, "intent_action"), 0);
	orch_turn_close(&first);
	orch_fixture_stop(&b);
}

/* With and without the record in the request, which may be outdated. */
TEST_T(a_turn_whose_soul_was_deleted_has_no_effect, 60)
{
	const struct str ids[] = { STR("u1"), STR("soul_1") };
	char text[STATE_KEY_MAX];
	struct orch_fixture b;
	struct orch_turn t;
	struct str key;

	begin_start(&b);
	/* The body is still bound to it. */
	ck_assert_int_eq(
	    state_key(text, KEY_SOUL, ids, NELEM(ids), &key), RC_OK);
	ck_assert_int_eq(
	    state_cmd(b.state, STATE_ARGS(STR("DEL"), key), NULL), RC_OK);
	for (int unread = 0; unread < 2; unread++) {
		orch_turn_start_with(&t, &b, "把灯变绿",
		    &(struct orch_turn_opts){ .unread = unread });
		orch_ck_failed(&t, 400, "invalid_request");
		orch_turn_close(&t);
		ck_no_effect(&b);
	}
	json_t *m = orch_fixture_messages(&b, "s1", 10);
	ck_assert_uint_eq(json_array_size(m), 0);
	json_decref(m);
	orch_fixture_stop(&b);
}

/* The record says "a body may act" only while that can be. */
TEST_T(a_turn_without_action_does_not_count_as_acting, 60)
{
	struct turn_abandoned was;
	struct orch_fixture b;
	struct orch_turn t;

	begin_start(&b);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_hold(&b.model, true);
	orch_model_stream(&b.model, "很|好", NULL, 1);
	orch_turn_start_with(
	    &t, &b, "你好", &(struct orch_turn_opts){ .stream = true });
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&t, 20);
	const struct turn_slot slot = { { STR("u1"), STR("s1") }, STR("test"),
		str_of(t.turn_id) };
	const struct turn_abandoning end = { .reply = STR("{}"),
		.acted = STR("{}") };
	ck_assert_int_eq(
	    turn_abandon(b.state, &slot, &end, b.arena, &was), RC_OK);
	ck_assert(!was.acting);
	orch_model_hold(&b.model, false);
	ck_assert_str_eq(orch_text(orch_turn_end(&t), "state"), "failed");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* ---- the soul is saved beside the turn ---- */

static long long
begin_unsaved(struct orch_fixture *b)
{
	struct tk_service s = { .admin = b->orch[0].admin };

	return tk_service_metric(&s, "soul_turn_emotion_unsaved_total");
}

static bool
begin_has_ended(void *arg)
{
	struct orch_turn *t = arg;

	return orch_turn_stored(t->b, t->turn_id).state == TURN_STATE_ENDED;
}

TEST_T(a_reply_waits_until_the_soul_is_saved, 60)
{
	static const struct {
		const char *error;
		long long unsaved;
	} cases[] = { { NULL, 0 }, { "unavailable", 1 } };
	struct orch_fixture b;
	struct orch_turn t;

	begin_start(&b);
	orch_peers_set(&b.peers, save_later, true);
	for (size_t i = 0; i < NELEM(cases); i++) {
		orch_turn_start(&t, &b, "把灯变绿");
		orch_turn_wait_entered(&t);
		/* It has acted and is stored, but has not replied. */
		ck_assert(tk_until(begin_has_ended, &t, ORCH_WAIT_MS));
		json_t *j = orch_turn_query(&b, "cancel", t.turn_id);
		ck_assert(json_is_false(json_object_get(j, "canceled")));
		json_decref(j);
		ck_assert_ptr_null(t.end);
		ck_assert_uint_eq(
		    orch_peers_count(&b.peers, "intent_action"), i + 1);
		orch_peers_save(&b.peers, cases[i].error);
		orch_ck_completed(
		    &t, .executed = "control_light", .failed = "");
		ck_assert_int_eq(begin_unsaved(&b), cases[i].unsaved);
		orch_turn_close(&t);
	}
	orch_fixture_stop(&b);
}

static bool
begin_was_observed(void *arg)
{
	struct orch_fixture *b = arg;

	return orch_peers_count(&b->peers, "observe") == 1;
}

/* emotion-engine sends no second reply then. */
TEST_T(the_record_has_the_save_of_the_soul, 60)
{
	struct str ids[2] = { STR_INIT("u1") }, key;
	char text[STATE_KEY_MAX];
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_peers_set(&b.peers, save_later, true);
	orch_model_reply_after(&b.model, "你好", NULL, 500);
	orch_turn_start(&t, &b, "你好");
	orch_turn_wait_entered(&t);
	ck_assert(tk_until(begin_was_observed, &b, ORCH_WAIT_MS));
	ids[1] = str_of(t.turn_id);
	ck_assert_int_eq(
	    state_key(text, KEY_TURN, ids, NELEM(ids), &key), RC_OK);
	ck_assert_int_eq(
	    state_cmd(b.state,
		STATE_ARGS(STR("HSET"), key, STR("saved"), STR("1")), NULL),
	    RC_OK);
	orch_ck_completed(&t, .reply = "你好", .executed = "", .failed = "");
	ck_assert_int_eq(begin_unsaved(&b), 0);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* At the deadline, what was done is replied. */
TEST_T(a_save_without_an_end_does_not_fail_the_turn, 60)
{
	static const struct orch_turn_opts brief = { .deadline_ms = 2500 };
	struct orch_fixture b;
	struct orch_turn t;

	begin_start(&b);
	orch_peers_set(&b.peers, save_later, true);
	orch_turn_start_with(&t, &b, "把灯变绿", &brief);
	orch_ck_completed(&t, .executed = "control_light", .failed = "");
	ck_assert_int_eq(begin_unsaved(&b), 1);
	ck_assert(tk_log_has(&b.orch[0].proc, "turn.soul_not_saved"));
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}
