/*
 * on_idle: sessions that fell idle are summarised, and what is worth it becomes
 * a job that stores a memory.
 *
 * What is to be done next is always read from the session's record, so that
 * whoever claims a session goes on where another died.
 */
#ifndef MEMORY_WORKER_ON_IDLE_H
#define MEMORY_WORKER_ON_IDLE_H

struct idle;
struct keeper;

/* idle_new(k): Begin to look for idle sessions. */
struct idle *idle_new(struct keeper *k);

/*
 * idle_free(o): Stop; what was begun is left to others.  Before k's bus, llm
 * and state.  NULL is allowed.
 */
void idle_free(struct idle *o);

#endif /* !MEMORY_WORKER_ON_IDLE_H */
