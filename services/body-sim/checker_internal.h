/*
 * checker_internal: the parts of the checker.  Pure; times are in ms since the
 * check began.
 */
#ifndef BODY_SIM_CHECKER_INTERNAL_H
#define BODY_SIM_CHECKER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/map.h"
#include "core/str.h"
#include "verdict.h"

/* ---- announcement.c: the order of reports after connecting ---- */

enum report {
	REPORT_ONLINE,
	REPORT_SKILLS,
	REPORT_CATALOG,
	REPORT_HEARTBEAT,
	REPORT_N
};

/* Time after online for skills and intent_catalog, and for a heartbeat. */
#define ANNOUNCEMENT_REPORTS_MS   5000
#define ANNOUNCEMENT_HEARTBEAT_MS 15000

struct announcement {
	struct verdicts *v;
	bool known;     /* it has been connected before */
	bool active;    /* an announcement is in progress */
	bool reconnect; /* which is not the first */
	int64_t began;
	enum report seen[REPORT_N]; /* in order of arrival */
	int n_seen;
	/* When reports arrived before online; 0: not. */
	int64_t early[REPORT_N];
	int done; /* number of finished announcements */
};

/* announcement_init(a, v): No announcement yet. */
void announcement_init(struct announcement *a, struct verdicts *v);

/* announcement_set_known(a): The body was connected before the check. */
void announcement_set_known(struct announcement *a);

/*
 * announcement_abort(a):
 * The body went offline: drop what it has reported without a verdict.
 */
void announcement_abort(struct announcement *a);

/*
 * announcement_add(a, t, r, offline):
 * A report that is not retained; an online report has the value online.
 * offline: the body is known to be offline.
 */
void announcement_add(
    struct announcement *a, int64_t t, enum report r, bool offline);

/* announcement_tick(a, t): End the announcement if its time is over. */
void announcement_tick(struct announcement *a, int64_t t);

/* report_topic(r): The leaf of its topic. */
const char *report_topic(enum report r);

/* ---- report_check.c: contents of skills and intent_catalog ---- */

/* Room for any summary of a report. */
#define REPORT_CHECK_TEXT_MAX 96

/* Stricter than the server. */
struct report_check {
	struct verdicts *v;
	struct str terminal; /* borrowed */
	struct arena *arena;
	struct map *skills; /* names in the last report; NULL: none yet */
	struct map *wanted; /* skills of the last catalog's intents; likewise */
	int64_t versions[2]; /* of skills and catalog; -1: none yet */
};

/* report_check_init(r, v, terminal), report_check_free(r) */
void report_check_init(
    struct report_check *r, struct verdicts *v, struct str terminal);
void report_check_free(struct report_check *r);

/*
 * report_check_skills(r, payload, text), report_check_intents(r, payload,
 * text): Check a report; text becomes a summary of it.
 */
void report_check_skills(struct report_check *r, struct str payload,
    char text[REPORT_CHECK_TEXT_MAX]);
void report_check_intents(struct report_check *r, struct str payload,
    char text[REPORT_CHECK_TEXT_MAX]);

/* ---- result_check.c: results of invokes ---- */

/* When a result should arrive, and when the server gives up. */
#define RESULT_DUE_MS     5000
#define RESULT_TIMEOUT_MS 8000

/* Invokes tracked at one time; beyond it the oldest are dropped. */
#define RESULT_CHECK_MAX 64

/* Room for any summary of a result. */
#define RESULT_CHECK_TEXT_MAX 160

struct result_check {
	struct verdicts *v;
	struct arena *arena;
	struct {
		char *id; /* NULL: free */
		int64_t sent;
		bool received, given_up;
		/* Of the first result. */
		bool ok;
		char *output;     /* NULL: none */
		int64_t repeated; /* when it was sent again; 0: not */
	} ring[RESULT_CHECK_MAX];
	size_t next;
	size_t n; /* results */
};

/* result_check_init(a, v), result_check_free(a) */
void result_check_init(struct result_check *a, struct verdicts *v);
void result_check_free(struct result_check *a);

/* result_check_invoke(a, t, id): An invoke with that id in its topic. */
void result_check_invoke(struct result_check *a, int64_t t, struct str id);

/*
 * result_check_result(a, t, id, payload, text):
 * A result with that id in its topic; text becomes a summary of it.
 */
void result_check_result(struct result_check *a, int64_t t, struct str id,
    struct str payload, char text[RESULT_CHECK_TEXT_MAX]);

/*
 * result_check_repeat(a, t, id):
 * The same id is about to be sent with a skill that no body has: the body may
 * send the result it has sent before, or none.
 */
void result_check_repeat(struct result_check *a, int64_t t, struct str id);

/* result_check_tick(a, t): Fail invokes whose results are overdue. */
void result_check_tick(struct result_check *a, int64_t t);

#endif /* !BODY_SIM_CHECKER_INTERNAL_H */
