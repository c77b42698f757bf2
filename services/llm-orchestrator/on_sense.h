/*
 * on_sense: what a turn asks other services before it is routed.
 */
#ifndef LLM_ORCHESTRATOR_ON_SENSE_H
#define LLM_ORCHESTRATOR_ON_SENSE_H

#include "core/rc.h"

struct run;
struct turn_action;

/*
 * on_feel(r, a):       What does the user feel; how is the soul, and its gate.
 * on_filter(r, a):     Which intents does the user mean.
 * on_ask_memory(r, a): Can memories be searched.
 */
enum rc on_feel(struct run *r, const struct turn_action *a) RC_CHECK;
enum rc on_filter(struct run *r, const struct turn_action *a) RC_CHECK;
enum rc on_ask_memory(struct run *r, const struct turn_action *a) RC_CHECK;

#endif /* !LLM_ORCHESTRATOR_ON_SENSE_H */
