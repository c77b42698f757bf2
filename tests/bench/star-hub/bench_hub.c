/*
 * Processor time of the hub beside a bare relay on libs/ws, which reads no
 * envelopes, with the same load generator in the same run:
 *
 *	route	100 pairs of an agent and its environment, 16 messages in
 *		flight each
 *	fan-out	an environment's event to 500 agents
 *	stall	round trips of a pair, beside a client that has stopped reading
 *	idle	resident memory of a connection
 *	link	messages and round trips between two hubs, beside libnats
 *	death	connects, and connects after the death of a hub
 */
#include <nats/nats.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "core/loop.h"
#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/nats.h"
#include "testkit/star_clients.h"
#include "testkit/star_fixture.h"
#include "testkit/ws_load.h"
#include "ws/ws.h"

#define PAIRS     100
#define ENDS      (2 * PAIRS)
#define IN_FLIGHT 16
#define MESSAGES  200000
#define READERS   500
#define EVENTS    400
#define AHEAD     16
#define TRIPS     4000
#define IDLE      10000
#define ROUNDS    5
#define ENDS_MAX  1000

/* ---- the bare relay ---- */

/* "/<n>": to the other one of a pair; "/all": to all others. */
struct relay {
	struct ws_peer *end[ENDS_MAX];
};

static void
relay_on_request(void *arg, struct ws_peer *p, const struct http_head *h)
{
	struct relay *r = arg;
	struct str name = { h->target.p + 1, h->target.n - 1 };
	int64_t i = ENDS_MAX - 1;

	if (!str_eq(name, STR("all")))
		ck_assert_int_eq(str_to_i64(name, 0, ENDS_MAX - 2, &i), RC_OK);
	r->end[i] = p;
	ws_peer_set(p, &r->end[i]);
	ws_accept(p, (struct str){ NULL, 0 });
}

static void
relay_on_message(void *arg, struct ws_peer *p, struct str data, bool binary)
{
	struct relay *r = arg;
	size_t i = (size_t)((struct ws_peer **)ws_peer_arg(p) - r->end), k;
	struct frame *f = frame_new(FRAME_TEXT, data);
	bool all = i == ENDS_MAX - 1;

	(void)binary;
	for (k = all ? 0 : i ^ 1; k < (all ? i : (i ^ 1) + 1); k++)
		if (r->end[k] != NULL)
			(void)!ws_send(r->end[k], f);
	frame_unref(f);
}

static void
relay_on_room(void *arg, struct ws_peer *p)
{
	(void)arg;
	(void)p;
}

static void
relay_on_end(void *arg, struct ws_peer *p, const struct ws_end *end)
{
	(void)arg;
	(void)end;
	*(struct ws_peer **)ws_peer_arg(p) = NULL;
}

static int
relay_main(void *port)
{
	static struct relay r;
	char addr[32];
	struct loop *loop = loop_new(16);
	const struct ws_opts o = { .loop = loop,
		.addr = addr,
		.handler = { .on_request = relay_on_request,
		    .on_message = relay_on_message,
		    .on_room = relay_on_room,
		    .on_end = relay_on_end,
		    .arg = &r },
		.connections_max = ENDS_MAX,
		.message_max = 1 << 20,
		.queue_bytes = 262144,
		.queue_frames = 1024,
		.handshake_ms = 60000,
		.ping_ms = 600000,
		.timeout_ms = 1200000,
		.stall_ms = 600000 };
	struct ws *w;

	(void)snprintf(addr, sizeof(addr), "127.0.0.1:%d", *(int *)port);
	if (ws_new(&o, &w) != RC_OK)
		return 1;
	loop_run(loop);
	return 0;
}

static bool
relay_is_open(void *port)
{
	return tk_port_open(*(int *)port);
}

/* ---- both ---- */

struct sides {
	struct star_fixture f;
	struct tk_proc relay;
	int port;
};

