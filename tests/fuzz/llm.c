/*
 * Responses of language models from hostile bytes, in both dialects, as a
 * stream and whole, and as vectors: no limit is exceeded, the deltas are the
 * text, and a valid call has a name, a unique id and an object as arguments.
 * The first byte selects dialect, form and quirks.
 */
#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "httpc/sse_reader.h"
#include "llm/llm_internal.h"
#include "must.h"
#include "wire/tree.h"
#include "wire/wire.h"

struct seen {
	const struct dialect *d;
	struct accum m;
	struct buf shown;
	bool cumulative;
};

static enum rc
on_event(void *arg, const struct sse_event *e)
{
	struct seen *s = arg;
	const char *why = NULL;
	struct wire_tree *v;
	struct str delta;

	if (s->m.done || wire_tree_parse(str_trim(e->data), &v) != RC_OK)
		return RC_OK;
	enum rc rc = s->d->event(&s->m, v, &delta, &why);
	must(rc == RC_OK || rc == RC_INVALID || rc == RC_TOOBIG);
	if (rc == RC_OK)
		buf_put_str(&s->shown, delta);
	wire_tree_free(v);
	return rc == RC_TOOBIG ? rc : RC_OK;
}

static void
read_whole(struct seen *s, struct str in, struct arena *a)
{
	const char *why = NULL;
	struct wire_tree *v;
	struct provider_error f;

	provider_error_read(in, 200, a, &f);
	must(f.text.n > 0 && f.text.n <= PROVIDER_ERROR_TEXT_MAX);
	must(provider_error_rc(0, &f) != RC_OK &&
	    provider_error_rc(400, &f) != RC_OK);
	if (wire_tree_parse(str_trim(in), &v) != RC_OK)
		return;
	enum rc rc = s->d->response(&s->m, v, &why);
	must(rc == RC_OK || rc == RC_TOOBIG || (rc == RC_INVALID));
	wire_tree_free(v);
}

/* Each text has one vector, all of one length. */
static void
read_vectors(struct str in, struct arena *a)
{
	const double *vectors[EMBED_TEXTS_MAX] = { NULL };
	struct embed_result r = { .error = STR_INIT("") };
	struct httpc_response answer = { .status = 200, .body = in };
	size_t n = 1 + in.n % EMBED_TEXTS_MAX, i, k;

	embed_read_response(RC_OK, &answer, a, vectors, n, &r);
	must(r.rc == RC_OK || r.error.n > 0);
	if (r.rc != RC_OK)
		return;
	must(r.n == n && r.dimensions > 0);
	for (i = 0; i < n; i++)
		for (k = 0; k < r.dimensions; k++)
			must(!isnan(r.vectors[i][k]));
}

static void
check_calls(const struct llm_result *r)
{
	must(r->ncalls <= LLM_CALLS_MAX);
	for (size_t i = 0; i < r->ncalls; i++) {
		const struct llm_tool_call *c = &r->calls[i];
		must(c->id.n > 0);
		must(!c->valid ||
		    (c->name.n > 0 && wire_is_object(c->arguments)));
		must(c->extra.p == NULL || wire_is_object(c->extra));
		for (size_t k = 0; k < i; k++)
			must(!str_eq(c->id, r->calls[k].id));
	}
}

static void
check_end(struct seen *s, bool stream, struct arena *a)
{
	struct llm_result r = { 0 };
	struct str rest;

	accum_flush(&s->m, &rest);
	buf_put_str(&s->shown, rest);
	enum rc rc = accum_end(&s->m, STR("t"), STR("p/m"), a, &r);
	must(rc == RC_OK || rc == RC_TOOBIG);
	if (rc != RC_OK)
		return;
	check_calls(&r);
	if (stream && !s->cumulative)
		must(str_eq(buf_str(&s->shown), r.text));
	must(r.prompt_tokens >= -1 && r.completion_tokens >= -1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (n == 0)
		return 0;
	bool stream = (data[0] & 2) != 0;
	struct llm_provider o = { .cumulative = (data[0] & 4) != 0,
		.strip_think = (data[0] & 8) != 0 };
	struct seen s = { .d = (data[0] & 1) != 0 ? &anthropic_dialect
						  : &openai_dialect,
		.shown = BUF_INIT(LLM_TEXT_MAX),
		.cumulative = o.cumulative };
	/* A separate copy, so that a sanitizer sees a read past its end. */
	char *copy = mem_alloc(n);
	struct str in = { copy, n - 1 };
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct sse_reader p;

	memcpy(copy, data + 1, n - 1);
	accum_init(&s.m, &o);
	sse_reader_init(&p, LLM_LINE_MAX);
	if (stream)
		must(sse_reader_feed(&p, in, on_event, &s) != RC_BUG);
	else
		read_whole(&s, in, a);
	read_vectors(in, a);
	arena_reset(a);
	check_end(&s, stream, a);
	sse_reader_free(&p);
	accum_free(&s.m);
	buf_free(&s.shown);
	arena_free(a);
	free(copy);
	return 0;
}
