/*
 * The time of a request to a service on our bus, compared with a bare cnats
 * program that echoes in the library's own thread: the same client, the same
 * server, in turns.
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

/* ---- the two services, each a process of its own ---- */

static void
service_on_bare(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	(void)sub;
	(void)arg;
	natsConnection_Publish(nc, natsMsg_GetReply(m), natsMsg_GetData(m),
	    natsMsg_GetDataLength(m));
	natsMsg_Destroy(m);
}

static void
service_run_bare(const char *url)
{
	natsOptions *o = NULL;
	natsConnection *nc = NULL;
	natsSubscription *sub = NULL;

	if (natsOptions_Create(&o) == NATS_OK &&
	    natsOptions_SetURL(o, url) == NATS_OK &&
	    natsOptions_SetSendAsap(o, true) == NATS_OK &&
	    natsConnection_Connect(&nc, o) == NATS_OK &&
	    natsConnection_Subscribe(
		&sub, nc, "bench.bare", service_on_bare, NULL) == NATS_OK)
		for (;;)
			pause();
	_exit(1);
}

static void
service_on_bus(void *arg, struct bus_msg *m)
{
	(void)arg;
	if (bus_reply(m, bus_msg_data(m)) != RC_OK)
		_exit(1);
}

static void
service_run_bus(const char *url)
{
	struct loop *l = loop_new(4096);
	struct bus_opts o = { .loop = l, .url = url, .name = "bench" };
	struct bus *b = NULL;

	if (bus_new(&o, &b) == RC_OK &&
	    bus_subscribe(
		b, "bench.bus", "bench", service_on_bus, NULL, NULL) == RC_OK)
		loop_run(l);
	_exit(1);
}

static pid_t
service_start(void (*run)(const char *url), const char *url)
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
service_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* ---- the client ---- */

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
request_and_wait(natsConnection *nc, const struct kind *k)
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

struct served_probe {
	natsConnection *nc;
	const struct kind *k;
};

static bool
is_served(void *arg)
{
	const struct served_probe *r = arg;

	return request_and_wait(r->nc, r->k);
}

static void
time_round(natsConnection *nc, struct kind *k)
{
	struct mono from;
	int i;

	for (i = 0; i < PER_ROUND; i++) {
		from = clock_mono();
		ck_assert(request_and_wait(nc, k));
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

	while (!atomic_load(c->end) && request_and_wait(c->nc, c->k))
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

/* ---- a client on our bus ---- */

struct bus_client {
	struct bus *b;
	struct kind *k; /* NULL: do not time each */
	struct mono from;
	long done, window;
	bool stopped;
	int pending;
};

static void bus_client_request(struct bus_client *o);

static void
bus_client_on_reply(void *arg, enum rc rc, struct str data)
{
	struct bus_client *o = arg;

	(void)data;
	ck_assert_int_eq(rc, RC_OK);
	o->done++;
	o->pending--;
	if (o->k != NULL)
		o->k->us[o->k->n++] =
		    (double)mono_diff_ns(clock_mono(), o->from) / 1000.0;
	if (o->k != NULL && o->done == PER_ROUND)
		o->stopped = true;
	if (!o->stopped)
		bus_client_request(o);
}

static void
bus_client_request(struct bus_client *o)
{
	struct bus_meta meta = { .deadline = { clock_wall().ms + 5000 } };

	o->from = clock_mono();
	o->pending++;
	ck_assert_int_eq(bus_request(o->b, "bench.bus",
			     (struct str){ payload, sizeof(payload) }, &meta,
			     (struct bus_reply_handler){
				 .fn = bus_client_on_reply, .arg = o },
			     NULL),
	    RC_OK);
}

static bool
bus_client_is_done(void *arg)
{
	const struct bus_client *o = arg;

	return o->stopped && o->pending == 0;
}

static bool
is_up(void *arg)
{
	return bus_up(arg);
}

static void
bus_client_time(struct loop *l, struct bus *b, struct kind *k)
{
	struct bus_client o = { .b = b, .k = k };

	bus_client_request(&o);
	ck_assert(tk_loop_until(l, bus_client_is_done, &o, 60000));
}

static double
bus_client_load(struct loop *l, struct bus *b)
{
	struct bus_client o = { .b = b };
	struct mono from = clock_mono();
	double s;
	int i;

	for (i = 0; i < WINDOW; i++)
		bus_client_request(&o);
	tk_loop_until(l, never, NULL, LOAD_MS);
	s = (double)mono_diff_ns(clock_mono(), from) / 1e9;
	o.stopped = true;
	from = clock_mono();
	ck_assert(tk_loop_until(l, bus_client_is_done, &o, 60000));
	return (double)o.done / s;
}

/* ---- figures ---- */

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

#define N_PLAIN    3
#define BUS_CLIENT 3

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
		ck_assert(tk_until(is_served,
		    &(struct served_probe){ nc[0], &kinds[i] }, 10000));
	for (r = 0; r < ROUNDS; r++) {
		/* Rotate the order. */
		for (i = 0; i < N_PLAIN; i++)
			time_round(nc[0], &kinds[(i + r) % N_PLAIN]);
		bus_client_time(l, b, &kinds[BUS_CLIENT]);
		for (i = 0; i < N_PLAIN; i++)
			kinds[i].per_s[r] = load_round(nc, &kinds[i]);
		kinds[BUS_CLIENT].per_s[r] = bus_client_load(l, b);
	}
	bus_free(b);
	loop_free(l);
	for (i = 0; i < CLIENTS; i++)
		natsConnection_Destroy(nc[i]);
}

TEST_T(requests_over_the_bus_and_bare_cnats, 300)
{
	struct tk_server s;
	pid_t bare, bus_client;
	size_t i;

	memset(payload, 'x', sizeof(payload));
	tk_server_start(&s, TK_NATS);
	bare = service_start(service_run_bare, s.url);
	bus_client = service_start(service_run_bus, s.url);
	measure(s.url);
	printf("%zu bytes; one client for the times, %d clients or %d requests "
	       "in flight for the rate\n%-34s %7s %6s %7s %6s %9s %6s\n",
	    sizeof(payload), CLIENTS, WINDOW, "round trip", "p50 us", "ratio",
	    "p99 us", "ratio", "per s", "ratio");
	for (i = 0; i < NELEM(kinds); i++)
		print(&kinds[i], &kinds[0]);
	(void)fflush(stdout);
	service_stop(bare);
	service_stop(bus_client);
}
