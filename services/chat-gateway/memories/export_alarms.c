#include "memories/export_alarms.h"

#include "core/log.h"
#include "state/alarm_entry.h"
#include "wire/wire.h"

/* Entries of a step: their lines are buffered together. */
#define STEP_MAX 16

static enum rc
export_alarms_put(const struct alarm_entry *e, struct arena *a,
    const struct export_to *to)
{
	struct wire_memory_export_line line = { .has_alarm = true };
	struct wire_err err;

	if (wire_decode(&wire_alarm_record_desc, e->json, a, &line.alarm,
		&err) == RC_OK)
		return to->put(to->arg, &line);
	log_error("gateway.stored_alarm", LOG_S("path", err.path),
	    LOG_S("why", err.why));
	return RC_OK;
}

enum rc
export_alarms_next(struct export_alarms *p, struct state *s, struct arena *a,
    const struct export_to *to)
{
	const struct alarm_entry which = {
		.type = p->pushes ? ALARM_ENTRY_PUSH : ALARM_ENTRY_ALARM,
		.user_id = p->user
	};
	struct alarm_entry_list list;
	enum rc rc = alarm_entry_list(s, &which, true, a, &list);
	size_t end = p->at + STEP_MAX;

	if (rc != RC_OK)
		return rc;
	if (p->at >= list.n && p->pushes)
		return RC_NOENT;
	for (; rc == RC_OK && p->at < list.n && p->at < end; p->at++)
		rc = export_alarms_put(&list.entry[p->at], a, to);
	if (p->at >= list.n && !p->pushes) {
		p->pushes = true;
		p->at = 0;
	}
	return rc;
}
