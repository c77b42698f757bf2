/*
 * provider_error: errors come as OpenAI's object, as Anthropic's, as that in an
 * array, as a text under one of three names, or as the HTML of a proxy.
 */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "core/mem.h"
#include "llm/llm_internal.h"
#include "wire/msgs.h"
#include "wire/tree.h"
#include "wire/wire.h"

/* A raw member as text: decoded if it is a string, else as JSON. */
static struct str
error_member_text(struct str raw, struct arena *a)
{
	struct str out;

	if (raw.p == NULL)
		return raw;
	if (wire_text(raw, a, &out) == RC_OK)
		return out;
	return raw;
}

static bool
error_is_object(struct str raw)
{
	return raw.n > 0 && raw.p[0] == '{';
}

/* False: the object has no error text. */
static bool
error_read_object(struct str json, struct arena *a, struct provider_error *out)
{
	struct wire_llm_error e;

	if (wire_decode(&wire_llm_error_desc, json, a, &e, NULL) != RC_OK)
		return false;
	if (error_is_object(e.error)) {
		struct str inner = e.error;
		if (wire_decode(&wire_llm_error_desc, inner, a, &e, NULL) !=
		    RC_OK)
			return false;
		if (e.message.p == NULL)
			e.message = inner;
	} else if (e.error.p != NULL) {
		e.message = e.error;
	}
	out->text =
	    error_member_text(e.message.p != NULL ? e.message : e.detail, a);
	out->type = error_member_text(e.type, a);
	out->code = error_member_text(e.code, a);
	return out->text.n > 0;
}

/* The only element of an array, or json itself. */
static struct str
error_unwrap(struct str json)
{
	if (json.n < 2 || json.p[0] != '[' || json.p[json.n - 1] != ']')
		return json;
	return str_trim((struct str){ json.p + 1, json.n - 2 });
}

/* At most n bytes of s, at a code point boundary. */
static struct str
error_truncate(struct str s, size_t n, struct arena *a)
{
	char text[PROVIDER_ERROR_TEXT_MAX + 1];

	str_copy(s, text, n + 1);
	return arena_str(a, str_of(text));
}

void
provider_error_read(
    struct str body, int status, struct arena *a, struct provider_error *out)
{
	struct str json = str_trim(body);

	*out = (struct provider_error){ .text = { NULL, 0 } };
	if (!error_read_object(error_unwrap(json), a, out)) {
		*out = (struct provider_error){ .text = error_member_text(
						    json, a) };
	}
	if (out->text.n > PROVIDER_ERROR_TEXT_MAX)
		out->text =
		    error_truncate(out->text, PROVIDER_ERROR_TEXT_MAX, a);
	if (out->text.n == 0)
		out->text =
		    arena_printf(a, "status %d without an error text", status);
	if (out->text.n == 0)
		out->text = STR("an error without a text");
}

static bool
error_is_one_of(struct str s, const struct str *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(s, list[i]))
			return true;
	return false;
}

/* Without quota a retry does not help. */
static bool
error_is_quota(const struct provider_error *f)
{
	static const struct str codes[] = {
		STR_INIT("insufficient_quota"),
		STR_INIT("credit_balance_exhausted"),
		STR_INIT("organization_spend_limit_exceeded"),
		STR_INIT("project_spend_limit_exceeded"),
		STR_INIT("organization_usage_limit_exceeded"),
		STR_INIT("billing_error"),
	};

	return error_is_one_of(f->type, codes, NELEM(codes)) ||
	    error_is_one_of(f->code, codes, NELEM(codes));
}

static bool
error_mentions(const struct provider_error *f, struct str words)
{
	return str_find(f->text, words) >= 0;
}

/* Some say it in the text only; other errors may quote such text. */
static bool
error_is_too_long(int status, const struct provider_error *f)
{
	if (str_eq(f->code, STR("context_length_exceeded")) ||
	    str_eq(f->type, STR("exceed_context_size_error")) ||
	    str_eq(f->type, STR("request_too_large")))
		return true;
	return status == 400 &&
	    (error_mentions(f, STR("prompt is too long")) ||
		error_mentions(f, STR("maximum context length")) ||
		error_mentions(f, STR("context_length_exceeded")));
}

