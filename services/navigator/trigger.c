#include "trigger.h"

enum nav_trigger
trigger_of_turn(const struct wire_turn_completed *t)
{
	const struct wire_user_emotion *e = &t->user_emotion;

	if (!t->has_user_emotion || !(e->intensity >= TRIGGER_INTENSITY))
		return NAV_NONE;
	switch (e->emotion) {
	case WIRE_EMOTION_ANGER:
	case WIRE_EMOTION_SADNESS:
	case WIRE_EMOTION_FEAR:
		return NAV_EMOTION;
	default:
		return NAV_NONE;
	}
}

enum nav_trigger
trigger_of_alarm(const struct wire_alarm_changed *a)
{
	return a->state == WIRE_ALARM_CHANGED_STATE_MISSED ? NAV_RESULT
							   : NAV_NONE;
}

enum nav_trigger
trigger_of_run(const struct wire_run_ended *r)
{
	return r->session_id.n > 0 && r->state != WIRE_RUN_ENDED_STATE_CANCELED
	    ? NAV_RESULT
	    : NAV_NONE;
}

enum nav_trigger
trigger_of_memory(const struct wire_memory_stored *m)
{
	return str_eq(m->trigger_source, STR("navigator")) ? NAV_NONE
							   : NAV_MEMORY;
}

enum wire_navigator_suggestion_trigger
trigger_label(enum nav_trigger t)
{
	switch (t) {
	case NAV_MEMORY:
		return WIRE_NAVIGATOR_SUGGESTION_TRIGGER_MEMORY;
	case NAV_RESULT:
		return WIRE_NAVIGATOR_SUGGESTION_TRIGGER_RESULT;
	case NAV_COUNT:
		return WIRE_NAVIGATOR_SUGGESTION_TRIGGER_COUNT;
	case NAV_EMOTION:
		return WIRE_NAVIGATOR_SUGGESTION_TRIGGER_EMOTION;
	default:
		return WIRE_NAVIGATOR_SUGGESTION_TRIGGER_IDLE;
	}
}
