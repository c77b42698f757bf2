/*
 * mqtt: making and freeing a client.
 */
#include "mqtt/mqtt.h"

#include <mosquitto.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "mqtt/mqtt_internal.h"

#define KEEPALIVE_S  60
#define RETRY_MIN_MS 50
#define RETRY_MAX_MS 2000

static void
make_metrics(struct mqtt *m, struct metric_set *s)
{
	m->m_up = metric_gauge(
	    s, "mqtt_clients_up", "MQTT clients that are connected.", NULL);
	m->m_connects = metric_counter(
	    s, "mqtt_connects_total", "Connections that were accepted.", NULL);
	m->m_sent = metric_counter(
	    s, "mqtt_sent_total", "Messages handed to the connection.", NULL);
	m->m_failed = metric_counter(s, "mqtt_failed_total",
	    "Messages refused by the broker, or never acknowledged.", NULL);
	m->m_received = metric_counter(
	    s, "mqtt_received_total", "Messages received.", NULL);
	m->m_oversize = metric_counter(s, "mqtt_oversize_total",
	    "Messages dropped because of their size.", NULL);
	m->m_outstanding = metric_gauge(
	    s, "mqtt_outstanding", "Messages that are not done.", NULL);
}

static const char *
file_or_null(const char *given)
{
	return given != NULL && given[0] != '\0' ? given : NULL;
}

static bool
is_tls(const struct url *u)
{
	return str_eq(str_of(u->scheme), STR("mqtts"));
}

/* What is wrong with the address, or NULL. */
static const char *
read_url(const struct mqtt_opts *o, struct url *u)
{
	const char *why = NULL;

	if (url_parse(str_of(o->url), u, &why) != RC_OK)
		return why;
	if (!is_tls(u) && !str_eq(str_of(u->scheme), STR("mqtt")) &&
	    !str_eq(str_of(u->scheme), STR("tcp")))
		return "the scheme is not mqtt://, mqtts:// or tcp://";
	if (strlen(u->path) > 1)
		return "there is a path";
	if (u->port == 0)
		u->port = is_tls(u) ? 8883 : 1883;
	return NULL;
}

static const char *
read_will(const struct mqtt_msg *will)
{
	if (will == NULL)
		return NULL;
	if (!mqtt_topic_valid(will->topic))
		return "the topic of the will is not valid";
	if (will->qos < 0 || will->qos > 1)
		return "the QoS of the will is neither 0 nor 1";
	return NULL;
}

static const char *
read_rest(const struct mqtt_opts *o)
{
	size_t n = o->client_id != NULL ? strlen(o->client_id) : 1;

	if (n == 0 || n > MQTT_ID_MAX ||
	    (o->client_id != NULL &&
		mosquitto_validate_utf8(o->client_id, (int)n) !=
		    MOSQ_ERR_SUCCESS))
		return "the client id is not valid";
	if (o->version != 0 && o->version != 3 && o->version != 5)
		return "the version is neither 3 nor 5";
	if (o->keepalive_s != 0 &&
	    (o->keepalive_s < 5 || o->keepalive_s > UINT16_MAX))
		return "the keepalive is not within 5 to 65535 s";
	return read_will(o->will);
}

const char *
mqtt_opts_error(const struct mqtt_opts *o)
{
	struct mqtt *m = mem_zalloc(sizeof(*m));
	const char *why = read_url(o, &m->url);

	m->o = *o;
	m->o.ca_file = file_or_null(o->ca_file);
	m->o.cert_file = file_or_null(o->cert_file);
	m->o.key_file = file_or_null(o->key_file);
	if (why == NULL)
		why = read_rest(o);
	if (why == NULL && is_tls(&m->url))
		why = tls_load(m);
	tls_free(m);
	free(m);
	return why;
}

static char *
text_of(const char *given, const char *in_url)
{
	if (given != NULL)
		return mem_strdup(given);
	return in_url[0] != '\0' ? mem_strdup(in_url) : NULL;
}

static char *
file_of(const char *given)
{
	return file_or_null(given) != NULL ? mem_strdup(given) : NULL;
}

