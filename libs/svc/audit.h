/*
 * audit: audit events: what was done by whom, to what, from where.
 */
#ifndef SVC_AUDIT_H
#define SVC_AUDIT_H

struct auth_caller;
struct svc;
struct svc_call;
struct trace;
struct wire_audit;

/*
 * svc_audit_set_caller(e, who): e's role, tenant and caller become those of
 * who; NULL: they are not known.
 */
void svc_audit_set_caller(struct wire_audit *e, const struct auth_caller *who);

/*
 * svc_audit(s, e, trace):
 * Log e and, where the service has NATS, publish it as an event (svc_event(),
 * also for trace; NULL: a new one) of the terminal or else the user it was done
 * to, or else of the client's address; what was done in a session is its
 * user's.  e has ids and the service's own texts, never a caller's, and is read
 * before this returns.
 */
void svc_audit(
    struct svc *s, const struct wire_audit *e, const struct trace *trace);

/*
 * svc_audit_call(c, e):
 * The same for what c requested, with the trace of c: e's role, tenant, caller
 * and address become those of the caller, as far as they are known.  To be
 * called when it is done, before c ends.
 */
void svc_audit_call(struct svc_call *c, struct wire_audit *e);

#endif /* !SVC_AUDIT_H */
