/*
 * The cost of nats-server's permissions for a request: our bus on both sides,
 * with servers of different settings in turns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bus/bus.h"
#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/loop.h"
#include "testkit/testkit.h"

#define ROUNDS    9
#define PER_ROUND 1000
#define LOAD_MS   500
#define WINDOW    64
#define WAIT_MS   20000

static char payload[256];

/* As many other subjects as a service has. */
#define MANY                                                                  \
	"\"soul.a\", \"soul.b.*\", \"soul.c.*.d\", \"soul.e\", \"soul.f.*\"," \
	"\"soul.g.*.h\", \"soul.i\", \"soul.j.*\", \"soul.k.*.l\", \"soul.m\","
#define REQUESTER                                                 \
	"{ user: \"requester\", password: \"\", permissions: {\n" \
	" publish: { allow: [" MANY                               \
	" \"bench.echo\", \"_INBOX.requester.>\"] }\n"            \
	" subscribe: { allow: [" MANY " \"_INBOX.requester.>\"] } } }\n"
#define RESPONDER(publish, more)                                  \
	"{ user: \"responder\", password: \"\", permissions: {\n" \
	" publish: { allow: [" MANY publish "] }\n"               \
	" subscribe: { allow: [" MANY " \"bench.echo\", "         \
	"\"_INBOX.responder.>\"] }\n" more " } }\n"

struct setting {
	const char *name;
	const char *conf;
	struct tk_server s;
	struct loop *loop;
	struct bus *bus;
	pid_t responder;
	double us[ROUNDS * PER_ROUND];
	size_t n;
	double per_s[ROUNDS], cpu[ROUNDS];
};

static struct setting settings[] = {
	{ .name = "no users", .conf = "# nothing\n" },
	{ .name = "users that may do all",
	    .conf = "authorization { users: [\n"
		    "{ user: \"requester\", password: \"\" }\n"
		    "{ user: \"responder\", password: \"\" } ] }\n" },
	{ .name = "lists, requester inboxes",
	    .conf = "authorization { users: [\n" REQUESTER RESPONDER(
		" \"_INBOX.requester.>\", \"_INBOX.responder.>\"",
		"") "] }\n" },
	{ .name = "lists, allow_responses",
	    .conf = "authorization { users: [\n" REQUESTER RESPONDER(
		" \"_INBOX.responder.>\"",
		" allow_responses: { max: -1, expires: \"3m\" }") "] }\n" },
};

static struct bus *
bus_of(struct loop *l, const char *url, const char *name)
{
	struct bus_opts o = {
		.loop = l, .url = url, .name = name, .user = name
	};
	struct bus *b = NULL;

	ck_assert_int_eq(bus_new(&o, &b), RC_OK);
	return b;
}

static void
on_request(void *arg, struct bus_msg *m)
{
	(void)arg;
	if (bus_reply(m, bus_msg_data(m)) != RC_OK)
		_exit(1);
}

