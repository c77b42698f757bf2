/*
 * on_history: what changed a soul, for who wants to understand it.
 */
#ifndef EMOTION_ENGINE_ON_HISTORY_H
#define EMOTION_ENGINE_ON_HISTORY_H

struct svc_call;

/* on_history(e, c): The newest entries of a soul's log. */
void on_history(void *e, struct svc_call *c);

#endif /* !EMOTION_ENGINE_ON_HISTORY_H */
