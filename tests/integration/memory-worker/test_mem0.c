/*
 * memory-worker with a Mem0 server (a stand-in, written from its interface):
 * what the worker asks of it, and what it does when Mem0 fails.
 */
#include "fake_mem0.h"

static struct fake f;
static char url[64];

static void
start(struct bed *b, const char *auth)
{
	bed_servers(b);
	fake_start(&f, mem0_serve);
	f.key = "m0sk_test";
	snprintf(
	    url, sizeof(url), "MEM0_BASE_URL=http://127.0.0.1:%d", f.peer.port);
	b->more[0] = "MEMORY_BACKEND=mem0";
	b->more[1] = url;
	b->more[2] = "MEM0_API_KEY=m0sk_test";
	b->more[3] = auth;
	b->more[4] = auth != NULL ? "MEMORY_JOB_ACK_WAIT_SECONDS=0.5" : NULL;
	bed_spawn(b, 0);
	bed_ready(b, 0);
}

static void
stop(struct bed *b)
{
	bed_stop(b);
	fake_stop(&f);
}

static void
ck_first(json_t *j, size_t n, const char *text)
{
	ck_assert_uint_eq(hits(j), n);
	ck_assert_str_eq(
	    json_string_value(json_object_get(j, "backend")), "mem0");
	ck_assert(json_is_false(json_object_get(j, "degraded")));
	if (n > 0)
		ck_assert_str_eq(hit_text(j, 0), text);
	json_decref(j);
}

static int64_t
forget(struct bed *b, json_t *req)
{
	json_t *j = bed_rpc(b, "soul.rpc.memory.forget", req);
	int64_t n = json_integer_value(json_object_get(j, "forgotten"));

	json_decref(j);
	return n;
}

static void
facts(struct bed *b)
{
	bed_soul(b, "s2", "u1");
	bed_job(b, "tea", "s1", "用户喜欢乌龙茶");
	bed_job(b, "cat", "s1", "用户的猫叫小花");
	bed_job(b, "trip", "s1", "用户要去大理旅行");
	bed_job(b, "theirs", "s2", "用户喜欢红茶");
	fake_wait(&f, 4);
	ck_assert(tk_until(all_done, b, BED_MS));
}

/* All of u1's, page by page. */
static void
list(struct bed *b)
{
	char after[512];
	json_t *j, *item;

	j = bed_rpc(b, "soul.rpc.memory.list",
	    json_pack("{sssi}", "user_id", "u1", "limit", 3));
	item = json_array_get(json_object_get(j, "items"), 0);
	ck_assert_str_eq(tk_text(item, "soul_id"), "s1");
	snprintf(after, sizeof(after), "%s", tk_text(j, "next"));
	/* Two may be of one millisecond: their order is that of Mem0's ids. */
	ck_assert_uint_eq(hits(j), 3);
	json_decref(j);
	j = bed_rpc(b, "soul.rpc.memory.list",
	    json_pack("{ssss}", "user_id", "u1", "after", after));
	ck_assert_ptr_null(json_object_get(j, "next"));
	ck_first(j, 1, "用户喜欢红茶");
	ck_first(bed_rpc(b, "soul.rpc.memory.list",
		     json_pack("{ssss}", "user_id", "u2", "soul_id", "s1")),
	    0, "");
}

