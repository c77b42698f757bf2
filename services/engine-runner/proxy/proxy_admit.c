/*
 * Whether a request is one that its run may make.
 */
#include "core/log.h"
#include "proxy/proxy_internal.h"
#include "svc/svc.h"

#define ADMIT_LOG_EVERY_S 10

static bool
admit_reject(struct proxy_client *c, int status, const char *text)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, ADMIT_LOG_EVERY_S, &missed))
		log_warn("proxy.rejected", LOG_I("status", status),
		    LOG_S("why", text), LOG_I("missed", missed));
	proxy_client_fail(c, status, text);
	return false;
}

/* Its run, its engine, what it wants of the provider. */
static bool
admit_target(
    struct proxy_client *c, const struct http_head *h, struct proxy_grant *g)
{
	struct str rest;

	if (proxy_path_read(c->p->secret, h->target, g, &rest) != RC_OK)
		return admit_reject(c, 403, "this is not the URL of a run");
	c->engine =
	    proxy_engines_find(&c->p->engines, proxy_path_engine(g->run));
	if (c->engine == NULL)
		return admit_reject(c, 403, "the run's engine has no provider");
	if (provider_api_target(c->engine->api, h->method, rest, &c->target) !=
	    RC_OK)
		return admit_reject(
		    c, 403, "engines may only call models at this URL");
	return true;
}

/* The length of its body, which is reserved by the caller. */
static bool
admit_length(struct proxy_client *c, const struct http_head *h)
{
	struct str length = header_find(h->field, h->n, STR("Content-Length"));
	int64_t n = 0;

	if (header_count(h->field, h->n, STR("Transfer-Encoding")) > 0)
		return admit_reject(c, 411, "a Content-Length is required");
	if (header_count(h->field, h->n, STR("Content-Length")) > 1)
		return admit_reject(c, 400, "two Content-Lengths");
	if (length.p == NULL && !str_eq(h->method, STR("GET")))
		return admit_reject(c, 411, "a Content-Length is required");
	if (length.p != NULL && str_to_i64(length, 0, INT64_MAX, &n) != RC_OK)
		return admit_reject(c, 400, "the Content-Length is no number");
	if (n > c->p->conf->request_max)
		return admit_reject(c, 413, "the request is too large");
	if (c->p->bodies + (size_t)n > PROXY_BODIES_MAX)
		return admit_reject(c, 503, "too many large requests");
	c->body_n = (size_t)n;
	return true;
}

static bool
admit_budget(struct proxy_client *c, const struct proxy_grant *g)
{
	switch (run_budget_begin(c->p->budgets, g, &c->run)) {
	case RC_OK:
		return true;
	case RC_TOOBIG:
		/* Engines retry a 429 for minutes. */
		return admit_reject(c, 403, PROXY_BUDGET_TEXT);
	case RC_RETRY:
		return admit_reject(c, 429, "too many concurrent requests");
	default:
		return admit_reject(
		    c, 403, "this URL is of an earlier attempt");
	}
}

bool
proxy_admit(struct proxy_client *c, const struct http_head *h)
{
	struct proxy_grant g;

	if (!admit_target(c, h, &g) || !admit_length(c, h) ||
	    !admit_budget(c, &g))
		return false;
	c->p->bodies += c->body_n;
	svc_hold(c->p->svc);
	c->in.max = c->head_n + c->body_n + HTTP_HEAD_MAX + PROXY_READ_BYTES;
	if (str_eq_nocase(header_find(h->field, h->n, STR("Expect")),
		STR("100-continue")))
		buf_puts(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
	c->chunked = h->http11;
	return true;
}
