/*
 * trigger: which events make a soul think.  Pure.
 */
#ifndef NAVIGATOR_TRIGGER_H
#define NAVIGATOR_TRIGGER_H

#include "state/nav.h"
#include "wire/msgs.h"

/* Least intensity of an emotion that is a trigger. */
#define TRIGGER_INTENSITY .5

/*
 * trigger_of_turn(t): NAV_EMOTION if the user is angry, sad or afraid, else
 *     NAV_NONE: turns are counted (nav_note()).
 * trigger_of_alarm(a): NAV_RESULT of a missed one, else NAV_NONE.
 * trigger_of_run(r): NAV_RESULT of one of a session that was not canceled.
 * trigger_of_memory(m): NAV_MEMORY, but NAV_NONE of what a cycle has stored: it
 *     would think about its own thoughts.
 * trigger_label(t): As in navigator_suggestion; not of NAV_NONE.
 */
enum nav_trigger trigger_of_turn(const struct wire_turn_completed *t);
enum nav_trigger trigger_of_alarm(const struct wire_alarm_changed *a);
enum nav_trigger trigger_of_run(const struct wire_run_ended *r);
enum nav_trigger trigger_of_memory(const struct wire_memory_stored *m);
enum wire_navigator_suggestion_trigger trigger_label(enum nav_trigger t);

#endif /* !NAVIGATOR_TRIGGER_H */