/* Topic and payload in one piece, the topic NUL-terminated. */
static void
copy_will(struct mqtt *m, const struct mqtt_msg *w)
{
	m->will_bytes = mem_alloc(w->topic.n + 1 + w->payload.n);
	memcpy(m->will_bytes, w->topic.p, w->topic.n);
	m->will_bytes[w->topic.n] = '\0';
	if (w->payload.n > 0)
		memcpy(
		    m->will_bytes + w->topic.n + 1, w->payload.p, w->payload.n);
	m->will = *w;
	m->will.topic.p = m->will_bytes;
	m->will.payload.p = m->will_bytes + w->topic.n + 1;
	m->o.will = &m->will;
}

static void
copy_texts(struct mqtt *m, const struct mqtt_opts *o)
{
	char hex[ID_HEX32_MAX];

	if (o->client_id == NULL) {
		id_hex32(hex);
		m->client_id = mem_alloc(sizeof("soul-") + 16);
		snprintf(m->client_id, sizeof("soul-") + 16, "soul-%.16s", hex);
	} else {
		m->client_id = mem_strdup(o->client_id);
	}
	m->user = text_of(o->user, m->url.user);
	m->password = text_of(o->password, m->url.password);
	if (o->will != NULL)
		copy_will(m, o->will);
	m->o.ca_file = m->ca_file = file_of(o->ca_file);
	m->o.cert_file = m->cert_file = file_of(o->cert_file);
	m->o.key_file = m->key_file = file_of(o->key_file);
}

/* RC_INVALID if TLS is wanted, but cannot be had. */
static enum rc
check_tls(struct mqtt *m)
{
	const char *why = is_tls(&m->url) ? tls_load(m) : NULL;

	if (why == NULL)
		return RC_OK;
	log_error("mqtt.options", LOG_S("why", why));
	return RC_INVALID;
}

static void
destroy(struct mqtt *m)
{
	if (m->mosq != NULL) {
		/* It is the last thing in the queue, if it still goes out. */
		(void)mosquitto_disconnect(m->mosq);
		client_free(m);
	}
	sub_forget_all(m);
	free(m->client_id);
	free(m->user);
	free(m->password);
	free(m->will_bytes);
	free(m->ca_file);
	free(m->cert_file);
	free(m->key_file);
	tls_free(m);
	free(m);
	(void)mosquitto_lib_cleanup();
}

enum rc
mqtt_new(const struct mqtt_opts *o, struct mqtt **out)
{
	struct url url;
	struct mqtt *m;
	const char *why;

	*out = NULL;
	why = read_url(o, &url);
	if (why == NULL)
		why = read_rest(o);
	if (why == NULL && o->workers == NULL && !resolve_is_number(url.host))
		why = "a name cannot be resolved without workers";
	if (why != NULL) {
		log_error("mqtt.options", LOG_S("why", why));
		return RC_INVALID;
	}
	if (o->will != NULL && o->will->payload.n > MQTT_WILL_MAX)
		return RC_TOOBIG;
	(void)mosquitto_lib_init();
	m = mem_zalloc(sizeof(*m));
	m->o = *o;
	m->url = url;
	copy_texts(m, o);
	if (m->o.keepalive_s == 0)
		m->o.keepalive_s = KEEPALIVE_S;
	m->backoff = (struct backoff){ RETRY_MIN_MS, RETRY_MAX_MS, 0 };
	if (o->retry_max_ms > 0)
		m->backoff.max_ms = o->retry_max_ms > RETRY_MIN_MS
		    ? o->retry_max_ms
		    : RETRY_MIN_MS;
	TAILQ_INIT(&m->subs);
	TAILQ_INIT(&m->inflight);
	TAILQ_INIT(&m->waiting);
	TAILQ_INIT(&m->acked);
	TAILQ_INIT(&m->deferred);
	TAILQ_INIT(&m->unwritten);
	make_metrics(m, o->metrics);
	if (check_tls(m) != RC_OK) {
		destroy(m);
		return RC_INVALID;
	}
	link_start(m);
	*out = m;
	return RC_OK;
}

void
link_leave(struct mqtt *m)
{
	if (--m->inside == 0 && m->freed)
		destroy(m);
}

void
mqtt_free(struct mqtt *m)
{
	if (m == NULL || m->freed)
		return;
	link_enter(m);
	m->freed = true;
	link_stop(m);
	pub_fail_all(m);
	link_leave(m);
}

void
mqtt_break(struct mqtt *m)
{
	link_break(m, "broken on purpose");
}

bool
mqtt_up(const struct mqtt *m)
{
	return atomic_load(&m->up);
}
