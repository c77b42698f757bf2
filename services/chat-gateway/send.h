/*
 * send: events to a client, at its pace.
 */
#ifndef CHAT_GATEWAY_SEND_H
#define CHAT_GATEWAY_SEND_H

#include <stdbool.h>

#include "core/rc.h"

struct event;
struct svc_call;

/* send_event(c, e): As svc_stream_put(); the id is the seq. */
enum rc send_event(struct svc_call *c, const struct event *e) RC_CHECK;

/* send_has_room(c): Whether the client has taken most of what was sent. */
bool send_has_room(struct svc_call *c);

#endif /* !CHAT_GATEWAY_SEND_H */
