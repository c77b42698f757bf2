/*
 * export_alarms: the alarms and pushes of a user, as lines of an export.
 */
#ifndef CHAT_GATEWAY_MEMORIES_EXPORT_ALARMS_H
#define CHAT_GATEWAY_MEMORIES_EXPORT_ALARMS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "memories/export_runs.h"

struct state;

/* How far it is; zero but for the user, who must live as long. */
struct export_alarms {
	struct str user;
	bool pushes; /* alarms are done */
	size_t at;   /* entries of the list that are done */
};

/*
 * export_alarms_next(p, s, a, to):
 * Put some more.  RC_NOENT: there are no more; otherwise the error of the
 * state, or of put.  A call (state.h).
 */
enum rc export_alarms_next(struct export_alarms *p, struct state *s,
    struct arena *a, const struct export_to *to) RC_CHECK;

#endif /* !CHAT_GATEWAY_MEMORIES_EXPORT_ALARMS_H */
