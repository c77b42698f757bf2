/*
 * The call of a model: the engine's request with the provider's key, and the
 * response as it arrives, without the key, its tokens counted.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "proxy/proxy_internal.h"
#include "svc/svc.h"

#define CALL_HEADERS_MAX 16
#define CALL_LOG_EVERY_S 10

void
proxy_count_status(struct proxy *p, int status)
{
	char labels[32];

	if (status < 100 || status >= (int)NELEM(p->by_status))
		status = 502;
	if (p->by_status[status] == NULL) {
		snprintf(labels, sizeof(labels), "status=\"%d\"", status);
		p->by_status[status] = metric_counter(svc_metrics(p->svc),
		    "soul_model_proxy_requests_total",
		    "Requests of engines to models, by status.", labels);
	}
	metric_add(p->by_status[status], 1);
}

/* ---- tokens ---- */

/* The call has ended; sent: the provider may have worked on it. */
static void
call_count(struct proxy_client *c, bool sent)
{
	struct proxy *p = c->p;
	struct tokens t = { 0 };
	struct metric *const *m = c->engine->tokens;

	if (c->status == 200 || (c->status == 0 && sent))
		token_count_end(&c->count, c->body_n, &t);
	if (t.estimated) {
		metric_add(m[PROXY_TOKENS_ESTIMATED], t.input + t.output);
	} else {
		metric_add(m[PROXY_TOKENS_INPUT], t.input);
		metric_add(m[PROXY_TOKENS_OUTPUT], t.output);
		metric_add(m[PROXY_TOKENS_CACHED], t.cached);
		metric_add(m[PROXY_TOKENS_REASONING], t.reasoning);
	}
	run_budget_end(c->run, t.input + t.output);
	c->run = NULL;
	p->bodies -= c->body_n;
	svc_release(p->svc);
}

void
proxy_call_stop(struct proxy_client *c)
{
	httpc_cancel(c->call);
	c->call = NULL;
	proxy_count_status(c->p, c->status != 0 ? c->status : 499);
	call_count(c, true);
}

/* ---- the response ---- */

static void
call_put_header(
    struct proxy_client *c, const char *name, struct httpc_call *call)
{
	struct str value = httpc_header(call, name);
	struct str key = { c->filter.key, c->filter.n };

	if (value.n > 0 && (key.n == 0 || str_find(value, key) < 0) &&
	    memchr(value.p, '\n', value.n) == NULL &&
	    memchr(value.p, '\r', value.n) == NULL)
		buf_printf(&c->out, "%s: %.*s\r\n", name, STR_ARG(value));
}

static void
call_put_head(struct proxy_client *c, struct httpc_call *call)
{
	size_t i;

	buf_printf(&c->out, "HTTP/1.1 %d Model\r\n", c->status);
	for (i = 0; provider_api_response_header(i) != NULL; i++)
		call_put_header(c, provider_api_response_header(i), call);
	buf_printf(&c->out, "%sConnection: close\r\n\r\n",
	    c->chunked ? "Transfer-Encoding: chunked\r\n" : "");
	c->head_sent = true;
}

static void
call_begin_response(struct proxy_client *c, struct httpc_call *call)
{
	struct str type = httpc_header(call, "Content-Type");

	c->status = httpc_status(call);
	token_count_init(&c->count, str_starts(type, STR("text/event-stream")));
	call_put_head(c, call);
}

static void
call_put_chunk(struct proxy_client *c, struct str bytes)
{
	if (bytes.n == 0)
		return;
	if (c->chunked)
		buf_printf(&c->out, "%zx\r\n", bytes.n);
	buf_put_str(&c->out, bytes);
	if (c->chunked)
		buf_puts(&c->out, "\r\n");
}

/* The key would not be found in it, nor the tokens; none was requested. */
static bool
call_is_encoded(struct httpc_call *call)
{
	struct str encoding = httpc_header(call, "Content-Encoding");

	return encoding.n > 0 && !str_eq_nocase(encoding, STR("identity"));
}

static enum rc
call_on_chunk(void *arg, struct httpc_call *call, struct str chunk)
{
	struct proxy_client *c = arg;
	struct buf clean = BUF_INIT(PROXY_QUEUE_MAX);
	enum rc rc;

	if (!c->head_sent && call_is_encoded(call)) {
		buf_free(&clean);
		return RC_INVALID;
	}
	if (!c->head_sent)
		call_begin_response(c, call);
	token_count_feed(&c->count, chunk);
	key_filter_feed(&c->filter, chunk, &clean);
	call_put_chunk(c, buf_str(&clean));
	rc = buf_rc(&clean) != RC_OK ? RC_TOOBIG : buf_rc(&c->out);
	buf_free(&clean);
	/* It may end and free c, which cancels this call. */
	if (rc == RC_OK)
		(void)proxy_client_flush(c);
	return rc;
}

static void
call_end_response(struct proxy_client *c, struct httpc_call *call)
{
	struct buf rest = BUF_INIT(KEY_FILTER_MAX);

	if (!c->head_sent)
		call_begin_response(c, call);
	key_filter_end(&c->filter, &rest);
	call_put_chunk(c, buf_str(&rest));
	buf_free(&rest);
	if (c->chunked)
		buf_puts(&c->out, "0\r\n\r\n");
	c->truncated = buf_rc(&c->out) != RC_OK;
	proxy_client_end(c);
}

