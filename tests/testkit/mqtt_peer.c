#include "testkit/mqtt_peer.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"

static void
mqtt_peer_on_connect(struct mosquitto *mosq, void *arg, int rc)
{
	(void)mosq;
	((struct mqtt_peer *)arg)->up = rc == 0;
}

static void
mqtt_peer_on_disconnect(struct mosquitto *mosq, void *arg, int rc)
{
	(void)mosq;
	(void)rc;
	((struct mqtt_peer *)arg)->up = false;
}

static void
mqtt_peer_on_subscribe(
    struct mosquitto *mosq, void *arg, int mid, int n, const int *qos)
{
	(void)mosq;
	(void)mid;
	(void)n;
	(void)qos;
	((struct mqtt_peer *)arg)->subscribed++;
}

static void
mqtt_peer_on_publish(struct mosquitto *mosq, void *arg, int mid)
{
	(void)mosq;
	(void)mid;
	((struct mqtt_peer *)arg)->published++;
}

static void
mqtt_peer_on_message(
    struct mosquitto *mosq, void *arg, const struct mosquitto_message *m)
{
	struct mqtt_peer *p = arg;
	struct mqtt_peer_msg *msg = mem_zalloc(sizeof(*msg));

	(void)mosq;
	msg->topic = mem_strdup(m->topic);
	msg->payload = mem_zalloc((size_t)m->payloadlen + 1);
	if (m->payloadlen > 0)
		memcpy(msg->payload, m->payload, (size_t)m->payloadlen);
	msg->qos = m->qos;
	msg->retain = m->retain;
	msg->at = clock_mono();
	TAILQ_INSERT_TAIL(&p->msgs, msg, link);
	p->n++;
	if (p->fn != NULL)
		p->fn(p, msg);
}

void
mqtt_peer_new(struct mqtt_peer *p, const char *id)
{
	*p = (struct mqtt_peer){ 0 };
	TAILQ_INIT(&p->msgs);
	mosquitto_lib_init();
	p->mosq = mosquitto_new(id, true, p);
	mosquitto_connect_callback_set(p->mosq, mqtt_peer_on_connect);
	mosquitto_disconnect_callback_set(p->mosq, mqtt_peer_on_disconnect);
	mosquitto_subscribe_callback_set(p->mosq, mqtt_peer_on_subscribe);
	mosquitto_publish_callback_set(p->mosq, mqtt_peer_on_publish);
	mosquitto_message_callback_set(p->mosq, mqtt_peer_on_message);
}

void
mqtt_peer_clear(struct mqtt_peer *p)
{
	struct mqtt_peer_msg *m;

	while ((m = TAILQ_FIRST(&p->msgs)) != NULL) {
		TAILQ_REMOVE(&p->msgs, m, link);
		free(m->topic);
		free(m->payload);
		free(m);
	}
	p->n = 0;
}

void
mqtt_peer_close(struct mqtt_peer *p)
{
	mosquitto_disconnect(p->mosq);
	mosquitto_destroy(p->mosq);
	mqtt_peer_clear(p);
}

void
mqtt_peer_poll(struct mqtt_peer *p, int ms)
{
	(void)mosquitto_loop(p->mosq, ms, 1);
}

bool
mqtt_peer_until(struct mqtt_peer *p, bool (*fn)(void *arg), void *arg, int ms)
{
	struct mono until = mono_add_ms(clock_mono(), ms);

	while (!fn(arg)) {
		if (mono_diff_ms(clock_mono(), until) >= 0)
			return false;
		mqtt_peer_poll(p, 10);
	}
	return true;
}

bool
mqtt_peer_is_up(void *arg)
{
	return ((struct mqtt_peer *)arg)->up;
}

void
mqtt_peer_connect(struct mqtt_peer *p, int port)
{
	ck_assert_int_eq(mosquitto_connect(p->mosq, "127.0.0.1", port, 60),
	    MOSQ_ERR_SUCCESS);
	ck_assert(mqtt_peer_until(p, mqtt_peer_is_up, p, PEER_WAIT_MS));
}

struct mqtt_peer_count {
	const int *n;
	int want;
};

static bool
mqtt_peer_reached(void *arg)
{
	const struct mqtt_peer_count *c = arg;

	return *c->n >= c->want;
}

void
mqtt_peer_subscribe(struct mqtt_peer *p, const char *filter)
{
	struct mqtt_peer_count c = { &p->subscribed, p->subscribed + 1 };

	ck_assert_int_eq(
	    mosquitto_subscribe(p->mosq, NULL, filter, 1), MOSQ_ERR_SUCCESS);
	ck_assert(mqtt_peer_until(p, mqtt_peer_reached, &c, PEER_WAIT_MS));
}

void
mqtt_peer_open(struct mqtt_peer *p, int port, const char *filter)
{
	mqtt_peer_new(p, NULL);
	mqtt_peer_connect(p, port);
	mqtt_peer_subscribe(p, filter);
}

void
mqtt_peer_send(
    struct mqtt_peer *p, const char *topic, const char *payload, bool retain)
{
	struct mqtt_peer_count c = { &p->published, p->published + 1 };

	ck_assert_int_eq(mosquitto_publish(p->mosq, NULL, topic,
			     (int)strlen(payload), payload, 1, retain),
	    MOSQ_ERR_SUCCESS);
	ck_assert(mqtt_peer_until(p, mqtt_peer_reached, &c, PEER_WAIT_MS));
}

struct mqtt_peer_msg *
mqtt_peer_nth(struct mqtt_peer *p, const char *topic, int n)
{
	struct mqtt_peer_msg *m;

	TAILQ_FOREACH (m, &p->msgs, link) {
		if (strcmp(m->topic, topic) == 0 && n-- == 0)
			return m;
	}
	return NULL;
}

struct mqtt_peer_wait {
	struct mqtt_peer *p;
	const char *topic;
	int n;
};

static bool
mqtt_peer_has(void *arg)
{
	const struct mqtt_peer_wait *w = arg;

	return mqtt_peer_nth(w->p, w->topic, w->n) != NULL;
}

struct mqtt_peer_msg *
mqtt_peer_get(struct mqtt_peer *p, const char *topic, int n)
{
	struct mqtt_peer_wait w = { p, topic, n };

	struct mqtt_peer_msg *m;

	ck_assert_msg(mqtt_peer_until(p, mqtt_peer_has, &w, PEER_WAIT_MS),
	    "%s %d", topic, n);
	m = mqtt_peer_nth(p, topic, n);
	if (m == NULL)
		abort();
	return m;
}

void
mqtt_peer_ck_topics(struct mqtt_peer *p, const char *first, ...)
{
	struct mqtt_peer_msg *m = TAILQ_FIRST(&p->msgs);
	const char *topic = first;
	va_list ap;

	va_start(ap, first);
	for (; topic != NULL; topic = va_arg(ap, const char *)) {
		ck_assert_ptr_nonnull(m);
		ck_assert_str_eq(m->topic, topic);
		m = TAILQ_NEXT(m, link);
	}
	va_end(ap);
}
