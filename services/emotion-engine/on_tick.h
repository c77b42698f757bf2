/*
 * on_tick: souls evolve by themselves while a body of theirs is present.
 */
#ifndef EMOTION_ENGINE_ON_TICK_H
#define EMOTION_ENGINE_ON_TICK_H

struct engine;
struct ticker;

/*
 * ticker_new(e):  Start to claim due souls, to evolve them and to tell their
 *                 bodies.  What is due is in Redis, so any number of processes
 *                 share it.
 * ticker_free(t): Stop.  NULL is allowed.
 */
struct ticker *ticker_new(struct engine *e);
void ticker_free(struct ticker *t);

#endif /* !EMOTION_ENGINE_ON_TICK_H */
