/*
 * One transfer: how curl is set up for it, and what it hands back.
 */
#include "httpc/call.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/mem.h"

_Static_assert(CALL_WHY_MAX >= CURL_ERROR_SIZE, "curl writes this much");

/* curl checks the types of variadic arguments only when it is called so. */
#define SET(easy, option, value)                                             \
	do {                                                                 \
		if (curl_easy_setopt((easy), (option), (value)) != CURLE_OK) \
			return RC_INVALID;                                   \
	} while (0)

/* Whether s may stand in a request's head. */
static bool
one_line(const char *s)
{
	return s != NULL && s[0] != '\0' && strpbrk(s, "\r\n") == NULL;
}

/* A token of RFC 9110 as methods use it. */
static bool
is_method(const char *s)
{
	return s != NULL && s[0] != '\0' &&
	    strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == strlen(s);
}

static bool
is_http_url(const char *url)
{
	CURLU *u = curl_url();
	char *scheme = NULL;
	bool ok;

	ok = u != NULL && one_line(url) &&
	    curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
	    curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
	    (strcasecmp(scheme, "http") == 0 ||
		strcasecmp(scheme, "https") == 0);
	curl_free(scheme);
	curl_url_cleanup(u);
	return ok;
}

/* Note why the transfer ends; the return value makes curl end it. */
static size_t
end_with(struct httpc_call *call, enum rc rc, const char *why)
{
	call->stop = rc;
	call->stop_why = why;
	return CURL_WRITEFUNC_ERROR;
}

/* Note that a byte came.  After the first one another time-out applies. */
static void
hear(struct httpc_call *call)
{
	bool first = call->heard.ns == 0;
	const char *why;

	call->heard = clock_mono();
	if (first)
		loop_timer_set(call->client->loop, &call->timer,
		    call_next(call, &why), call_on_timer, call);
}

static size_t
on_head(char *p, size_t size, size_t n, void *arg)
{
	struct httpc_call *call = arg;
	struct str line = { p, size * n };

	if (call->state == CALL_DEAD)
		return CURL_WRITEFUNC_ERROR;
	hear(call);
	call->head_n += line.n;
	if (call->head_n > HTTPC_HEAD_MAX)
		return end_with(call, RC_TOOBIG, "the header is too large");
	if (str_starts(line, STR("HTTP/")))
		call->head_ended = false;
	else if (line.p[0] == '\r' || line.p[0] == '\n')
		call->head_ended = true;
	return line.n;
}

static size_t
on_body(char *p, size_t size, size_t n, void *arg)
{
	struct httpc_call *call = arg;
	struct str chunk = { p, size * n };

	if (call->state == CALL_DEAD)
		return CURL_WRITEFUNC_ERROR;
	hear(call);
	call->body_n += chunk.n;
	if (call->body_n > call->body_max)
		return end_with(call, RC_TOOBIG, "the body is too large");
	if (call->on_chunk == NULL) {
		buf_put_str(&call->body, chunk);
		return chunk.n;
	}
	enum rc rc = call->on_chunk(call->arg, call, chunk);
	if (call->state == CALL_DEAD)
		return CURL_WRITEFUNC_ERROR;
	if (rc != RC_OK)
		return end_with(call, rc, "ended by its reader");
	return chunk.n;
}

/* False if a field would break the request's head. */
static bool
add_header(struct httpc_call *call, const char *line)
{
	struct curl_slist *list = curl_slist_append(call->headers, line);

	if (list == NULL || !one_line(line))
		return false;
	call->headers = list;
	return true;
}

static bool
names_header(const struct httpc_request *rq, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < rq->nheaders; i++)
		if (strncasecmp(rq->headers[i], name, n) == 0 &&
		    rq->headers[i][n] == ':')
			return true;
	return false;
}

static enum rc
set_headers(struct httpc_call *call, const struct httpc_request *rq)
{
	char line[sizeof("traceparent: ") + TRACE_PARENT_MAX];
	char parent[TRACE_PARENT_MAX];

	for (size_t i = 0; i < rq->nheaders; i++)
		if (!one_line(rq->headers[i]) ||
		    strchr(rq->headers[i], ':') == NULL ||
		    !add_header(call, rq->headers[i]))
			return RC_INVALID;
	if (rq->body.n > 0 && !names_header(rq, "Content-Type") &&
	    !add_header(call, "Content-Type: application/json"))
		return RC_INVALID;
	/* Without this curl waits a second for "100 Continue". */
	if (!add_header(call, "Expect:"))
		return RC_INVALID;
	if (rq->trace != NULL) {
		trace_format(rq->trace, parent);
		snprintf(line, sizeof(line), "traceparent: %s", parent);
		if (!add_header(call, line))
			return RC_INVALID;
	}
	SET(call->easy, CURLOPT_HTTPHEADER, (struct curl_slist *)call->headers);
	return RC_OK;
}

