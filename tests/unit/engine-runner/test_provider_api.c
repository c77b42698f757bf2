/* What engines may request of providers, and what is passed. */
#include "core/mem.h"
#include "proxy/provider_api.h"
#include "testkit/testkit.h"

static enum rc
target_of(enum provider_api api, const char *method, const char *rest,
    const char *want)
{
	struct buf out = BUF_INIT(1024);
	enum rc rc =
	    provider_api_target(api, str_of(method), str_of(rest), &out);

	if (rc == RC_OK)
		ck_assert_msg(str_eq(buf_str(&out), str_of(want)), "%s: %.*s",
		    rest, STR_ARG(buf_str(&out)));
	buf_free(&out);
	return rc;
}

TEST(calls_of_models_are_allowed)
{
	static const struct {
		enum provider_api api;
		const char *method, *rest, *want;
	} good[] = {
		{ PROVIDER_OPENAI, "POST", "/responses", "/responses" },
		{ PROVIDER_OPENAI, "POST", "/chat/completions",
		    "/chat/completions" },
		{ PROVIDER_OPENAI, "GET", "/models?client_version=1",
		    "/models" },
		{ PROVIDER_GEMINI, "POST",
		    "/v1beta/models/gemini-2.5-flash:generateContent?key=x",
		    "/v1beta/models/gemini-2.5-flash:generateContent" },
		{ PROVIDER_GEMINI, "POST",
		    "/v1beta/models/g_1:streamGenerateContent?key=x&alt=sse",
		    "/v1beta/models/g_1:streamGenerateContent?alt=sse" },
		{ PROVIDER_ANTHROPIC, "POST", "/v1/messages?beta=true",
		    "/v1/messages?beta=true" },
	};
	size_t i;

	for (i = 0; i < NELEM(good); i++)
		ck_assert_int_eq(target_of(good[i].api, good[i].method,
				     good[i].rest, good[i].want),
		    RC_OK);
}

TEST(everything_else_is_denied)
{
	static const struct {
		enum provider_api api;
		const char *method, *rest;
	} bad[] = {
		{ PROVIDER_OPENAI, "POST", "/files" },
		{ PROVIDER_OPENAI, "GET", "/responses" },
		{ PROVIDER_OPENAI, "DELETE", "/responses" },
		{ PROVIDER_OPENAI, "POST", "/responses/../files" },
		{ PROVIDER_OPENAI, "POST", "/responses%2f" },
		{ PROVIDER_OPENAI, "POST", "/v1/messages" },
		{ PROVIDER_OPENAI, "POST", "/" },
		{ PROVIDER_OPENAI, "POST", "" },
		{ PROVIDER_GEMINI, "POST", "/v1beta/models/:generateContent" },
		{ PROVIDER_GEMINI, "POST",
		    "/v1beta/models/a/b:generateContent" },
		{ PROVIDER_GEMINI, "POST",
		    "/v1beta/models/a%2Fb:generateContent" },
		{ PROVIDER_GEMINI, "POST", "/v1beta/cachedContents" },
		{ PROVIDER_GEMINI, "POST", "/v1beta/models/a:predict" },
	};
	size_t i;

	for (i = 0; i < NELEM(bad); i++)
		ck_assert_msg(target_of(bad[i].api, bad[i].method, bad[i].rest,
				  "") == RC_DENIED,
		    "%s", bad[i].rest);
}

TEST(headers_that_authenticate_are_not_passed)
{
	static const char *const bad[] = { "Authorization", "Cookie", "Host",
		"x-api-key", "x-goog-api-key", "Proxy-Authorization",
		"Content-Length", "Connection", "Transfer-Encoding",
		"X-Forwarded-For", "OpenAI-Organization", "" };
	size_t i;

	for (i = 0; i < NELEM(bad); i++)
		ck_assert_msg(
		    !provider_api_passes_request(str_of(bad[i])), "%s", bad[i]);
	ck_assert(provider_api_passes_request(STR("content-type")));
	for (i = 0; provider_api_response_header(i) != NULL; i++)
		ck_assert(strcasecmp(provider_api_response_header(i),
			      "Set-Cookie") != 0);
	ck_assert_uint_gt(i, 0);
}

TEST(each_api_has_its_own_errors)
{
	static const char *const want[] = {
		"{\"error\":{\"message\":\"a \\\"b\\\"\",\"type\":"
		"\"rate_limit_error\",\"param\":null,\"code\":"
		"\"rate_limit_error\"}}",
		"{\"error\":{\"message\":\"a \\\"b\\\"\",\"code\":429,"
		"\"status\":\"RESOURCE_EXHAUSTED\"}}",
		"{\"type\":\"error\",\"error\":{\"message\":\"a \\\"b\\\"\","
		"\"type\":\"rate_limit_error\"}}"
	};
	size_t i;

	for (i = 0; i < NELEM(want); i++) {
		struct buf out = BUF_INIT(1024);

		provider_api_error((enum provider_api)i, 429, "a \"b\"", &out);
		ck_assert_str_eq(out.p, want[i]);
		buf_free(&out);
	}
}
