/*
 * memory-worker with a simulated Chroma server, and with a real one: all
 * operations, and a missing or foreign collection, an unavailable model, an
 * unavailable Chroma.
 */
#include <signal.h>
#include <sys/stat.h>

#include "core/mem.h"
#include "testkit/fake_store.h"
#include "testkit/json.h"
#include "testkit/memory_fixture.h"

static void
chroma_env(struct memory_fixture *fx, int port)
{
	static char url[64];

	snprintf(url, sizeof(url), "CHROMA_URL=http://127.0.0.1:%d", port);
	fx->env[0] = "MEMORY_BACKEND=chroma";
	fx->env[1] = url;
	fx->env[2] = "MEMORY_JOB_ACK_WAIT_SECONDS=0.7";
	fx->env[3] = "MEMORY_JOB_MAX_DELIVERIES=1000";
}

/* How many are recalled; text is the best one's, NULL: any. */
static size_t
chroma_recall(struct memory_fixture *fx, const char *user, const char *soul,
    const char *query, const char *text, bool degraded)
{
	json_t *j = memory_fixture_recall(fx, user, soul, query, 10);
	size_t n = memory_fixture_hits(j);

	ck_assert_str_eq(tk_text(j, "backend"), "chroma");
	ck_assert_int_eq(
	    json_is_true(json_object_get(j, "degraded")), degraded);
	if (text != NULL)
		ck_assert_str_eq(memory_fixture_hit_text(j, 0), text);
	json_decref(j);
	return n;
}

static bool
chroma_ready(void *arg)
{
	json_t *j =
	    memory_fixture_rpc(arg, "soul.rpc.memory.ready", json_pack("{}"));
	bool is = json_is_true(json_object_get(j, "ready"));

	json_decref(j);
	return is;
}

/* Storing, searching, forgetting; scopes are separate. */
static void
chroma_lifecycle(struct memory_fixture *fx)
{
	static const char tagged[] =
	    "{\"job_id\":\"tags\",\"kind\":\"memory_store\",\"user_id\":\"u1\","
	    "\"soul_id\":\"s2\",\"text\":\"用户在学 Python\",\"type\":\"skill\","
	    "\"tags\":[\"Python\",\"编程 语言\"],"
	    "\"created_at\":\"2026-02-22T10:20:30Z\"}";
	json_t *j;

	ck_assert(tk_until(chroma_ready, fx, MEMORY_FIXTURE_MS));
	memory_fixture_soul(fx, "s2", "u1");
	memory_fixture_publish_fact(fx, "tea", "s1", "用户喜欢乌龙茶");
	memory_fixture_publish_fact(fx, "cat", "s1", "用户的猫叫小花");
	memory_fixture_publish_fact(fx, "trip", "s1", "用户要去大理旅行");
	/* The same job id for another soul is another memory. */
	memory_fixture_publish_job(fx, "tea2",
	    "{\"job_id\":\"tea\",\"kind\":\"memory_store\",\"user_id\":\"u1\","
	    "\"soul_id\":\"s2\",\"text\":\"用户喜欢红茶\",\"type\":\"fact\","
	    "\"created_at\":\"2026-02-22T10:20:30Z\"}");
	memory_fixture_publish_job(fx, "tags", tagged);
	memory_fixture_wait_jobs(fx);
	ck_assert_uint_eq(chroma_recall(fx, "u1", "s1", "喝什么乌龙茶",
			      "用户喜欢乌龙茶", false),
	    3);
	ck_assert_uint_eq(
	    chroma_recall(fx, "u1", "s2", "红茶", "用户喜欢红茶", false), 2);
	ck_assert_uint_eq(chroma_recall(fx, "u2", "s1", "茶", NULL, false), 0);
	j = memory_fixture_recall(fx, "u1", "s2", "python", 1);
	ck_assert_uint_eq(memory_fixture_hits(j), 1);
	ck_assert_str_eq(tk_text(memory_fixture_item(j, 0), "type"), "skill");
	ck_assert_str_eq(tk_text(memory_fixture_item(j, 0), "created_at"),
	    "2026-02-22T10:20:30Z");
	json_decref(j);
	/* Forget one, only within its scope; the match of a query; all. */
	ck_assert_int_eq(
	    memory_fixture_forget(fx, "u2", "s1", "memory_id", "tea"), 0);
	ck_assert_int_eq(
	    memory_fixture_forget(fx, "u1", "s1", "memory_id", "tea"), 1);
	ck_assert_uint_eq(chroma_recall(fx, "u1", "s1", "茶", NULL, false), 2);
	ck_assert_int_eq(
	    memory_fixture_forget(fx, "u1", NULL, "query", "忘掉去大理旅行"),
	    1);
	ck_assert_uint_eq(chroma_recall(fx, "u1", "s2", "茶", NULL, false), 2);
	ck_assert_int_eq(memory_fixture_forget(fx, "u1", NULL, NULL, NULL), 3);
	ck_assert_uint_eq(chroma_recall(fx, "u1", "s1", "茶", NULL, false), 0);
	ck_assert_uint_eq(chroma_recall(fx, "u1", "s2", "茶", NULL, false), 0);
	/* A late job does not restore it. */
	memory_fixture_publish_job(fx, "tags late", tagged);
	memory_fixture_wait_jobs(fx);
	ck_assert_uint_eq(chroma_recall(fx, "u1", "s2", "茶", NULL, false), 0);
	ck_assert_int_eq(memory_fixture_stream_len(fx, "SOUL_DEAD"), 0);
}

