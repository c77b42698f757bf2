/*
 * Latency of a search over 100, 1,000 and 10,000 memories, beside a request
 * without a search; of the first search after the start and after a change;
 * jobs a second.
 */
#include "core/mem.h"
#include "store/memory_store.h"
#include "testkit/figures.h"
#include "testkit/memory_facts.h"
#include "testkit/memory_fixture.h"

#define CALLS   2000
#define CHANGES 50
#define JOBS    5000

static void
print(const char *what, double *us, size_t n)
{
	tk_sort(us, n);
	printf("%-44s p50 %8.1f us  p99 %8.1f us  max %8.1f us\n", what,
	    us[n / 2], us[n * 99 / 100], us[n - 1]);
}

/* About a hundred characters: fragments of the facts, and a number. */
static void
make_text(unsigned *seed, size_t number, char *dst, size_t size)
{
	size_t at = 0, i, pos, from;
	struct str s;

	while (at < 200) {
		s = str_of(
		    memory_facts[(size_t)rand_r(seed) % MEMORY_FACTS_N].text);
		pos = 0;
		for (i = 0; i < (size_t)rand_r(seed) % 20; i++)
			(void)str_utf8_next(s, &pos);
		from = pos;
		for (i = 0; i < 5 + (size_t)rand_r(seed) % 20; i++)
			(void)str_utf8_next(s, &pos);
		at += (size_t)snprintf(
		    dst + at, size - at, "%.*s", (int)(pos - from), s.p + from);
	}
	snprintf(dst + at, size - at, "%zu号", number);
}

static void
remember(struct memory_fixture *fx, unsigned *seed, const char *soul, size_t i)
{
	struct memory_scope scope = { STR("u1"), str_of(soul) };
	char json[1024], text[700], id[24];
	struct memory_item item;

	make_text(seed, i, text, sizeof(text));
	snprintf(id, sizeof(id), "m%zu", i);
	snprintf(json, sizeof(json),
	    "{\"text\":\"%s\",\"type\":\"fact\","
	    "\"created_at\":\"2026-02-22T10:20:30Z\"}",
	    text);
	item = (struct memory_item){ .id = str_of(id), .json = str_of(json) };
	ck_assert_int_eq(
	    memory_put(fx->db.s, &scope, &item, clock_wall()), RC_OK);
}

static const char *
query_text(size_t i)
{
	return memory_facts[i % MEMORY_FACTS_N].query[i % 2];
}

static double
recall_us(struct memory_fixture *fx, const char *soul, size_t i)
{
	struct mono from = clock_mono();
	json_t *j = memory_fixture_recall(fx, "u1", soul, query_text(i), 5);
	double us = (double)mono_diff_ns(clock_mono(), from) / 1e3;

	ck_assert_uint_eq(memory_fixture_hits(j), 5);
	json_decref(j);
	return us;
}

static void
bare(struct memory_fixture *fx)
{
	static double us[CALLS];
	struct mono from;
	json_t *j;
	size_t i;

	for (i = 0; i < CALLS; i++) {
		from = clock_mono();
		j = memory_fixture_rpc(
		    fx, "soul.rpc.memory.ready", json_pack("{}"));
		us[i] = (double)mono_diff_ns(clock_mono(), from) / 1e3;
		json_decref(j);
	}
	print("a question that needs no search", us, CALLS);
}

static void
on_found(void *arg, enum rc rc, const struct store_result *a)
{
	struct memory_fixture *fx = arg;

	ck_assert_int_eq(rc, RC_OK);
	ck_assert_uint_eq(a->n, 5);
	loop_stop(fx->db.loop);
}

/* Without NATS: the check with Redis and the search. */
static void
inside(struct memory_fixture *fx, const char *soul, size_t n)
{
	struct memory_scope scope = { STR("u1"), str_of(soul) };
	struct store *store = builtin_store_new(&(struct builtin_store_opts){
	    .state = fx->db.s, .max_bytes = SIZE_MAX });
	const struct store_request req = {
		.scope = scope, .fn = on_found, .arg = fx
	};
	static double us[CALLS];
	struct mono from;
	char what[64];
	size_t i;

	for (i = 0; i < CALLS; i++) {
		const struct rank_query q = { .text = str_of(query_text(i)),
			.now = clock_wall(),
			.k = 5 };

		from = clock_mono();
		store_search(store, &req, &q);
		loop_run(fx->db.loop);
		us[i] = (double)mono_diff_ns(clock_mono(), from) / 1e3;
	}
	snprintf(what, sizeof(what), "%zu: the same in the process", n);
	/* The first one loads the index. */
	print(what, us + 1, CALLS - 1);
	store_free(store);
}

