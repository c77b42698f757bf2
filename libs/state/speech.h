/*
 * speech: what decides whether and where a soul speaks unasked: what the user
 * has set, and what was spoken.
 *
 * Everything here is a call (state.h).  Texts that are set are in the caller's
 * arena.
 */
#ifndef STATE_SPEECH_H
#define STATE_SPEECH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "state/state.h"

/* What a soul may speak unasked. */
enum speech_proactive {
	SPEECH_ALARMS, /* alarms, and what clients let it say; the default */
	SPEECH_OFF,
	SPEECH_ALL
};

#define SPEECH_DAY_MIN 1440

/* Minutes of the day, by the clocks of the user's zone. */
struct speech_settings {
	enum speech_proactive proactive;
	bool has_quiet;
	int quiet_from, quiet_to; /* to before from: on the next day */
	bool quiet_urgent;        /* urgent speech is allowed in them */
};

/*
 * speech_settings_put(s, user, soul, x): RC_NOENT: there is no such soul.
 * speech_settings_read(s, user, soul, out): Of a soul that has none, or does
 *     not exist, the defaults.
 */
enum rc speech_settings_put(struct state *s, struct str user, struct str soul,
    const struct speech_settings *x) RC_CHECK;
enum rc speech_settings_read(struct state *s, struct str user, struct str soul,
    struct speech_settings *out) RC_CHECK;

struct speech_context {
	struct wall now;               /* Redis' time */
	struct str zone;               /* of the profile; absent: none */
	struct speech_settings soul;   /* of the named one */
	struct wall spoken;            /* the newest; {0}: none */
	struct str day;                /* of that */
	int64_t spoken_n;              /* on that day */
	struct str session_id;         /* the newest, with the named soul */
	struct str session_soul, body; /* of that session */
	struct wall turn_begun;        /* the newest turn of the user */
	bool turn_runs;                /* one runs or waits */
};

/*
 * speech_context_read(s, user, soul, a, out): soul absent: none is named.
 */
enum rc speech_context_read(struct state *s, struct str user, struct str soul,
    struct arena *a, struct speech_context *out) RC_CHECK;

/*
 * speech_count(s, user, push, day): The soul has spoken, on that day, what it
 * thought of itself; counted once for a push.
 */
enum rc speech_count(
    struct state *s, struct str user, struct str push, struct str day) RC_CHECK;

#endif /* !STATE_SPEECH_H */
