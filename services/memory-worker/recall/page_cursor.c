/*
 * Tokens of ids contain no dot, so four parts separated by dots are
 * unambiguous.
 */
#include "recall/page_cursor.h"

static int
page_cursor_compare_at(
    struct wall ta, struct str a, struct wall tb, struct str b)
{
	if (ta.ms != tb.ms)
		return ta.ms < tb.ms ? -1 : 1;
	return str_cmp(a, b);
}

int
page_cursor_compare_soul(
    const struct page_cursor *a, const struct page_cursor *b)
{
	return page_cursor_compare_at(a->made, a->soul_id, b->made, b->soul_id);
}

int
page_cursor_compare(const struct page_cursor *a, const struct page_cursor *b)
{
	int souls = page_cursor_compare_soul(a, b);

	return souls != 0
	    ? souls
	    : page_cursor_compare_at(a->created, a->id, b->created, b->id);
}

struct str
page_cursor_write(const struct page_cursor *p, struct arena *a)
{
	char soul[ID_TOKEN_MAX], id[ID_TOKEN_MAX];

	if (id_token(p->soul_id, soul) != RC_OK || id_token(p->id, id) != RC_OK)
		return (struct str){ NULL, 0 };
	return arena_printf(a, "%lld.%s.%lld.%s", (long long)p->made.ms, soul,
	    (long long)p->created.ms, id);
}

static enum rc
page_cursor_read_half(
    struct str *s, struct arena *a, struct wall *t, struct str *id)
{
	struct str ms = str_split(s, '.'), token = str_split(s, '.');
	char text[ID_MAX + 1];

	if (str_to_i64(ms, 0, INT64_MAX, &t->ms) != RC_OK ||
	    id_untoken(token, text) != RC_OK)
		return RC_INVALID;
	*id = arena_str(a, str_of(text));
	return id->p != NULL ? RC_OK : RC_TOOBIG;
}

enum rc
page_cursor_read(struct str s, struct arena *a, struct page_cursor *out)
{
	enum rc rc;

	rc = page_cursor_read_half(&s, a, &out->made, &out->soul_id);
	if (rc == RC_OK && s.p == NULL)
		rc = RC_INVALID;
	if (rc == RC_OK)
		rc = page_cursor_read_half(&s, a, &out->created, &out->id);
	return rc == RC_OK && s.p != NULL ? RC_INVALID : rc;
}
