/*
 * peer_request: requests of a turn to other services.
 *
 * A request that had no responder is retried until its deadline, so that a
 * restarting service is waited for.  A request that may have been received is
 * sent again only with resend_ms.
 */
#ifndef LLM_ORCHESTRATOR_PEER_REQUEST_H
#define LLM_ORCHESTRATOR_PEER_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"

struct turn_run;
struct wire_desc;

/* Size of any subject, including the NUL. */
#define PEER_SUBJECT_MAX 512

/*
 * RC_OK and the decoded reply, taken from the turn's arena.  Otherwise, with
 * NULL, or with takes_error the wire_error of an error reply:
 * RC_NOENT: no responder; RC_TIMEOUT: no reply, or the connection was lost
 * after sending; RC_INVALID: the reply does not match its schema; else the code
 * of an error reply.
 */
typedef void (*peer_reply_fn)(
    struct turn_run *r, size_t call, enum rc rc, const void *msg);

struct peer_request_opts {
	const char *subject;
	const struct wire_desc *request; /* of msg; NULL: json is sent */
	const void *msg;
	struct str json;
	const struct wire_desc *reply;
	int64_t timeout_ms;
	int64_t resend_ms; /* of an idempotent request; 0: sent once */
	/* The peer must not act after that; {0}: no limit.  Not with
	 * resend_ms. */
	struct wall act_by;
	bool no_retry;    /* without a responder, fail at once */
	bool takes_error; /* fn wants the text of an error reply */
	size_t call;      /* passed to fn */
	peer_reply_fn fn;
	/* Whether another reply follows msg; NULL: there is one. */
	bool (*is_partial)(const void *msg);
};

/*
 * peer_request_send(r, opts):
 * Send, and call fn exactly once, never from within, unless the turn ends
 * before; with is_partial, also for each partial reply before.  Everything is
 * copied.
 */
void peer_request_send(
    struct turn_run *r, const struct peer_request_opts *opts);

/* peer_request_cancel_all(r): Drop all pending requests of a turn. */
void peer_request_cancel_all(struct turn_run *r);

/*
 * peer_subject(dst, fmt, a, b):
 * The subject of one or two ids (b absent: one); fmt is a WIRE_SUBJECT_FMT_x.
 * RC_INVALID if one is not an id.
 */
enum rc peer_subject(char dst[PEER_SUBJECT_MAX], const char *fmt, struct str a,
    struct str b) RC_CHECK;

#endif /* !LLM_ORCHESTRATOR_PEER_REQUEST_H */
