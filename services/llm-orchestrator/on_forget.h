/*
 * on_forget: having a memory forgotten for the model.
 */
#ifndef LLM_ORCHESTRATOR_ON_FORGET_H
#define LLM_ORCHESTRATOR_ON_FORGET_H

#include "core/rc.h"

struct run;
struct turn_action;

/*
 * on_forget(r, a):
 * Have what fits the deed of a forgotten: of this user and soul, one memory.
 * Without words for it, or without a soul, nothing is asked for.
 */
enum rc on_forget(struct run *r, const struct turn_action *a) RC_CHECK;

#endif /* !LLM_ORCHESTRATOR_ON_FORGET_H */
