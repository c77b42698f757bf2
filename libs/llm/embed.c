/*
 * embed: one request, one response; vectors are ordered by their indexes.
 */
#include "llm/embed.h"

#include <stdlib.h>

#include "core/log.h"
#include "core/mem.h"
#include "httpc/httpc.h"
#include "llm/llm_internal.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* ---- the response: vectors with an index or in order ---- */

static void
embed_reject(struct embed_result *r, const char *why)
{
	r->rc = RC_INVALID;
	r->error = str_of(why);
}

/* The vectors in the order of the texts. */
static void
embed_sort(struct embed_result *r,
    const struct wire_llm_embeddings_response *rep, const double **vectors,
    size_t n)
{
	size_t i, at;

	if (rep->n_data != n) {
		embed_reject(r, "as many vectors as texts were expected");
		return;
	}
	for (i = 0; i < n; i++) {
		at = rep->data[i].has_index ? (size_t)rep->data[i].index : i;
		if (at >= n || vectors[at] != NULL) {
			embed_reject(r, "an index is wrong");
			return;
		}
		if (rep->data[i].n_embedding == 0 ||
		    rep->data[i].n_embedding != rep->data[0].n_embedding) {
			embed_reject(r, "the vectors are not of one length");
			return;
		}
		vectors[at] = rep->data[i].embedding;
	}
	r->vectors = vectors;
	r->n = n;
	r->dimensions = rep->data[0].n_embedding;
}

void
embed_read_response(enum rc rc, const struct httpc_response *http,
    struct arena *a, const double **vectors, size_t n, struct embed_result *r)
{
	struct wire_llm_embeddings_response rep;
	struct provider_error f;

	r->rc = rc;
	if (rc != RC_OK) {
		r->error = str_of(http->why);
	} else if (http->status < 200 || http->status > 299) {
		provider_error_read(http->body, http->status, a, &f);
		r->rc = provider_error_rc(http->status, &f);
		r->error = f.text;
	} else {
		r->rc = wire_decode(&wire_llm_embeddings_response_desc,
		    http->body, a, &rep, NULL);
		if (r->rc == RC_OK)
			embed_sort(r, &rep, vectors, n);
		else
			r->error = STR("the response cannot be decoded");
	}
}

#define URL_MAX     2048
#define KEY_MAX     16384
#define REQUEST_MAX WIRE_MESSAGE_MAX

struct embed {
	struct httpc *http;
	char *url, *model;
	char *authorization; /* a header line, or NULL */
	int64_t dimensions;
	struct mono rest; /* calls fail until then; {0}: none */
};

struct embed_call {
	struct embed *e;
	size_t n;
	embed_fn fn;
	void *arg;
};

static char *
embed_join(const char *before, struct str s, const char *after, size_t max)
{
	struct buf b = BUF_INIT(max);
	char *out = NULL;

	buf_puts(&b, before);
	buf_put_str(&b, s);
	buf_puts(&b, after);
	if (buf_rc(&b) == RC_OK)
		out = str_dup(buf_str(&b));
	buf_free(&b);
	return out;
}

const char *
embed_opts_error(const struct embed_opts *o)
{
	struct str base = str_of(o->base_url);

	if (!str_starts(base, STR("http://")) &&
	    !str_starts(base, STR("https://")))
		return "EMBEDDINGS_BASE_URL: it must begin with http:// or "
		       "https://";
	if (base.n + sizeof("/embeddings") > URL_MAX)
		return "EMBEDDINGS_BASE_URL: it is too long";
	if (o->model == NULL || o->model[0] == '\0')
		return "EMBEDDINGS_MODEL: it must be the name of a model";
	return NULL;
}

