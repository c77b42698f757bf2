/*
 * memory_request: requests to memory-worker, and the responses when they fail.
 */
#ifndef CHAT_GATEWAY_MEMORIES_MEMORY_REQUEST_H
#define CHAT_GATEWAY_MEMORIES_MEMORY_REQUEST_H

#include <stddef.h>

#include "peer_request.h"

struct svc_call;
struct wire_memory_forget_request;

enum memory_request_kind {
	MEMORY_REQUEST_LIST,
	MEMORY_REQUEST_RECALL,
	MEMORY_REQUEST_FORGET,
	MEMORY_REQUEST_PROFILE
};

/*
 * memory_request_new(g, c, kind, fn):
 * As peer_request_new(), with subject, schemas and deadline of the kind.
 * memory_request_set_kind(q, kind):
 * Set these of an existing request.
 * memory_request_send(q, msg):
 * peer_request_send(); on failure q->arg, a call, is ended.
 */
struct peer_request *memory_request_new(struct gateway *g, struct svc_call *c,
    enum memory_request_kind kind, peer_request_fn fn);
void memory_request_set_kind(
    struct peer_request *q, enum memory_request_kind kind);
void memory_request_send(struct peer_request *q, const void *msg);

/*
 * memory_request_forget(g, c, req, fn):
 * Send a forget request whose strings live as long as c; fn finds a copy of req
 * in q->msg.  On failure c is ended.
 */
void memory_request_forget(struct gateway *g, struct svc_call *c,
    const struct wire_memory_forget_request *req, peer_request_fn fn);

/*
 * memory_request_audit(q, rc):
 * Publish the audit events of a forget request that ended with rc: after RC_OK
 * how many memories were deleted and whether the profile was; after a failure
 * that may have deleted some, that the number is unknown.
 * memory_request_audit_deleted(c, of, n):
 * The same for n memories of that user and soul.
 */
void memory_request_audit(struct peer_request *q, enum rc rc);
void memory_request_audit_deleted(
    struct svc_call *c, const struct wire_memory_forget_request *of, size_t n);

struct memory_request_error {
	enum rc rc;
	const char *text; /* lives as long as the request */
};

/*
 * memory_request_error(q, rc):   The error of a request that ended with rc.
 * memory_request_fail(c, q, rc): End c with it.
 */
struct memory_request_error memory_request_error(
    const struct peer_request *q, enum rc rc);
void memory_request_fail(
    struct svc_call *c, const struct peer_request *q, enum rc rc);

#endif /* !CHAT_GATEWAY_MEMORIES_MEMORY_REQUEST_H */
