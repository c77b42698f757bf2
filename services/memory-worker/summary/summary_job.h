/*
 * summary_job: summarises one session that has become idle, or a long
 * conversation before it does, from the claim to its end.  Each of its steps
 * runs in a fiber; between two of them, it waits for one other thing: the
 * model, the bus, or the store.
 *
 * What remains to be done is always read from the session's record, so the next
 * worker to claim a session continues where another stopped.
 */
#ifndef MEMORY_WORKER_SUMMARY_JOB_H
#define MEMORY_WORKER_SUMMARY_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/arena.h"
#include "core/loop.h"
#include "core/trace.h"
#include "search/memory_policy.h"
#include "state/session.h"
#include "store/ranking.h"
#include "summary/summary_prompt.h"

struct known_search;
struct llm_call;
struct memory_worker;
struct metric;
struct pending_publish;
struct summary_job;
struct timer_share;

/* The scan for idle sessions (idle_scan.c), and what its jobs share. */
struct idle_scan {
	struct memory_worker *w;
	struct timer_share *share;
	struct loop_timer timer;
	struct arena *a;
	bool running; /* a scan waits for Redis */
	/* Buckets with idle sessions that wait until fewer jobs run. */
	unsigned waiting[STATE_BUCKETS];
	size_t n_waiting;
	int64_t scan_ms, timeout_ms, claim_ms, retry_ms;
	struct metric *made, *failed, *given_up, *dropped;
	TAILQ_HEAD(summary_job_list, summary_job) jobs;
	size_t n;
	bool stopping; /* claims are handed back */
};

struct summary_job {
	TAILQ_ENTRY(summary_job) link;
	struct idle_scan *scan;
	struct arena *ids; /* of idle.key */
	struct session_idle idle;
	bool early; /* the session is long, not idle */
	/* Claimed anew, for a later idle period, while this one was summarised:
	 * the next to summarise.  due 0: none. */
	struct session_idle next;
	struct trace trace;
	struct arena *a;       /* of the current step */
	struct session s;      /* as read for it */
	int64_t number;        /* of the last message being summarised */
	size_t part_max;       /* code points to summarise at once */
	unsigned parts;        /* summaries made so far */
	struct llm_call *call; /* in progress, or NULL */
	struct pending_publish *publish; /* in progress, or NULL */
	enum rc published;               /* the last */
	struct str jobs;                 /* still to be run, one a line */
	size_t n_archived;               /* of them, memories handed over */
	struct str archived;             /* job id of the first, in a */
	struct known_search *search;     /* in progress, or NULL */
	/* Input of the summary, in a. */
	struct wall cleared; /* earlier messages were forgotten; 0: none */
	enum summary_language language;
	struct str transcript;
	struct memory_policy policy;
	struct rank_memory *known; /* existing memories shown to the model */
	size_t n_known;
	struct str profile; /* of the user, JSON; absent: empty */
};

/*
 * summary_job_start(scan, idle): Begin with a claim, in a fiber, unless the
 *     session has a job, which then goes on with it; the job frees itself.
 * summary_job_waits(x): Whether x waits for something else than Redis.
 * summary_job_abandon(x): Hand the claim of x, a job that waits, back, so that
 *     another worker can take it at once, and free x.  Of a fiber.
 * summary_job_free(x): The claim expires.
 */
void summary_job_start(struct idle_scan *scan, const struct session_idle *idle);
bool summary_job_waits(const struct summary_job *x);
void summary_job_abandon(void *x);
void summary_job_free(struct summary_job *x);

/* idle_scan_on_job_end(scan): A job was freed; it may be claimed for another.
 */
void idle_scan_on_job_end(struct idle_scan *scan);

/*
 * transcript_read(x):
 * Read the messages since the last summary, and what the user stated in them.
 * RC_NOENT if the user said nothing.
 */
enum rc transcript_read(struct summary_job *x) RC_CHECK;

#endif /* !MEMORY_WORKER_SUMMARY_JOB_H */
