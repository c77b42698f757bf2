/*
 * Requests about alarms.
 */
#include "alarm_request.h"
#include "context.h"
#include "handlers.h"
#include "svc/svc.h"
#include "wire/msgs.h"

static void
on_alarm_reject(struct svc_call *c, const struct alarm_rejection *why)
{
	struct str text = arena_str(svc_call_arena(c), why->text);
	struct svc_error e = { rc_http_status(why->rc), why->code,
		text.p != NULL ? text.p : rc_name(why->rc) };

	if (why->code == NULL)
		svc_fail(c, why->rc, e.text);
	else
		svc_fail_as(c, &e);
}

#define ON_ALARM(x, rep)                                                     \
	void on_alarm_##x(void *app, struct svc_call *c)                     \
	{                                                                    \
		struct alarm_rejection why = { .trace = svc_call_trace(c) }; \
		struct wire_##rep out;                                       \
                                                                             \
		if (alarm_request_##x(app, svc_call_request(c),              \
			svc_call_arena(c), &out, &why) == RC_OK)             \
			svc_reply(c, &out);                                  \
		else                                                         \
			on_alarm_reject(c, &why);                            \
	}

ON_ALARM(put, alarm_reply)
ON_ALARM(list, alarm_list)
ON_ALARM(change, alarm_reply)
ON_ALARM(cancel, alarm_list)
ON_ALARM(snooze, alarm_reply)
