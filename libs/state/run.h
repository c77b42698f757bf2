/*
 * run: records of runs of coding engines, and what may change them.
 *
 * A run's record is in its user's bucket, which its id names (run_id.h), and so
 * are the logs of its events (events.h).  It has one writer at a time: a
 * process gets an epoch when it claims or adopts the run, and what carries an
 * older one changes nothing.  So a process that was suspended does no harm when
 * it goes on: RC_CONFLICT, and it must end what it still runs of it.
 *
 *   queued ──run_claim──▶ running ──run_publish──▶ waiting ──run_reply──▶
 * queued any of these ──run_publish──▶ succeeded, failed, canceled
 *
 * A run that has ended never changes, and expires.  A run that exists no more
 * has no writer, either.
 *
 * Everything here is a call (state.h).  Texts that are set are in the caller's
 * arena.  All times are Redis'.
 */
#ifndef STATE_RUN_H
#define STATE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "state/events.h"
#include "state/run_id.h"
#include "state/session.h"
#include "state/state.h"

/* Bytes of texts, and events of each kind that are published together. */
#define RUN_SPEC_MAX     (1024UL * 1024)
#define RUN_TITLE_MAX    1024
#define RUN_FACTS_MAX    65536
#define RUN_QUESTION_MAX (256UL * 1024)
#define RUN_REPLY_MAX    65536
#define RUN_NOTE_MAX     32768
#define RUN_HANDLE_MAX   128
#define RUN_EVENT_MAX    EVENTS_TEXT_MAX
#define RUN_PUBLISH_MAX  128
/* Bytes of all events that are published together, but for the first. */
#define RUN_PUBLISH_BYTES (4UL * 1024 * 1024)

enum run_status {
	RUN_IS_QUEUED,
	RUN_IS_RUNNING,
	RUN_IS_WAITING, /* for its user's reply */
	RUN_IS_SUCCEEDED,
	RUN_IS_FAILED,
	RUN_IS_CANCELED,
	RUN_STATUS_N
};

/* run_status_name(st): "queued", …, "waiting_user", …: a constant. */
const char *run_status_name(enum run_status st);
bool run_status_is_end(enum run_status st);

/*
 * Why a script rejected a call, as the code of an error response: a constant;
 * absent: it did not, or there is no other reason than the function's.
 */
#define RUN_WHY_KEY_REUSED    "key_reused"
#define RUN_WHY_BUSY          "run_busy"
#define RUN_WHY_NOT_RESUMABLE "run_not_resumable"
#define RUN_WHY_NOT_WAITING   "not_waiting"
#define RUN_WHY_STALE         "stale_interaction"
#define RUN_WHY_TOO_MANY      "too_many_runs"

struct run_record {
	struct str run_id, user_id;
	struct str tenant; /* absent: none */
	struct str engine, mode, title;
	struct str spec; /* as it was requested (JSON); not in a list */
	enum run_status status;
	int64_t attempt;   /* the newest that was claimed; 0: none */
	struct str runner; /* whose disk it is on, or will be */
	int64_t epoch;     /* its writer's; 0: it has had none */
	struct str handle; /* of the engine's session; absent: not known */
	/* Events of the newest attempt that are in the logs. */
	int64_t fcmp, rasp;
	/* The number of the newest event of each log; not in a list. */
	int64_t fcmp_last, rasp_last;
	struct str question_id;  /* with RUN_IS_WAITING, and after it */
	struct str question;     /* the same as JSON; not in a list */
	struct wall reply_until; /* with RUN_IS_WAITING */
	/* The newest reply, for the next attempt; absent: none.  Not in a list.
	 */
	struct str reply, replied_id;
	bool cancel;           /* it is to be canceled */
	struct str facts;      /* what a runner has published of it (JSON) */
	struct str session_id; /* that is to report it; absent: none.  Not in a
				  list. */
	struct str resumes;    /* the run that it continues; absent: none */
	struct str workspace;  /* id of the run that has made its workspace */
	struct wall created, changed;
	struct wall ended; /* 0: it has not */
};

/* ---- start ---- */

