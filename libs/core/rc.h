/*
 * rc: result codes of all libraries.
 *
 * A function that can fail returns enum rc and is marked RC_CHECK.  Codes of
 * third-party libraries do not leave the library that wraps them.  Running out
 * of memory is not a result: mem.h aborts.
 */
#ifndef CORE_RC_H
#define CORE_RC_H

#define RC_CHECK __attribute__((warn_unused_result))

enum rc {
	RC_OK = 0,
	RC_RETRY,    /* a queue is full: retry later */
	RC_TIMEOUT,  /* the deadline passed */
	RC_DOWN,     /* a dependency cannot be reached */
	RC_NOENT,    /* no such thing */
	RC_INVALID,  /* data of the peer or the caller is not valid */
	RC_TOOBIG,   /* over a limit */
	RC_DENIED,   /* not allowed */
	RC_CONFLICT, /* it exists or has changed meanwhile */
	RC_BUG,      /* an internal error */
	/* Done, but too few copies of the data have it: it may be lost. */
	RC_UNREPLICATED,
	RC_N /* number of codes; never returned */
};

/*
 * rc_name(rc):
 * The name in snake_case, for logs and the member "code" of error responses:
 * "deadline_exceeded" for RC_TIMEOUT.  Never NULL.
 */
const char *rc_name(enum rc rc);

/*
 * rc_http_status(rc):
 * The HTTP status for a request that ended with rc, 200 for RC_OK.
 */
int rc_http_status(enum rc rc);

#endif /* !CORE_RC_H */
