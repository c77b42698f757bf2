/*
 * Numbers of events, compared.
 */
#include "cursor.h"

/* The largest whole number that JSON carries safely. */
#define SEQ_MAX 9007199254740991

enum cursor_step
cursor_live(const struct cursor *c, int64_t seq)
{
	if (seq <= c->last)
		return CURSOR_DROP;
	return seq == c->last + 1 ? CURSOR_SEND : CURSOR_READ;
}

bool
cursor_take(struct cursor *c, int64_t seq)
{
	if (seq <= c->last)
		return false;
	if (seq > c->last + 1)
		c->gone = true;
	c->last = seq;
	return true;
}

bool
cursor_end(struct cursor *c, int64_t newest)
{
	if (c->last > newest) {
		*c = (struct cursor){ .last = 0, .gone = true };
		return newest == 0;
	}
	if (c->last < newest)
		*c = (struct cursor){ .last = newest, .gone = true };
	return true;
}

enum rc
cursor_parse(struct str header, struct str query, int64_t *after)
{
	struct str said = header.p != NULL ? header : query;

	*after = -1;
	if (said.p == NULL)
		return RC_OK;
	return str_to_i64(said, 0, SEQ_MAX, after);
}
