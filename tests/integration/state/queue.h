/*
 * queue: the functions of a session's queue, for tests of nothing else that
 * these do: no record, no events.
 */
#ifndef STATE_QUEUE_H
#define STATE_QUEUE_H

#include "state/turn.h"

static inline enum rc
queue_enter(struct state *s, const struct turn_slot *p, int64_t *ahead)
{
	struct arena *a = arena_new(4096);
	struct turn_entry e = { .said = { NULL, 0 } };
	struct turn_entered in;

	enum rc rc = turn_enter(s, p, &e, a, &in);
	*ahead = in.ahead;
	arena_free(a);
	return rc;
}

static inline enum rc
queue_input(struct state *s, const struct turn_slot *p,
    const struct session_new *new, const struct turn_input *in)
{
	struct turn_events nothing = { .n = 0 };

	return turn_append_input(s, p, new, in, &nothing);
}

static inline enum rc
queue_leave(struct state *s, const struct turn_slot *p, struct arena *a,
    struct str *next)
{
	struct turn_ending end = { .forget = false };

	enum rc rc = turn_leave(s, p, &end, a);
	*next = end.next;
	return rc;
}

static inline enum rc
queue_finish(struct state *s, const struct turn_slot *p,
    const struct session_new *new, struct arena *a, struct str *next)
{
	struct turn_ending end = { .forget = false };

	enum rc rc = turn_finish(s, p, new, &end, a);
	*next = end.next;
	return rc;
}

#endif /* !STATE_QUEUE_H */
