/*
 * system_notice: system_notification events: what an operator or a user may
 * want to know although nothing that they requested depends on it.
 */
#ifndef SVC_SYSTEM_NOTICE_H
#define SVC_SYSTEM_NOTICE_H

#include "core/str.h"
#include "svc/svc.h"
#include "wire/msgs.h"

/* Bytes of a message; what is longer is shortened to whole characters. */
#define SVC_NOTICE_MESSAGE_MAX 4096

struct svc_notice {
	enum wire_system_notification_level level;
	const char *code;   /* in capitals: what it is, for programs */
	struct str message; /* English, for people, and without secrets */
	struct str user_id; /* only they are shown it; absent: operators */
	struct str id; /* the same notice has the same; absent: a new one */
};

/*
 * svc_notify(s, n, trace):
 * Send the notice as an event of its user, or else of the service, as
 * svc_event_send() does, in the name of "system"; trace may be NULL.  It is
 * best effort: what cannot be sent is logged.  n is not retained.  Loop thread.
 *
 * svc_notice_store(s, n, trace):
 * The same, as svc_event_store() does.  Only in a fiber.
 */
enum rc svc_notice_store(struct svc *s, const struct svc_notice *n,
    const struct trace *trace) RC_CHECK;
void svc_notify(
    struct svc *s, const struct svc_notice *n, const struct trace *trace);

#endif /* !SVC_SYSTEM_NOTICE_H */
