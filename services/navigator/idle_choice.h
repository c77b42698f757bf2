/*
 * idle_choice: what a soul does when nothing has happened for long.  Pure.
 */
#ifndef NAVIGATOR_IDLE_CHOICE_H
#define NAVIGATOR_IDLE_CHOICE_H

#include <stdbool.h>

struct drive_levels;

enum idle_choice {
	IDLE_SLEEP,    /* it does not think */
	IDLE_EXPLORE,  /* it looks for what it does not know yet */
	IDLE_CONNECT,  /* it may want to speak */
	IDLE_HEARTBEAT /* it does not think, and says that it is alive */
};

/* idle_choose(d): By its drives, the first that is strong enough. */
enum idle_choice idle_choose(const struct drive_levels *d);

/* idle_calls_model(c): Whether a model is called. */
bool idle_calls_model(enum idle_choice c);

#endif /* !NAVIGATOR_IDLE_CHOICE_H */