static void
sides_start(struct sides *s)
{
	memset(s, 0, sizeof(*s));
	s->port = tk_port();
	tk_fork(&s->relay, "relay", relay_main, &s->port);
	star_start(&s->f,
	    TK_ENV("STAR_PRESENCE=off", "STAR_RATE=1000000",
		"STAR_RATE_BURST=1000000", "STAR_BROADCAST_RATE=1000000",
		"STAR_HEARTBEAT_MS=600000", "STAR_TIMEOUT_MS=1200000"));
	ck_assert(tk_until(relay_is_open, &s->port, TK_WS_MS));
}

/* Connect to one of them, which then sends text (NULL: nothing). */
static void
sides_add(const struct sides *s, bool hub, struct ws_load *l, const char *path,
    const char *text)
{
	struct tk_ws c;

	ck_assert_int_eq(
	    tk_ws_open(&c, hub ? s->f.hub.http : s->port, path, NULL), 101);
	if (hub)
		star_next(&c);
	ws_load_add(l, c.fd, text);
	buf_free(&c.in);
	buf_free(&c.msg);
}

static double
sides_cpu_us(const struct sides *s, bool hub)
{
	return tk_cpu_us(hub ? s->f.hub.proc.pid : s->relay.pid);
}

/* Medians of rounds: index 0 is the relay's, 1 the hub's. */
struct sides_figures {
	double us[2][ROUNDS], seconds[2][ROUNDS];
};

/* Rounds of both, one after the other; n messages each. */
static void
sides_measure(const struct sides *s, struct ws_load l[2],
    void (*run)(struct ws_load *l), double n, struct sides_figures *f)
{
	int i, k;

	for (i = 0; i < ROUNDS; i++)
		for (k = 0; k < 2; k++) {
			double us = sides_cpu_us(s, k), ns = tk_now_ns();

			run(&l[k]);
			f->us[k][i] = (sides_cpu_us(s, k) - us) / n;
			f->seconds[k][i] = (tk_now_ns() - ns) / 1e9;
		}
}

static void
sides_print(const char *what, struct sides_figures *f, double n)
{
	static const char *const names[] = { "bare relay", "star-hub" };
	double us[2];
	int k;

	printf("%s\n", what);
	for (k = 1; k >= 0; k--) {
		us[k] = tk_median(f->us[k], ROUNDS);
		printf("  %-10s %8.2f us of CPU each, %9.0f/s\n", names[k],
		    us[k], n / tk_median(f->seconds[k], ROUNDS));
	}
	printf("  ratio      %8.2f\n", us[1] / us[0]);
}

#define EVENT(type, name)                                                     \
	"{\"type\":\"" type "\",\"" type "\":\"" name                         \
	"\",\"id\":\"action_12345\",\"parameters\":{\"direction\":\"north\"," \
	"\"distance\":2.5}}"

/* ---- routed messages ---- */

static void
route_connect(const struct sides *s, bool hub, struct ws_load *l)
{
	char path[128], text[512], agent[64], env[64];
	int i;

	ws_load_start(l, ENDS);
	for (i = 0; i < ENDS; i++) {
		bool is_agent = i % 2 == 1;

		(void)snprintf(
		    env, sizeof(env), "environment:world_%03d", i / 2);
		(void)snprintf(agent, sizeof(agent), "agent:agent_%03d", i / 2);
		if (hub)
			(void)snprintf(path, sizeof(path),
			    is_agent ? "/env/world_%03d/agent/agent_%03d"
				     : "/env/world_%03d",
			    i / 2, i / 2);
		else
			(void)snprintf(path, sizeof(path), "/%d", i);
		sides_add(s, hub, l, path,
		    star_envelope(text, sizeof(text), is_agent ? agent : env,
			is_agent ? env : agent, EVENT("action", "move")));
	}
}

/* Each message that comes is followed by one back, until so many were sent. */
static void
route_on_frames(void *arg, struct ws_load *l, size_t i, size_t n)
{
	size_t *sent = arg;
	size_t back = *sent + n <= MESSAGES ? n : MESSAGES - *sent;

	ws_load_send(&l->end[i], back);
	*sent += back;
}

