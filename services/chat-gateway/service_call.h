/*
 * service_call: requests to another service, of which the reply is that of the
 * route.
 */
#ifndef CHAT_GATEWAY_SERVICE_CALL_H
#define CHAT_GATEWAY_SERVICE_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "peer_request.h"

struct gateway;
struct svc_call;
struct wire_desc;

/* Where a request goes. */
struct service_call_peer {
	const char *subject;
	const struct wire_desc *request, *reply;
	int64_t timeout_ms;
	const char *missing; /* the error if no service replies */
};

/*
 * service_call_message(c, n): n bytes for a message, zeroed, that live as long
 * as c; NULL: c has been ended.
 */
void *service_call_message(struct svc_call *c, size_t n);

/*
 * service_call_send(g, c, peer, msg, fn):
 * Send msg, which lives as long as c, to the service.  fn is called with its
 * reply, q->reply, in a fiber, and ends c; NULL: the reply is that of c.  An
 * error ends c here.
 */
typedef void (*service_call_fn)(
    struct svc_call *c, const struct peer_request *q);
void service_call_send(struct gateway *g, struct svc_call *c,
    const struct service_call_peer *peer, const void *msg, service_call_fn fn);

#endif /* !CHAT_GATEWAY_SERVICE_CALL_H */
