/*
 * heard: audit events as they are published.
 */
#ifndef HEARD_H
#define HEARD_H

#include "bed.h"

static inline natsSubscription *
heard_listen(struct bed *b)
{
	tk_nats_events(b->nc);
	return tk_nats_listen(b->nc, "soul.event.audit.*");
}

/* The next envelope, which is of this action. */
static inline json_t *
heard(natsSubscription *sub, const char *action)
{
	json_t *j = tk_nats_next(sub, BED_MS, NULL);

	ck_assert_msg(j != NULL, "no %s is told", action);
	ck_assert_str_eq(tk_text(j, "type"), "audit");
	ck_assert_str_eq(tk_text(j, "source"), "chat-gateway");
	ck_assert_str_eq(tk_text(j, "payload.action"), action);
	return j;
}

#endif /* !HEARD_H */
