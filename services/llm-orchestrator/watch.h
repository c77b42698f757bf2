/*
 * watch: what a turn does and what it hears, as stages of its timeline and as
 * warnings.
 */
#ifndef LLM_ORCHESTRATOR_WATCH_H
#define LLM_ORCHESTRATOR_WATCH_H

struct run;
struct turn_action;
struct turn_event;

/*
 * watch_action(r, a): a is about to be done.
 * watch_event(r, e):  e is about to be fed.
 * watch_first(r):     The first piece of the model's text came.
 */
void watch_action(struct run *r, const struct turn_action *a);
void watch_event(struct run *r, const struct turn_event *e);
void watch_first(struct run *r);

#endif /* !LLM_ORCHESTRATOR_WATCH_H */
