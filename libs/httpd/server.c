/*
 * The server: options, metrics, civetweb's callbacks, start and stop.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <civetweb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "core/mem.h"
#include "httpd/httpd_internal.h"

/* ---- metrics and requests in progress ---- */

#define LABELS_MAX 256

static void
server_route_metrics(struct server_row *row, struct metric_set *set,
    const char *method, const char *path)
{
	static const char *const classes[] = { NULL, "1xx", "2xx", "3xx", "4xx",
		"5xx" };
	char labels[LABELS_MAX];

	for (size_t i = 2; i < NELEM(classes); i++) {
		snprintf(labels, sizeof(labels),
		    "method=\"%s\",route=\"%s\",class=\"%s\"", method, path,
		    classes[i]);
		row->by_class[i] =
		    metric_counter(set, "soul_http_requests_total",
			"HTTP requests that have ended, by class of status.",
			labels);
	}
	snprintf(
	    labels, sizeof(labels), "method=\"%s\",route=\"%s\"", method, path);
	row->seconds =
	    metric_histogram(set, "soul_http_request_duration_seconds",
		"From a request's header to the last byte of its response.",
		labels);
}

static void
server_metrics_init(struct httpd *h, struct metric_set *set)
{
	static const char *const reasons[SERVER_REJECTIONS] = {
		[SERVER_BUSY] = "workers",
		[SERVER_INBOX] = "inbox",
		[SERVER_STOPPING] = "stopping",
		[SERVER_RATE] = "rate",
		[SERVER_TOO_MANY] = "connections",
		[SERVER_SLOW] = "slow",
	};
	char labels[LABELS_MAX];

	h->rows = mem_calloc(h->nroutes + 1, sizeof(*h->rows));
	for (size_t i = 0; i < h->nroutes; i++)
		server_route_metrics(
		    &h->rows[i], set, h->routes[i].method, h->routes[i].path);
	server_route_metrics(&h->rows[h->nroutes], set, "", "none");
	for (size_t i = 0; i < SERVER_REJECTIONS; i++) {
		snprintf(labels, sizeof(labels), "reason=\"%s\"", reasons[i]);
		h->rejected[i] = metric_counter(set, "soul_http_refused_total",
		    "HTTP requests rejected before their handler ran (503, "
		    "429), and connections closed.",
		    labels);
	}
	h->busy_gauge = metric_gauge(set, "soul_http_busy",
	    "HTTP requests and streams that have not ended.", NULL);
	h->connections_gauge = metric_gauge(set, "soul_http_connections",
	    "Connections that hold a worker, idle ones too.", NULL);
}

void
server_enter(struct httpd *h, struct httpd_req *r)
{
	atomic_fetch_add(&h->busy, 1);
	metric_change(h->busy_gauge, 1);
	pthread_mutex_lock(&h->lock);
	TAILQ_INSERT_TAIL(&h->active, r, link);
	if (h->closing)
		request_close(r);
	pthread_mutex_unlock(&h->lock);
}

void
server_leave(struct httpd *h, struct httpd_req *r)
{
	pthread_mutex_lock(&h->lock);
	TAILQ_REMOVE(&h->active, r, link);
	if (h->closing && TAILQ_EMPTY(&h->active))
		pthread_cond_signal(&h->none);
	pthread_mutex_unlock(&h->lock);
	metric_change(h->busy_gauge, -1);
	atomic_fetch_sub(&h->busy, 1);
}

void
server_count(
    struct httpd *h, const struct httpd_route *route, int status, int64_t ns)
{
	size_t i = route != NULL ? (size_t)(route - h->routes) : h->nroutes;
	struct server_row *row = &h->rows[i];
	int class = status / 100;

	if (class >= 2 && class < (int)NELEM(row->by_class))
		metric_add(row->by_class[class], 1);
	metric_observe(row->seconds, (double)ns / 1e9);
}

/* ---- options ---- */

/* How often civetweb's threads are woken until they have stopped. */
#define WAKE_MS 5
/* Pending requests get their 503 within this time. */
#define CLOSE_MS 1000

/* What is wrong with "a.b.c.d:port", or NULL. */
static const char *
server_parse_address(const char *addr, struct in_addr *in)
{
	struct str rest = str_of(addr);
	char host[INET_ADDRSTRLEN];
	int64_t port;

	if (rest.p == NULL || rest.n == 0 || rest.p[0] == '[')
		return "IPv4 only: a.b.c.d:port";
	struct str name = str_split(&rest, ':');
	str_copy(name, host, sizeof(host));
	if (name.n < sizeof(host) && inet_pton(AF_INET, host, in) == 1 &&
	    str_to_i64(rest, 0, 65535, &port) == RC_OK)
		return NULL;
	return "not a.b.c.d:port (TLS and IPv6 end at a proxy in front)";
}