/*
 * Many memories of one scope: one is found among them, and all are forgotten.
 */
static void
chroma_lifecycle_many(struct memory_fixture *fx, size_t n)
{
	char id[16], text[64];
	size_t i;

	for (i = 0; i < n; i++) {
		snprintf(id, sizeof(id), "m%zu", i);
		snprintf(text, sizeof(text), "第%zu件事", i);
		memory_fixture_publish_fact(fx, id, "s1", text);
	}
	memory_fixture_publish_fact(fx, "found", "s1", "用户喜欢乌龙茶");
	memory_fixture_wait_jobs(fx);
	ck_assert_uint_eq(
	    chroma_recall(fx, "u1", "s1", "乌龙茶", "用户喜欢乌龙茶", false),
	    10);
	ck_assert_int_eq(
	    memory_fixture_forget(fx, "u1", "s1", NULL, NULL), (int64_t)n + 1);
	ck_assert_uint_eq(chroma_recall(fx, "u1", "s1", "茶", NULL, false), 0);
}

static struct fake_store f;

static void
start(struct memory_fixture *fx)
{
	memory_fixture_servers(fx);
	fake_store_start(&f, fake_chroma_serve);
	chroma_env(fx, f.peer.port);
	memory_fixture_spawn_ready(fx, 0);
}

static void
stop(struct memory_fixture *fx)
{
	memory_fixture_stop(fx);
	fake_store_stop(&f);
}

TEST_T(all_operations, 60)
{
	struct memory_fixture fx;

	start(&fx);
	chroma_lifecycle(&fx);
	/* Nothing is left, not even of the probe. */
	ck_assert_uint_eq(fake_store_rows(&f), 0);
	chroma_lifecycle_many(&fx, 450);
	ck_assert_uint_eq(fake_store_rows(&f), 0);
	stop(&fx);
}

/* A row's metadata. */
TEST_T(metadata_is_stored, 60)
{
	const json_t *meta;
	struct memory_fixture fx;

	start(&fx);
	memory_fixture_publish_job(&fx, "one",
	    "{\"job_id\":\"one\",\"kind\":\"memory_store\",\"user_id\":\"u1\","
	    "\"soul_id\":\"s1\",\"text\":\"学 Python\",\"type\":\"skill\","
	    "\"tags\":[\"Python\",\"C 语言\"],\"session_id\":\"chat\","
	    "\"created_at\":\"2026-02-22T10:20:30Z\"}");
	fake_store_wait(&f, 1);
	meta = json_object_get(json_array_get(f.rows, 0), "metadata");
	ck_assert_str_eq(fake_store_text(meta, "type"), "skill");
	ck_assert_int_eq(
	    json_integer_value(json_object_get(meta, "timestamp")), 1771755630);
	ck_assert(json_is_true(json_object_get(meta, "tag_python")));
	ck_assert(json_is_true(json_object_get(meta, "tag_c_语言")));
	ck_assert_str_eq(
	    fake_store_text(meta, "tags_json"), "[\"Python\",\"C 语言\"]");
	ck_assert_str_eq(fake_store_text(meta, "user_id"), "u1");
	ck_assert_str_eq(fake_store_text(meta, "soul_id"), "s1");
	ck_assert_str_eq(fake_store_text(meta, "session_id"), "chat");
	ck_assert_str_eq(
	    fake_store_text(json_array_get(f.rows, 0), "id"), "u1/s1/one");
	stop(&fx);
}