static void
whole_life(struct bed *b)
{
	json_t *j;
	char id[40];

	facts(b);
	list(b);
	ck_first(bed_recall_as(b, "u1", "s1", "喜欢喝什么乌龙茶", 10), 3,
	    "用户喜欢乌龙茶");
	/* As many as were asked for, also of a server that does not count. */
	ck_first(
	    bed_recall_as(b, "u1", "s1", "大理旅行", 2), 2, "用户要去大理旅行");
	ck_first(bed_recall_as(b, "u1", "s2", "茶", 10), 1, "用户喜欢红茶");
	ck_first(bed_recall_as(b, "u2", "s1", "茶", 10), 0, "");
	/* By Mem0's id, which is what a search says; only within the scope. */
	j = bed_recall_as(b, "u1", "s2", "茶", 10);
	snprintf(id, sizeof(id), "%s",
	    fake_text(
		json_array_get(json_object_get(j, "items"), 0), "memory_id"));
	json_decref(j);
	ck_assert_int_eq(forget(b,
			     json_pack("{ssssss}", "user_id", "u1", "soul_id",
				 "s1", "memory_id", id)),
	    0);
	ck_assert_int_eq(forget(b,
			     json_pack("{ssssss}", "user_id", "u2", "soul_id",
				 "s2", "memory_id", id)),
	    0);
	ck_assert_int_eq(
	    forget(b, json_pack("{ssss}", "user_id", "u1", "memory_id", id)),
	    1);
	fake_wait(&f, 3);
	/* By the job's. */
	ck_assert_int_eq(
	    forget(b, json_pack("{ssss}", "user_id", "u1", "memory_id", "cat")),
	    1);
	/* By what it says. */
	ck_assert_int_eq(forget(b,
			     json_pack("{ssss}", "user_id", "u1", "query",
				 "忘掉去大理旅行")),
	    1);
	fake_wait(&f, 1);
	ck_assert_int_eq(forget(b, json_pack("{ss}", "user_id", "u1")), 1);
	fake_wait(&f, 0);
}

TEST_T(a_whole_life, 60)
{
	struct bed b;

	start(&b, NULL);
	whole_life(&b);
	stop(&b);
}

TEST_T(a_server_of_2025, 60)
{
	struct bed b;

	start(&b, "MEM0_AUTH=none");
	f.old = true;
	whole_life(&b);
	stop(&b);
}

/* What was forgotten does not come back with a late job. */
TEST_T(forgotten_for_ever, 60)
{
	char json[400], before[WALL_FORMAT_MAX];
	size_t i;
	char id[16];
	struct bed b;

	start(&b, NULL);
	wall_format(clock_wall(), 0, before);
	bed_job(&b, "tea", "s1", "用户喜欢乌龙茶");
	fake_wait(&f, 1);
	ck_assert(tk_until(all_done, &b, BED_MS));
	ck_assert_int_eq(
	    forget(&b,
		json_pack("{ssss}", "user_id", "u1", "query", "忘掉乌龙茶")),
	    1);
	snprintf(json, sizeof(json),
	    "{\"job_id\":\"tea\",\"kind\":\"memory_store\",\"user_id\":\"u1\","
	    "\"soul_id\":\"s1\",\"text\":\"用户喜欢乌龙茶\",\"type\":\"fact\","
	    "\"created_at\":\"%s\"}",
	    before);
	bed_publish(&b, "again", json);
	bed_job(&b, "cat", "s1", "用户的猫叫小花");
	fake_wait(&f, 1);
	ck_assert(tk_until(all_done, &b, BED_MS));
	ck_assert_uint_eq(fake_rows(&f), 1);
	/* Also where the server deletes a hundred at a time. */
	for (i = 0; i < 230; i++) {
		snprintf(id, sizeof(id), "m%zu", i);
		bed_job(&b, id, "s1", id);
	}
	fake_wait(&f, 231);
	ck_assert(tk_until(all_done, &b, BED_MS));
	ck_assert_int_eq(
	    forget(&b, json_pack("{ssss}", "user_id", "u1", "soul_id", "s1")),
	    231);
	ck_assert_uint_eq(fake_rows(&f), 0);
	bed_publish(&b, "again2", json);
	ck_assert(tk_until(all_done, &b, BED_MS));
	ck_assert_uint_eq(fake_rows(&f), 0);
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 0);
	stop(&b);
}

/* It stored, and nobody was told: a job that is done again looks first. */
TEST_T(stored_without_an_answer, 60)
{
	struct bed b;

	start(&b, "MEM0_AUTH=x-api-key");
	pthread_mutex_lock(&f.lock);
	f.cut = true;
	pthread_mutex_unlock(&f.lock);
	bed_job(&b, "tea", "s1", "用户喜欢乌龙茶");
	ck_assert(tk_until(all_done, &b, BED_MS));
	ck_assert_uint_eq(fake_rows(&f), 1);
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 0);
	stop(&b);
}

