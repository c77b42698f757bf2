/*
 * handlers: the routes of emotion-engine and its periodic tick.  e is a struct
 * engine; a handler ends c before it returns.
 */
#ifndef EMOTION_ENGINE_HANDLERS_H
#define EMOTION_ENGINE_HANDLERS_H

struct engine;
struct svc_call;
struct ticker;

/*
 * on_emotion_observe(e, c): A user's text: recognise the emotion, evolve the
 * soul, publish the update to the body, reply. on_emotion_state(e, c):   The
 * current state of a soul; stores nothing. on_emotion_gate(e, c):    Its
 * current execution gate; stores nothing. on_emotion_history(e, c): The newest
 * entries of a soul's log.
 */
void on_emotion_observe(void *e, struct svc_call *c);
void on_emotion_state(void *e, struct svc_call *c);
void on_emotion_gate(void *e, struct svc_call *c);
void on_emotion_history(void *e, struct svc_call *c);

/* on_psyche_apply(e, c): Move a soul's drives and emotion; each request once.
 */
void on_psyche_apply(void *e, struct svc_call *c);

/*
 * on_analyze(e, c):   The emotion in a text, without a soul.
 * on_convert(e, c):   The prototype of a named emotion.
 * on_pad_table(e, c): All prototypes.
 */
void on_analyze(void *e, struct svc_call *c);
void on_convert(void *e, struct svc_call *c);
void on_pad_table(void *e, struct svc_call *c);

/*
 * ticker_new(e):  Start claiming souls that are due, evolving them and updating
 *                 their bodies.  The schedule is in Redis and shared by all
 *                 replicas.
 * ticker_free(t): Stop.  NULL is allowed.
 */
struct ticker *ticker_new(struct engine *e);
void ticker_free(struct ticker *t);

/* ticker_stop(t): Begin no further batch. */
void ticker_stop(struct ticker *t);

#endif /* !EMOTION_ENGINE_HANDLERS_H */
