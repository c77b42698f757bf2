/*
 * Publishing: the window of unacknowledged messages, and completions.
 *
 * libmosquitto is given at most a window of messages; the others are queued
 * here.  Its linear searches stay short, whatever window the broker announces,
 * and a message that is still queued here was certainly not sent.
 */
#include <mosquitto.h>
#include <stdlib.h>

#include "core/mem.h"
#include "mqtt/mqtt_internal.h"

/* Packet ids used since the oldest unacknowledged one's, of 65535. */
#define IDS_AHEAD_MAX 60000

/* Add p to a list or remove it; the totals are over all lists. */
static void
pub_list_add(struct mqtt *m, struct mqtt_pub_list *list, struct mqtt_pub *p)
{
	TAILQ_INSERT_TAIL(list, p, link);
	m->n_pubs++;
	m->pub_bytes += p->bytes;
	metric_change(m->m_outstanding, 1);
}

static void
pub_list_remove(struct mqtt *m, struct mqtt_pub_list *list, struct mqtt_pub *p)
{
	TAILQ_REMOVE(list, p, link);
	m->n_pubs--;
	m->pub_bytes -= p->bytes;
	metric_change(m->m_outstanding, -1);
}

/* p is in no list any more. */
static void
pub_complete(struct mqtt *m, struct mqtt_pub *p, enum rc rc, unsigned reason)
{
	mqtt_done_fn fn = p->fn;
	void *arg = p->arg;

	if (rc != RC_OK && rc != RC_NOENT)
		metric_add(m->m_failed, 1);
	free(p->copy);
	free(p);
	if (fn != NULL)
		fn(arg, rc, reason);
}

/*
 * Packet ids wrap around.  One in use must not be assigned twice, or its
 * acknowledgement would be attributed to the other message.
 */
static bool
pub_id_is_free(const struct mqtt *m)
{
	const struct mqtt_pub *oldest = TAILQ_FIRST(&m->inflight);

	return oldest == NULL ||
	    (uint16_t)(m->last_mid - oldest->mid) < IDS_AHEAD_MAX;
}

static bool
pub_window_open(const struct mqtt *m)
{
	return m->n_inflight < m->window && pub_id_is_free(m);
}

/* Give a message to libmosquitto; its packet id is then m->last_mid. */
static enum rc
pub_write(struct mqtt *m, const char *topic, const struct mqtt_msg *msg)
{
	enum rc rc;
	int mid = 0;

	rc = mqtt_link_rc(m,
	    mosquitto_publish(m->mosq, &mid, topic, (int)msg->payload.n,
		msg->payload.p, msg->qos, msg->retain));
	if (mid != 0)
		m->last_mid = mid;
	if (rc == RC_OK)
		metric_add(m->m_sent, 1);
	return rc;
}

/* On failure p is in no list and still owned by the caller. */
static enum rc
pub_send_qos1(struct mqtt *m, struct mqtt_pub *p, const char *topic,
    const struct mqtt_msg *msg)
{
	enum rc rc = pub_write(m, topic, msg);

	if (rc == RC_OK) {
		p->mid = m->last_mid;
		pub_list_add(m, &m->inflight, p);
		m->n_inflight++;
	}
	return rc;
}

/*
 * As pub_send_qos1(), but if it was written at once p is freed before this
 * returns.  On failure nothing was written.
 */
static enum rc
pub_send_qos0(struct mqtt *m, struct mqtt_pub *p, const char *topic,
    const struct mqtt_msg *msg)
{
	enum rc rc;

	if (!pub_id_is_free(m))
		return RC_RETRY;
	pub_list_add(m, &m->unwritten, p);
	rc = pub_write(m, topic, msg);
	if (rc != RC_OK)
		pub_list_remove(m, &m->unwritten, p);
	return rc;
}

/* Queue a copy. */
static void
pub_defer(struct mqtt *m, struct mqtt_pub *p, const char *topic,
    const struct mqtt_msg *msg)
{
	p->retain = msg->retain;
	p->copy = mem_alloc(msg->topic.n + 1 + p->bytes);
	memcpy(p->copy, topic, msg->topic.n + 1);
	if (p->bytes > 0)
		memcpy(p->copy + msg->topic.n + 1, msg->payload.p, p->bytes);
	pub_list_add(m, msg->qos == 0 ? &m->deferred : &m->waiting, p);
}

