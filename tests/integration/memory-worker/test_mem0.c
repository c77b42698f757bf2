/*
 * memory-worker with a simulated Mem0 server, written from its API: requests,
 * and failures.
 */
#include "testkit/fake_store.h"
#include "testkit/memory_fixture.h"

static struct fake_store f;
static char url[64];

static void
start(struct memory_fixture *fx, const char *auth)
{
	memory_fixture_servers(fx);
	fake_store_start(&f, fake_mem0_serve);
	f.key = "m0sk_test";
	snprintf(
	    url, sizeof(url), "MEM0_BASE_URL=http://127.0.0.1:%d", f.peer.port);
	fx->env[0] = "MEMORY_BACKEND=mem0";
	fx->env[1] = url;
	fx->env[2] = "MEM0_API_KEY=m0sk_test";
	fx->env[3] = auth;
	fx->env[4] = auth != NULL ? "MEMORY_JOB_ACK_WAIT_SECONDS=0.5" : NULL;
	memory_fixture_spawn_ready(fx, 0);
}

static void
stop(struct memory_fixture *fx)
{
	memory_fixture_stop(fx);
	fake_store_stop(&f);
}

static void
ck_first(json_t *j, size_t n, const char *text)
{
	ck_assert_uint_eq(memory_fixture_hits(j), n);
	ck_assert_str_eq(tk_text(j, "backend"), "mem0");
	ck_assert(json_is_false(json_object_get(j, "degraded")));
	if (n > 0)
		ck_assert_str_eq(memory_fixture_hit_text(j, 0), text);
	json_decref(j);
}

static void
facts(struct memory_fixture *fx)
{
	memory_fixture_soul(fx, "s2", "u1");
	memory_fixture_publish_fact(fx, "tea", "s1", "用户喜欢乌龙茶");
	memory_fixture_publish_fact(fx, "cat", "s1", "用户的猫叫小花");
	memory_fixture_publish_fact(fx, "trip", "s1", "用户要去大理旅行");
	memory_fixture_publish_fact(fx, "theirs", "s2", "用户喜欢红茶");
	fake_store_wait(&f, 4);
	memory_fixture_wait_jobs(fx);
}

/* All of u1's, page by page. */
static void
list(struct memory_fixture *fx)
{
	char after[512];
	json_t *j, *item;

	j = memory_fixture_rpc(fx, "soul.rpc.memory.list",
	    json_pack("{sssi}", "user_id", "u1", "limit", 3));
	item = memory_fixture_item(j, 0);
	ck_assert_str_eq(tk_text(item, "soul_id"), "s1");
	snprintf(after, sizeof(after), "%s", tk_text(j, "next"));
	/* Two may be of the same millisecond: ordered by Mem0's ids. */
	ck_assert_uint_eq(memory_fixture_hits(j), 3);
	json_decref(j);
	j = memory_fixture_rpc(fx, "soul.rpc.memory.list",
	    json_pack("{ssss}", "user_id", "u1", "after", after));
	ck_assert_ptr_null(json_object_get(j, "next"));
	ck_first(j, 1, "用户喜欢红茶");
	ck_first(memory_fixture_rpc(fx, "soul.rpc.memory.list",
		     json_pack("{ssss}", "user_id", "u2", "soul_id", "s1")),
	    0, "");
}

static void
whole_life(struct memory_fixture *fx)
{
	json_t *j;
	char id[40];

	facts(fx);
	list(fx);
	ck_first(memory_fixture_recall(fx, "u1", "s1", "喜欢喝什么乌龙茶", 10),
	    3, "用户喜欢乌龙茶");
	/* As many as requested, even if the server ignores the count. */
	ck_first(memory_fixture_recall(fx, "u1", "s1", "大理旅行", 2), 2,
	    "用户要去大理旅行");
	ck_first(
	    memory_fixture_recall(fx, "u1", "s2", "茶", 10), 1, "用户喜欢红茶");
	ck_first(memory_fixture_recall(fx, "u2", "s1", "茶", 10), 0, "");
	/* By Mem0's id, as in search results; only within the scope. */
	j = memory_fixture_recall(fx, "u1", "s2", "茶", 10);
	snprintf(id, sizeof(id), "%s",
	    fake_store_text(memory_fixture_item(j, 0), "memory_id"));
	json_decref(j);
	ck_assert_int_eq(
	    memory_fixture_forget(fx, "u1", "s1", "memory_id", id), 0);
	ck_assert_int_eq(
	    memory_fixture_forget(fx, "u2", "s2", "memory_id", id), 0);
	ck_assert_int_eq(
	    memory_fixture_forget(fx, "u1", NULL, "memory_id", id), 1);
	fake_store_wait(&f, 3);
	/* By the job's id. */
	ck_assert_int_eq(
	    memory_fixture_forget(fx, "u1", NULL, "memory_id", "cat"), 1);
	/* By a query. */
	ck_assert_int_eq(
	    memory_fixture_forget(fx, "u1", NULL, "query", "忘掉去大理旅行"),
	    1);
	fake_store_wait(&f, 1);
	ck_assert_int_eq(memory_fixture_forget(fx, "u1", NULL, NULL, NULL), 1);
	fake_store_wait(&f, 0);
}

