/*
 * curl's multi interface on the loop.  curl must not be called from inside its
 * own callbacks, and ours may ask for anything: what they ask for is noted, and
 * done by pump() when curl has returned.
 */
#include "httpc/httpc.h"

#include <assert.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/log.h"
#include "core/mem.h"
#include "httpc/call.h"

#define ACTIVE_MAX 256
#define QUEUE_MAX  1024

struct watched {
	struct httpc *c;
	struct loop_fd w;
};

static void pump(struct httpc *c);

/* Give curl the turn for one descriptor, or for its timers. */
static void
act(struct httpc *c, curl_socket_t fd, int what)
{
	int running;

	c->in_curl = true;
	(void)curl_multi_socket_action(c->multi, fd, what, &running);
	c->in_curl = false;
	pump(c);
}

static void
on_fd(void *arg, unsigned events)
{
	struct watched *w = arg;
	int what = 0;

	if ((events & LOOP_READ) != 0)
		what |= CURL_CSELECT_IN;
	if ((events & LOOP_WRITE) != 0)
		what |= CURL_CSELECT_OUT;
	/* w may be gone when this returns. */
	act(w->c, w->w.fd, what);
}

static void
on_timer(void *arg)
{
	act(arg, CURL_SOCKET_TIMEOUT, 0);
}

/* curl: watch this descriptor so. */
static int
want_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *mine)
{
	struct httpc *c = arg;
	struct watched *w = mine;
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
		w->w = (struct loop_fd){ .fd = fd, .fn = on_fd, .arg = w };
		(void)curl_multi_assign(c->multi, fd, w);
	}
	if (what == CURL_POLL_IN || what == CURL_POLL_INOUT)
		events |= LOOP_READ;
	if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
		events |= LOOP_WRITE;
	loop_fd_watch(c->loop, &w->w, events);
	return 0;
}

/* curl: call me after ms, or not at all. */
static int
want_timer(CURLM *multi, long ms, void *arg)
{
	struct httpc *c = arg;

	(void)multi;
	if (ms < 0)
		loop_timer_cancel(c->loop, &c->timer);
	else
		loop_timer_set(c->loop, &c->timer,
		    mono_add_ms(clock_mono(), ms), on_timer, c);
	return 0;
}

static void
unlink_call(struct httpc_call *call)
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

/* Seconds or a date; the header some providers add says it finer. */
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

/* The end of a call, once it is in no list and no part of curl's any more. */
static void
finish(struct httpc_call *call, enum rc rc)
{
	struct httpc *c = call->client;
	int64_t ns = mono_diff_ns(clock_mono(), call->start);

	unlink_call(call);
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

/* Let curl have the next call of the queue. */
static void
begin(struct httpc *c)
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
		/* Not here: this may run inside httpc_start(). */
		call->stop = RC_BUG;
		call->stop_why = "curl refused it";
		loop_timer_set(
		    c->loop, &call->timer, clock_mono(), call_on_timer, call);
	}
}

static void
start_queued(struct httpc *c)
{
	while (c->nqueue > 0 && c->nactive < c->active_max && !c->closing)
		begin(c);
}

/* Take from curl what was cancelled while curl could not be called. */
static void
bury(struct httpc *c)
{
	struct httpc_call *call, *next;

	for (call = TAILQ_FIRST(&c->active); c->ndead > 0; call = next) {
		next = TAILQ_NEXT(call, link);
		if (call->state == CALL_DEAD)
			finish(call, RC_OK);
	}
}

/* End what has ended and start what may start, until there is neither. */
static void
pump(struct httpc *c)
{
	struct CURLMsg *m;
	int left;

	if (c->in_curl || c->pumping)
		return;
	c->pumping = true;
	bury(c);
	while ((m = curl_multi_info_read(c->multi, &left)) != NULL) {
		struct httpc_call *call = NULL;
		int code = (int)m->data.result;
		if (m->msg != CURLMSG_DONE)
			continue;
		(void)curl_easy_getinfo(
		    m->easy_handle, CURLINFO_PRIVATE, &call);
		finish(call, call_rc(call, code));
	}
	start_queued(c);
	c->pumping = false;
}

void
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
	finish(call, call->stop);
	c->pumping = false;
	pump(c);
}

static void
make_metrics(struct httpc *c, const struct httpc_opts *o)
{
	const char *peer = o->peer != NULL ? o->peer : "";
	char labels[128];

	for (unsigned i = 0; i < RC_N; i++) {
		snprintf(labels, sizeof(labels), "peer=\"%s\",result=\"%s\"",
		    peer, rc_name((enum rc)i));
		c->by_rc[i] = metric_counter(o->metrics,
		    "soul_httpc_calls_total",
		    "HTTP calls to others that have ended, by result.", labels);
	}
	snprintf(labels, sizeof(labels), "peer=\"%s\"", peer);
	c->seconds =
	    metric_histogram(o->metrics, "soul_httpc_call_duration_seconds",
		"From the start of a call to its end.", labels);
	c->active_gauge = metric_gauge(
	    o->metrics, "soul_httpc_active", "HTTP calls under way.", labels);
	c->queue_gauge = metric_gauge(o->metrics, "soul_httpc_waiting",
	    "HTTP calls that wait for their turn.", labels);
}

static char *
copy_of(const char *s)
{
	return s != NULL && s[0] != '\0' ? mem_strdup(s) : NULL;
}

struct httpc *
httpc_new(const struct httpc_opts *o)
{
	struct httpc *c = mem_zalloc(sizeof(*c));

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
	    (c->multi = curl_multi_init()) == NULL) {
		log_error("httpc.broken", LOG_S("call", "curl_multi_init"));
		abort();
	}
	c->loop = o->loop;
	c->active_max = o->active_max > 0 ? o->active_max : ACTIVE_MAX;
	c->queue_max = o->queue_max > 0 ? o->queue_max : QUEUE_MAX;
	c->proxy = copy_of(o->proxy);
	c->ca_file = copy_of(o->ca_file);
	TAILQ_INIT(&c->queue);
	TAILQ_INIT(&c->active);
	make_metrics(c, o);
	curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
	curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, (void *)c);
	curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, want_timer);
	curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, (void *)c);
	curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, (long)c->active_max);
	return c;
}

static void
abandon(struct httpc_call *call)
{
	call->stop_why = "the client stops";
	finish(call, RC_DOWN);
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
		abandon(call);
	while ((call = TAILQ_FIRST(&c->queue)) != NULL)
		abandon(call);
	curl_multi_cleanup(c->multi);
	loop_timer_cancel(c->loop, &c->timer);
	curl_global_cleanup();
	free(c->proxy);
	free(c->ca_file);
	free(c);
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
		start_queued(c);
	return RC_OK;
}

void
httpc_cancel(struct httpc_call *call)
{
	struct httpc *c = call->client;

	/* Inside curl its handle must stay: its next callback fails, and pump()
	 * finds it ended. */
	if (c->in_curl && call->state == CALL_ACTIVE) {
		call->state = CALL_DEAD;
		c->ndead++;
		return;
	}
	unlink_call(call);
	call_free(call);
	if (!c->in_curl && !c->pumping)
		start_queued(c);
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
