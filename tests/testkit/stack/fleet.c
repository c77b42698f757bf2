#include "testkit/stack/fleet.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/clock.h"
#include "testkit/figures.h"
#include "testkit/http.h"
#include "testkit/stack/client.h"

/* Two heartbeat intervals. */
#define REST_MS 20000
/* For 1,000 bodies, at most. */
#define START_MS 12000
/* Open files of a process besides those of bodies. */
#define OTHER_FILES 1000
/* Memory of all processes and the kernel for a body, and for the rest. */
#define BODY_KIB 48L
#define REST_KIB (512L * 1024)
/* Bodies that get a soul; by default its state is updated every 3 s. */
#define SOULS  1000
#define TICK_S 3.0
/* A report that misses the deadline is lost, and its body announces no other;
 * all brokers share one Redis and the machine. */
#define BRIDGE_ENV "REDIS_TIMEOUT_MS=10000"
/* Bodies that share a source address. */
#define PER_SOURCE 1000

/* A broker, its bridge, and the bodies that connect to it. */
struct fleet_part {
	struct stack st; /* with this broker */
	struct stack_opts opts;
	char count[32], first[40], sources[64], broker[24];
	struct stack_proc bridge, sim;
};

static struct stack fleet;
static struct fleet_part parts[FLEET_BROKERS_MAX];

/* ---- what it takes ---- */

static long
fleet_available_kib(void)
{
	char line[128];
	long kib = 0;
	FILE *f = fopen("/proc/meminfo", "r");

	if (f == NULL)
		return 0;
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "MemAvailable: %ld kB", &kib) == 1)
			break;
	(void)fclose(f);
	return kib;
}

/* Open files that a process may have after raising its limit as far as it may.
 */
static rlim_t
fleet_files(rlim_t wanted)
{
	struct rlimit l, more;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &l), 0);
	/* Only root may raise the hard limit. */
	more = (struct rlimit){ wanted, wanted };
	if (l.rlim_max < wanted && setrlimit(RLIMIT_NOFILE, &more) == 0)
		return wanted;
	l.rlim_cur = l.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &l), 0);
	return l.rlim_max;
}

/* Bodies before part i of n. */
static int
fleet_first(int i, int bodies, int n)
{
	return (int)((long)bodies * i / n);
}

static int
fleet_most(int bodies, int n)
{
	return (bodies + n - 1) / n;
}

const char *
fleet_obstacle(int bodies, int *brokers)
{
	static char why[200];
	rlim_t wanted = (rlim_t)fleet_most(bodies, *brokers) + OTHER_FILES;
	rlim_t files = fleet_files(wanted);
	long need = bodies * BODY_KIB + REST_KIB, has = fleet_available_kib();
	int n = *brokers;

	while (n < FLEET_BROKERS_MAX &&
	    (rlim_t)fleet_most(bodies, n) + OTHER_FILES > files)
		n++;
	if ((rlim_t)fleet_most(bodies, n) + OTHER_FILES > files) {
		snprintf(why, sizeof(why),
		    "needs %lu open files in a process, with %d brokers %lu; "
		    "%lu are allowed: ulimit -Hn",
		    (unsigned long)wanted, n,
		    (unsigned long)fleet_most(bodies, n) + OTHER_FILES,
		    (unsigned long)files);
		return why;
	}
	if (n > *brokers)
		printf("%d bodies at %d brokers need %d / %d + %d = %lu open "
		       "files in a process, %lu are allowed (ulimit -Hn): %d "
		       "brokers, with %d each\n",
		    bodies, *brokers, bodies, *brokers, OTHER_FILES,
		    (unsigned long)wanted, (unsigned long)files, n,
		    fleet_most(bodies, n));
	*brokers = n;
	if (has < need) {
		snprintf(why, sizeof(why),
		    "needs %ld MiB of memory, %ld are available", need / 1024,
		    has / 1024);
		return why;
	}
	printf("%d bodies of %ld KiB and %ld MiB need %ld MiB of memory, %ld "
	       "are available\n",
	    bodies, BODY_KIB, REST_KIB / 1024, need / 1024, has / 1024);
	return NULL;
}

/* ---- start ---- */

