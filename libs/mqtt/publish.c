/*
 * publish: messages out, their window, and their completions.
 *
 * libmosquitto holds at most a window of unacknowledged messages; the others
 * wait here.  So its walks over its list stay short, whatever window the broker
 * announces, and of a message that waits here it is certain that it was not
 * sent.
 */
#include <mosquitto.h>
#include <stdlib.h>

#include "core/mem.h"
#include "mqtt/mqtt_internal.h"

/* Ids given out since that of the oldest message on the wire; 65535 exist. */
#define IDS_AHEAD_MAX 60000

/* Put p into a list, or take it out: the sums are those of all lists. */
static void
enlist(struct mqtt *m, struct pubs *list, struct pub *p)
{
	TAILQ_INSERT_TAIL(list, p, link);
	m->n_pubs++;
	m->pub_bytes += p->bytes;
	metric_change(m->m_outstanding, 1);
}

static void
delist(struct mqtt *m, struct pubs *list, struct pub *p)
{
	TAILQ_REMOVE(list, p, link);
	m->n_pubs--;
	m->pub_bytes -= p->bytes;
	metric_change(m->m_outstanding, -1);
}

/* p is in no list any more. */
static void
complete(struct mqtt *m, struct pub *p, enum rc rc, unsigned reason)
{
	mqtt_done_fn fn = p->fn;
	void *arg = p->arg;

	if (rc != RC_OK && rc != RC_NOENT)
		metric_add(m->m_failed, 1);
	free(p->held);
	free(p);
	if (fn != NULL)
		fn(arg, rc, reason);
}

/*
 * Packet ids go round.  One that is still in use must not be given out again,
 * or its acknowledgement would be taken for another's.
 */
static bool
id_is_free(const struct mqtt *m)
{
	const struct pub *oldest = TAILQ_FIRST(&m->inflight);

	return oldest == NULL ||
	    (uint16_t)(m->last_mid - oldest->mid) < IDS_AHEAD_MAX;
}

static bool
has_room(const struct mqtt *m)
{
	return m->n_inflight < m->window && id_is_free(m);
}

/* Hand a message to libmosquitto, which gives it the id m->last_mid. */
static enum rc
hand_over(struct mqtt *m, const char *topic, const struct mqtt_msg *msg)
{
	enum rc rc;
	int mid = 0;

	rc = link_rc(m,
	    mosquitto_publish(m->mosq, &mid, topic, (int)msg->payload.n,
		msg->payload.p, msg->qos, msg->retain));
	if (mid != 0)
		m->last_mid = mid;
	if (rc == RC_OK)
		metric_add(m->m_sent, 1);
	return rc;
}

/* If it fails, p is in no list and still the caller's. */
static enum rc
send_qos1(struct mqtt *m, struct pub *p, const char *topic,
    const struct mqtt_msg *msg)
{
	enum rc rc = hand_over(m, topic, msg);

	if (rc == RC_OK) {
		p->mid = m->last_mid;
		enlist(m, &m->inflight, p);
		m->n_inflight++;
	}
	return rc;
}

/*
 * As send_qos1(), but what was written at once has been reported and p freed
 * before this returns.  What fails was not written.
 */
static enum rc
send_qos0(struct mqtt *m, struct pub *p, const char *topic,
    const struct mqtt_msg *msg)
{
	enum rc rc;

	if (!id_is_free(m))
		return RC_RETRY;
	enlist(m, &m->unwritten, p);
	rc = hand_over(m, topic, msg);
	if (rc != RC_OK)
		delist(m, &m->unwritten, p);
	return rc;
}

/* Keep a copy for later. */
static void
hold(struct mqtt *m, struct pub *p, const char *topic,
    const struct mqtt_msg *msg)
{
	p->retain = msg->retain;
	p->held = mem_alloc(msg->topic.n + 1 + p->bytes);
	memcpy(p->held, topic, msg->topic.n + 1);
	if (p->bytes > 0)
		memcpy(p->held + msg->topic.n + 1, msg->payload.p, p->bytes);
	enlist(m, msg->qos == 0 ? &m->deferred : &m->waiting, p);
}

