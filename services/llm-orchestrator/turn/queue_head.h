/*
 * queue_head: whether the turn at the head of a queue is run by anybody.
 *
 * A process takes its turns out of their queues when they end.  When Redis
 * loses that, in a failover, the entry is there again, of a process that lives,
 * and nobody would remove it.  So the turns behind it find out: the process
 * itself knows its turns, another one is queried.  Loop thread only.
 */
#ifndef LLM_ORCHESTRATOR_QUEUE_HEAD_H
#define LLM_ORCHESTRATOR_QUEUE_HEAD_H

#include <stdbool.h>

#include "core/str.h"
#include "state/turn.h"

struct orch;
struct turn_run;

/* Another process is queried when a turn has waited that long for one of it. */
#define QUEUE_HEAD_QUERY_MS 2000

/*
 * queue_head_orphan(r, name): The head that r waits for, if nobody runs it; it
 * is valid until queue_head_see().  Returns name, or NULL.
 *
 * queue_head_see(r, head): r, which waits, has polled; what follows is found
 * out now, or later with a queue_slot_poll_now().
 *
 * queue_head_stop(r): r does not wait any more.
 */
const struct turn_named *queue_head_orphan(
    const struct turn_run *r, struct turn_named *name);
void queue_head_see(struct turn_run *r, const struct turn_named *head);
void queue_head_stop(struct turn_run *r);

#endif /* !LLM_ORCHESTRATOR_QUEUE_HEAD_H */
