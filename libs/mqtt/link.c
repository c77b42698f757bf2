/*
 * link: the connection's life: resolve, connect, be accepted, read and write,
 * lose it, pause, begin again.
 */
#include <arpa/inet.h>
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
#define READS_MAX     64 /* packets of one client before others have a turn */
#define LOG_EVERY_S   5
#define DENIED_MIN_MS 1000

static void attempt(void *arg);

void
link_enter(struct mqtt *m)
{
	m->inside++;
}

static void
say(struct mqtt *m, const char *why)
{
	str_copy(str_of(why), m->why, sizeof(m->why));
}

static void
say_code(struct mqtt *m, int code, int err)
{
	const char *why = tls_why(m);

	if (why == NULL)
		why = code == MOSQ_ERR_ERRNO && err != 0
		    ? strerrordesc_np(err)
		    : mosquitto_strerror(code);
	say(m, why);
}

/* ---- losing and making --------------------------------------------------- */

static void
pause_then(struct mqtt *m, int64_t at_least_ms)
{
	int64_t ms = backoff_next_ms(&m->backoff);

	loop_timer_set(m->o.loop, &m->timer,
	    mono_add_ms(clock_mono(), ms > at_least_ms ? ms : at_least_ms),
	    attempt, m);
}

static void
log_lost(struct mqtt *m, bool was_up)
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

/* Close, without ceremony; what libmosquitto holds goes with it. */
static void
hang_up(struct mqtt *m)
{
	atomic_store(&m->up, false);
	m->phase = PHASE_IDLE;
	loop_timer_cancel(m->o.loop, &m->timer);
	loop_timer_cancel(m->o.loop, &m->tick);
	loop_fd_watch(m->o.loop, &m->watch, 0);
	client_free(m);
}

/* The connection, or the attempt at one, has ended; m->why says why. */
static void
lost(struct mqtt *m)
{
	bool was_up = m->up_at.ns != 0;
	bool denied = m->connack > 0;

	hang_up(m);
	log_lost(m, was_up);
	if (was_up) {
		m->n_addrs = 0; /* they may have changed */
		metric_change(m->m_up, -1);
		/* Of two clients with one id each throws the other out. */
		if (mono_diff_ms(clock_mono(), m->up_at) > m->backoff.max_ms)
			backoff_reset(&m->backoff);
	}
	m->up_at = (struct mono){ 0 };
	pub_fail_all(m);
	if (was_up && !m->freed && m->o.on_state != NULL)
		m->o.on_state(m->o.arg, false);
	if (!m->freed)
		pause_then(m, denied ? DENIED_MIN_MS : 0);
}

static void
on_broken(void *arg)
{
	struct mqtt *m = arg;

	link_enter(m);
	lost(m);
	link_leave(m);
}

void
link_break(struct mqtt *m, const char *why)
{
	if (m->phase != PHASE_UP && m->phase != PHASE_CONNECTING)
		return;
	say(m, why);
	m->phase = PHASE_BROKEN;
	atomic_store(&m->up, false);
	loop_timer_set(m->o.loop, &m->timer, clock_mono(), on_broken, m);
}

enum rc
link_rc(struct mqtt *m, int code)
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
		say_code(m, code, err);
		link_break(m, m->why);
		return RC_DOWN;
	default:
		return RC_BUG;
	}
}

/* Whether the socket is still open and wanted. */
static bool
alive(const struct mqtt *m)
{
	return m->mosq != NULL && m->phase != PHASE_BROKEN && !m->freed &&
	    mosquitto_socket(m->mosq) != -1;
}

static void
rewatch(struct mqtt *m)
{
	unsigned events = LOOP_READ;

	if (!alive(m))
		return;
	if (mosquitto_want_write(m->mosq))
		events |= LOOP_WRITE;
	loop_fd_watch(m->o.loop, &m->watch, events);
}

bool
link_sendable(const struct mqtt *m)
{
	return m->phase == PHASE_UP && !m->in_lib && !m->freed;
}

void
link_touch(struct mqtt *m)
{
	if (m->inside == 0)
		rewatch(m);
}

static void on_tick(void *arg);

/* Often enough for the keepalive that the broker wants. */
static void
tick_later(struct mqtt *m)
{
	int64_t ms = m->keepalive_s * INT64_C(1000) / 6;

	if (ms < TICK_MIN_MS)
		ms = TICK_MIN_MS;
	if (ms > TICK_MAX_MS)
		ms = TICK_MAX_MS;
	loop_timer_set(
	    m->o.loop, &m->tick, mono_add_ms(clock_mono(), ms), on_tick, m);
}

