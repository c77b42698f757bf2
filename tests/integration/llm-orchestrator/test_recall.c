/*
 * Memories: the search, what the body is told of it, the second thought.
 */
#include "talk.h"

#define RECALL                                                          \
	"[[\"recall_memory\",\"{\\\"query\\\":\\\"喜欢的颜色\\\"," \
	"\\\"top_k\\\":\\\"3\\\"}\"]]"
#define FOUND                                                          \
	"{\"items\":[{\"memory_id\":\"m1\",\"text\":\"喜欢绿色\"," \
	"\"score\":0.9,\"created_at\":\"2026-11-01T00:00:00Z\"}],"     \
	"\"backend\":\"builtin\"}"

TEST_T(memories_are_searched, 60)
{
	struct bed b;
	struct talk t;
	char text[1024];

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	peers_set(&b.peers, ready, true);
	peers_set(&b.peers, recall, FOUND);
	model_will_say(&b.model, "我想想", RECALL);
	model_will_say(&b.model, "你喜欢绿色，灯已经变绿了。",
	    "[[\"control_light\",\"{\\\"mode\\\":\\\"set_color\\\","
	    "\\\"color\\\":\\\"green\\\"}\"]]");
	talk_start(&t, &b, "把灯变成我喜欢的颜色");
	talk_want(&t, .reply = "你喜欢绿色，灯已经变绿了。",
	    .executed = "recall_memory,control_light", .failed = "");
	/* The filter and emotion-engine may be asked in any order. */
	ck_assert_str_eq(
	    strstr(peers_diary(&b.peers, text, sizeof(text)), "status"),
	    "status:mem0_searching recall:喜欢的颜色 "
	    "status:mem0_search_done invoke:control_light");
	/* The second thought has all but the search. */
	json_t *q = model_request(&b.model, 1);
	ck_assert_str_eq(model_tools(q, text, sizeof(text)),
	    "control_light,nod,forget_memory");
	ck_assert_str_eq(model_roles(q, text, sizeof(text)), "suat");
	ck_assert_ptr_nonnull(strstr(model_text(q, -1), "喜欢绿色"));
	talk_close(&t);
	bed_stop(&b);
}

TEST_T(the_search_fails, 60)
{
	struct bed b;
	struct talk t;
	char text[1024];

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	peers_set(&b.peers, ready, true);
	model_will_say(&b.model, NULL, RECALL);
	model_will_say(&b.model, "不记得了。", NULL);
	talk_start(&t, &b, "我喜欢什么颜色");
	talk_want(&t, .reply = "不记得了。\n以前的事我没能查到。",
	    .executed = "", .failed = "recall_memory",
	    .errors = "the search failed");
	ck_assert_str_eq(
	    strstr(peers_diary(&b.peers, text, sizeof(text)), "status"),
	    "status:mem0_searching recall:喜欢的颜色 "
	    "status:mem0_search_failed");
	talk_close(&t);
	bed_stop(&b);
}

/* Memory is not ready, or not there at all: nobody offers the search. */
TEST_T(no_memory_no_search, 60)
{
	struct bed b;
	struct talk t;
	char text[256];

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	model_will_say(&b.model, "不知道。", NULL);
	talk_start(&t, &b, "我喜欢什么颜色");
	talk_want(&t, .reply = "不知道。", .executed = "", .failed = "");
	ck_assert_str_eq(
	    model_tools(model_request(&b.model, 0), text, sizeof(text)),
	    "control_light,nod");
	talk_close(&t);

	natsSubscription_Destroy(b.peers.subs[2]);
	b.peers.subs[2] = b.peers.subs[--b.peers.n_subs];
	natsConnection_Flush(b.peers.nc);
	model_will_say(&b.model, "不知道。", NULL);
	struct mono start = clock_mono();
	talk_start(&t, &b, "我喜欢什么颜色");
	talk_want(&t, .reply = "不知道。", .executed = "", .failed = "");
	ck_assert_int_lt(mono_diff_ms(clock_mono(), start), 1000);
	talk_close(&t);

	/* A command does not wait for it. */
	peers_set(&b.peers, filter, DECIDES("execute_intents", GREEN, ""));
	start = clock_mono();
	talk_start(&t, &b, "把灯变绿");
	talk_want(&t, .executed = "control_light", .failed = "");
	ck_assert_int_lt(mono_diff_ms(clock_mono(), start), 1000);
	talk_close(&t);
	bed_stop(&b);
}