/* Part i of n; each has its own addresses, from 127.<i + 1>.0.1 on. */
static void
fleet_start_part(int i, int bodies, int n)
{
	struct fleet_part *p = &parts[i];
	int first = fleet_first(i, bodies, n);
	int each = fleet_first(i + 1, bodies, n) - first;
	int last = (each - 1) / PER_SOURCE;

	p->st = fleet;
	p->st.opts = &p->opts;
	snprintf(p->count, sizeof(p->count), "BODY_COUNT=%d", each);
	snprintf(
	    p->first, sizeof(p->first), "TERMINAL_ID=body-%06d", first + 1);
	snprintf(p->sources, sizeof(p->sources),
	    "BODY_SOURCES=127.%d.0.1-127.%d.0.%d", i + 1, i + 1, last + 1);
	snprintf(p->broker, sizeof(p->broker), "BROKER_ID=b%d", i);
	p->opts = (struct stack_opts){
		.env = { [STACK_BODY_SIM] = { p->count, p->first, p->sources,
			     "LOG_LEVEL=warn" },
		    [STACK_MQTT_BRIDGE] = { p->broker, BRIDGE_ENV } }
	};
	if (i > 0) {
		tk_server_start(
		    &p->st.server[STACK_MQTT], TK_MOSQUITTO_PERSISTENT);
		stack_spawn(&p->st, STACK_MQTT_BRIDGE, &p->bridge, "bridge");
		stack_wait_ready(&p->bridge);
	} else
		p->bridge = fleet.service[STACK_MQTT_BRIDGE];
	stack_spawn(&p->st, STACK_BODY_SIM, &p->sim, "bodies");
}

struct fleet_goal {
	int bodies, n; /* parts */
};

static bool
fleet_is_announced(void *arg)
{
	const struct fleet_part *p = arg;
	struct tk_response a = { 0 };
	bool is;

	ck_assert(tk_alive(&p->sim.proc));
	is = tk_port_open(p->sim.admin) &&
	    tk_http_request(p->sim.admin, &a, "GET", "/readyz", NULL) == 200;
	tk_response_free(&a);
	return is;
}

static bool
fleet_is_known(void *arg)
{
	const struct fleet_goal *g = arg;
	char id[32];
	bool is = true;
	json_t *j;
	int i;

	for (i = 1; i <= g->n && is; i++) {
		snprintf(id, sizeof(id), "body-%06d",
		    fleet_first(i, g->bodies, g->n));
		j = client_terminal(&fleet, STACK_USER, id);
		is = json_is_true(json_object_get(j, "online")) &&
		    json_array_size(json_object_get(j, "intents")) > 0;
		json_decref(j);
	}
	return is;
}

/* Bodies first to last get souls, each of a user of its own. */
static void
fleet_bind(int first, int last)
{
	char user[32], body[32];
	int i;

	for (i = first; i <= last; i++) {
		snprintf(user, sizeof(user), "fleet-%d", i);
		snprintf(body, sizeof(body), "body-%06d", i);
		client_select_soul(&fleet, user, body,
		    client_create_soul(&fleet, user, "soul", "ENFP"));
	}
}

/* ---- figures ---- */

enum fleet_kind { BROKER, BRIDGE, BODIES, REDIS, NATS, EMOTION, KINDS };

struct fleet_use {
	double cpu_us[KINDS];
	long rss_kib[KINDS];
};

static void
fleet_add(struct fleet_use *u, enum fleet_kind kind, const struct tk_proc *p)
{
	u->cpu_us[kind] += tk_cpu_us(p->pid);
	u->rss_kib[kind] += tk_proc_status(p->pid, "VmRSS");
}

static struct fleet_use
fleet_use(int n)
{
	struct fleet_use u = { 0 };
	int i;

	for (i = 0; i < n; i++) {
		fleet_add(&u, BROKER, &parts[i].st.server[STACK_MQTT].proc);
		fleet_add(&u, BRIDGE, &parts[i].bridge.proc);
		fleet_add(&u, BODIES, &parts[i].sim.proc);
	}
	fleet_add(&u, REDIS, &fleet.server[STACK_REDIS].proc);
	fleet_add(&u, NATS, &fleet.server[STACK_NATS].proc);
	fleet_add(&u, EMOTION, &fleet.service[STACK_EMOTION_ENGINE].proc);
	return u;
}

