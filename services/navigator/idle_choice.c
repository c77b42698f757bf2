#include "idle_choice.h"

#include "persona/drive_words.h"

#define SLEEP_ABOVE   .7
#define EXPLORE_ABOVE .6
#define CONNECT_ABOVE .5

enum idle_choice
idle_choose(const struct drive_levels *d)
{
	if (d->laziness > SLEEP_ABOVE)
		return IDLE_SLEEP;
	if (d->curiosity > EXPLORE_ABOVE)
		return IDLE_EXPLORE;
	if (d->intimacy > CONNECT_ABOVE)
		return IDLE_CONNECT;
	return IDLE_HEARTBEAT;
}

bool
idle_calls_model(enum idle_choice c)
{
	return c == IDLE_EXPLORE || c == IDLE_CONNECT;
}
