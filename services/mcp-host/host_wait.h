/*
 * host_wait: fibers that wait for something to happen, or for a time.
 */
#ifndef HOST_WAIT_H
#define HOST_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct host;
struct host_waiting;

/* Those that wait for one thing; zero-initialised by its owner. */
LIST_HEAD(host_waits, host_waiting);

/*
 * host_wait(h, l, ms):
 * Suspend this fiber until host_wake(), for at most ms, or until the process
 * stops; false: not woken.  l NULL: just sleep.
 */
bool host_wait(struct host *h, struct host_waits *l, int64_t ms);

/* host_wake(l): Resume all, in a later iteration of the loop. */
void host_wake(struct host_waits *l);

/* host_wake_all(h): The process stops. */
void host_wake_all(struct host *h);

#endif /* !HOST_WAIT_H */
