/*
 * JSON calls to an external store.  Error bodies are not logged: they may quote
 * users.
 */
#include "store/store_internal.h"

#include <stdlib.h>

#include "core/buf.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "httpc/httpc.h"

#define URL_MAX   8192
#define KEY_MAX   16384
#define CALLS_MAX 64

struct store_http {
	struct httpc *http;
	const char *peer;
	struct str base; /* on the heap */
	char *header;    /* NULL: none */
	const char *auth;
	struct log_rate log;
};

struct store_http_pending {
	struct store_http *r;
	store_http_fn fn;
	void *arg;
	struct store_http_response response;
};

static const struct {
	const char *name, *header;
} store_http_auths[] = {
	{ "none", NULL },
	{ "x-api-key", "X-API-Key: " },
	{ "bearer", "Authorization: Bearer " },
	{ "token", "Authorization: Token " },
	{ "x-chroma-token", "X-Chroma-Token: " },
};

/* Index of the row of that name, or NELEM(store_http_auths). */
static size_t
store_http_find_auth(const char *name)
{
	size_t i;

	for (i = 0; i < NELEM(store_http_auths); i++)
		if (str_eq(str_of(name), str_of(store_http_auths[i].name)))
			break;
	return i;
}

bool
store_http_auth_valid(const char *name)
{
	return store_http_find_auth(name) < NELEM(store_http_auths);
}

bool
store_http_url_valid(const char *url)
{
	return str_starts(str_of(url), STR("http://")) ||
	    str_starts(str_of(url), STR("https://"));
}

enum rc
store_http_new(const struct store_http_opts *o, struct store_http **out)
{
	struct str base = str_of(o->base_url);
	struct buf header = BUF_INIT(KEY_MAX);
	struct store_http *r;
	size_t i = store_http_find_auth(o->auth);

	if (i == NELEM(store_http_auths) || !store_http_url_valid(o->base_url))
		return RC_INVALID;
	while (str_ends(base, STR("/")))
		base.n--;
	r = mem_zalloc(sizeof(*r));
	r->peer = o->peer;
	r->auth = store_http_auths[i].name;
	r->base = (struct str){ str_dup(base), base.n };
	if (store_http_auths[i].header != NULL && o->key != NULL &&
	    o->key[0] != '\0') {
		buf_puts(&header, store_http_auths[i].header);
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
store_http_free(struct store_http *r)
{
	if (r == NULL)
		return;
	httpc_free(r->http);
	free((void *)(uintptr_t)r->base.p);
	free(r->header);
	free(r);
}

static enum rc
store_http_status_rc(int status)
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
store_http_reply(void *arg)
{
	struct store_http_pending *c = arg;
	struct store_http_response res = c->response;

	c->fn(c->arg, &res);
	free(c);
}

static void
store_http_on_done(void *arg, struct httpc_call *http, enum rc rc,
    const struct httpc_response *answer)
{
	struct store_http_pending *c = arg;
	struct store_http_response res = { .rc = rc };
	int64_t missed;

	(void)http;
	if (rc == RC_OK) {
		res.status = answer->status;
		res.body = answer->body;
		res.rc = store_http_status_rc(answer->status);
	}
	if (res.rc != RC_OK && res.rc != RC_NOENT &&
	    log_every(&c->r->log, 10, &missed))
		log_warn("memory.backend_failed", LOG_S("peer", c->r->peer),
		    LOG_I("status", answer->status), LOG_RC(res.rc),
		    LOG_S("auth", c->r->auth), LOG_I("missed", missed));
	c->response = res;
	fiber_start(store_http_reply, c);
}

void
store_http_call(struct store_http *r, const struct store_http_request *req)
{
	const char *headers[] = { "Accept: application/json", r->header };
	struct buf url = BUF_INIT(URL_MAX);
	struct store_http_pending *c = mem_alloc(sizeof(*c));
	enum rc rc;

	*c = (struct store_http_pending){
		.r = r, .fn = req->fn, .arg = req->arg
	};
	buf_put_str(&url, r->base);
	buf_put_str(&url, req->path);
	rc = buf_rc(&url);
	if (rc == RC_OK)
		rc = httpc_start(r->http,
		    &(struct httpc_request){ .method = req->method,
			.url = url.p,
			.headers = headers,
			.nheaders = r->header != NULL ? 2 : 1,
			.body = req->body,
			.trace = req->trace,
			.deadline = req->deadline,
			.body_max = STORE_HTTP_BODY_MAX,
			.on_done = store_http_on_done,
			.arg = c },
		    NULL);
	buf_free(&url);
	if (rc != RC_OK) {
		free(c);
		req->fn(req->arg, &(struct store_http_response){ .rc = rc });
	}
}
