/*
 * export_sessions: the conversations of a user, as lines of an export.
 */
#ifndef CHAT_GATEWAY_MEMORIES_EXPORT_SESSIONS_H
#define CHAT_GATEWAY_MEMORIES_EXPORT_SESSIONS_H

#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "memories/export_runs.h"

/* How far it is; zero but for the user, who must live as long. */
struct export_sessions {
	struct str user;
	struct arena *a; /* of the ids; NULL: they are not read yet */
	struct str *ids;
	size_t n, at;
	int64_t after; /* number of the newest message of ids[at] */
};

/*
 * export_sessions_next(p, s, a, to):
 * Put one more page of messages, the oldest of a session first.  RC_NOENT:
 * there are no more; otherwise the error of the state, or of put.  A call
 * (state.h).
 *
 * export_sessions_free(p): Whatever it has allocated.
 */
enum rc export_sessions_next(struct export_sessions *p, struct state *s,
    struct arena *a, const struct export_to *to) RC_CHECK;
void export_sessions_free(struct export_sessions *p);

#endif /* !CHAT_GATEWAY_MEMORIES_EXPORT_SESSIONS_H */