struct run_new {
	struct str user_id, tenant, engine, mode, title, spec;
	struct str resumes;    /* absent: none */
	struct str key;        /* idempotency key, an id; absent: none */
	struct str session_id; /* that is to report it; absent: none */
	struct str runner;     /* who is to run it; not with resumes */
	int64_t per_user; /* the user's runs that may be queued or running */
	struct wall at;   /* for its id */
	/* Set. */
	char run_id[RUN_ID_MAX]; /* the new run's, or that of the one that the
				    key has; with RUN_WHY_BUSY the one that
				    uses the workspace */
	bool repeated;           /* the key had one; nothing was changed */
	struct str why;
};

/* Runs of a user that are stored. */
#define RUN_STORED_MAX 1000

/*
 * run_create(s, n):
 * Store a queued run.  A run that resumes another has its runner, workspace,
 * and handle; that other one must have ended, have a handle and the same
 * engine, and no run of the workspace may be live.  RC_NOENT: there is no such
 * run; RC_RETRY and RUN_WHY_TOO_MANY: the user has per_user, or RUN_STORED_MAX;
 * RC_CONFLICT and n->why: RUN_WHY_KEY_REUSED, _BUSY, _NOT_RESUMABLE.  The
 * runner does not know of it yet: run_runner_add().
 */
enum rc run_create(struct state *s, struct run_new *n) RC_CHECK;

/*
 * run_assign(s, run, from, to):
 * Another runner is to run it.  RC_CONFLICT unless it is queued at from, and
 * has no workspace yet; RC_NOENT.
 */
enum rc run_assign(
    struct state *s, struct str run, struct str from, struct str to) RC_CHECK;

/* ---- reading ---- */

/* run_read(s, run, a, out): RC_NOENT; RC_INVALID also if run is no run's id. */
enum rc run_read(struct state *s, struct str run, struct arena *a,
    struct run_record *out) RC_CHECK;

struct run_page {
	struct str after; /* id of the run before the page; absent: none */
	size_t max;       /* 1 to RUN_PAGE_MAX */
	/* Set. */
	struct run_record *run;
	size_t n;
	struct str next; /* after of the next page; absent: there is none */
};
#define RUN_PAGE_MAX 200

/* run_list(s, user, a, p): The user's runs, newest first. */
enum rc run_list(struct state *s, struct str user, struct arena *a,
    struct run_page *p) RC_CHECK;

/* ---- a run's writer ---- */

/*
 * run_claim(s, run, runner, a, out):
 * Begin the next attempt: *out is the record after it.  RC_CONFLICT unless it
 * is queued at this runner and not to be canceled; RC_NOENT.  When the outcome
 * is not known, run_adopt() finds out.
 *
 * run_adopt(s, run, epoch, a, out):
 * Become the writer of a run whose record had this epoch, in whatever state:
 * after a restart, or to end it.  RC_CONFLICT: it has another one by now, or
 * has ended; RC_NOENT.
 */
enum rc run_claim(struct state *s, struct str run, struct str runner,
    struct arena *a, struct run_record *out) RC_CHECK;
enum rc run_adopt(struct state *s, struct str run, int64_t epoch,
    struct arena *a, struct run_record *out) RC_CHECK;

struct run_publish {
	struct str run_id, user_id;
	struct str workspace; /* as these, of the record */
	int64_t epoch;
	/* Events of this attempt that are in the logs already. */
	int64_t fcmp, rasp;
	/* Those that follow, as JSON (events.h). */
	const struct str *fcmp_json, *rasp_json;
	size_t n_fcmp, n_rasp;
	/*
	 * From now on: RUN_IS_RUNNING from running; RUN_IS_WAITING from running
	 * or the same; RUN_IS_QUEUED from waiting, with a reply that nobody has
	 * given, or the same; an end.
	 */
	enum run_status status;
	struct str handle;                /* absent: unchanged */
	struct str facts;                 /* absent: unchanged */
	struct str question_id, question; /* RUN_IS_WAITING */
	int64_t reply_ms;                 /* RUN_IS_WAITING: time to reply */
	struct str reply;                 /* RUN_IS_QUEUED */
	/* RUN_IS_WAITING, an end: for run_notes_read(); absent: none. */
	struct str note;
	int64_t ttl_ms; /* an end: stored for this long */
	/* Set: what the record has; -1: not known. */
	int64_t fcmp_is, rasp_is;
};

