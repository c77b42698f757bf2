/*
 * Phrases of engines and providers, and what they mean.
 */
#include "failure_class.h"

#include <ctype.h>
#include <string.h>

#include "core/mem.h"
#include "fcmp/fcmp_write.h"
#include "proxy/run_budget.h"

static const struct failure_class class_auth = { "AUTH_REQUIRED", true },
				  class_exhausted = { "RESOURCE_EXHAUSTED",
					  true },
				  class_provider = { "PROVIDER_ERROR", true },
				  class_network = { "NETWORK", true },
				  class_context = { "CONTEXT_TOO_LONG", false },
				  class_input = { "INVALID_INPUT", false },
				  class_turns = { "TURN_LIMIT", false },
				  class_session = { "SESSION_NOT_FOUND",
					  false },
				  class_missing = { "ENGINE_NOT_FOUND", false },
				  class_crashed = { "ENGINE_CRASHED", true },
				  class_failed = { "ENGINE_FAILED", false };

/* Phrases in lower case; the first that a text has counts. */
static const struct {
	const char *phrase;
	const struct failure_class *class;
} failure_phrases[] = {
	{ "context_length_exceeded", &class_context },
	{ "context length", &class_context },
	{ "context window", &class_context },
	{ "maximum context", &class_context },
	{ "prompt is too long", &class_context },
	{ "too many tokens", &class_context },
	{ "input token count", &class_context },
	{ "no conversation found", &class_session },
	{ "session not found", &class_session },
	{ "thread not found", &class_session },
	{ "no rollout found", &class_session },
	{ "invalid session identifier", &class_session },
	{ "no session found", &class_session },
	{ "error resuming session", &class_session },
	{ "server_oauth2_required", &class_auth },
	{ "unauthorized", &class_auth },
	{ "forbidden", &class_auth },
	{ "permission_denied", &class_auth },
	{ "unauthenticated", &class_auth },
	{ "authentication", &class_auth },
	{ "api key", &class_auth },
	{ "api_key", &class_auth },
	{ "apikey", &class_auth },
	{ "login fail", &class_auth },
	{ "log in again", &class_auth },
	{ "please login", &class_auth },
	{ "not logged in", &class_auth },
	{ "sign in", &class_auth },
	{ "set an auth method", &class_auth },
	{ "token expired", &class_auth },
	{ "bearer", &class_auth },
	{ "rate limit", &class_exhausted },
	{ "rate_limit", &class_exhausted },
	{ "ratelimit", &class_exhausted },
	{ "usage limit", &class_exhausted },
	{ "quota", &class_exhausted },
	{ "too many requests", &class_exhausted },
	{ "resource_exhausted", &class_exhausted },
	{ "resource exhausted", &class_exhausted },
	{ "no capacity", &class_exhausted },
	{ "overloaded", &class_exhausted },
	{ "insufficient balance", &class_exhausted },
	{ "insufficient credit", &class_exhausted },
	{ "internal server error", &class_provider },
	{ "bad gateway", &class_provider },
	{ "service unavailable", &class_provider },
	{ "experiencing high demand", &class_provider }, /* codex: 5xx */
	{ "gateway timeout", &class_provider },
	{ "exceeded retry limit", &class_provider },
	{ "stream disconnected", &class_network },
	{ "stream closed", &class_network },
	{ "incomplete json segment", &class_network },
	{ "connection reset", &class_network },
	{ "connection refused", &class_network },
	{ "connection closed", &class_network },
	{ "socket connection was closed", &class_network },
	{ "error sending request", &class_network },
	{ "econnreset", &class_network },
	{ "econnrefused", &class_network },
	{ "etimedout", &class_network },
	{ "enotfound", &class_network },
	{ "eai_again", &class_network },
	{ "socket hang up", &class_network },
	{ "fetch failed", &class_network },
	{ "terminated", &class_network },
	{ "premature close", &class_network },
	{ "without a finish reason", &class_network }, /* gemini */
	{ "network error", &class_network },
	{ "dns error", &class_network },
	{ "max turns", &class_turns },
	{ "maximum number of turns", &class_turns },
	{ "turn limit", &class_turns },
};

