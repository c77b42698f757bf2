/*
 * The server's life: its options, civetweb's callbacks, and its end.
 */
#include "httpd/httpd.h"

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
#include "httpd/conn.h"
#include "httpd/crowd.h"
#include "httpd/route.h"
#include "httpd/watch.h"

/* How often a stopping server is woken until its threads have gone. */
#define KNOCK_MS 5
/* What waits for an answer gets its 503 within this time. */
#define FAREWELL_MS 1000

/* What is wrong with "a.b.c.d:port", or NULL. */
static const char *
read_addr(const char *addr, struct in_addr *in)
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

	return read_addr(addr, &in);
}

static bool
addr_ok(const char *addr, struct in_addr *in)
{
	const char *why = read_addr(addr, in);

	if (why != NULL)
		log_error("httpd.bad_address", LOG_S("address", addr),
		    LOG_S("why", why));
	return why == NULL;
}

static const char *
read_lists(const struct httpd_opts *o, struct peer_nets *nets, struct cors *c)
{
	if (peer_nets_read(str_of(o->trusted_proxies), nets) != RC_OK)
		return "TRUSTED_PROXIES: use addresses and networks of IPv4, "
		       "at most 32: 10.0.0.0/8,192.0.2.1";
	if (cors_read(str_of(o->cors_origins), c) != RC_OK)
		return "CORS_ORIGINS: use at most 32 origins as browsers write "
		       "them, https://a.example,https://b.example:8443, or *";
	return NULL;
}

const char *
httpd_opts_error(const struct httpd_opts *o)
{
	struct peer_nets nets;
	struct cors cors;

	return read_lists(o, &nets, &cors);
}

static bool
opts_ok(const struct httpd_opts *o, struct in_addr *in)
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
	return addr_ok(o->addr, in);
}

static struct httpd *
owner(const struct mg_connection *c)
{
	return mg_get_user_data(mg_get_context(c));
}

/* From now on the next head may arrive. */
static int
on_request(struct mg_connection *c)
{
	int status = conn_serve(owner(c), c);
	int64_t *since = mg_get_user_connection_data(c);

	if (since != NULL)
		*since = clock_mono().ns;
	return status;
}

/*
 * civetweb calls a head that is too slow 400, as it does a broken one or one
 * that overruns its buffer.  When it could begin is known; an idle connection
 * is closed sooner than a head is late.
 */
static int
on_error(struct mg_connection *c, int status, const char *text)
{
	int64_t *since = mg_get_user_connection_data(c);

	if (status == 400 && since != NULL &&
	    clock_mono().ns - *since >= SERVER_HEADER_MS * 1000000LL) {
		status = 408;
		text = "the header did not arrive in time";
	}
	conn_fail(owner(c), c, status, text);
	return 0;
}

static int
on_log(const struct mg_connection *c, const char *text)
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
on_open(const struct mg_connection *c, void **data)
{
	struct httpd *h = owner(c);
	int64_t *since = mem_alloc(sizeof(*since));

	*since = clock_mono().ns;
	*data = since;
	size_t n = atomic_fetch_add(&h->connections, 1) + 1;
	metric_change(h->connections_gauge, 1);
	if (h->crowd != NULL)
		crowd_note(h->crowd, n);
	return 0;
}

static void
on_close(const struct mg_connection *c)
{
	struct httpd *h = owner(c);

	free(mg_get_user_connection_data(c));
	metric_change(h->connections_gauge, -1);
	atomic_fetch_sub(&h->connections, 1);
}

/* Signals belong to the loop: no thread made here takes one. */
static enum rc
start(struct httpd *h, const char *addr)
{
	char workers[16], keep[16], header[16];
	const char *options[] = { "listening_ports", addr, "num_threads",
		workers, "enable_keep_alive", "yes", "keep_alive_timeout_ms",
		keep, "request_timeout_ms", header, "tcp_nodelay", "1",
		"listen_backlog", "1024", "connection_queue", "256",
		"max_request_size", "16384", "decode_url", "no", NULL };
	static const struct mg_callbacks callbacks = {
		.begin_request = on_request,
		.http_error = on_error,
		.log_message = on_log,
		.init_connection = on_open,
		.connection_close = on_close,
	};
	struct mg_server_port port;
	sigset_t all, old;

	snprintf(workers, sizeof(workers), "%u", h->workers);
	snprintf(keep, sizeof(keep), "%d", SERVER_KEEP_MS);
	snprintf(header, sizeof(header), "%d", SERVER_HEADER_MS);
	mg_init_library(0);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	if (h->per_address > 0)
		h->crowd = crowd_new(h);
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

	if (!opts_ok(o, &in))
		return RC_INVALID;
	struct httpd *h = mem_zalloc(sizeof(*h));
	(void)read_lists(o, &h->trusted, &h->cors);
	h->addr = in.s_addr;
	h->loop = o->loop;
	h->routes = o->routes;
	h->nroutes = o->nroutes;
	h->workers = o->workers;
	h->timeout_ms = o->timeout_ms;
	h->per_address = o->per_address;
	h->comment_ms = o->comment_ms > 0 ? o->comment_ms : SERVER_COMMENT_MS;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->none, NULL);
	TAILQ_INIT(&h->active);
	server_metrics(h, o->metrics);
	if (o->rate_per_s > 0 || o->per_address > 0)
		h->gate =
		    gate_new(o->rate_per_s, o->rate_burst, o->per_address);
	enum rc rc = start(h, o->addr);
	if (rc != RC_OK) {
		log_error("httpd.cannot_listen", LOG_S("address", o->addr));
		httpd_free(h);
		return rc;
	}
	watch_start(h);
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
stop_civetweb(void *ctx)
{
	mg_stop(ctx);
	return NULL;
}

/* A connection that wakes civetweb's accepting thread; it is not served. */
static void
knock(const struct httpd *h)
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
in_ms(int64_t ms)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ms += ts.tv_nsec / 1000000;
	ts.tv_sec += (time_t)(ms / 1000);
	ts.tv_nsec = (long)(ms % 1000) * 1000000L;
	return ts;
}

/* A civetweb that stops sends nothing any more: let what waits be told first.
 */
static void
close_all(struct httpd *h)
{
	struct timespec until = in_ms(FAREWELL_MS);
	struct httpd_req *r;

	pthread_mutex_lock(&h->lock);
	h->closing = true;
	TAILQ_FOREACH (r, &h->active, link)
		req_close(r);
	while (!TAILQ_EMPTY(&h->active))
		if (pthread_cond_timedwait(&h->none, &h->lock, &until) != 0)
			break;
	pthread_mutex_unlock(&h->lock);
}

/* mg_stop() waits up to 2 s for the threads that sleep unless they are woken.
 */
static void
stop(struct httpd *h)
{
	struct timespec until;
	pthread_t t;

	if (pthread_create(&t, NULL, stop_civetweb, h->ctx) != 0) {
		mg_stop(h->ctx);
		return;
	}
	do {
		knock(h);
		watch_cut_all(h);
		until = in_ms(KNOCK_MS);
	} while (pthread_timedjoin_np(t, NULL, &until) != 0);
}

void
httpd_free(struct httpd *h)
{
	if (h == NULL)
		return;
	httpd_stop(h);
	if (h->ctx != NULL) {
		watch_stop(h);
		close_all(h);
		stop(h);
	}
	mg_exit_library();
	crowd_free(h->crowd);
	gate_free(h->gate);
	pthread_cond_destroy(&h->none);
	pthread_mutex_destroy(&h->lock);
	free(h->rows);
	free(h);
}