static bool
fleet_is_elapsed(void *arg)
{
	return clock_mono().ns >= ((const struct mono *)arg)->ns;
}

/* Processor time a second of each kind, us; and memory at the end. */
static struct fleet_use
fleet_rest(int n)
{
	struct mono end = mono_add_ms(clock_mono(), REST_MS);
	struct fleet_use from = fleet_use(n), to;
	int i;

	(void)tk_until(fleet_is_elapsed, &end, 2 * REST_MS);
	to = fleet_use(n);
	for (i = 0; i < KINDS; i++)
		to.cpu_us[i] = (to.cpu_us[i] - from.cpu_us[i]) * 1e3 / REST_MS;
	return to;
}

static const char *const fleet_names[KINDS] = { "mosquitto", "mqtt-bridge",
	"body-sim", "Redis", "nats-server", "emotion-engine" };

static void
fleet_print(const struct fleet_use *u, int bodies)
{
	long total = 0;
	int i;

	printf("  at rest:");
	for (i = 0; i < KINDS; i++) {
		printf(" %s %.1f %% of a core, %.0f MiB%s", fleet_names[i],
		    u->cpu_us[i] / 1e4, (double)u->rss_kib[i] / 1024,
		    i + 1 < KINDS ? ";" : "");
		total += u->rss_kib[i];
	}
	printf("; %.1f KiB a body in these\n", (double)total / bodies);
}

/* What each update of a soul that ticks costs. */
static void
fleet_print_ticks(
    const struct fleet_use *rest, const struct fleet_use *ticks, int souls)
{
	double per_s = souls / TICK_S;
	int i;

	printf("  an update of a soul's state on its body, of %.0f a second:",
	    per_s);
	for (i = 0; i < KINDS; i++)
		printf(" %s %.0f us%s", fleet_names[i],
		    (ticks->cpu_us[i] - rest->cpu_us[i]) / per_s,
		    i + 1 < KINDS ? "," : "\n");
}

/* ---- all ---- */

static void
fleet_stop(int n)
{
	int i;

	for (i = 0; i < n; i++) {
		tk_signal(&parts[i].sim.proc, SIGTERM);
		(void)tk_wait(&parts[i].sim.proc, STACK_MS);
		if (i == 0)
			continue;
		tk_signal(&parts[i].bridge.proc, SIGTERM);
		(void)tk_wait(&parts[i].bridge.proc, STACK_MS);
		tk_server_stop(&parts[i].st.server[STACK_MQTT], SIGTERM);
	}
	(void)stack_end(&fleet);
}

void
fleet_measure(int bodies, int brokers)
{
	static const struct stack_opts o = { .no_capture = true,
		.no_mqtt_capture = true,
		.env = { [STACK_CHAT_GATEWAY] = { "RATE_ADDRESS_PER_S=0" },
		    [STACK_MQTT_BRIDGE] = { BRIDGE_ENV } },
		.without = { [STACK_BODY_SIM] = true } };
	struct fleet_goal g = { bodies, brokers };
	int limit_ms = STACK_MS + bodies / 1000 * START_MS, i;
	struct fleet_use rest, ticks;
	struct mono began;

	stack_start(&fleet, &o);
	began = clock_mono();
	/* One after the other: the machine may have fewer cores than brokers,
	 * and a body that waits for one too long connects again. */
	for (i = 0; i < brokers; i++) {
		fleet_start_part(i, bodies, brokers);
		ck_assert(tk_until(fleet_is_announced, &parts[i], limit_ms));
		printf("  %d of %d brokers have their bodies after %lld ms\n",
		    i + 1, brokers,
		    (long long)mono_diff_ms(clock_mono(), began));
		(void)fflush(stdout);
	}
	ck_assert(tk_until(fleet_is_known, &g, limit_ms));
	printf("%d bodies, %d broker%s: all known after %lld ms\n", bodies,
	    brokers, brokers > 1 ? "s" : "",
	    (long long)mono_diff_ms(clock_mono(), began));
	rest = fleet_rest(brokers);
	fleet_print(&rest, bodies);
	(void)fflush(stdout);
	fleet_bind(1, SOULS);
	ticks = fleet_rest(brokers);
	fleet_print_ticks(&rest, &ticks, SOULS);
	tk_print_load();
	(void)fflush(stdout);
	fleet_stop(brokers);
}
