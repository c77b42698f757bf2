/*
 * HTTP client on curl's multi interface, driven by the loop.
 *
 * curl must not be called from inside its own callbacks, while the callers'
 * callbacks may start and cancel any call: such requests are recorded and
 * carried out by client_pump() when curl has returned.
 */
#include "httpc/httpc.h"

#include <assert.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"

#define ACTIVE_MAX 256
#define QUEUE_MAX  1024

enum call_state {
	CALL_QUEUED,
	CALL_ACTIVE, /* handed to curl */
	CALL_DEAD    /* cancelled inside curl, which still refers to it */
};

TAILQ_HEAD(call_list, httpc_call);

struct httpc {
	struct loop *loop;
	CURLM *multi;
	char *proxy;
	char *ca_file;
	size_t active_max, queue_max;
	struct call_list queue, active;
	size_t nqueue, nactive;
	struct loop_timer timer; /* curl's */
	bool in_curl;            /* inside curl, which must not be called */
	bool pumping;            /* inside client_pump() */
	size_t ndead;            /* calls cancelled in_curl, still in active */
	bool closing;
	bool (*may_connect)(const struct sockaddr *addr);
	struct metric *by_rc[RC_N];
	struct metric *seconds;
	struct metric *active_gauge;
	struct metric *queue_gauge;
};

struct httpc_call {
	TAILQ_ENTRY(httpc_call) link;
	struct httpc *client;
	enum call_state state;
	CURL *easy;
	struct curl_slist *headers;
	httpc_chunk_fn on_chunk;
	httpc_done_fn on_done;
	void *arg;
	struct mono start, due;
	struct mono last_byte; /* 0: none yet */
	int64_t first_byte_ms, idle_ms;
	struct loop_timer timer;
	struct buf body;
	size_t body_max, body_n, head_n;
	bool head_ended;      /* the empty line was received */
	bool denied;          /* an address was not allowed */
	enum rc stop;         /* why we ended the transfer; RC_OK: we did not */
	const char *stop_why; /* the same as text */
	char why[CURL_ERROR_SIZE]; /* curl's error text */
};

/* ---- one call: its curl handle and what curl reports ---- */

static void call_on_timer(void *arg);
static struct mono call_next(const struct httpc_call *call, const char **why);

/* A direct call, so that curl's macro checks the type of value. */
#define SET(easy, option, value)                                             \
	do {                                                                 \
		if (curl_easy_setopt((easy), (option), (value)) != CURLE_OK) \
			return RC_INVALID;                                   \
	} while (0)

/* Whether s fits into one line of a request's header. */
static bool
call_one_line(const char *s)
{
	return s != NULL && s[0] != '\0' && strpbrk(s, "\r\n") == NULL;
}

/* A token of RFC 9110 as methods use it. */
static bool
call_method_valid(const char *s)
{
	return s != NULL && s[0] != '\0' &&
	    strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == strlen(s);
}

static bool
call_url_valid(const char *url)
{
	CURLU *u = curl_url();
	char *scheme = NULL;
	bool ok;

	ok = u != NULL && call_one_line(url) &&
	    curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
	    curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
	    (strcasecmp(scheme, "http") == 0 ||
		strcasecmp(scheme, "https") == 0);
	curl_free(scheme);
	curl_url_cleanup(u);
	return ok;
}

/* Record why the transfer ends; the return value makes curl end it. */
static size_t
call_end_with(struct httpc_call *call, enum rc rc, const char *why)
{
	call->stop = rc;
	call->stop_why = why;
	return CURL_WRITEFUNC_ERROR;
}

/* Record received bytes.  After the first one another time-out applies. */
static void
call_received(struct httpc_call *call)
{
	bool first = call->last_byte.ns == 0;
	const char *why;

	call->last_byte = clock_mono();
	if (first)
		loop_timer_set(call->client->loop, &call->timer,
		    call_next(call, &why), call_on_timer, call);
}

static size_t
call_on_header(char *p, size_t size, size_t n, void *arg)
{
	struct httpc_call *call = arg;
	struct str line = { p, size * n };

	if (call->state == CALL_DEAD)
		return CURL_WRITEFUNC_ERROR;
	call_received(call);
	call->head_n += line.n;
	if (call->head_n > HTTPC_HEAD_MAX)
		return call_end_with(
		    call, RC_TOOBIG, "the header is too large");
	if (str_starts(line, STR("HTTP/")))
		call->head_ended = false;
	else if (line.p[0] == '\r' || line.p[0] == '\n')
		call->head_ended = true;
	return line.n;
}

