/*
 * tick_hint: a message to the emotion-engines that souls have begun to tick.
 */
#ifndef SVC_TICK_HINT_H
#define SVC_TICK_HINT_H

#include "svc/svc.h"

/*
 * svc_tick_hint(s, bucket):
 * In that bucket of users a soul ticks, and none did before.  If the hint is
 * lost, its first tick is late.
 */
void svc_tick_hint(struct svc *s, unsigned bucket);

#endif /* !SVC_TICK_HINT_H */
