/*
 * peer_request: one request of a route to another service over NATS.
 */
#ifndef CHAT_GATEWAY_PEER_REQUEST_H
#define CHAT_GATEWAY_PEER_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"

struct arena;
struct gateway;
struct peer_request;
struct svc_call;
struct wire_desc;

/*
 * Called once in a fiber, unless peer_request_cancel() was: RC_OK and
 * q->reply; RC_BUG if the reply is invalid; RC_DOWN if no service subscribes to
 * the subject; otherwise as bus_request(), with q->error.
 */
typedef void (*peer_request_fn)(struct peer_request *q, enum rc rc);

/* Owned by the caller; must live until fn was called. */
struct peer_request {
	struct gateway *g;
	const char *subject;
	const struct wire_desc *request_desc, *reply_desc;
	int64_t timeout_ms;
	const struct trace *trace;
	struct arena *a; /* for the reply */
	peer_request_fn fn;
	void *arg;
	const void *msg; /* the request, if the caller stores it for fn */
	void *reply;     /* the struct of reply_desc, in a */
	/* Text and code of an error reply, in a; or absent. */
	struct str error, code;
	/* Private. */
	uint64_t id;
	bool open;
	enum rc rc;
};

/*
 * peer_request_new(g, c, fn):
 * A request in the memory of c, which is its arg; subject and schemas are not
 * set yet.  NULL if there is no room: c has been ended.
 */
struct peer_request *peer_request_new(
    struct gateway *g, struct svc_call *c, peer_request_fn fn);

/*
 * peer_request_send(q, msg):
 * Send msg, a struct of request_desc.  fn is called only after RC_OK.
 * RC_INVALID if msg breaks its schema, q->error says where.  Otherwise as
 * bus_request().
 */
enum rc peer_request_send(struct peer_request *q, const void *msg) RC_CHECK;

/* peer_request_cancel(q): Do not call fn any more.  No-op after fn. */
void peer_request_cancel(struct peer_request *q);

#endif /* !CHAT_GATEWAY_PEER_REQUEST_H */
