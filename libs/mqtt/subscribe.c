/*
 * subscribe: the subscriptions, made again on every connection.
 */
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <stdlib.h>

#include "core/log.h"
#include "core/mem.h"
#include "mqtt/mqtt_internal.h"

static struct sub *
find(struct mqtt *m, struct str filter)
{
	struct sub *s;

	TAILQ_FOREACH (s, &m->subs, link)
		if (!s->gone && str_eq(str_of(s->filter), filter))
			return s;
	return NULL;
}

static void
drop(struct mqtt *m, struct sub *s)
{
	TAILQ_REMOVE(&m->subs, s, link);
	free(s);
}

static void
send_subscribe(struct mqtt *m, struct sub *s)
{
	int options = s->as_published ? MQTT_SUB_OPT_RETAIN_AS_PUBLISHED : 0;
	int mid = 0;

	s->due = false;
	s->mid = 0;
	if (link_rc(m,
		mosquitto_subscribe_v5(
		    m->mosq, &mid, s->filter, s->qos, options, NULL)) == RC_OK)
		s->mid = m->last_mid = mid;
}

static void
send_unsubscribe(struct mqtt *m, struct sub *s)
{
	int mid = 0;

	/* If it cannot be sent, there is no session either. */
	(void)link_rc(m, mosquitto_unsubscribe(m->mosq, &mid, s->filter));
	if (mid != 0)
		m->last_mid = mid;
	drop(m, s);
}

/* In the order in which the owner wanted it. */
static void
send_due(struct mqtt *m)
{
	struct sub *s, *next;

	for (s = TAILQ_FIRST(&m->subs); s != NULL; s = next) {
		if (!link_sendable(m))
			return;
		next = TAILQ_NEXT(s, link);
		if (s->gone)
			send_unsubscribe(m, s);
		else if (s->due)
			send_subscribe(m, s);
	}
	link_touch(m);
}

enum rc
mqtt_subscribe(
    struct mqtt *m, struct str filter, int qos, mqtt_done_fn fn, void *arg)
{
	char z[MQTT_TOPIC_MAX + 1];
	bool as_published = (qos & MQTT_AS_PUBLISHED) != 0;
	struct sub *s;

	qos &= ~MQTT_AS_PUBLISHED;
	if (qos < 0 || qos > 1 || !topic_filter_copy(filter, z))
		return RC_INVALID;
	s = find(m, filter);
	if (s == NULL) {
		s = mem_zalloc(sizeof(*s) + filter.n + 1);
		memcpy(s->filter, z, filter.n + 1);
		TAILQ_INSERT_TAIL(&m->subs, s, link);
	}
	s->qos = qos;
	s->as_published = as_published;
	s->fn = fn;
	s->arg = arg;
	s->answer = -1;
	s->due = true;
	s->mid = 0;
	m->subs_news = true;
	send_due(m);
	return RC_OK;
}

enum rc
mqtt_unsubscribe(struct mqtt *m, struct str filter)
{
	struct sub *s = find(m, filter);

	if (s == NULL)
		return RC_NOENT;
	s->gone = true;
	m->subs_news = true;
	/* At its end, behind what was wanted before. */
	TAILQ_REMOVE(&m->subs, s, link);
	if (m->phase == PHASE_UP) {
		TAILQ_INSERT_TAIL(&m->subs, s, link);
		send_due(m);
	} else {
		free(s);
	}
	return RC_OK;
}

void
sub_renew(struct mqtt *m)
{
	struct sub *s, *next;

	for (s = TAILQ_FIRST(&m->subs); s != NULL; s = next) {
		next = TAILQ_NEXT(s, link);
		s->due = true;
		s->answer = -1;
		if (s->gone)
			drop(m, s);
	}
	send_due(m);
}

void
sub_acked(struct mqtt *m, int mid, unsigned reason)
{
	struct sub *s;

	TAILQ_FOREACH (s, &m->subs, link)
		if (s->mid == mid) {
			s->mid = 0;
			s->answer = (int)reason;
			m->subs_news = true;
			return;
		}
}

static void
tell(struct sub *s)
{
	unsigned reason = (unsigned)s->answer;
	enum rc rc;

	s->answer = -1;
	/* Below 128 it is the QoS that was granted. */
	rc = reason < 128 ? RC_OK : client_reason_rc(reason);
	if (rc != RC_OK)
		log_warn("mqtt.subscription_refused",
		    LOG_S("filter", s->filter), LOG_I("reason", reason));
	if (s->fn != NULL)
		s->fn(s->arg, rc, reason);
}

void
sub_after(struct mqtt *m)
{
	struct sub *s;

	if (!m->subs_news)
		return;
	m->subs_news = false;
	send_due(m);
	/* From the start after each: owners may change the list. */
	do {
		TAILQ_FOREACH (s, &m->subs, link)
			if (!s->gone && s->answer >= 0)
				break;
		if (s != NULL)
			tell(s);
	} while (s != NULL && !m->freed);
}

void
sub_forget_all(struct mqtt *m)
{
	struct sub *s;

	while ((s = TAILQ_FIRST(&m->subs)) != NULL)
		drop(m, s);
}

/*
 * topic: rules for topics and filters, as libmosquitto knows them.
 *
 * Its functions that take a length read behind it, so they get copies.
 */
static bool
copy(struct str t, char dst[MQTT_TOPIC_MAX + 1])
{
	if (t.n < 1 || t.n > MQTT_TOPIC_MAX || memchr(t.p, '\0', t.n) != NULL)
		return false;
	memcpy(dst, t.p, t.n);
	dst[t.n] = '\0';
	return mosquitto_validate_utf8(dst, (int)t.n) == MOSQ_ERR_SUCCESS;
}

bool
topic_copy(struct str t, char dst[MQTT_TOPIC_MAX + 1])
{
	return copy(t, dst) &&
	    mosquitto_pub_topic_check(dst) == MOSQ_ERR_SUCCESS;
}

bool
topic_filter_copy(struct str f, char dst[MQTT_TOPIC_MAX + 1])
{
	return copy(f, dst) &&
	    mosquitto_sub_topic_check(dst) == MOSQ_ERR_SUCCESS;
}

bool
mqtt_topic_valid(struct str t)
{
	char z[MQTT_TOPIC_MAX + 1];

	return topic_copy(t, z);
}

bool
mqtt_filter_valid(struct str t)
{
	char z[MQTT_TOPIC_MAX + 1];

	return topic_filter_copy(t, z);
}

bool
mqtt_topic_matches(struct str filter, struct str t)
{
	char fz[MQTT_TOPIC_MAX + 1], tz[MQTT_TOPIC_MAX + 1];
	bool result = false;

	return topic_filter_copy(filter, fz) && topic_copy(t, tz) &&
	    mosquitto_topic_matches_sub(fz, tz, &result) == MOSQ_ERR_SUCCESS &&
	    result;
}