const char *
httpd_addr_error(const char *addr)
{
	struct in_addr in;

	return server_parse_address(addr, &in);
}

static bool
server_address_valid(const char *addr, struct in_addr *in)
{
	const char *why = server_parse_address(addr, in);

	if (why != NULL)
		log_error("httpd.bad_address", LOG_S("address", addr),
		    LOG_S("why", why));
	return why == NULL;
}

static const char *
server_parse_lists(
    const struct httpd_opts *o, struct proxy_nets *nets, struct cors *c)
{
	if (proxy_nets_parse(str_of(o->trusted_proxies), nets) != RC_OK)
		return "TRUSTED_PROXIES: use addresses and networks of IPv4, "
		       "at most 32: 10.0.0.0/8,192.0.2.1";
	if (cors_parse(str_of(o->cors_origins), c) != RC_OK)
		return "CORS_ORIGINS: use at most 32 origins as browsers write "
		       "them, https://a.example,https://b.example:8443, or *";
	return NULL;
}

const char *
httpd_opts_error(const struct httpd_opts *o)
{
	struct proxy_nets nets;
	struct cors cors;

	return server_parse_lists(o, &nets, &cors);
}

static bool
server_opts_valid(const struct httpd_opts *o, struct in_addr *in)
{
	if (o->loop == NULL || o->workers <= HTTPD_SPARE_WORKERS ||
	    o->timeout_ms <= 0 || (o->rate_per_s > 0 && o->rate_burst <= 0)) {
		log_error("httpd.bad_options", LOG_I("workers", o->workers),
		    LOG_I("timeout_ms", o->timeout_ms));
		return false;
	}
	const char *why = httpd_opts_error(o);
	if (why != NULL) {
		log_error("httpd.bad_list", LOG_S("why", why));
		return false;
	}
	for (size_t i = 0; i < o->nroutes; i++) {
		if (route_check(&o->routes[i]) == RC_OK)
			continue;
		log_error("httpd.bad_route", LOG_I("row", i),
		    LOG_S("path", o->routes[i].path));
		return false;
	}
	return server_address_valid(o->addr, in);
}

static struct httpd *
server_of(const struct mg_connection *c)
{
	return mg_get_user_data(mg_get_context(c));
}

/* Serve a request; the next header may arrive from its end on. */
static int
server_on_request(struct mg_connection *c)
{
	int64_t *since = mg_get_user_connection_data(c);
	struct mono end;
	int status = http_connection_serve(server_of(c), c, &end);

	if (since != NULL)
		*since = end.ns;
	return status;
}

/*
 * civetweb's status is 400 for a header that is too slow, as for one that is
 * broken or too long for its buffer.  The time since it could begin tells them
 * apart; an idle connection is closed before a header is overdue.
 */
static int
server_on_error(struct mg_connection *c, int status, const char *text)
{
	int64_t *since = mg_get_user_connection_data(c);

	if (status == 400 && since != NULL &&
	    clock_mono().ns - *since >= SERVER_HEADER_MS * 1000000LL) {
		status = 408;
		text = "the header did not arrive in time";
	}
	http_connection_fail(server_of(c), c, status, text);
	return 0;
}

static int
server_on_log(const struct mg_connection *c, const char *text)
{
	static struct log_rate rate;
	int64_t missed;

	(void)c;
	if (log_every(&rate, 1, &missed))
		log_warn("httpd.civetweb", LOG_S("why", text),
		    LOG_I("missed", missed));
	return 1;
}

static int
server_on_open(const struct mg_connection *c, void **data)
{
	struct httpd *h = server_of(c);
	int64_t *since = mem_alloc(sizeof(*since));

	*since = clock_mono().ns;
	*data = since;
	size_t n = atomic_fetch_add(&h->connections, 1) + 1;
	metric_change(h->connections_gauge, 1);
	if (h->limiter != NULL)
		connection_limiter_notify(h->limiter, n);
	return 0;
}

static void
server_on_close(const struct mg_connection *c)
{
	struct httpd *h = server_of(c);

	free(mg_get_user_connection_data(c));
	metric_change(h->connections_gauge, -1);
	atomic_fetch_sub(&h->connections, 1);
}

