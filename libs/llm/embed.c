/*
 * One request, one answer; the vectors' order is what their indexes say.
 */
#include "llm/embed.h"

#include <stdlib.h>

#include "core/log.h"
#include "core/mem.h"
#include "httpc/httpc.h"
#include "llm/embed_read.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define URL_MAX     2048
#define KEY_MAX     16384
#define REQUEST_MAX WIRE_MESSAGE_MAX

struct embed {
	struct httpc *http;
	char *url, *model;
	char *authorization; /* a header line, or NULL */
	int64_t dimensions;
	struct mono rest; /* until then all fails; {0}: it does not rest */
};

struct call {
	struct embed *e;
	size_t n;
	embed_fn fn;
	void *arg;
};

static char *
line(const char *before, struct str s, const char *after, size_t max)
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
embed_opts_fault(const struct embed_opts *o)
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

	if (embed_opts_fault(o) != NULL)
		return RC_INVALID;
	if (str_ends(base, STR("/")))
		base.n--;
	url = line("", base, "/embeddings", URL_MAX);
	if (url == NULL)
		return RC_INVALID;
	e = mem_zalloc(sizeof(*e));
	e->url = url;
	e->model = mem_strdup(o->model);
	e->dimensions = o->dimensions;
	if (key.n > 0)
		e->authorization =
		    line("Authorization: Bearer ", key, "", KEY_MAX);
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
on_done(void *arg, struct httpc_call *http, enum rc rc,
    const struct httpc_response *answer)
{
	const double *vectors[EMBED_TEXTS_MAX] = { NULL };
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct embed_result r = { .error = STR_INIT("") };
	struct call *call = arg;
	struct embed *e = call->e;

	(void)http;
	embed_read(rc, answer, a, vectors, call->n, &r);
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
		    LOG_I("status", answer->status), LOG_I("texts", call->n));
	call->fn(call->arg, &r);
	free(call);
	arena_free(a);
}

/* ---- the question ----------------------------------------------------------
 */

/* The beginning of a text that is too long, cut between code points. */
static struct str
cut(struct str s)
{
	if (s.n <= EMBED_TEXT_MAX)
		return s;
	s.n = EMBED_TEXT_MAX;
	while (s.n > 0 && ((unsigned char)s.p[s.n] & 0xc0) == 0x80)
		s.n--;
	return s;
}

static enum rc
write(const struct embed *e, const struct embed_ask *ask, struct buf *out)
{
	struct wire_llm_embeddings_request rq;
	struct str texts[EMBED_TEXTS_MAX];
	size_t i;

	wire_init(&wire_llm_embeddings_request_desc, &rq);
	for (i = 0; i < ask->n; i++)
		texts[i] = cut(ask->texts[i]);
	rq.model = str_of(e->model);
	rq.input = texts;
	rq.n_input = ask->n;
	rq.has_encoding_format = true;
	rq.encoding_format = WIRE_LLM_EMBEDDINGS_REQUEST_ENCODING_FORMAT_FLOAT;
	rq.has_dimensions = e->dimensions > 0;
	rq.dimensions = e->dimensions;
	return wire_encode(&wire_llm_embeddings_request_desc, &rq, out, NULL);
}

enum rc
embed_ask(struct embed *e, const struct embed_ask *ask)
{
	const char *headers[] = { "Accept: application/json",
		e->authorization };
	struct buf body = BUF_INIT(REQUEST_MAX);
	struct call *call;
	enum rc rc;

	if (ask->n == 0 || ask->n > EMBED_TEXTS_MAX)
		return RC_INVALID;
	if (mono_diff_ns(e->rest, clock_mono()) > 0)
		return RC_DOWN;
	rc = write(e, ask, &body);
	if (rc == RC_OK) {
		call = mem_zalloc(sizeof(*call));
		*call = (struct call){ e, ask->n, ask->fn, ask->arg };
		rc = httpc_start(e->http,
		    &(struct httpc_request){ .method = "POST",
			.url = e->url,
			.headers = headers,
			.nheaders = e->authorization != NULL ? 2 : 1,
			.body = buf_str(&body),
			.trace = ask->trace,
			.deadline = ask->deadline,
			.on_done = on_done,
			.arg = call },
		    NULL);
		if (rc != RC_OK)
			free(call);
	}
	buf_free(&body);
	return rc;
}