static void
route_run(struct ws_load *l)
{
	size_t received = 0, sent = PAIRS * IN_FLIGHT;
	int i;

	for (i = 1; i < ENDS; i += 2)
		ws_load_send(&l->end[i], IN_FLIGHT);
	while (received < MESSAGES)
		received += ws_load_read(l, route_on_frames, &sent);
	ck_assert_uint_eq(received, MESSAGES);
}

TEST_T(bench_route, 300)
{
	struct sides_figures f;
	struct ws_load l[2];
	struct sides s;
	int k;

	sides_start(&s);
	for (k = 0; k < 2; k++)
		route_connect(&s, k == 1, &l[k]);
	sides_measure(&s, l, route_run, MESSAGES, &f);
	sides_print("a routed message, 100 pairs, 16 in flight", &f, MESSAGES);
	tk_print_load();
	star_stop(&s.f);
}

/* ---- fan-out ---- */

static void
fanout_connect(const struct sides *s, bool hub, struct ws_load *l)
{
	char path[128], text[512];
	int i;

	ws_load_start(l, READERS + 1);
	star_envelope(text, sizeof(text), "environment:demo_world", "agent:*",
	    EVENT("event", "world_update"));
	sides_add(s, hub, l, hub ? "/env/demo_world" : "/all", text);
	for (i = 0; i < READERS; i++) {
		(void)snprintf(path, sizeof(path),
		    hub ? "/env/demo_world/agent/agent_%03d" : "/%d", i);
		sides_add(s, hub, l, path, NULL);
	}
}

static void
fanout_run(struct ws_load *l)
{
	size_t received = 0, sent = AHEAD, due;

	ws_load_send(&l->end[0], AHEAD);
	while (received < (size_t)EVENTS * READERS) {
		received += ws_load_read(l, NULL, NULL);
		due = received / READERS + AHEAD;
		due = due < EVENTS ? due : EVENTS;
		if (due > sent)
			ws_load_send(&l->end[0], due - sent);
		sent = due > sent ? due : sent;
	}
}

TEST_T(bench_fanout, 300)
{
	struct sides_figures f;
	struct ws_load l[2];
	struct sides s;
	int k;

	sides_start(&s);
	for (k = 0; k < 2; k++)
		fanout_connect(&s, k == 1, &l[k]);
	sides_measure(&s, l, fanout_run, (double)EVENTS * READERS, &f);
	sides_print("a delivery of an event to 500 agents", &f,
	    (double)EVENTS * READERS);
	tk_print_load();
	for (k = 0; k < 2; k++)
		ws_load_free(&l[k]);
	star_stop(&s.f);
}

/* ---- a client that does not read ---- */

struct stall {
	struct sides s;
	struct tk_ws env, agent, other, slow;
	double us[TRIPS];
};

#define WORLD "environment:demo_world"
#define OTHER "environment:other_world"

/*
 * Round trips of the pair, while another environment sends to a client: one
 * that has stopped reading and whose queue is full, or nobody.  The 99th
 * percentile.
 */
static double
stall_p99(struct stall *t, const char *to)
{
	static char payload[4096];
	double began;
	int i;

	memset(payload, 'x', sizeof(payload) - 1);
	payload[0] = payload[sizeof(payload) - 2] = '"';
	for (i = 0; i < TRIPS; i++) {
		star_send(&t->other, OTHER, to, payload);
		began = tk_now_ns();
		star_send(&t->agent, "agent:agent_001", WORLD, "1");
		(void)tk_ws_next(&t->env, TK_WS_MS);
		star_send(&t->env, WORLD, "agent:agent_001", "2");
		(void)tk_ws_next(&t->agent, TK_WS_MS);
		t->us[i] = (tk_now_ns() - began) / 1e3;
		while (tk_ws_next(&t->other, 0) != NULL)
			;
	}
	tk_sort(t->us, TRIPS);
	return t->us[TRIPS * 99 / 100];
}

