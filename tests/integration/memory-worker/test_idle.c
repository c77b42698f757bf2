/*
 * Idle sessions: their messages become a summary and memories, which are found
 * later.
 */
#include <signal.h>

#include "core/mem.h"
#include "testkit/memory_fixture.h"

/* The payload of the next event, of that source, and its trace id. */
static json_t *
next_event_of(natsSubscription *sub, const char *source, char trace[64])
{
	json_t *j = tk_nats_next(sub, MEMORY_FIXTURE_MS, NULL), *payload;

	ck_assert_ptr_nonnull(j);
	ck_assert_str_eq(tk_text(j, "source"), source);
	snprintf(trace, 64, "%s", tk_text(j, "trace_id"));
	payload = json_incref(json_object_get(j, "payload"));
	json_decref(j);
	return payload;
}

static json_t *
next_event(natsSubscription *sub, char trace[64])
{
	return next_event_of(sub, "memory-worker", trace);
}

#define text_of(j, key) json_string_value(json_object_get((j), (key)))

TEST_T(an_idle_session_becomes_a_memory, 60)
{
	natsSubscription *idle, *stored, *notices;
	char first[64], second[64];
	struct memory_list l;
	struct session s;
	struct memory_fixture fx;
	json_t *j;

	memory_fixture_start(&fx, 1);
	idle = tk_nats_listen(fx.nc, "soul.event.session_idle.*");
	stored = tk_nats_listen(fx.nc, "soul.event.memory_stored.*");
	notices = tk_nats_listen(fx.nc, "soul.event.system_notification.u1");
	memory_fixture_converse(
	    &fx, "chat", "我对花生过敏，点餐的时候要避开", 300);
	ck_assert_uint_eq(memory_fixture_memories(&fx).n, 0);
	l = memory_fixture_wait_memories(&fx, 1);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "花生过敏"), 1);
	ck_assert_uint_eq(
	    memory_fixture_count_text(&l, "\"type\":\"episode\""), 1);
	ck_assert_uint_eq(
	    memory_fixture_count_text(&l, "\"session_id\":\"chat\""), 1);
	ck_assert_uint_eq(
	    memory_fixture_count_text(&l, "\"terminal_id\":\"t1\""), 1);
	ck_assert_uint_eq(memory_fixture_count_text(
			      &l, "\"trigger_source\":\"idle_timeout\""),
	    1);

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
	/* One trace from the idle session to the memory. */
	ck_assert_str_eq(first, second);
	j = next_event_of(notices, "system", second);
	ck_assert_str_eq(text_of(j, "level"), "info");
	ck_assert_str_eq(text_of(j, "code"), "MEMORY_ARCHIVED");
	ck_assert_str_eq(text_of(j, "user_id"), "u1");
	ck_assert_str_eq(text_of(j, "message"),
	    "conversation chat is archived: memories to be stored: 1");
	json_decref(j);
	ck_assert_str_eq(first, second);

	memory_fixture_wait_summaries(&fx);
	s = memory_fixture_session(&fx, "chat");
	ck_assert_int_ge(str_find(s.summary, STR("花生过敏")), 0);
	ck_assert_int_eq(s.summarised, 2);
	ck_assert_ptr_null(s.job.p);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_JOBS"), 1);
	ck_assert_int_eq(memory_fixture_llm_calls(&fx), 1);
	natsSubscription_Destroy(idle);
	natsSubscription_Destroy(stored);
	natsSubscription_Destroy(notices);
	memory_fixture_stop(&fx);
}

TEST_T(memories_are_found_in_other_words, 60)
{
	static const char *const messages[] = {
		"我对花生过敏，点餐的时候要避开",
		"我家的橘猫叫小花，今年三岁了",
		"下个月我要去大理旅行，想住在洱海边",
		"my sister Anna moved to Lisbon last year",
	};
	static const char *const queries[] = {
		"哪些东西过敏不能吃",
		"小花是谁",
		"我打算去哪里旅行来着",
		"where does Anna live",
	};
	char session[16];
	struct memory_fixture fx;
	json_t *j;
	size_t i;

	memory_fixture_start(&fx, 1);
	for (i = 0; i < NELEM(messages); i++) {
		snprintf(session, sizeof(session), "chat-%zu", i);
		memory_fixture_converse(&fx, session, messages[i], 0);
	}
	memory_fixture_wait_memories(&fx, NELEM(messages));
	memory_fixture_wait_summaries(&fx);
	/* No state is lost with the processes. */
	tk_service_kill(&fx.worker[0]);
	tk_server_stop(&fx.redis, SIGKILL);
	tk_server_restart(&fx.redis);
	memory_fixture_spawn_ready(&fx, 0);
	for (i = 0; i < NELEM(queries); i++) {
		j = memory_fixture_recall(&fx, "u1", "s1", queries[i], 1);
		ck_assert_uint_eq(memory_fixture_hits(j), 1);
		ck_assert_msg(
		    strstr(memory_fixture_hit_text(j, 0), messages[i]) != NULL,
		    "%s: %s", queries[i], memory_fixture_hit_text(j, 0));
		json_decref(j);
	}
	memory_fixture_stop(&fx);
}

