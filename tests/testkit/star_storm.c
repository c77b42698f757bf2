#include "testkit/star_storm.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/star_clients.h"
#include "testkit/star_fixture.h"

#define HUB_DOWN_MS    3000
#define SERVER_DOWN_MS 1000
#define STEP_MS        20
#define RETURN_MS      60000 /* all are connected then */

enum failure { KILL_HUB, KILL_NATS, KILL_REDIS, DRAIN_HUB, FAULTS };
static const char *const failure_names[FAULTS] = { "kill -9 of hub",
	"kill -9 of "
	"nats-"
	"server",
	"kill -9 of redis-server", "SIGTERM of hub" };

/* What is down, until when; 0: it is not. */
struct storm {
	const struct star_storm *o;
	struct star_fixture f;
	struct star_clients *clients;
	char resume[32];
	const char *env[8];
	int64_t hub_at[STAR_HUBS], server_at[2];
	int draining; /* -1: none */
	int64_t drain_began, drain_longest;
	enum failure order[FAULTS];
	int faults[FAULTS], n;
	size_t wrong_views;
};

static struct tk_server *
storm_server(struct storm *s, int i)
{
	return i == 0 ? &s->f.nats : &s->f.redis;
}

static void
storm_note(struct storm *s, const char *what, int hub)
{
	char text[64];

	if (hub >= 0)
		(void)snprintf(text, sizeof(text), "%s %d", what, hub);
	else
		(void)snprintf(text, sizeof(text), "%s", what);
	star_history_failure(star_clients_history(s->clients),
	    star_clients_now(s->clients), text);
}

/* ---- faults ---- */

static void
storm_shuffle(struct storm *s)
{
	enum failure t;
	size_t i, k;

	for (i = FAULTS - 1; i > 0; i--) {
		k = star_clients_random(s->clients, i + 1);
		t = s->order[i];
		s->order[i] = s->order[k];
		s->order[k] = t;
	}
}

static void
storm_begin_failure(struct storm *s)
{
	int hub = (int)star_clients_random(s->clients, STAR_HUBS);
	int64_t now = star_clients_now(s->clients);
	enum failure failure;
	int i;

	if (s->n % FAULTS == 0)
		storm_shuffle(s);
	failure = s->order[s->n++ % FAULTS];
	s->faults[failure]++;
	storm_note(s, failure_names[failure],
	    failure == KILL_HUB || failure == DRAIN_HUB ? hub : -1);
	switch (failure) {
	case KILL_HUB:
		tk_service_kill(star_hub(&s->f, hub));
		s->hub_at[hub] = now + HUB_DOWN_MS;
		break;
	case DRAIN_HUB:
		tk_signal(&star_hub(&s->f, hub)->proc, SIGTERM);
		s->draining = hub;
		s->drain_began = now;
		break;
	default:
		i = failure == KILL_NATS ? 0 : 1;
		tk_server_stop(storm_server(s, i), SIGKILL);
		s->server_at[i] = now + SERVER_DOWN_MS;
	}
}

/* Its end is as it should be. */
static void
storm_check_drain(struct storm *s, int64_t now)
{
	struct tk_service *hub = star_hub(&s->f, s->draining);
	int status = tk_wait(&hub->proc, 0);

	if (status == -1) {
		ck_assert_int_lt(now - s->drain_began, RETURN_MS);
		return;
	}
	if (now - s->drain_began > s->drain_longest)
		s->drain_longest = now - s->drain_began;
	if (status != 0)
		star_history_wrong(star_clients_history(s->clients), now,
		    "a hub that was ended by SIGTERM has another status");
	s->hub_at[s->draining] = now;
	s->draining = -1;
}

/* Start again what has been down for long enough; whether nothing is down. */
static bool
storm_repair(struct storm *s)
{
	int64_t now = star_clients_now(s->clients);
	bool up = s->draining == -1;
	int i;

	if (s->draining >= 0)
		storm_check_drain(s, now);
	for (i = 0; i < STAR_HUBS; i++) {
		if (s->hub_at[i] > 0 && now >= s->hub_at[i]) {
			star_spawn_hub(&s->f, i, s->env);
			s->hub_at[i] = 0;
			storm_note(s, "start of hub", i);
		}
		up = up && s->hub_at[i] == 0;
	}
	for (i = 0; i < 2; i++) {
		if (s->server_at[i] > 0 && now >= s->server_at[i]) {
			tk_server_restart(storm_server(s, i));
			s->server_at[i] = 0;
			storm_note(s,
			    i == 0 ? "start of nats-server"
				   : "start of redis-server",
			    -1);
		}
		up = up && s->server_at[i] == 0;
	}
	return up;
}

static void
storm_check_views(struct storm *s, bool all)
{
	s->wrong_views +=
	    star_history_check_views(star_clients_history(s->clients),
		star_clients_now(s->clients), all, stderr);
}

