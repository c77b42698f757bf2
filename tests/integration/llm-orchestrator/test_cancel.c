/*
 * Cancel, in each phase: what is under way stops, and the end is told and kept.
 */
#include "story.h"

struct scene {
	struct bed b;
	struct talk t;
};

/* Cancel the turn; its end is told, kept, and the last thing said. */
static void
want_canceled(struct scene *s, const char *types, int line)
{
	char got[256];

	json_t *j = story_ask(&s->b, "cancel", s->t.turn_id);
	ck_assert_msg(json_is_true(json_object_get(j, "canceled")),
	    "line %d: not canceled", line);
	json_decref(j);
	ck_assert_str_eq(text_at(talk_end(&s->t), "state"), "canceled");
	json_t *story = story_of(&s->b);
	story_types(story, s->t.turn_id, got, sizeof(got));
	ck_assert_msg(strcmp(got, types) == 0, "line %d: %s", line, got);
	json_t *e = story_event(story, s->t.turn_id, "failed", 0);
	ck_assert_str_eq(text_at(e, "data.error.code"), "CANCELED");
	json_decref(story);
	struct turn_record rec = story_record(&s->b, s->t.turn_id);
	ck_assert_int_eq(rec.state, TURN_STATE_ENDED);
	j = json_loadb(rec.reply.p, rec.reply.n, 0, NULL);
	ck_assert_str_eq(text_at(j, "state"), "canceled");
	json_decref(j);
	ck_assert_uint_gt(rec.timeline.n, 2);
	talk_close(&s->t);
}
#define canceled(s, types) want_canceled((s), (types), __LINE__)

static void
begin(struct scene *s)
{
	bed_start(&s->b, 1);
	bed_no_catalog(&s->b);
	peers_set(&s->b.peers, ready, true);
}

static void
start(struct scene *s)
{
	talk_start_with(
	    &s->t, &s->b, "嗯", &(struct talk_opts){ .stream = true });
}

/* The session is free, and nothing of the canceled turn comes any more. */
static void
end(struct scene *s)
{
	model_hold(&s->b.model, false);
	model_will_say(&s->b.model, "好", NULL);
	start(s);
	talk_want(&s->t, .reply = "好", .executed = "", .failed = "");
	json_decref(story_of(&s->b));
	talk_close(&s->t);
	bed_stop(&s->b);
}

TEST_T(thinking_and_waiting, 60)
{
	struct scene s;
	struct talk first;

	begin(&s);
	model_hold(&s.b.model, true);
	model_will_stream(&s.b.model, "很|久", NULL, 1);
	start(&s);
	while (model_asked(&s.b.model) < 1)
		talk_next(&s.t, 20);
	first = s.t;
	start(&s);
	while (!s.t.accepted)
		ck_assert(talk_next(&s.t, BED_MS));
	canceled(&s, "failed");
	s.t = first;
	json_t *e = NULL;
	while (e == NULL) {
		json_t *story = story_of(&s.b);
		e = story_event(story, s.t.turn_id, "delta", 0);
		json_decref(story);
	}
	canceled(&s, "started delta failed");
	end(&s);
}

TEST_T(sensing, 60)
{
	struct scene s;

	begin(&s);
	peers_set(&s.b.peers, exec_mode, NULL);
	start(&s);
	while (peers_count(&s.b.peers, "observe") < 1)
		talk_next(&s.t, 20);
	canceled(&s, "started failed");
	peers_set(&s.b.peers, exec_mode, "auto_execute");
	end(&s);
}

TEST_T(invoking, 60)
{
	struct scene s;

	begin(&s);
	peers_set(&s.b.peers, body, BODY_MUTE);
	model_will_stream(&s.b.model, "已经点头", "[[\"nod\",\"{}\"]]", 1);
	start(&s);
	while (peers_invokes(&s.b.peers) < 1)
		talk_next(&s.t, 20);
	canceled(&s, "started failed");
	/* What was sent is kept as what it is. */
	json_t *m = bed_messages(&s.b, "s1", 1);
	ck_assert_ptr_nonnull(
	    strstr(text_at(json_array_get(m, 0), "content"), "not confirmed"));
	json_decref(m);
	peers_set(&s.b.peers, body, BODY_OK);
	end(&s);
}

TEST_T(acting, 60)
{
	struct scene s;

	bed_start(&s.b, 1);
	peers_set(&s.b.peers, filter, DECIDES("execute_intents", GREEN, ""));
	peers_set(&s.b.peers, delivery, NULL);
	start(&s);
	while (peers_count(&s.b.peers, "intent_action") < 1)
		talk_next(&s.t, 20);
	canceled(&s, "started failed");
	peers_set(&s.b.peers, delivery, "delivered");
	peers_set(&s.b.peers, filter, FALLBACK);
	end(&s);
}

TEST_T(recalling, 60)
{
	struct scene s;

	begin(&s);
	model_hold(&s.b.model, true);
	model_will_stream(&s.b.model, "嗯",
	    "[[\"recall_memory\",\"{\\\"query\\\":\\\"x\\\"}\"]]", 1);
	start(&s);
	while (model_asked(&s.b.model) < 1)
		talk_next(&s.t, 20);
	peers_set(&s.b.peers, memory_hangs, true);
	model_hold(&s.b.model, false);
	while (peers_count(&s.b.peers, "status:mem0_searching") < 1)
		talk_next(&s.t, 20);
	canceled(&s, "started delta failed");
	peers_set(&s.b.peers, memory_hangs, false);
	end(&s);
}

/* While Redis is away: the end is written when it is back. */
TEST_T(without_redis, 90)
{
	struct scene s;
	char got[256] = "";

	begin(&s);
	model_hold(&s.b.model, true);
	model_will_stream(&s.b.model, "很|久", NULL, 1);
	start(&s);
	while (model_asked(&s.b.model) < 1)
		talk_next(&s.t, 20);
	tk_server_stop(&s.b.redis, SIGKILL);
	json_decref(story_ask(&s.b, "cancel", s.t.turn_id));
	ck_assert_str_eq(text_at(talk_end(&s.t), "state"), "canceled");
	tk_server_restart(&s.b.redis);
	bed_state_wait(&s.b);
	struct mono by = mono_add_ms(clock_mono(), BED_MS);
	while (strstr(got, "failed") == NULL) {
		json_t *story = story_of(&s.b);
		story_types(story, s.t.turn_id, got, sizeof(got));
		json_decref(story);
		ck_assert_int_gt(mono_diff_ms(by, clock_mono()), 0);
		(void)model_pause(&s.b.model, 20);
	}
	struct turn_record rec = story_record(&s.b, s.t.turn_id);
	ck_assert_int_eq(rec.state, TURN_STATE_ENDED);
	talk_close(&s.t);
	end(&s);
}
