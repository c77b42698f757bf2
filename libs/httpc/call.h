/*
 * call: one request and its answer, and the client it belongs to.  Private.
 */
#ifndef HTTPC_CALL_H
#define HTTPC_CALL_H

#include <stdbool.h>
#include <sys/queue.h>

#include "core/buf.h"
#include "httpc/httpc.h"

#define CALL_WHY_MAX 256

enum call_state {
	CALL_QUEUED, /* waits for its turn */
	CALL_ACTIVE, /* curl has it */
	CALL_DEAD    /* cancelled inside curl, which still has it */
};

TAILQ_HEAD(call_list, httpc_call);

struct httpc {
	struct loop *loop;
	void *multi; /* CURLM */
	char *proxy;
	char *ca_file;
	size_t active_max, queue_max;
	struct call_list queue, active;
	size_t nqueue, nactive;
	struct loop_timer timer; /* curl's */
	bool in_curl;            /* curl has called us and must not be called */
	bool pumping;            /* calls are being started and ended */
	size_t ndead;            /* calls cancelled in_curl, still in active */
	bool closing;
	struct metric *by_rc[RC_N];
	struct metric *seconds;
	struct metric *active_gauge;
	struct metric *queue_gauge;
};

struct httpc_call {
	TAILQ_ENTRY(httpc_call) link;
	struct httpc *client;
	enum call_state state;
	void *easy;    /* CURL */
	void *headers; /* struct curl_slist */
	httpc_chunk_fn on_chunk;
	httpc_done_fn on_done;
	void *arg;
	struct mono start, due;
	struct mono heard; /* last byte; 0: none yet */
	int64_t first_byte_ms, idle_ms;
	struct loop_timer timer;
	struct buf body;
	size_t body_max, body_n, head_n;
	bool head_ended;      /* the empty line has come */
	enum rc stop;         /* why we ended the transfer; RC_OK: we did not */
	const char *stop_why; /* the same for people */
	char why[CALL_WHY_MAX]; /* curl's words */
};

/*
 * call_new(c, rq, out):
 * A call with its curl handle, belonging to no list yet.  RC_INVALID as
 * httpc_start().
 */
enum rc call_new(struct httpc *c, const struct httpc_request *rq,
    struct httpc_call **out) RC_CHECK;

/* call_free(call): Its handle must not be curl's multi's any more. */
void call_free(struct httpc_call *call);

/* call_rc(call, code): What curl's result means, or call->stop. */
enum rc call_rc(struct httpc_call *call, int code);

/* call_why(call): Why it failed, for people. */
const char *call_why(const struct httpc_call *call);

/*
 * call_next(call, why):
 * The moment of the call's next time-out; *why then says which it would be.
 */
struct mono call_next(const struct httpc_call *call, const char **why);

/* call_on_timer(call): The callback of call->timer. */
void call_on_timer(void *call);

#endif /* !HTTPC_CALL_H */
