/*
 * rest: JSON calls of a store that is another's server: where it is, how one
 * says who one is, and what its statuses mean.
 */
#ifndef MEMORY_WORKER_REST_H
#define MEMORY_WORKER_REST_H

#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"

/* Largest body of a call. */
#define REST_BODY_MAX (4 * 1024 * 1024)

struct rest;

struct rest_opts {
	struct loop *loop;
	const char *peer; /* "mem0", in logs and metrics */
	const char *base_url;
	const char *auth; /* none, x-api-key, bearer, token or x-chroma-token */
	const char *key;  /* "": no header, whatever auth says */
	struct metric_set *metrics; /* may be NULL */
};

struct rest_result {
	/*
	 * RC_OK of 2xx; as httpc without an answer; RC_DENIED 401, 403;
	 * RC_NOENT 404; RC_TIMEOUT 408, 504; RC_TOOBIG 413; RC_RETRY 409, 429;
	 * RC_DOWN 502, 503; RC_BUG 500; else RC_INVALID.
	 */
	enum rc rc;
	int status;
	struct str body; /* valid until the callback returns */
};

typedef void (*rest_fn)(void *arg, const struct rest_result *r);

struct rest_ask {
	const char *method;
	struct str path; /* from its '/', query included */
	struct str body; /* empty: none */
	struct wall deadline;
	const struct trace *trace; /* NULL: none */
	rest_fn fn;
	void *arg;
};

/*
 * rest_auth_ok(name): Whether that is one of the ways to say a key.
 * rest_base_ok(url):  Whether that is an address rest_new() takes.
 */
bool rest_auth_ok(const char *name);
bool rest_base_ok(const char *url);

/*
 * rest_new(o, out):
 * RC_INVALID if base_url is not http(s), or auth is none of those above.
 */
enum rc rest_new(const struct rest_opts *o, struct rest **out) RC_CHECK;

/* rest_free(r): Calls under way end with RC_DOWN.  NULL is allowed. */
void rest_free(struct rest *r);

/*
 * rest_call(r, ask):
 * Call; ask->fn is called exactly once, perhaps at once.  Texts are copied.
 */
void rest_call(struct rest *r, const struct rest_ask *ask);

#endif /* !MEMORY_WORKER_REST_H */
