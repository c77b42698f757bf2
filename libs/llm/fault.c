/*
 * Errors come as OpenAI's object, as Anthropic's, as that in an array, as a
 * text under one of three names, or as the HTML of whatever stands before the
 * provider.
 */
#include "llm/fault.h"

#include "core/mem.h"
#include "wire/msgs.h"
#include "wire/tree.h"
#include "wire/wire.h"

/* A raw member as text: a string's, anything else as it stands. */
static struct str
text_of(struct str raw, struct arena *a)
{
	struct str out;

	if (raw.p == NULL)
		return raw;
	if (wire_text(raw, a, &out) == RC_OK)
		return out;
	return raw;
}

static bool
is_object(struct str raw)
{
	return raw.n > 0 && raw.p[0] == '{';
}

/* Read what one object says; false if it says nothing. */
static bool
read_object(struct str json, struct arena *a, struct fault *out)
{
	struct wire_llm_error e;

	if (wire_decode(&wire_llm_error_desc, json, a, &e, NULL) != RC_OK)
		return false;
	if (is_object(e.error)) {
		struct str inner = e.error;
		if (wire_decode(&wire_llm_error_desc, inner, a, &e, NULL) !=
		    RC_OK)
			return false;
		if (e.message.p == NULL)
			e.message = inner;
	} else if (e.error.p != NULL) {
		e.message = e.error;
	}
	out->text = text_of(e.message.p != NULL ? e.message : e.detail, a);
	out->type = text_of(e.type, a);
	out->code = text_of(e.code, a);
	return out->text.n > 0;
}

/* The only element of an array, or json itself. */
static struct str
unwrap(struct str json)
{
	if (json.n < 2 || json.p[0] != '[' || json.p[json.n - 1] != ']')
		return json;
	return str_trim((struct str){ json.p + 1, json.n - 2 });
}

/* At most n bytes of s, whole code points. */
static struct str
cut(struct str s, size_t n, struct arena *a)
{
	char text[FAULT_TEXT_MAX + 1];

	str_copy(s, text, n + 1);
	return arena_str(a, str_of(text));
}

void
fault_read(struct str body, int status, struct arena *a, struct fault *out)
{
	struct str json = str_trim(body);

	*out = (struct fault){ .text = { NULL, 0 } };
	if (!read_object(unwrap(json), a, out)) {
		*out = (struct fault){ .text = text_of(json, a) };
	}
	if (out->text.n > FAULT_TEXT_MAX)
		out->text = cut(out->text, FAULT_TEXT_MAX, a);
	if (out->text.n == 0)
		out->text = arena_printf(a, "status %d without a word", status);
	if (out->text.n == 0)
		out->text = STR("an error without a word");
}

static bool
is_one_of(struct str s, const struct str *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(s, list[i]))
			return true;
	return false;
}

/* Waiting does not help where the money has run out. */
static bool
is_quota(const struct fault *f)
{
	static const struct str codes[] = {
		STR_INIT("insufficient_quota"),
		STR_INIT("credit_balance_exhausted"),
		STR_INIT("organization_spend_limit_exceeded"),
		STR_INIT("project_spend_limit_exceeded"),
		STR_INIT("organization_usage_limit_exceeded"),
		STR_INIT("billing_error"),
	};

	return is_one_of(f->type, codes, NELEM(codes)) ||
	    is_one_of(f->code, codes, NELEM(codes));
}

static bool
says(const struct fault *f, struct str words)
{
	return str_find(f->text, words) >= 0;
}

/* Some say it in words only; other errors may quote such words. */
static bool
is_too_long(int status, const struct fault *f)
{
	if (str_eq(f->code, STR("context_length_exceeded")) ||
	    str_eq(f->type, STR("exceed_context_size_error")) ||
	    str_eq(f->type, STR("request_too_large")))
		return true;
	return status == 400 &&
	    (says(f, STR("prompt is too long")) ||
		says(f, STR("maximum context length")) ||
		says(f, STR("context_length_exceeded")));
}

/* Inside a stream the code may be a status, or the type may tell it. */
static int
status_in(const struct fault *f)
{
	static const struct {
		struct str type;
		int status;
	} types[] = {
		{ STR_INIT("invalid_request_error"), 400 },
		{ STR_INIT("authentication_error"), 401 },
		{ STR_INIT("permission_error"), 403 },
		{ STR_INIT("not_found_error"), 404 },
		{ STR_INIT("rate_limit_error"), 429 },
		{ STR_INIT("rate_limit_exceeded"), 429 },
		{ STR_INIT("overloaded_error"), 529 },
	};
	int64_t n;

	if (str_to_i64(f->code, 400, 599, &n) == RC_OK)
		return (int)n;
	for (size_t i = 0; i < NELEM(types); i++)
		if (str_eq(f->type, types[i].type) ||
		    str_eq(f->code, types[i].type))
			return types[i].status;
	return 0;
}

enum rc
fault_rc(int status, const struct fault *f)
{
	if (status == 0)
		status = status_in(f);
	if (is_quota(f) ||
	    (status == 400 && says(f, STR("credit balance is too low"))))
		return RC_DENIED;
	if (is_too_long(status, f) || status == 413)
		return RC_TOOBIG;
	switch (status) {
	case 0:
		return RC_DOWN;
	case 401:
	case 402:
	case 403:
		return RC_DENIED;
	case 404:
		return RC_NOENT;
	case 408:
		return RC_TIMEOUT;
	case 409:
		return RC_CONFLICT;
	case 429:
	case 529:
		return RC_RETRY;
	default:
		return status >= 500 ? RC_DOWN : RC_INVALID;
	}
}
