/*
 * Concurrent changes of a soul are not lost.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/emotion_fixture.h"

#define CLIENTS 6
#define TEXTS   40

struct client {
	struct emotion_fixture *b;
	int64_t versions[TEXTS];
	pthread_t thread;
};

static void *
client_thread(void *arg)
{
	struct client *t = arg;
	int i;

	for (i = 0; i < TEXTS; i++) {
		json_t *j = emotion_fixture_observe(t->b, "soul_a", "t-1",
		    i % 2 == 0 ? "我很开心" : "我很难过");

		t->versions[i] = tk_int(j, "version");
		json_decref(j);
	}
	return NULL;
}

static int
by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* How many different ones there are; they must be 2, 3, 4, … */
static size_t
count_versions(int64_t *all, size_t n)
{
	size_t i, different = 0;

	qsort(all, n, sizeof(all[0]), by_value);
	for (i = 0; i < n; i++) {
		if (i > 0 && all[i] == all[i - 1])
			continue;
		ck_assert_msg(all[i] == (int64_t)different + 2,
		    "change %zu made version %lld", different,
		    (long long)all[i]);
		different++;
	}
	return different;
}

/*
 * Two engines, several concurrent clients and the ticks: each change has its
 * own version, and the versions are consecutive.  A tick that comes right after
 * another change makes none, and repeats its version to the body.
 */
TEST_T(concurrent_changes_have_consecutive_versions, 60)
{
	int64_t all[CLIENTS * TEXTS + 64];
	struct client t[CLIENTS];
	natsSubscription *sub;
	char subject[256];
	size_t n = 0, i;
	struct emotion_fixture b;
	json_t *u;

	emotion_fixture_start(&b, 2, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	emotion_fixture_body(&b, "t-1", "soul_a", true);
	sub = tk_nats_listen(b.nc, "soul.body.>");
	for (i = 0; i < CLIENTS; i++) {
		t[i].b = &b;
		ck_assert_int_eq(
		    pthread_create(&t[i].thread, NULL, client_thread, &t[i]),
		    0);
	}
	for (i = 0; i < CLIENTS; i++) {
		pthread_join(t[i].thread, NULL);
		memcpy(all + n, t[i].versions, sizeof(t[i].versions));
		n += TEXTS;
	}
	/* Those of the replies are of different changes. */
	qsort(all, n, sizeof(all[0]), by_value);
	for (i = 1; i < n; i++)
		ck_assert_int_ne(all[i], all[i - 1]);
	emotion_fixture_online(&b, "t-1", false);
	while ((u = tk_nats_next(sub, 500, subject)) != NULL) {
		if (strcmp(tk_text(u, "session_id"), "s1") != 0) {
			ck_assert_uint_lt(n, CLIENTS * TEXTS + 64);
			all[n++] = tk_int(u, "version");
		}
		json_decref(u);
	}
	n = count_versions(all, n);
	ck_assert_int_eq(emotion_fixture_version(&b, "soul_a"), (int64_t)n + 1);
	natsSubscription_Destroy(sub);
	emotion_fixture_stop(&b);
}

#define EARLY 60

/*
 * The version of an early reply is that which the change gets unless another
 * one comes first: only the second reply's is certain.
 */
TEST_T(the_second_reply_has_the_version, 60)
{
	int64_t all[EARLY];
	struct emotion_fixture b;
	natsSubscription *replies;
	size_t i, first = 0, n = 0;
	json_t *j;

	emotion_fixture_servers(&b);
	for (i = 0; i < 2; i++)
		emotion_fixture_spawn_as(
		    &b, (int)i, "EMOTION_TICK_INTERVAL_SECONDS=5", NULL);
	for (i = 0; i < 2; i++)
		tk_service_wait(&b.engine[i]);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	replies = tk_nats_listen(b.nc, "early.replies");
	for (i = 0; i < EARLY; i++)
		ck_assert_int_eq(
		    natsConnection_PublishRequestString(b.nc,
			"soul.rpc.emotion.observe", "early.replies",
			"{\"user_id\":\"u1\",\"soul_id\":\"soul_a\","
			"\"session_id\":\"s1\",\"terminal_id\":\"t-1\","
			"\"text\":\"气死我了！\",\"early\":true}"),
		    NATS_OK);
	for (i = 0; i < 2 * EARLY; i++) {
		j = tk_nats_next(replies, EMOTION_FIXTURE_MS, NULL);
		ck_assert_ptr_nonnull(j);
		if (json_is_false(json_object_get(j, "saved"))) {
			first++;
		} else {
			ck_assert_uint_lt(n, EARLY);
			all[n++] = tk_int(j, "version");
		}
		json_decref(j);
	}
	ck_assert_uint_eq(first, EARLY);
	ck_assert_uint_eq(count_versions(all, n), EARLY);
	ck_assert_int_eq(emotion_fixture_version(&b, "soul_a"), EARLY + 1);
	natsSubscription_Destroy(replies);
	emotion_fixture_stop(&b);
}

/* ---- what it costs ---- */

#define OBSERVES 200

/*
 * Calls to Redis for changes of souls: a compare-and-set each, one for each
 * that lost, and one or two for a soul without a copy.
 */
static long long
change_calls(struct emotion_fixture *b, int engines)
{
	long long n = 0;
	int i;

	for (i = 0; i < engines; i++)
		n += tk_service_metric(
			 &b->engine[i], "soul_emotion_cache_hits_total") +
		    3 *
			tk_service_metric(
			    &b->engine[i], "soul_emotion_cache_misses_total") +
		    tk_service_metric(
			&b->engine[i], "soul_emotion_cache_stale_total");
	return n;
}

/* One user talks, and each text may come to another engine. */
TEST_T(a_change_costs_a_call_or_two, 90)
{
	static const struct {
		int engines;
		double most;
	} rows[] = { { 1, 1.1 }, { 3, 2 } };
	struct emotion_fixture b;
	size_t i;
	int k;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		emotion_fixture_start(&b, rows[i].engines, NULL);
		emotion_fixture_soul(&b, "soul_a", "INFP");
		emotion_fixture_body(&b, "t-1", "soul_a", true);
		for (k = 0; k < OBSERVES; k++)
			json_decref(emotion_fixture_observe(
			    &b, "soul_a", "t-1", "我很开心"));
		ck_assert_double_le(
		    (double)change_calls(&b, rows[i].engines) / OBSERVES,
		    rows[i].most);
		emotion_fixture_stop(&b);
	}
}