/* p is in no list any more; what of it goes out late cannot be refused. */
static void
send_held(struct mqtt *m, struct pub *p, int qos)
{
	struct mqtt_msg msg = { .qos = qos, .retain = p->retain };
	char *held = p->held;
	enum rc rc;

	msg.topic = str_of(held);
	msg.payload = (struct str){ held + msg.topic.n + 1, p->bytes };
	p->held = NULL;
	rc = qos == 0 ? send_qos0(m, p, held, &msg)
		      : send_qos1(m, p, held, &msg);
	if (rc != RC_OK)
		complete(m, p, rc, 0);
	free(held);
}

static enum rc
check(const struct mqtt *m, const struct mqtt_msg *msg, mqtt_done_fn fn,
    char topic[MQTT_TOPIC_MAX + 1])
{
	if (m->phase != PHASE_UP || m->freed)
		return RC_DOWN;
	if (msg->topic.n > MQTT_TOPIC_MAX || msg->payload.n > MQTT_PAYLOAD_MAX)
		return RC_TOOBIG;
	if (msg->qos < 0 || msg->qos > 1 || (msg->qos == 0 && fn != NULL) ||
	    !topic_copy(msg->topic, topic))
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
	struct pub *p;
	enum rc rc;

	rc = check(m, msg, fn, topic);
	if (rc != RC_OK)
		return rc;
	p = mem_zalloc(sizeof(*p));
	p->fn = fn;
	p->arg = arg;
	p->bytes = msg->payload.n;
	if (m->in_lib ||
	    (msg->qos == 1 && (!TAILQ_EMPTY(&m->waiting) || !has_room(m))))
		hold(m, p, topic, msg);
	else if (msg->qos == 0)
		rc = send_qos0(m, p, topic, msg);
	else
		rc = send_qos1(m, p, topic, msg);
	if (rc != RC_OK)
		free(p);
	link_touch(m);
	return rc;
}

size_t
mqtt_outstanding(const struct mqtt *m)
{
	return m->n_pubs;
}

void
pub_acked(struct mqtt *m, int mid, unsigned reason)
{
	struct pub *p;

	TAILQ_FOREACH (p, &m->inflight, link)
		if (p->mid == mid)
			break;
	if (p != NULL) {
		TAILQ_REMOVE(&m->inflight, p, link);
		m->n_inflight--;
		p->reason = reason;
		TAILQ_INSERT_TAIL(&m->acked, p, link);
	} else if ((p = TAILQ_FIRST(&m->unwritten)) != NULL) {
		/* Packets of QoS 0 go in order. */
		delist(m, &m->unwritten, p);
		free(p);
	}
}

/* The acknowledgements that have come. */
static void
tell(struct mqtt *m)
{
	struct pub *p;

	while ((p = TAILQ_FIRST(&m->acked)) != NULL) {
		delist(m, &m->acked, p);
		complete(m, p, client_reason_rc(p->reason), p->reason);
	}
}

void
pub_after(struct mqtt *m)
{
	struct pub *p;

	while (link_sendable(m) && (p = TAILQ_FIRST(&m->deferred)) != NULL) {
		delist(m, &m->deferred, p);
		send_held(m, p, 0);
	}
	tell(m);
	while (link_sendable(m) && has_room(m) &&
	    (p = TAILQ_FIRST(&m->waiting)) != NULL) {
		delist(m, &m->waiting, p);
		send_held(m, p, 1);
	}
}

/* Complete a whole list; an owner may free m, which comes here again. */
static void
fail(struct mqtt *m, struct pubs *list, enum rc rc)
{
	struct pub *p;

	while ((p = TAILQ_FIRST(list)) != NULL) {
		delist(m, list, p);
		complete(m, p, rc, 0);
	}
}

void
pub_fail_all(struct mqtt *m)
{
	tell(m);
	m->n_inflight = 0;
	fail(m, &m->inflight, RC_TIMEOUT);
	fail(m, &m->waiting, RC_DOWN);
	fail(m, &m->deferred, RC_DOWN);
	fail(m, &m->unwritten, RC_DOWN);
}
