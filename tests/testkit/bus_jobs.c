#include "testkit/bus_jobs.h"

static const char *const bus_jobs_subjects[] = { "job.>" };

void
bus_jobs_on_ready(void *arg, enum rc rc)
{
	struct bus_jobs_ready *w = arg;

	w->last = rc;
	if (rc == RC_OK)
		w->ok++;
	else
		w->failed++;
}

bool
bus_jobs_is_ready(void *arg)
{
	return ((struct bus_jobs_ready *)arg)->ok > 0;
}

bool
bus_jobs_is_rejected(void *arg)
{
	return ((struct bus_jobs_ready *)arg)->failed > 0;
}

struct bus_stream
bus_jobs_stream(struct bus_jobs_ready *w)
{
	return (struct bus_stream){ .name = "JOBS",
		.subjects = bus_jobs_subjects,
		.n_subjects = 1,
		.max_age_s = 7 * 86400,
		.max_bytes = 64 << 20,
		.duplicates_s = 120,
		.ready = bus_jobs_on_ready,
		.arg = w };
}

void
bus_jobs_create(struct bus_fixture *e)
{
	/* Called after a reconnect too, so it lives as long as the bus. */
	static struct bus_jobs_ready w;
	struct bus_stream s = bus_jobs_stream(&w);

	w = (struct bus_jobs_ready){ 0, 0, RC_OK };
	ck_assert_int_eq(bus_stream_ensure(e->bus, &s), RC_OK);
	ck_assert_int_eq(w.ok, 0);
	BUS_FIXTURE_WAIT(e, bus_jobs_is_ready, &w);
}

void
bus_jobs_on_ack(void *arg, enum rc rc, const struct bus_pub_ack *s)
{
	struct bus_jobs_ack *p = arg;

	p->calls++;
	p->rc = rc;
	ck_assert((s != NULL) == (rc == RC_OK));
	if (s != NULL)
		p->stored = *s;
}

bool
bus_jobs_is_acked(void *arg)
{
	return ((struct bus_jobs_ack *)arg)->calls > 0;
}

enum rc
bus_jobs_publish(struct bus_fixture *e, const char *subject, const char *id,
    struct bus_jobs_ack *p)
{
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(5000),
		.msg_id = id };

	memset(p, 0, sizeof(*p));
	ck_assert_int_eq(
	    bus_stream_publish(e->bus, subject, str_of(id), &meta,
		(struct bus_pub_ack_handler){ bus_jobs_on_ack, p }),
	    RC_OK);
	ck_assert_int_eq(p->calls, 0);
	BUS_FIXTURE_WAIT(e, bus_jobs_is_acked, p);
	ck_assert_int_eq(p->calls, 1);
	return p->rc;
}

void
bus_jobs_publish_many(struct bus_fixture *e, int n)
{
	struct bus_jobs_ack p;
	char id[16];
	int i;

	for (i = 0; i < n; i++) {
		snprintf(id, sizeof(id), "%d", i);
		ck_assert_int_eq(bus_jobs_publish(e, "job.n", id, &p), RC_OK);
	}
}

void
bus_jobs_on_msg(void *arg, struct bus_msg *m)
{
	struct bus_jobs_member *s = arg;
	int64_t job;

	ck_assert_int_eq(
	    str_to_i64(bus_msg_data(m), 0, BUS_JOBS_MAX - 1, &job), RC_OK);
	ck_assert(str_eq(bus_msg_id(m), bus_msg_data(m)));
	ck_assert(bus_msg_delivery(m, &s->last));
	ck_assert(!bus_msg_wants_reply(m));
	s->seq[job] = s->last.seq;
	if (s->n < 8) {
		s->at[s->n] = clock_mono();
		s->delivered[s->n] = s->last.delivered;
	}
	s->n++;
	if (s->times[job]++ == 0)
		s->distinct++;
	switch (s->outcome) {
	case BUS_JOBS_ACK:
		ck_assert_int_eq(bus_ack(m), RC_OK);
		break;
	case BUS_JOBS_NAK:
		ck_assert_int_eq(bus_nak(m, s->delay_ms), RC_OK);
		break;
	case BUS_JOBS_FREE:
		bus_msg_free(m);
		break;
	case BUS_JOBS_HOLD:
		ck_assert_int_lt(s->n_held, 64);
		s->held[s->n_held++] = m;
		break;
	}
}

static void
bus_jobs_on_member_ready(void *arg, enum rc rc)
{
	bus_jobs_on_ready(&((struct bus_jobs_member *)arg)->ready, rc);
}

struct bus_consumer
bus_jobs_consumer(struct bus_jobs_member *s)
{
	return (struct bus_consumer){ .stream = "JOBS",
		.name = "worker",
		.ack_wait_ms = 30000,
		.max_in_flight = 256,
		.fn = bus_jobs_on_msg,
		.ready = bus_jobs_on_member_ready,
		.arg = s };
}

void
bus_jobs_consume(
    struct bus_fixture *e, struct bus *b, const struct bus_consumer *c)
{
	struct bus_jobs_member *s = c->arg;

	ck_assert_int_eq(bus_consume(b, c), RC_OK);
	ck_assert_int_eq(s->ready.ok, 0);
	BUS_FIXTURE_WAIT(e, bus_jobs_is_ready, &s->ready);
}

struct bus_jobs_goal {
	struct bus_jobs_member *s;
	int distinct, n;
};

static bool
bus_jobs_has_reached(void *arg)
{
	const struct bus_jobs_goal *w = arg;

	return w->s->distinct >= w->distinct && w->s->n >= w->n;
}

bool
bus_jobs_until_ms(struct bus_fixture *e, struct bus_jobs_member *s,
    int distinct, int n, int ms)
{
	struct bus_jobs_goal w = { s, distinct, n };

	return bus_fixture_until(e, bus_jobs_has_reached, &w, ms);
}

bool
bus_jobs_until(
    struct bus_fixture *e, struct bus_jobs_member *s, int distinct, int n)
{
	return bus_jobs_until_ms(e, s, distinct, n, BUS_FIXTURE_MS);
}

long long
bus_jobs_consumer_number(struct bus_fixture *e, const char *key)
{
	json_t *o = bus_fixture_request_json(
	    e, "$JS.API.CONSUMER.INFO.JOBS.worker", "");
	long long n = json_integer_value(json_object_get(o, key));

	ck_assert_msg(json_is_integer(json_object_get(o, key)), "no %s", key);
	json_decref(o);
	return n;
}

bool
bus_jobs_consumer_until(struct bus_fixture *e, const char *key, long long want)
{
	struct mono by = mono_add_ms(clock_mono(), BUS_FIXTURE_MS);

	while (bus_jobs_consumer_number(e, key) != want)
		if (clock_mono().ns > by.ns)
			return false;
	return true;
}
