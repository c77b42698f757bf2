/* What a failure is, by what is known of it. */
#include "core/mem.h"
#include "failure_class.h"
#include "testkit/testkit.h"

static const struct {
	struct failure_facts f;
	const char *code;
} classes[] = {
	{ { .message = STR_INIT("unexpected status 401 Unauthorized") },
	    "AUTH_REQUIRED" },
	{ { .message = STR_INIT("Authentication Fails, Your api key"),
	      .status = 401 },
	    "AUTH_REQUIRED" },
	{ { .message = STR_INIT("some words"), .status = 403 },
	    "AUTH_REQUIRED" },
	{ { .message = STR_INIT("login fail: Please carry the key") },
	    "AUTH_REQUIRED" },
	{ { .output = STR_INIT("Error: SERVER_OAUTH2_REQUIRED: x\n"),
	      .exit_code = 1 },
	    "AUTH_REQUIRED" },
	{ { .message = STR_INIT("Incorrect API key provided") },
	    "AUTH_REQUIRED" },
	{ { .message = STR_INIT("last status: 429 Too Many Requests") },
	    "RESOURCE_EXHAUSTED" },
	{ { .message = STR_INIT("[API Error: Rate limit reached] request a "
				"quota increase, or switch to another /auth "
				"method") },
	    "RESOURCE_EXHAUSTED" },
	{ { .message = STR_INIT("No capacity available for model") },
	    "RESOURCE_EXHAUSTED" },
	{ { .message = STR_INIT("You exceeded your current quota") },
	    "RESOURCE_EXHAUSTED" },
	{ { .output = STR_INIT("Attempt 3 failed with status 429.\n") },
	    "RESOURCE_EXHAUSTED" },
	{ { .message = STR_INIT("{\"error\":{\"code\":503}}") },
	    "PROVIDER_ERROR" },
	{ { .message = STR_INIT("oops"), .status = 500 }, "PROVIDER_ERROR" },
	{ { .message = STR_INIT("502 Bad Gateway") }, "PROVIDER_ERROR" },
	{ { .message = STR_INIT("We're currently experiencing high demand") },
	    "PROVIDER_ERROR" },
	{ { .message = STR_INIT("read ECONNRESET") }, "NETWORK" },
	{ { .message = STR_INIT("ended without a finish reason") }, "NETWORK" },
	{ { .message = STR_INIT("stream disconnected before completion") },
	    "NETWORK" },
	{ { .message = STR_INIT("TypeError: fetch failed") }, "NETWORK" },
	{ { .message = STR_INIT("error 400: maximum context length is 8") },
	    "CONTEXT_TOO_LONG" },
	{ { .message = STR_INIT("x"), .status = 400 }, "INVALID_INPUT" },
	{ { .engine = STR_INIT("gemini"), .exit_code = 41 }, "AUTH_REQUIRED" },
	{ { .engine = STR_INIT("gemini"), .exit_code = 42 }, "INVALID_INPUT" },
	{ { .engine = STR_INIT("gemini"), .exit_code = 52 }, "INVALID_INPUT" },
	{ { .engine = STR_INIT("gemini"), .exit_code = 53 }, "TURN_LIMIT" },
	{ { .engine = STR_INIT("gemini"), .exit_code = 145 }, "AUTH_REQUIRED" },
	{ { .engine = STR_INIT("gemini"), .exit_code = 244 },
	    "PROVIDER_ERROR" },
	/* Words count more than the exit code. */
	{ { .engine = STR_INIT("gemini"),
	      .message = STR_INIT("quota exceeded"),
	      .exit_code = 41 },
	    "RESOURCE_EXHAUSTED" },
	{ { .engine = STR_INIT("codex"), .exit_code = 41 }, "ENGINE_FAILED" },
	{ { .message = STR_INIT("Session not found"), .resumed = true },
	    "SESSION_NOT_FOUND" },
	{ { .message = STR_INIT("Session not found") }, "ENGINE_FAILED" },
	{ { .not_started = true }, "ENGINE_NOT_FOUND" },
	{ { .exit_code = 127 }, "ENGINE_NOT_FOUND" },
	{ { .signal = 11 }, "ENGINE_CRASHED" },
	{ { .exit_code = 1 }, "ENGINE_FAILED" },
	{ { .message = STR_INIT("wrote 401 lines"), .exit_code = 1 },
	    "ENGINE_FAILED" },
};

TEST(failures_have_classes)
{
	for (size_t i = 0; i < NELEM(classes); i++) {
		struct failure_class c = failure_classify(&classes[i].f);

		ck_assert_msg(str_eq(str_of(c.code), str_of(classes[i].code)),
		    "%zu: %s and not %s", i, c.code, classes[i].code);
	}
}

static const struct {
	struct failure_facts f;
	const char *message;
} messages[] = {
	{ { .message = STR_INIT("no\nnews") }, "no news" },
	{ { .message = STR_INIT("key sk-abcdef1234567890 is bad") },
	    "key sk-*** is bad" },
	{ { .message = STR_INIT("Authorization: Bearer abcdef12345678.x!") },
	    "Authorization: Bearer ***!" },
	{ { .message = STR_INIT("Missing bearer or basic authentication in") },
	    "Missing bearer or basic authentication in" },
	{ { .message = STR_INIT("x set-cookie: a=b; path=/ and more") },
	    "x set-cookie***" },
	{ { .message = STR_INIT("status 401, url: http://127.0.0.1:9081/r/"
				"20261127T091252-codex-17e6/1/5/T5-_x/x)") },
	    "status 401, url: http://127.0.0.1:***)" },
	{ { .output = STR_INIT("one\nquota exceeded\n    at f (x.js)\nend\n") },
	    "quota exceeded" },
	{ { .output = STR_INIT("one\ntwo\n    at f (x.js)\n\n") }, "two" },
	{ { .exit_code = 3 }, "The engine ended with exit code 3." },
	{ { .signal = 9 }, "The engine was ended by signal 9." },
	{ { .not_started = true }, "The engine's command cannot be executed." },
};

TEST(messages_are_the_providers_without_secrets)
{
	for (size_t i = 0; i < NELEM(messages); i++) {
		struct buf b = BUF_INIT(FAILURE_MESSAGE_MAX);

		failure_message(&messages[i].f, &b);
		ck_assert_str_eq(b.p, messages[i].message);
		buf_free(&b);
	}
}
