/*
 * The connection: resolve, connect, read and write, detect its loss, and
 * reconnect after a pause.
 */
#include <errno.h>
#include <fcntl.h>
#include <mosquitto.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "core/log.h"
#include "core/mem.h"
#include "mqtt/mqtt_internal.h"

#define CONNECT_MS    5000
#define TICK_MAX_MS   15000
#define TICK_MIN_MS   1000
#define READS_MAX     64 /* packets of one client per callback */
#define LOG_EVERY_S   5
#define DENIED_MIN_MS 1000

static void link_connect_next(void *arg);

void
mqtt_link_enter(struct mqtt *m)
{
	m->inside++;
}

static void
link_set_error(struct mqtt *m, const char *why)
{
	str_copy(str_of(why), m->why, sizeof(m->why));
}

static void
link_set_error_code(struct mqtt *m, int code, int err)
{
	const char *why = mqtt_tls_error(m);

	if (why == NULL)
		why = code == MOSQ_ERR_ERRNO && err != 0
		    ? strerrordesc_np(err)
		    : mosquitto_strerror(code);
	link_set_error(m, why);
}

/* ---- state changes ---- */

static void
link_retry_later(struct mqtt *m, int64_t at_least_ms)
{
	int64_t ms = backoff_next_ms(&m->backoff);

	loop_timer_set(m->o.loop, &m->timer,
	    mono_add_ms(clock_mono(), ms > at_least_ms ? ms : at_least_ms),
	    link_connect_next, m);
}

static void
link_log_lost(struct mqtt *m, bool was_up)
{
	static struct log_rate down, unreachable;
	int64_t missed;

	if (!log_every(was_up ? &down : &unreachable, LOG_EVERY_S, &missed))
		return;
	log_warn(was_up ? "mqtt.down" : "mqtt.unreachable",
	    LOG_S("host", m->url.host), LOG_I("port", m->url.port),
	    LOG_S("client", m->client_id), LOG_S("why", m->why),
	    LOG_I("missed", missed));
}

/* Close without DISCONNECT; libmosquitto's queues are lost with it. */
static void
link_close(struct mqtt *m)
{
	atomic_store(&m->up, false);
	m->phase = MQTT_PHASE_IDLE;
	loop_timer_cancel(m->o.loop, &m->timer);
	loop_timer_cancel(m->o.loop, &m->tick);
	loop_timer_cancel(m->o.loop, &m->read);
	loop_fd_watch(m->o.loop, &m->watch, 0);
	mqtt_mosq_free(m);
	m->backlog = m->paused;
}

/* The connection or the attempt at one has ended; m->why says why. */
static void
link_lost(struct mqtt *m)
{
	bool was_up = m->connected_at.ns != 0;
	bool denied = m->connack > 0;

	link_close(m);
	link_log_lost(m, was_up);
	if (was_up) {
		m->n_addrs = 0; /* they may have changed */
		metric_change(m->m_up, -1);
		/* Two clients with one id disconnect each other for ever. */
		if (mono_diff_ms(clock_mono(), m->connected_at) >
		    m->backoff.max_ms)
			backoff_reset(&m->backoff);
	}
	m->connected_at = (struct mono){ 0 };
	mqtt_pub_fail_all(m);
	if (was_up && !m->freed && m->o.on_state != NULL)
		m->o.on_state(m->o.arg, false);
	if (!m->freed)
		link_retry_later(m, denied ? DENIED_MIN_MS : 0);
}

static void
link_on_break(void *arg)
{
	struct mqtt *m = arg;

	mqtt_link_enter(m);
	link_lost(m);
	mqtt_link_leave(m);
}

void
mqtt_link_break(struct mqtt *m, const char *why)
{
	if (m->phase != MQTT_PHASE_UP && m->phase != MQTT_PHASE_CONNECTING)
		return;
	link_set_error(m, why);
	m->phase = MQTT_PHASE_BROKEN;
	atomic_store(&m->up, false);
	loop_timer_set(m->o.loop, &m->timer, clock_mono(), link_on_break, m);
}

