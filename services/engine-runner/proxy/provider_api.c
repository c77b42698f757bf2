#include "proxy/provider_api.h"

#include "core/mem.h"
#include "wire/out.h"

/* ---- targets ---- */

/* Paths; "{}" is a model, a segment of [A-Za-z0-9._-]. */
static const struct {
	enum provider_api api;
	const char *method;
	struct str path;
} provider_targets[] = {
	{ PROVIDER_OPENAI, "POST", STR_INIT("/responses") },
	{ PROVIDER_OPENAI, "POST", STR_INIT("/responses/compact") },
	{ PROVIDER_OPENAI, "POST", STR_INIT("/chat/completions") },
	{ PROVIDER_OPENAI, "GET", STR_INIT("/models") },
	{ PROVIDER_GEMINI, "POST",
	    STR_INIT("/v1beta/models/{}:generateContent") },
	{ PROVIDER_GEMINI, "POST",
	    STR_INIT("/v1beta/models/{}:streamGenerateContent") },
	{ PROVIDER_GEMINI, "POST", STR_INIT("/v1beta/models/{}:countTokens") },
	{ PROVIDER_GEMINI, "GET", STR_INIT("/v1beta/models") },
	{ PROVIDER_ANTHROPIC, "POST", STR_INIT("/v1/messages") },
	{ PROVIDER_ANTHROPIC, "POST", STR_INIT("/v1/messages/count_tokens") },
	{ PROVIDER_ANTHROPIC, "GET", STR_INIT("/v1/models") },
};
/* Parameters of a query. */
static const struct str provider_queries[] = { STR_INIT("alt=sse"),
	STR_INIT("beta=true") };

static bool
provider_is_model_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

static bool
provider_path_matches(struct str pattern, struct str path)
{
	ptrdiff_t model = str_find(pattern, STR("{}"));
	struct str before, after;
	size_t i;

	if (model < 0)
		return str_eq(pattern, path);
	before = (struct str){ pattern.p, (size_t)model };
	after =
	    (struct str){ pattern.p + before.n + 2, pattern.n - before.n - 2 };
	if (!str_starts(path, before) || !str_ends(path, after) ||
	    path.n <= before.n + after.n)
		return false;
	for (i = before.n; i < path.n - after.n; i++) {
		if (!provider_is_model_char(path.p[i]))
			return false;
	}
	return true;
}

/* Of the query, what is known. */
static void
provider_put_query(struct str query, struct buf *out)
{
	char before = '?';
	size_t i;

	while (query.p != NULL) {
		struct str pair = str_split(&query, '&');

		for (i = 0; i < NELEM(provider_queries); i++) {
			if (!str_eq(pair, provider_queries[i]))
				continue;
			buf_putc(out, before);
			buf_put_str(out, pair);
			before = '&';
		}
	}
}

enum rc
provider_api_target(
    enum provider_api api, struct str method, struct str rest, struct buf *out)
{
	struct str query = rest, path = str_split(&query, '?');
	size_t i;

	for (i = 0; i < NELEM(provider_targets); i++) {
		if (provider_targets[i].api != api ||
		    !str_eq(method, str_of(provider_targets[i].method)) ||
		    !provider_path_matches(provider_targets[i].path, path))
			continue;
		buf_put_str(out, path);
		provider_put_query(query, out);
		return buf_rc(out);
	}
	return RC_DENIED;
}

/* ---- headers ---- */

void
provider_api_key_header(enum provider_api api, struct str key, struct buf *out)
{
	buf_puts(out,
	    api == PROVIDER_OPENAI       ? "Authorization: Bearer "
		: api == PROVIDER_GEMINI ? "x-goog-api-key: "
					 : "x-api-key: ");
	buf_put_str(out, key);
}

bool
provider_api_passes_request(struct str name)
{
	static const struct str list[] = { STR_INIT("Accept"),
		STR_INIT("Content-Type"), STR_INIT("Content-Encoding"),
		STR_INIT("User-Agent"), STR_INIT("anthropic-version"),
		STR_INIT("anthropic-beta"), STR_INIT("OpenAI-Beta"),
		STR_INIT("x-goog-api-client") };
	size_t i;

	for (i = 0; i < NELEM(list); i++) {
		if (str_eq_nocase(name, list[i]))
			return true;
	}
	return false;
}

const char *
provider_api_response_header(size_t i)
{
	static const char *const list[] = { "Content-Type", "Retry-After",
		"Retry-After-Ms", "x-should-retry", "x-request-id",
		"request-id" };

	return i < NELEM(list) ? list[i] : NULL;
}

/* ---- errors ---- */

/* The provider's name of a status. */
static const char *
provider_error_type(enum provider_api api, int status)
{
	switch (status) {
	case 401:
		return api == PROVIDER_GEMINI ? "UNAUTHENTICATED"
					      : "authentication_error";
	case 403:
		return api == PROVIDER_GEMINI ? "PERMISSION_DENIED"
					      : "permission_error";
	case 429:
		return api == PROVIDER_GEMINI ? "RESOURCE_EXHAUSTED"
					      : "rate_limit_error";
	case 502:
	case 503:
	case 504:
		return api == PROVIDER_GEMINI ? "UNAVAILABLE" : "api_error";
	default:
		return api == PROVIDER_GEMINI ? "INVALID_ARGUMENT"
					      : "invalid_request_error";
	}
}

static void
provider_put_text(struct wire_out *o, const char *key, const char *text)
{
	wire_out_key(o, str_of(key));
	wire_out_str(o, str_of(text));
}

void
provider_api_error(
    enum provider_api api, int status, const char *text, struct buf *out)
{
	const char *type = provider_error_type(api, status);
	struct wire_out o = { .b = out };

	wire_out_object(&o);
	if (api == PROVIDER_ANTHROPIC)
		provider_put_text(&o, "type", "error");
	wire_out_key(&o, STR("error"));
	wire_out_object(&o);
	provider_put_text(&o, "message", text);
	if (api == PROVIDER_GEMINI) {
		wire_out_key(&o, STR("code"));
		wire_out_i64(&o, status);
		provider_put_text(&o, "status", type);
	} else {
		provider_put_text(&o, "type", type);
	}
	if (api == PROVIDER_OPENAI) {
		wire_out_key(&o, STR("param"));
		wire_out_null(&o);
		provider_put_text(&o, "code", type);
	}
	wire_out_object_end(&o);
	wire_out_object_end(&o);
}