TEST_T(bench_stall, 300)
{
	static struct stall t;
	double us[2][ROUNDS];
	int i;

	sides_start(&t.s);
	star_open(&t.s.f, &t.env, "/env/demo_world");
	star_open(&t.s.f, &t.agent, "/env/demo_world/agent/agent_001");
	star_open(&t.s.f, &t.other, "/env/other_world");
	/* Nobody reads of it; it is closed for that after 10 s. */
	for (i = 0; i < ROUNDS; i++) {
		star_open(&t.s.f, &t.slow, "/env/other_world/agent/agent_002");
		us[0][i] = stall_p99(&t, "agent:nobody");
		us[1][i] = stall_p99(&t, "agent:agent_002");
		tk_ws_close(&t.slow);
	}
	printf("p99 of a round trip of a live pair: %.0f us beside a stalled "
	       "client, %.0f us without, ratio %.2f\n",
	    tk_median(us[1], ROUNDS), tk_median(us[0], ROUNDS),
	    tk_median(us[1], ROUNDS) / tk_median(us[0], ROUNDS));
	tk_print_load();
	star_stop(&t.s.f);
}

/* ---- idle connections ---- */

TEST_T(bench_idle, 300)
{
	struct rlimit files;
	struct star_fixture f = { 0 };
	struct ws_load l;
	struct sides s;
	double us, ns;
	long before;
	char path[64];
	int i;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = files.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	star_start(&f, TK_ENV("STAR_HEARTBEAT_MS=2000"));
	s.f = f;
	ws_load_start(&l, IDLE);
	before = tk_proc_status(f.hub.proc.pid, "VmRSS");
	ns = tk_now_ns();
	us = tk_cpu_us(f.hub.proc.pid);
	for (i = 0; i < IDLE; i++) {
		(void)snprintf(
		    path, sizeof(path), "/env/demo_world/agent/agent_%05d", i);
		sides_add(&s, true, &l, path, NULL);
	}
	printf("%d connections: %.2f KiB of resident memory each; %.0f us of "
	       "CPU to open one\n",
	    IDLE,
	    (double)(tk_proc_status(f.hub.proc.pid, "VmRSS") - before) / IDLE,
	    (tk_cpu_us(f.hub.proc.pid) - us) / IDLE);
	ns = tk_now_ns();
	us = tk_cpu_us(f.hub.proc.pid);
	/* Heartbeats, 15 times as often as by default. */
	while (tk_now_ns() - ns < 10e9)
		(void)ws_load_read(&l, NULL, NULL);
	printf("with a heartbeat every 2 s: %.3f cores\n",
	    (tk_cpu_us(f.hub.proc.pid) - us) * 1e3 / (tk_now_ns() - ns));
	tk_print_load();
	ws_load_free(&l);
	star_stop(&f);
}

/* ---- two hubs ---- */

/* A process that publishes messages and gets them, with nothing but libnats:
 * as many are on their way as there are between the hubs. */
struct bare_bus {
	struct tk_proc proc;
	const char *url;
	/* Shared with it: messages that it shall have got, and has. */
	_Atomic size_t *due, *got;
};

static void
bare_on_message(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	const struct bare_bus *b = arg;

	(void)nc;
	(void)sub;
	(*b->got)++;
	natsMsg_Destroy(m);
}

static int
bare_main(void *arg)
{
	struct bare_bus *b = arg;
	natsConnection *out = tk_nats_connect(b->url);
	natsConnection *in = tk_nats_connect(b->url);
	natsSubscription *sub;
	char text[512];
	size_t sent = 0;

	star_envelope(text, sizeof(text), "agent:agent_000",
	    "environment:world_000", EVENT("action", "move"));
	if (natsConnection_Subscribe(&sub, in, "bare", bare_on_message, b) !=
		NATS_OK ||
	    natsConnection_Flush(in) != NATS_OK)
		return 1;
	for (;;) {
		if (sent == *b->due || sent - *b->got >= PAIRS * IN_FLIGHT) {
			nats_Sleep(1);
			continue;
		}
		if (natsConnection_PublishString(out, "bare", text) != NATS_OK)
			return 1;
		sent++;
	}
}

