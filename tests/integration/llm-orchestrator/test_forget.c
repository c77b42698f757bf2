/*
 * Memories: forgetting them, what is asked for, what is told and kept of it.
 */
#include "story.h"

#define FORGET(query) \
	"[[\"forget_memory\",\"{\\\"query\\\":\\\"" query "\\\"}\"]]"
#define GONE                                        \
	"{\"forgotten\":1,\"memory_ids\":[\"m1\"]," \
	"\"texts\":[\"用户喜欢乌龙茶\"]}"
#define NOTHING "{\"forgotten\":0,\"memory_ids\":[]}"
#define NAMED(id)                                                              \
	(&(struct talk_opts){ .inputs =                                        \
				  "[{\"type\":\"keyboard_text\",\"input_id\":" \
				  "\"" id "\",\"text\":\"忘掉它\"}]" })

static void
begin(struct bed *b, const char *answer)
{
	bed_start(b, 1);
	peers_set(&b->peers, filter, FALLBACK);
	peers_set(&b->peers, ready, true);
	peers_set(&b->peers, forget, answer);
}

/* The result of the forgetting, as the session keeps it. */
static void
want_kept(struct bed *b, const char *want)
{
	json_t *m = bed_messages(b, "s1", 2);
	json_t *tool = json_array_get(m, 0);

	ck_assert_str_eq(text_at(tool, "role"), "tool");
	ck_assert_str_eq(text_at(tool, "name"), "forget_memory");
	ck_assert_str_eq(text_at(tool, "content"), want);
	json_decref(m);
}

/* A warning of the turn, or "". */
static void
want_warning(struct talk *t, const char *code)
{
	json_t *story = story_of(t->b);
	json_t *e = story_event(story, t->turn_id, "warning", 0);

	ck_assert_str_eq(e != NULL ? text_at(e, "data.code") : "", code);
	json_decref(story);
}

static void
want_stage(struct talk *t, const char *outcome)
{
	struct turn_record rec = story_record(t->b, t->turn_id);
	json_t *s, *list = json_loadb(rec.timeline.p, rec.timeline.n, 0, NULL);
	size_t i, n = 0;

	json_array_foreach (list, i, s) {
		if (strcmp(text_at(s, "stage"), "forget") != 0)
			continue;
		ck_assert_str_eq(text_at(s, "outcome"), outcome);
		n++;
	}
	ck_assert_uint_eq(n, 1);
	json_decref(list);
}

TEST_T(a_memory_is_forgotten, 60)
{
	struct bed b;
	struct talk t;
	char text[1024];

	begin(&b, GONE);
	/* The body has nothing to do with it: not even the gate. */
	peers_set(&b.peers, exec_mode, "blocked");
	model_will_say(&b.model, "已经忘掉了。", FORGET("我喜欢乌龙茶"));
	model_will_say(&b.model, "你喜欢乌龙茶的事，我忘了。", NULL);
	talk_start(&t, &b, "忘掉这个");
	talk_want(&t, .reply = "你喜欢乌龙茶的事，我忘了。",
	    .executed = "forget_memory", .failed = "");
	/* One memory, of this user and soul, and no more; where it was said. */
	json_t *want = json_pack("{s:s,s:s,s:s,s:s,s:s}", "user_id", "u1",
	    "soul_id", "soul_1", "query", "我喜欢乌龙茶", "session_id", "s1",
	    "terminal_id", "t1");
	json_t *got = peers_last(&b.peers, forget);
	ck_assert_msg(
	    json_equal(got, want), "%s", json_dumps(got, JSON_COMPACT));
	json_decref(want);
	ck_assert_ptr_null(
	    strstr(peers_diary(&b.peers, text, sizeof(text)), "status"));
	ck_assert_str_eq(
	    model_tools(model_request(&b.model, 0), text, sizeof(text)),
	    "control_light,nod,recall_memory,forget_memory");
	ck_assert_ptr_nonnull(
	    strstr(model_text(model_request(&b.model, 0), 0), "forget_memory"));
	json_t *q = model_request(&b.model, 1);
	ck_assert_str_eq(model_text(q, -1),
	    "{\"query\":\"我喜欢乌龙茶\","
	    "\"forgotten\":[\"用户喜欢乌龙茶\"]}");
	want_kept(&b, model_text(q, -1));
	want_warning(&t, "");
	want_stage(&t, "ok");
	talk_close(&t);
	bed_stop(&b);
}

