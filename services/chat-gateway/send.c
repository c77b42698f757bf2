/*
 * Half of what may wait is used, so that one more event always fits.
 */
#include "send.h"

#include <stdio.h>

#include "event.h"
#include "svc/svc.h"

/* Bytes that may wait for a client before the next event does. */
#define WAITING_MAX (128UL * 1024)

enum rc
send_event(struct svc_call *c, const struct event *e)
{
	char id[24];

	(void)snprintf(id, sizeof(id), "%lld", (long long)e->seq);
	return svc_stream_put(c, "chat_event", id, e->json);
}

bool
send_has_room(struct svc_call *c)
{
	return svc_stream_waiting(c) < WAITING_MAX;
}
