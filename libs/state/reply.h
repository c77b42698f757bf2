/*
 * reply: building struct state_reply from what hiredis parses.
 */
#ifndef STATE_REPLY_H
#define STATE_REPLY_H

#include "core/arena.h"
#include "state/state.h"

struct redisReplyObjectFunctions;

struct state_reply {
	enum state_kind kind;
	int64_t i;
	struct str s;
	struct state_reply *elem; /* s.n is 0 and n their number */
	size_t n;
	struct arena *owner; /* of a reply freed alone: what it lies in */
};

/* Where the parser puts replies; handed to it as private data. */
struct reply_sink {
	struct arena *a;
	bool over; /* a did not suffice */
};

/* reply_functions(f): The parser's callbacks. */
void reply_functions(struct redisReplyObjectFunctions *f);

/* reply_rc(r): What an answer means, as state.h tells. */
enum rc reply_rc(const struct state_reply *r);

/* reply_error_is(r, code): Whether r is an error of that code (first word). */
bool reply_error_is(const struct state_reply *r, struct str code);

/*
 * reply_unusable(r):
 * Whether r is an error that a new connection may not have: the server became
 * a replica, or loads its data, or wants a password again.
 */
bool reply_unusable(const struct state_reply *r);

#endif /* !STATE_REPLY_H */
