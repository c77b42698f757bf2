/*
 * What a server says of an error may quote a user's words: it is not logged.
 */
#include "rest.h"

#include <stdlib.h>

#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "httpc/httpc.h"

#define URL_MAX   8192
#define KEY_MAX   16384
#define CALLS_MAX 64

struct rest {
	struct httpc *http;
	const char *peer;
	struct str base; /* on the heap */
	char *header;    /* NULL: none */
	const char *auth;
	struct log_rate log;
};

struct call {
	struct rest *r;
	rest_fn fn;
	void *arg;
};

static const struct {
	const char *name, *header;
} auths[] = {
	{ "none", NULL },
	{ "x-api-key", "X-API-Key: " },
	{ "bearer", "Authorization: Bearer " },
	{ "token", "Authorization: Token " },
	{ "x-chroma-token", "X-Chroma-Token: " },
};

/* The row of that name, or NELEM(auths). */
static size_t
auth_of(const char *name)
{
	size_t i;

	for (i = 0; i < NELEM(auths); i++)
		if (str_eq(str_of(name), str_of(auths[i].name)))
			break;
	return i;
}

bool
rest_auth_ok(const char *name)
{
	return auth_of(name) < NELEM(auths);
}

bool
rest_base_ok(const char *url)
{
	return str_starts(str_of(url), STR("http://")) ||
	    str_starts(str_of(url), STR("https://"));
}

enum rc
rest_new(const struct rest_opts *o, struct rest **out)
{
	struct str base = str_of(o->base_url);
	struct buf header = BUF_INIT(KEY_MAX);
	struct rest *r;
	size_t i = auth_of(o->auth);

	if (i == NELEM(auths) || !rest_base_ok(o->base_url))
		return RC_INVALID;
	while (str_ends(base, STR("/")))
		base.n--;
	r = mem_zalloc(sizeof(*r));
	r->peer = o->peer;
	r->auth = auths[i].name;
	r->base = (struct str){ str_dup(base), base.n };
	if (auths[i].header != NULL && o->key != NULL && o->key[0] != '\0') {
		buf_puts(&header, auths[i].header);
		buf_puts(&header, o->key);
		r->header = str_dup(buf_str(&header));
		buf_free(&header);
	}
	r->http = httpc_new(&(struct httpc_opts){ .loop = o->loop,
	    .peer = o->peer,
	    .active_max = CALLS_MAX,
	    .metrics = o->metrics });
	*out = r;
	return RC_OK;
}

void
rest_free(struct rest *r)
{
	if (r == NULL)
		return;
	httpc_free(r->http);
	free((void *)(uintptr_t)r->base.p);
	free(r->header);
	free(r);
}

static enum rc
rc_of(int status)
{
	switch (status) {
	case 401:
	case 403:
		return RC_DENIED;
	case 404:
		return RC_NOENT;
	case 408:
	case 504:
		return RC_TIMEOUT;
	case 409:
	case 429:
		return RC_RETRY;
	case 413:
		return RC_TOOBIG;
	case 500:
		return RC_BUG;
	case 502:
	case 503:
		return RC_DOWN;
	default:
		return status >= 200 && status <= 299 ? RC_OK : RC_INVALID;
	}
}

static void
on_done(void *arg, struct httpc_call *http, enum rc rc,
    const struct httpc_response *answer)
{
	struct call *c = arg;
	struct rest_result res = { .rc = rc };
	int64_t missed;

	(void)http;
	if (rc == RC_OK) {
		res.status = answer->status;
		res.body = answer->body;
		res.rc = rc_of(answer->status);
	}
	if (res.rc != RC_OK && res.rc != RC_NOENT &&
	    log_every(&c->r->log, 10, &missed))
		log_warn("memory.backend_failed", LOG_S("peer", c->r->peer),
		    LOG_I("status", answer->status), LOG_RC(res.rc),
		    LOG_S("auth", c->r->auth), LOG_I("missed", missed));
	c->fn(c->arg, &res);
	free(c);
}

void
rest_call(struct rest *r, const struct rest_ask *ask)
{
	const char *headers[] = { "Accept: application/json", r->header };
	struct buf url = BUF_INIT(URL_MAX);
	struct call *c = mem_alloc(sizeof(*c));
	enum rc rc;

	*c = (struct call){ r, ask->fn, ask->arg };
	buf_put_str(&url, r->base);
	buf_put_str(&url, ask->path);
	rc = buf_rc(&url);
	if (rc == RC_OK)
		rc = httpc_start(r->http,
		    &(struct httpc_request){ .method = ask->method,
			.url = url.p,
			.headers = headers,
			.nheaders = r->header != NULL ? 2 : 1,
			.body = ask->body,
			.trace = ask->trace,
			.deadline = ask->deadline,
			.body_max = REST_BODY_MAX,
			.on_done = on_done,
			.arg = c },
		    NULL);
	buf_free(&url);
	if (rc != RC_OK) {
		free(c);
		ask->fn(ask->arg, &(struct rest_result){ .rc = rc });
	}
}
