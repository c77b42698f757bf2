#include "testkit/stack/chaos_outage.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/http.h"
#include "testkit/stack/chaos_body.h"
#include "testkit/stack/chaos_redis.h"
#include "testkit/testkit.h"

/* A process that is killed is away for up to this long, or stopped. */
#define AWAY_MS    1500
#define STOPPED_MS 4000
#define SLOW_MS    4000
#define FSYNC_US   30000
/* Of the history, what is printed when there is none. */
#define PRINT_MS (CHAOS_RECOVERY_MS + 10000)
/* Elections of a NATS cluster take up to 9 s, and fail now and then. */
#define CHAOS_NATS_MS 60000
/* Between a recovery and the next fault. */
#define CALM_MS 1500

/* One that can be broken: a service, or a server. */
struct outage_target {
	const char *name;
	struct tk_proc *proc;
	int service; /* -1: a server */
	struct stack_proc *replica;
	struct stack *of;
	struct tk_server *server;
};

static unsigned
outage_random(struct chaos_outages *f, unsigned n)
{
	f->random = f->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(f->random >> 33) % n;
}

static bool
outage_is_elapsed(void *arg)
{
	return clock_mono().ns >= ((const struct mono *)arg)->ns;
}

/* It lasts as long as that. */
static void
outage_last(int ms)
{
	struct mono end = mono_add_ms(clock_mono(), ms);

	(void)tk_until(outage_is_elapsed, &end, ms + 1000);
}

static void
outage_fail(struct chaos_outages *f, const char *what)
{
	chaos_print(f->h, chaos_now() - PRINT_MS, stderr);
	ck_abort_msg("after fault %d: %s", f->done, what);
}

/* ---- what there is ---- */

static struct tk_server *
outage_server(struct chaos_outages *f, unsigned i, const char **name)
{
	static const char *const names[STACK_SERVERS] = { [STACK_NATS] = "NATS",
		[STACK_REDIS] = "Redis",
		[STACK_MQTT] = "the broker" };

	if (i < STACK_SERVERS && f->st->server[i].proc.pid > 0) {
		*name = names[i];
		return &f->st->server[i];
	}
	if (i < STACK_SERVERS)
		return NULL;
	*name = f->server[i - STACK_SERVERS]->proc.name;
	return f->server[i - STACK_SERVERS];
}

/* Servers are chosen as often as services. */
static struct outage_target
outage_choose(struct chaos_outages *f)
{
	unsigned services = STACK_SERVICES + (unsigned)f->n_replicas;
	unsigned servers = STACK_SERVERS + (unsigned)f->n_servers, i;
	struct outage_target t = { .service = -1 };

	while (outage_random(f, 2) == 0) {
		t.server = outage_server(f, outage_random(f, servers), &t.name);
		if (t.server != NULL) {
			t.proc = &t.server->proc;
			return t;
		}
	}
	i = outage_random(f, services);
	t.of = f->st;
	if (i < STACK_SERVICES) {
		t.service = (int)i;
		t.replica = &f->st->service[i];
	} else {
		t.service = (int)f->replica[i - STACK_SERVICES].service;
		t.replica = f->replica[i - STACK_SERVICES].proc;
		t.of = f->replica[i - STACK_SERVICES].of;
	}
	t.proc = &t.replica->proc;
	t.name = i < STACK_SERVICES ? stack_name((enum stack_service)i)
				    : f->replica[i - STACK_SERVICES].name;
	return t;
}

/* ---- faults ---- */

static void
outage_begin(struct chaos_outages *f, const char *name, const char *what)
{
	char text[160];

	f->begun = true;
	snprintf(text, sizeof(text), "%s %s", name, what);
	chaos_outage(f->h, chaos_now(), text);
}

