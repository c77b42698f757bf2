/*
 * A client: its options, its life, and its object of libmosquitto, a new one
 * for each connection, so that nothing it has queued outlives the connection.
 */
#include <errno.h>
#include <fcntl.h>
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "mqtt/mqtt.h"
#include "mqtt/mqtt_internal.h"

#define KEEPALIVE_S  60
#define RETRY_MIN_MS 50
#define RETRY_MAX_MS 2000

static void
mqtt_make_metrics(struct mqtt *m, struct metric_set *s)
{
	m->m_up = metric_gauge(
	    s, "mqtt_clients_up", "MQTT clients that are connected.", NULL);
	m->m_connects = metric_counter(
	    s, "mqtt_connects_total", "Connections that were accepted.", NULL);
	m->m_sent = metric_counter(
	    s, "mqtt_sent_total", "Messages handed to the connection.", NULL);
	m->m_failed = metric_counter(s, "mqtt_failed_total",
	    "Messages rejected by the broker or never acknowledged.", NULL);
	m->m_received = metric_counter(
	    s, "mqtt_received_total", "Messages received.", NULL);
	m->m_oversize = metric_counter(s, "mqtt_oversize_total",
	    "Messages dropped because of their size.", NULL);
	m->m_outstanding = metric_gauge(
	    s, "mqtt_outstanding", "Messages that are not complete.", NULL);
}

static const char *
mqtt_file_or_null(const char *given)
{
	return given != NULL && given[0] != '\0' ? given : NULL;
}

static bool
mqtt_url_is_tls(const struct url *u)
{
	return str_eq(str_of(u->scheme), STR("mqtts"));
}

/* What is wrong with the address, or NULL. */
static const char *
mqtt_check_url(const struct mqtt_opts *o, struct url *u)
{
	const char *why = NULL;

	if (url_parse(str_of(o->url), u, &why) != RC_OK)
		return why;
	if (!mqtt_url_is_tls(u) && !str_eq(str_of(u->scheme), STR("mqtt")) &&
	    !str_eq(str_of(u->scheme), STR("tcp")))
		return "the scheme is not mqtt://, mqtts:// or tcp://";
	if (strlen(u->path) > 1)
		return "there is a path";
	if (u->port == 0)
		u->port = mqtt_url_is_tls(u) ? 8883 : 1883;
	return NULL;
}

static const char *
mqtt_check_will(const struct mqtt_msg *will)
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
mqtt_check_opts(const struct mqtt_opts *o)
{
	size_t n = o->client_id != NULL ? strlen(o->client_id) : 1;

	if (n == 0 || n > MQTT_ID_MAX ||
	    (o->client_id != NULL &&
		mosquitto_validate_utf8(o->client_id, (int)n) !=
		    MOSQ_ERR_SUCCESS))
		return "the client id is not valid";
	if (o->source != NULL && o->source[0] != '\0' &&
	    !url_is_address(o->source))
		return "the source is not an IP address";
	if (o->version != 0 && o->version != 3 && o->version != 5)
		return "the version is neither 3 nor 5";
	if (o->keepalive_s != 0 &&
	    (o->keepalive_s < 5 || o->keepalive_s > UINT16_MAX))
		return "the keepalive is not within 5 to 65535 s";
	return mqtt_check_will(o->will);
}

const char *
mqtt_opts_error(const struct mqtt_opts *o)
{
	struct mqtt *m = mem_zalloc(sizeof(*m));
	const char *why = mqtt_check_url(o, &m->url);

	m->o = *o;
	m->o.ca_file = mqtt_file_or_null(o->ca_file);
	m->o.cert_file = mqtt_file_or_null(o->cert_file);
	m->o.key_file = mqtt_file_or_null(o->key_file);
	if (why == NULL)
		why = mqtt_check_opts(o);
	if (why == NULL && mqtt_url_is_tls(&m->url))
		why = mqtt_tls_load(m);
	mqtt_tls_free(m);
	free(m);
	return why;
}

static char *
mqtt_dup_or_url(const char *given, const char *in_url)
{
	if (given != NULL)
		return mem_strdup(given);
	return in_url[0] != '\0' ? mem_strdup(in_url) : NULL;
}

static char *
mqtt_dup_file(const char *given)
{
	return mqtt_file_or_null(given) != NULL ? mem_strdup(given) : NULL;
}