static json_t *
put_tagged(struct memory_fixture *fx, size_t n)
{
	char job[512], id[8];

	snprintf(id, sizeof(id), "t%zu", n);
	snprintf(job, sizeof(job),
	    "{\"job_id\":\"%s\",\"kind\":\"memory_store\",\"user_id\":\"u1\","
	    "\"soul_id\":\"s1\",\"text\":\"第 %zu 门课学 Python\","
	    "\"type\":\"skill\",\"tags\":[\"python\",\"coding\"],"
	    "\"created_at\":\"2026-02-22T10:20:30Z\"}",
	    id, n);
	memory_fixture_publish_job(fx, id, job);
	fake_store_wait(&f, n);
	return json_object_get(json_array_get(f.rows, n - 1), "metadata");
}

/* As a list where the server takes one, found out by the first. */
TEST_T(tags_are_a_list_if_the_server_takes_it, 60)
{
	struct memory_fixture fx;
	char *s;

	start(&fx);
	f.lists = true;
	s = json_dumps(json_object_get(put_tagged(&fx, 1), "tags"), 0);
	ck_assert_str_eq(s, "[\"python\", \"coding\"]");
	free(s);
	/* A server that was replaced by an older one. */
	f.lists = false;
	size_t calls[3] = { f.calls };
	for (size_t n = 1; n < 3; n++) {
		ck_assert_ptr_null(
		    json_object_get(put_tagged(&fx, n + 1), "tags"));
		calls[n] = f.calls;
	}
	/* The list is not tried a second time. */
	ck_assert_uint_eq(calls[1] - calls[0], calls[2] - calls[1] + 1);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	stop(&fx);
}

/* A job whose response was lost has one effect. */
TEST_T(a_lost_response_has_one_effect, 60)
{
	struct memory_fixture fx;

	start(&fx);
	memory_fixture_publish_fact(&fx, "cat", "s1", "用户的猫叫小花");
	fake_store_wait(&f, 1);
	pthread_mutex_lock(&f.lock);
	f.disconnect = true;
	pthread_mutex_unlock(&f.lock);
	memory_fixture_publish_fact(&fx, "tea", "s1", "用户喜欢乌龙茶");
	memory_fixture_wait_jobs(&fx);
	ck_assert_uint_eq(fake_store_rows(&f), 2);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	stop(&fx);
}

TEST_T(a_missing_collection_is_recreated, 60)
{
	struct memory_fixture fx;

	start(&fx);
	memory_fixture_publish_fact(&fx, "cat", "s1", "用户的猫叫小花");
	memory_fixture_wait_jobs(&fx);
	ck_assert_uint_eq(chroma_recall(&fx, "u1", "s1", "猫", NULL, false), 1);
	fake_chroma_reset(&f);
	ck_assert_uint_eq(chroma_recall(&fx, "u1", "s1", "猫", NULL, false), 0);
	fake_chroma_reset(&f);
	memory_fixture_publish_fact(&fx, "tea", "s1", "用户喜欢乌龙茶");
	memory_fixture_wait_jobs(&fx);
	ck_assert_uint_eq(chroma_recall(&fx, "u1", "s1", "茶", NULL, false), 1);
	stop(&fx);
}

TEST_T(jobs_survive_an_outage, 60)
{
	char id[16];
	struct memory_fixture fx;
	int i;

	start(&fx);
	fake_store_fail(&f, 503, 6);
	for (i = 0; i < 20; i++) {
		snprintf(id, sizeof(id), "m%d", i);
		memory_fixture_publish_fact(&fx, id, "s1", id);
	}
	memory_fixture_wait_jobs(&fx);
	ck_assert_uint_eq(fake_store_rows(&f), 20);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	stop(&fx);
}

static bool
has_deferred_job(void *arg)
{
	return tk_service_metric(
		   arg, "soul_work_waiting{consumer=\"memory-worker\"}") == 1;
}

/*
 * The collection's vectors are of spelling, and a model is configured now: it
 * is searched by words, degraded, and accepts nothing.
 */
