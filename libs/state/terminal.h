/*
 * terminal: what is known of a body: presence, snapshots, binding.
 *
 * A body is present while it is online and its last sign of life is younger
 * than the time to live of snapshots; snapshots of a body that is not present
 * do not count, but they and their versions stay.  Signs of life are "online",
 * heartbeats and reports of snapshots, all of which mean that it is online.
 * What the broker had kept (retained) and replays is no sign of life: it may be
 * of a body that has long gone.
 *
 * A body that comes makes its bound soul tick (soul_tick_claim()).
 *
 * Reports are written by whoever holds the lease of the body's broker: each
 * write carries the lease's epoch, and one with an older epoch than the record
 * has seen from that broker is refused (RC_DENIED).
 *
 * Of a terminal whose identity was revoked (credential_revoke()) no report
 * counts: RC_NOENT.
 */
#ifndef STATE_TERMINAL_H
#define STATE_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "state/state.h"

/* Reports of which the last that did not count is kept. */
enum terminal_said {
	TERMINAL_SAID_ONLINE,
	TERMINAL_SAID_BEAT,
	TERMINAL_SAID_SKILLS,
	TERMINAL_SAID_CATALOG,
	TERMINAL_SAID_RESULT,
	TERMINAL_SAID
};

struct terminal {
	bool known;        /* a report of it ever came, or it was bound */
	bool present;      /* online, and its last sign of life is recent */
	struct wall seen;  /* last sign of life, by Redis' clock; {0}: none */
	struct str broker; /* id of its broker; absent: none yet */
	int64_t skill_version;
	struct str skills; /* JSON array as in the report; absent: none */
	int64_t catalog_version;
	struct str catalog;      /* JSON array; absent: none, or not read */
	size_t catalog_bytes;    /* length of catalog, read or not */
	struct str catalog_hash; /* changes with catalog's content */
	struct str soul_hint;
	struct str user_id; /* of the binding; absent: not bound */
	struct str soul_id;
	/* JSON: the last refusal of each; absent: none since a good one. */
	struct str refused[TERMINAL_SAID];
};

/*
 * terminal_read(s, id, ttl_ms, a, out):
 * Read the record; texts are taken from a.  ttl_ms is the time to live of
 * snapshots: they are given whether they count or not; out->present says it.
 * A terminal nobody knows is RC_OK with known false.
 */
enum rc terminal_read(struct state *s, struct str id, int64_t ttl_ms,
    struct arena *a, struct terminal *out) RC_CHECK;

/*
 * terminal_read_brief(s, id, ttl_ms, a, out):
 * As terminal_read(), but the catalog, which may be large, stays where it is.
 */
enum rc terminal_read_brief(struct state *s, struct str id, int64_t ttl_ms,
    struct arena *a, struct terminal *out) RC_CHECK;

/*
 * terminal_read_catalog(s, id, hash, a, json):
 * The catalog with that hash; *json is taken from a.  RC_NOENT if the terminal
 * has none, RC_CONFLICT if it has another, whose text is not read.
 */
enum rc terminal_read_catalog(struct state *s, struct str id, struct str hash,
    struct arena *a, struct str *json) RC_CHECK;

/* Who writes a report. */
struct terminal_writer {
	struct str broker;
	int64_t epoch;
	int64_t ttl_ms; /* of snapshots */
	bool replayed;  /* the message was retained: no sign of life */
};

/*
 * terminal_put_online(s, w, id, online):
 * The body said it is there, or it took its leave or its will came, which does
 * not count if it is at another broker by now.  *changed (may be NULL): whether
 * presence changed.
 */
enum rc terminal_put_online(struct state *s, const struct terminal_writer *w,
    struct str id, bool online, bool *changed) RC_CHECK;

/*
 * terminal_beat(s, w, ids, n, came):
 * Heartbeats of n terminals, 4,096 to a round trip.  came (may be NULL) has n
 * places: whether the terminal was not present before.  RC_DENIED if one of
 * them was refused; the others count.
 */
enum rc terminal_beat(struct state *s, const struct terminal_writer *w,
    const struct str *ids, size_t n, bool *came) RC_CHECK;

/* Largest snapshot, refusal or result, soul_hint, and hash, in bytes. */
#define TERMINAL_JSON_MAX (1024UL * 1024)
#define TERMINAL_HINT_MAX 1024
#define TERMINAL_HASH_MAX 256

/* A snapshot of skills or intents that was reported. */
struct terminal_snapshot {
	int64_t version;      /* 0: none given; at most 2^53 - 1 */
	struct str json;      /* the array */
	struct str hash;      /* of a catalog; absent for skills */
	struct str soul_hint; /* of skills; absent: none */
};

/*
 * terminal_put_skills(s, w, id, snap, current),
 * terminal_put_catalog(s, w, id, snap, current):
 * Store the snapshot by the protocol's rule (§3.3): RC_CONFLICT if it is older
 * than the one that is known, or has no version although that one has.
 * *current is the version that is known afterwards.
 */
enum rc terminal_put_skills(struct state *s, const struct terminal_writer *w,
    struct str id, const struct terminal_snapshot *snap,
    int64_t *current) RC_CHECK;
enum rc terminal_put_catalog(struct state *s, const struct terminal_writer *w,
    struct str id, const struct terminal_snapshot *snap,
    int64_t *current) RC_CHECK;