/* Topic and payload in one piece, the topic NUL-terminated. */
static void
mqtt_copy_will(struct mqtt *m, const struct mqtt_msg *w)
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
mqtt_copy_opts(struct mqtt *m, const struct mqtt_opts *o)
{
	char hex[ID_HEX32_MAX];

	if (o->client_id == NULL) {
		id_hex32(hex);
		m->client_id = mem_alloc(sizeof("soul-") + 16);
		snprintf(m->client_id, sizeof("soul-") + 16, "soul-%.16s", hex);
	} else {
		m->client_id = mem_strdup(o->client_id);
	}
	if (o->source != NULL && o->source[0] != '\0')
		m->source = mem_strdup(o->source);
	m->user = mqtt_dup_or_url(o->user, m->url.user);
	m->password = mqtt_dup_or_url(o->password, m->url.password);
	if (o->will != NULL)
		mqtt_copy_will(m, o->will);
	m->o.ca_file = m->ca_file = mqtt_dup_file(o->ca_file);
	m->o.cert_file = m->cert_file = mqtt_dup_file(o->cert_file);
	m->o.key_file = m->key_file = mqtt_dup_file(o->key_file);
}

/* RC_INVALID if the URL asks for TLS and it cannot be set up. */
static enum rc
mqtt_check_tls(struct mqtt *m)
{
	const char *why = mqtt_url_is_tls(&m->url) ? mqtt_tls_load(m) : NULL;

	if (why == NULL)
		return RC_OK;
	log_error("mqtt.options", LOG_S("why", why));
	return RC_INVALID;
}

static void
mqtt_destroy(struct mqtt *m)
{
	if (m->mosq != NULL) {
		/* DISCONNECT is the last packet, if the socket takes it. */
		(void)mosquitto_disconnect(m->mosq);
		mqtt_mosq_free(m);
	}
	mqtt_sub_free_all(m);
	free(m->client_id);
	free(m->source);
	free(m->user);
	free(m->password);
	free(m->will_bytes);
	free(m->ca_file);
	free(m->cert_file);
	free(m->key_file);
	mqtt_tls_free(m);
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
	why = mqtt_check_url(o, &url);
	if (why == NULL)
		why = mqtt_check_opts(o);
	if (why == NULL && o->workers == NULL && !url_is_address(url.host))
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
	mqtt_copy_opts(m, o);
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
	mqtt_make_metrics(m, o->metrics);
	if (mqtt_check_tls(m) != RC_OK) {
		mqtt_destroy(m);
		return RC_INVALID;
	}
	mqtt_link_start(m);
	*out = m;
	return RC_OK;
}

void
mqtt_link_leave(struct mqtt *m)
{
	if (--m->inside == 0 && m->freed)
		mqtt_destroy(m);
}

void
mqtt_free(struct mqtt *m)
{
	if (m == NULL || m->freed)
		return;
	mqtt_link_enter(m);
	m->freed = true;
	mqtt_link_stop(m);
	mqtt_pub_fail_all(m);
	mqtt_link_leave(m);
}

void
mqtt_break(struct mqtt *m)
{
	mqtt_link_break(m, "closed by mqtt_break()");
}

void
mqtt_pause(struct mqtt *m)
{
	m->paused = true;
	m->backlog = true;
	mqtt_link_touch(m);
}

void
mqtt_resume(struct mqtt *m)
{
	if (!m->paused)
		return;
	m->paused = false;
	mqtt_link_resume(m);
}

bool
mqtt_up(const struct mqtt *m)
{
	return atomic_load(&m->up);
}

/* ---- the object of libmosquitto ---- */

/* Most bytes of a PUBLISH beside its payload. */
#define PACKET_EXTRA (MQTT_TOPIC_MAX + 1024)

static void
mosq_on_connect(struct mosquitto *mosq, void *arg, int reason, int flags,
    const mosquitto_property *props)
{
	struct mqtt *m = arg;
	uint16_t v;

	(void)mosq;
	(void)flags;
	m->connack = reason;
	m->window = MQTT_INFLIGHT_MAX;
	if (mosquitto_property_read_int16(
		props, MQTT_PROP_RECEIVE_MAXIMUM, &v, false) != NULL &&
	    v > 0 && v < m->window)
		m->window = v;
	m->keepalive_s = m->o.keepalive_s;
	if (mosquitto_property_read_int16(
		props, MQTT_PROP_SERVER_KEEP_ALIVE, &v, false) != NULL &&
	    v > 0)
		m->keepalive_s = v;
}

static void
mosq_on_disconnect(struct mosquitto *mosq, void *arg, int reason,
    const mosquitto_property *props)
{
	struct mqtt *m = arg;

	(void)mosq;
	(void)props;
	m->disconnect_reason = reason;
}

