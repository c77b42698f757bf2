#include "testkit/stack/chaos_load.h"

#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/stack/chaos_client.h"
#include "testkit/stack/client.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

/* Users with a body of the test; then users with one of body-sim. */
#define OWN_BODIES 4
#define SIM_BODIES 2
/* Of the first users, two clients each. */
#define TWICE   2
#define USERS   (OWN_BODIES + SIM_BODIES)
#define CLIENTS (USERS + TWICE)

#define SESSION_TURNS 40
#define PAUSE_MS      120
#define OUT_MAX       ((size_t)4 << 20)

struct chaos_load {
	struct stack *st;
	struct chaos *h;
	int ports[CHAOS_BROKERS], n_ports;
	struct chaos_body *bodies[OWN_BODIES];
	struct chaos_client clients[CLIENTS];
	atomic_bool stop, stop_watch;
	pthread_t watch;
	natsConnection *nc;
	natsSubscription *sub;
};

/* ---- commands on their way ---- */

static void
load_on_command(struct chaos_load *l, natsMsg *m)
{
	json_t *j = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);
	const char *id = json_string_value(json_object_get(j, "request_id"));
	const char *parent = NULL;
	char trace[CHAOS_TRACE_MAX] = "";

	if (natsMsgHeader_Get(m, "traceparent", &parent) == NATS_OK &&
	    parent != NULL && strlen(parent) > 35)
		snprintf(trace, sizeof(trace), "%.32s", parent + 3);
	if (id != NULL)
		chaos_publish(l->h, chaos_now(), trace, id);
	json_decref(j);
}

static void *
load_watch(void *arg)
{
	struct chaos_load *l = arg;
	natsMsg *m;

	while (!atomic_load(&l->stop_watch)) {
		while (natsSubscription_NextMsg(&m, l->sub, 20) == NATS_OK) {
			load_on_command(l, m);
			natsMsg_Destroy(m);
		}
	}
	return NULL;
}

/* One URL, or several with commas in between. */
static void
load_watch_servers(natsOptions *o, const char *urls)
{
	char *text = mem_strdup(urls), *rest;
	const char *list[TK_NATS_NODES];
	int n = 0;
	char *url;

	for (url = strtok_r(text, ",", &rest); url != NULL;
	     url = strtok_r(NULL, ",", &rest)) {
		ck_assert_int_lt(n, TK_NATS_NODES);
		list[n++] = url;
	}
	ck_assert_int_eq(natsOptions_SetServers(o, list, n), NATS_OK);
	free(text);
}

static void
load_watch_begin(struct chaos_load *l)
{
	natsOptions *o = NULL;

	ck_assert_int_eq(natsOptions_Create(&o), NATS_OK);
	load_watch_servers(o, stack_nats_url(l->st));
	ck_assert_int_eq(natsOptions_SetMaxReconnect(o, -1), NATS_OK);
	ck_assert_int_eq(natsOptions_SetReconnectWait(o, 5), NATS_OK);
	ck_assert_int_eq(natsConnection_Connect(&l->nc, o), NATS_OK);
	ck_assert_int_eq(
	    natsConnection_SubscribeSync(&l->sub, l->nc, "soul.body.>"),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(l->nc), NATS_OK);
	natsOptions_Destroy(o);
	ck_assert_int_eq(pthread_create(&l->watch, NULL, load_watch, l), 0);
}

static void
load_watch_end(struct chaos_load *l)
{
	atomic_store(&l->stop_watch, true);
	ck_assert_int_eq(pthread_join(l->watch, NULL), 0);
	natsSubscription_Destroy(l->sub);
	natsConnection_Destroy(l->nc);
}

/* ---- a client ---- */

unsigned
client_random(struct chaos_client *c, unsigned n)
{
	c->random = c->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(c->random >> 33) % n;
}

static bool
load_is_over(void *arg)
{
	return atomic_load((atomic_bool *)arg);
}

void
client_pause(struct chaos_client *c, int ms)
{
	(void)tk_until(load_is_over, c->stop, ms);
}

static void
client_new_session(struct chaos_client *c)
{
	snprintf(c->session, sizeof(c->session), "s-%d-%d", c->number,
	    c->sessions++);
	c->turns = 0;
	c->unknown = false;
}

static enum client_way
client_choose_way(struct chaos_client *c)
{
	unsigned n = client_random(c, 100);

	if (n < 65)
		return CLIENT_PLAIN;
	if (n < 85)
		return CLIENT_STREAM;
	if (n < 90)
		return CLIENT_CANCEL;
	return n < 96 ? CLIENT_GIVE_UP : CLIENT_LEAVE;
}

static const char *
client_choose_text(struct chaos_client *c)
{
	static const char *const texts[] = { "把灯变成绿色", "开灯",
		"把灯变成红色", "关灯", "今天上海天气如何？",
		"动一动你的脑袋吧", "你好" };

	return texts[client_random(c, NELEM(texts))];
}