TEST_T(a_collection_of_another_model_is_degraded, 60)
{
	static char url[96];
	struct memory_fixture fx;

	start(&fx);
	memory_fixture_llm_start(&fx);
	memory_fixture_publish_fact(&fx, "tea", "s1", "用户喜欢乌龙茶");
	memory_fixture_wait_jobs(&fx);
	tk_service_end(&fx.worker[0]);
	snprintf(url, sizeof(url), "EMBEDDINGS_BASE_URL=%s", fx.llm_url);
	fx.env[4] = url;
	memory_fixture_spawn_ready(&fx, 0);
	ck_assert(!chroma_ready(&fx));
	ck_assert_uint_eq(
	    chroma_recall(&fx, "u1", "s1", "乌龙茶", "用户喜欢乌龙茶", true),
	    1);
	memory_fixture_publish_fact(&fx, "cat", "s1", "用户的猫叫小花");
	ck_assert(tk_until(has_deferred_job, &fx.worker[0], MEMORY_FIXTURE_MS));
	ck_assert_uint_eq(fake_store_rows(&f), 1);
	/* An operator drops the collection: deferred jobs are stored. */
	fake_chroma_reset(&f);
	memory_fixture_wait_jobs(&fx);
	ck_assert_uint_eq(
	    chroma_recall(&fx, "u1", "s1", "猫", "用户的猫叫小花", false), 1);
	ck_assert_uint_eq(f.dimension, 64);
	stop(&fx);
}

struct degraded_wait {
	struct memory_fixture *fx;
	bool degraded;
};

static bool
is_degraded(void *arg)
{
	struct degraded_wait *a = arg;
	json_t *j = memory_fixture_recall(a->fx, "u1", "s1", "乌龙茶", 5);
	bool is = json_is_true(json_object_get(j, "degraded"));

	ck_assert_uint_ge(memory_fixture_hits(j), 1);
	ck_assert_str_eq(memory_fixture_hit_text(j, 0), "用户喜欢乌龙茶");
	json_decref(j);
	return is == a->degraded;
}

/* Searches use words only; jobs are deferred until there are vectors. */
TEST_T(without_the_model_jobs_are_deferred, 60)
{
	static char url[96];
	struct degraded_wait a = { .degraded = true };
	struct memory_fixture fx;

	memory_fixture_servers(&fx);
	memory_fixture_llm_start(&fx);
	fake_store_start(&f, fake_chroma_serve);
	chroma_env(&fx, f.peer.port);
	snprintf(url, sizeof(url), "EMBEDDINGS_BASE_URL=%s", fx.llm_url);
	fx.env[4] = url;
	memory_fixture_spawn_ready(&fx, 0);
	a.fx = &fx;
	memory_fixture_publish_fact(&fx, "tea", "s1", "用户喜欢乌龙茶");
	memory_fixture_wait_jobs(&fx);
	ck_assert_uint_eq(
	    chroma_recall(&fx, "u1", "s1", "乌龙茶", "用户喜欢乌龙茶", false),
	    1);
	tk_service_kill(&fx.llm);
	ck_assert(tk_until(is_degraded, &a, MEMORY_FIXTURE_MS));
	memory_fixture_publish_fact(&fx, "cat", "s1", "用户的猫叫小花");
	ck_assert(tk_until(has_deferred_job, &fx.worker[0], MEMORY_FIXTURE_MS));
	ck_assert_uint_eq(fake_store_rows(&f), 1);
	memory_fixture_llm_start(&fx);
	memory_fixture_wait_jobs(&fx);
	ck_assert_uint_eq(fake_store_rows(&f), 2);
	a.degraded = false;
	ck_assert(tk_until(is_degraded, &a, MEMORY_FIXTURE_MS));
	stop(&fx);
}

/* ---- killed at any time ---- */

#define JOBS 100

static void
kill_one(struct memory_fixture *fx, int which)
{
	switch (which) {
	case 0:
		tk_service_kill(&fx->worker[0]);
		memory_fixture_spawn(fx, 0);
		break;
	case 1:
		memory_fixture_restart_redis(fx);
		break;
	default:
		memory_fixture_restart_nats(fx);
		memory_fixture_wait_ready(fx, 0);
	}
}

/*
 * Worker, Redis and nats-server are killed, twice each, at pseudo-random times,
 * while Chroma fails and loses responses.
 */
TEST_T(nothing_is_lost_when_everything_is_killed, 120)
{
	unsigned seed = 20260221;
	char id[24], text[24];
	struct memory_fixture fx;
	int i, next = 8, kills = 0;

	start(&fx);
	for (i = 0; i < JOBS; i++) {
		snprintf(id, sizeof(id), "job-%d", i);
		snprintf(text, sizeof(text), "<%d>", i);
		memory_fixture_publish_fact(&fx, id, "s1", text);
		if (i < next || kills == 6)
			continue;
		next = i + 8 + rand_r(&seed) % 8;
		pthread_mutex_lock(&f.lock);
		f.disconnect = true;
		pthread_mutex_unlock(&f.lock);
		fake_store_fail(&f, 503, rand_r(&seed) % 3);
		kill_one(&fx, kills++ % 3);
	}
	ck_assert_int_eq(kills, 6);
	fake_store_wait(&f, JOBS);
	memory_fixture_wait_jobs(&fx);
	ck_assert_uint_eq(fake_store_rows(&f), JOBS);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	memory_fixture_wait_ready(&fx, 0);
	stop(&fx);
}

