/*
 * embed: embeddings of an OpenAI-compatible provider, for the loop.
 *
 * Texts become vectors of one length, which is the model's.  All functions run
 * on the loop thread, and none blocks.
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
/* Longest text in bytes that is sent; of a longer one its beginning is. */
#define EMBED_TEXT_MAX 16384
/* After a failure that is not the call's fault others fail at once, so long. */
#define EMBED_REST_MS 5000

struct embed;

struct embed_opts {
	struct loop *loop;
	const char *base_url; /* up to, without, "/embeddings" */
	const char *api_key;  /* NULL or "": none */
	const char *model;
	int64_t dimensions;         /* to ask for; 0: the model's own */
	size_t active_max;          /* calls at one time; 0: 256 */
	struct metric_set *metrics; /* may be NULL */
};

/* What became of a call; valid until the callback returns. */
struct embed_result {
	enum rc rc;       /* as of struct llm_result */
	struct str error; /* the provider's words, or ours; empty of RC_OK */
	const double *const *vectors; /* of each text */
	size_t n, dimensions;
};

/* Called exactly once, never from inside embed_ask(). */
typedef void (*embed_fn)(void *arg, const struct embed_result *result);

struct embed_ask {
	const struct str *texts;   /* none of them empty; copied */
	size_t n;                  /* 1 to EMBED_TEXTS_MAX */
	struct wall deadline;      /* must be set */
	const struct trace *trace; /* may be NULL */
	embed_fn fn;
	void *arg;
};

/*
 * embed_opts_fault(o):
 * What is wrong with base_url or model, in words that begin with the variable
 * of which services take it; NULL: nothing.  Pure.
 */
const char *embed_opts_fault(const struct embed_opts *o);

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
 * embed_ask(e, ask):
 * Ask.  RC_DOWN while it rests, RC_RETRY if too many calls wait, RC_INVALID of
 * what is not as above; ask->fn is then not called.
 */
enum rc embed_ask(struct embed *e, const struct embed_ask *ask) RC_CHECK;

#endif /* !LLM_EMBED_H */