static void
client_step(struct chaos_client *c)
{
	if (client_random(c, 10) == 0) {
		client_write(c);
		return;
	}
	(void)client_turn(
	    c, c->session, client_choose_text(c), client_choose_way(c));
	if (++c->turns >= SESSION_TURNS) {
		client_end_session(c);
		client_new_session(c);
	}
}

static void *
client_main(void *arg)
{
	struct chaos_client *c = arg;

	client_new_session(c);
	while (!atomic_load(c->stop)) {
		client_step(c);
		client_pause(c, (int)client_random(c, 2 * PAUSE_MS));
	}
	client_end_session(c);
	client_read_back(c);
	return NULL;
}

/* ---- begin ---- */

static void
load_bind(struct chaos_load *l, struct chaos_client *c)
{
	char name[32];
	int i, w;

	client_wait_terminal(l->st, c->user, c->terminal, CLIENT_SEES_INTENTS);
	for (i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "元%d", i);
		snprintf(c->bound[i], sizeof(c->bound[i]), "%s",
		    client_create_soul(l->st, c->user, name, "ENFP"));
	}
	snprintf(name, sizeof(name), "binding %s", c->terminal);
	w = chaos_write(l->h, chaos_now(), name, c->bound[0]);
	client_select_soul(l->st, c->user, c->terminal, c->bound[0]);
	chaos_written(l->h, chaos_now(), w);
}

static void
load_client(struct chaos_load *l, int i)
{
	struct chaos_client *c = &l->clients[i];
	int user = i % USERS;

	c->number = i;
	c->h = l->h;
	c->port = l->st->service[STACK_CHAT_GATEWAY].http;
	c->stop = &l->stop;
	c->first = i < USERS;
	c->random = (uint64_t)i * 7919 + 1;
	c->arena = arena_new(WIRE_ARENA_MAX);
	buf_init(&c->out, OUT_MAX);
	snprintf(c->user, sizeof(c->user), "chaos-user-%d", user);
	if (user < OWN_BODIES) {
		snprintf(c->terminal, sizeof(c->terminal), "chaos-%d", user);
		c->body = l->bodies[user];
	} else
		snprintf(c->terminal, sizeof(c->terminal), "terminal-%03d",
		    user - OWN_BODIES + 1);
	if (c->first)
		load_bind(l, c);
}

struct chaos_load *
chaos_load_begin(struct stack *st, struct chaos *h, const int *ports, int n)
{
	struct chaos_load *l = mem_zalloc(sizeof(*l));
	char name[32];
	int i;

	l->st = st;
	l->h = h;
	l->n_ports = n;
	memcpy(l->ports, ports, (size_t)n * sizeof(*ports));
	for (i = 0; i < OWN_BODIES; i++) {
		snprintf(name, sizeof(name), "chaos-%d", i);
		l->bodies[i] = chaos_body_new(h, name, ports[i % n]);
	}
	load_watch_begin(l);
	for (i = 0; i < CLIENTS; i++)
		load_client(l, i);
	for (i = 0; i < CLIENTS; i++)
		ck_assert_int_eq(pthread_create(&l->clients[i].thread, NULL,
				     client_main, &l->clients[i]),
		    0);
	return l;
}

/* ---- faults ---- */

struct load_goal {
	struct chaos_load *l;
	int done[CLIENTS];
};

static bool
load_is_reached(void *arg)
{
	struct load_goal *g = arg;
	int i;

	for (i = 0; i < CLIENTS; i++)
		if (atomic_load(&g->l->clients[i].done) < g->done[i])
			return false;
	return true;
}

bool
chaos_load_resumes(struct chaos_load *l, int ms)
{
	struct load_goal g = { .l = l };
	int i;

	for (i = 0; i < CLIENTS; i++)
		g.done[i] = atomic_load(&l->clients[i].done) + 2;
	return tk_until(load_is_reached, &g, ms);
}

void
chaos_load_break(struct chaos_load *l, unsigned seed)
{
	int i;

	for (i = 0; i < OWN_BODIES; i++)
		if ((seed >> i & 1) != 0)
			chaos_body_break(l->bodies[i],
			    l->ports[(seed >> (i + 8)) % (unsigned)l->n_ports]);
}

/* ---- end ---- */

static void
client_free(struct chaos_client *c)
{
	size_t i;

	for (i = 0; i < c->n_records; i++)
		free(c->records[i]);
	free(c->ended);
	free(c->records);
	buf_free(&c->out);
	arena_free(c->arena);
}

void
chaos_load_end(struct chaos_load *l)
{
	int i;

	atomic_store(&l->stop, true);
	for (i = 0; i < CLIENTS; i++) {
		ck_assert_int_eq(pthread_join(l->clients[i].thread, NULL), 0);
		client_free(&l->clients[i]);
	}
	for (i = 0; i < OWN_BODIES; i++)
		chaos_body_free(l->bodies[i]);
	load_watch_end(l);
	free(l);
}
