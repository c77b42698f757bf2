/*
 * memory-worker with a Chroma server (a stand-in): its whole life, and what it
 * does when the collection is gone or another's, the model is away, or Chroma.
 */
#include "chroma_life.h"
#include "fake_chroma.h"

static struct fake f;

static void
start(struct bed *b)
{
	bed_servers(b);
	fake_start(&f, chroma_serve);
	life_workers(b, f.peer.port);
	bed_spawn(b, 0);
	bed_ready(b, 0);
}

static void
stop(struct bed *b)
{
	bed_stop(b);
	fake_stop(&f);
}

TEST_T(a_whole_life, 60)
{
	struct bed b;

	start(&b);
	life(&b);
	/* Nothing is left, of the probe neither. */
	ck_assert_uint_eq(fake_rows(&f), 0);
	life_many(&b, 450);
	ck_assert_uint_eq(fake_rows(&f), 0);
	stop(&b);
}

/* What a row says of its memory. */
TEST_T(metadata, 60)
{
	const json_t *meta;
	struct bed b;

	start(&b);
	bed_publish(&b, "one",
	    "{\"job_id\":\"one\",\"kind\":\"memory_store\",\"user_id\":\"u1\","
	    "\"soul_id\":\"s1\",\"text\":\"学 Python\",\"type\":\"skill\","
	    "\"tags\":[\"Python\",\"C 语言\"],\"session_id\":\"chat\","
	    "\"created_at\":\"2026-02-22T10:20:30Z\"}");
	fake_wait(&f, 1);
	meta = json_object_get(json_array_get(f.rows, 0), "metadata");
	ck_assert_str_eq(fake_text(meta, "type"), "skill");
	ck_assert_int_eq(
	    json_integer_value(json_object_get(meta, "timestamp")), 1771755630);
	ck_assert(json_is_true(json_object_get(meta, "tag_python")));
	ck_assert(json_is_true(json_object_get(meta, "tag_c_语言")));
	ck_assert_str_eq(
	    fake_text(meta, "tags_json"), "[\"Python\",\"C 语言\"]");
	ck_assert_str_eq(fake_text(meta, "user_id"), "u1");
	ck_assert_str_eq(fake_text(meta, "soul_id"), "s1");
	ck_assert_str_eq(fake_text(meta, "session_id"), "chat");
	ck_assert_str_eq(
	    fake_text(json_array_get(f.rows, 0), "id"), "u1/s1/one");
	stop(&b);
}

/* Done twice it is there once, whatever became of the answer. */
TEST_T(stored_without_an_answer, 60)
{
	struct bed b;

	start(&b);
	bed_job(&b, "cat", "s1", "用户的猫叫小花");
	fake_wait(&f, 1);
	pthread_mutex_lock(&f.lock);
	f.cut = true;
	pthread_mutex_unlock(&f.lock);
	bed_job(&b, "tea", "s1", "用户喜欢乌龙茶");
	life_done(&b);
	ck_assert_uint_eq(fake_rows(&f), 2);
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 0);
	stop(&b);
}

TEST_T(the_server_was_reset, 60)
{
	struct bed b;

	start(&b);
	bed_job(&b, "cat", "s1", "用户的猫叫小花");
	life_done(&b);
	ck_assert_uint_eq(life_recall(&b, "u1", "s1", "猫", NULL, false), 1);
	chroma_reset(&f);
	ck_assert_uint_eq(life_recall(&b, "u1", "s1", "猫", NULL, false), 0);
	chroma_reset(&f);
	bed_job(&b, "tea", "s1", "用户喜欢乌龙茶");
	life_done(&b);
	ck_assert_uint_eq(life_recall(&b, "u1", "s1", "茶", NULL, false), 1);
	stop(&b);
}

TEST_T(away_for_a_while, 60)
{
	char id[16];
	struct bed b;
	int i;

	start(&b);
	fake_fail(&f, 503, 6);
	for (i = 0; i < 20; i++) {
		snprintf(id, sizeof(id), "m%d", i);
		bed_job(&b, id, "s1", id);
	}
	life_done(&b);
	ck_assert_uint_eq(fake_rows(&f), 20);
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 0);
	stop(&b);
}

static bool
has_parked(void *arg)
{
	return tk_service_metric(arg, "soul_memory_jobs_waiting") == 1;
}

/*
 * The collection's vectors are of spelling, and now there is a model: it is
 * searched by words, which the answer says, and takes nothing.
 */
