/*
 * What a request to a service on our bus takes, beside a bare cnats program
 * that sends back what it got in the library's own thread: the same client,
 * the same server, in turns.
 */
#include <nats/nats.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bus/bus.h"
#include "core/loop.h"
#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/loop.h"
#include "testkit/testkit.h"

#define ROUNDS    9
#define PER_ROUND 1000
#define SAMPLES   (ROUNDS * PER_ROUND)
#define CLIENTS   8
#define LOAD_MS   500
#define WINDOW    64

/* A request of the size that services exchange. */
static char payload[256];

/* ---- the two services, each a process of its own ------------------------ */

static void
on_bare(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	(void)sub;
	(void)arg;
	natsConnection_Publish(nc, natsMsg_GetReply(m), natsMsg_GetData(m),
	    natsMsg_GetDataLength(m));
	natsMsg_Destroy(m);
}

static void
run_bare(const char *url)
{
	natsOptions *o = NULL;
	natsConnection *nc = NULL;
	natsSubscription *sub = NULL;

	if (natsOptions_Create(&o) == NATS_OK &&
	    natsOptions_SetURL(o, url) == NATS_OK &&
	    natsOptions_SetSendAsap(o, true) == NATS_OK &&
	    natsConnection_Connect(&nc, o) == NATS_OK &&
	    natsConnection_Subscribe(&sub, nc, "bench.bare", on_bare, NULL) ==
		NATS_OK)
		for (;;)
			pause();
	_exit(1);
}

static void
on_bus(void *arg, struct bus_msg *m)
{
	(void)arg;
	if (bus_reply(m, bus_msg_data(m)) != RC_OK)
		_exit(1);
}

static void
run_bus(const char *url)
{
	struct loop *l = loop_new(4096);
	struct bus_opts o = { .loop = l, .url = url, .name = "bench" };
	struct bus *b = NULL;

	if (bus_new(&o, &b) == RC_OK &&
	    bus_subscribe(b, "bench.bus", "bench", on_bus, NULL, NULL) == RC_OK)
		loop_run(l);
	_exit(1);
}

static pid_t
start(void (*run)(const char *url), const char *url)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(url);
	}
	return pid;
}