/*
 * run_publish(s, p):
 * Append the events to the run's logs and change its state, all of it or
 * nothing.  RC_CONFLICT: epoch is not the newest, or the status cannot follow:
 * the caller is not the writer any more; RC_NOENT: the run was deleted, the
 * same; RC_RETRY: fcmp or rasp is not the record's count, or, with fcmp_is -1,
 * as of any call.  A repetition, of which nothing is missing in the record, is
 * RC_OK and appends nothing.
 */
enum rc run_publish(struct state *s, struct run_publish *p) RC_CHECK;

/* ---- a run's user ---- */

struct run_user_reply {
	struct str run_id, user_id;
	struct str question_id, content;
	struct str key; /* idempotency key, an id; absent: none */
	/* Set. */
	bool repeated; /* it had been given with this key */
	struct str why;
};

/*
 * run_reply(s, r, a, out):
 * Answer a run that waits, which is queued then; *out is the record after it.
 * Each question is answered once.  RC_NOENT: the user has no such run;
 * RC_CONFLICT and r->why: RUN_WHY_KEY_REUSED, _NOT_WAITING, _STALE.
 */
enum rc run_reply(struct state *s, struct run_user_reply *r, struct arena *a,
    struct run_record *out) RC_CHECK;

/*
 * run_cancel(s, run, user, a, out):
 * Request that it ends; its writer, or who adopts it, does that.  *out is the
 * record after it; it is unchanged if it has ended.  RC_NOENT as above.
 */
enum rc run_cancel(struct state *s, struct str run, struct str user,
    struct arena *a, struct run_record *out) RC_CHECK;

/*
 * run_delete(s, run, user, live):
 * Delete the record and the logs.  RC_CONFLICT: it has not ended, unless live;
 * RC_NOENT as above.  Its runner removes what is on its disk.
 */
enum rc run_delete(
    struct state *s, struct str run, struct str user, bool live) RC_CHECK;

/*
 * run_workspace_in_use(s, workspace, used):
 * Whether a run that is stored uses the workspace that this one has made.
 */
enum rc run_workspace_in_use(
    struct state *s, struct str workspace, bool *used) RC_CHECK;

/* ---- what a session reports ---- */

/*
 * run_notes_read(s, k, a, out):
 * What has become of runs that this session is to report, and has not: the note
 * of each, the oldest run first, at most RUN_NOTES_MAX (keys.h).  They are in
 * session.notes and turn_entered.notes, too.
 *
 * run_note_put(s, user, id, note):
 * The next turn of any session of the user is to report this, too, once for the
 * id.
 *
 * run_notes_done(s, k, notes):
 * It has reported these; one that has changed since stays.
 */
enum rc run_notes_read(struct state *s, const struct session_key *k,
    struct arena *a, struct session_notes *out) RC_CHECK;
enum rc run_note_put(
    struct state *s, struct str user, struct str id, struct str note) RC_CHECK;
enum rc run_notes_done(struct state *s, const struct session_key *k,
    const struct session_notes *notes) RC_CHECK;

/* ---- timers of a bucket ---- */

struct run_due {
	struct str run_id;
	enum run_status status;
	struct str runner; /* absent: none */
	int64_t epoch;
	bool cancel;
	struct wall changed; /* its status */
};

struct run_due_list {
	struct run_due *run;
	size_t n;
	struct wall next; /* when the next one is due; 0: there is none */
};

/*
 * run_due_claim(s, bucket, lease_ms, max, a, out):
 * Runs about which something is to be done, for lease_ms: a queued one that was
 * not claimed (its runner may not know of it, or be dead), a waiting one whose
 * time is up, a running one of which it is to be checked that its runner
 * lives, one to be canceled.  At most max, up to RUN_DUE_MAX.
 */
#define RUN_DUE_MAX 256
enum rc run_due_claim(struct state *s, unsigned bucket, int64_t lease_ms,
    size_t max, struct arena *a, struct run_due_list *out) RC_CHECK;

#endif /* !STATE_RUN_H */