TEST_T(all_operations, 60)
{
	struct memory_fixture fx;

	start(&fx, NULL);
	whole_life(&fx);
	stop(&fx);
}

TEST_T(all_operations_with_an_old_server, 60)
{
	struct memory_fixture fx;

	start(&fx, "MEM0_AUTH=none");
	f.old = true;
	whole_life(&fx);
	stop(&fx);
}

/* A late job does not restore a forgotten memory. */
TEST_T(an_old_job_does_not_restore_a_memory, 60)
{
	char json[400], before[WALL_FORMAT_MAX];
	size_t i;
	char id[16];
	struct memory_fixture fx;

	start(&fx, NULL);
	wall_format(clock_wall(), 0, before);
	memory_fixture_publish_fact(&fx, "tea", "s1", "用户喜欢乌龙茶");
	fake_store_wait(&f, 1);
	memory_fixture_wait_jobs(&fx);
	ck_assert_int_eq(
	    memory_fixture_forget(&fx, "u1", NULL, "query", "忘掉乌龙茶"), 1);
	snprintf(json, sizeof(json),
	    "{\"job_id\":\"tea\",\"kind\":\"memory_store\",\"user_id\":\"u1\","
	    "\"soul_id\":\"s1\",\"text\":\"用户喜欢乌龙茶\",\"type\":\"fact\","
	    "\"created_at\":\"%s\"}",
	    before);
	memory_fixture_publish_job(&fx, "again", json);
	memory_fixture_publish_fact(&fx, "cat", "s1", "用户的猫叫小花");
	fake_store_wait(&f, 1);
	memory_fixture_wait_jobs(&fx);
	ck_assert_uint_eq(fake_store_rows(&f), 1);
	/* Also if the server deletes 100 at a time. */
	for (i = 0; i < 230; i++) {
		snprintf(id, sizeof(id), "m%zu", i);
		memory_fixture_publish_fact(&fx, id, "s1", id);
	}
	fake_store_wait(&f, 231);
	memory_fixture_wait_jobs(&fx);
	ck_assert_int_eq(
	    memory_fixture_forget(&fx, "u1", "s1", NULL, NULL), 231);
	ck_assert_uint_eq(fake_store_rows(&f), 0);
	memory_fixture_publish_job(&fx, "again2", json);
	memory_fixture_wait_jobs(&fx);
	ck_assert_uint_eq(fake_store_rows(&f), 0);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	stop(&fx);
}

/* Stored, but the response was lost: a redelivered job is looked up first. */
TEST_T(a_lost_response_has_one_effect, 60)
{
	struct memory_fixture fx;

	start(&fx, "MEM0_AUTH=x-api-key");
	pthread_mutex_lock(&f.lock);
	f.disconnect = true;
	pthread_mutex_unlock(&f.lock);
	memory_fixture_publish_fact(&fx, "tea", "s1", "用户喜欢乌龙茶");
	memory_fixture_wait_jobs(&fx);
	ck_assert_uint_eq(fake_store_rows(&f), 1);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	stop(&fx);
}

