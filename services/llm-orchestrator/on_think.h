/*
 * on_think: asking the language model.
 */
#ifndef LLM_ORCHESTRATOR_ON_THINK_H
#define LLM_ORCHESTRATOR_ON_THINK_H

#include "core/rc.h"

struct run;
struct turn_action;

/*
 * on_think(r, a):
 * Ask with the tools that a offers.  RC_DOWN and its like: the history cannot
 * be read now.
 */
enum rc on_think(struct run *r, const struct turn_action *a) RC_CHECK;

/* think_cancel(r): Want no answer any more. */
void think_cancel(struct run *r);

#endif /* !LLM_ORCHESTRATOR_ON_THINK_H */