static size_t
call_on_body(char *p, size_t size, size_t n, void *arg)
{
	struct httpc_call *call = arg;
	struct str chunk = { p, size * n };

	if (call->state == CALL_DEAD)
		return CURL_WRITEFUNC_ERROR;
	call_received(call);
	call->body_n += chunk.n;
	if (call->body_n > call->body_max)
		return call_end_with(call, RC_TOOBIG, "the body is too large");
	if (call->on_chunk == NULL) {
		buf_put_str(&call->body, chunk);
		return chunk.n;
	}
	enum rc rc = call->on_chunk(call->arg, call, chunk);
	if (call->state == CALL_DEAD)
		return CURL_WRITEFUNC_ERROR;
	if (rc != RC_OK)
		return call_end_with(call, rc, "ended by its receiver");
	return chunk.n;
}

/* CURLOPT_OPENSOCKETFUNCTION */
static curl_socket_t
call_on_connect(void *arg, curlsocktype purpose, struct curl_sockaddr *addr)
{
	struct httpc_call *call = arg;

	(void)purpose;
	if (!call->client->may_connect(&addr->addr)) {
		call->denied = true;
		return CURL_SOCKET_BAD;
	}
	return socket(
	    addr->family, addr->socktype | SOCK_CLOEXEC, addr->protocol);
}

/* False if line would corrupt the request's header. */
static bool
call_add_header(struct httpc_call *call, const char *line)
{
	struct curl_slist *list = curl_slist_append(call->headers, line);

	if (list == NULL || !call_one_line(line))
		return false;
	call->headers = list;
	return true;
}

static bool
call_has_header(const struct httpc_request *rq, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < rq->nheaders; i++)
		if (strncasecmp(rq->headers[i], name, n) == 0 &&
		    rq->headers[i][n] == ':')
			return true;
	return false;
}

static enum rc
call_set_headers(struct httpc_call *call, const struct httpc_request *rq)
{
	char line[sizeof("traceparent: ") + TRACE_PARENT_MAX];
	char parent[TRACE_PARENT_MAX];

	for (size_t i = 0; i < rq->nheaders; i++)
		if (!call_one_line(rq->headers[i]) ||
		    strchr(rq->headers[i], ':') == NULL ||
		    !call_add_header(call, rq->headers[i]))
			return RC_INVALID;
	if (rq->body.n > 0 && !call_has_header(rq, "Content-Type") &&
	    !call_add_header(call, "Content-Type: application/json"))
		return RC_INVALID;
	/* Otherwise curl waits a second for "100 Continue". */
	if (!call_add_header(call, "Expect:"))
		return RC_INVALID;
	if (rq->trace != NULL) {
		trace_format(rq->trace, parent);
		snprintf(line, sizeof(line), "traceparent: %s", parent);
		if (!call_add_header(call, line))
			return RC_INVALID;
	}
	SET(call->easy, CURLOPT_HTTPHEADER, call->headers);
	return RC_OK;
}

static enum rc
call_set_method(struct httpc_call *call, const struct httpc_request *rq)
{
	CURL *e = call->easy;

	/* CUSTOMREQUEST would retain the method over a redirect that changes
	 * it, so GET and POST are set without it. */
	if (rq->body.n > 0 || strcmp(rq->method, "POST") == 0) {
		SET(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)rq->body.n);
		SET(e, CURLOPT_COPYPOSTFIELDS,
		    rq->body.n > 0 ? rq->body.p : "");
	}
	if (strcmp(rq->method, "HEAD") == 0)
		SET(e, CURLOPT_NOBODY, 1L);
	else if (strcmp(rq->method, rq->body.n > 0 ? "POST" : "GET") != 0 &&
	    strcmp(rq->method, "POST") != 0)
		SET(e, CURLOPT_CUSTOMREQUEST, rq->method);
	return RC_OK;
}