/* The model says nothing of it, or cannot: the table does. */
TEST_T(what_is_gone_is_told, 60)
{
	struct bed b;
	struct talk t;

	begin(&b, GONE);
	model_will_say(&b.model, NULL, FORGET("乌龙茶"));
	model_will_fail(&b.model, 401);
	talk_start(&t, &b, "忘掉这个");
	talk_want(&t, .reply = "已经忘掉：「用户喜欢乌龙茶」。",
	    .executed = "forget_memory", .failed = "");
	talk_close(&t);
	bed_stop(&b);
}

/* Whatever the model claims, before it knows and after. */
TEST_T(nothing_fits, 60)
{
	static const char said[] =
	    "已经忘掉了。\n没有找到和要忘掉的事相符的记忆。";
	struct bed b;
	struct talk t;

	begin(&b, NOTHING);
	model_will_say(&b.model, "已经忘掉了。", FORGET("我喜欢乌龙茶"));
	model_will_say(&b.model, "已经忘掉了。", NULL);
	talk_start_with(
	    &t, &b, "忘掉这个", &(struct talk_opts){ .stream = true });
	talk_want(&t, .reply = said, .executed = "", .failed = "forget_memory",
	    .errors = "nothing fits");
	want_kept(&b, "{\"query\":\"我喜欢乌龙茶\",\"forgotten\":[]}");
	want_warning(&t, "");
	want_stage(&t, "nothing_fits");
	talk_close(&t);
	bed_stop(&b);
}

/* Nobody knows whether it was done; the model may only speak of it. */
TEST_T(an_error_is_not_confirmed, 60)
{
	static const char *const answers[] = { NULL, "{\"forgotten\":\"x\"}",
		/* Something is gone, and nobody can say what. */
		"{\"forgotten\":1,\"memory_ids\":[\"m1\"]}" };
	struct bed b;
	struct talk t;

	begin(&b, NULL);
	for (size_t i = 0; i < NELEM(answers); i++) {
		peers_set(&b.peers, forget, answers[i]);
		model_will_say(&b.model, NULL, FORGET("乌龙茶"));
		model_will_say(&b.model, "好。", NULL);
		talk_start(&t, &b, "忘掉这个");
		talk_want(&t,
		    .reply = "好。\n要忘掉的事没有得到确认，"
			     "可能忘掉了，也可能没有。",
		    .executed = "", .failed = "forget_memory",
		    .errors = "not confirmed");
		ck_assert_str_eq(
		    text_at(model_request(&b.model, 2 * i + 1), "tool_choice"),
		    "none");
		want_kept(&b,
		    "{\"query\":\"乌龙茶\",\"ok\":false,\"error\":"
		    "\"not confirmed\",\"advice\":\"it was sent, but not "
		    "confirmed; it is not known whether it was done\"}");
		want_warning(&t, "MEMORY_FORGET_FAILED");
		want_stage(&t, "not_confirmed");
		talk_close(&t);
		ck_assert_uint_eq(peers_count(&b.peers, "forget"), i + 1);
	}
	bed_stop(&b);
}

TEST_T(no_answer_is_not_confirmed, 60)
{
	struct bed b;
	struct talk t;

	begin(&b, NULL);
	peers_set(&b.peers, forget_mute, true);
	model_will_say(&b.model, NULL, FORGET("乌龙茶"));
	talk_start_with(
	    &t, &b, "忘掉这个", &(struct talk_opts){ .deadline_ms = 2000 });
	talk_want(&t,
	    .reply = "要忘掉的事没有得到确认，可能忘掉了，也可能没有。",
	    .executed = "", .failed = "forget_memory",
	    .errors = "not confirmed");
	ck_assert_uint_eq(peers_count(&b.peers, "forget"), 1);
	talk_close(&t);
	bed_stop(&b);
}

/* Memory is gone since it was ready: nothing was forgotten. */
TEST_T(nobody_is_asked, 60)
{
	struct bed b;
	struct talk t;

	begin(&b, GONE);
	model_hold(&b.model, true);
	model_will_stream(&b.model, "嗯", FORGET("乌龙茶"), 1);
	model_will_stream(&b.model, "好。", NULL, 1);
	talk_start_with(
	    &t, &b, "忘掉这个", &(struct talk_opts){ .stream = true });
	while (model_asked(&b.model) < 1)
		talk_next(&t, 20);
	natsSubscription_Destroy(b.peers.subs[2]);
	b.peers.subs[2] = b.peers.subs[--b.peers.n_subs];
	natsConnection_Flush(b.peers.nc);
	model_hold(&b.model, false);
	talk_want(&t, .reply = "好。\n要忘掉的事我这次没能忘掉。",
	    .executed = "", .failed = "forget_memory",
	    .errors = "the memory cannot be reached; nothing was forgotten");
	talk_close(&t);
	bed_stop(&b);
}

