/*
 * evolution_due: publishes what others have not, because they ended before.
 */
#ifndef EVOLUTION_DUE_H
#define EVOLUTION_DUE_H

struct host;

/*
 * evolution_due_start(h): Poll the buckets of this replica, from now on.
 * evolution_due_drain(h): No more; leave them to others.
 */
void evolution_due_start(struct host *h);
void evolution_due_drain(struct host *h);

#endif /* !EVOLUTION_DUE_H */