static enum rc
call_set_limits(struct httpc_call *call, const struct httpc_request *rq)
{
	CURL *e = call->easy;
	int64_t connect_ms =
	    rq->connect_ms > 0 ? rq->connect_ms : HTTPC_CONNECT_MS;

	SET(e, CURLOPT_PROTOCOLS_STR, "http,https");
	SET(e, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	SET(e, CURLOPT_FOLLOWLOCATION, rq->redirects > 0 ? 1L : 0L);
	SET(e, CURLOPT_MAXREDIRS, (long)rq->redirects);
	SET(e, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
	SET(e, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)call->body_max);
	SET(e, CURLOPT_NOSIGNAL, 1L);
	/* Otherwise a call that ends while its name is being resolved blocks
	 * the loop until the resolver returns. */
	SET(e, CURLOPT_QUICK_EXIT, 1L);
	SET(e, CURLOPT_TCP_KEEPALIVE, 1L);
	SET(e, CURLOPT_FRESH_CONNECT, rq->once ? 1L : 0L);
	SET(e, CURLOPT_PROXY,
	    call->client->proxy != NULL ? call->client->proxy : "");
	if (call->client->ca_file != NULL)
		SET(e, CURLOPT_CAINFO, call->client->ca_file);
	if (call->client->may_connect != NULL) {
		SET(e, CURLOPT_OPENSOCKETFUNCTION, call_on_connect);
		SET(e, CURLOPT_OPENSOCKETDATA, (void *)call);
	}
	return RC_OK;
}

static enum rc
call_set_up(struct httpc_call *call, const struct httpc_request *rq)
{
	CURL *e = call->easy;
	enum rc rc;

	if (!call_url_valid(rq->url) || !call_method_valid(rq->method))
		return RC_INVALID;
	SET(e, CURLOPT_URL, rq->url);
	SET(e, CURLOPT_USERAGENT, "soul");
	SET(e, CURLOPT_PRIVATE, (void *)call);
	SET(e, CURLOPT_ERRORBUFFER, call->why);
	SET(e, CURLOPT_HEADERFUNCTION, call_on_header);
	SET(e, CURLOPT_HEADERDATA, (void *)call);
	SET(e, CURLOPT_WRITEFUNCTION, call_on_body);
	SET(e, CURLOPT_WRITEDATA, (void *)call);
	rc = call_set_method(call, rq);
	if (rc == RC_OK)
		rc = call_set_limits(call, rq);
	if (rc == RC_OK)
		rc = call_set_headers(call, rq);
	return rc;
}

static void
call_free(struct httpc_call *call)
{
	curl_easy_cleanup(call->easy);
	curl_slist_free_all(call->headers);
	buf_free(&call->body);
	free(call);
}

static enum rc
call_new(
    struct httpc *c, const struct httpc_request *rq, struct httpc_call **out)
{
	struct httpc_call *call;

	if (rq->deadline.ms == 0 || rq->on_done == NULL)
		return RC_INVALID;
	call = mem_zalloc(sizeof(*call));
	call->client = c;
	call->on_chunk = rq->on_chunk;
	call->on_done = rq->on_done;
	call->arg = rq->arg;
	call->start = clock_mono();
	call->due = clock_mono_of(rq->deadline);
	call->first_byte_ms = rq->first_byte_ms;
	call->idle_ms = rq->idle_ms;
	call->body_max = rq->body_max > 0 ? rq->body_max : HTTPC_BODY_MAX;
	buf_init(&call->body, call->body_max);
	call->easy = curl_easy_init();
	enum rc rc = call->easy != NULL ? call_set_up(call, rq) : RC_BUG;
	if (rc != RC_OK) {
		call_free(call);
		return rc;
	}
	*out = call;
	return RC_OK;
}

static enum rc
call_rc(struct httpc_call *call, int code)
{
	if (call->stop != RC_OK)
		return call->stop;
	if (call->why[0] == '\0')
		str_copy(str_of(curl_easy_strerror((CURLcode)code)), call->why,
		    sizeof(call->why));
	switch ((CURLcode)code) {
	case CURLE_OK:
		/* curl takes a truncated header for a complete one. */
		if (call->head_ended)
			return RC_OK;
		call->stop_why = "the response ended within its header";
		return RC_DOWN;
	case CURLE_FILESIZE_EXCEEDED:
		return RC_TOOBIG;
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_URL_MALFORMAT:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_TOO_MANY_REDIRECTS:
	case CURLE_BAD_CONTENT_ENCODING:
		return RC_INVALID;
	case CURLE_COULDNT_CONNECT:
		if (call->denied) {
			call->stop_why = "the address is not allowed";
			return RC_DENIED;
		}
		return RC_DOWN;
	default:
		/* Resolving, TLS, truncation; the only time-out set in curl is
		 * that of connecting. */
		return RC_DOWN;
	}
}

static const char *
call_why(const struct httpc_call *call)
{
	return call->stop_why != NULL ? call->stop_why : call->why;
}

static struct mono
call_next(const struct httpc_call *call, const char **why)
{
	struct mono at = call->due, other = { 0 };

	*why = "the deadline has passed";
	if (call->state == CALL_QUEUED)
		return at;
	if (call->last_byte.ns == 0 && call->first_byte_ms > 0)
		other = mono_add_ms(call->start, call->first_byte_ms);
	else if (call->last_byte.ns != 0 && call->idle_ms > 0)
		other = mono_add_ms(call->last_byte, call->idle_ms);
	if (other.ns == 0 || other.ns >= at.ns)
		return at;
	*why = call->last_byte.ns == 0 ? "no response began in time"
				       : "the response stalled";
	return other;
}

/* ---- the client ---- */

struct watched_fd {
	struct httpc *c;
	struct loop_fd w;
};

static void client_pump(struct httpc *c);

/* Let curl handle one descriptor, or its timers. */
static void
client_socket_action(struct httpc *c, curl_socket_t fd, int what)
{
	int running;

	c->in_curl = true;
	(void)curl_multi_socket_action(c->multi, fd, what, &running);
	c->in_curl = false;
	client_pump(c);
}

static void
client_on_fd(void *arg, unsigned events)
{
	struct watched_fd *w = arg;
	int what = 0;

	if ((events & LOOP_READ) != 0)
		what |= CURL_CSELECT_IN;
	if ((events & LOOP_WRITE) != 0)
		what |= CURL_CSELECT_OUT;
	/* This may free w. */
	client_socket_action(w->c, w->w.fd, what);
}

static void
client_on_timer(void *arg)
{
	client_socket_action(arg, CURL_SOCKET_TIMEOUT, 0);
}

/* CURLMOPT_SOCKETFUNCTION */
static int
client_curl_socket(
    CURL *easy, curl_socket_t fd, int what, void *arg, void *mine)
{
	struct httpc *c = arg;
	struct watched_fd *w = mine;
	unsigned events = 0;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (w != NULL) {
			loop_fd_watch(c->loop, &w->w, 0);
			(void)curl_multi_assign(c->multi, fd, NULL);
			free(w);
		}
		return 0;
	}
	if (w == NULL) {
		w = mem_zalloc(sizeof(*w));
		w->c = c;
		w->w =
		    (struct loop_fd){ .fd = fd, .fn = client_on_fd, .arg = w };
		(void)curl_multi_assign(c->multi, fd, w);
	}
	if (what == CURL_POLL_IN || what == CURL_POLL_INOUT)
		events |= LOOP_READ;
	if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
		events |= LOOP_WRITE;
	loop_fd_watch(c->loop, &w->w, events);
	return 0;
}

