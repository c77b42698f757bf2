/*
 * The position of a reader.
 */
#include "streams/event_cursor.h"

/* Largest integer that JSON carries safely. */
#define EVENT_SEQ_MAX 9007199254740991

enum event_cursor_step
event_cursor_live(const struct event_cursor *c, int64_t seq)
{
	if (seq <= c->last)
		return EVENT_CURSOR_DROP;
	return seq == c->last + 1 ? EVENT_CURSOR_SEND : EVENT_CURSOR_READ;
}

bool
event_cursor_take(struct event_cursor *c, int64_t seq)
{
	if (seq <= c->last)
		return false;
	if (seq > c->last + 1)
		c->gap = true;
	c->last = seq;
	return true;
}

bool
event_cursor_end(struct event_cursor *c, int64_t newest)
{
	if (c->last > newest) {
		*c = (struct event_cursor){ .last = 0, .gap = true };
		return newest == 0;
	}
	if (c->last < newest)
		*c = (struct event_cursor){ .last = newest, .gap = true };
	return true;
}

enum rc
event_cursor_parse(struct str header, struct str query, int64_t *after)
{
	struct str text = header.p != NULL ? header : query;

	*after = -1;
	if (text.p == NULL)
		return RC_OK;
	return str_to_i64(text, 0, EVENT_SEQ_MAX, after);
}