/* ---- a real server ---- */

/*
 * The npm package chromadb contains one; the test is skipped, with a message,
 * where it cannot be fetched.  This version is the newest whose server runs
 * with Debian 12's libc.
 */
#define REAL_PACKAGE "chromadb@3.0.0"
#define REAL_FOLDER  "build/chroma"
#define REAL_PROGRAM REAL_FOLDER "/node_modules/.bin/chroma"

/* Install it once; false if that is impossible. */
static bool
real_fetched(void)
{
	static const char *const argv[] = { "/bin/sh", "-c",
		"command -v npm >/dev/null 2>&1 && "
		"exec npm install --no-audit --no-fund --fetch-retries=0 "
		"--fetch-timeout=20000 --prefix " REAL_FOLDER " " REAL_PACKAGE,
		NULL };
	struct tk_proc p;
	struct stat st;

	if (stat(REAL_PROGRAM, &st) == 0)
		return true;
	tk_spawn(&p, "npm", argv, NULL);
	if (tk_wait(&p, 60000) < 0) {
		tk_signal(&p, SIGKILL);
		(void)tk_wait(&p, 10000);
	}
	return stat(REAL_PROGRAM, &st) == 0;
}

static bool
real_responds(void *arg)
{
	struct tk_response a = { 0 };
	int port = *(int *)arg, status;

	if (!tk_port_open(port))
		return false;
	status = tk_http_request(port, &a, "GET", "/api/v2/heartbeat", NULL);
	tk_response_free(&a);
	return status == 200;
}

static void
real_start(struct tk_proc *p, int *port)
{
	char text[16];
	const char *const argv[] = { REAL_PROGRAM, "run", "--path",
		tk_path("chroma"), "--port", text, NULL };

	*port = tk_port();
	snprintf(text, sizeof(text), "%d", *port);
	tk_spawn(p, "chroma", argv, NULL);
	ck_assert(tk_until(real_responds, port, MEMORY_FIXTURE_MS));
}

/* Drop the collection, as an operator does. */
static void
real_drop(int port)
{
	struct tk_response a = { 0 };

	ck_assert_int_eq(
	    tk_http_request(port, &a, "DELETE",
		"/api/v2/tenants/default_tenant/databases/default_database/"
		"collections/long_term_memory",
		NULL),
	    200);
	tk_response_free(&a);
}

TEST_T(all_operations_with_a_real_server, 150)
{
	static char url[96];
	struct tk_proc chroma;
	struct memory_fixture fx;
	int port;

	if (!real_fetched()) {
		printf("skipped: no npm, or it cannot fetch " REAL_PACKAGE
		       ": memory-worker was not tried with a real Chroma\n");
		return;
	}
	real_start(&chroma, &port);
	memory_fixture_servers(&fx);
	chroma_env(&fx, port);
	memory_fixture_spawn_ready(&fx, 0);
	chroma_lifecycle(&fx);
	chroma_lifecycle_many(&fx, 300);
	/* The collection is recreated. */
	real_drop(port);
	memory_fixture_publish_fact(&fx, "last", "s1", "用户喜欢乌龙茶");
	memory_fixture_wait_jobs(&fx);
	ck_assert_uint_eq(chroma_recall(&fx, "u1", "s1", "茶", NULL, false), 1);
	/* A collection of another model is reported. */
	tk_service_end(&fx.worker[0]);
	memory_fixture_llm_start(&fx);
	snprintf(url, sizeof(url), "EMBEDDINGS_BASE_URL=%s", fx.llm_url);
	fx.env[4] = url;
	memory_fixture_spawn_ready(&fx, 0);
	ck_assert(!chroma_ready(&fx));
	ck_assert_uint_eq(
	    chroma_recall(&fx, "u1", "s1", "乌龙茶", "用户喜欢乌龙茶", true),
	    1);
	real_drop(port);
	ck_assert(tk_until(chroma_ready, &fx, MEMORY_FIXTURE_MS));
	memory_fixture_stop(&fx);
	tk_signal(&chroma, SIGTERM);
	ck_assert_int_ge(tk_wait(&chroma, 20000), 0);
}
