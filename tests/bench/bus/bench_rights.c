/*
 * What permissions of nats-server cost a request: our bus on both sides, with
 * servers of different settings in turns.
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

/* As many subjects beside the needed ones as a service has. */
#define MANY                                                                  \
	"\"soul.a\", \"soul.b.*\", \"soul.c.*.d\", \"soul.e\", \"soul.f.*\"," \
	"\"soul.g.*.h\", \"soul.i\", \"soul.j.*\", \"soul.k.*.l\", \"soul.m\","
#define ASKER                                                                 \
	"{ user: \"asker\", password: \"\", permissions: {\n"                 \
	" publish: { allow: [" MANY " \"bench.ask\", \"_INBOX.asker.>\"] }\n" \
	" subscribe: { allow: [" MANY " \"_INBOX.asker.>\"] } } }\n"
#define ANSWERER(publish, more)                                  \
	"{ user: \"answerer\", password: \"\", permissions: {\n" \
	" publish: { allow: [" MANY publish "] }\n"              \
	" subscribe: { allow: [" MANY " \"bench.ask\", "         \
	"\"_INBOX.answerer.>\"] }\n" more " } }\n"

struct way {
	const char *name;
	const char *conf;
	struct tk_server s;
	struct loop *loop;
	struct bus *bus;
	pid_t answerer;
	double us[ROUNDS * PER_ROUND];
	size_t n;
	double per_s[ROUNDS], cpu[ROUNDS];
};

static struct way ways[] = {
	{ .name = "no users", .conf = "# nothing\n" },
	{ .name = "users that may do all",
	    .conf = "authorization { users: [\n"
		    "{ user: \"asker\", password: \"\" }\n"
		    "{ user: \"answerer\", password: \"\" } ] }\n" },
	{ .name = "lists, inboxes of the askers",
	    .conf = "authorization { users: [\n" ASKER ANSWERER(
		" \"_INBOX.asker.>\", \"_INBOX.answerer.>\"", "") "] }\n" },
	{ .name = "lists, allow_responses",
	    .conf = "authorization { users: [\n" ASKER ANSWERER(
		" \"_INBOX.answerer.>\"",
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
on_ask(void *arg, struct bus_msg *m)
{
	(void)arg;
	if (bus_reply(m, bus_msg_data(m)) != RC_OK)
		_exit(1);
}

static pid_t
start_answerer(const char *url)
{
	pid_t pid = fork();
	struct loop *l;

	ck_assert_int_ge(pid, 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	l = loop_new(4096);
	if (bus_subscribe(bus_of(l, url, "answerer"), "bench.ask", "answerer",
		on_ask, NULL, NULL) == RC_OK)
		loop_run(l);
	_exit(1);
}

/* ---- asking -------------------------------------------------------------- */

struct asking {
	struct way *w;
	struct mono from;
	long done, waiting;
	bool timed, stop;
	enum rc rc; /* of the last */
};

static void ask(struct asking *a);

static void
on_answer(void *arg, enum rc rc, struct str data)
{
	struct asking *a = arg;

	(void)data;
	a->rc = rc;
	a->done++;
	a->waiting--;
	if (a->timed)
		a->w->us[a->w->n++] =
		    (double)mono_diff_ns(clock_mono(), a->from) / 1000.0;
	if (a->timed && a->done == PER_ROUND)
		a->stop = true;
	if (!a->stop)
		ask(a);
}

static void
ask(struct asking *a)
{
	struct bus_meta meta = { .deadline = { clock_wall().ms + 5000 } };

	a->from = clock_mono();
	a->waiting++;
	ck_assert_int_eq(
	    bus_request(a->w->bus, "bench.ask",
		(struct str){ payload, sizeof(payload) }, &meta,
		(struct bus_reply_handler){ .fn = on_answer, .arg = a }, NULL),
	    RC_OK);
}

static bool
is_over(void *arg)
{
	const struct asking *a = arg;

	return a->stop && a->waiting == 0;
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

/* One question at a time, until somebody answers. */
static bool
is_served(void *arg)
{
	struct asking a = { .w = arg, .stop = true };

	ask(&a);
	ck_assert(tk_loop_until(a.w->loop, is_over, &a, WAIT_MS));
	return a.rc == RC_OK;
}

static void
start_way(struct way *w)
{
	w->loop = loop_new(4096);
	w->bus = bus_of(w->loop, w->s.url, "asker");
	ck_assert(tk_loop_until(w->loop, is_up, w->bus, WAIT_MS));
	ck_assert(tk_until(is_served, w, WAIT_MS));
}

static void
time_round(struct way *w)
{
	struct asking a = { .w = w, .timed = true };

	ask(&a);
	ck_assert(tk_loop_until(w->loop, is_over, &a, 60000));
	ck_assert_int_eq(a.rc, RC_OK);
}

static void
load_round(struct way *w, size_t round)
{
	struct asking a = { .w = w };
	double cpu = tk_cpu_us(w->s.proc.pid), s;
	struct mono from = clock_mono();
	int i;

	for (i = 0; i < WINDOW; i++)
		ask(&a);
	tk_loop_until(w->loop, never, NULL, LOAD_MS);
	a.stop = true;
	ck_assert(tk_loop_until(w->loop, is_over, &a, 60000));
	s = (double)mono_diff_ns(clock_mono(), from) / 1e9;
	w->per_s[round] = (double)a.done / s;
	w->cpu[round] = (tk_cpu_us(w->s.proc.pid) - cpu) / (double)a.done;
}

static void
print(struct way *w, double first)
{
	double per_s = tk_median(w->per_s, ROUNDS);

	tk_sort(w->us, w->n);
	printf("%-30s %8.0f %8.0f %10.0f %6.2f %12.1f\n", w->name,
	    w->us[w->n / 2], w->us[w->n * 99 / 100], per_s, per_s / first,
	    tk_median(w->cpu, ROUNDS));
}

TEST_T(rights, 300)
{
	size_t i, r;

	memset(payload, 'x', sizeof(payload));
	/* The client library does not bear a fork once it runs. */
	for (i = 0; i < NELEM(ways); i++) {
		tk_server_start_with(&ways[i].s, TK_NATS, ways[i].conf);
		ways[i].answerer = start_answerer(ways[i].s.url);
	}
	for (i = 0; i < NELEM(ways); i++)
		start_way(&ways[i]);
	for (r = 0; r < ROUNDS; r++) {
		/* Each comes first in turn. */
		for (i = 0; i < NELEM(ways); i++)
			time_round(&ways[(i + r) % NELEM(ways)]);
		for (i = 0; i < NELEM(ways); i++)
			load_round(&ways[(i + r) % NELEM(ways)], r);
	}
	printf("%zu bytes; one request after the other for the times, %d in "
	       "flight for the rate\n%-30s %8s %8s %10s %6s %12s\n",
	    sizeof(payload), WINDOW, "round trip", "p50 us", "p99 us", "per s",
	    "ratio", "server us");
	for (i = 0; i < NELEM(ways); i++)
		print(&ways[i], tk_median(ways[0].per_s, ROUNDS));
	(void)fflush(stdout);
	for (i = 0; i < NELEM(ways); i++) {
		bus_free(ways[i].bus);
		loop_free(ways[i].loop);
		kill(ways[i].answerer, SIGKILL);
		ck_assert_int_eq(
		    waitpid(ways[i].answerer, NULL, 0), ways[i].answerer);
	}
}