/* p is in no list any more; a failure is reported to its completion. */
static void
pub_send_deferred(struct mqtt *m, struct mqtt_pub *p, int qos)
{
	struct mqtt_msg msg = { .qos = qos, .retain = p->retain };
	char *held = p->copy;
	enum rc rc;

	msg.topic = str_of(held);
	msg.payload = (struct str){ held + msg.topic.n + 1, p->bytes };
	p->copy = NULL;
	rc = qos == 0 ? pub_send_qos0(m, p, held, &msg)
		      : pub_send_qos1(m, p, held, &msg);
	if (rc != RC_OK)
		pub_complete(m, p, rc, 0);
	free(held);
}

static enum rc
pub_check(const struct mqtt *m, const struct mqtt_msg *msg, mqtt_done_fn fn,
    char topic[MQTT_TOPIC_MAX + 1])
{
	if (m->phase != MQTT_PHASE_UP || m->freed)
		return RC_DOWN;
	if (msg->topic.n > MQTT_TOPIC_MAX || msg->payload.n > MQTT_PAYLOAD_MAX)
		return RC_TOOBIG;
	if (msg->qos < 0 || msg->qos > 1 || (msg->qos == 0 && fn != NULL) ||
	    !mqtt_topic_copy(msg->topic, topic))
		return RC_INVALID;
	if (m->n_pubs >= MQTT_OUTSTANDING_MAX ||
	    m->pub_bytes + msg->payload.n > MQTT_OUTSTANDING_BYTES_MAX)
		return RC_RETRY;
	return RC_OK;
}

enum rc
mqtt_publish(
    struct mqtt *m, const struct mqtt_msg *msg, mqtt_done_fn fn, void *arg)
{
	char topic[MQTT_TOPIC_MAX + 1];
	struct mqtt_pub *p;
	enum rc rc;

	rc = pub_check(m, msg, fn, topic);
	if (rc != RC_OK)
		return rc;
	p = mem_zalloc(sizeof(*p));
	p->fn = fn;
	p->arg = arg;
	p->bytes = msg->payload.n;
	if (m->in_lib ||
	    (msg->qos == 1 &&
		(!TAILQ_EMPTY(&m->waiting) || !pub_window_open(m))))
		pub_defer(m, p, topic, msg);
	else if (msg->qos == 0)
		rc = pub_send_qos0(m, p, topic, msg);
	else
		rc = pub_send_qos1(m, p, topic, msg);
	if (rc != RC_OK)
		free(p);
	mqtt_link_touch(m);
	return rc;
}

size_t
mqtt_outstanding(const struct mqtt *m)
{
	return m->n_pubs;
}

void
mqtt_pub_acked(struct mqtt *m, int mid, unsigned reason)
{
	struct mqtt_pub *p;

	TAILQ_FOREACH (p, &m->inflight, link)
		if (p->mid == mid)
			break;
	if (p != NULL) {
		TAILQ_REMOVE(&m->inflight, p, link);
		m->n_inflight--;
		p->reason = reason;
		TAILQ_INSERT_TAIL(&m->acked, p, link);
	} else if ((p = TAILQ_FIRST(&m->unwritten)) != NULL) {
		/* Packets with QoS 0 are written in order. */
		pub_list_remove(m, &m->unwritten, p);
		free(p);
	}
}

static void
pub_report_acked(struct mqtt *m)
{
	struct mqtt_pub *p;

	while ((p = TAILQ_FIRST(&m->acked)) != NULL) {
		pub_list_remove(m, &m->acked, p);
		pub_complete(m, p, mqtt_reason_rc(p->reason), p->reason);
	}
}

void
mqtt_pub_flush(struct mqtt *m)
{
	struct mqtt_pub *p;

	while (
	    mqtt_link_sendable(m) && (p = TAILQ_FIRST(&m->deferred)) != NULL) {
		pub_list_remove(m, &m->deferred, p);
		pub_send_deferred(m, p, 0);
	}
	pub_report_acked(m);
	while (mqtt_link_sendable(m) && pub_window_open(m) &&
	    (p = TAILQ_FIRST(&m->waiting)) != NULL) {
		pub_list_remove(m, &m->waiting, p);
		pub_send_deferred(m, p, 1);
	}
}

/* A completion may free m, which calls this again. */
static void
pub_fail_list(struct mqtt *m, struct mqtt_pub_list *list, enum rc rc)
{
	struct mqtt_pub *p;

	while ((p = TAILQ_FIRST(list)) != NULL) {
		pub_list_remove(m, list, p);
		pub_complete(m, p, rc, 0);
	}
}

void
mqtt_pub_fail_all(struct mqtt *m)
{
	pub_report_acked(m);
	m->n_inflight = 0;
	pub_fail_list(m, &m->inflight, RC_TIMEOUT);
	pub_fail_list(m, &m->waiting, RC_DOWN);
	pub_fail_list(m, &m->deferred, RC_DOWN);
	pub_fail_list(m, &m->unwritten, RC_DOWN);
}