enum rc
embed_new(const struct embed_opts *o, struct embed **out)
{
	struct str base = str_of(o->base_url), key = str_of(o->api_key);
	struct embed *e;
	char *url;

	if (embed_opts_error(o) != NULL)
		return RC_INVALID;
	if (str_ends(base, STR("/")))
		base.n--;
	url = embed_join("", base, "/embeddings", URL_MAX);
	if (url == NULL)
		return RC_INVALID;
	e = mem_zalloc(sizeof(*e));
	e->url = url;
	e->model = mem_strdup(o->model);
	e->dimensions = o->dimensions;
	if (key.n > 0)
		e->authorization =
		    embed_join("Authorization: Bearer ", key, "", KEY_MAX);
	e->http = httpc_new(&(struct httpc_opts){ .loop = o->loop,
	    .peer = "embeddings",
	    .active_max = o->active_max,
	    .metrics = o->metrics });
	*out = e;
	return RC_OK;
}

void
embed_free(struct embed *e)
{
	if (e == NULL)
		return;
	httpc_free(e->http);
	free(e->url);
	free(e->model);
	free(e->authorization);
	free(e);
}

const char *
embed_model(const struct embed *e)
{
	return e->model;
}

static void
embed_on_done(void *arg, struct httpc_call *http, enum rc rc,
    const struct httpc_response *res)
{
	const double *vectors[EMBED_TEXTS_MAX] = { NULL };
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct embed_result r = { .error = STR_INIT("") };
	struct embed_call *call = arg;
	struct embed *e = call->e;

	(void)http;
	embed_read_response(rc, res, a, vectors, call->n, &r);
	switch (r.rc) {
	case RC_OK:
	case RC_INVALID:
	case RC_TOOBIG:
		e->rest = (struct mono){ 0 };
		break;
	default:
		e->rest = mono_add_ms(clock_mono(), EMBED_REST_MS);
	}
	if (r.rc != RC_OK)
		log_warn("embed.failed", LOG_RC(r.rc),
		    LOG_I("status", res->status), LOG_I("texts", call->n));
	call->fn(call->arg, &r);
	free(call);
	arena_free(a);
}

/* ---- the request ---- */

static enum rc
embed_write(
    const struct embed *e, const struct embed_request *rq, struct buf *out)
{
	struct wire_llm_embeddings_request m;
	struct str texts[EMBED_TEXTS_MAX];
	size_t i;

	wire_init(&wire_llm_embeddings_request_desc, &m);
	for (i = 0; i < rq->n; i++)
		texts[i] = str_clip(rq->texts[i], EMBED_TEXT_MAX);
	m.model = str_of(e->model);
	m.input = texts;
	m.n_input = rq->n;
	m.has_encoding_format = true;
	m.encoding_format = WIRE_LLM_EMBEDDINGS_REQUEST_ENCODING_FORMAT_FLOAT;
	m.has_dimensions = e->dimensions > 0;
	m.dimensions = e->dimensions;
	return wire_encode(&wire_llm_embeddings_request_desc, &m, out, NULL);
}

enum rc
embed_request(struct embed *e, const struct embed_request *rq)
{
	const char *headers[] = { "Accept: application/json",
		e->authorization };
	struct buf body = BUF_INIT(REQUEST_MAX);
	struct embed_call *call;
	enum rc rc;

	if (rq->n == 0 || rq->n > EMBED_TEXTS_MAX)
		return RC_INVALID;
	if (mono_diff_ns(e->rest, clock_mono()) > 0)
		return RC_DOWN;
	rc = embed_write(e, rq, &body);
	if (rc == RC_OK) {
		call = mem_zalloc(sizeof(*call));
		*call = (struct embed_call){ e, rq->n, rq->fn, rq->arg };
		rc = httpc_start(e->http,
		    &(struct httpc_request){ .method = "POST",
			.url = e->url,
			.headers = headers,
			.nheaders = e->authorization != NULL ? 2 : 1,
			.body = buf_str(&body),
			.trace = rq->trace,
			.deadline = rq->deadline,
			.on_done = embed_on_done,
			.arg = call },
		    NULL);
		if (rc != RC_OK)
			free(call);
	}
	buf_free(&body);
	return rc;
}
