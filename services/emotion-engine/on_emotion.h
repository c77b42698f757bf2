/*
 * on_emotion: the questions and changes that other services ask for.
 */
#ifndef EMOTION_ENGINE_ON_EMOTION_H
#define EMOTION_ENGINE_ON_EMOTION_H

struct svc_call;

/*
 * on_observe(e, c): The user said something: recognise the emotion, let the
 *                   soul evolve by it, tell the body, answer.
 * on_state(e, c):   How a soul feels at this moment; changes nothing.
 * on_gate(e, c):    Its execution gate at this moment; changes nothing.
 */
void on_observe(void *e, struct svc_call *c);
void on_state(void *e, struct svc_call *c);
void on_gate(void *e, struct svc_call *c);

#endif /* !EMOTION_ENGINE_ON_EMOTION_H */