enum rc
mqtt_link_rc(struct mqtt *m, int code)
{
	int err = errno;

	switch (code) {
	case MOSQ_ERR_SUCCESS:
		return RC_OK;
	case MOSQ_ERR_INVAL:
	case MOSQ_ERR_MALFORMED_UTF8:
	case MOSQ_ERR_QOS_NOT_SUPPORTED:
	case MOSQ_ERR_NOT_SUPPORTED:
		return RC_INVALID;
	case MOSQ_ERR_PAYLOAD_SIZE:
	case MOSQ_ERR_OVERSIZE_PACKET:
		return RC_TOOBIG;
	case MOSQ_ERR_NO_CONN:
	case MOSQ_ERR_CONN_LOST:
	case MOSQ_ERR_ERRNO:
		link_set_error_code(m, code, err);
		mqtt_link_break(m, m->why);
		return RC_DOWN;
	default:
		return RC_BUG;
	}
}

/* Whether the socket is open and in use. */
static bool
link_is_open(const struct mqtt *m)
{
	return m->mosq != NULL && m->phase != MQTT_PHASE_BROKEN && !m->freed &&
	    mosquitto_socket(m->mosq) != -1;
}

/* A connection is made, and lost, whether paused or not. */
static bool
link_is_paused(const struct mqtt *m)
{
	return m->paused && m->phase == MQTT_PHASE_UP;
}

static void
link_update_watch(struct mqtt *m)
{
	unsigned events = link_is_paused(m) ? 0 : LOOP_READ;

	if (!link_is_open(m))
		return;
	if (mosquitto_want_write(m->mosq))
		events |= LOOP_WRITE;
	loop_fd_watch(m->o.loop, &m->watch, events);
}

bool
mqtt_link_sendable(const struct mqtt *m)
{
	return m->phase == MQTT_PHASE_UP && !m->in_lib && !m->freed;
}

void
mqtt_link_touch(struct mqtt *m)
{
	if (m->inside == 0)
		link_update_watch(m);
}

static void link_on_tick(void *arg);

/* Often enough for the keepalive, which the broker may shorten. */
static void
link_set_tick(struct mqtt *m)
{
	int64_t ms = m->keepalive_s * INT64_C(1000) / 6;

	if (ms < TICK_MIN_MS)
		ms = TICK_MIN_MS;
	if (ms > TICK_MAX_MS)
		ms = TICK_MAX_MS;
	loop_timer_set(m->o.loop, &m->tick, mono_add_ms(clock_mono(), ms),
	    link_on_tick, m);
}

static void
link_on_tick(void *arg)
{
	struct mqtt *m = arg;
	int code;

	mqtt_link_enter(m);
	link_set_tick(m);
	/*
	 * The response to a ping may be behind what is not read yet, and the
	 * library would take the broker for dead.
	 */
	code = MOSQ_ERR_SUCCESS;
	if (m->backlog && m->phase == MQTT_PHASE_UP)
		mqtt_sub_probe(m);
	else
		code = mosquitto_loop_misc(m->mosq);
	if (code == MOSQ_ERR_SUCCESS) {
		link_update_watch(m);
	} else {
		link_set_error_code(m, code, errno);
		link_lost(m);
	}
	mqtt_link_leave(m);
}

/* CONNACK was received. */
static void
link_connected(struct mqtt *m)
{
	static struct log_rate rate;
	int64_t missed;

	m->phase = MQTT_PHASE_UP;
	m->connected_at = clock_mono();
	atomic_store(&m->up, true);
	metric_change(m->m_up, 1);
	metric_add(m->m_connects, 1);
	if (log_every(&rate, 1, &missed))
		log_info("mqtt.up", LOG_S("host", m->url.host),
		    LOG_I("port", m->url.port), LOG_S("client", m->client_id),
		    LOG_I("missed", missed));
	loop_timer_cancel(m->o.loop, &m->timer);
	link_set_tick(m);
	mqtt_sub_renew(m);
	if (m->o.on_state != NULL)
		m->o.on_state(m->o.arg, true);
}

/* ---- reading and writing ---- */

static void
link_check_connack(struct mqtt *m)
{
	int reason = m->connack;

	if (m->phase != MQTT_PHASE_CONNECTING || reason < 0)
		return;
	if (reason == 0)
		link_connected(m);
	else
		link_set_error(m,
		    m->o.version == 3 ? mosquitto_connack_string(reason)
				      : mosquitto_reason_string(reason));
}

