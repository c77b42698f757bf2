/*
 * peer_call: a request to another service, whose reply the fiber waits for; and
 * an acknowledged publish to a stream.
 */
#ifndef SVC_PEER_CALL_H
#define SVC_PEER_CALL_H

#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"

struct bus;
struct wire_desc;

struct peer_call {
	struct bus *bus;
	const char *subject;
	const struct wire_desc *request, *reply;
	int64_t ms;
	const struct trace *trace;
	struct arena *a; /* of the reply */
};

/*
 * peer_call(c, msg, out):
 * *out is the reply, a struct of c->reply in c->a.  RC_DOWN: nothing serves the
 * subject, or NATS is not connected; RC_TIMEOUT; RC_INVALID and others as the
 * service replied, logged.  Only in a fiber.
 */
enum rc peer_call(
    const struct peer_call *c, const void *msg, void **out) RC_CHECK;

/*
 * peer_publish(bus, subject, id, json, trace):
 * Have a stream store json; the same id is stored a single time.  Only in a
 * fiber.
 */
struct peer_item {
	const char *subject, *id;
	struct str json;
	const struct trace *trace;
};
enum rc peer_publish(struct bus *bus, const struct peer_item *item) RC_CHECK;

#endif /* !SVC_PEER_CALL_H */