/* It was stored and put aside all the same: replayed, it is there once. */
TEST_T(stored_and_put_aside, 60)
{
	static const char job[] =
	    "{\"job_id\":\"tea\",\"kind\":\"memory_store\",\"user_id\":\"u1\","
	    "\"soul_id\":\"s1\",\"text\":\"用户喜欢乌龙茶\",\"type\":\"fact\","
	    "\"created_at\":\"2026-11-22T10:20:30Z\"}";
	const char *argv[] = { tk_bin("memory-worker"), "dead", "replay",
		"--all", NULL };
	char code[64], env[96];
	struct tk_proc p;
	struct bed b;

	start(&b, "MEM0_AUTH=x-api-key");
	bed_publish(&b, "tea", job);
	fake_wait(&f, 1);
	json_decref(tk_nats_ask(b.nc, "soul.dead.memory_store", job, code));
	snprintf(env, sizeof(env), "NATS_URL=%s", b.nats.url);
	tk_spawn(&p, "replay", argv, TK_ENV(env));
	ck_assert_int_eq(tk_wait(&p, BED_MS), 0);
	ck_assert(tk_log_has(&p, "1: replayed as SOUL_JOBS 2\n"));
	ck_assert(tk_until(all_done, &b, BED_MS));
	ck_assert_uint_eq(fake_rows(&f), 1);
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 0);
	stop(&b);
}

/* While Mem0 is away jobs wait, and that is no fault of theirs. */
TEST_T(away_for_a_while, 60)
{
	char code[64], id[16];
	struct bed b;
	json_t *j;
	int i;

	start(&b, "MEM0_AUTH=x-api-key");
	fake_fail(&f, 503, 6);
	for (i = 0; i < 20; i++) {
		snprintf(id, sizeof(id), "m%d", i);
		bed_job(&b, id, "s1", id);
	}
	fake_wait(&f, 20);
	ck_assert(tk_until(all_done, &b, BED_MS));
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 0);
	ck_assert_int_eq(
	    tk_service_metric(&b.worker[0], "soul_memory_jobs_retried_total"),
	    0);
	fake_fail(&f, 502, 1);
	j = tk_nats_ask(b.nc, "soul.rpc.memory.recall",
	    "{\"user_id\":\"u1\",\"soul_id\":\"s1\",\"query\":\"x\"}", code);
	ck_assert_str_eq(code, "unavailable");
	json_decref(j);
	stop(&b);
}

/* A job that Mem0 refuses is put aside in the end. */
TEST_T(refused, 60)
{
	struct bed b;

	start(&b, "MEM0_AUTH=x-api-key");
	b.more[5] = "MEMORY_JOB_MAX_DELIVERIES=2";
	tk_service_end(&b.worker[0]);
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	fake_fail(&f, 400, 1);
	bed_job(&b, "one", "s1", "一件事");
	fake_wait(&f, 1);
	ck_assert(tk_until(all_done, &b, BED_MS));
	fake_fail(&f, 400, 1000);
	bed_job(&b, "two", "s1", "一件事");
	ck_assert(tk_until(all_done, &b, BED_MS));
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 1);
	stop(&b);
}

static json_t *
ready(struct bed *b)
{
	return bed_rpc(b, "soul.rpc.memory.ready", json_pack("{}"));
}

static bool
is_ready(void *arg)
{
	json_t *j = ready(arg);
	bool is = json_is_true(json_object_get(j, "ready"));

	json_decref(j);
	return is;
}

TEST_T(readiness, 60)
{
	size_t asked;
	struct bed b;
	json_t *j;
	int i;

	/* The key as a dashboard session, as the origin sent it. */
	start(&b, "MEM0_AUTH=bearer");
	j = ready(&b);
	ck_assert(json_is_false(json_object_get(j, "ready")));
	ck_assert_str_eq(fake_text(j, "reason"), "Mem0 refuses");
	json_decref(j);
	ck_assert(tk_log_has(&b.worker[0].proc, "auth=bearer"));
	tk_service_end(&b.worker[0]);
	b.more[3] = "MEM0_AUTH=x-api-key";
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	ck_assert(tk_until(is_ready, &b, BED_MS));
	/* It stored and deleted something, and does so seldom. */
	ck_assert_uint_eq(fake_rows(&f), 0);
	asked = f.asked;
	for (i = 0; i < 50; i++)
		ck_assert(is_ready(&b));
	ck_assert_uint_eq(f.asked, asked);
	stop(&b);
}
