/*
 * unconfirmed: invokes of earlier turns that were not confirmed in time, and
 * their late results.
 *
 * A session stores those still pending; when a result has arrived, the user's
 * next turn reports it once.  All but unconfirmed_load() and unconfirmed_save()
 * are pure.
 */
#ifndef LLM_ORCHESTRATOR_UNCONFIRMED_H
#define LLM_ORCHESTRATOR_UNCONFIRMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "turn/turn_fsm.h"

struct turn_run;

/* How many are stored, the newest ones, and for how long. */
#define UNCONFIRMED_MAX 16
#define UNCONFIRMED_MS  600000

struct unconfirmed_item {
	struct str request_id, terminal_id;
	struct str skill, label;
	int64_t since; /* Unix ms */
	/* TURN_NOT_CONFIRMED: still pending; TURN_OK; TURN_ERROR, why */
	enum turn_outcome outcome;
	struct str why;
};

struct unconfirmed {
	struct unconfirmed_item item[UNCONFIRMED_MAX];
	size_t n;
};

/*
 * unconfirmed_read(json, now, a, out):
 * Decode what a session stores, without items older than UNCONFIRMED_MS at now
 * (Unix ms) and invalid ones; strings are taken from a.
 */
void unconfirmed_read(
    struct str json, int64_t now, struct arena *a, struct unconfirmed *out);

/*
 * unconfirmed_add(l, t, terminal, now):
 * Add t's invokes that are not confirmed.  Strings are shared with t.
 */
void unconfirmed_add(struct unconfirmed *l, const struct turn *t,
    struct str terminal, int64_t now);

/*
 * unconfirmed_write(l, reported, a):
 * The list as a session stores it, without results that were reported.  Empty
 * if nothing is left; absent if a is full.
 */
struct str unconfirmed_write(
    const struct unconfirmed *l, bool reported, struct arena *a);

/*
 * unconfirmed_sentences(l, a):
 * Sentences for the results known by now; empty if there are none.  Absent if a
 * is full.
 */
struct str unconfirmed_sentences(const struct unconfirmed *l, struct arena *a);

/*
 * unconfirmed_load(r, stored):
 * Set r->facts.unconfirmed to what the session stores, with the results that
 * the bridge has stored since.  RC_DOWN and the like: Redis is not available.
 */
enum rc unconfirmed_load(struct turn_run *r, struct str stored) RC_CHECK;

/*
 * unconfirmed_save(r, reported):
 * What the session is to store when the turn ends; absent: no change.
 * reported: the reply includes the earlier results.
 */
struct str unconfirmed_save(const struct turn_run *r, bool reported);

#endif /* !LLM_ORCHESTRATOR_UNCONFIRMED_H */
