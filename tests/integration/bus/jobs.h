/*
 * jobs: a stream of numbered jobs and a handler that notes what it saw.
 */
#ifndef JOBS_H
#define JOBS_H

#include <stdio.h>

#include "bus/jetstream.h"
#include "doc.h"

#define JOBS_MAX 5000

static const char *const jobs_subjects[] = { "job.>" };

struct wish {
	int ok, failed;
	enum rc last;
};

static inline void
on_wish(void *arg, enum rc rc)
{
	struct wish *w = arg;

	w->last = rc;
	if (rc == RC_OK)
		w->ok++;
	else
		w->failed++;
}

static inline bool
is_granted(void *arg)
{
	return ((struct wish *)arg)->ok > 0;
}

static inline bool
is_refused(void *arg)
{
	return ((struct wish *)arg)->failed > 0;
}

static inline struct bus_stream
jobs_stream(struct wish *w)
{
	return (struct bus_stream){ .name = "JOBS",
		.subjects = jobs_subjects,
		.n_subjects = 1,
		.max_age_s = 7 * 86400,
		.max_bytes = 64 << 20,
		.duplicates_s = 120,
		.ready = on_wish,
		.arg = w };
}

/* The stream, made and confirmed. */
static inline void
jobs_make(struct bed *e)
{
	/* Told again after a reconnect, so it lives as long as the bus. */
	static struct wish w;
	struct bus_stream s = jobs_stream(&w);

	w = (struct wish){ 0, 0, RC_OK };
	ck_assert_int_eq(bus_stream_ensure(e->bus, &s), RC_OK);
	ck_assert_int_eq(w.ok, 0);
	ck_assert(bed_until(e, is_granted, &w, BED_MS));
}

struct put {
	int calls;
	enum rc rc;
	struct bus_pub_ack stored;
};

static inline void
on_put(void *arg, enum rc rc, const struct bus_pub_ack *s)
{
	struct put *p = arg;

	p->calls++;
	p->rc = rc;
	ck_assert((s != NULL) == (rc == RC_OK));
	if (s != NULL)
		p->stored = *s;
}

static inline bool
is_put(void *arg)
{
	return ((struct put *)arg)->calls > 0;
}

/* Publish and wait for the acknowledgement. */
static inline enum rc
put(struct bed *e, const char *subject, const char *id, struct put *p)
{
	struct bus_meta meta = { .deadline = in_ms(5000), .msg_id = id };

	memset(p, 0, sizeof(*p));
	ck_assert_int_eq(bus_stream_publish(e->bus, subject, str_of(id), &meta,
			     (struct bus_pub_ack_handler){ on_put, p }),
	    RC_OK);
	ck_assert_int_eq(p->calls, 0);
	ck_assert(bed_until(e, is_put, p, BED_MS));
	ck_assert_int_eq(p->calls, 1);
	return p->rc;
}

/* Publish jobs 0 to n-1, each with its number as id and content. */
static inline void
put_many(struct bed *e, int n)
{
	struct put p;
	char id[16];
	int i;

	for (i = 0; i < n; i++) {
		snprintf(id, sizeof(id), "%d", i);
		ck_assert_int_eq(put(e, "job.n", id, &p), RC_OK);
	}
}

enum how { ACK, NAK, LEAVE, HOLD };

/* One member's memory. */
struct seen {
	enum how how;
	int64_t delay_ms;     /* of a nak */
	int n;                /* deliveries */
	int distinct;         /* jobs seen at least once */
	int times[JOBS_MAX];  /* per job */
	struct mono at[8];    /* of the first deliveries */
	int64_t delivered[8]; /* what bus_msg_delivery() said of them */
	struct bus_delivery last;
	struct bus_msg *held[64];
	int n_held;
	struct wish wish;
};

static inline void
on_job(void *arg, struct bus_msg *m)
{
	struct seen *s = arg;
	int64_t job;

	ck_assert_int_eq(
	    str_to_i64(bus_msg_data(m), 0, JOBS_MAX - 1, &job), RC_OK);
	ck_assert(str_eq(bus_msg_id(m), bus_msg_data(m)));
	ck_assert(bus_msg_delivery(m, &s->last));
	ck_assert(!bus_msg_wants_reply(m));
	if (s->n < 8) {
		s->at[s->n] = clock_mono();
		s->delivered[s->n] = s->last.delivered;
	}
	s->n++;
	if (s->times[job]++ == 0)
		s->distinct++;
	switch (s->how) {
	case ACK:
		ck_assert_int_eq(bus_ack(m), RC_OK);
		break;
	case NAK:
		ck_assert_int_eq(bus_nak(m, s->delay_ms), RC_OK);
		break;
	case LEAVE:
		bus_msg_free(m);
		break;
	case HOLD:
		ck_assert_int_lt(s->n_held, 64);
		s->held[s->n_held++] = m;
		break;
	}
}

static inline void
on_seen_wish(void *arg, enum rc rc)
{
	on_wish(&((struct seen *)arg)->wish, rc);
}

static inline struct bus_consumer
jobs_consumer(struct seen *s)
{
	return (struct bus_consumer){ .stream = "JOBS",
		.name = "worker",
		.ack_wait_ms = 30000,
		.max_in_flight = 256,
		.fn = on_job,
		.ready = on_seen_wish,
		.arg = s };
}

/* Take part, and be confirmed. */
static inline void
consume(struct bed *e, struct bus *b, const struct bus_consumer *c)
{
	struct seen *s = c->arg;

	ck_assert_int_eq(bus_consume(b, c), RC_OK);
	ck_assert_int_eq(s->wish.ok, 0);
	ck_assert(bed_until(e, is_granted, &s->wish, BED_MS));
}

struct seen_want {
	struct seen *s;
	int distinct, n;
};

static inline bool
has_seen(void *arg)
{
	const struct seen_want *w = arg;

	return w->s->distinct >= w->distinct && w->s->n >= w->n;
}

/* Until s has had n deliveries of that many different jobs. */
static inline bool
seen_until(struct bed *e, struct seen *s, int distinct, int n)
{
	struct seen_want w = { s, distinct, n };

	return bed_until(e, has_seen, &w, BED_MS);
}

/* What the server says of the consumer. */
static inline long long
consumer_number(struct bed *e, const char *key)
{
	json_t *o = get(e, "$JS.API.CONSUMER.INFO.JOBS.worker", "");
	long long n = json_integer_value(json_object_get(o, key));

	ck_assert_msg(json_is_integer(json_object_get(o, key)), "no %s", key);
	json_decref(o);
	return n;
}

/* Until it says want; what we send it takes in when it finds the time. */
static inline bool
consumer_until(struct bed *e, const char *key, long long want)
{
	struct mono by = mono_add_ms(clock_mono(), BED_MS);

	while (consumer_number(e, key) != want)
		if (clock_mono().ns > by.ns)
			return false;
	return true;
}

#endif /* !JOBS_H */