static void
on_tick(void *arg)
{
	struct mqtt *m = arg;
	int code;

	link_enter(m);
	tick_later(m);
	code = mosquitto_loop_misc(m->mosq);
	if (code == MOSQ_ERR_SUCCESS) {
		rewatch(m);
	} else {
		say_code(m, code, errno);
		lost(m);
	}
	link_leave(m);
}

/* The broker has accepted us. */
static void
made(struct mqtt *m)
{
	static struct log_rate rate;
	int64_t missed;

	m->phase = PHASE_UP;
	m->up_at = clock_mono();
	atomic_store(&m->up, true);
	metric_change(m->m_up, 1);
	metric_add(m->m_connects, 1);
	if (log_every(&rate, 1, &missed))
		log_info("mqtt.up", LOG_S("host", m->url.host),
		    LOG_I("port", m->url.port), LOG_S("client", m->client_id),
		    LOG_I("missed", missed));
	loop_timer_cancel(m->o.loop, &m->timer);
	tick_later(m);
	sub_renew(m);
	if (m->o.on_state != NULL)
		m->o.on_state(m->o.arg, true);
}

/* ---- reading and writing ------------------------------------------------- */

static void
check_connack(struct mqtt *m)
{
	int reason = m->connack;

	if (m->phase != PHASE_CONNECTING || reason < 0)
		return;
	if (reason == 0)
		made(m);
	else
		say(m,
		    m->o.version == 3 ? mosquitto_connack_string(reason)
				      : mosquitto_reason_string(reason));
}

/*
 * libmosquitto writes each acknowledgement at once.  Those of one turn of the
 * loop leave together.
 */
static void
cork(struct mqtt *m, int on)
{
	if (m->mosq != NULL)
		(void)setsockopt(mosquitto_socket(m->mosq), IPPROTO_TCP,
		    TCP_CORK, &on, sizeof(on));
}

/* False if the connection ended; m->why is set. */
static bool
read_some(struct mqtt *m)
{
	int i, code, err;

	for (i = 0; (i < READS_MAX || tls_pending(m)) && alive(m); i++) {
		errno = 0;
		m->in_lib = true;
		code = mosquitto_loop_read(m->mosq, 1);
		err = errno;
		m->in_lib = false;
		if (code != MOSQ_ERR_SUCCESS)
			say_code(m, code, err);
		check_connack(m);
		if (code != MOSQ_ERR_SUCCESS)
			return false;
		if (m->phase == PHASE_UP) {
			pub_after(m);
			sub_after(m);
		}
		/* Its last read found nothing: no need to ask again. */
		if (err == EAGAIN && !tls_pending(m))
			break;
	}
	if (m->mosq != NULL && mosquitto_socket(m->mosq) == -1) {
		say(m, mosquitto_reason_string(m->bye));
		return false;
	}
	return true;
}

static bool
write_some(struct mqtt *m)
{
	int code;

	if (!alive(m))
		return true;
	errno = 0;
	m->in_lib = true;
	code = mosquitto_loop_write(m->mosq, 1);
	m->in_lib = false;
	if (code != MOSQ_ERR_SUCCESS)
		say_code(m, code, errno);
	return code == MOSQ_ERR_SUCCESS;
}

static void
on_fd(void *arg, unsigned events)
{
	struct mqtt *m = arg;
	bool ok = true;

	link_enter(m);
	if ((events & LOOP_READ) != 0) {
		cork(m, 1);
		ok = read_some(m);
		cork(m, 0);
	}
	if (ok && !m->freed && m->mosq != NULL &&
	    ((events & LOOP_WRITE) != 0 || mosquitto_want_write(m->mosq)))
		ok = write_some(m);
	if (!m->freed && (!ok || m->phase == PHASE_BROKEN))
		lost(m);
	rewatch(m);
	link_leave(m);
}

/* ---- connecting ---------------------------------------------------------- */

static void
on_timeout(void *arg)
{
	struct mqtt *m = arg;

	link_enter(m);
	say(m, "the broker did not answer in time");
	lost(m);
	link_leave(m);
}