/* Signals belong to the loop: they are blocked in all threads started here. */
static enum rc
server_listen(struct httpd *h, const char *addr)
{
	char workers[16], persistent[16], header[16];
	const char *options[] = { "listening_ports", addr, "num_threads",
		workers, "enable_keep_alive", "yes", "keep_alive_timeout_ms",
		persistent, "request_timeout_ms", header, "tcp_nodelay", "1",
		"listen_backlog", "1024", "connection_queue", "256",
		"max_request_size", "16384", "decode_url", "no", NULL };
	static const struct mg_callbacks callbacks = {
		.begin_request = server_on_request,
		.http_error = server_on_error,
		.log_message = server_on_log,
		.init_connection = server_on_open,
		.connection_close = server_on_close,
	};
	struct mg_server_port port;
	sigset_t all, old;

	snprintf(workers, sizeof(workers), "%u", h->workers);
	snprintf(persistent, sizeof(persistent), "%d", SERVER_IDLE_MS);
	snprintf(header, sizeof(header), "%d", SERVER_HEADER_MS);
	mg_init_library(0);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	if (h->per_address > 0)
		h->limiter = connection_limiter_new(h);
	h->ctx = mg_start(&callbacks, h, options);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (h->ctx == NULL || mg_get_server_ports(h->ctx, 1, &port) != 1)
		return RC_DOWN;
	h->port = port.port;
	return RC_OK;
}

enum rc
httpd_new(const struct httpd_opts *o, struct httpd **out)
{
	struct in_addr in;

	if (!server_opts_valid(o, &in))
		return RC_INVALID;
	struct httpd *h = mem_zalloc(sizeof(*h));
	(void)server_parse_lists(o, &h->trusted, &h->cors);
	h->addr = in.s_addr;
	h->loop = o->loop;
	h->routes = o->routes;
	h->nroutes = o->nroutes;
	h->files = o->files;
	h->nfiles = o->nfiles;
	if (o->tunnel != NULL)
		h->tunnel = *o->tunnel;
	h->workers = o->workers;
	h->timeout_ms = o->timeout_ms;
	h->per_address = o->per_address;
	h->comment_ms = o->comment_ms > 0 ? o->comment_ms : SERVER_COMMENT_MS;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->none, NULL);
	TAILQ_INIT(&h->active);
	server_metrics_init(h, o->metrics);
	if (o->rate_per_s > 0 || o->per_address > 0)
		h->admission =
		    admission_new(o->rate_per_s, o->rate_burst, o->per_address);
	enum rc rc = server_listen(h, o->addr);
	if (rc != RC_OK) {
		log_error("httpd.cannot_listen", LOG_S("address", o->addr));
		httpd_free(h);
		return rc;
	}
	reaper_start(h);
	log_info("httpd.listening", LOG_S("address", o->addr),
	    LOG_I("port", h->port), LOG_I("workers", h->workers));
	*out = h;
	return RC_OK;
}

int
httpd_port(const struct httpd *h)
{
	return h->port;
}

void
httpd_stop(struct httpd *h)
{
	atomic_store(&h->stopping, true);
}

size_t
httpd_busy(const struct httpd *h)
{
	return atomic_load(&h->busy);
}

static void *
server_stop_thread(void *ctx)
{
	mg_stop(ctx);
	return NULL;
}

/* Connect, which wakes civetweb's accepting thread; it is not served. */
static void
server_wake_acceptor(const struct httpd *h)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)h->port),
		.sin_addr.s_addr = h->addr };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	(void)connect(fd, (struct sockaddr *)(void *)&to, sizeof(to));
	close(fd);
}

static struct timespec
server_timespec_in(int64_t ms)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ms += ts.tv_nsec / 1000000;
	ts.tv_sec += (time_t)(ms / 1000);
	ts.tv_nsec = (long)(ms % 1000) * 1000000L;
	return ts;
}

/* Let pending requests be responded to: a stopping civetweb sends nothing. */
static void
server_close_requests(struct httpd *h)
{
	struct timespec until = server_timespec_in(CLOSE_MS);
	struct httpd_req *r;

	pthread_mutex_lock(&h->lock);
	h->closing = true;
	TAILQ_FOREACH (r, &h->active, link)
		request_close(r);
	while (!TAILQ_EMPTY(&h->active))
		if (pthread_cond_timedwait(&h->none, &h->lock, &until) != 0)
			break;
	pthread_mutex_unlock(&h->lock);
}

/* mg_stop() waits up to 2 s for sleeping threads unless they are woken. */
static void
server_stop(struct httpd *h)
{
	struct timespec until;
	pthread_t t;

	if (pthread_create(&t, NULL, server_stop_thread, h->ctx) != 0) {
		mg_stop(h->ctx);
		return;
	}
	do {
		server_wake_acceptor(h);
		reaper_shutdown_all(h);
		until = server_timespec_in(WAKE_MS);
	} while (pthread_timedjoin_np(t, NULL, &until) != 0);
}

void
httpd_free(struct httpd *h)
{
	if (h == NULL)
		return;
	httpd_stop(h);
	if (h->ctx != NULL) {
		reaper_stop(h);
		server_close_requests(h);
		server_stop(h);
	}
	mg_exit_library();
	connection_limiter_free(h->limiter);
	admission_free(h->admission);
	request_free_spare(h);
	pthread_cond_destroy(&h->none);
	pthread_mutex_destroy(&h->lock);
	free(h->rows);
	free(h);
}