static void
storm_of_failures(struct storm *s)
{
	int64_t end = star_clients_now(s->clients) + s->o->seconds * 1000;
	int64_t next = star_clients_now(s->clients);

	while (star_clients_now(s->clients) < end) {
		star_clients_run(s->clients, STEP_MS);
		/* One at a time. */
		if (!storm_repair(s) || star_clients_now(s->clients) < next)
			continue;
		storm_check_views(s, false);
		storm_begin_failure(s);
		next += s->o->period_ms;
	}
	while (!storm_repair(s))
		star_clients_run(s->clients, STEP_MS);
}

/* ---- its beginning and end ---- */

/* How long it took. */
static int64_t
storm_all_connect(struct storm *s)
{
	int64_t began = star_clients_now(s->clients), now = began;
	struct star_clients_ends e;

	while (star_clients_open(s->clients) < s->o->clients) {
		star_clients_ends(s->clients, &e);
		ck_assert_msg(now - began < RETURN_MS,
		    "%zu of %zu are connected; %zu try, %zu have not joined; "
		    "%zu rejected, the last one with %s",
		    star_clients_open(s->clients), s->o->clients, e.connecting,
		    e.unjoined, e.rejected, e.rejection);
		star_clients_run(s->clients, STEP_MS);
		now = star_clients_now(s->clients);
	}
	return now - began;
}

static void
storm_start(struct storm *s, const struct star_storm *o)
{
	static int port[STAR_HUBS];
	int i;

	memset(s, 0, sizeof(*s));
	s->o = o;
	s->draining = -1;
	for (i = 0; i < FAULTS; i++)
		s->order[i] = (enum failure)i;
	(void)snprintf(s->resume, sizeof(s->resume), "STAR_RESUME_MS=%" PRId64,
	    o->resume_ms);
	s->env[0] = s->resume;
	/* A heartbeat is a response, by which a client knows what was taken. */
	s->env[1] = "STAR_HEARTBEAT_MS=600000";
	s->env[2] = "STAR_TIMEOUT_MS=1200000";
	star_start_hubs(&s->f, STAR_HUBS, s->env);
	for (i = 0; i < STAR_HUBS; i++)
		port[i] = star_hub(&s->f, i)->http;
	s->clients =
	    star_clients_new(&(struct star_clients_opts){ .clients = o->clients,
		.port = port,
		.hubs = STAR_HUBS,
		.resume_ms = o->resume_ms,
		.interval_ms = o->interval_ms,
		.random = o->seed });
}

static void
storm_print(const struct storm *s, const struct star_counts *n)
{
	struct star_clients_ends e;
	int i;

	star_clients_ends(s->clients, &e);
	for (i = 0; i < FAULTS; i++)
		printf("%s%d x %s", i > 0 ? ", " : "# ", s->faults[i],
		    failure_names[i]);
	printf("; longest drain %.1f s\n", (double)s->drain_longest / 1e3);
	printf("# %zu connections: %zu new, %zu resumed, %zu lost; closed %zu "
	       "with 1001, %zu 1012, %zu 1013, %zu 4409, %zu others; %zu "
	       "broken, %zu refused, %zu rejected, %zu slow\n",
	    n->opened[0] + n->opened[1] + n->opened[2], n->opened[0],
	    n->opened[1], n->opened[2], e.closed[0], e.closed[1], e.closed[2],
	    e.closed[3], e.closed[4], e.broken, e.refused, e.rejected, e.slow);
	printf("# %zu messages, %zu broadcasts: %zu received; errors: %zu not "
	       "delivered, %zu perhaps; %zu reported as dropped\n",
	    n->messages, n->broadcasts, n->received, n->refused, n->unknown,
	    n->dropped);
	printf("# missing: %zu with an error, %zu not taken, %zu sender's "
	       "session lost, %zu recipient's, %zu dropped; %zu views checked, "
	       "%zu wrong\n",
	    n->with_error, n->not_taken, n->sender_lost, n->recipient_lost,
	    n->reported_dropped, n->views, s->wrong_views);
	tk_print_load();
}

size_t
star_storm_run(const struct star_storm *o)
{
	static struct storm s;
	struct star_counts n;
	size_t wrong;

	printf("# seed %" PRIu64 "\n", o->seed);
	storm_start(&s, o);
	star_clients_set_quiet(s.clients, true);
	printf("# %zu clients connected in %.1f s\n", o->clients,
	    (double)storm_all_connect(&s) / 1e3);
	(void)fflush(stdout);
	star_clients_set_quiet(s.clients, false);
	star_clients_run(s.clients, STAR_PRESENCE_MS);
	storm_of_failures(&s);
	star_clients_set_quiet(s.clients, true);
	printf("# all were back %.1f s after the last failure\n",
	    (double)storm_all_connect(&s) / 1e3);
	/* What is on its way is reported; who detached has left. */
	star_clients_run(s.clients, STAR_PRESENCE_MS);
	storm_check_views(&s, true);
	star_clients_run(s.clients, STAR_ON_ITS_WAY_MS - STAR_PRESENCE_MS);
	wrong = star_history_check(star_clients_history(s.clients), &n, stderr);
	storm_print(&s, &n);
	(void)fflush(stdout);
	star_clients_free(s.clients);
	star_stop(&s.f);
	return wrong;
}