static void
dial(struct mqtt *m)
{
	const char *addr = m->addrs[m->next_addr++];
	int code, fd;

	m->connack = -1;
	m->bye = 0;
	if (!client_new(m)) {
		lost(m);
		return;
	}
	code = mosquitto_connect_async(
	    m->mosq, addr, m->url.port, m->o.keepalive_s);
	fd = mosquitto_socket(m->mosq);
	if (code != MOSQ_ERR_SUCCESS || fd == -1) {
		say_code(m, code, errno);
		lost(m);
		return;
	}
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	m->phase = PHASE_CONNECTING;
	m->watch = (struct loop_fd){ .fd = fd, .fn = on_fd, .arg = m };
	loop_fd_watch(m->o.loop, &m->watch, LOOP_READ | LOOP_WRITE);
	loop_timer_set(m->o.loop, &m->timer,
	    mono_add_ms(clock_mono(), CONNECT_MS), on_timeout, m);
}

void
resolved(struct mqtt *m)
{
	link_enter(m);
	if (m->n_addrs > 0)
		dial(m);
	else
		lost(m);
	link_leave(m);
}

static void
attempt(void *arg)
{
	struct mqtt *m = arg;

	link_enter(m);
	if (m->next_addr < m->n_addrs) {
		dial(m);
	} else if (!resolve(m)) {
		say(m, "no worker is free to resolve the name");
		lost(m);
	}
	link_leave(m);
}

void
link_start(struct mqtt *m)
{
	loop_timer_set(m->o.loop, &m->timer, clock_mono(), attempt, m);
}

void
link_stop(struct mqtt *m)
{
	resolve_cancel(m);
	loop_timer_cancel(m->o.loop, &m->timer);
	loop_timer_cancel(m->o.loop, &m->tick);
	loop_fd_watch(m->o.loop, &m->watch, 0);
	if (m->up_at.ns != 0)
		metric_change(m->m_up, -1);
	m->up_at = (struct mono){ 0 };
	m->phase = PHASE_IDLE;
	atomic_store(&m->up, false);
}

/*
 * resolve: the numbers of a host name, found in a worker.
 */
/* The worker's part works on copies, so that m may be freed meanwhile. */
struct resolving {
	struct mqtt *m; /* NULL: freed; the loop's */
	char host[URL_HOST_MAX];
	char addrs[ADDRS_MAX][ADDR_TEXT];
	int n;
	const char *why;
};

static void
on_worker(void *arg)
{
	struct resolving *job = arg;
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM };
	struct addrinfo *list, *a;
	int err;

	err = getaddrinfo(job->host, NULL, &hints, &list);
	if (err != 0) {
		job->why = gai_strerror(err);
		return;
	}
	for (a = list; a != NULL && job->n < ADDRS_MAX; a = a->ai_next)
		if (getnameinfo(a->ai_addr, a->ai_addrlen, job->addrs[job->n],
			ADDR_TEXT, NULL, 0, NI_NUMERICHOST) == 0)
			job->n++;
	freeaddrinfo(list);
}

static void
on_done(void *arg)
{
	struct resolving *job = arg;
	struct mqtt *m = job->m;

	if (m != NULL) {
		m->job = NULL;
		memcpy(m->addrs, job->addrs, sizeof(m->addrs));
		m->n_addrs = job->n;
		m->next_addr = 0;
		str_copy(str_of(job->why), m->why, sizeof(m->why));
		resolved(m);
	}
	free(job);
}

bool
resolve_is_number(const char *host)
{
	struct in6_addr a;

	return inet_pton(AF_INET, host, &a) == 1 ||
	    inet_pton(AF_INET6, host, &a) == 1;
}

bool
resolve(struct mqtt *m)
{
	struct resolving *job;

	if (resolve_is_number(m->url.host)) {
		str_copy(str_of(m->url.host), m->addrs[0], ADDR_TEXT);
		m->n_addrs = 1;
		m->next_addr = 0;
		resolved(m);
		return true;
	}
	job = mem_zalloc(sizeof(*job));
	job->m = m;
	job->why = "the name has no address";
	str_copy(str_of(m->url.host), job->host, sizeof(job->host));
	if (worker_run(m->o.workers, on_worker, on_done, job) != RC_OK) {
		free(job);
		return false;
	}
	m->job = job;
	return true;
}

void
resolve_cancel(struct mqtt *m)
{
	if (m->job != NULL)
		m->job->m = NULL;
	m->job = NULL;
}