TEST_T(the_collection_is_of_another_model, 60)
{
	static char url[96];
	struct bed b;

	start(&b);
	bed_llm(&b);
	bed_job(&b, "tea", "s1", "用户喜欢乌龙茶");
	life_done(&b);
	tk_service_end(&b.worker[0]);
	snprintf(url, sizeof(url), "EMBEDDINGS_BASE_URL=%s", b.llm_url);
	b.more[4] = url;
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	ck_assert(!life_ready(&b));
	ck_assert_uint_eq(
	    life_recall(&b, "u1", "s1", "乌龙茶", "用户喜欢乌龙茶", true), 1);
	bed_job(&b, "cat", "s1", "用户的猫叫小花");
	ck_assert(tk_until(has_parked, &b.worker[0], BED_MS));
	ck_assert_uint_eq(fake_rows(&f), 1);
	/* An operator drops the collection: what waited goes in. */
	chroma_reset(&f);
	life_done(&b);
	ck_assert_uint_eq(
	    life_recall(&b, "u1", "s1", "猫", "用户的猫叫小花", false), 1);
	ck_assert_uint_eq(f.dimension, 64);
	stop(&b);
}

struct away {
	struct bed *b;
	bool degraded;
};

static bool
is_degraded(void *arg)
{
	struct away *a = arg;
	json_t *j = bed_recall_as(a->b, "u1", "s1", "乌龙茶", 5);
	bool is = json_is_true(json_object_get(j, "degraded"));

	ck_assert_uint_ge(hits(j), 1);
	ck_assert_str_eq(hit_text(j, 0), "用户喜欢乌龙茶");
	json_decref(j);
	return is == a->degraded;
}

/* A search goes by words; what is to be stored waits for its vector. */
TEST_T(the_model_is_away, 60)
{
	static char url[96];
	struct away a = { .degraded = true };
	struct bed b;

	bed_servers(&b);
	bed_llm(&b);
	fake_start(&f, chroma_serve);
	life_workers(&b, f.peer.port);
	snprintf(url, sizeof(url), "EMBEDDINGS_BASE_URL=%s", b.llm_url);
	b.more[4] = url;
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	a.b = &b;
	bed_job(&b, "tea", "s1", "用户喜欢乌龙茶");
	life_done(&b);
	ck_assert_uint_eq(
	    life_recall(&b, "u1", "s1", "乌龙茶", "用户喜欢乌龙茶", false), 1);
	tk_service_kill(&b.llm);
	ck_assert(tk_until(is_degraded, &a, BED_MS));
	bed_job(&b, "cat", "s1", "用户的猫叫小花");
	ck_assert(tk_until(has_parked, &b.worker[0], BED_MS));
	ck_assert_uint_eq(fake_rows(&f), 1);
	bed_llm(&b);
	life_done(&b);
	ck_assert_uint_eq(fake_rows(&f), 2);
	a.degraded = false;
	ck_assert(tk_until(is_degraded, &a, BED_MS));
	stop(&b);
}

/* ---- killed anywhere --------------------------------------------------------
 */

#define JOBS 100

static void
kill_one(struct bed *b, int which)
{
	switch (which) {
	case 0:
		tk_service_kill(&b->worker[0]);
		bed_spawn(b, 0);
		break;
	case 1:
		tk_server_stop(&b->redis, SIGKILL);
		tk_server_restart(&b->redis);
		tk_state_wait(&b->db);
		break;
	default:
		tk_server_stop(&b->nats, SIGKILL);
		natsConnection_Destroy(b->nc);
		tk_server_restart(&b->nats);
		b->nc = tk_nats_connect(b->nats.url);
		bed_ready(b, 0);
	}
}

/*
 * Worker, Redis and nats-server are killed, twice each, at moments that the
 * seed chooses, and Chroma fails, and stores without an answer.
 */
TEST_T(everything_is_killed, 120)
{
	unsigned seed = 20260221;
	char id[24], text[24];
	struct bed b;
	int i, next = 8, kills = 0;

	start(&b);
	for (i = 0; i < JOBS; i++) {
		snprintf(id, sizeof(id), "job-%d", i);
		snprintf(text, sizeof(text), "<%d>", i);
		bed_job(&b, id, "s1", text);
		if (i < next || kills == 6)
			continue;
		next = i + 8 + rand_r(&seed) % 8;
		pthread_mutex_lock(&f.lock);
		f.cut = true;
		pthread_mutex_unlock(&f.lock);
		fake_fail(&f, 503, rand_r(&seed) % 3);
		kill_one(&b, kills++ % 3);
	}
	ck_assert_int_eq(kills, 6);
	fake_wait(&f, JOBS);
	life_done(&b);
	ck_assert_uint_eq(fake_rows(&f), JOBS);
	ck_assert_int_eq(bed_stream(&b, "SOUL_DEAD"), 0);
	bed_ready(&b, 0);
	stop(&b);
}
