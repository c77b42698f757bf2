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

KIT_TEST_T(memories_are_searched, 60)
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
	/* The second thought has the skills and no search. */
	json_t *q = model_request(&b.model, 1);
	ck_assert_str_eq(
	    model_tools(q, text, sizeof(text)), "control_light,nod");
	ck_assert_str_eq(model_roles(q, text, sizeof(text)), "suat");
	ck_assert_ptr_nonnull(strstr(model_text(q, -1), "喜欢绿色"));
	talk_close(&t);
	bed_stop(&b);
}

KIT_TEST_T(the_search_fails, 60)
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
KIT_TEST_T(no_memory_no_search, 60)
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
KIT_TEST_T(a_search_comes_first, 60)
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
KIT_TEST_T(a_silent_memory_is_not_asked_again, 60)
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
