/*
 * on_recall: searching memories for the model.
 */
#ifndef LLM_ORCHESTRATOR_ON_RECALL_H
#define LLM_ORCHESTRATOR_ON_RECALL_H

#include "core/rc.h"

struct run;
struct turn_action;

/*
 * on_recall(r, a): Search for the deed of a.
 * on_status(r, a): Tell the body how the search goes.
 */
enum rc on_recall(struct run *r, const struct turn_action *a) RC_CHECK;
enum rc on_status(struct run *r, const struct turn_action *a) RC_CHECK;

#endif /* !LLM_ORCHESTRATOR_ON_RECALL_H */
