/*
 * intent_filter_load: concurrent requests to intent-filters over NATS, the
 * records that catalogs are referenced in, replicas, and large catalogs.
 */
#ifndef TESTKIT_INTENT_FILTER_LOAD_H
#define TESTKIT_INTENT_FILTER_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/bus.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/worker.h"
#include "state/state.h"
#include "testkit/intent_filter_fixture.h"

#define FILTER_LOAD_MS 20000

struct filter_load {
	struct loop *loop;
	struct metric_set *metrics;
	struct bus *bus;
	struct worker_pool *workers;
	struct state *state; /* NULL without Redis */
	struct str request_text;
	int64_t deadline_ms;
	size_t to_send, pending;
	size_t good, bad; /* replies */
	enum rc worst;    /* the last error */
};

/* filter_load_start(a, nats_url, redis_url): redis_url NULL: none. */
void filter_load_start(
    struct filter_load *a, const char *nats_url, const char *redis_url);
void filter_load_stop(struct filter_load *a);

/* filter_load_put_record(a, catalog, hash): A catalog of terminal t1. */
void filter_load_put_record(
    struct filter_load *a, const char *catalog, const char *hash);

/* filter_load_fill(a, concurrency): Have so many requests pending. */
void filter_load_fill(struct filter_load *a, size_t concurrency);

/* filter_load_is_done(a): Nothing is pending or to be sent. */
bool filter_load_is_done(void *arg);

/* filter_load_retries(a): Requests that were sent a second time. */
int64_t filter_load_retries(struct filter_load *a);

/* ---- replicas ---- */

#define FILTER_REPLICAS 3

struct filter_replicas {
	struct tk_server nats;
	struct filter_fixture r[FILTER_REPLICAS];
	struct filter_load load;
	size_t until; /* so many replies */
};

const char *filter_replica_name(int i);
void filter_replicas_start(struct filter_replicas *s);
void filter_replicas_stop(struct filter_replicas *s);

/* filter_replicas_run(s, n): Receive n more replies, with the load going on. */
void filter_replicas_run(struct filter_replicas *s, size_t n);

/*
 * filter_replicas_kill(s, i):
 * Kill one and start it anew, until it had a request pending, which was sent a
 * second time.
 */
void filter_replicas_kill(struct filter_replicas *s, int i);

/* ---- large catalogs ---- */

/*
 * filter_load_request(n, hit): A request with n intents, up to 1,000 (3: the
 * protocol's), and a command that matches or not; freed by the caller.
 */
char *filter_load_request(size_t n, bool hit);

#endif /* !TESTKIT_INTENT_FILTER_LOAD_H */
