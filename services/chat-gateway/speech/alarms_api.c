/*
 * /v1/alarms…: alarm-clock has them; access is checked here.
 */
#include "caller.h"
#include "core/id.h"
#include "gateway.h"
#include "handlers.h"
#include "speech/alarm_clock.h"
#include "svc/svc.h"

static const struct service_call_peer alarms_put =
    ALARM_CLOCK_PEER(ALARM_PUT, alarm_put_request, alarm_reply);
static const struct service_call_peer alarms_list =
    ALARM_CLOCK_PEER(ALARM_LIST, alarm_list_request, alarm_list);
static const struct service_call_peer alarms_change =
    ALARM_CLOCK_PEER(ALARM_CHANGE, alarm_change_request, alarm_reply);
static const struct service_call_peer alarms_cancel =
    ALARM_CLOCK_PEER(ALARM_CANCEL, alarm_cancel_request, alarm_list);
static const struct service_call_peer alarms_snooze =
    ALARM_CLOCK_PEER(ALARM_SNOOZE, alarm_snooze_request, alarm_reply);

void
on_alarms_list(void *app, struct svc_call *c)
{
	struct wire_alarm_list_request *q = service_call_message(c, sizeof(*q));

	if (q == NULL || !caller_query_user(app, c, &q->user_id))
		return;
	q->when = svc_call_query(c, "when");
	q->match_text = svc_call_query(c, "text");
	q->all = str_eq(svc_call_query(c, "all"), STR("true"));
	service_call_send(app, c, &alarms_list, q, NULL);
}

static void
alarms_on_one(struct svc_call *c, const struct peer_request *q)
{
	const struct wire_alarm_list *rep = q->reply;

	if (rep->n_alarms > 0)
		svc_reply(c, &rep->alarms[0]);
	else
		svc_fail(c, RC_NOENT, "alarm not found");
}

void
on_alarms_get(void *app, struct svc_call *c)
{
	struct wire_alarm_list_request *q = service_call_message(c, sizeof(*q));

	if (q == NULL || !caller_query_user(app, c, &q->user_id))
		return;
	q->alarm_id = svc_call_param(c, 0);
	q->all = true;
	service_call_send(app, c, &alarms_list, q, alarms_on_one);
}

void
on_alarms_set(void *app, struct svc_call *c)
{
	const struct wire_alarm_new *body = svc_call_request(c);
	struct wire_alarm_put_request *q = service_call_message(c, sizeof(*q));

	if (q == NULL || !caller_user(app, c, body->user_id, &q->user_id))
		return;
	if ((body->when.p == NULL) == !body->has_rule) {
		svc_fail(c, RC_INVALID,
		    "/when or /rule: one of them must be "
		    "there, and not both");
		return;
	}
	q->request_id = body->request_id;
	q->soul_id = body->soul_id;
	q->terminal_id = body->terminal_id;
	q->session_id = body->session_id;
	q->kind = (enum wire_alarm_put_request_kind)body->kind;
	q->text = body->text;
	q->when = body->when;
	q->repeat = body->repeat;
	q->has_rule = body->has_rule;
	q->rule = body->rule;
	q->zone = body->zone;
	service_call_send(app, c, &alarms_put, q, NULL);
}

void
on_alarms_change(void *app, struct svc_call *c)
{
	const struct wire_alarm_edit *body = svc_call_request(c);
	struct wire_alarm_change_request *q =
	    service_call_message(c, sizeof(*q));

	if (q == NULL || !caller_user(app, c, body->user_id, &q->user_id))
		return;
	q->alarm_id = svc_call_param(c, 0);
	q->terminal_id = body->terminal_id;
	q->text = body->text;
	q->when = body->when;
	q->repeat = body->repeat;
	q->has_rule = body->has_rule;
	q->rule = body->rule;
	q->zone = body->zone;
	service_call_send(app, c, &alarms_change, q, NULL);
}

void
on_alarms_cancel(void *app, struct svc_call *c)
{
	struct wire_alarm_cancel_request *q =
	    service_call_message(c, sizeof(*q));

	if (q == NULL || !caller_query_user(app, c, &q->user_id))
		return;
	q->alarm_id = svc_call_param(c, 0);
	service_call_send(app, c, &alarms_cancel, q, NULL);
}

void
on_alarms_snooze(void *app, struct svc_call *c)
{
	const struct wire_alarm_snooze_body *body = svc_call_request(c);
	struct wire_alarm_snooze_request *q =
	    service_call_message(c, sizeof(*q));

	if (q == NULL || !caller_user(app, c, body->user_id, &q->user_id))
		return;
	q->alarm_id = svc_call_param(c, 0);
	q->seconds = body->seconds;
	service_call_send(app, c, &alarms_snooze, q, NULL);
}