/* kill -9, and a new start with the same data. */
static void
outage_kill(struct chaos_outages *f)
{
	struct outage_target t = outage_choose(f);

	outage_begin(f, t.name, "is killed");
	if (t.server != NULL) {
		tk_server_stop(t.server, SIGKILL);
		outage_last((int)outage_random(f, AWAY_MS));
		tk_server_restart(t.server);
		return;
	}
	t.replica->wanted = false;
	tk_signal(t.proc, SIGKILL);
	ck_assert_int_eq(tk_wait(t.proc, STACK_MS), 128 + SIGKILL);
	outage_last((int)outage_random(f, AWAY_MS));
	stack_spawn(t.of, (enum stack_service)t.service, t.replica, t.name);
}

/* A process that is slow beyond every deadline, and then goes on. */
static void
outage_stop(struct chaos_outages *f)
{
	struct outage_target t = outage_choose(f);

	/* A broker goes on with what it has accepted. */
	f->held = t.server != NULL &&
	    (t.server->kind == TK_MOSQUITTO ||
		t.server->kind == TK_MOSQUITTO_PERSISTENT);
	outage_begin(f, t.name, "is stopped");
	tk_signal(t.proc, SIGSTOP);
	outage_last(500 + (int)outage_random(f, STOPPED_MS));
	tk_signal(t.proc, SIGCONT);
}

static struct stack_proc *
outage_service(struct chaos_outages *f, int i)
{
	return i < STACK_SERVICES ? &f->st->service[i]
				  : f->replica[i - STACK_SERVICES].proc;
}

static void
outage_kill_everything(struct chaos_outages *f)
{
	int servers = STACK_SERVERS + f->n_servers, i;
	int services = STACK_SERVICES + f->n_replicas;
	struct stack_proc *p;
	struct tk_server *s;
	const char *name;

	outage_begin(f, "everything", "is killed");
	for (i = 0; i < servers; i++)
		if ((s = outage_server(f, (unsigned)i, &name)) != NULL)
			tk_signal(&s->proc, SIGKILL);
	for (i = 0; i < services; i++) {
		p = outage_service(f, i);
		tk_signal(&p->proc, SIGKILL);
		ck_assert_int_eq(tk_wait(&p->proc, STACK_MS), 128 + SIGKILL);
	}
	for (i = 0; i < servers; i++)
		if ((s = outage_server(f, (unsigned)i, &name)) != NULL) {
			tk_server_stop(s, SIGKILL);
			tk_server_restart(s);
		}
	for (i = 0; i < STACK_SERVICES; i++)
		stack_spawn(f->st, (enum stack_service)i, &f->st->service[i],
		    stack_name((enum stack_service)i));
	for (i = 0; i < f->n_replicas; i++)
		stack_spawn(f->replica[i].of, f->replica[i].service,
		    f->replica[i].proc, f->replica[i].name);
}

static void
outage_slow_disk(struct chaos_outages *f)
{
	outage_begin(f, "the disk of Redis", "is slow");
	f->st->meter->fsync_us = 1000 + outage_random(f, FSYNC_US);
	outage_last(SLOW_MS);
	f->st->meter->fsync_us = 0;
}

/* Connections of all clients of Redis, or of bodies, break. */
static void
outage_disconnect(struct chaos_outages *f)
{
	if (outage_random(f, 2) == 0) {
		outage_begin(f, "connections to Redis", "break");
		chaos_redis_disconnect(f->st);
	} else {
		outage_begin(f, "connections of bodies", "break");
		chaos_load_break(f->load, outage_random(f, 1u << 16));
	}
}

/*
 * A master is killed or stopped, until another server has taken over.  With
 * sentinels, one that comes back earlier may have writes acknowledged by a
 * replica that then follows the new master: waiting for one replica of two does
 * not exclude that.
 */
static void
outage_master(struct chaos_outages *f)
{
	struct tk_server *was =
	    chaos_redis_pick(f->st, "master", outage_random(f, 1u << 16));
	bool kill = outage_random(f, 3) > 0;

	if (was == NULL)
		return;
	outage_begin(f, "a master of Redis", kill ? "is killed" : "is stopped");
	if (kill)
		tk_server_stop(was, SIGKILL);
	else
		tk_signal(&was->proc, SIGSTOP);
	if (!chaos_redis_settles(f->st, was, CHAOS_RECOVERY_MS))
		outage_fail(f, "no other master of Redis");
	if (kill)
		tk_server_restart(was);
	else
		tk_signal(&was->proc, SIGCONT);
}

