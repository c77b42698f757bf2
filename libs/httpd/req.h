/*
 * req: a request between the two that hold it, the worker that owns its
 * connection and the handler that answers it.  Private to httpd.
 *
 * Each side has one reference and drops it when it is done; the last frees.
 * What stands above the lock is written before the handler sees the request
 * and constant from then on; what stands below is the handler's answer.
 */
#ifndef HTTPD_REQ_H
#define HTTPD_REQ_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"
#include "httpd/head.h"
#include "httpd/httpd.h"
#include "httpd/peer.h"
#include "httpd/route.h"
#include "httpd/uri.h"

/* Room for an answer's Content-Type, NUL included. */
#define REQ_TYPE_MAX 64

enum req_state {
	REQ_OPEN,     /* nobody has answered yet */
	REQ_ANSWERED, /* status, type and out are the answer */
	REQ_STREAM,   /* out has what the reader has not been sent */
	REQ_ENDED     /* was a stream; out has its last bytes */
};

struct httpd_req {
	const struct httpd_route *route; /* NULL until one is found */
	char *text;                      /* what the views below point into */
	struct str method;
	struct str path;
	struct uri uri;
	struct route_match match;
	struct head_field *fields;
	size_t nfields;
	struct head head;
	bool http11;
	struct buf body;
	struct trace trace;
	struct peer client;      /* its text is "" where nobody needs it */
	struct str allow_origin; /* see cors_allow() */
	struct wall deadline;
	struct mono due; /* the same moment */

	/* Of the worker; guarded by the server's lock. */
	TAILQ_ENTRY(httpd_req) link;
	struct mono body_due;   /* 0: not reading */
	struct mono body_since; /* 0: not reading */
	bool entered;           /* the server's gate */
	int remote_port;
	char remote_addr[PEER_TEXT_MAX];

	/* Of the loop: see httpd_on_abort(). */
	void (*gone)(void *arg);
	void *gone_arg;

	/* Of the handler, before it answers. */
	int retry_s;           /* httpd_retry_after(); 0: not said */
	const char *challenge; /* httpd_challenge(), or NULL */

	_Atomic int refs;
	_Atomic bool settled; /* state is not REQ_OPEN; read without the lock */
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	enum req_state state;
	bool left;    /* the worker has gone; an answer only ends the request */
	bool closing; /* the server stops: the worker must go */
	bool over;    /* the stream's reader was too slow */
	bool raw;     /* of a stream: its bytes are the whole answer */
	bool lines;   /* of a stream: it has lines, not events */
	bool cut;     /* of lines: they are not all */
	bool keep;    /* of a raw one: the connection serves another */
	bool ended;   /* the worker does nothing more for it */
	void (*on_end)(void *arg); /* see httpd_on_end() */
	void *on_end_arg;
	bool watched; /* somebody wants to know when the client has gone */
	int status;
	int retry_after_s; /* 0: no Retry-After */
	char type[REQ_TYPE_MAX];
	struct buf out;
};

/* req_new(): An empty request with one reference, the worker's. */
struct httpd_req *req_new(void);

/* req_share(r): Add the handler's reference, before it is handed over. */
void req_share(struct httpd_req *r);

/* req_drop(r): Give up one reference; the last frees. */
void req_drop(struct httpd_req *r);

/* req_left(r): Whether the worker has gone.  Any thread. */
bool req_left(struct httpd_req *r);

/*
 * req_end(r): Worker: it has ended, as the last but req_drop().
 *
 * req_forget(r): Loop: the handler ends r, nothing is told to it any more.
 * req_tell_gone(r, l): Worker: tell the handler, if it asked, that nobody waits
 * any more.
 */
void req_end(struct httpd_req *r);
void req_forget(struct httpd_req *r);
void req_tell_gone(struct httpd_req *r, struct loop *l);

/* req_close(r): Tell the worker that waits in r to go.  Any thread. */
void req_close(struct httpd_req *r);

/*
 * req_wait(r, state):
 * Worker: wait for the answer until r->due.  RC_OK when there is one, which
 * then does not change any more, or a stream has begun; *state says which.
 * RC_RETRY: it is time to look whether the client is still there.
 * RC_TIMEOUT and RC_DOWN (the server stops) leave r to the handler: what it
 * answers later is dropped.
 */
enum rc req_wait(struct httpd_req *r, enum req_state *state) RC_CHECK;

/* req_leave(r): Worker: go, whatever the state; the handler will be told. */
void req_leave(struct httpd_req *r);

/*
 * req_stream_next(r, until, chunk):
 * Worker: wait for bytes of the stream and swap them into chunk, which is
 * emptied first.  RC_OK; RC_TIMEOUT if there were none until then; RC_RETRY as
 * of req_wait(); RC_NOENT
 * when the stream has ended and all was taken; RC_DOWN if the server stops or
 * the reader was too slow.
 */
enum rc req_stream_next(
    struct httpd_req *r, struct mono until, struct buf *chunk) RC_CHECK;

/*
 * req_answer(r, status, type, body): Put an answer, without ending r.
 * req_answer_error(r, status, code, text): The same with an error's JSON.
 */
void req_answer(
    struct httpd_req *r, int status, const char *type, struct str body);
void req_answer_error(
    struct httpd_req *r, int status, const char *code, const char *text);

/*
 * req_error_json(out, code, text, trace):
 * {"error": text, "code": code, "trace_id": trace}; bytes of text that are not
 * UTF-8 become U+FFFD.
 */
void req_error_json(struct buf *out, const char *code, const char *text,
    const struct trace *trace);

#endif /* !HTTPD_REQ_H */
