/*
 * agui_stream: whether a stream of events is in the form of AG-UI.
 */
#ifndef CHAT_GATEWAY_AGUI_AGUI_STREAM_H
#define CHAT_GATEWAY_AGUI_AGUI_STREAM_H

#include <stdbool.h>

#include "core/rc.h"

struct fcmp_event;
struct svc_call;

/*
 * agui_stream_choose(c, send):
 * Replace *send by what converts events, if the request of c says format=agui.
 * False: c has been ended.
 */
bool agui_stream_choose(struct svc_call *c,
    enum rc (**send)(struct svc_call *c, const struct fcmp_event *e)) RC_CHECK;

#endif /* !CHAT_GATEWAY_AGUI_AGUI_STREAM_H */
