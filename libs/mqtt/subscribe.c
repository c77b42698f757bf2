/*
 * Subscriptions, renewed on every connection, and the rules for topics.
 */
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <stdlib.h>

#include "core/log.h"
#include "core/mem.h"
#include "mqtt/mqtt_internal.h"

/* No client subscribes to it. */
#define PROBE_FILTER "soul-keepalive"

static struct mqtt_sub *
sub_find(struct mqtt *m, struct str filter)
{
	struct mqtt_sub *s;

	TAILQ_FOREACH (s, &m->subs, link)
		if (!s->removing && str_eq(str_of(s->filter), filter))
			return s;
	return NULL;
}

static void
sub_free(struct mqtt *m, struct mqtt_sub *s)
{
	TAILQ_REMOVE(&m->subs, s, link);
	free(s);
}

static void
sub_send_subscribe(struct mqtt *m, struct mqtt_sub *s)
{
	int options = s->as_published ? MQTT_SUB_OPT_RETAIN_AS_PUBLISHED : 0;
	int mid = 0;

	s->unsent = false;
	s->mid = 0;
	if (mqtt_link_rc(m,
		mosquitto_subscribe_v5(
		    m->mosq, &mid, s->filter, s->qos, options, NULL)) == RC_OK)
		s->mid = m->last_mid = mid;
}

static void
sub_send_unsubscribe(struct mqtt *m, struct mqtt_sub *s)
{
	int mid = 0;

	/* If it cannot be sent, the session is over anyway. */
	(void)mqtt_link_rc(m, mosquitto_unsubscribe(m->mosq, &mid, s->filter));
	if (mid != 0)
		m->last_mid = mid;
	sub_free(m, s);
}

/*
 * UNSUBSCRIBE of what is not subscribed.  libmosquitto sends PINGREQ only as
 * long as it reads the replies.
 */
void
mqtt_sub_probe(struct mqtt *m)
{
	int mid = 0;

	(void)mqtt_link_rc(
	    m, mosquitto_unsubscribe(m->mosq, &mid, PROBE_FILTER));
	if (mid != 0)
		m->last_mid = mid;
}

/* In the order of the calls. */
static void
sub_send_all(struct mqtt *m)
{
	struct mqtt_sub *s, *next;

	for (s = TAILQ_FIRST(&m->subs); s != NULL; s = next) {
		if (!mqtt_link_sendable(m))
			return;
		next = TAILQ_NEXT(s, link);
		if (s->removing)
			sub_send_unsubscribe(m, s);
		else if (s->unsent)
			sub_send_subscribe(m, s);
	}
	mqtt_link_touch(m);
}

enum rc
mqtt_subscribe(
    struct mqtt *m, struct str filter, int qos, mqtt_done_fn fn, void *arg)
{
	char z[MQTT_TOPIC_MAX + 1];
	bool as_published = (qos & MQTT_AS_PUBLISHED) != 0;
	struct mqtt_sub *s;

	qos &= ~MQTT_AS_PUBLISHED;
	if (qos < 0 || qos > 1 || !mqtt_filter_copy(filter, z))
		return RC_INVALID;
	s = sub_find(m, filter);
	if (s == NULL) {
		s = mem_zalloc(sizeof(*s) + filter.n + 1);
		memcpy(s->filter, z, filter.n + 1);
		TAILQ_INSERT_TAIL(&m->subs, s, link);
	}
	s->qos = qos;
	s->as_published = as_published;
	s->fn = fn;
	s->arg = arg;
	s->granted = -1;
	s->unsent = true;
	s->mid = 0;
	m->subs_dirty = true;
	sub_send_all(m);
	return RC_OK;
}

enum rc
mqtt_unsubscribe(struct mqtt *m, struct str filter)
{
	struct mqtt_sub *s = sub_find(m, filter);

	if (s == NULL)
		return RC_NOENT;
	s->removing = true;
	m->subs_dirty = true;
	/* To the end, behind subscriptions that are not sent yet. */
	TAILQ_REMOVE(&m->subs, s, link);
	if (m->phase == MQTT_PHASE_UP) {
		TAILQ_INSERT_TAIL(&m->subs, s, link);
		sub_send_all(m);
	} else {
		free(s);
	}
	return RC_OK;
}

