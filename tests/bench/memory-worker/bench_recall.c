/*
 * What remembering costs: a search over 100, 1,000 and 10,000 memories, beside
 * a question over NATS that needs no search; the first search after the start
 * and after a change; jobs a second.
 */
#include "builtin.h"
#include "core/mem.h"
#include "integration/memory-worker/talk.h"
#include "testkit/figures.h"
#include "unit/memory-worker/facts.h"

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

/* About a hundred characters: pieces of the facts, and a number. */
static void
make_text(unsigned *seed, size_t number, char *dst, size_t size)
{
	size_t at = 0, i, pos, from;
	struct str s;

	while (at < 200) {
		s = str_of(facts[(size_t)rand_r(seed) % NELEM(facts)].text);
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
remember(struct bed *b, unsigned *seed, const char *soul, size_t i)
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
	    memory_put(b->db.s, &scope, &item, clock_wall()), RC_OK);
}

static const char *
question(size_t i)
{
	return facts[i % NELEM(facts)].asked[i % 2];
}

static double
ask_us(struct bed *b, const char *soul, size_t i)
{
	struct mono from = clock_mono();
	json_t *j = bed_recall_as(b, "u1", soul, question(i), 5);
	double us = (double)mono_diff_ns(clock_mono(), from) / 1e3;

	ck_assert_uint_eq(hits(j), 5);
	json_decref(j);
	return us;
}

static void
bare(struct bed *b)
{
	static double us[CALLS];
	struct mono from;
	json_t *j;
	size_t i;

	for (i = 0; i < CALLS; i++) {
		from = clock_mono();
		j = bed_rpc(b, "soul.rpc.memory.ready", json_pack("{}"));
		us[i] = (double)mono_diff_ns(clock_mono(), from) / 1e3;
		json_decref(j);
	}
	print("a question that needs no search", us, CALLS);
}

static void
found(void *arg, enum rc rc, const struct store_answer *a)
{
	(void)arg;
	ck_assert_int_eq(rc, RC_OK);
	ck_assert_uint_eq(a->n, 5);
}

/* Without NATS: the check with Redis and the search. */
static void
inside(struct bed *b, const char *soul, size_t n)
{
	struct memory_scope scope = { STR("u1"), str_of(soul) };
	struct store *store = builtin_new(
	    &(struct builtin_opts){ .state = b->db.s, .max_bytes = SIZE_MAX });
	const struct store_ask ask = { .scope = scope, .fn = found };
	static double us[CALLS];
	struct mono from;
	char what[64];
	size_t i;

	for (i = 0; i < CALLS; i++) {
		const struct rank_query q = {
			.text = str_of(question(i)), .now = clock_wall(), .k = 5
		};

		from = clock_mono();
		store_search(store, &ask, &q);
		us[i] = (double)mono_diff_ns(clock_mono(), from) / 1e3;
	}
	snprintf(what, sizeof(what), "%zu: the same in the process", n);
	/* The first one reads them. */
	print(what, us + 1, CALLS - 1);
	store_free(store);
}

static void
of_many(struct bed *b, size_t n)
{
	static double us[CALLS];
	unsigned seed = 5;
	char soul[24], what[64];
	double first;
	size_t i;

	snprintf(soul, sizeof(soul), "soul-%zu", n);
	bed_soul(b, soul, "u1");
	for (i = 0; i < n - CHANGES; i++)
		remember(b, &seed, soul, i);
	first = ask_us(b, soul, 0);
	for (i = 0; i < CHANGES; i++) {
		remember(b, &seed, soul, n - CHANGES + i);
		us[i] = ask_us(b, soul, i);
	}
	printf("%zu memories: the first search %.1f ms, %lld KiB\n", n,
	    first / 1e3,
	    tk_service_metric(&b->worker[0], "soul_memory_index_bytes") / 1024);
	snprintf(what, sizeof(what), "%zu: a search after a change", n);
	print(what, us, CHANGES);
	for (i = 0; i < CALLS; i++)
		us[i] = ask_us(b, soul, i);
	snprintf(what, sizeof(what), "%zu: a search", n);
	print(what, us, CALLS);
	inside(b, soul, n);
}

/* ---- with vectors of an embedding model -------------------------------------
 */

#define DIMENSIONS 1536

/* Memories with vectors of a model's usual length, in an index. */
static void
of_vectors(size_t n)
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
		q.text = str_of(question(i));
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

TEST_T(vectors, 300)
{
	of_vectors(100);
	of_vectors(1000);
	of_vectors(10000);
}

TEST_T(recall, 300)
{
	struct bed b;

	bed_start(&b, 1);
	bare(&b);
	of_many(&b, 100);
	of_many(&b, 1000);
	of_many(&b, 10000);
	bed_stop(&b);
}

static bool
all_in(void *arg)
{
	return bed_undone(arg) == 0;
}

/* Jobs of so many users, each with a soul, none like another. */
static void
jobs_of(struct bed *b, int users)
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
		    facts[(size_t)i % NELEM(facts)].text);
		ck_assert_int_eq(natsConnection_PublishString(
				     b->nc, "soul.job.memory_store", json),
		    NATS_OK);
	}
	ck_assert_int_eq(natsConnection_Flush(b->nc), NATS_OK);
}

static void
measure_jobs(int users)
{
	char id[24], user[24];
	struct mono from;
	struct bed b;
	double s;
	int i;

	bed_start(&b, 1);
	printf(
	    "idle: %ld KiB\n", tk_proc_status(b.worker[0].proc.pid, "VmRSS"));
	tk_service_end(&b.worker[0]);
	for (i = 0; i < users; i++) {
		snprintf(user, sizeof(user), "user-%d", i);
		snprintf(id, sizeof(id), "soul-%d", i);
		bed_soul(&b, id, user);
	}
	jobs_of(&b, users);
	while (bed_stream(&b, "SOUL_JOBS") < JOBS)
		continue;
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	from = clock_mono();
	i = (int)bed_undone(&b);
	ck_assert(tk_until(all_in, &b, 100000));
	s = (double)mono_diff_ns(clock_mono(), from) / 1e9;
	printf("jobs of %d users: %d in %.2f s, %.0f a second\n", users, i, s,
	    i / s);
	ck_assert_uint_eq(
	    bed_memories_of(&b, "user-0", "soul-0").n, (size_t)(JOBS / users));
	bed_stop(&b);
}

TEST_T(jobs, 120)
{
	measure_jobs(100);
}

TEST_T(jobs_of_one, 120)
{
	measure_jobs(1);
}