/* CURLMOPT_TIMERFUNCTION */
static int
client_curl_timer(CURLM *multi, long ms, void *arg)
{
	struct httpc *c = arg;

	(void)multi;
	if (ms < 0)
		loop_timer_cancel(c->loop, &c->timer);
	else
		loop_timer_set(c->loop, &c->timer,
		    mono_add_ms(clock_mono(), ms), client_on_timer, c);
	return 0;
}

static void
call_unlink(struct httpc_call *call)
{
	struct httpc *c = call->client;

	loop_timer_cancel(c->loop, &call->timer);
	if (call->state == CALL_QUEUED) {
		TAILQ_REMOVE(&c->queue, call, link);
		c->nqueue--;
		metric_change(c->queue_gauge, -1);
		return;
	}
	(void)curl_multi_remove_handle(c->multi, call->easy);
	TAILQ_REMOVE(&c->active, call, link);
	c->nactive--;
	metric_change(c->active_gauge, -1);
}

/* Seconds or a date; some providers add a header in milliseconds. */
static int64_t
retry_after_ms(const struct httpc_call *call)
{
	struct str ms = str_trim(httpc_header(call, "Retry-After-Ms"));
	struct str after = str_trim(httpc_header(call, "Retry-After"));
	int64_t n;

	if (str_to_i64(ms, 0, INT64_MAX, &n) == RC_OK)
		return n;
	if (str_to_i64(after, 0, INT64_MAX / 1000, &n) == RC_OK)
		return n * 1000;
	time_t at = after.n > 0 ? curl_getdate(after.p, NULL) : -1;
	if (at == -1)
		return -1;
	n = (int64_t)at * 1000 - clock_wall().ms;
	return n > 0 ? n : 0;
}

