/*
 * Messages per second through mqtt.h, beside libmosquitto alone on a bare epoll
 * loop, against the same broker in the same run.
 */
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/worker.h"
#include "mqtt/mqtt.h"
#include "testkit/figures.h"
#include "testkit/loop.h"
#include "testkit/testkit.h"

#define ROUNDS 9
#define N      20000
#define PAYLOAD                                                       \
	"{\"ts\":1767225600000,\"text\":\"a payload of ninety bytes " \
	"or so, as terminals send them\"}"

/* Outstanding messages of either side. */
#define WINDOW 100

struct side {
	int sent, done, got;
	int qos;
	/* ours */
	struct loop *loop;
	struct mqtt *m;
	/* bare */
	struct mosquitto *mosq;
	int epfd;
	unsigned events;
};

/* ---- ours ---- */

static void ours_fill(struct side *s);

static void
ours_done(void *arg, enum rc rc, unsigned reason)
{
	struct side *s = arg;

	(void)reason;
	ck_assert(rc == RC_OK || rc == RC_NOENT);
	s->done++;
	ours_fill(s);
}

static void
ours_fill(struct side *s)
{
	struct mqtt_msg msg = { STR("bench/ours"), STR(PAYLOAD), 1, false };

	while (s->sent < N && s->sent - s->done < WINDOW) {
		s->sent++;
		ck_assert_int_eq(mqtt_publish(s->m, &msg, ours_done, s), RC_OK);
	}
}

static void
ours_got(void *arg, const struct mqtt_msg *m)
{
	struct side *s = arg;

	ck_assert_uint_eq(m->payload.n, strlen(PAYLOAD));
	s->got++;
}

static bool
ours_finished(void *arg)
{
	struct side *s = arg;

	return s->done == N || s->got == N;
}

static bool
ours_up(void *arg)
{
	return mqtt_up(arg);
}

/* ---- bare ---- */

static void
bare_fill(struct side *s)
{
	while (s->sent < N && s->sent - s->done < WINDOW) {
		s->sent++;
		ck_assert_int_eq(mosquitto_publish(s->mosq, NULL, "bench/bare",
				     (int)strlen(PAYLOAD), PAYLOAD, 1, false),
		    MOSQ_ERR_SUCCESS);
	}
}

static void
bare_done(struct mosquitto *mosq, void *arg, int mid, int reason,
    const mosquitto_property *props)
{
	struct side *s = arg;

	(void)mosq;
	(void)mid;
	(void)reason;
	(void)props;
	s->done++;
	bare_fill(s);
}

static void
bare_got(struct mosquitto *mosq, void *arg, const struct mosquitto_message *m,
    const mosquitto_property *props)
{
	struct side *s = arg;

	(void)mosq;
	(void)props;
	ck_assert_int_eq(m->payloadlen, (int)strlen(PAYLOAD));
	s->got++;
}

static void
bare_connected(struct mosquitto *mosq, void *arg, int reason, int flags,
    const mosquitto_property *props)
{
	(void)mosq;
	(void)flags;
	(void)props;
	ck_assert_int_eq(reason, 0);
	((struct side *)arg)->sent = -1;
}

static void
bare_iterate(struct side *s)
{
	struct epoll_event e = { .events = EPOLLIN };

	if (mosquitto_want_write(s->mosq))
		e.events |= EPOLLOUT;
	if (e.events != s->events)
		epoll_ctl(s->epfd,
		    s->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD,
		    mosquitto_socket(s->mosq), &e);
	s->events = e.events;
	if (epoll_wait(s->epfd, &e, 1, 1000) != 1)
		return;
	if ((e.events & EPOLLIN) != 0)
		ck_assert_int_eq(mosquitto_loop_read(s->mosq, 1), 0);
	if ((e.events & EPOLLOUT) != 0 || mosquitto_want_write(s->mosq))
		ck_assert_int_eq(mosquitto_loop_write(s->mosq, 1), 0);
}

