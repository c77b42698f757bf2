/*
 * provider_api: the HTTP interfaces of model providers: what an engine may
 * request of them, how they get their key, and how they report errors.  Pure.
 */
#ifndef ENGINE_RUNNER_PROVIDER_API_H
#define ENGINE_RUNNER_PROVIDER_API_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

enum provider_api {
	PROVIDER_OPENAI, /* and all that are compatible */
	PROVIDER_GEMINI,
	PROVIDER_ANTHROPIC
};

/*
 * provider_api_target(api, method, rest, out):
 * What to append to the provider's base URL for a request of an engine; rest is
 * its target behind the run's path.  RC_DENIED unless it calls a model, counts
 * tokens, or lists models; of the query only what these need is passed.
 */
enum rc provider_api_target(enum provider_api api, struct str method,
    struct str rest, struct buf *out) RC_CHECK;

/* provider_api_key_header(api, key, out): The header field with the key. */
void provider_api_key_header(
    enum provider_api api, struct str key, struct buf *out);

/*
 * provider_api_passes_request(name):
 * Whether a header field is passed to the provider.
 * provider_api_response_header(i):
 * The i-th header field that is passed to the engine; NULL after the last.
 * None that authenticates, routes, or sets a cookie is.
 */
bool provider_api_passes_request(struct str name);
const char *provider_api_response_header(size_t i);

/* provider_api_error(api, status, text, out): An error in the API's format. */
void provider_api_error(
    enum provider_api api, int status, const char *text, struct buf *out);

#endif /* !ENGINE_RUNNER_PROVIDER_API_H */