/* Remove a call from its list and from curl, report its end and free it. */
static void
call_finish(struct httpc_call *call, enum rc rc)
{
	struct httpc *c = call->client;
	int64_t ns = mono_diff_ns(clock_mono(), call->start);

	call_unlink(call);
	if (call->state == CALL_DEAD) {
		c->ndead--;
	} else {
		struct httpc_response a = { .status = httpc_status(call),
			.body = buf_str(&call->body),
			.retry_after_ms = retry_after_ms(call),
			.why = call_why(call) };
		metric_add(c->by_rc[rc], 1);
		metric_observe(c->seconds, (double)ns / 1e9);
		call->on_done(call->arg, call, rc, &a);
	}
	call_free(call);
}

/* Hand the next queued call to curl. */
static void
client_start_next(struct httpc *c)
{
	struct httpc_call *call = TAILQ_FIRST(&c->queue);
	const char *why;

	TAILQ_REMOVE(&c->queue, call, link);
	c->nqueue--;
	metric_change(c->queue_gauge, -1);
	TAILQ_INSERT_TAIL(&c->active, call, link);
	c->nactive++;
	metric_change(c->active_gauge, 1);
	call->state = CALL_ACTIVE;
	call->start = clock_mono();
	loop_timer_set(
	    c->loop, &call->timer, call_next(call, &why), call_on_timer, call);
	if (curl_multi_add_handle(c->multi, call->easy) != CURLM_OK) {
		/* Ended by the timer: this may run inside httpc_start(). */
		call->stop = RC_BUG;
		call->stop_why = "curl rejected the call";
		loop_timer_set(
		    c->loop, &call->timer, clock_mono(), call_on_timer, call);
	}
}

static void
client_start_queued(struct httpc *c)
{
	while (c->nqueue > 0 && c->nactive < c->active_max && !c->closing)
		client_start_next(c);
}

/* Free the calls that were cancelled inside curl. */
static void
client_reap(struct httpc *c)
{
	struct httpc_call *call, *next;

	for (call = TAILQ_FIRST(&c->active); c->ndead > 0; call = next) {
		next = TAILQ_NEXT(call, link);
		if (call->state == CALL_DEAD)
			call_finish(call, RC_OK);
	}
}

/* End calls that are complete and start queued ones, until there are none. */
static void
client_pump(struct httpc *c)
{
	struct CURLMsg *m;
	int left;

	if (c->in_curl || c->pumping)
		return;
	c->pumping = true;
	client_reap(c);
	while ((m = curl_multi_info_read(c->multi, &left)) != NULL) {
		struct httpc_call *call = NULL;
		int code = (int)m->data.result;
		if (m->msg != CURLMSG_DONE)
			continue;
		(void)curl_easy_getinfo(
		    m->easy_handle, CURLINFO_PRIVATE, &call);
		call_finish(call, call_rc(call, code));
	}
	client_start_queued(c);
	c->pumping = false;
}

static void
call_on_timer(void *arg)
{
	struct httpc_call *call = arg;
	struct httpc *c = call->client;
	const char *why;
	struct mono at = call_next(call, &why);

	if (call->stop == RC_OK) {
		if (at.ns > clock_mono().ns) {
			loop_timer_set(
			    c->loop, &call->timer, at, call_on_timer, call);
			return;
		}
		call->stop = RC_TIMEOUT;
		call->stop_why = why;
	}
	c->pumping = true;
	call_finish(call, call->stop);
	c->pumping = false;
	client_pump(c);
}

static void
client_metrics_init(struct httpc *c, const struct httpc_opts *o)
{
	const char *peer = o->peer != NULL ? o->peer : "";
	char labels[128];

	for (unsigned i = 0; i < RC_N; i++) {
		snprintf(labels, sizeof(labels), "peer=\"%s\",result=\"%s\"",
		    peer, rc_name((enum rc)i));
		c->by_rc[i] = metric_counter(o->metrics,
		    "soul_httpc_calls_total",
		    "Outgoing HTTP calls that have ended, by result.", labels);
	}
	snprintf(labels, sizeof(labels), "peer=\"%s\"", peer);
	c->seconds =
	    metric_histogram(o->metrics, "soul_httpc_call_duration_seconds",
		"From the start of a call to its end.", labels);
	c->active_gauge = metric_gauge(
	    o->metrics, "soul_httpc_active", "HTTP calls in progress.", labels);
	c->queue_gauge = metric_gauge(o->metrics, "soul_httpc_waiting",
	    "HTTP calls in the queue.", labels);
}