static pid_t
responder_start(const char *url)
{
	pid_t pid = fork();
	struct loop *l;

	ck_assert_int_ge(pid, 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	l = loop_new(4096);
	if (bus_subscribe(bus_of(l, url, "responder"), "bench.echo",
		"responder", on_request, NULL, NULL) == RC_OK)
		loop_run(l);
	_exit(1);
}

/* ---- requests ---- */

struct request_run {
	struct setting *w;
	struct mono from;
	long done, pending;
	bool timed, stop;
	enum rc rc; /* of the last reply */
};

static void request_send(struct request_run *a);

static void
request_on_reply(void *arg, enum rc rc, struct str data)
{
	struct request_run *a = arg;

	(void)data;
	a->rc = rc;
	a->done++;
	a->pending--;
	if (a->timed)
		a->w->us[a->w->n++] =
		    (double)mono_diff_ns(clock_mono(), a->from) / 1000.0;
	if (a->timed && a->done == PER_ROUND)
		a->stop = true;
	if (!a->stop)
		request_send(a);
}

static void
request_send(struct request_run *a)
{
	struct bus_meta meta = { .deadline = { clock_wall().ms + 5000 } };

	a->from = clock_mono();
	a->pending++;
	ck_assert_int_eq(
	    bus_request(a->w->bus, "bench.echo",
		(struct str){ payload, sizeof(payload) }, &meta,
		(struct bus_reply_handler){ .fn = request_on_reply, .arg = a },
		NULL),
	    RC_OK);
}

static bool
request_run_is_done(void *arg)
{
	const struct request_run *a = arg;

	return a->stop && a->pending == 0;
}

static bool
never(void *arg)
{
	(void)arg;
	return false;
}

static bool
is_up(void *arg)
{
	return bus_up(arg);
}

/* Whether one request gets a reply. */
static bool
is_served(void *arg)
{
	struct request_run a = { .w = arg, .stop = true };

	request_send(&a);
	ck_assert(tk_loop_until(a.w->loop, request_run_is_done, &a, WAIT_MS));
	return a.rc == RC_OK;
}

static void
setting_start(struct setting *w)
{
	w->loop = loop_new(4096);
	w->bus = bus_of(w->loop, w->s.url, "requester");
	ck_assert(tk_loop_until(w->loop, is_up, w->bus, WAIT_MS));
	ck_assert(tk_until(is_served, w, WAIT_MS));
}

static void
time_round(struct setting *w)
{
	struct request_run a = { .w = w, .timed = true };

	request_send(&a);
	ck_assert(tk_loop_until(w->loop, request_run_is_done, &a, 60000));
	ck_assert_int_eq(a.rc, RC_OK);
}

static void
load_round(struct setting *w, size_t round)
{
	struct request_run a = { .w = w };
	double cpu = tk_cpu_us(w->s.proc.pid), s;
	struct mono from = clock_mono();
	int i;

	for (i = 0; i < WINDOW; i++)
		request_send(&a);
	tk_loop_until(w->loop, never, NULL, LOAD_MS);
	a.stop = true;
	ck_assert(tk_loop_until(w->loop, request_run_is_done, &a, 60000));
	s = (double)mono_diff_ns(clock_mono(), from) / 1e9;
	w->per_s[round] = (double)a.done / s;
	w->cpu[round] = (tk_cpu_us(w->s.proc.pid) - cpu) / (double)a.done;
}

static void
setting_print(struct setting *w, double first)
{
	double per_s = tk_median(w->per_s, ROUNDS);

	tk_sort(w->us, w->n);
	printf("%-30s %8.0f %8.0f %10.0f %6.2f %12.1f\n", w->name,
	    w->us[w->n / 2], w->us[w->n * 99 / 100], per_s, per_s / first,
	    tk_median(w->cpu, ROUNDS));
}

TEST_T(requests_under_nats_permissions, 300)
{
	size_t i, r;

	memset(payload, 'x', sizeof(payload));
	/* cnats does not support fork() after its start. */
	for (i = 0; i < NELEM(settings); i++) {
		tk_server_start_with(&settings[i].s, TK_NATS, settings[i].conf);
		settings[i].responder = responder_start(settings[i].s.url);
	}
	for (i = 0; i < NELEM(settings); i++)
		setting_start(&settings[i]);
	for (r = 0; r < ROUNDS; r++) {
		/* Rotate the order. */
		for (i = 0; i < NELEM(settings); i++)
			time_round(&settings[(i + r) % NELEM(settings)]);
		for (i = 0; i < NELEM(settings); i++)
			load_round(&settings[(i + r) % NELEM(settings)], r);
	}
	printf("%zu bytes; one request after the other for the times, %d in "
	       "flight for the rate\n%-30s %8s %8s %10s %6s %12s\n",
	    sizeof(payload), WINDOW, "round trip", "p50 us", "p99 us", "per s",
	    "ratio", "server us");
	for (i = 0; i < NELEM(settings); i++)
		setting_print(
		    &settings[i], tk_median(settings[0].per_s, ROUNDS));
	(void)fflush(stdout);
	for (i = 0; i < NELEM(settings); i++) {
		bus_free(settings[i].bus);
		loop_free(settings[i].loop);
		kill(settings[i].responder, SIGKILL);
		ck_assert_int_eq(waitpid(settings[i].responder, NULL, 0),
		    settings[i].responder);
	}
}