static enum rc
set_method(struct httpc_call *call, const struct httpc_request *rq)
{
	CURL *e = call->easy;

	/* A custom request would keep its method over a redirect that changes
	 * it, so the two common ones are curl's own. */
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
set_limits(struct httpc_call *call, const struct httpc_request *rq)
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
	/* A call that ends while its name is being resolved would otherwise
	 * wait for the resolver, on the loop. */
	SET(e, CURLOPT_QUICK_EXIT, 1L);
	SET(e, CURLOPT_TCP_KEEPALIVE, 1L);
	SET(e, CURLOPT_PROXY,
	    call->client->proxy != NULL ? call->client->proxy : "");
	if (call->client->ca_file != NULL)
		SET(e, CURLOPT_CAINFO, call->client->ca_file);
	return RC_OK;
}

static enum rc
set_up(struct httpc_call *call, const struct httpc_request *rq)
{
	CURL *e = call->easy;
	enum rc rc;

	if (!is_http_url(rq->url) || !is_method(rq->method))
		return RC_INVALID;
	SET(e, CURLOPT_URL, rq->url);
	SET(e, CURLOPT_USERAGENT, "soul");
	SET(e, CURLOPT_PRIVATE, (void *)call);
	SET(e, CURLOPT_ERRORBUFFER, call->why);
	SET(e, CURLOPT_HEADERFUNCTION, on_head);
	SET(e, CURLOPT_HEADERDATA, (void *)call);
	SET(e, CURLOPT_WRITEFUNCTION, on_body);
	SET(e, CURLOPT_WRITEDATA, (void *)call);
	rc = set_method(call, rq);
	if (rc == RC_OK)
		rc = set_limits(call, rq);
	if (rc == RC_OK)
		rc = set_headers(call, rq);
	return rc;
}

enum rc
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
	enum rc rc = call->easy != NULL ? set_up(call, rq) : RC_BUG;
	if (rc != RC_OK) {
		call_free(call);
		return rc;
	}
	*out = call;
	return RC_OK;
}

void
call_free(struct httpc_call *call)
{
	curl_easy_cleanup(call->easy);
	curl_slist_free_all(call->headers);
	buf_free(&call->body);
	free(call);
}

enum rc
call_rc(struct httpc_call *call, int code)
{
	if (call->stop != RC_OK)
		return call->stop;
	if (call->why[0] == '\0')
		str_copy(str_of(curl_easy_strerror((CURLcode)code)), call->why,
		    sizeof(call->why));
	switch ((CURLcode)code) {
	case CURLE_OK:
		/* curl takes a header that is cut for a whole one. */
		if (call->head_ended)
			return RC_OK;
		call->stop_why = "the answer was cut in its header";
		return RC_DOWN;
	case CURLE_FILESIZE_EXCEEDED:
		return RC_TOOBIG;
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_URL_MALFORMAT:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_TOO_MANY_REDIRECTS:
	case CURLE_BAD_CONTENT_ENCODING:
		return RC_INVALID;
	default:
		/* Names, connections, TLS, cuts; a time-out of curl's own is
		 * that of the connection. */
		return RC_DOWN;
	}
}

const char *
call_why(const struct httpc_call *call)
{
	return call->stop_why != NULL ? call->stop_why : call->why;
}

struct mono
call_next(const struct httpc_call *call, const char **why)
{
	struct mono at = call->due, other = { 0 };

	*why = "the deadline has passed";
	if (call->state == CALL_QUEUED)
		return at;
	if (call->heard.ns == 0 && call->first_byte_ms > 0)
		other = mono_add_ms(call->start, call->first_byte_ms);
	else if (call->heard.ns != 0 && call->idle_ms > 0)
		other = mono_add_ms(call->heard, call->idle_ms);
	if (other.ns == 0 || other.ns >= at.ns)
		return at;
	*why = call->heard.ns == 0 ? "no answer began in time"
				   : "the answer went silent";
	return other;
}