static char *
client_text_copy(const char *s)
{
	return s != NULL && s[0] != '\0' ? mem_strdup(s) : NULL;
}

struct httpc *
httpc_new(const struct httpc_opts *o)
{
	struct httpc *c = mem_zalloc(sizeof(*c));

	c->loop = o->loop;
	c->active_max = o->active_max > 0 ? o->active_max : ACTIVE_MAX;
	c->queue_max = o->queue_max > 0 ? o->queue_max : QUEUE_MAX;
	c->proxy = client_text_copy(o->proxy);
	c->ca_file = client_text_copy(o->ca_file);
	c->may_connect = o->may_connect;
	TAILQ_INIT(&c->queue);
	TAILQ_INIT(&c->active);
	client_metrics_init(c, o);
	return c;
}

static void
client_abandon(struct httpc_call *call)
{
	call->stop_why = "the client is stopping";
	call_finish(call, RC_DOWN);
}

void
httpc_free(struct httpc *c)
{
	struct httpc_call *call;

	if (c == NULL)
		return;
	assert(!c->in_curl && !c->pumping);
	c->closing = true;
	while ((call = TAILQ_FIRST(&c->active)) != NULL)
		client_abandon(call);
	while ((call = TAILQ_FIRST(&c->queue)) != NULL)
		client_abandon(call);
	loop_timer_cancel(c->loop, &c->timer);
	if (c->multi != NULL) {
		curl_multi_cleanup(c->multi);
		curl_global_cleanup();
	}
	free(c->proxy);
	free(c->ca_file);
	free(c);
}

/* With the first call: libcurl's and OpenSSL's tables take two MiB. */
static void
client_init_curl(struct httpc *c)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
	    (c->multi = curl_multi_init()) == NULL) {
		log_error("httpc.broken", LOG_S("call", "curl_multi_init"));
		abort();
	}
	curl_multi_setopt(
	    c->multi, CURLMOPT_SOCKETFUNCTION, client_curl_socket);
	curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, (void *)c);
	curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, client_curl_timer);
	curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, (void *)c);
	curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, (long)c->active_max);
}

enum rc
httpc_start(
    struct httpc *c, const struct httpc_request *rq, struct httpc_call **out)
{
	struct httpc_call *call;

	if (c->closing)
		return RC_DOWN;
	if (c->nqueue >= c->queue_max)
		return RC_RETRY;
	if (c->multi == NULL)
		client_init_curl(c);
	enum rc rc = call_new(c, rq, &call);
	if (rc != RC_OK)
		return rc;
	call->state = CALL_QUEUED;
	TAILQ_INSERT_TAIL(&c->queue, call, link);
	c->nqueue++;
	metric_change(c->queue_gauge, 1);
	loop_timer_set(c->loop, &call->timer, call->due, call_on_timer, call);
	if (out != NULL)
		*out = call;
	if (!c->in_curl && !c->pumping)
		client_start_queued(c);
	return RC_OK;
}

void
httpc_cancel(struct httpc_call *call)
{
	struct httpc *c = call->client;

	/* Inside curl the handle must stay valid: its next callback fails, and
	 * client_pump() frees the call. */
	if (c->in_curl && call->state == CALL_ACTIVE) {
		call->state = CALL_DEAD;
		c->ndead++;
		return;
	}
	call_unlink(call);
	call_free(call);
	if (!c->in_curl && !c->pumping)
		client_start_queued(c);
}

int
httpc_status(const struct httpc_call *call)
{
	long status = 0;

	(void)curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	return (int)status;
}

struct str
httpc_header(const struct httpc_call *call, const char *name)
{
	struct curl_header *h;

	if (curl_easy_header(call->easy, name, 0, CURLH_HEADER, -1, &h) !=
	    CURLHE_OK)
		return (struct str){ NULL, 0 };
	return str_of(h->value);
}

struct str
httpc_location(const struct httpc_call *call)
{
	char *url = NULL;

	(void)curl_easy_getinfo(call->easy, CURLINFO_REDIRECT_URL, &url);
	return str_of(url);
}

bool
httpc_was_sent(const struct httpc_call *call)
{
	long bytes = 0;

	(void)curl_easy_getinfo(call->easy, CURLINFO_REQUEST_SIZE, &bytes);
	return bytes > 0;
}

size_t
httpc_active(const struct httpc *c)
{
	return c->nactive;
}

size_t
httpc_queued(const struct httpc *c)
{
	return c->nqueue;
}
