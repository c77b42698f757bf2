/*
 * speech_limits: how often clients may let souls speak, in this process.  Loop
 * thread only.
 */
#ifndef CHAT_GATEWAY_SPEECH_SPEECH_LIMITS_H
#define CHAT_GATEWAY_SPEECH_SPEECH_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"

struct speech_limits;

/* Requests of a notifier, and notices of a terminal, each minute. */
#define SPEECH_PER_MINUTE 6
/* Between two notices of a type and terminal. */
#define SPEECH_COOL_DOWN_S 10

/* speech_limits_new(), speech_limits_free(l): NULL is allowed. */
struct speech_limits *speech_limits_new(void);
void speech_limits_free(struct speech_limits *l);

/*
 * speech_limits_take(l, key):              Whether a notifier, by the key of
 *                                          its token, may speak now.
 * speech_limits_notice(l, terminal, type): Whether there may be a notice now.
 */
bool speech_limits_take(struct speech_limits *l, uint64_t key);
bool speech_limits_notice(
    struct speech_limits *l, struct str terminal, struct str type);

#endif /* !CHAT_GATEWAY_SPEECH_SPEECH_LIMITS_H */