/*
 * libmosquitto writes each acknowledgement separately.  Send those of one
 * callback in one segment.
 */
static void
link_cork(struct mqtt *m, int on)
{
	if (m->mosq != NULL)
		(void)setsockopt(mosquitto_socket(m->mosq), IPPROTO_TCP,
		    TCP_CORK, &on, sizeof(on));
}

/* False if the connection ended; m->why is set. */
static bool
link_read(struct mqtt *m)
{
	int i, code, err;

	for (i = 0; (i < READS_MAX || mqtt_tls_pending(m)) && link_is_open(m) &&
	     !link_is_paused(m);
	     i++) {
		errno = 0;
		m->in_lib = true;
		code = mosquitto_loop_read(m->mosq, 1);
		err = errno;
		m->in_lib = false;
		if (code != MOSQ_ERR_SUCCESS)
			link_set_error_code(m, code, err);
		link_check_connack(m);
		if (code != MOSQ_ERR_SUCCESS)
			return false;
		if (m->phase == MQTT_PHASE_UP) {
			mqtt_pub_flush(m);
			mqtt_sub_flush(m);
		}
		/* The last read would have blocked: the socket is empty. */
		if (err == EAGAIN && !mqtt_tls_pending(m)) {
			m->backlog = m->paused;
			break;
		}
	}
	if (m->mosq != NULL && mosquitto_socket(m->mosq) == -1) {
		link_set_error(
		    m, mosquitto_reason_string(m->disconnect_reason));
		return false;
	}
	return true;
}

static bool
link_write(struct mqtt *m)
{
	int code;

	if (!link_is_open(m))
		return true;
	errno = 0;
	m->in_lib = true;
	code = mosquitto_loop_write(m->mosq, 1);
	m->in_lib = false;
	if (code != MOSQ_ERR_SUCCESS)
		link_set_error_code(m, code, errno);
	return code == MOSQ_ERR_SUCCESS;
}

static void
link_on_fd(void *arg, unsigned events)
{
	struct mqtt *m = arg;
	bool ok = true;

	mqtt_link_enter(m);
	if ((events & LOOP_READ) != 0) {
		link_cork(m, 1);
		ok = link_read(m);
		link_cork(m, 0);
	}
	if (ok && !m->freed && m->mosq != NULL &&
	    ((events & LOOP_WRITE) != 0 || mosquitto_want_write(m->mosq)))
		ok = link_write(m);
	if (!m->freed && (!ok || m->phase == MQTT_PHASE_BROKEN))
		link_lost(m);
	link_update_watch(m);
	mqtt_link_leave(m);
}

static void
link_on_resume(void *arg)
{
	link_on_fd(arg, LOOP_READ);
}

/* Decrypted bytes may be buffered, of which the socket knows nothing. */
void
mqtt_link_resume(struct mqtt *m)
{
	if (m->phase == MQTT_PHASE_UP)
		loop_timer_set(
		    m->o.loop, &m->read, clock_mono(), link_on_resume, m);
}

static void
link_on_timeout(void *arg)
{
	struct mqtt *m = arg;

	mqtt_link_enter(m);
	link_set_error(m, "the broker did not respond in time");
	link_lost(m);
	mqtt_link_leave(m);
}

static void
link_dial(struct mqtt *m)
{
	const char *addr = m->addrs[m->next_addr++];
	int code, fd;

	m->connack = -1;
	m->disconnect_reason = 0;
	if (!mqtt_mosq_new(m)) {
		link_lost(m);
		return;
	}
	code = mosquitto_connect_bind_async(
	    m->mosq, addr, m->url.port, m->o.keepalive_s, m->source);
	fd = mosquitto_socket(m->mosq);
	if (code != MOSQ_ERR_SUCCESS || fd == -1) {
		link_set_error_code(m, code, errno);
		link_lost(m);
		return;
	}
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	m->phase = MQTT_PHASE_CONNECTING;
	m->watch = (struct loop_fd){ .fd = fd, .fn = link_on_fd, .arg = m };
	loop_fd_watch(m->o.loop, &m->watch, LOOP_READ | LOOP_WRITE);
	loop_timer_set(m->o.loop, &m->timer,
	    mono_add_ms(clock_mono(), CONNECT_MS), link_on_timeout, m);
}

