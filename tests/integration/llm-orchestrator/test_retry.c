/*
 * Repeated requests.
 */
#include "testkit/orch_fixture.h"

#define NAMED(id, text)                                                 \
	(&(struct orch_turn_opts){                                      \
	    .inputs = "[{\"type\":\"keyboard_text\",\"input_id\":\"" id \
		      "\",\"text\":\"" text "\"}]" })

static void
want_repeated(struct orch_turn *t, const char *first)
{
	json_t *j = orch_turn_end(t);

	ck_assert_str_eq(orch_text(j, "state"), "repeated");
	ck_assert_str_eq(orch_text(j, "first"), first);
	ck_assert(!t->accepted);
	orch_turn_close(t);
}

TEST_T(a_repeated_request_names_the_first_turn, 60)
{
	struct orch_fixture b;
	struct orch_turn first, second;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_hold(&b.model, true);
	orch_model_reply_after(&b.model, "好", NULL, 600);
	orch_turn_start_with(&first, &b, "", NAMED("i1", "你好"));
	while (orch_model_requests(&b.model) < 1)
		orch_turn_next(&first, 20);
	orch_turn_start_with(&second, &b, "", NAMED("i1", "你好"));
	want_repeated(&second, first.turn_id);
	ck_assert_ptr_null(first.end);
	orch_ck_completed(&first, .reply = "好", .executed = "", .failed = "");
	orch_turn_start_with(&second, &b, "", NAMED("i1", "你好"));
	want_repeated(&second, first.turn_id);
	ck_assert_uint_eq(orch_model_requests(&b.model), 1);

	/* Another id, another session, no id: another turn. */
	for (int i = 0; i < 3; i++)
		orch_model_reply(&b.model, "又", NULL);
	orch_turn_start_with(&second, &b, "", NAMED("i2", "你好"));
	orch_ck_completed(&second, .reply = "又", .executed = "", .failed = "");
	orch_turn_close(&second);
	for (int i = 0; i < 2; i++) {
		orch_turn_start(&second, &b, "你好");
		orch_ck_completed(
		    &second, .reply = "又", .executed = "", .failed = "");
		orch_turn_close(&second);
	}
	json_decref(orch_events(&b));
	orch_turn_close(&first);
	orch_fixture_stop(&b);
}

/* A turn without effect may be repeated, one with an effect may not. */
TEST_T(a_failed_request_may_be_repeated, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	orch_model_fail(&b.model, 401);
	orch_model_reply(&b.model, "好", NULL);
	orch_turn_start_with(&t, &b, "", NAMED("i1", "你好"));
	orch_ck_failed(&t, 502, "llm_unavailable");
	orch_turn_close(&t);
	orch_turn_start_with(&t, &b, "", NAMED("i1", "你好"));
	orch_ck_completed(&t, .reply = "好", .executed = "", .failed = "");
	orch_turn_close(&t);

	/* Canceled after an invoke. */
	orch_peers_set(&b.peers, body, BODY_MUTE);
	orch_model_reply(&b.model, NULL, "[[\"nod\",\"{}\"]]");
	struct orch_turn first;
	orch_turn_start_with(&first, &b, "", NAMED("i3", "点头"));
	while (orch_peers_invokes(&b.peers) < 1)
		orch_turn_next(&first, 20);
	json_decref(orch_turn_query(&b, "cancel", first.turn_id));
	ck_assert_str_eq(orch_text(orch_turn_end(&first), "state"), "canceled");
	orch_turn_start_with(&t, &b, "", NAMED("i3", "点头"));
	want_repeated(&t, first.turn_id);
	orch_turn_close(&first);
	orch_fixture_stop(&b);
}
