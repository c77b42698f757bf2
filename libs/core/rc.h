/*
 * rc: the result codes that cross library borders.
 *
 * A function that can fail returns enum rc and is marked RC_CHECK.  Codes of
 * third-party libraries never leave the library that wraps them.  Running out
 * of memory is not a result: mem.h aborts.
 */
#ifndef CORE_RC_H
#define CORE_RC_H

#define RC_CHECK __attribute__((warn_unused_result))

enum rc {
	RC_OK = 0,
	RC_RETRY,    /* a queue is full: try later */
	RC_TIMEOUT,  /* the deadline passed */
	RC_DOWN,     /* a dependency cannot be reached */
	RC_NOENT,    /* no such thing */
	RC_INVALID,  /* the peer or the caller's data broke the contract */
	RC_TOOBIG,   /* over a ceiling */
	RC_DENIED,   /* not allowed */
	RC_CONFLICT, /* the thing exists or has changed meanwhile */
	RC_BUG,      /* an impossible state; look at the code */
	RC_N         /* how many there are; never returned */
};

/*
 * rc_name(rc):
 * The code's snake_case name for logs and for the "code" member of error
 * answers, e.g. "deadline_exceeded" for RC_TIMEOUT.  Never NULL.
 */
const char *rc_name(enum rc rc);

/*
 * rc_http_status(rc):
 * The HTTP status that answers a request which ended with rc (200 for RC_OK).
 */
int rc_http_status(enum rc rc);

#endif /* !CORE_RC_H */
