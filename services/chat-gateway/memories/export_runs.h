/*
 * export_runs: the runs of a user and their events, as lines of an export.
 */
#ifndef CHAT_GATEWAY_MEMORIES_EXPORT_RUNS_H
#define CHAT_GATEWAY_MEMORIES_EXPORT_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "state/run_id.h"
#include "wire/msgs.h"

struct state;

/* How far it is; zero but for the user, who must live as long. */
struct export_runs {
	struct str user;
	char run[RUN_ID_MAX]; /* the newest that was begun; "": none */
	int64_t seq;          /* of its newest event; -1: it is complete */
};

/* Where lines go. */
struct export_to {
	enum rc (*put)(void *arg, const struct wire_memory_export_line *line);
	void *arg;
};

/*
 * export_runs_next(p, s, a, to):
 * Put one more run, or a page of the events of the last.  RC_NOENT: there are
 * no more; otherwise the error of the state, or of put.  A call (state.h).
 */
enum rc export_runs_next(struct export_runs *p, struct state *s,
    struct arena *a, const struct export_to *to) RC_CHECK;

#endif /* !CHAT_GATEWAY_MEMORIES_EXPORT_RUNS_H */
