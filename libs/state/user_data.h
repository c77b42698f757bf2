/*
 * user_data: deleting what is stored of a user, beside the deletions that the
 * modules of records have.
 *
 * Everything here is a call (state.h).
 */
#ifndef STATE_USER_DATA_H
#define STATE_USER_DATA_H

#include <stddef.h>

#include "core/arena.h"
#include "state/state.h"

/* user_data_sessions(s, user, a, list, n): Ids of all sessions, in a. */
enum rc user_data_sessions(struct state *s, struct str user, struct arena *a,
    struct str **list, size_t *n) RC_CHECK;

/*
 * user_data_delete_memory(s, user, soul):
 * The memories, and what is known of deleted ones.  Only of a soul that does
 * not exist any more: nothing is remembered for it.
 */
enum rc user_data_delete_memory(
    struct state *s, struct str user, struct str soul) RC_CHECK;

/*
 * user_data_delete_rest(s, user):
 * The profile, MCP servers and grants, evolutions, what was spoken, and the
 * lists of souls, sessions and runs. Last.
 */
enum rc user_data_delete_rest(struct state *s, struct str user) RC_CHECK;

#endif /* !STATE_USER_DATA_H */