static void
mosq_on_publish(struct mosquitto *mosq, void *arg, int mid, int reason,
    const mosquitto_property *props)
{
	struct mqtt *m = arg;

	(void)mosq;
	(void)props;
	if (!m->freed)
		mqtt_pub_acked(m, mid, (unsigned)reason);
}

static void
mosq_on_subscribe(struct mosquitto *mosq, void *arg, int mid, int n,
    const int *granted, const mosquitto_property *props)
{
	struct mqtt *m = arg;

	(void)mosq;
	(void)props;
	if (!m->freed && n > 0)
		mqtt_sub_acked(m, mid, (unsigned)granted[0]);
}

static void
mosq_on_message(struct mosquitto *mosq, void *arg,
    const struct mosquitto_message *got, const mosquitto_property *props)
{
	static struct log_rate rate;
	struct mqtt *m = arg;
	struct mqtt_msg msg;
	int64_t missed;

	(void)mosq;
	(void)props;
	if (m->freed)
		return;
	if ((size_t)got->payloadlen > MQTT_PAYLOAD_MAX) {
		metric_add(m->m_oversize, 1);
		if (log_every(&rate, 10, &missed))
			log_warn("mqtt.oversize", LOG_S("topic", got->topic),
			    LOG_I("bytes", got->payloadlen),
			    LOG_I("missed", missed));
		return;
	}
	metric_add(m->m_received, 1);
	if (m->o.on_message == NULL)
		return;
	msg.topic = str_of(got->topic);
	msg.payload = (struct str){ got->payload != NULL ? got->payload : "",
		(size_t)got->payloadlen };
	msg.qos = got->qos;
	msg.retain = got->retain;
	m->o.on_message(m->o.arg, &msg);
}

/*
 * libmosquitto makes a socket pair per client to wake up its thread.  With an
 * external loop nothing reads from it: it fills with one byte per packet, up to
 * 200 KiB of kernel memory.  Its descriptors are not exposed, but a new pair
 * gets the two lowest free numbers.  If those are UNIX sockets afterwards, make
 * their buffers as small as possible and set close-on-exec, which does no harm
 * should they ever be others.
 */
static void
mosq_guess_socketpair(int fds[2])
{
	fds[0] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	fds[1] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (fds[0] != -1)
		close(fds[0]);
	if (fds[1] != -1)
		close(fds[1]);
}

static void
mosq_shrink_socketpair(const int fds[2])
{
	int i, domain, smallest = 1;
	socklen_t n;

	for (i = 0; i < 2; i++) {
		n = sizeof(domain);
		if (fds[i] == -1 ||
		    getsockopt(fds[i], SOL_SOCKET, SO_DOMAIN, &domain, &n) !=
			0 ||
		    domain != AF_UNIX)
			continue;
		(void)setsockopt(
		    fds[i], SOL_SOCKET, SO_SNDBUF, &smallest, sizeof(smallest));
		(void)fcntl(fds[i], F_SETFD, FD_CLOEXEC);
	}
}

/*
 * With an external loop libmosquitto needs no socket pair, but has no option to
 * leave it out.  It does tolerate that making one fails, as it does while the
 * process may not open a descriptor.
 */
static struct mosquitto *
mosq_new_without_socketpair(struct mqtt *m)
{
	struct mosquitto *mosq;
	struct rlimit limit, none;
	int lowest = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);

	if (lowest == -1 || getrlimit(RLIMIT_NOFILE, &limit) != 0) {
		if (lowest != -1)
			close(lowest);
		return mosquitto_new(m->client_id, m->o.session_s == 0, m);
	}
	close(lowest);
	none = limit;
	none.rlim_cur = (rlim_t)lowest;
	(void)setrlimit(RLIMIT_NOFILE, &none);
	mosq = mosquitto_new(m->client_id, m->o.session_s == 0, m);
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	return mosq;
}

static struct mosquitto *
mosq_new_with_small_socketpair(struct mqtt *m)
{
	struct mosquitto *mosq;
	int fds[2];

	mosq_guess_socketpair(fds);
	mosq = mosquitto_new(m->client_id, m->o.session_s == 0, m);
	if (mosq != NULL)
		mosq_shrink_socketpair(fds);
	return mosq;
}

/*
 * The properties of CONNECT.  Only the blocking connect function takes them,
 * but it stores them before it rejects another argument, here a keepalive of 1
 * s.
 */