/* In a stream the code may be a status, or the type implies one. */
static int
error_status(const struct provider_error *f)
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
provider_error_rc(int status, const struct provider_error *f)
{
	if (status == 0)
		status = error_status(f);
	if (error_is_quota(f) ||
	    (status == 400 &&
		error_mentions(f, STR("credit balance is too low"))))
		return RC_DENIED;
	if (error_is_too_long(status, f) || status == 413)
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

/* ---- the line for the log ----
 *
 * A provider may quote the request: the substrings of its line are searched for
 * in one pass over all texts of the chat.
 */

/* So many consecutive bytes are taken for a quote of a text, or of a key. */
#define SHARED     6
#define KEY_SHARED 4
/* A longer word is taken for a key. */
#define WORD_MAX 40
#define BITS     4096

struct error_line {
	char p[PROVIDER_ERROR_LINE_MAX + 1]; /* as received */
	char low[PROVIDER_ERROR_LINE_MAX + 1];
	size_t n;
	bool hide[PROVIDER_ERROR_LINE_MAX + 1],
	    key[PROVIDER_ERROR_LINE_MAX + 1];
	unsigned char bits[BITS / 8]; /* hashes of its substrings */
};

static char
line_lower(char c)
{
	return (char)tolower((unsigned char)c);
}

static unsigned
line_hash(const char *p)
{
	unsigned h = 2166136261U;

	for (size_t i = 0; i < SHARED; i++)
		h = (h ^ (unsigned char)line_lower(p[i])) * 16777619U;
	return (h ^ h >> 15) % BITS;
}

static bool
line_same(const char *low, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (low[i] != line_lower(text[i]))
			return false;
	return true;
}

static void
line_take_first(struct error_line *l, struct str text)
{
	struct str rest = str_trim(text), first = str_split(&rest, '\n');
	char *escape;

	/* Truncates at a code point boundary. */
	str_copy(first, l->p, sizeof(l->p));
	escape = strchr(l->p, '\\');
	if (escape != NULL)
		*escape = '\0';
	l->n = strlen(l->p);
	for (size_t i = 0; i < l->n; i++)
		l->low[i] = line_lower(l->p[i]);
	for (size_t i = 0; i + SHARED <= l->n; i++) {
		unsigned h = line_hash(l->p + i);
		l->bits[h / 8] |= (unsigned char)(1U << h % 8);
	}
}

/* A text shorter than SHARED is hidden only as a whole. */
static void
line_hide_short(struct error_line *l, struct str text)
{
	text = str_trim(text);
	for (size_t i = 0; text.n > 1 && i + text.n <= l->n; i++)
		if (line_same(l->low + i, text.p, text.n))
			memset(l->hide + i, true, text.n);
}

static void
line_hide_text(struct error_line *l, struct str text)
{
	if (text.n < SHARED) {
		line_hide_short(l, text);
		return;
	}
	for (size_t k = 0; k + SHARED <= text.n; k++) {
		unsigned h = line_hash(text.p + k);
		if ((l->bits[h / 8] & 1U << h % 8) == 0)
			continue;
		for (size_t i = 0; i + SHARED <= l->n; i++)
			if (line_same(l->low + i, text.p + k, SHARED))
				memset(l->hide + i, true, SHARED);
	}
}

static void
line_hide_chat(struct error_line *l, const struct llm_chat *chat)
{
	for (size_t i = 0; i < chat->nmessages; i++) {
		const struct llm_message *m = &chat->messages[i];
		line_hide_text(l, m->text);
		for (size_t k = 0; k < m->ncalls; k++)
			line_hide_text(l, m->calls[k].arguments);
	}
	for (size_t i = 0; i < chat->ntools; i++) {
		line_hide_text(l, chat->tools[i].description);
		line_hide_text(l, chat->tools[i].parameters);
	}
}

static bool
line_has_key_part(
    const struct error_line *l, size_t from, size_t to, struct str key)
{
	for (size_t i = from; i + KEY_SHARED <= to; i++)
		for (size_t k = 0; k + KEY_SHARED <= key.n; k++)
			if (memcmp(l->p + i, key.p + k, KEY_SHARED) == 0)
				return true;
	return key.n > 0 && key.n < KEY_SHARED && to - from >= key.n &&
	    memmem(l->p + from, to - from, key.p, key.n) != NULL;
}

static void
line_hide_keys(struct error_line *l, struct str key)
{
	size_t to;

	for (size_t i = 0; i < l->n; i = to + 1) {
		for (to = i; to < l->n && l->p[to] != ' ';)
			to++;
		if (to - i > WORD_MAX || line_has_key_part(l, i, to, key) ||
		    (to - i > 3 && line_same("sk-", l->p + i, 3)))
			memset(l->key + i, true, to - i);
	}
}

static void
line_put(const struct error_line *l, struct buf *out)
{
	for (size_t i = 0; i < l->n; i++) {
		bool first = i == 0 || l->key[i] != l->key[i - 1] ||
		    l->hide[i] != l->hide[i - 1];
		if (l->key[i])
			buf_puts(out, first ? "***" : "");
		else if (l->hide[i])
			buf_puts(out, first ? "…" : "");
		else
			buf_putc(out, l->p[i]);
	}
}

void
provider_error_line(struct str text, struct str key,
    const struct llm_chat *chat, struct buf *out)
{
	struct error_line l = { .n = 0 };
	struct buf shown = BUF_INIT(3 * PROVIDER_ERROR_LINE_MAX + 1);
	struct str s;
	size_t pos = 0;

	line_take_first(&l, text);
	line_hide_chat(&l, chat);
	line_hide_keys(&l, key);
	line_put(&l, &shown);
	/* Hiding may have split a character. */
	for (s = buf_str(&shown); pos < s.n && pos < PROVIDER_ERROR_LINE_MAX;) {
		size_t start = pos;
		int32_t cp = str_utf8_next(s, &pos);

		if (cp < 0)
			pos++;
		else if (cp < 0x20 || (cp >= 0x7f && cp <= 0x9f))
			buf_putc(out, '?');
		else if (pos <= PROVIDER_ERROR_LINE_MAX)
			buf_put(out, s.p + start, pos - start);
	}
	buf_free(&shown);
}
