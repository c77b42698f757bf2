/*
 * late: skills of earlier turns that nobody confirmed in time, and what came of
 * them after all.
 *
 * Pure.  A session keeps those that are still waited for; when the result of
 * one is there, the user's next turn tells it, once.
 */
#ifndef LLM_ORCHESTRATOR_LATE_H
#define LLM_ORCHESTRATOR_LATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/str.h"
#include "turn.h"

/* How many are remembered, the newest ones, and how long. */
#define LATE_MAX 16
#define LATE_MS  600000

struct late_item {
	struct str request_id, terminal_id;
	struct str skill, label;
	int64_t since; /* Unix ms */
	/* TURN_NOT_CONFIRMED: nothing yet; TURN_OK; TURN_ERROR, why */
	enum turn_outcome outcome;
	struct str why;
};

struct late_list {
	struct late_item item[LATE_MAX];
	size_t n;
};

/*
 * late_read(json, now, a, out):
 * What a session keeps, without what is older than LATE_MS at now (Unix ms).
 * What is none is left out; texts are taken from a.
 */
void late_read(
    struct str json, int64_t now, struct arena *a, struct late_list *out);

/*
 * late_add(l, t, terminal, now):
 * Add what t had sent and nobody confirmed.  Texts are those of t.
 */
void late_add(struct late_list *l, const struct turn *t, struct str terminal,
    int64_t now);

/*
 * late_write(l, told, a):
 * The list as a session keeps it, without what is known if that was told.
 * Empty if nothing is left; absent if a is full.
 */
struct str late_write(const struct late_list *l, bool told, struct arena *a);

/*
 * late_said(l, a):
 * Sentences for what is known by now; empty if nothing is.  Absent if a is
 * full.
 */
struct str late_said(const struct late_list *l, struct arena *a);

#endif /* !LLM_ORCHESTRATOR_LATE_H */