static void
bench_many(struct memory_fixture *fx, size_t n)
{
	static double us[CALLS];
	unsigned seed = 5;
	char soul[24], what[64];
	double first;
	size_t i;

	snprintf(soul, sizeof(soul), "soul-%zu", n);
	memory_fixture_soul(fx, soul, "u1");
	for (i = 0; i < n - CHANGES; i++)
		remember(fx, &seed, soul, i);
	first = recall_us(fx, soul, 0);
	for (i = 0; i < CHANGES; i++) {
		remember(fx, &seed, soul, n - CHANGES + i);
		us[i] = recall_us(fx, soul, i);
	}
	printf("%zu memories: the first search %.1f ms, %lld KiB\n", n,
	    first / 1e3,
	    tk_service_metric(&fx->worker[0], "soul_memory_index_bytes") /
		1024);
	snprintf(what, sizeof(what), "%zu: a search after a change", n);
	print(what, us, CHANGES);
	for (i = 0; i < CALLS; i++)
		us[i] = recall_us(fx, soul, i);
	snprintf(what, sizeof(what), "%zu: a search", n);
	print(what, us, CALLS);
	inside(fx, soul, n);
}

/* ---- with vectors of an embedding model ---- */

#define DIMENSIONS 1536

/* Memories with vectors of a typical length. */
static void
bench_vectors(size_t n)
{
	static double us[CALLS];
	static int8_t x[DIMENSIONS];
	struct rank *r = rank_new(1);
	struct rank_hit hits[5];
	char id[24], text[700], what[64];
	struct rank_query q = { .now = clock_wall(), .k = 5 };
	unsigned seed = 7;
	struct mono from;
	size_t i, k;

	for (i = 0; i < n; i++) {
		make_text(&seed, i, text, sizeof(text));
		snprintf(id, sizeof(id), "m%zu", i);
		ck_assert(rank_add(r,
		    &(struct rank_memory){ .id = str_of(id),
			.text = str_of(text),
			.created = q.now }));
		for (k = 0; k < DIMENSIONS; k++)
			x[k] = (int8_t)(rand_r(&seed) % 255 - 127);
		rank_vector(
		    r, str_of(id), (struct str){ (const char *)x, sizeof(x) });
	}
	q.vector = (struct str){ (const char *)x, sizeof(x) };
	for (i = 0; i < CALLS; i++) {
		q.text = str_of(query_text(i));
		from = clock_mono();
		ck_assert_uint_eq(rank_find(r, &q, hits), 5);
		us[i] = (double)mono_diff_ns(clock_mono(), from) / 1e3;
	}
	snprintf(what, sizeof(what), "%zu with %d coordinates: ranking", n,
	    DIMENSIONS);
	print(what, us, CALLS);
	printf("%zu: %zu KiB\n", n, rank_bytes(r) / 1024);
	rank_free(r);
}

TEST_T(latency_of_a_vector_search, 300)
{
	bench_vectors(100);
	bench_vectors(1000);
	bench_vectors(10000);
}

TEST_T(latency_of_a_search, 300)
{
	struct memory_fixture fx;

	memory_fixture_start(&fx, 1);
	bare(&fx);
	bench_many(&fx, 100);
	bench_many(&fx, 1000);
	bench_many(&fx, 10000);
	memory_fixture_stop(&fx);
}

/* Jobs of so many users, each with a soul, all different. */
static void
publish_jobs(struct memory_fixture *fx, int users)
{
	char json[512], id[24];
	int i;

	for (i = 0; i < JOBS; i++) {
		snprintf(id, sizeof(id), "job-%d-%d", users, i);
		snprintf(json, sizeof(json),
		    "{\"job_id\":\"%s\",\"kind\":\"memory_store\","
		    "\"user_id\":\"user-%d\",\"soul_id\":\"soul-%d\","
		    "\"text\":\"%d: %s\",\"type\":\"fact\","
		    "\"created_at\":\"2026-02-22T10:20:30Z\"}",
		    id, i % users, i % users, i,
		    memory_facts[(size_t)i % MEMORY_FACTS_N].text);
		ck_assert_int_eq(natsConnection_PublishString(
				     fx->nc, "soul.job.memory_store", json),
		    NATS_OK);
	}
	ck_assert_int_eq(natsConnection_Flush(fx->nc), NATS_OK);
}

static void
measure_jobs(int users)
{
	char id[24], user[24];
	struct mono from;
	struct memory_fixture fx;
	double s;
	int i;

	memory_fixture_start(&fx, 1);
	printf(
	    "idle: %ld KiB\n", tk_proc_status(fx.worker[0].proc.pid, "VmRSS"));
	tk_service_end(&fx.worker[0]);
	for (i = 0; i < users; i++) {
		snprintf(user, sizeof(user), "user-%d", i);
		snprintf(id, sizeof(id), "soul-%d", i);
		memory_fixture_soul(&fx, id, user);
	}
	publish_jobs(&fx, users);
	while (memory_fixture_stream_len(&fx, "SOUL_JOBS") < JOBS)
		continue;
	memory_fixture_spawn_ready(&fx, 0);
	from = clock_mono();
	i = (int)memory_fixture_pending_jobs(&fx);
	memory_fixture_wait_jobs(&fx);
	s = (double)mono_diff_ns(clock_mono(), from) / 1e9;
	printf("jobs of %d users: %d in %.2f s, %.0f a second\n", users, i, s,
	    i / s);
	ck_assert_uint_eq(memory_fixture_memories_of(&fx, "user-0", "soul-0").n,
	    (size_t)(JOBS / users));
	memory_fixture_stop(&fx);
}

TEST_T(jobs_of_many_users, 120)
{
	measure_jobs(100);
}

TEST_T(jobs_of_one_user, 120)
{
	measure_jobs(1);
}
