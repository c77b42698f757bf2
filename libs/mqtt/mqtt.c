/*
 * mqtt: making and freeing a client.
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

/*
 * client: one object of libmosquitto per connection, so that nothing it has
 * queued outlives the connection.
 */
/* What a PUBLISH has beside its payload, at most. */
#define PACKET_EXTRA (MQTT_TOPIC_MAX + 1024)

static void
on_connect(struct mosquitto *mosq, void *arg, int reason, int flags,
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
on_disconnect(struct mosquitto *mosq, void *arg, int reason,
    const mosquitto_property *props)
{
	struct mqtt *m = arg;

	(void)mosq;
	(void)props;
	m->bye = reason;
}

static void
on_publish(struct mosquitto *mosq, void *arg, int mid, int reason,
    const mosquitto_property *props)
{
	struct mqtt *m = arg;

	(void)mosq;
	(void)props;
	if (!m->freed)
		pub_acked(m, mid, (unsigned)reason);
}

static void
on_subscribe(struct mosquitto *mosq, void *arg, int mid, int n,
    const int *granted, const mosquitto_property *props)
{
	struct mqtt *m = arg;

	(void)mosq;
	(void)props;
	if (!m->freed && n > 0)
		sub_acked(m, mid, (unsigned)granted[0]);
}

static void
on_message(struct mosquitto *mosq, void *arg,
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
 * libmosquitto makes each client a pair of sockets to wake up its thread, and
 * with an own loop nobody empties it: one byte per packet, until some 200 KiB
 * of kernel memory are full.  It does not tell the pair's descriptors, but a
 * new pair gets the lowest free numbers.  If what has these numbers afterwards
 * is such a pair, make its buffers as small as they can be, and close it on
 * exec.  That is harmless should it ever be another.
 */
static void
guess_pair(int fds[2])
{
	fds[0] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	fds[1] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (fds[0] != -1)
		close(fds[0]);
	if (fds[1] != -1)
		close(fds[1]);
}

static void
shrink_pair(const int fds[2])
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
 * Without the pair libmosquitto works as well with an own loop, but it cannot
 * be told to make none.  It goes on when it fails to, though, and it does when
 * the process may not open a descriptor.
 */
static struct mosquitto *
new_without_pair(struct mqtt *m)
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
new_with_small_pair(struct mqtt *m)
{
	struct mosquitto *mosq;
	int fds[2];

	guess_pair(fds);
	mosq = mosquitto_new(m->client_id, m->o.session_s == 0, m);
	if (mosq != NULL)
		shrink_pair(fds);
	return mosq;
}

/*
 * The properties of CONNECT.  Only the blocking way of connecting takes them,
 * but it keeps them also when it refuses its other arguments, here a keepalive
 * of 1 s, before it does anything.
 */
static int
set_properties(struct mqtt *m)
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
configure(struct mqtt *m)
{
	struct mosquitto *mosq = m->mosq;
	const struct mqtt_msg *will = m->o.will;
	int rc;

	mosquitto_connect_v5_callback_set(mosq, on_connect);
	mosquitto_disconnect_v5_callback_set(mosq, on_disconnect);
	mosquitto_publish_v5_callback_set(mosq, on_publish);
	mosquitto_subscribe_v5_callback_set(mosq, on_subscribe);
	mosquitto_message_v5_callback_set(mosq, on_message);
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
		rc = set_properties(m);
	if (rc == MOSQ_ERR_SUCCESS && m->tls != NULL)
		rc = mosquitto_void_option(mosq, MOSQ_OPT_SSL_CTX, m->tls);
	if (rc == MOSQ_ERR_SUCCESS && m->tls != NULL)
		rc = mosquitto_int_option(
		    mosq, MOSQ_OPT_SSL_CTX_WITH_DEFAULTS, 0);
	return rc;
}

/* What was renewed meanwhile counts; what cannot be used does not. */
static void
load_tls(struct mqtt *m)
{
	static struct log_rate rate;
	const char *why = NULL;
	int64_t missed;

	/* The system's authorities are many, and stay. */
	if (m->tls != NULL && m->o.ca_file != NULL)
		why = tls_load(m);
	if (why != NULL && log_every(&rate, 10, &missed))
		log_warn(
		    "mqtt.tls", LOG_S("why", why), LOG_I("missed", missed));
}

bool
client_new(struct mqtt *m)
{
	int rc;

	load_tls(m);
	m->mosq = m->o.lean ? new_without_pair(m) : new_with_small_pair(m);
	if (m->mosq == NULL) {
		str_copy(
		    str_of(strerrordesc_np(errno)), m->why, sizeof(m->why));
		return false;
	}
	rc = configure(m);
	if (rc == MOSQ_ERR_SUCCESS)
		return true;
	str_copy(str_of(mosquitto_strerror(rc)), m->why, sizeof(m->why));
	client_free(m);
	return false;
}

void
client_free(struct mqtt *m)
{
	mosquitto_destroy(m->mosq);
	m->mosq = NULL;
}

enum rc
client_reason_rc(unsigned reason)
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
