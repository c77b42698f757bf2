/*
 * stretch: one silence of one session, or a long conversation without one, from
 * its claim to its end.
 */
#ifndef MEMORY_WORKER_STRETCH_H
#define MEMORY_WORKER_STRETCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/arena.h"
#include "core/trace.h"
#include "gate.h"
#include "rank.h"
#include "state/session.h"
#include "summary.h"

struct harvest;
struct keeper;
struct llm_call;
struct looking;
struct metric;
struct told;

struct stretch;

/* What all stretches of a process share. */
struct stretch_bed {
	struct keeper *k;
	int64_t timeout_ms; /* of the language model */
	int64_t claim_ms, retry_ms;
	struct metric *made, *failed, *given_up, *dropped;
	/* A stretch was freed. */
	void (*over)(void *arg);
	void *arg;
	TAILQ_HEAD(stretch_list, stretch) list;
	size_t n;
};

struct stretch {
	TAILQ_ENTRY(stretch) link;
	struct stretch_bed *bed;
	struct arena *ids; /* of idle.key */
	struct session_idle idle;
	bool early; /* it is long, and not idle yet */
	struct trace trace;
	struct arena *a;  /* of the step that is taken */
	struct session s; /* as it was read for it */
	int64_t number;   /* of the last message that is being summarised */
	size_t part_max;  /* code points to be summarised at once */
	unsigned parts;   /* summaries of this stretch so far */
	struct llm_call *call;   /* under way, or NULL */
	struct told *told;       /* a job that is being published, or NULL */
	struct str jobs;         /* those behind it, a line each */
	struct looking *looking; /* a search of memories, or NULL */
	/* What is asked about, in a. */
	struct wall cleared; /* what was said before is forgotten; 0 */
	enum summary_language language;
	struct str said; /* the conversation */
	struct gate gate;
	struct rank_memory *known; /* memories that are shown with it */
	size_t n_known;
	struct str profile; /* what is known of the user; absent: nothing */
};

/*
 * stretch_begin(bed, idle):
 * Deal with a claimed session; it frees itself.
 */
void stretch_begin(struct stretch_bed *bed, const struct session_idle *idle);

/* stretch_leave(x): End it here; another claims it at once. */
void stretch_leave(struct stretch *x);

/* ---- between its files: stretch.c, _read, _ask and _keep.c ------------------
 */

/*
 * stretch_step(x):      Read the session and do what is next.
 * stretch_done(x):      There is nothing left to do.
 * stretch_later(x, ms): Try again, in ms at the soonest.
 */
void stretch_step(struct stretch *x);
void stretch_done(struct stretch *x);
void stretch_later(struct stretch *x, int64_t ms);

/* stretch_ask(x): Have what was said summarised, and store it. */
void stretch_ask(struct stretch *x);

/* stretch_leave_search(l): Its stretch is gone.  NULL is allowed. */
void stretch_leave_search(struct looking *l);

/*
 * stretch_read(x):
 * Read what was said since the last summary, and what the user stated in it.
 * RC_NOENT if he said nothing.
 */
enum rc stretch_read(struct stretch *x) RC_CHECK;

/* stretch_keep(x, h): Store what came of it, as session_summarise(). */
enum rc stretch_keep(struct stretch *x, struct harvest *h) RC_CHECK;

#endif /* !MEMORY_WORKER_STRETCH_H */