/* Without words for it there is nothing to forget, least of all everything. */
TEST_T(what_is_not_said_is_not_forgotten, 60)
{
	static const char *const calls[] = {
		"[[\"forget_memory\",\"{}\"]]",
		FORGET(""),
		FORGET(" \\\\t\\\\n "),
		"[[\"forget_memory\",\"{\\\"query\\\":null}\"]]",
		"[[\"forget_memory\",\"{\\\"memory_id\\\":\\\"m1\\\"}\"]]",
		"[[\"forget_memory\",\"{\\\"query\\\":[]}\"]]",
		"[[\"forget_memory\",\"[]\"]]",
		"[[\"forget_memory\",\"nonsense\"]]",
	};
	struct bed b;
	struct talk t;

	begin(&b, GONE);
	for (size_t i = 0; i < NELEM(calls); i++) {
		model_will_say(&b.model, "已经忘掉了。", calls[i]);
		model_will_say(&b.model, "忘掉什么？", NULL);
		talk_start(&t, &b, "忘掉这个");
		talk_want(&t,
		    .reply = "忘掉什么？\n"
			     "忘掉记忆的要求我没弄明白，没有执行。",
		    .executed = "", .failed = "forget_memory");
		json_t *j = at(talk_end(&t), "response.failed_skills");
		ck_assert_ptr_nonnull(
		    strstr(text_at(json_array_get(j, 0), "error"),
			"invalid arguments"));
		talk_close(&t);
	}
	ck_assert_uint_eq(peers_count(&b.peers, "forget"), 0);
	bed_stop(&b);
}

/* After a search it is still on offer. */
TEST_T(searched_then_forgotten, 60)
{
	struct bed b;
	struct talk t;
	char text[1024];

	begin(&b, GONE);
	peers_set(&b.peers, recall, "{\"items\":[]}");
	model_will_say(&b.model, NULL,
	    "[[\"recall_memory\",\"{\\\"query\\\":\\\"茶\\\"}\"],"
	    "[\"forget_memory\",\"{\\\"query\\\":\\\"茶\\\"}\"]]");
	model_will_say(&b.model, NULL, FORGET("我喜欢乌龙茶"));
	model_will_say(&b.model, "好了。", NULL);
	talk_start(&t, &b, "忘掉我喜欢的茶");
	talk_want(&t, .reply = "好了。",
	    .executed = "recall_memory,forget_memory", .failed = "");
	ck_assert_str_eq(
	    strstr(peers_diary(&b.peers, text, sizeof(text)), "status"),
	    "status:mem0_searching recall:茶 status:mem0_search_done "
	    "forget:我喜欢乌龙茶");
	talk_close(&t);
	bed_stop(&b);
}

static void
want_canceled(struct bed *b, struct talk *t)
{
	json_decref(story_ask(b, "cancel", t->turn_id));
	ck_assert_str_eq(text_at(talk_end(t), "state"), "canceled");
}

/* A turn that may have forgotten something is not run again. */
TEST_T(canceled_and_repeated, 60)
{
	struct bed b;
	struct talk first, again;

	begin(&b, NULL);
	peers_set(&b.peers, forget_mute, true);
	model_will_say(&b.model, NULL, FORGET("乌龙茶"));
	talk_start_with(&first, &b, "", NAMED("i1"));
	while (peers_count(&b.peers, "forget") < 1)
		talk_next(&first, 20);
	want_canceled(&b, &first);
	json_t *m = bed_messages(&b, "s1", 1);
	ck_assert_ptr_nonnull(
	    strstr(text_at(json_array_get(m, 0), "content"), "not confirmed"));
	json_decref(m);
	talk_start_with(&again, &b, "", NAMED("i1"));
	ck_assert_str_eq(text_at(talk_end(&again), "state"), "repeated");
	ck_assert_str_eq(text_at(talk_end(&again), "first"), first.turn_id);
	talk_close(&again);
	talk_close(&first);
	ck_assert_uint_eq(peers_count(&b.peers, "forget"), 1);

	/* One that found nothing may be. */
	peers_set(&b.peers, forget_mute, false);
	peers_set(&b.peers, forget, NOTHING);
	model_will_say(&b.model, NULL, FORGET("乌龙茶"));
	model_will_say_late(&b.model, "没有", NULL, BED_MS);
	talk_start_with(&first, &b, "", NAMED("i2"));
	while (model_asked(&b.model) < 3)
		talk_next(&first, 20);
	want_canceled(&b, &first);
	talk_close(&first);
	model_will_say(&b.model, "没有这件事。", NULL);
	talk_start_with(&again, &b, "", NAMED("i2"));
	talk_want(
	    &again, .reply = "没有这件事。", .executed = "", .failed = "");
	talk_close(&again);
	bed_stop(&b);
}