/* Stored and dead-lettered: replaying stores nothing. */
TEST_T(replaying_a_stored_job_has_no_effect, 60)
{
	static const char job[] =
	    "{\"job_id\":\"tea\",\"kind\":\"memory_store\",\"user_id\":\"u1\","
	    "\"soul_id\":\"s1\",\"text\":\"用户喜欢乌龙茶\",\"type\":\"fact\","
	    "\"created_at\":\"2026-11-22T10:20:30Z\"}";
	const char *argv[] = { tk_bin("memory-worker"), "dead", "replay",
		"--all", NULL };
	char code[64], env[96];
	struct tk_proc p;
	struct memory_fixture fx;

	start(&fx, "MEM0_AUTH=x-api-key");
	memory_fixture_publish_job(&fx, "tea", job);
	fake_store_wait(&f, 1);
	json_decref(
	    tk_nats_request(fx.nc, "soul.dead.memory_store", job, code));
	snprintf(env, sizeof(env), "NATS_URL=%s", fx.nats.url);
	tk_spawn(&p, "replay", argv, TK_ENV(env));
	ck_assert_int_eq(tk_wait(&p, MEMORY_FIXTURE_MS), 0);
	ck_assert(tk_log_has(&p, "1: replayed as SOUL_JOBS 2\n"));
	memory_fixture_wait_jobs(&fx);
	ck_assert_uint_eq(fake_store_rows(&f), 1);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	stop(&fx);
}

/* While Mem0 is unavailable jobs are deferred, not failed. */
TEST_T(jobs_are_deferred_during_an_outage, 60)
{
	char code[64], id[16];
	struct memory_fixture fx;
	json_t *j;
	int i;

	start(&fx, "MEM0_AUTH=x-api-key");
	fake_store_fail(&f, 503, 6);
	for (i = 0; i < 20; i++) {
		snprintf(id, sizeof(id), "m%d", i);
		memory_fixture_publish_fact(&fx, id, "s1", id);
	}
	fake_store_wait(&f, 20);
	memory_fixture_wait_jobs(&fx);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	ck_assert_int_eq(
	    tk_service_metric(&fx.worker[0],
		"soul_work_retried_total{consumer=\"memory-worker\"}"),
	    0);
	/* Another request may come first. */
	fake_store_fail(&f, 502, 1000);
	j = tk_nats_request(fx.nc, "soul.rpc.memory.recall",
	    "{\"user_id\":\"u1\",\"soul_id\":\"s1\",\"query\":\"x\"}", code);
	ck_assert_str_eq(code, "unavailable");
	json_decref(j);
	stop(&fx);
}

/* A job that Mem0 rejects is dead-lettered in the end. */
TEST_T(a_rejected_job_is_dead_lettered, 60)
{
	struct memory_fixture fx;

	start(&fx, "MEM0_AUTH=x-api-key");
	fx.env[5] = "MEMORY_JOB_MAX_DELIVERIES=2";
	tk_service_end(&fx.worker[0]);
	memory_fixture_spawn_ready(&fx, 0);
	fake_store_fail(&f, 400, 1);
	memory_fixture_publish_fact(&fx, "one", "s1", "一件事");
	fake_store_wait(&f, 1);
	memory_fixture_wait_jobs(&fx);
	fake_store_fail(&f, 400, 1000);
	memory_fixture_publish_fact(&fx, "two", "s1", "一件事");
	memory_fixture_wait_jobs(&fx);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 1);
	stop(&fx);
}

static json_t *
ready(struct memory_fixture *fx)
{
	return memory_fixture_rpc(fx, "soul.rpc.memory.ready", json_pack("{}"));
}

static bool
is_ready(void *arg)
{
	json_t *j = ready(arg);
	bool is = json_is_true(json_object_get(j, "ready"));

	json_decref(j);
	return is;
}

TEST_T(readiness_is_probed_and_cached, 60)
{
	size_t calls;
	struct memory_fixture fx;
	json_t *j;
	int i;

	/* The key as a bearer token, as the original system sent it. */
	start(&fx, "MEM0_AUTH=bearer");
	j = ready(&fx);
	ck_assert(json_is_false(json_object_get(j, "ready")));
	ck_assert_str_eq(fake_store_text(j, "reason"), "Mem0 denied access");
	json_decref(j);
	ck_assert(tk_log_has(&fx.worker[0].proc, "auth=bearer"));
	tk_service_end(&fx.worker[0]);
	fx.env[3] = "MEM0_AUTH=x-api-key";
	memory_fixture_spawn_ready(&fx, 0);
	ck_assert(tk_until(is_ready, &fx, MEMORY_FIXTURE_MS));
	/* The probe stored and deleted a memory, and is cached. */
	ck_assert_uint_eq(fake_store_rows(&f), 0);
	calls = f.calls;
	for (i = 0; i < 50; i++)
		ck_assert(is_ready(&fx));
	ck_assert_uint_eq(f.calls, calls);
	stop(&fx);
}