/* What was said, and the JSON of why it did not count. */
struct terminal_refusal {
	enum terminal_said said;
	struct str json;
};

/*
 * terminal_put_refused(s, w, id, refusal):
 * Keep it until a report of its kind counts; no sign of life.
 */
enum rc terminal_put_refused(struct state *s, const struct terminal_writer *w,
    struct str id, const struct terminal_refusal *refusal) RC_CHECK;

enum terminal_report_kind {
	TERMINAL_ONLINE,
	TERMINAL_OFFLINE,
	TERMINAL_BEAT,
	TERMINAL_SKILLS,
	TERMINAL_CATALOG,
	TERMINAL_REFUSED
};

/* Snapshots, refusals and hints of one round trip, in bytes, but for one. */
#define TERMINAL_TRIP_BYTES (2UL * 1024 * 1024)

/* A report among others, and what became of it. */
struct terminal_report {
	enum terminal_report_kind kind;
	struct str id;
	bool replayed; /* instead of the writer's */
	struct terminal_snapshot snap;
	struct terminal_refusal refused;

	enum rc rc;      /* as the function for one report ends */
	bool present;    /* it is present now; not of a refusal */
	bool turned;     /* which it was not before, or the reverse */
	bool differs;    /* the snapshot is not the one that was known */
	int64_t current; /* version that is known */
};

/*
 * terminal_put_reports(s, w, v, n):
 * Write n reports in their order, as many to a round trip as fit
 * TERMINAL_TRIP_BYTES and STATE_PIPE_MAX.  RC_OK if each was carried out or
 * refused by itself; otherwise why some were not, and v[i].rc says which.
 */
enum rc terminal_put_reports(struct state *s, const struct terminal_writer *w,
    struct terminal_report *v, size_t n) RC_CHECK;

/*
 * terminal_is_at(s, id, broker, ttl_ms, here):
 * *here: whether the terminal is present, and at that broker; absent: at any.
 */
enum rc terminal_is_at(struct state *s, struct str id, struct str broker,
    int64_t ttl_ms, bool *here) RC_CHECK;

/* Terminals that one user may bind. */
#define TERMINAL_LIST_MAX 10000

/*
 * terminal_bind(s, id, user, soul):
 * Bind to the soul.  RC_NOENT if there is no such soul, RC_DENIED if it belongs
 * to another user, RC_CONFLICT if the terminal is bound by another user,
 * RC_RETRY if the user has bound TERMINAL_LIST_MAX.  Another soul of the same
 * user replaces the one before.
 */
enum rc terminal_bind(
    struct state *s, struct str id, struct str user, struct str soul) RC_CHECK;

/*
 * terminal_bind_free(s, id, user, soul):
 * As terminal_bind(), but RC_CONFLICT if anybody has bound the terminal, this
 * user too: what was chosen meanwhile stays.
 */
enum rc terminal_bind_free(
    struct state *s, struct str id, struct str user, struct str soul) RC_CHECK;

/*
 * terminal_unbind(s, id, user):
 * RC_NOENT if it is not bound, RC_DENIED if another user bound it.
 */
enum rc terminal_unbind(
    struct state *s, struct str id, struct str user) RC_CHECK;

/*
 * terminal_list(s, user, a, ids, n):
 * The terminals that the user has bound, in byte order.
 */
enum rc terminal_list(struct state *s, struct str user, struct arena *a,
    struct str **ids, size_t *n) RC_CHECK;

/*
 * terminal_put_result(s, id, request_id, json, first):
 * Keep a skill's result (≤ TERMINAL_JSON_MAX) for ten minutes; *first: none was
 * there before, and only the first is kept.
 * terminal_get_result(s, id, request_id, a, json): RC_NOENT if there is none.
 */
enum rc terminal_put_result(struct state *s, struct str id,
    struct str request_id, struct str json, bool *first) RC_CHECK;
enum rc terminal_get_result(struct state *s, struct str id,
    struct str request_id, struct arena *a, struct str *json) RC_CHECK;

/* ---- questions to a terminal, and their results ---------------------------
 */

/* Largest note, in bytes. */
#define TERMINAL_NOTE_MAX 512

struct terminal_ask {
	struct str request_id;
	struct str broker; /* where the terminal must be */
	int64_t ttl_ms;    /* of snapshots */
	struct str note;   /* comes back with the result */
};

/*
 * terminal_ask(s, id, ask, here):
 * *here is as of terminal_is_at().  If it is true, a result is expected from
 * now on, for ten minutes.
 */
enum rc terminal_ask(struct state *s, struct str id,
    const struct terminal_ask *ask, bool *here) RC_CHECK;

/* A result among others, and what became of it. */
struct terminal_result {
	struct str id, request_id, json;
	enum rc rc; /* RC_NOENT: nobody asked; it is not kept */
	bool first;
	struct str note; /* of the first */
};

/*
 * terminal_put_results(s, v, n, a):
 * Keep results that are expected, each as terminal_put_result() does, after
 * which the terminal's last refusal of one is forgotten, in as few
 * round trips as terminal_put_reports() makes, and with what it returns.  Notes
 * are taken from a.
 */
enum rc terminal_put_results(struct state *s, struct terminal_result *v,
    size_t n, struct arena *a) RC_CHECK;

#endif /* !STATE_TERMINAL_H */
