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

/*
 * Two engines, several concurrent clients and the ticks: each change has its
 * own version, and the versions are consecutive.
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
	emotion_fixture_online(&b, "t-1", false);
	while ((u = tk_nats_next(sub, 500, subject)) != NULL) {
		if (strcmp(tk_text(u, "session_id"), "s1") != 0) {
			ck_assert_uint_lt(n, CLIENTS * TEXTS + 64);
			all[n++] = tk_int(u, "version");
		}
		json_decref(u);
	}
	qsort(all, n, sizeof(all[0]), by_value);
	for (i = 0; i < n; i++)
		ck_assert_msg(all[i] == (int64_t)i + 2,
		    "change %zu made version %lld", i, (long long)all[i]);
	ck_assert_int_eq(emotion_fixture_version(&b, "soul_a"), (int64_t)n + 1);
	natsSubscription_Destroy(sub);
	emotion_fixture_stop(&b);
}