/* Skills beside a search wait for what it finds. */
TEST_T(a_search_comes_first, 60)
{
	struct bed b;
	struct talk t;
	char text[1024];

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	peers_set(&b.peers, ready, true);
	peers_set(&b.peers, recall, "{\"items\":[]}");
	model_will_say(
	    &b.model, NULL, "[[\"nod\",\"{}\"],[\"recall_memory\",\"{}\"]]");
	model_will_say(&b.model, "好的。", NULL);
	talk_start(&t, &b, "点个头，再想想我喜欢什么");
	talk_want(&t, .reply = "好的。\n点头还没有做。",
	    .executed = "recall_memory", .failed = "nod",
	    .errors = "not carried out");
	/* Without a query of its own it is what the user said. */
	ck_assert_ptr_nonnull(strstr(peers_diary(&b.peers, text, sizeof(text)),
	    "recall:点个头，再想想我喜欢什么"));
	ck_assert_uint_eq(peers_invokes(&b.peers), 0);
	talk_close(&t);
	bed_stop(&b);
}

/* A memory that hangs makes one turn slow, not all. */
TEST_T(a_silent_memory_is_not_asked_again, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	peers_set(&b.peers, memory_hangs, true);
	for (int i = 0; i < 4; i++) {
		struct mono start = clock_mono();
		model_will_say(&b.model, "好。", NULL);
		talk_start(&t, &b, "你好");
		talk_want(&t, .reply = "好。", .executed = "", .failed = "");
		if (i > 0)
			ck_assert_int_lt(
			    mono_diff_ms(clock_mono(), start), 1000);
		talk_close(&t);
	}
	ck_assert_uint_eq(peers_count(&b.peers, "ready"), 1);
	bed_stop(&b);
}

/* How many, within 1 to 10; what to look for, of the model or the user. */
TEST_T(what_is_searched_for, 60)
{
	static const struct {
		const char *args, *query;
		json_int_t top_k;
	} rows[] = {
		{ "{\\\"query\\\":\\\"x\\\"}", "recall:x", 5 },
		{ "{\\\"query\\\":\\\"x\\\",\\\"top_k\\\":3}", "recall:x", 3 },
		{ "{\\\"query\\\":\\\"x\\\",\\\"top_k\\\":50}", "recall:x",
		    10 },
		{ "{\\\"query\\\":\\\"x\\\",\\\"top_k\\\":0}", "recall:x", 1 },
		{ "{\\\"query\\\":\\\" \\\",\\\"top_k\\\":\\\"7\\\"}",
		    "recall:我说过什么", 7 },
		{ "{\\\"top_k\\\":2}", "recall:我说过什么", 2 },
		{ "{}", "recall:我说过什么", 5 },
	};
	char call[128], text[1024];
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	peers_set(&b.peers, ready, true);
	peers_set(&b.peers, recall, "{\"items\":[],\"degraded\":true}");
	for (size_t i = 0; i < NELEM(rows); i++) {
		peers_forget(&b.peers);
		snprintf(call, sizeof(call), "[[\"recall_memory\",\"%s\"]]",
		    rows[i].args);
		model_will_say(&b.model, NULL, call);
		model_will_say(&b.model, "没有。", NULL);
		talk_start(&t, &b, "我说过什么");
		/* To find nothing is to have searched. */
		talk_want(&t, .reply = "没有。", .executed = "recall_memory",
		    .failed = "");
		talk_close(&t);
		ck_assert_msg(strstr(peers_diary(&b.peers, text, sizeof(text)),
				  rows[i].query) != NULL,
		    "row %zu: %s", i, text);
		ck_assert_int_eq(b.peers.top_k, rows[i].top_k);
		ck_assert_ptr_nonnull(strstr(text, "status:mem0_search_done"));
		ck_assert_ptr_nonnull(
		    strstr(model_text(model_request(&b.model, 2 * i + 1), -1),
			"\"incomplete\":true"));
	}
	bed_stop(&b);
}

/* The search is no round: even one round leaves one for the skills. */
TEST_T(a_search_costs_no_round, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 0);
	b.more[0] = "TOOL_MAX_ROUNDS=1";
	bed_spawn(&b, 0);
	peers_set(&b.peers, filter, FALLBACK);
	peers_set(&b.peers, ready, true);
	peers_set(&b.peers, recall, FOUND);
	model_will_say(&b.model, NULL, RECALL);
	model_will_say(&b.model, NULL, "[[\"nod\",\"{}\"]]");
	model_will_say(&b.model, "点头了。", NULL);
	talk_start(&t, &b, "像上次那样点头");
	talk_want(&t, .reply = "点头了。", .executed = "recall_memory,nod",
	    .failed = "");
	ck_assert_str_eq(
	    text_at(model_request(&b.model, 1), "tool_choice"), "(none)");
	ck_assert_str_eq(
	    text_at(model_request(&b.model, 2), "tool_choice"), "none");
	talk_close(&t);
	bed_stop(&b);
}