static void
bare_connect(struct side *s, int port)
{
	s->epfd = epoll_create1(0);
	s->mosq = mosquitto_new(NULL, true, s);
	mosquitto_int_option(
	    s->mosq, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
	mosquitto_int_option(s->mosq, MOSQ_OPT_TCP_NODELAY, 1);
	mosquitto_connect_v5_callback_set(s->mosq, bare_connected);
	mosquitto_publish_v5_callback_set(s->mosq, bare_done);
	mosquitto_message_v5_callback_set(s->mosq, bare_got);
	ck_assert_int_eq(
	    mosquitto_connect_async(s->mosq, "127.0.0.1", port, 60), 0);
	while (s->sent != -1)
		bare_iterate(s);
}

/* ---- rounds ---- */

static void
feed(struct side *from, const char *topic)
{
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(mosquitto_publish(from->mosq, NULL, topic,
				     (int)strlen(PAYLOAD), PAYLOAD, 0, false),
		    MOSQ_ERR_SUCCESS);
	while (mosquitto_want_write(from->mosq))
		bare_iterate(from);
}

static void
send_ours(struct side *s)
{
	s->sent = s->done = 0;
	s->got = -1;
	ours_fill(s);
	ck_assert(tk_loop_until(s->loop, ours_finished, s, 60000));
}

static void
send_bare(struct side *s)
{
	s->sent = s->done = 0;
	bare_fill(s);
	while (s->done < N)
		bare_iterate(s);
}

/* Receives what the broker has queued as fast as possible. */
static void
receive_ours(struct side *s)
{
	s->got = s->done = 0;
	ck_assert(tk_loop_until(s->loop, ours_finished, s, 60000));
}

static void
receive_bare(struct side *s)
{
	s->got = 0;
	while (s->got < N)
		bare_iterate(s);
}

static void
timed(struct side *s, void (*fn)(struct side *), struct tk_cost *c)
{
	tk_cost_begin(c);
	fn(s);
	tk_cost_end(c, N);
}

static void
compare(struct side *ours, struct side *bare, struct side *feeder)
{
	struct tk_cost out[2] = { 0 }, in[2] = { 0 };

	send_ours(ours);
	send_bare(bare);
	for (int i = 0; i < ROUNDS; i++) {
		timed(ours, send_ours, &out[0]);
		timed(bare, send_bare, &out[1]);
	}
	tk_cost_compare("publish QoS 1, window 100", &out[0], &out[1]);
	for (int i = 0; i < ROUNDS; i++) {
		feed(feeder, "bench/to/ours");
		timed(ours, receive_ours, &in[0]);
		feed(feeder, "bench/to/bare");
		timed(bare, receive_bare, &in[1]);
	}
	tk_cost_compare("receive QoS 0", &in[0], &in[1]);
}

TEST_T(messages_compared_with_libmosquitto, 120)
{
	struct side ours = { .loop = loop_new(16) }, bare = { 0 },
		    feeder = { 0 };
	struct worker_pool *w = worker_new(ours.loop, 1, 4);
	struct mqtt_opts o = { .loop = ours.loop,
		.workers = w,
		.on_message = ours_got,
		.arg = &ours };
	struct tk_server broker;
	char what[64];

	tk_server_start(&broker, TK_MOSQUITTO);
	mosquitto_lib_init();
	o.url = broker.url;
	ck_assert_int_eq(mqtt_new(&o, &ours.m), RC_OK);
	ck_assert(tk_loop_until(ours.loop, ours_up, ours.m, 20000));
	ck_assert_int_eq(
	    mqtt_subscribe(ours.m, STR("bench/to/ours"), 0, NULL, NULL), RC_OK);
	bare_connect(&bare, broker.port);
	mosquitto_subscribe(bare.mosq, NULL, "bench/to/bare", 0);
	bare_connect(&feeder, broker.port);

	snprintf(
	    what, sizeof(what), "us per message of %zu bytes", strlen(PAYLOAD));
	tk_cost_head(what, "mqtt", "bare");
	compare(&ours, &bare, &feeder);
	mosquitto_destroy(bare.mosq);
	mosquitto_destroy(feeder.mosq);
	close(bare.epfd);
	close(feeder.epfd);
	mqtt_free(ours.m);
	worker_free(w);
	loop_free(ours.loop);
	mosquitto_lib_cleanup();
}
