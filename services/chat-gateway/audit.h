/*
 * audit: what an operator may be asked about: who did it, to whom, from where.
 */
#ifndef CHAT_GATEWAY_AUDIT_H
#define CHAT_GATEWAY_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"
#include "wire/msgs.h"

struct binding;
struct gateway;
struct svc_call;
struct svc_refused;

/* What was done; ids that are absent do not matter. */
struct audit {
	enum wire_audit_action action;
	struct str user_id, terminal_id, soul_id, session_id;
	const char *reason; /* NULL: none */
	bool has_count;
	int64_t count;
};

/*
 * audit(g, c, a):
 * Who asks c has done that: an event, with the trace of c, and a line of the
 * log.  To be called when it is done, before c ends.
 */
void audit(struct gateway *g, struct svc_call *c, const struct audit *a);

/*
 * audit_bound(g, c, how, b):
 * The same of a terminal's binding, which is b now; soul_id absent: it has
 * none.
 */
void audit_bound(struct gateway *g, struct svc_call *c, const char *how,
    const struct binding *b);

/* audit_refused(g, r): Somebody was refused; as of svc_on_refused(). */
void audit_refused(void *g, const struct svc_refused *r);

#endif /* !CHAT_GATEWAY_AUDIT_H */
