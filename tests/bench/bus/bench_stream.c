/*
 * How many events a second one stream stores, on a single server and on a
 * cluster of three, all on this machine: with one copy and with three.
 */
#include "core/mem.h"
#include "testkit/bus_fixture.h"
#include "testkit/bus_jobs.h"
#include "testkit/figures.h"
#include "testkit/nats_cluster.h"

/* An event of a turn, with its envelope. */
#define EVENT_BYTES 700
#define ROUNDS      7
#define PER_ROUND   10000
/* What svc/event.c leaves unacknowledged at most. */
#define WINDOW 1024
#define MS     60000

struct load {
	struct bus *bus;
	int sent, acked, window;
};

static char event[EVENT_BYTES];
static int serial; /* of the next one: none is a duplicate */

static void load_publish(struct load *l);

static void
load_on_ack(void *arg, enum rc rc, const struct bus_pub_ack *ack)
{
	struct load *l = arg;

	ck_assert_int_eq(rc, RC_OK);
	ck_assert(!ack->duplicate);
	l->acked++;
	load_publish(l);
}

static void
load_publish(struct load *l)
{
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(MS) };
	char id[32];

	while (l->sent < PER_ROUND && l->sent - l->acked < l->window) {
		snprintf(id, sizeof(id), "event-%d", serial++);
		meta.msg_id = id;
		l->sent++;
		ck_assert_int_eq(
		    bus_stream_publish(l->bus, "job.n",
			(struct str){ event, sizeof(event) }, &meta,
			(struct bus_pub_ack_handler){ load_on_ack, l }),
		    RC_OK);
	}
}

static bool
load_is_done(void *arg)
{
	return ((struct load *)arg)->acked == PER_ROUND;
}

static double
servers_cpu_us(const struct tk_server *v, size_t n)
{
	double us = 0;

	while (n-- > 0)
		us += tk_cpu_us(v[n].proc.pid);
	return us;
}

/* Rounds on the n servers v, with an existing stream. */
static void
measure(const char *name, struct bus_fixture *e, struct load *l,
    const struct tk_server *v, size_t n)
{
	double per_s[ROUNDS], cpu[ROUNDS], from, us;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		l->sent = l->acked = 0;
		us = servers_cpu_us(v, n);
		from = tk_now_ns();
		load_publish(l);
		ck_assert(bus_fixture_until(e, load_is_done, l, MS));
		per_s[i] = PER_ROUND / ((tk_now_ns() - from) / 1e9);
		cpu[i] = (servers_cpu_us(v, n) - us) / PER_ROUND;
	}
	printf("%-34s %7d %9.0f %9.1f\n", name, l->window,
	    tk_median(per_s, ROUNDS), tk_median(cpu, ROUNDS));
	(void)fflush(stdout);
}

static void
ensure_stream(struct bus_fixture *e, int replicas)
{
	struct bus_opts o = { .loop = e->loop,
		.url = e->nats.url,
		.name = "test",
		.replicas = replicas };
	static struct bus_jobs_ready w;
	struct bus_stream s = bus_jobs_stream(&w);

	w = (struct bus_jobs_ready){ 0, 0, RC_OK };
	s.max_bytes = 1L << 30;
	ck_assert_int_eq(bus_new(&o, &e->bus), RC_OK);
	ck_assert_int_eq(bus_stream_ensure(e->bus, &s), RC_OK);
	ck_assert(bus_fixture_until(e, bus_jobs_is_ready, &w, MS));
}

static void
measure_windows(const char *name, struct bus_fixture *e,
    const struct tk_server *v, size_t n)
{
	static const int windows[] = { 1, 16, WINDOW };
	struct load l = { .bus = e->bus };
	size_t i;

	for (i = 0; i < NELEM(windows); i++) {
		l.window = windows[i];
		measure(name, e, &l, v, n);
	}
}

TEST_T(events_stored_by_one_stream, 600)
{
	struct tk_nats_cluster c;
	struct tk_server alone;
	struct bus_fixture e = { .loop = loop_new(4096) };

	memset(event, 'x', sizeof(event));
	printf("events of %d bytes, each acknowledged\n"
	       "%-34s %7s %9s %9s\n",
	    EVENT_BYTES, "stream", "at once", "per s", "CPU us");
	tk_server_start(&alone, TK_NATS);
	e.nats = alone;
	ensure_stream(&e, 1);
	measure_windows("a single server", &e, &alone, 1);
	bus_free(e.bus);
	tk_server_stop(&alone, SIGTERM);
	tk_nats_cluster_start(&c, false);
	e.nats = c.node[0];
	ensure_stream(&e, 1);
	measure_windows("a cluster, one copy", &e, c.node, TK_NATS_NODES);
	bus_free(e.bus);
	ensure_stream(&e, TK_NATS_NODES);
	(void)tk_nats_cluster_leader(&c, "JOBS");
	measure_windows("a cluster, three copies", &e, c.node, TK_NATS_NODES);
	bus_free(e.bus);
	loop_free(e.loop);
	tk_nats_cluster_stop(&c);
}
