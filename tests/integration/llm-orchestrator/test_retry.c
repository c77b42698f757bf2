/*
 * The same request twice.
 */
#include "story.h"

#define NAMED(id, text)                                                 \
	(&(struct talk_opts){                                           \
	    .inputs = "[{\"type\":\"keyboard_text\",\"input_id\":\"" id \
		      "\",\"text\":\"" text "\"}]" })

static void
want_repeated(struct talk *t, const char *first)
{
	json_t *j = talk_end(t);

	ck_assert_str_eq(text_at(j, "state"), "repeated");
	ck_assert_str_eq(text_at(j, "first"), first);
	ck_assert(!t->accepted);
	talk_close(t);
}

TEST_T(while_it_runs_and_after, 60)
{
	struct bed b;
	struct talk first, again;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_hold(&b.model, true);
	model_will_say_late(&b.model, "好", NULL, 600);
	talk_start_with(&first, &b, "", NAMED("i1", "你好"));
	while (model_asked(&b.model) < 1)
		talk_next(&first, 20);
	talk_start_with(&again, &b, "", NAMED("i1", "你好"));
	want_repeated(&again, first.turn_id);
	ck_assert_ptr_null(first.end);
	talk_want(&first, .reply = "好", .executed = "", .failed = "");
	talk_start_with(&again, &b, "", NAMED("i1", "你好"));
	want_repeated(&again, first.turn_id);
	ck_assert_uint_eq(model_asked(&b.model), 1);

	/* Another id, another session, no id: another turn. */
	for (int i = 0; i < 3; i++)
		model_will_say(&b.model, "又", NULL);
	talk_start_with(&again, &b, "", NAMED("i2", "你好"));
	talk_want(&again, .reply = "又", .executed = "", .failed = "");
	talk_close(&again);
	for (int i = 0; i < 2; i++) {
		talk_start(&again, &b, "你好");
		talk_want(&again, .reply = "又", .executed = "", .failed = "");
		talk_close(&again);
	}
	json_decref(story_of(&b));
	talk_close(&first);
	bed_stop(&b);
}

/* What came to nothing may be tried anew; what did something may not. */
TEST_T(after_a_failure, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_fail(&b.model, 401);
	model_will_say(&b.model, "好", NULL);
	talk_start_with(&t, &b, "", NAMED("i1", "你好"));
	talk_want_fault(&t, 502, "llm_unavailable");
	talk_close(&t);
	talk_start_with(&t, &b, "", NAMED("i1", "你好"));
	talk_want(&t, .reply = "好", .executed = "", .failed = "");
	talk_close(&t);

	/* Canceled after the body was asked. */
	peers_set(&b.peers, body, BODY_MUTE);
	model_will_say(&b.model, NULL, "[[\"nod\",\"{}\"]]");
	struct talk first;
	talk_start_with(&first, &b, "", NAMED("i3", "点头"));
	while (peers_invokes(&b.peers) < 1)
		talk_next(&first, 20);
	json_decref(story_ask(&b, "cancel", first.turn_id));
	ck_assert_str_eq(text_at(talk_end(&first), "state"), "canceled");
	talk_start_with(&t, &b, "", NAMED("i3", "点头"));
	want_repeated(&t, first.turn_id);
	talk_close(&first);
	bed_stop(&b);
}
