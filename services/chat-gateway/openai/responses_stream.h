/*
 * responses_stream: events of a turn as those of OpenAI's Responses API.
 */
#ifndef CHAT_GATEWAY_OPENAI_RESPONSES_STREAM_H
#define CHAT_GATEWAY_OPENAI_RESPONSES_STREAM_H

#include <stdint.h>

#include "core/rc.h"

struct fcmp_event;
struct responses;
struct svc_call;

/*
 * responses_stream_set(r, c, after): Send events above that number to c.
 * responses_stream_send(r, e):       As gateway_stream_send().
 */
void responses_stream_set(
    struct responses *r, struct svc_call *c, int64_t after);
enum rc responses_stream_send(
    struct responses *r, const struct fcmp_event *e) RC_CHECK;

#endif /* !CHAT_GATEWAY_OPENAI_RESPONSES_STREAM_H */
