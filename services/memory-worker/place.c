/*
 * Tokens of ids have no dot, so four parts between dots are enough.
 */
#include "place.h"

static int
compare(struct wall ta, struct str a, struct wall tb, struct str b)
{
	if (ta.ms != tb.ms)
		return ta.ms < tb.ms ? -1 : 1;
	return str_cmp(a, b);
}

int
place_compare_soul(const struct place *a, const struct place *b)
{
	return compare(a->made, a->soul_id, b->made, b->soul_id);
}

int
place_compare(const struct place *a, const struct place *b)
{
	int souls = place_compare_soul(a, b);

	return souls != 0 ? souls
			  : compare(a->created, a->id, b->created, b->id);
}

struct str
place_write(const struct place *p, struct arena *a)
{
	char soul[ID_TOKEN_MAX], id[ID_TOKEN_MAX];

	if (id_token(p->soul_id, soul) != RC_OK || id_token(p->id, id) != RC_OK)
		return (struct str){ NULL, 0 };
	return arena_printf(a, "%lld.%s.%lld.%s", (long long)p->made.ms, soul,
	    (long long)p->created.ms, id);
}

static enum rc
read_half(struct str *s, struct arena *a, struct wall *t, struct str *id)
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
place_read(struct str s, struct arena *a, struct place *out)
{
	enum rc rc;

	rc = read_half(&s, a, &out->made, &out->soul_id);
	if (rc == RC_OK && s.p == NULL)
		rc = RC_INVALID;
	if (rc == RC_OK)
		rc = read_half(&s, a, &out->created, &out->id);
	return rc == RC_OK && s.p != NULL ? RC_INVALID : rc;
}
