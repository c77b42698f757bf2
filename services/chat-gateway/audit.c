/*
 * From what was done to an event.
 */
#include "audit.h"

#include "auth/auth.h"
#include "binding.h"
#include "core/id.h"
#include "core/log.h"
#include "gateway.h"
#include "svc/event.h"
#include "svc/svc.h"
#include "wire/subjects.h"

static const struct str none = { NULL, 0 };

static const enum wire_audit_role roles[] = {
	[WIRE_ROLE_OWNER] = WIRE_AUDIT_ROLE_OWNER,
	[WIRE_ROLE_TERMINAL] = WIRE_AUDIT_ROLE_TERMINAL,
	[WIRE_ROLE_MAKER] = WIRE_AUDIT_ROLE_MAKER,
	[WIRE_ROLE_OPERATOR] = WIRE_AUDIT_ROLE_OPERATOR,
};

static void
put_caller(const struct auth_caller *who, struct wire_audit *e)
{
	if (who == NULL)
		return;
	e->has_role = true;
	e->role = roles[who->role];
	e->tenant = who->tenant;
	e->caller_id =
	    who->role == WIRE_ROLE_TERMINAL ? who->terminal_id : who->user;
}

/* What it happened to, so that one may wait for just that. */
static struct str
key(const struct wire_audit *e)
{
	if (e->terminal_id.p != NULL)
		return e->terminal_id;
	if (e->user_id.p != NULL)
		return e->user_id;
	return id_valid(e->address) ? e->address : STR("anybody");
}

static void
tell(struct gateway *g, const struct wire_audit *e, const struct trace *trace)
{
	log_info("audit", LOG_V("action", wire_audit_action_names[e->action]),
	    LOG_V("role", e->has_role ? wire_audit_role_names[e->role] : none),
	    LOG_V("tenant", e->tenant), LOG_V("caller", e->caller_id),
	    LOG_V("user", e->user_id), LOG_V("terminal", e->terminal_id),
	    LOG_V("soul", e->soul_id), LOG_V("session", e->session_id),
	    LOG_V("route", e->route), LOG_V("address", e->address),
	    LOG_S("reason", e->reason.p), LOG_I("count", e->count));
	svc_event(g->svc, WIRE_EVENT_AUDIT, key(e), &wire_audit_desc, e, trace);
}

void
audit(struct gateway *g, struct svc_call *c, const struct audit *a)
{
	struct wire_audit e = { .action = a->action,
		.user_id = a->user_id,
		.terminal_id = a->terminal_id,
		.soul_id = a->soul_id,
		.session_id = a->session_id,
		.address = svc_call_address(c),
		.reason = str_of(a->reason),
		.has_count = a->has_count,
		.count = a->count };

	put_caller(svc_call_caller(c), &e);
	tell(g, &e, svc_call_trace(c));
}

void
audit_refused(void *arg, const struct svc_refused *r)
{
	struct wire_audit e = { .action = r->caller == NULL
		    ? WIRE_AUDIT_ACTION_LOGIN_REFUSED
		    : WIRE_AUDIT_ACTION_ACCESS_DENIED,
		.route = str_of(r->route),
		.address = r->address,
		.reason = str_of(r->reason),
		.has_count = true,
		.count = 1 + r->left_out };

	put_caller(r->caller, &e);
	tell(arg, &e, r->trace);
}

void
audit_bound(struct gateway *g, struct svc_call *c, const char *how,
    const struct binding *b)
{
	audit(g, c,
	    &(struct audit){ .action = WIRE_AUDIT_ACTION_BINDING_CHANGED,
		.user_id = b->user_id,
		.terminal_id = b->terminal_id,
		.soul_id = b->soul_id,
		.reason = how });
}
