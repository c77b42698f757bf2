/*
 * Falling idle: what was said becomes a summary and a memory, and is found
 * again.
 */
#include "talk.h"

/* The payload of the next event; its trace goes to trace. */
static json_t *
next_event(natsSubscription *sub, char trace[64])
{
	json_t *j = tk_nats_next(sub, BED_MS, NULL), *payload;

	ck_assert_ptr_nonnull(j);
	ck_assert_str_eq(
	    json_string_value(json_object_get(j, "source")), "memory-worker");
	snprintf(
	    trace, 64, "%s", json_string_value(json_object_get(j, "trace_id")));
	payload = json_incref(json_object_get(j, "payload"));
	json_decref(j);
	return payload;
}

#define text_of(j, key) json_string_value(json_object_get((j), (key)))

TEST_T(a_silence_becomes_a_memory, 60)
{
	natsSubscription *idle, *stored;
	char first[64], second[64];
	struct memory_list l;
	struct session s;
	struct bed b;
	json_t *j;

	bed_start(&b, 1);
	idle = tk_nats_listen(b.nc, "soul.event.session_idle.*");
	stored = tk_nats_listen(b.nc, "soul.event.memory_stored.*");
	bed_say(&b, "chat", "我对花生过敏，点餐的时候要避开", 300);
	ck_assert_uint_eq(bed_memories(&b).n, 0);
	l = bed_wait(&b, 1);
	ck_assert_uint_eq(bed_with(&l, "花生过敏"), 1);
	ck_assert_uint_eq(bed_with(&l, "\"type\":\"episode\""), 1);
	ck_assert_uint_eq(bed_with(&l, "\"session_id\":\"chat\""), 1);
	ck_assert_uint_eq(bed_with(&l, "\"terminal_id\":\"t1\""), 1);
	ck_assert_uint_eq(
	    bed_with(&l, "\"trigger_source\":\"idle_timeout\""), 1);

	j = next_event(idle, first);
	ck_assert_str_eq(text_of(j, "session_id"), "chat");
	ck_assert_str_eq(text_of(j, "user_id"), "u1");
	ck_assert_str_eq(text_of(j, "soul_id"), "s1");
	ck_assert_str_eq(text_of(j, "terminal_id"), "t1");
	json_decref(j);
	j = next_event(stored, second);
	ck_assert(str_eq(str_of(text_of(j, "memory_id")), l.item[0].id));
	ck_assert_str_eq(text_of(j, "user_id"), "u1");
	ck_assert_str_eq(text_of(j, "soul_id"), "s1");
	ck_assert_str_eq(text_of(j, "session_id"), "chat");
	ck_assert_str_eq(text_of(j, "type"), "episode");
	ck_assert_str_eq(text_of(j, "backend"), "builtin");
	json_decref(j);
	/* One trace from the silence to the memory. */
	ck_assert_str_eq(first, second);

	bed_quiet(&b);
	s = bed_session(&b, "chat");
	ck_assert_int_ge(str_find(s.summary, STR("花生过敏")), 0);
	ck_assert_int_eq(s.summarised, 2);
	ck_assert_ptr_null(s.job.p);
	ck_assert_int_eq(bed_stream(&b, "SOUL_JOBS"), 1);
	ck_assert_int_eq(bed_asked(&b), 1);
	natsSubscription_Destroy(idle);
	natsSubscription_Destroy(stored);
	bed_stop(&b);
}

TEST_T(it_is_found_in_other_words, 60)
{
	static const char *const said[] = {
		"我对花生过敏，点餐的时候要避开",
		"我家的橘猫叫小花，今年三岁了",
		"下个月我要去大理旅行，想住在洱海边",
		"my sister Anna moved to Lisbon last year",
	};
	static const char *const asked[] = {
		"哪些东西过敏不能吃",
		"小花是谁",
		"我打算去哪里旅行来着",
		"where does Anna live",
	};
	char session[16];
	struct bed b;
	json_t *j;
	size_t i;

	bed_start(&b, 1);
	for (i = 0; i < NELEM(said); i++) {
		snprintf(session, sizeof(session), "chat-%zu", i);
		bed_say(&b, session, said[i], 0);
	}
	bed_wait(&b, NELEM(said));
	bed_quiet(&b);
	/* Nothing of it is in a process. */
	tk_service_kill(&b.worker[0]);
	tk_server_stop(&b.redis, SIGKILL);
	tk_server_restart(&b.redis);
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	for (i = 0; i < NELEM(asked); i++) {
		j = bed_recall_as(&b, "u1", "s1", asked[i], 1);
		ck_assert_uint_eq(hits(j), 1);
		ck_assert_msg(strstr(hit_text(j, 0), said[i]) != NULL, "%s: %s",
		    asked[i], hit_text(j, 0));
		json_decref(j);
	}
	bed_stop(&b);
}