static void
bare_start(struct bare_bus *b, const char *url)
{
	_Atomic size_t *shared = mmap(NULL, 2 * sizeof(*shared),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(shared, MAP_FAILED);
	b->url = url;
	b->due = shared;
	b->got = shared + 1;
	tk_fork(&b->proc, "bare", bare_main, b);
}

static bool
bare_is_done(void *arg)
{
	const struct bare_bus *b = arg;

	return *b->got == *b->due;
}

static void
bare_run(struct bare_bus *b)
{
	*b->due += MESSAGES;
	ck_assert(tk_until(bare_is_done, b, 60000));
}

/* The agents of the pairs are at the first hub, their environments at this. */
static void
link_connect(struct star_fixture *f, int hub, struct ws_load *l)
{
	char path[128], text[512], agent[64], env[64];
	struct tk_ws c;
	int i;

	ws_load_start(l, ENDS);
	for (i = 0; i < ENDS; i++) {
		bool is_agent = i % 2 == 1;

		(void)snprintf(
		    env, sizeof(env), "environment:world_%d_%03d", hub, i / 2);
		(void)snprintf(agent, sizeof(agent), "agent:agent_%03d", i / 2);
		(void)snprintf(path, sizeof(path),
		    is_agent ? "/env/world_%d_%03d/agent/agent_%03d"
			     : "/env/world_%d_%03d",
		    hub, i / 2, i / 2);
		star_open_at(f, is_agent ? 0 : hub, &c, path);
		ws_load_add(l, c.fd,
		    star_envelope(text, sizeof(text), is_agent ? agent : env,
			is_agent ? env : agent, EVENT("action", "move")));
		buf_free(&c.in);
		buf_free(&c.msg);
	}
}

enum link_side { LINK_BARE, LINK_ONE_HUB, LINK_TWO_HUBS, LINK_SIDES };

static double
link_cpu_us(struct star_fixture *f, const struct bare_bus *b, int side)
{
	return side == LINK_BARE ? tk_cpu_us(b->proc.pid)
				 : tk_cpu_us(star_hub(f, 0)->proc.pid) +
		tk_cpu_us(star_hub(f, 1)->proc.pid);
}

static void
link_measure(struct star_fixture *f, struct bare_bus *b)
{
	static const char *const names[] = { "libnats", "one hub", "two hubs" };
	double us[LINK_SIDES][ROUNDS], nats[LINK_SIDES][ROUNDS], began, server,
	    m[LINK_SIDES];
	struct ws_load l[2];
	int i, k;

	for (k = 0; k < 2; k++)
		link_connect(f, k, &l[k]);
	for (i = 0; i < ROUNDS; i++)
		for (k = 0; k < LINK_SIDES; k++) {
			began = link_cpu_us(f, b, k);
			server = tk_cpu_us(f->nats.proc.pid);
			if (k == LINK_BARE)
				bare_run(b);
			else
				route_run(&l[k - LINK_ONE_HUB]);
			us[k][i] = (link_cpu_us(f, b, k) - began) / MESSAGES;
			nats[k][i] =
			    (tk_cpu_us(f->nats.proc.pid) - server) / MESSAGES;
		}
	printf("a message from hub to hub, 100 pairs, 16 in flight\n");
	for (k = LINK_SIDES - 1; k >= 0; k--) {
		m[k] = tk_median(us[k], ROUNDS);
		printf(
		    "  %-10s %8.2f us of CPU each, %6.2f us of nats-server\n",
		    names[k], m[k], tk_median(nats[k], ROUNDS));
	}
	printf("  the second hub, beside libnats: ratio %8.2f\n",
	    (m[LINK_TWO_HUBS] - m[LINK_ONE_HUB]) / m[LINK_BARE]);
	for (k = 0; k < 2; k++)
		ws_load_free(&l[k]);
}

/* The median round trip of a pair, in us. */
static double
link_p50(struct star_fixture *f, int hub)
{
	static double us[TRIPS];
	struct tk_ws env, agent;
	double began;
	int i;

	star_open_at(f, hub, &env, "/env/demo_world");
	star_open_at(f, 0, &agent, "/env/demo_world/agent/agent_001");
	for (i = 0; i < TRIPS; i++) {
		began = tk_now_ns();
		star_send(&agent, "agent:agent_001", WORLD, "1");
		star_next(&env);
		star_send(&env, WORLD, "agent:agent_001", "2");
		star_next(&agent);
		us[i] = (tk_now_ns() - began) / 1e3;
	}
	star_leave(&env);
	star_leave(&agent);
	tk_sort(us, TRIPS);
	return us[TRIPS / 2];
}

TEST_T(bench_link, 300)
{
	struct star_fixture f = { 0 };
	struct bare_bus bare = { 0 };

	tk_server_start(&f.nats, TK_NATS);
	tk_server_start(&f.redis, TK_REDIS);
	bare_start(&bare, f.nats.url);
	star_start_hubs(&f, 2,
	    TK_ENV("STAR_PRESENCE=off", "STAR_RATE=1000000",
		"STAR_RATE_BURST=1000000", "STAR_HEARTBEAT_MS=600000",
		"STAR_TIMEOUT_MS=1200000"));
	link_measure(&f, &bare);
	printf("p50 of a round trip: %.0f us from hub to hub, %.0f us at one\n",
	    link_p50(&f, 1), link_p50(&f, 0));
	tk_print_load();
	tk_signal(&bare.proc, SIGKILL);
	(void)tk_wait(&bare.proc, TK_WS_MS);
	star_stop(&f);
}

/* ---- a hub dies ---- */

/* What a hub takes of one address, a little less than half of its descriptors.
 */
#define CLIENTS  9800
#define BEGIN_MS 500

/* Until all are connected, so many connections having ended before. */
static double
clients_all_connect(struct star_clients *w, size_t ended)
{
	struct star_clients_ends e = { 0 };
	double began = tk_now_ns();

	while (star_clients_open(w) < CLIENTS || e.broken < ended) {
		star_clients_run(w, 10);
		star_clients_ends(w, &e);
		ck_assert(tk_now_ns() - began < 60e9);
	}
	return (tk_now_ns() - began) / 1e9;
}

TEST_T(bench_death, 300)
{
	struct star_fixture f = { 0 };
	struct star_clients_ends e;
	struct star_clients *w;
	struct rlimit files;
	double seconds, us;
	int port[2];

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = files.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	star_start_hubs(&f, 3,
	    TK_ENV("STAR_HEARTBEAT_MS=600000", "STAR_TIMEOUT_MS=1200000"));
	port[0] = port[1] = star_hub(&f, 0)->http;
	w = star_clients_new(&(struct star_clients_opts){ .clients = CLIENTS,
	    .port = port,
	    .hubs = 2,
	    .begin_ms = BEGIN_MS,
	    .resume_ms = 30000,
	    .interval_ms = 1000,
	    .random = 1 });
	star_clients_set_quiet(w, true);
	us = tk_cpu_us(star_hub(&f, 0)->proc.pid);
	seconds = clients_all_connect(w, 0);
	us = tk_cpu_us(star_hub(&f, 0)->proc.pid) - us;
	printf("%d clients connect to a hub in %.2f s: %.0f/s, %.0f us of CPU "
	       "each\n",
	    CLIENTS, seconds, CLIENTS / seconds, us / CLIENTS);
	tk_service_kill(star_hub(&f, 0));
	port[0] = star_hub(&f, 1)->http;
	port[1] = star_hub(&f, 2)->http;
	seconds = clients_all_connect(w, CLIENTS);
	star_clients_ends(w, &e);
	printf("after its death they are back at two others in %.2f s; %zu "
	       "attempts were rejected, %zu too slow\n",
	    seconds, e.rejected, e.slow);
	tk_print_load();
	star_clients_free(w);
	star_stop(&f);
}
