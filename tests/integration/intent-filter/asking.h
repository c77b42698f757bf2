/*
 * asking: questions to intent-filters as the suite's own services ask them, so
 * many at a time; and the records that catalogs are named in.
 */
#ifndef ASKING_H
#define ASKING_H

#include "bus/bus.h"
#include "core/clock.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/worker.h"
#include "running.h"
#include "state/state.h"
#include "state/terminal.h"
#include "testkit/loop.h"
#include "testkit/terminal_fixture.h"

#define ASKING_MS 20000
/* As llm-orchestrator asks. */
#define AGAIN_MS    200
#define DEADLINE_MS 1500

struct asking {
	struct loop *loop;
	struct metric_set *metrics;
	struct bus *bus;
	struct worker_pool *workers;
	struct state *state; /* NULL without Redis */
	/* Questions under way: */
	struct str question;
	int64_t deadline_ms;
	size_t to_send, waiting;
	size_t good, bad;
	enum rc worst;
};

static inline bool
asking_up(void *arg)
{
	const struct asking *a = arg;

	return bus_up(a->bus) && (a->state == NULL || state_up(a->state));
}

static inline void
asking_start(struct asking *a, const char *nats_url, const char *redis_url)
{
	struct bus_opts o = { .url = nats_url, .name = "asking" };
	struct state_opts s = { .url = redis_url, .name = "asking" };

	memset(a, 0, sizeof(*a));
	a->deadline_ms = DEADLINE_MS;
	a->loop = loop_new(4096);
	a->metrics = metric_set_new();
	o.loop = s.loop = a->loop;
	o.metrics = a->metrics;
	ck_assert_int_eq(bus_new(&o, &a->bus), RC_OK);
	s.workers = a->workers = worker_new(a->loop, 1, 8);
	s.deadline_ms = 5000;
	if (redis_url != NULL)
		ck_assert_int_eq(state_new(&s, &a->state), RC_OK);
	ck_assert(tk_loop_until(a->loop, asking_up, a, ASKING_MS));
}

static inline void
asking_stop(struct asking *a)
{
	bus_free(a->bus);
	state_free(a->state);
	worker_free(a->workers);
	loop_free(a->loop);
	metric_set_free(a->metrics);
}

/* ---- records ------------------------------------------------------------- */

/* The record of terminal t1 gets a catalog. */
static inline void
asking_record(struct asking *a, const char *catalog, const char *hash)
{
	static int64_t version;
	struct terminal_writer w = {
		.broker = STR("main"), .epoch = 1, .ttl_ms = 60000
	};
	struct terminal_snapshot snap = { .version = ++version,
		.json = str_of(catalog),
		.hash = str_of(hash) };
	int64_t current;

	ck_assert_int_eq(terminal_fixture_put_catalog(
			     a->state, &w, STR("t1"), &snap, &current),
	    RC_OK);
}

/* ---- questions ----------------------------------------------------------- */

static inline void asking_fill(struct asking *a, size_t at_once);

static inline void
asking_answered(void *arg, enum rc rc, struct str data)
{
	struct asking *a = arg;

	a->waiting--;
	if (rc == RC_OK && strstr(data.p, "execute_intents") != NULL) {
		a->good++;
	} else {
		a->bad++;
		a->worst = rc;
	}
	asking_fill(a, a->waiting + 1);
}

/* Have at_once questions under way, while there are some to send. */
static inline void
asking_fill(struct asking *a, size_t at_once)
{
	struct bus_meta meta = { .resend_ms = AGAIN_MS };

	while (a->to_send > 0 && a->waiting < at_once) {
		meta.deadline.ms = clock_wall().ms + a->deadline_ms;
		ck_assert_int_eq(
		    bus_request(a->bus, FILTER_SUBJECT, a->question, &meta,
			(struct bus_reply_handler){
			    .fn = asking_answered, .arg = a },
			NULL),
		    RC_OK);
		a->to_send--;
		a->waiting++;
	}
}

static inline bool
asking_done(void *arg)
{
	const struct asking *a = arg;

	return a->waiting == 0 && a->to_send == 0;
}

/* How many were sent again so far. */
static inline int64_t
asking_again(struct asking *a)
{
	return metric_value(
	    metric_counter(a->metrics, "soul_bus_asked_again_total", "", NULL));
}

#endif /* !ASKING_H */
