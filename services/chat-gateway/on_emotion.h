/*
 * on_emotion: how a soul feels, and why, for its owner.
 */
#ifndef CHAT_GATEWAY_ON_EMOTION_H
#define CHAT_GATEWAY_ON_EMOTION_H

struct svc_call;

/*
 * Handlers; app is a struct gateway.
 * on_emotion(app, c):         The state and the gate of now.
 * on_emotion_history(app, c): What changed it.
 */
void on_emotion(void *app, struct svc_call *c);
void on_emotion_history(void *app, struct svc_call *c);

#endif /* !CHAT_GATEWAY_ON_EMOTION_H */