static void
stop(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* ---- the client ---------------------------------------------------------- */

struct kind {
	const char *name;
	const char *subject;
	bool headers;
	double us[SAMPLES];
	size_t n;
	double per_s[ROUNDS];
};

static natsConnection *
connect_to(const char *url)
{
	natsOptions *o = NULL;
	natsConnection *nc = NULL;

	ck_assert_int_eq(natsOptions_Create(&o), NATS_OK);
	ck_assert_int_eq(natsOptions_SetURL(o, url), NATS_OK);
	ck_assert_int_eq(natsOptions_SetSendAsap(o, true), NATS_OK);
	ck_assert_int_eq(natsConnection_Connect(&nc, o), NATS_OK);
	natsOptions_Destroy(o);
	return nc;
}

static bool
ask(natsConnection *nc, const struct kind *k)
{
	natsMsg *in = NULL, *out = NULL;
	natsStatus s;

	if (!k->headers) {
		s = natsConnection_Request(
		    &in, nc, k->subject, payload, (int)sizeof(payload), 5000);
	} else {
		natsMsg_Create(
		    &out, k->subject, NULL, payload, (int)sizeof(payload));
		natsMsgHeader_Set(out, "Soul-Deadline", "4102444800000");
		natsMsgHeader_Set(out, "traceparent",
		    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
		s = natsConnection_RequestMsg(&in, nc, out, 5000);
		natsMsg_Destroy(out);
	}
	natsMsg_Destroy(in);
	return s == NATS_OK;
}

struct ready {
	natsConnection *nc;
	const struct kind *k;
};

static bool
is_served(void *arg)
{
	const struct ready *r = arg;

	return ask(r->nc, r->k);
}

static void
time_round(natsConnection *nc, struct kind *k)
{
	struct mono from;
	int i;

	for (i = 0; i < PER_ROUND; i++) {
		from = clock_mono();
		ck_assert(ask(nc, k));
		k->us[k->n++] =
		    (double)mono_diff_ns(clock_mono(), from) / 1000.0;
	}
}

struct client {
	pthread_t thread;
	natsConnection *nc;
	const struct kind *k;
	atomic_bool *end;
	long done;
};

static void *
client_main(void *arg)
{
	struct client *c = arg;

	while (!atomic_load(c->end) && ask(c->nc, c->k))
		c->done++;
	nats_ReleaseThreadMemory();
	return NULL;
}

static bool
never(void *arg)
{
	(void)arg;
	return false;
}

static double
load_round(natsConnection *const nc[CLIENTS], const struct kind *k)
{
	struct client c[CLIENTS];
	atomic_bool end = false;
	struct mono from = clock_mono();
	long done = 0;
	double s;
	int i;

	for (i = 0; i < CLIENTS; i++) {
		c[i] = (struct client){ .nc = nc[i], .k = k, .end = &end };
		ck_assert_int_eq(
		    pthread_create(&c[i].thread, NULL, client_main, &c[i]), 0);
	}
	tk_until(never, NULL, LOAD_MS);
	atomic_store(&end, true);
	s = (double)mono_diff_ns(clock_mono(), from) / 1e9;
	for (i = 0; i < CLIENTS; i++) {
		ck_assert_int_eq(pthread_join(c[i].thread, NULL), 0);
		done += c[i].done;
	}
	return (double)done / s;
}

/* ---- our own client ------------------------------------------------------ */

struct ours {
	struct bus *b;
	struct kind *k; /* NULL: do not time each */
	struct mono from;
	long done, window;
	bool stop;
	int waiting;
};

static void ours_ask(struct ours *o);

static void
on_answer(void *arg, enum rc rc, struct str data)
{
	struct ours *o = arg;

	(void)data;
	ck_assert_int_eq(rc, RC_OK);
	o->done++;
	o->waiting--;
	if (o->k != NULL)
		o->k->us[o->k->n++] =
		    (double)mono_diff_ns(clock_mono(), o->from) / 1000.0;
	if (o->k != NULL && o->done == PER_ROUND)
		o->stop = true;
	if (!o->stop)
		ours_ask(o);
}

static void
ours_ask(struct ours *o)
{
	struct bus_meta meta = { .deadline = { clock_wall().ms + 5000 } };

	o->from = clock_mono();
	o->waiting++;
	ck_assert_int_eq(
	    bus_request(o->b, "bench.bus",
		(struct str){ payload, sizeof(payload) }, &meta,
		(struct bus_reply_handler){ .fn = on_answer, .arg = o }, NULL),
	    RC_OK);
}

static bool
ours_over(void *arg)
{
	const struct ours *o = arg;

	return o->stop && o->waiting == 0;
}

static bool
is_up(void *arg)
{
	return bus_up(arg);
}

static void
ours_time(struct loop *l, struct bus *b, struct kind *k)
{
	struct ours o = { .b = b, .k = k };

	ours_ask(&o);
	ck_assert(tk_loop_until(l, ours_over, &o, 60000));
}

static double
ours_load(struct loop *l, struct bus *b)
{
	struct ours o = { .b = b };
	struct mono from = clock_mono();
	double s;
	int i;

	for (i = 0; i < WINDOW; i++)
		ours_ask(&o);
	tk_loop_until(l, never, NULL, LOAD_MS);
	s = (double)mono_diff_ns(clock_mono(), from) / 1e9;
	o.stop = true;
	from = clock_mono();
	ck_assert(tk_loop_until(l, ours_over, &o, 60000));
	return (double)o.done / s;
}

/* ---- figures ------------------------------------------------------------- */

static double
quantile(const double *v, size_t n, double q)
{
	return v[(size_t)(q * (double)(n - 1))];
}

static void
print(struct kind *k, struct kind *bare)
{
	double p50, p99, per_s;

	tk_sort(k->us, k->n);
	tk_sort(k->per_s, ROUNDS);
	p50 = quantile(k->us, k->n, 0.5);
	p99 = quantile(k->us, k->n, 0.99);
	per_s = quantile(k->per_s, ROUNDS, 0.5);
	printf("%-34s %7.0f %6.2f %7.0f %6.2f %9.0f %6.2f\n", k->name, p50,
	    p50 / quantile(bare->us, bare->n, 0.5), p99,
	    p99 / quantile(bare->us, bare->n, 0.99), per_s,
	    per_s / quantile(bare->per_s, ROUNDS, 0.5));
}

static struct kind kinds[] = {
	{ .name = "bare cnats echo", .subject = "bench.bare" },
	{ .name = "our bus", .subject = "bench.bus" },
	{ .name = "our bus, deadline and trace",
	    .subject = "bench.bus",
	    .headers = true },
	{ .name = "our bus on both sides" },
};

#define N_PLAIN 3
#define OURS    3

static void
measure(const char *url)
{
	natsConnection *nc[CLIENTS];
	struct loop *l = loop_new(4096);
	struct bus_opts o = { .loop = l, .url = url, .name = "bench" };
	struct bus *b = NULL;
	size_t i, r;

	for (i = 0; i < CLIENTS; i++)
		nc[i] = connect_to(url);
	ck_assert_int_eq(bus_new(&o, &b), RC_OK);
	ck_assert(tk_loop_until(l, is_up, b, 10000));
	for (i = 0; i < N_PLAIN; i++)
		ck_assert(tk_until(
		    is_served, &(struct ready){ nc[0], &kinds[i] }, 10000));
	for (r = 0; r < ROUNDS; r++) {
		/* Each comes first in turn. */
		for (i = 0; i < N_PLAIN; i++)
			time_round(nc[0], &kinds[(i + r) % N_PLAIN]);
		ours_time(l, b, &kinds[OURS]);
		for (i = 0; i < N_PLAIN; i++)
			kinds[i].per_s[r] = load_round(nc, &kinds[i]);
		kinds[OURS].per_s[r] = ours_load(l, b);
	}
	bus_free(b);
	loop_free(l);
	for (i = 0; i < CLIENTS; i++)
		natsConnection_Destroy(nc[i]);
}

TEST_T(request, 300)
{
	struct tk_server s;
	pid_t bare, ours;
	size_t i;

	memset(payload, 'x', sizeof(payload));
	tk_server_start(&s, TK_NATS);
	bare = start(run_bare, s.url);
	ours = start(run_bus, s.url);
	measure(s.url);
	printf("%zu bytes; one client for the times, %d clients or %d requests "
	       "in flight for the rate\n%-34s %7s %6s %7s %6s %9s %6s\n",
	    sizeof(payload), CLIENTS, WINDOW, "round trip", "p50 us", "ratio",
	    "p99 us", "ratio", "per s", "ratio");
	for (i = 0; i < NELEM(kinds); i++)
		print(&kinds[i], &kinds[0]);
	(void)fflush(stdout);
	stop(bare);
	stop(ours);
}