struct waiting {
	struct bed *b;
	const char *text;
};

static bool
worker_said(void *arg)
{
	struct waiting *w = arg;

	return tk_log_has(&w->b->worker[0].proc, w->text);
}

static bool
is_asked(void *arg)
{
	struct bed *b = arg;

	/* It has been sent when the connection is counted as under way. */
	return tk_service_metric(
		   &b->worker[0], "soul_httpc_active{peer=\"llm\"}") == 1;
}

TEST_T(what_is_said_meanwhile_is_the_nexts, 60)
{
	struct memory_list l;
	struct bed b;

	bed_start(&b, 1);
	bed_faults(&b, "{\"kind\":\"slow\",\"delay_ms\":1500}");
	bed_say(&b, "chat", "我喜欢乌龙茶", 0);
	ck_assert(tk_until(is_asked, &b, BED_MS));
	bed_say(&b, "chat", "我的猫叫小花", 2500);
	l = bed_wait(&b, 1);
	ck_assert_uint_eq(bed_with(&l, "乌龙茶"), 1);
	ck_assert_uint_eq(bed_with(&l, "小花"), 0);
	l = bed_wait(&b, 2);
	ck_assert_uint_eq(bed_with(&l, "乌龙茶"), 1);
	ck_assert_uint_eq(bed_with(&l, "小花"), 1);
	bed_quiet(&b);
	ck_assert_int_eq(bed_asked(&b), 2);
	/* The session remembers both, in their order. */
	ck_assert_int_gt(str_find(bed_session(&b, "chat").summary, STR("小花")),
	    str_find(bed_session(&b, "chat").summary, STR("乌龙茶")));
	bed_stop(&b);
}

TEST_T(the_model_is_down_and_comes, 60)
{
	struct bed b;
	struct waiting w = { &b, "idle.summary_failed" };

	bed_servers(&b);
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	bed_say(&b, "chat", "我喜欢乌龙茶", 0);
	ck_assert(tk_until(worker_said, &w, BED_MS));
	/* It is ready without, and nothing of it hurts a search. */
	bed_ready(&b, 0);
	json_decref(bed_recall_as(&b, "u1", "s1", "茶", 5));
	ck_assert_uint_eq(bed_memories(&b).n, 0);
	bed_llm(&b);
	bed_wait(&b, 1);
	bed_quiet(&b);
	ck_assert_int_eq(bed_asked(&b), 1);
	bed_stop(&b);
}

TEST_T(the_model_has_faults, 60)
{
	struct memory_list l;
	struct bed b;

	/* Two of them are tried again at once, so that one ask fails. */
	bed_start(&b, 1);
	bed_faults(&b,
	    "{\"kind\":\"error\"},{\"kind\":\"rate_limit\"},"
	    "{\"kind\":\"quota\"}");
	bed_say(&b, "chat", "我喜欢乌龙茶", 0);
	l = bed_wait(&b, 1);
	ck_assert_uint_eq(bed_with(&l, "乌龙茶"), 1);
	bed_quiet(&b);
	ck_assert_int_eq(bed_asked(&b), 1);
	ck_assert_int_eq(tk_service_metric(&b.worker[0],
			     "soul_memory_summaries_failed_total"),
	    1);
	bed_stop(&b);
}

TEST_T(a_silent_model_is_given_up, 60)
{
	struct bed b;

	bed_servers(&b);
	b.more[0] = "IDLE_SUMMARY_TIMEOUT_SECONDS=0.3";
	bed_llm(&b);
	bed_faults(&b, "{\"kind\":\"slow\",\"delay_ms\":60000}");
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	bed_say(&b, "chat", "我喜欢乌龙茶", 0);
	bed_wait(&b, 1);
	ck_assert_int_eq(tk_service_metric(&b.worker[0],
			     "soul_memory_summaries_failed_total"),
	    1);
	/* It would not leave in time. */
	tk_service_kill(&b.llm);
	bed_stop(&b);
}
