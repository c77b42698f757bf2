/*
 * on_events: a session's events over HTTP, without an end.
 */
#ifndef CHAT_GATEWAY_ON_EVENTS_H
#define CHAT_GATEWAY_ON_EVENTS_H

struct gateway;
struct svc_call;

/* on_events(app, c): GET …/events; app is a struct gateway. */
void on_events(void *app, struct svc_call *c);

/* on_events_drain(g): End all streams, so that clients connect elsewhere. */
void on_events_drain(struct gateway *g);

#endif /* !CHAT_GATEWAY_ON_EVENTS_H */
