/*
 * audit: what an operator may be asked about: who did it, to whom, from where.
 */
#ifndef SVC_AUDIT_H
#define SVC_AUDIT_H

struct svc;
struct svc_call;
struct trace;
struct wire_audit;

/*
 * svc_audit(s, e, trace):
 * e was done: a line of the log and, where the service has NATS, an event
 * (svc_event(), which see for trace) under the body or else the user it was
 * done to, or else the client's address; what was done in a session is its
 * user's.  e has ids and words of the service's own, never anybody else's, and
 * is read before this returns.
 */
void svc_audit(
    struct svc *s, const struct wire_audit *e, const struct trace *trace);

/*
 * svc_audit_call(c, e):
 * The same of what c asked for, with the trace of c: e's role, tenant, caller
 * and address become those of who asks, as far as they are known.  To be called
 * when it is done, before c ends.
 */
void svc_audit_call(struct svc_call *c, struct wire_audit *e);

#endif /* !SVC_AUDIT_H */