static int
mosq_set_properties(struct mqtt *m)
{
	mosquitto_property *props = NULL;
	int rc;

	rc = mosquitto_property_add_int32(&props, MQTT_PROP_MAXIMUM_PACKET_SIZE,
	    MQTT_PAYLOAD_MAX + PACKET_EXTRA);
	if (rc == MOSQ_ERR_SUCCESS && m->o.session_s > 0)
		rc = mosquitto_property_add_int32(
		    &props, MQTT_PROP_SESSION_EXPIRY_INTERVAL, m->o.session_s);
	if (rc == MOSQ_ERR_SUCCESS &&
	    mosquitto_connect_bind_v5(
		m->mosq, "127.0.0.1", 1, 1, NULL, props) != MOSQ_ERR_INVAL)
		rc = MOSQ_ERR_NOT_SUPPORTED;
	mosquitto_property_free_all(&props);
	return rc;
}

static int
mosq_configure(struct mqtt *m)
{
	struct mosquitto *mosq = m->mosq;
	const struct mqtt_msg *will = m->o.will;
	int rc;

	mosquitto_connect_v5_callback_set(mosq, mosq_on_connect);
	mosquitto_disconnect_v5_callback_set(mosq, mosq_on_disconnect);
	mosquitto_publish_v5_callback_set(mosq, mosq_on_publish);
	mosquitto_subscribe_v5_callback_set(mosq, mosq_on_subscribe);
	mosquitto_message_v5_callback_set(mosq, mosq_on_message);
	(void)mosquitto_int_option(mosq, MOSQ_OPT_TCP_NODELAY, 1);
	(void)mosquitto_int_option(
	    mosq, MOSQ_OPT_SEND_MAXIMUM, MQTT_INFLIGHT_MAX);
	rc = mosquitto_int_option(mosq, MOSQ_OPT_PROTOCOL_VERSION,
	    m->o.version == 3 ? MQTT_PROTOCOL_V311 : MQTT_PROTOCOL_V5);
	if (rc == MOSQ_ERR_SUCCESS && m->user != NULL)
		rc = mosquitto_username_pw_set(mosq, m->user, m->password);
	if (rc == MOSQ_ERR_SUCCESS && will != NULL)
		rc = mosquitto_will_set(mosq, will->topic.p,
		    (int)will->payload.n, will->payload.p, will->qos,
		    will->retain);
	if (rc == MOSQ_ERR_SUCCESS && m->o.version != 3)
		rc = mosq_set_properties(m);
	if (rc == MOSQ_ERR_SUCCESS && m->tls != NULL)
		rc = mosquitto_void_option(mosq, MOSQ_OPT_SSL_CTX, m->tls);
	if (rc == MOSQ_ERR_SUCCESS && m->tls != NULL)
		rc = mosquitto_int_option(
		    mosq, MOSQ_OPT_SSL_CTX_WITH_DEFAULTS, 0);
	return rc;
}

/* Certificates may have been renewed; unusable files leave the loaded ones. */
static void
mosq_reload_tls(struct mqtt *m)
{
	static struct log_rate rate;
	const char *why = NULL;
	int64_t missed;

	/* The system's many authorities are not read again. */
	if (m->tls != NULL && m->o.ca_file != NULL)
		why = mqtt_tls_load(m);
	if (why != NULL && log_every(&rate, 10, &missed))
		log_warn(
		    "mqtt.tls", LOG_S("why", why), LOG_I("missed", missed));
}

bool
mqtt_mosq_new(struct mqtt *m)
{
	int rc;

	mosq_reload_tls(m);
	m->mosq = m->o.lean ? mosq_new_without_socketpair(m)
			    : mosq_new_with_small_socketpair(m);
	if (m->mosq == NULL) {
		str_copy(
		    str_of(strerrordesc_np(errno)), m->why, sizeof(m->why));
		return false;
	}
	rc = mosq_configure(m);
	if (rc == MOSQ_ERR_SUCCESS)
		return true;
	str_copy(str_of(mosquitto_strerror(rc)), m->why, sizeof(m->why));
	mqtt_mosq_free(m);
	return false;
}

void
mqtt_mosq_free(struct mqtt *m)
{
	mosquitto_destroy(m->mosq);
	m->mosq = NULL;
}

enum rc
mqtt_reason_rc(unsigned reason)
{
	switch (reason) {
	case MQTT_RC_SUCCESS:
		return RC_OK;
	case MQTT_RC_NO_MATCHING_SUBSCRIBERS:
		return RC_NOENT;
	case MQTT_RC_UNSPECIFIED: /* all that MQTT 3.1.1 can say */
	case MQTT_RC_NOT_AUTHORIZED:
		return RC_DENIED;
	case MQTT_RC_QUOTA_EXCEEDED:
	case MQTT_RC_SERVER_BUSY:
		return RC_RETRY;
	default:
		return reason < 128 ? RC_OK : RC_INVALID;
	}
}
