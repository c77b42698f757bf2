/*
 * chat_turn: a chat whose turn an orchestrator runs, from the request to its
 * response or the end of its stream.  Shared by the files of chat/.
 */
#ifndef CHAT_GATEWAY_CHAT_CHAT_TURN_H
#define CHAT_GATEWAY_CHAT_CHAT_TURN_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/loop.h"
#include "core/rc.h"
#include "core/str.h"
#include "state/events.h"
#include "state/session.h"
#include "wire/msgs.h"

struct chat_turn;
struct fcmp_event;
struct follower;
struct gateway;
struct svc_call;
struct svc_error;
struct trace;
struct turn_record;

/* The error of a lost turn; its texts are those of fcmp_event_lost(). */
#define TURN_LOST_STATUS 502
#define TURN_LOST_CODE   "turn_lost"

/*
 * A form of the response that is not ours.  Errors before a stream has begun
 * are those of the route (svc_route.put_error).
 */
struct turn_form {
	/*
	 * The turn was accepted, or t->id, which it repeats: release it and end
	 * the call; the turn goes on.  NULL: wait for its end.  Not of a
	 * streamed turn.
	 */
	void (*accepted)(struct chat_turn *t);
	/* The turn is complete: release it and end the call. */
	void (*reply)(struct chat_turn *t, const struct wire_chat_response *m);
	/* An event of the stream, which has begun; as gateway_stream_send(). */
	enum rc (*event)(struct chat_turn *t, const struct fcmp_event *e);
	/* The stream, which has begun, ends with this error. */
	void (*fail)(struct chat_turn *t, const struct svc_error *e);
};

struct chat_turn {
	struct gateway *g;
	struct svc_call *c;
	const struct turn_form *form; /* NULL: the response is ours */
	void *form_arg;               /* in c's memory */
	/* What is to be run, in c's memory. */
	const struct wire_chat_request *chat;
	struct str interaction_id, content; /* absent: it is no reply */
	struct session_key key;             /* strings of c */
	char id[ID_MAX + 1];
	uint64_t request;          /* open bus request; 0: none */
	struct loop_timer silence; /* runs while the request is open */
	struct loop_timer record;  /* afterwards: polls the stored record */
	const char *why;           /* it is being abandoned; NULL: it is not */
	bool cancel;               /* when the client disconnects */
	const char *reason; /* of the error response, in c's memory, or NULL */

	/*
	 * Fibers that use it, which may be suspended, and whether the call has
	 * been released meanwhile: then they end without an effect.
	 */
	unsigned users;
	bool released;

	/* Of a streamed turn. */
	bool stream;
	bool begun;                /* the first event has been sent */
	bool has_final;            /* so has that with the reply's text */
	struct follower *follower; /* NULL: closed */
	int64_t sent;              /* seq of the last event */
	/*
	 * With replicas of Redis: the event that ends the turn, which is sent
	 * with its final reply, since the log may have it before they do.
	 */
	struct str end; /* absent: not read yet */
	int64_t end_seq;
	struct wire_turn_reply last; /* outcome, until the log has been read */
};

struct terminal;

/* What a turn is started with; all of it lives as long as the call. */
struct chat_turn_request {
	const struct wire_chat_request *chat;
	const struct terminal *terminal; /* as it was read; NULL: it was not */
	struct str interaction_id; /* the question it replies to; or absent */
	struct str content;        /* the reply */
	const struct turn_form *form;
	void *form_arg;
};

/*
 * chat_turn_start(g, c, user, req):
 * Run a turn, whose response ends c.
 */
void chat_turn_start(struct gateway *g, struct svc_call *c, struct str user,
    const struct chat_turn_request *req);

/* chat_turn_release(t): Free the turn; the caller ends the returned call. */
struct svc_call *chat_turn_release(struct chat_turn *t);

/*
 * chat_turn_enter(t), chat_turn_leave(t):
 * Around what may wait for Redis: t is not freed in between.
 */
void chat_turn_enter(struct chat_turn *t);
void chat_turn_leave(struct chat_turn *t);

/*
 * End the call and free the turn: with the turn's final reply, with an error,
 * or as lost (why is for the log).  A stream gets the events of its log first.
 */
void chat_turn_finish(struct chat_turn *t, const struct wire_turn_reply *rep);
void chat_turn_fail(struct chat_turn *t, const struct svc_error *e);
void chat_turn_lose(struct chat_turn *t, const char *why);
void chat_turn_lose_as(struct chat_turn *t, const char *why, const char *text);

/*
 * turn_recovery_start(t):         Take the outcome from the turn's record.
 * turn_recovery_follow(t, first): The same; t is a retry of the turn first.
 * turn_recovery_on_silence(t):    The orchestrator is silent: the turn is lost
 *                                 unless its record has an outcome.
 * turn_recovery_abandon(t, why):  Write the outcome "lost" to the record, so
 *                                 that the turn has no further effect, and
 *                                 respond so; an outcome that was stored before
 *                                 is the response instead.
 */
void turn_recovery_start(struct chat_turn *t);
void turn_recovery_follow(struct chat_turn *t, struct str first);
void turn_recovery_on_silence(struct chat_turn *t);
void turn_recovery_abandon(struct chat_turn *t, const char *why);

/*
 * turn_sse_accepted(accept): Whether an Accept header lists event streams.
 * turn_sse_start(t, after):  Follow the turn's events above that seq.  False:
 *                            the turn has ended.
 * turn_sse_finish(t, rep):   Send the rest of the log and end the turn.  False:
 *                            no event was sent and the turn has failed, so that
 *                            the response is an error.
 */
bool turn_sse_accepted(struct str accept);
bool turn_sse_start(struct chat_turn *t, int64_t after);
bool turn_sse_finish(struct chat_turn *t, const struct wire_turn_reply *rep);

struct turn_cancel_opts {
	struct str turn_id, user_id;
	struct str reason; /* for the log; may be absent */
	const struct trace *trace;
	/*
	 * Called once, not from turn_cancel_start(): RC_OK and whether the turn
	 * was canceled by this, or why that is unknown.  May be NULL.
	 */
	void (*fn)(void *arg, enum rc rc, bool canceled);
	void *arg;
};

/*
 * turn_cancel_start(g, o):
 * Ask the process that runs the turn to cancel it; repeated for 3 s, since the
 * turn may not have reached a process yet.  Strings and trace are copied.
 */
void turn_cancel_start(struct gateway *g, const struct turn_cancel_opts *o);

/*
 * turn_view_put(rec, id, now, a, out):
 * A known record as the message that its user gets, with strings of rec and a.
 * RC_INVALID if the stored outcome is invalid, RC_TOOBIG if a is full.  Pure.
 */
enum rc turn_view_put(const struct turn_record *rec, struct str id,
    struct wall now, struct arena *a, struct wire_turn_record *out) RC_CHECK;

/*
 * turn_detail_reply(g, c, user, id):
 * End c with a turn of the last day and its details, if the query has detail=1
 * and there are some.  False: c has not been ended.
 */
bool turn_detail_reply(
    struct gateway *g, struct svc_call *c, struct str user, struct str id);

#endif /* !CHAT_GATEWAY_CHAT_CHAT_TURN_H */
