/*
 * embed: embeddings of an OpenAI-compatible provider, on the loop.
 *
 * Texts become vectors of one length, which is the model's.  All functions run
 * on the loop thread; none blocks.
 */
#ifndef LLM_EMBED_H
#define LLM_EMBED_H

#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"

/* Texts of one call; their vectors fit one message. */
#define EMBED_TEXTS_MAX 8
/* Longest text that is sent, in bytes; a longer one is truncated. */
#define EMBED_TEXT_MAX 16384
/* After a failure of the provider, calls fail at once for so long. */
#define EMBED_REST_MS 5000

struct embed;

struct embed_opts {
	struct loop *loop;
	const char *base_url; /* up to, without, "/embeddings" */
	const char *api_key;  /* NULL or "": none */
	const char *model;
	int64_t dimensions;         /* requested; 0: the model's own */
	size_t active_max;          /* concurrent calls; 0: 256 */
	struct metric_set *metrics; /* may be NULL */
};

/* The result of a call; valid until the callback returns. */
struct embed_result {
	enum rc rc;       /* as of struct llm_result */
	struct str error; /* the provider's text, or ours; empty if RC_OK */
	const double *const *vectors; /* of each text */
	size_t n, dimensions;
};

/* Called exactly once, never from within embed_request(). */
typedef void (*embed_fn)(void *arg, const struct embed_result *result);

struct embed_request {
	const struct str *texts;   /* none of them empty; copied */
	size_t n;                  /* 1 to EMBED_TEXTS_MAX */
	struct wall deadline;      /* must be set */
	const struct trace *trace; /* may be NULL */
	embed_fn fn;
	void *arg;
};

/*
 * embed_opts_error(o):
 * What is wrong with base_url or model, beginning with the environment variable
 * of services; NULL: nothing.  Pure.
 */
const char *embed_opts_error(const struct embed_opts *o);

/*
 * embed_new(o, out):
 * A client.  RC_INVALID if base_url is not http(s) or model is empty.
 */
enum rc embed_new(const struct embed_opts *o, struct embed **out) RC_CHECK;

/* embed_free(e): Calls under way end with RC_DOWN.  NULL is allowed. */
void embed_free(struct embed *e);

/* embed_model(e): Its model. */
const char *embed_model(const struct embed *e);

/*
 * embed_request(e, rq):
 * Start a request.  RC_DOWN while calls fail after a failure, RC_RETRY if too
 * many wait, RC_INVALID if rq is not as above; rq->fn is then not called.
 */
enum rc embed_request(struct embed *e, const struct embed_request *rq) RC_CHECK;

#endif /* !LLM_EMBED_H */