struct log_wait {
	struct memory_fixture *fx;
	const char *text;
};

static bool
worker_logged(void *arg)
{
	struct log_wait *w = arg;

	return tk_log_has(&w->fx->worker[0].proc, w->text);
}

TEST_T(messages_during_a_summary_are_in_the_next, 60)
{
	struct memory_list l;
	struct memory_fixture fx;

	memory_fixture_start(&fx, 1);
	memory_fixture_llm_script(&fx, "{\"kind\":\"slow\",\"delay_ms\":1500}");
	memory_fixture_converse(&fx, "chat", "我喜欢乌龙茶", 0);
	memory_fixture_wait_llm(&fx, 0);
	memory_fixture_converse(&fx, "chat", "我的猫叫小花", 2500);
	l = memory_fixture_wait_memories(&fx, 1);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "乌龙茶"), 1);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "小花"), 0);
	l = memory_fixture_wait_memories(&fx, 2);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "乌龙茶"), 1);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "小花"), 1);
	memory_fixture_wait_summaries(&fx);
	ck_assert_int_eq(memory_fixture_llm_calls(&fx), 2);
	/* The session's summary has both, in order. */
	ck_assert_int_gt(
	    str_find(memory_fixture_session(&fx, "chat").summary, STR("小花")),
	    str_find(
		memory_fixture_session(&fx, "chat").summary, STR("乌龙茶")));
	memory_fixture_stop(&fx);
}

TEST_T(a_summary_waits_for_the_model, 60)
{
	struct memory_fixture fx;
	struct log_wait w = { &fx, "idle.summary_failed" };

	memory_fixture_servers(&fx);
	memory_fixture_spawn_ready(&fx, 0);
	memory_fixture_converse(&fx, "chat", "我喜欢乌龙茶", 0);
	ck_assert(tk_until(worker_logged, &w, MEMORY_FIXTURE_MS));
	/* The worker is ready without the model, and searches work. */
	memory_fixture_wait_ready(&fx, 0);
	json_decref(memory_fixture_recall(&fx, "u1", "s1", "茶", 5));
	ck_assert_uint_eq(memory_fixture_memories(&fx).n, 0);
	memory_fixture_llm_start(&fx);
	memory_fixture_wait_memories(&fx, 1);
	memory_fixture_wait_summaries(&fx);
	ck_assert_int_eq(memory_fixture_llm_calls(&fx), 1);
	memory_fixture_stop(&fx);
}

TEST_T(model_errors_are_retried, 60)
{
	struct memory_list l;
	struct memory_fixture fx;

	/* The client retries two of them, so one call fails. */
	memory_fixture_start(&fx, 1);
	memory_fixture_llm_script(&fx,
	    "{\"kind\":\"error\"},{\"kind\":\"rate_limit\"},"
	    "{\"kind\":\"quota\"}");
	memory_fixture_converse(&fx, "chat", "我喜欢乌龙茶", 0);
	l = memory_fixture_wait_memories(&fx, 1);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "乌龙茶"), 1);
	memory_fixture_wait_summaries(&fx);
	ck_assert_int_eq(memory_fixture_llm_calls(&fx), 1);
	ck_assert_int_eq(tk_service_metric(&fx.worker[0],
			     "soul_memory_summaries_failed_total"),
	    1);
	memory_fixture_stop(&fx);
}

TEST_T(a_model_that_hangs_times_out, 60)
{
	struct memory_fixture fx;

	memory_fixture_servers(&fx);
	fx.env[0] = "IDLE_SUMMARY_TIMEOUT_SECONDS=0.3";
	memory_fixture_llm_start(&fx);
	memory_fixture_llm_script(
	    &fx, "{\"kind\":\"slow\",\"delay_ms\":60000}");
	memory_fixture_spawn_ready(&fx, 0);
	memory_fixture_converse(&fx, "chat", "我喜欢乌龙茶", 0);
	memory_fixture_wait_memories(&fx, 1);
	ck_assert_int_eq(tk_service_metric(&fx.worker[0],
			     "soul_memory_summaries_failed_total"),
	    1);
	/* It would not stop in time. */
	tk_service_kill(&fx.llm);
	memory_fixture_stop(&fx);
}
