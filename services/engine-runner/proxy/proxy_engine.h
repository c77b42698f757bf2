/*
 * proxy_engine: the engines of the ENGINES file that call models: the API of
 * their provider, its base URL, and the file with its key.
 */
#ifndef ENGINE_RUNNER_PROXY_ENGINE_H
#define ENGINE_RUNNER_PROXY_ENGINE_H

#include <stddef.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"
#include "proxy/provider_api.h"

/* Bytes of the file. */
#define PROXY_ENGINES_FILE_MAX (256 * 1024)

struct metric;

enum proxy_token_kind {
	PROXY_TOKENS_INPUT,
	PROXY_TOKENS_OUTPUT,
	PROXY_TOKENS_CACHED,
	PROXY_TOKENS_REASONING,
	PROXY_TOKENS_ESTIMATED, /* input and output without a usage */
	PROXY_TOKENS_KINDS
};

struct proxy_engine {
	char *name;
	char *base_url; /* without a slash at its end */
	char *key_file; /* NULL: the provider needs no key */
	enum provider_api api;
	struct metric *tokens[PROXY_TOKENS_KINDS]; /* the caller's */
};

struct proxy_engines {
	struct proxy_engine *list;
	size_t n;
};

/*
 * proxy_engines_parse(json, e, why):
 * Read them; engines without a provider are left out.  RC_INVALID: *why says
 * what is wrong.  proxy_engines_free(e) in either case.
 *
 * proxy_engines_load(path, e, why): The same of a file.  Blocks.
 */
enum rc proxy_engines_parse(
    struct str json, struct proxy_engines *e, struct buf *why) RC_CHECK;
enum rc proxy_engines_load(
    const char *path, struct proxy_engines *e, struct buf *why) RC_CHECK;
void proxy_engines_free(struct proxy_engines *e);

/* proxy_engines_find(e, name): NULL: there is none of that name. */
const struct proxy_engine *proxy_engines_find(
    const struct proxy_engines *e, struct str name);

/*
 * proxy_engine_key(e, out):
 * Append its key, read from its file, so that a key can be replaced while the
 * proxy runs; nothing if it needs none.  RC_INVALID: the file cannot be read or
 * has no key in one line.
 */
enum rc proxy_engine_key(
    const struct proxy_engine *e, struct buf *out) RC_CHECK;

#endif /* !ENGINE_RUNNER_PROXY_ENGINE_H */
