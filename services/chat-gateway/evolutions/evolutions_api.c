/*
 * /v1/evolutions…: mcp-host has them; access is checked here.
 */
#include "auth/auth.h"
#include "caller.h"
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"
#include "mcp/mcp_host.h"
#include "svc/audit.h"
#include "svc/svc.h"

static const struct service_call_peer evolutions_list =
    MCP_HOST_PEER(EVOLUTION_LIST, evolution_list_request, evolution_list);
static const struct service_call_peer evolutions_act =
    MCP_HOST_PEER(EVOLUTION_ACT, evolution_act_request, evolution);

/* ---- reading ---- */

/* The parameter state, if it is given; false: c has been ended. */
static bool
evolutions_query_state(
    struct svc_call *c, struct wire_evolution_list_request *q)
{
	struct str state = svc_call_query(c, "state");
	size_t i;

	if (state.p == NULL)
		return true;
	for (i = 0; i < NELEM(wire_evolution_list_request_state_names); i++)
		if (str_eq(state, wire_evolution_list_request_state_names[i])) {
			q->state = (enum wire_evolution_list_request_state)i;
			q->has_state = true;
			return true;
		}
	svc_fail(c, RC_INVALID, "state: is not known");
	return false;
}

void
on_evolutions_list(void *app, struct svc_call *c)
{
	struct wire_evolution_list_request *q =
	    service_call_message(c, sizeof(*q));

	if (q == NULL || !caller_query_user(app, c, &q->user_id) ||
	    !evolutions_query_state(c, q))
		return;
	q->soul_id = svc_call_query(c, "soul_id");
	service_call_send(app, c, &evolutions_list, q, NULL);
}

static void
evolutions_on_one(struct svc_call *c, const struct peer_request *q)
{
	const struct wire_evolution_list *rep = q->reply;

	if (rep->n_evolutions > 0)
		svc_reply(c, &rep->evolutions[0]);
	else
		svc_fail(c, RC_NOENT, "evolution not found");
}

void
on_evolutions_get(void *app, struct svc_call *c)
{
	struct wire_evolution_list_request *q =
	    service_call_message(c, sizeof(*q));

	if (q == NULL || !caller_query_user(app, c, &q->user_id))
		return;
	q->evolution_id = svc_call_param(c, 0);
	service_call_send(app, c, &evolutions_list, q, evolutions_on_one);
}

/* ---- decisions ---- */

static void
evolutions_on_decided(struct svc_call *c, const struct peer_request *q)
{
	static const enum wire_audit_action actions[] = {
		[WIRE_EVOLUTION_ACT_REQUEST_ACTION_APPROVE] =
		    WIRE_AUDIT_ACTION_EVOLUTION_APPROVED,
		[WIRE_EVOLUTION_ACT_REQUEST_ACTION_REFUSE] =
		    WIRE_AUDIT_ACTION_EVOLUTION_REFUSED,
		[WIRE_EVOLUTION_ACT_REQUEST_ACTION_ENABLE] =
		    WIRE_AUDIT_ACTION_EVOLUTION_ENABLED,
		[WIRE_EVOLUTION_ACT_REQUEST_ACTION_DISABLE] =
		    WIRE_AUDIT_ACTION_EVOLUTION_DISABLED,
	};
	const struct wire_evolution_act_request *req = q->msg;
	const struct wire_evolution *e = q->reply;

	svc_audit_call(c,
	    &(struct wire_audit){ .action = actions[req->action],
		.user_id = e->user_id,
		.soul_id = e->soul_id,
		.evolution_id = e->evolution_id,
		.reason = e->proposal.name });
	svc_reply(c, e);
}

static void
evolutions_act_on(struct gateway *g, struct svc_call *c,
    enum wire_evolution_act_request_action action)
{
	struct wire_evolution_act_request *q =
	    service_call_message(c, sizeof(*q));
	const struct auth_caller *caller = svc_call_caller(c);

	if (q == NULL || !caller_query_user(g, c, &q->user_id))
		return;
	q->evolution_id = svc_call_param(c, 0);
	q->action = action;
	if (caller != NULL)
		q->by = caller->user;
	service_call_send(g, c, &evolutions_act, q, evolutions_on_decided);
}

void
on_evolutions_approve(void *app, struct svc_call *c)
{
	evolutions_act_on(app, c, WIRE_EVOLUTION_ACT_REQUEST_ACTION_APPROVE);
}

void
on_evolutions_reject(void *app, struct svc_call *c)
{
	evolutions_act_on(app, c, WIRE_EVOLUTION_ACT_REQUEST_ACTION_REFUSE);
}

void
on_evolutions_enable(void *app, struct svc_call *c)
{
	evolutions_act_on(app, c, WIRE_EVOLUTION_ACT_REQUEST_ACTION_ENABLE);
}

void
on_evolutions_disable(void *app, struct svc_call *c)
{
	evolutions_act_on(app, c, WIRE_EVOLUTION_ACT_REQUEST_ACTION_DISABLE);
}