static void
outage_replica(struct chaos_outages *f)
{
	struct tk_server *replica =
	    chaos_redis_pick(f->st, "slave", outage_random(f, 1u << 16));

	if (replica == NULL)
		return;
	outage_begin(f, "a replica of Redis", "is killed");
	tk_server_stop(replica, SIGKILL);
	outage_last((int)outage_random(f, AWAY_MS));
	tk_server_restart(replica);
}

/* It is no fault, but the keys of a user are on two servers meanwhile. */
static void
outage_move(struct chaos_outages *f)
{
	outage_begin(f, "a slot of Redis", "moves");
	(void)chaos_redis_move(f->st, outage_random(f, 1u << 16));
}

static bool
outage_has_meter(const struct stack *st)
{
	return st->meter != NULL;
}

static bool
outage_has_cluster(const struct stack *st)
{
	return st->has_cluster;
}

/* ---- recovery ---- */

static bool
outage_is_ready(struct stack_proc *p)
{
	struct tk_response a = { 0 };
	bool is = tk_alive(&p->proc) && tk_port_open(p->admin) &&
	    tk_http_request(p->admin, &a, "GET", "/readyz", NULL) == 200;

	tk_response_free(&a);
	return is;
}

static bool
outage_all_ready(void *arg)
{
	struct chaos_outages *f = arg;
	int i;

	for (i = 0; i < STACK_SERVICES; i++)
		if (!outage_is_ready(&f->st->service[i]))
			return false;
	for (i = 0; i < f->n_replicas; i++)
		if (!outage_is_ready(f->replica[i].proc))
			return false;
	return true;
}

static void
outage_recover(struct chaos_outages *f)
{
	const char *what = NULL;

	if (!chaos_redis_settles(f->st, NULL, CHAOS_RECOVERY_MS))
		what = "the servers of Redis do not work together";
	else if (f->st->opts->nats_cluster &&
	    !tk_nats_cluster_recovers(&f->st->nats, CHAOS_NATS_MS))
		what = "the nats-servers do not work together";
	else if (!tk_until(outage_all_ready, f, CHAOS_RECOVERY_MS))
		what = "a service is not ready";
	else if (!chaos_load_resumes(f->load, CHAOS_RECOVERY_MS))
		what = "a client makes no progress";
	if (what != NULL)
		outage_fail(f, what);
}

/* Faults, and how often of WEIGHTS each is chosen. */
#define WEIGHTS 23

static const struct outage {
	unsigned weight;
	void (*fn)(struct chaos_outages *f);
	bool (*applies)(const struct stack *st); /* NULL: to every stack */
} outages[] = {
	{ 8, outage_kill, NULL },
	{ 6, outage_stop, NULL },
	{ 2, outage_disconnect, NULL },
	{ 1, outage_kill_everything, NULL },
	{ 1, outage_slow_disk, outage_has_meter },
	{ 2, outage_master, chaos_redis_is_set },
	{ 1, outage_replica, chaos_redis_is_set },
	{ 2, outage_move, outage_has_cluster },
};

/* One that applies. */
static const struct outage *
outage_pick(struct chaos_outages *f)
{
	const struct outage *x;
	unsigned n;

	do {
		n = outage_random(f, WEIGHTS);
		for (x = outages; n >= x->weight; x++)
			n -= x->weight;
	} while (x->applies != NULL && !x->applies(f->st));
	return x;
}

void
chaos_outages_run(struct chaos_outages *f, int seconds)
{
	struct mono end = mono_add_ms(clock_mono(), (int64_t)seconds * 1000);
	const struct outage *x;

	while (!outage_is_elapsed(&end)) {
		x = outage_pick(f);
		f->held = f->begun = false;
		x->fn(f);
		if (!f->begun)
			continue;
		chaos_outage_end(f->h, chaos_now(), f->held);
		f->done++;
		outage_recover(f);
		outage_last((int)outage_random(f, CALM_MS));
	}
}
