/*
 * From the newest message back to where the tokens are used up.
 */
#include "budget.h"

#include "core/mem.h"

/* Role, separators: what every message and every call costs besides. */
#define OVERHEAD 4
/* From here on (CJK radicals) a code point counts as a token. */
#define WIDE_MIN   0x2E80
#define LEFT_OUT   "……"
#define NARROW_PER 4

size_t
budget_tokens(struct str s)
{
	size_t pos = 0, wide = 0, narrow = 0;

	while (pos < s.n) {
		size_t at = pos;
		int32_t c = str_utf8_next(s, &pos);
		if (c < 0)
			pos++;
		if (c >= WIDE_MIN)
			wide++;
		else
			narrow += pos - at;
	}
	return wide + (narrow + NARROW_PER - 1) / NARROW_PER;
}

size_t
budget_message(const struct llm_message *m)
{
	size_t n = OVERHEAD + budget_tokens(m->text);

	for (size_t i = 0; i < m->ncalls; i++)
		n += OVERHEAD + budget_tokens(m->calls[i].name) +
		    budget_tokens(m->calls[i].arguments);
	return n;
}

/* The first bytes of s that have max tokens at most. */
static size_t
head(struct str s, size_t max)
{
	size_t pos = 0, quarters = 0;

	while (pos < s.n) {
		size_t at = pos;
		int32_t c = str_utf8_next(s, &pos);
		if (c < 0)
			pos++;
		quarters += c >= WIDE_MIN ? NARROW_PER : pos - at;
		if (quarters > max * NARROW_PER)
			return at;
	}
	return pos;
}

/* Where the last max tokens of s begin. */
static size_t
tail(struct str s, size_t max)
{
	size_t at = s.n, quarters = 0;

	while (at > 0) {
		size_t from = at - 1;
		while (from > 0 && ((unsigned char)s.p[from] & 0xC0) == 0x80)
			from--;
		size_t pos = from;
		quarters +=
		    str_utf8_next(s, &pos) >= WIDE_MIN ? NARROW_PER : at - from;
		if (quarters > max * NARROW_PER)
			return at;
		at = from;
	}
	return 0;
}

struct str
budget_shorten(struct str s, size_t max, struct arena *a)
{
	if (budget_tokens(s) <= max)
		return s;
	size_t front = head(s, max - max / 3), back = tail(s, max / 3);
	if (back < front)
		back = front;
	return arena_printf(a, "%.*s" LEFT_OUT "%.*s", (int)front, s.p,
	    (int)(s.n - back), s.p + back);
}

static enum rc
shorten(struct llm_message *m, size_t each, struct arena *a)
{
	struct llm_tool_call *calls;
	bool had = m->text.p != NULL;

	m->text = budget_shorten(m->text, each, a);
	if (had && m->text.p == NULL)
		return RC_TOOBIG;
	if (m->ncalls == 0 || budget_message(m) <= 2 * each)
		return RC_OK;
	calls = arena_alloc(a, m->ncalls * sizeof(*calls));
	if (calls == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < m->ncalls; i++) {
		calls[i] = m->calls[i];
		calls[i].arguments = STR("{}");
	}
	m->calls = calls;
	return RC_OK;
}

enum rc
budget_fit(struct history_list *l, size_t tokens, size_t each, struct arena *a)
{
	size_t first = l->n, used = 0;

	for (size_t i = l->n; i > 0; i--) {
		struct llm_message *m = &l->list[i - 1];
		enum rc rc = shorten(m, each, a);
		if (rc != RC_OK)
			return rc;
		used += budget_message(m);
		if (used > tokens)
			break;
		/* What answers calls is not shown without them. */
		if (m->role != LLM_TOOL)
			first = i - 1;
	}
	l->list += first;
	l->n -= first;
	return RC_OK;
}