/* A number in a text counts as a status behind one of these. */
static const char *const failure_status_words[] = { "status", "code", "error",
	"http", "api error:" };

static const struct failure_class *
failure_of_status(int64_t status)
{
	if (status == 401 || status == 403 || status == 407)
		return &class_auth;
	if (status == 402 || status == 429)
		return &class_exhausted;
	if (status == 413)
		return &class_context;
	if (status == 408)
		return &class_network;
	if (status >= 500 && status < 600)
		return &class_provider;
	return status == 400 || status == 422 ? &class_input : NULL;
}

/* Codes of gemini's own; others of its exit codes are a status mod 256. */
static const struct failure_class *
failure_of_gemini(int64_t code)
{
	if (code == 41)
		return &class_auth;
	if (code == 42 || code == 52)
		return &class_input;
	return code == 53 ? &class_turns : NULL;
}

static ptrdiff_t
failure_find(struct str text, struct str phrase)
{
	for (size_t i = 0; i + phrase.n <= text.n; i++) {
		struct str at = { text.p + i, phrase.n };

		if (str_eq_nocase(at, phrase))
			return (ptrdiff_t)i;
	}
	return -1;
}

/* The number of three digits that begins close behind a word; 0: none. */
static int64_t
failure_number(struct str text, size_t from)
{
	size_t i = from;
	int64_t v;

	while (i < text.n && i < from + 8 && !isdigit((unsigned char)text.p[i]))
		i++;
	if (text.n < i + 3 ||
	    (text.n > i + 3 && isdigit((unsigned char)text.p[i + 3])))
		return 0;
	return str_to_i64((struct str){ text.p + i, 3 }, 400, 599, &v) == RC_OK
	    ? v
	    : 0;
}

static int64_t
failure_status_in(struct str text)
{
	for (size_t w = 0; w < NELEM(failure_status_words); w++) {
		struct str word = str_of(failure_status_words[w]);
		struct str rest = text;
		ptrdiff_t at;

		while ((at = failure_find(rest, word)) >= 0) {
			int64_t v = failure_number(rest, (size_t)at + word.n);

			if (v != 0)
				return v;
			rest.p += (size_t)at + word.n;
			rest.n -= (size_t)at + word.n;
		}
	}
	return 0;
}

static const struct failure_class *
failure_of_text(struct str text)
{
	const struct failure_class *c;

	if (text.n == 0)
		return NULL;
	c = failure_of_status(failure_status_in(text));
	/* A rejected request may be one that is too long. */
	if (c != NULL && c != &class_input)
		return c;
	for (size_t i = 0; i < NELEM(failure_phrases); i++) {
		if (failure_find(text, str_of(failure_phrases[i].phrase)) >= 0)
			return failure_phrases[i].class;
	}
	return c;
}

struct failure_class
failure_classify(const struct failure_facts *f)
{
	const struct failure_class *c = NULL;
	bool gemini = str_eq(f->engine, STR("gemini"));

	if (f->not_started || f->exit_code == 127)
		return class_missing;
	c = failure_of_text(f->message);
	/* Of no session else than the one that was asked for. */
	if (c == &class_session && !f->resumed)
		c = NULL;
	if (c == NULL)
		c = failure_of_status(f->status);
	if (c == NULL && gemini)
		c = failure_of_gemini(f->status);
	if (c == NULL)
		c = failure_of_text(f->output);
	if (c == &class_session && !f->resumed)
		c = NULL;
	if (c == NULL && gemini)
		c = failure_of_gemini(f->exit_code);
	if (c == NULL && gemini && f->exit_code > 54)
		c = failure_of_status(f->exit_code + 256);
	if (c == NULL && f->signal != 0)
		c = &class_crashed;
	return c != NULL ? *c : class_failed;
}