void
mqtt_sub_renew(struct mqtt *m)
{
	struct mqtt_sub *s, *next;

	for (s = TAILQ_FIRST(&m->subs); s != NULL; s = next) {
		next = TAILQ_NEXT(s, link);
		s->unsent = true;
		s->granted = -1;
		if (s->removing)
			sub_free(m, s);
	}
	sub_send_all(m);
}

void
mqtt_sub_acked(struct mqtt *m, int mid, unsigned reason)
{
	struct mqtt_sub *s;

	TAILQ_FOREACH (s, &m->subs, link)
		if (s->mid == mid) {
			s->mid = 0;
			s->granted = (int)reason;
			m->subs_dirty = true;
			return;
		}
}

static void
sub_report(struct mqtt_sub *s)
{
	unsigned reason = (unsigned)s->granted;
	enum rc rc;

	s->granted = -1;
	/* Below 128 it is the granted QoS. */
	rc = reason < 128 ? RC_OK : mqtt_reason_rc(reason);
	if (rc != RC_OK)
		log_warn("mqtt.subscription_rejected",
		    LOG_S("filter", s->filter), LOG_I("reason", reason));
	if (s->fn != NULL)
		s->fn(s->arg, rc, reason);
}

void
mqtt_sub_flush(struct mqtt *m)
{
	struct mqtt_sub *s;

	if (!m->subs_dirty)
		return;
	m->subs_dirty = false;
	sub_send_all(m);
	/* From the start after each, since completions may change the list. */
	do {
		TAILQ_FOREACH (s, &m->subs, link)
			if (!s->removing && s->granted >= 0)
				break;
		if (s != NULL)
			sub_report(s);
	} while (s != NULL && !m->freed);
}

void
mqtt_sub_free_all(struct mqtt *m)
{
	struct mqtt_sub *s;

	while ((s = TAILQ_FIRST(&m->subs)) != NULL)
		sub_free(m, s);
}

/* ---- topics ---- */

/*
 * The functions of libmosquitto that take a length read beyond it, so they get
 * copies with a NUL.
 */
static bool
topic_copy_utf8(struct str t, char dst[MQTT_TOPIC_MAX + 1])
{
	if (t.n < 1 || t.n > MQTT_TOPIC_MAX || memchr(t.p, '\0', t.n) != NULL)
		return false;
	memcpy(dst, t.p, t.n);
	dst[t.n] = '\0';
	return mosquitto_validate_utf8(dst, (int)t.n) == MOSQ_ERR_SUCCESS;
}

bool
mqtt_topic_copy(struct str t, char dst[MQTT_TOPIC_MAX + 1])
{
	return topic_copy_utf8(t, dst) &&
	    mosquitto_pub_topic_check(dst) == MOSQ_ERR_SUCCESS;
}

bool
mqtt_filter_copy(struct str f, char dst[MQTT_TOPIC_MAX + 1])
{
	return topic_copy_utf8(f, dst) &&
	    mosquitto_sub_topic_check(dst) == MOSQ_ERR_SUCCESS;
}

bool
mqtt_topic_valid(struct str t)
{
	char z[MQTT_TOPIC_MAX + 1];

	return mqtt_topic_copy(t, z);
}

bool
mqtt_filter_valid(struct str t)
{
	char z[MQTT_TOPIC_MAX + 1];

	return mqtt_filter_copy(t, z);
}

bool
mqtt_topic_matches(struct str filter, struct str t)
{
	char fz[MQTT_TOPIC_MAX + 1], tz[MQTT_TOPIC_MAX + 1];
	bool result = false;

	return mqtt_filter_copy(filter, fz) && mqtt_topic_copy(t, tz) &&
	    mosquitto_topic_matches_sub(fz, tz, &result) == MOSQ_ERR_SUCCESS &&
	    result;
}