static void
link_resolved(struct mqtt *m)
{
	mqtt_link_enter(m);
	if (m->n_addrs > 0)
		link_dial(m);
	else
		link_lost(m);
	mqtt_link_leave(m);
}

/* ---- name resolution ---- */

/* A job of the worker pool.  It has copies, so that m may be freed meanwhile.
 */
struct mqtt_resolve_job {
	struct mqtt *m; /* loop thread only; NULL: freed */
	char host[URL_HOST_MAX];
	char addrs[MQTT_ADDRS_MAX][MQTT_ADDR_TEXT];
	int n;
	const char *why;
};

static void
link_resolve_work(void *arg)
{
	struct mqtt_resolve_job *job = arg;
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM };
	struct addrinfo *list, *a;
	int err;

	err = getaddrinfo(job->host, NULL, &hints, &list);
	if (err != 0) {
		job->why = gai_strerror(err);
		return;
	}
	for (a = list; a != NULL && job->n < MQTT_ADDRS_MAX; a = a->ai_next)
		if (getnameinfo(a->ai_addr, a->ai_addrlen, job->addrs[job->n],
			MQTT_ADDR_TEXT, NULL, 0, NI_NUMERICHOST) == 0)
			job->n++;
	freeaddrinfo(list);
}

static void
link_resolve_done(void *arg)
{
	struct mqtt_resolve_job *job = arg;
	struct mqtt *m = job->m;

	if (m != NULL) {
		m->job = NULL;
		memcpy(m->addrs, job->addrs, sizeof(m->addrs));
		m->n_addrs = job->n;
		m->next_addr = 0;
		str_copy(str_of(job->why), m->why, sizeof(m->why));
		link_resolved(m);
	}
	free(job);
}

/*
 * Fill m->addrs and call link_resolved(), at once if the host is a number.
 * Without a result n_addrs is 0 and m->why is set.  False: no worker is free.
 */
static bool
link_resolve(struct mqtt *m)
{
	struct mqtt_resolve_job *job;

	if (url_is_address(m->url.host)) {
		str_copy(str_of(m->url.host), m->addrs[0], MQTT_ADDR_TEXT);
		m->n_addrs = 1;
		m->next_addr = 0;
		link_resolved(m);
		return true;
	}
	job = mem_zalloc(sizeof(*job));
	job->m = m;
	job->why = "the name has no address";
	str_copy(str_of(m->url.host), job->host, sizeof(job->host));
	if (worker_run(m->o.workers, link_resolve_work, link_resolve_done,
		job) != RC_OK) {
		free(job);
		return false;
	}
	m->job = job;
	return true;
}

static void
link_resolve_cancel(struct mqtt *m)
{
	if (m->job != NULL)
		m->job->m = NULL;
	m->job = NULL;
}

/* ---- connecting ---- */

static void
link_connect_next(void *arg)
{
	struct mqtt *m = arg;

	mqtt_link_enter(m);
	if (m->next_addr < m->n_addrs) {
		link_dial(m);
	} else if (!link_resolve(m)) {
		link_set_error(m, "no worker is free to resolve the name");
		link_lost(m);
	}
	mqtt_link_leave(m);
}

void
mqtt_link_start(struct mqtt *m)
{
	loop_timer_set(
	    m->o.loop, &m->timer, clock_mono(), link_connect_next, m);
}

void
mqtt_link_stop(struct mqtt *m)
{
	link_resolve_cancel(m);
	loop_timer_cancel(m->o.loop, &m->timer);
	loop_timer_cancel(m->o.loop, &m->tick);
	loop_timer_cancel(m->o.loop, &m->read);
	loop_fd_watch(m->o.loop, &m->watch, 0);
	if (m->connected_at.ns != 0)
		metric_change(m->m_up, -1);
	m->connected_at = (struct mono){ 0 };
	m->phase = MQTT_PHASE_IDLE;
	atomic_store(&m->up, false);
}
