/*
 * crowd: many bodies in one process, counted by a peer that hears them all.
 */
#ifndef CROWD_H
#define CROWD_H

#include <sys/resource.h>

#include "integration/body-sim/bed.h"

#define CROWD_MAX 10000
#define CROWD_MS  120000

struct crowd {
	struct bed b;
	int bodies;
	const char *leaf; /* what is counted */
	bool has[CROWD_MAX + 1];
	int n;
};

static inline void
crowd_count(struct peer *p, const struct peer_msg *m)
{
	struct crowd *c = p->arg;
	char leaf[64];
	int i;

	if (sscanf(m->topic, "soul/terminal/terminal-%d/%63[^/]", &i, leaf) !=
		2 ||
	    strcmp(leaf, c->leaf) != 0 || m->retain || i < 1 || i > c->bodies ||
	    c->has[i])
		return;
	c->has[i] = true;
	c->n++;
}

static inline bool
crowd_is_all(void *arg)
{
	const struct crowd *c = arg;

	return c->n == c->bodies;
}

static inline void
crowd_expect(struct crowd *c, const char *leaf)
{
	c->leaf = leaf;
	c->n = 0;
	memset(c->has, 0, sizeof(c->has));
}

static inline void
crowd_wait_all(struct crowd *c)
{
	ck_assert_msg(peer_until(&c->b.peer, crowd_is_all, c, CROWD_MS),
	    "%s: %d", c->leaf, c->n);
	peer_forget(&c->b.peer);
}

static inline void
crowd_ask_all(struct crowd *c, const char *id)
{
	char topic[128], body[256];
	int i;

	crowd_expect(c, "result");
	snprintf(body, sizeof(body),
	    "{\"request_id\":\"%s\",\"skill\":\"control_light\","
	    "\"arguments\":{\"mode\":\"on\"}}",
	    id);
	for (i = 1; i <= c->bodies; i++) {
		snprintf(topic, sizeof(topic),
		    "soul/terminal/terminal-%03d/invoke/%s", i, id);
		peer_send(&c->b.peer, topic, body, false);
	}
	crowd_wait_all(c);
}

static inline bool
crowd_all_up(void *arg)
{
	struct crowd *c = arg;
	struct tk_answer a = { 0 };
	char line[64];
	bool is;

	snprintf(line, sizeof(line), "mqtt_clients_up %d\n", c->bodies);
	is = tk_service_get(&c->b.sim, &a, "/metrics") == 200 &&
	    tk_answer_has(&a, line);
	tk_answer_free(&a);
	return is;
}

/* Descriptors for n bodies in the broker and in body-sim, if they may be had.
 */
static inline bool
crowd_room(int n)
{
	struct rlimit lim;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &lim), 0);
	lim.rlim_cur = lim.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &lim), 0);
	return lim.rlim_max > (rlim_t)n + 1000;
}

static inline void
crowd_listen(struct crowd *c)
{
	peer_open(&c->b.peer, c->b.broker.port, "#");
	c->b.peer.fn = crowd_count;
	c->b.peer.arg = c;
}

/* Start them and wait until all have announced themselves. */
static inline void
crowd_start(struct crowd *c, int bodies)
{
	char count[32];
	const char *const env[] = { count, "LOG_LEVEL=info", NULL };

	c->bodies = bodies;
	snprintf(count, sizeof(count), "BODY_COUNT=%d", bodies);
	tk_server_start(&c->b.broker, TK_MOSQUITTO);
	crowd_listen(c);
	crowd_expect(c, "intent_catalog");
	bed_sim(&c->b, env);
	crowd_wait_all(c);
	tk_service_wait(&c->b.sim);
	ck_assert(tk_until(crowd_all_up, c, CROWD_MS));
}

/* Kill the broker; they must all announce themselves to the next one. */
static inline void
crowd_lose_broker(struct crowd *c)
{
	crowd_expect(c, "intent_catalog");
	tk_signal(&c->b.sim.proc, SIGSTOP);
	tk_server_stop(&c->b.broker, SIGKILL);
	tk_server_restart(&c->b.broker);
	peer_free(&c->b.peer);
	crowd_listen(c);
	tk_signal(&c->b.sim.proc, SIGCONT);
	crowd_wait_all(c);
	ck_assert(tk_until(crowd_all_up, c, CROWD_MS));
}

/* And all of them say goodbye. */
static inline void
crowd_end(struct crowd *c)
{
	crowd_expect(c, "online");
	tk_service_end(&c->b.sim);
	crowd_wait_all(c);
	bed_stop(&c->b);
}

#endif /* !CROWD_H */