bool
failure_is_budget(const struct failure_facts *f)
{
	return str_find(f->message, STR(PROXY_BUDGET_TEXT)) >= 0 ||
	    str_find(f->output, STR(PROXY_BUDGET_TEXT)) >= 0;
}

/* ---- the message ---- */

static bool
failure_is_secret_byte(char c)
{
	return isalnum((unsigned char)c) || strchr("-_.~+/=*", c) != NULL;
}

static const struct {
	const char *before;
	size_t least; /* so many bytes make it a secret */
} failure_secrets[] = {
	{ "sk-", 8 },
	{ "AIza", 16 },
	{ "ghp_", 8 },
	{ "Bearer ", 12 },
	{ "Basic ", 12 },
	{ "key=", 8 },
	{ "token=", 8 },
	{ "key: ", 12 },
	{ "set-cookie", 0 },
	/* The rest of a run's URL at the model proxy. */
	{ "http://127.0.0.1:", 1 },
};

/* The bytes of a secret that text begins with, and of what precedes it. */
static size_t
failure_secret(struct str text, size_t *before)
{
	for (size_t i = 0; i < NELEM(failure_secrets); i++) {
		struct str word = str_of(failure_secrets[i].before);
		size_t n = word.n;

		if (text.n < n ||
		    !str_eq_nocase((struct str){ text.p, n }, word))
			continue;
		*before = word.n;
		/* A header's value has blanks. */
		if (failure_secrets[i].least == 0)
			return text.n;
		bool digit = false;

		for (; n < text.n && failure_is_secret_byte(text.p[n]); n++)
			digit = digit || isdigit((unsigned char)text.p[n]);
		/* Words are no secrets. */
		if (digit && n >= word.n + failure_secrets[i].least)
			return n;
	}
	return 0;
}

void
failure_clean(struct str text, struct buf *out)
{
	for (size_t i = 0; i < text.n;) {
		struct str rest = { text.p + i, text.n - i };
		size_t before, n = failure_secret(rest, &before);

		if (n > 0) {
			buf_put(out, rest.p, before);
			buf_puts(out, "***");
			i += n;
		} else {
			char c = text.p[i++];

			buf_putc(
			    out, c == '\n' || c == '\r' || c == '\t' ? ' ' : c);
		}
	}
}

/* A line that is neither blank nor of a stack trace. */
static bool
failure_line_speaks(struct str line)
{
	line = str_trim(line);
	return line.n > 0 && !str_starts(line, STR("at ")) &&
	    !str_starts(line, STR("[32m"));
}

/* The line that has the class of the failure, else the last one. */
static struct str
failure_line(const struct failure_facts *f)
{
	struct str rest = f->output, best = { NULL, 0 };

	while (rest.p != NULL) {
		struct str line = str_split(&rest, '\n');

		if (!failure_line_speaks(line))
			continue;
		best = str_trim(line);
		if (failure_of_text(line) != NULL)
			return best;
	}
	return best;
}

void
failure_message(const struct failure_facts *f, struct buf *out)
{
	struct buf clean = BUF_INIT(8UL * FAILURE_MESSAGE_MAX);
	struct str text = f->message;

	if (text.n == 0)
		text = failure_line(f);
	if (text.n > FAILURE_MESSAGE_MAX)
		text.n = FAILURE_MESSAGE_MAX;
	failure_clean(text, &clean);
	if (clean.n == 0 && f->not_started)
		buf_puts(&clean, "The engine's command cannot be executed.");
	else if (clean.n == 0 && f->signal != 0)
		buf_printf(
		    &clean, "The engine was ended by signal %d.", f->signal);
	else if (clean.n == 0)
		buf_printf(&clean, "The engine ended with exit code %d.",
		    f->exit_code);
	buf_put_str(out, fcmp_truncate(buf_str(&clean), FAILURE_MESSAGE_MAX));
	buf_free(&clean);
}
