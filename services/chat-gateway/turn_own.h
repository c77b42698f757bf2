/*
 * turn_own: what the parts of turn share; nobody else includes it.
 */
#ifndef CHAT_GATEWAY_TURN_OWN_H
#define CHAT_GATEWAY_TURN_OWN_H

#include "core/id.h"
#include "core/loop.h"
#include "state/session.h"
#include "turn.h"
#include "wire/msgs.h"

struct svc_error;

/* The error of a turn that is lost. */
#define TURN_LOST_STATUS 502
#define TURN_LOST_CODE   "turn_lost"
#define TURN_LOST_TEXT   "the turn was lost"

/* Its text if a body may have acted. */
#define TURN_LOST_DID "the turn was lost; an action may have been carried out"

/* A turn that waits for its answers. */
struct turn {
	struct gateway *g;
	struct svc_call *c;
	struct session_key key; /* of c */
	char id[ID_MAX + 1];
	uint64_t request;          /* 0: nobody is asked any more */
	struct loop_timer silence; /* while one is asked */
	struct loop_timer record;  /* afterwards: what is kept is looked at */
	const char *why;           /* it is given up; NULL: it is not */
	bool cancel;               /* when the client hangs up */
	const char *reason;        /* of its error, in c's memory; NULL: none */

	/* Of a turn that is streamed. */
	bool stream;
	bool begun;                  /* the stream has */
	struct follow *follow;       /* NULL: closed */
	int64_t sent;                /* seq of the last event */
	struct wire_turn_reply last; /* its end, while the log is not read */
};

/* turn_end(t): Forget the turn; its call is the caller's to end. */
struct svc_call *turn_end(struct turn *t);

/*
 * How it ends for the client: as its last reply says, with an error, or lost.
 * One that is streamed gets what its log has before that.
 */
void turn_conclude(struct turn *t, const struct wire_turn_reply *rep);
void turn_fail(struct turn *t, const struct svc_error *e);
void turn_lose(struct turn *t, const char *why);
void turn_lose_as(struct turn *t, const char *why, const char *text);

/*
 * turn_of_record(t): From now on its record says how the turn ends.
 * turn_repeats(t, first): The same, but it is the turn first.
 * turn_was_silent(t): It is lost, unless its record has an end.
 */
void turn_of_record(struct turn *t);
void turn_repeats(struct turn *t, struct str first);
void turn_was_silent(struct turn *t);

/*
 * turn_give_up(t, why):
 * End the turn itself, so that nothing more comes of it, and answer so; an end
 * that it had already is the answer instead.
 */
void turn_give_up(struct turn *t, const char *why);

/*
 * turn_follow(t, after): Follow its events; false: t has ended.
 * turn_stream_end(t, rep): Send what its log has and end t.  False: nothing was
 * ever told, and it has failed: an answer says so.
 */
bool turn_follow(struct turn *t, int64_t after);
bool turn_stream_end(struct turn *t, const struct wire_turn_reply *rep);

#endif /* !CHAT_GATEWAY_TURN_OWN_H */
