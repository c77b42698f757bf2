/*
 * system_notice: system_notification events.
 */
#include "svc/system_notice.h"

#include "core/log.h"
#include "svc/event.h"
#include "svc/svc_internal.h"
#include "wire/subjects.h"

static enum rc
notice_send(struct svc *s, const struct svc_notice *n,
    const struct trace *trace,
    enum rc (*send)(struct svc *s, const struct svc_event *e))
{
	char message[SVC_NOTICE_MESSAGE_MAX + 1];
	struct wire_system_notification payload = {
		.level = n->level,
		.code = str_of(n->code),
		.user_id = n->user_id,
	};
	const struct svc_event e = {
		.type = WIRE_EVENT_SYSTEM_NOTIFICATION,
		.source = "system",
		.key = n->user_id.p != NULL ? n->user_id : str_of(s->def->name),
		.desc = &wire_system_notification_desc,
		.payload = &payload,
		.trace = trace,
		.id = n->id,
	};

	str_copy(n->message, message, sizeof(message));
	payload.message = str_of(message);
	return send(s, &e);
}

enum rc
svc_notice_store(
    struct svc *s, const struct svc_notice *n, const struct trace *trace)
{
	return notice_send(s, n, trace, svc_event_store);
}

void
svc_notify(struct svc *s, const struct svc_notice *n, const struct trace *trace)
{
	enum rc rc = notice_send(s, n, trace, svc_event_send);

	if (rc != RC_OK)
		log_warn("svc.notice_lost", LOG_S("code", n->code), LOG_RC(rc));
}