static void
call_fail(struct proxy_client *c, enum rc rc)
{
	if (c->head_sent) {
		/* The engine notices that the response is incomplete. */
		c->truncated = true;
		proxy_client_end(c);
	} else if (rc == RC_TIMEOUT) {
		proxy_client_fail(c, 504, "the model has not responded");
	} else {
		proxy_client_fail(c, 502, "the model cannot be reached");
	}
}

static void
call_on_done(void *arg, struct httpc_call *call, enum rc rc,
    const struct httpc_response *r)
{
	static struct log_rate rate;
	struct proxy_client *c = arg;
	int64_t missed;

	c->call = NULL;
	if (rc == RC_OK && !c->head_sent)
		call_begin_response(c, call);
	if (c->status != 0)
		proxy_count_status(c->p, c->status);
	call_count(c, rc == RC_TIMEOUT);
	if (rc == RC_OK) {
		call_end_response(c, call);
		return;
	}
	if (log_every(&rate, CALL_LOG_EVERY_S, &missed))
		log_warn("proxy.call_failed", LOG_S("engine", c->engine->name),
		    LOG_RC(rc), LOG_S("why", r->why), LOG_I("missed", missed));
	call_fail(c, rc);
}

/* ---- the request ---- */

struct call_headers {
	struct buf text; /* each with a NUL */
	size_t at[CALL_HEADERS_MAX];
	size_t n;
};

static void
call_add_header(struct call_headers *h, struct str name, struct str value)
{
	if (h->n == CALL_HEADERS_MAX)
		return;
	h->at[h->n++] = h->text.n;
	buf_put_str(&h->text, name);
	buf_puts(&h->text, ": ");
	buf_put_str(&h->text, value);
	buf_putc(&h->text, '\0');
}

static void
call_copy_headers(struct proxy_client *c, struct call_headers *out)
{
	const char *why = NULL;
	struct http_head h;
	size_t i;

	/* It was read before, when c->in was elsewhere. */
	if (http_head_read(buf_str(&c->in), &h, &c->head_n, &why) != RC_OK)
		abort();
	for (i = 0; i < h.n; i++) {
		if (provider_api_passes_request(h.field[i].name) &&
		    h.field[i].value.n > 0)
			call_add_header(out, h.field[i].name, h.field[i].value);
	}
}

static enum rc
call_send(struct proxy_client *c, const struct call_headers *h)
{
	const struct proxy_conf *conf = c->p->conf;
	const char *lines[CALL_HEADERS_MAX];
	struct buf url = BUF_INIT(HTTP_HEAD_MAX);
	struct httpc_request rq = { .headers = lines,
		.method = c->body_n > 0 ? "POST" : "GET",
		.nheaders = h->n,
		.body = { c->in.p + c->head_n, c->body_n },
		.deadline = { clock_wall().ms + conf->call_max_s * 1000 },
		.first_byte_ms = conf->first_byte_ms,
		.idle_ms = conf->idle_ms,
		.body_max = (size_t)conf->response_max,
		.on_chunk = call_on_chunk,
		.on_done = call_on_done,
		.arg = c };
	enum rc rc;
	size_t i;

	for (i = 0; i < h->n; i++)
		lines[i] = h->text.p + h->at[i];
	buf_puts(&url, c->engine->base_url);
	buf_put_str(&url, buf_str(&c->target));
	rq.url = url.p;
	rc = buf_rc(&url) != RC_OK || buf_rc(&h->text) != RC_OK
	    ? RC_TOOBIG
	    : httpc_start(c->p->httpc, &rq, &c->call);
	buf_free(&url);
	return rc;
}

void
proxy_call_start(struct proxy_client *c)
{
	struct call_headers headers = { .text = BUF_INIT(2 * HTTP_HEAD_MAX) };
	struct buf key = BUF_INIT(KEY_FILTER_MAX), line = BUF_INIT(8192);
	enum rc rc = proxy_engine_key(c->engine, &key);
	bool has_key = rc == RC_OK;

	if (!has_key) {
		log_error("proxy.no_key", LOG_S("engine", c->engine->name),
		    LOG_S("file", c->engine->key_file));
	} else {
		key_filter_init(&c->filter, buf_str(&key));
		if (key.n > 0) {
			provider_api_key_header(
			    c->engine->api, buf_str(&key), &line);
			headers.at[headers.n++] = 0;
			buf_put_str(&headers.text, buf_str(&line));
			buf_putc(&headers.text, '\0');
		}
		call_copy_headers(c, &headers);
		rc = call_send(c, &headers);
		/* curl has a copy. */
		buf_free(&c->in);
	}
	if (line.p != NULL)
		explicit_bzero(line.p, line.n);
	if (key.p != NULL)
		explicit_bzero(key.p, key.n);
	if (headers.text.p != NULL)
		explicit_bzero(headers.text.p, headers.text.n);
	buf_free(&line);
	buf_free(&key);
	buf_free(&headers.text);
	if (rc == RC_OK)
		return;
	call_count(c, false);
	/* As the provider's own response would be: engines do not retry it. */
	if (!has_key)
		proxy_client_fail(
		    c, 401, "the provider's API key is missing on the server");
	else
		proxy_client_fail(c, 503, "the model cannot be called now");
}
