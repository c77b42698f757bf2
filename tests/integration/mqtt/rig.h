/*
 * rig: a loop, workers, a broker, and clients that keep what they receive.
 */
#ifndef MQTT_RIG_H
#define MQTT_RIG_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/buf.h"
#include "core/mem.h"
#include "core/metric.h"
#include "mqtt/mqtt.h"
#include "testkit/loop.h"
#include "testkit/testkit.h"

#define RIG_MS 20000

struct rig {
	struct tk_server broker;
	struct loop *loop;
	struct worker_pool *workers;
	struct metric_set *metrics;
};

/* A client and what happened to it. */
struct cl {
	struct rig *rig;
	struct mqtt *m;
	struct mqtt_opts o;
	int ups, downs, messages;
	struct buf got; /* "topic=payload qos[R];" of each message */
	int dones[RC_N];
	int done, reason;
	int subscribed;
};

static inline void
rig_bare(struct rig *r)
{
	*r = (struct rig){ 0 };
	r->loop = loop_new(64);
	r->workers = worker_new(r->loop, 1, 16);
	r->metrics = metric_set_new();
}

static inline void
rig_start(struct rig *r)
{
	rig_bare(r);
	tk_server_start(&r->broker, TK_MOSQUITTO);
}

static inline void
rig_end(struct rig *r)
{
	worker_free(r->workers);
	loop_free(r->loop);
	metric_set_free(r->metrics);
}

static inline void
cl_on_state(void *arg, bool up)
{
	struct cl *c = arg;

	if (up)
		c->ups++;
	else
		c->downs++;
	ck_assert_int_eq(mqtt_up(c->m), up);
}

static inline void
cl_on_message(void *arg, const struct mqtt_msg *m)
{
	struct cl *c = arg;

	c->messages++;
	buf_put_str(&c->got, m->topic);
	buf_putc(&c->got, '=');
	buf_put_str(&c->got, m->payload.n < 100 ? m->payload : STR("big"));
	buf_printf(&c->got, " %d%s;", m->qos, m->retain ? "R" : "");
}

static inline void
cl_on_done(void *arg, enum rc rc, unsigned reason)
{
	struct cl *c = arg;

	c->done++;
	c->dones[rc]++;
	c->reason = (int)reason;
}

static inline void
cl_on_subscribed(void *arg, enum rc rc, unsigned reason)
{
	struct cl *c = arg;

	(void)reason;
	ck_assert_int_eq(rc, RC_OK);
	c->subscribed++;
}

/* The options that cl_start() uses; change them in between. */
static inline void
cl_init(struct cl *c, struct rig *r, const char *id)
{
	*c = (struct cl){ .rig = r };
	buf_init(&c->got, 4 * 1024 * 1024);
	c->o = (struct mqtt_opts){ .loop = r->loop,
		.workers = r->workers,
		.url = r->broker.url,
		.client_id = id,
		.retry_max_ms = 300,
		.metrics = r->metrics,
		.on_state = cl_on_state,
		.on_message = cl_on_message,
		.arg = c };
}

static inline void
cl_start(struct cl *c)
{
	ck_assert_int_eq(mqtt_new(&c->o, &c->m), RC_OK);
}

static inline void
cl_end(struct cl *c)
{
	mqtt_free(c->m);
	c->m = NULL;
	buf_free(&c->got);
}

static bool
cl_is_up(void *arg)
{
	return mqtt_up(((struct cl *)arg)->m);
}

static bool
cl_is_down(void *arg)
{
	return !mqtt_up(((struct cl *)arg)->m);
}

static inline void
cl_wait_up(struct cl *c)
{
	ck_assert(tk_loop_until(c->rig->loop, cl_is_up, c, RIG_MS));
}

static inline void
cl_wait_down(struct cl *c)
{
	ck_assert(tk_loop_until(c->rig->loop, cl_is_down, c, RIG_MS));
}

/* A connected client. */
static inline void
cl_open(struct cl *c, struct rig *r, const char *id)
{
	cl_init(c, r, id);
	cl_start(c);
	cl_wait_up(c);
}

struct cl_count {
	const int *n;
	int want;
};

static bool
cl_reached(void *arg)
{
	const struct cl_count *c = arg;

	return *c->n >= c->want;
}

/* Wait until a counter of c is at least want. */
static inline void
cl_wait(struct cl *c, const int *n, int want)
{
	struct cl_count count = { n, want };

	ck_assert_msg(tk_loop_until(c->rig->loop, cl_reached, &count, RIG_MS),
	    "%d of %d", *n, want);
}

static inline enum rc
cl_send(struct cl *c, const char *topic, const char *payload, int qos)
{
	struct mqtt_msg m = { str_of(topic), str_of(payload), qos, false };

	return mqtt_publish(c->m, &m, qos > 0 ? cl_on_done : NULL, c);
}

/* Subscribe and wait for the broker's answer. */
static inline void
cl_subscribe(struct cl *c, const char *filter, int qos)
{
	int before = c->subscribed;

	ck_assert_int_eq(
	    mqtt_subscribe(c->m, str_of(filter), qos, cl_on_subscribed, c),
	    RC_OK);
	cl_wait(c, &c->subscribed, before + 1);
}

static inline void
cl_expect(struct cl *c, const char *got)
{
	ck_assert_str_eq(c->got.n > 0 ? c->got.p : "", got);
	buf_reset(&c->got);
	c->messages = 0;
}

#endif /* !MQTT_RIG_H */
