/*
 * terminal: a device's record: presence, snapshots, binding, results, and its
 * identity.
 *
 * A terminal is present while it is online and its last sign of life is younger
 * than the time to live of snapshots.  Snapshots of a terminal that is not
 * present do not count, but they and their versions stay.  Signs of life are
 * "online", heartbeats and reports of snapshots, all of which mean that it is
 * online.  A retained message that the broker replays is no sign of life: the
 * terminal may have left long ago.
 *
 * A soul ticks (soul_tick_claim()) while one of its terminals is present.  Its
 * bucket has copies of when that ends, which the writer of reports keeps up to
 * date (terminal_put_copies()).
 *
 * Reports are written by the holder of the lease of the terminal's broker: each
 * write carries the lease's epoch, and one with an older epoch than the record
 * has seen from that broker is rejected (RC_DENIED).
 *
 * Reports of a terminal whose identity was revoked (credential_revoke()) do not
 * count: RC_NOENT.
 */
#ifndef STATE_TERMINAL_H
#define STATE_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/id.h"
#include "state/state.h"

/* Reports of which the last rejection is stored. */
enum terminal_rejection_kind {
	TERMINAL_REJECTED_ONLINE,
	TERMINAL_REJECTED_HEARTBEAT,
	TERMINAL_REJECTED_SKILLS,
	TERMINAL_REJECTED_CATALOG,
	TERMINAL_REJECTED_RESULT,
	TERMINAL_REJECTED_N
};

struct terminal {
	bool known;        /* it has ever sent a report, or was bound */
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
	/* JSON: the last rejection of each kind; absent: none since a report of
	 * that kind was accepted. */
	struct str rejected[TERMINAL_REJECTED_N];
};

/*
 * terminal_read(s, id, ttl_ms, a, out):
 * Read the record; texts are taken from a.  ttl_ms is the time to live of
 * snapshots: they are read whether they count or not, which is out->present.
 * An unknown terminal is RC_OK with known false.
 */
enum rc terminal_read(struct state *s, struct str id, int64_t ttl_ms,
    struct arena *a, struct terminal *out) RC_CHECK;

/*
 * terminal_read_brief(s, id, ttl_ms, a, out):
 * As terminal_read(), without the catalog, which may be large.
 */
enum rc terminal_read_brief(struct state *s, struct str id, int64_t ttl_ms,
    struct arena *a, struct terminal *out) RC_CHECK;

/*
 * terminal_read_catalog(s, id, hash, a, json):
 * The catalog with that hash; *json is taken from a.  RC_NOENT if the terminal
 * has none, RC_CONFLICT if it has another, which is not read.
 */
enum rc terminal_read_catalog(struct state *s, struct str id, struct str hash,
    struct arena *a, struct str *json) RC_CHECK;

/* ---- reports ---- */

/* The writer of reports. */
struct terminal_writer {
	struct str broker;
	int64_t epoch;
	int64_t ttl_ms; /* of snapshots */
	bool replayed;  /* the message was retained: no sign of life */
};

/* Largest snapshot, rejection or result, soul_hint, and hash, in bytes. */
#define TERMINAL_JSON_MAX (1024UL * 1024)
#define TERMINAL_HINT_MAX 1024
#define TERMINAL_HASH_MAX 256

/* A reported snapshot of skills or intents. */
struct terminal_snapshot {
	int64_t version;      /* 0: none given; at most 2^53 - 1 */
	struct str json;      /* the array */
	struct str hash;      /* of a catalog; absent for skills */
	struct str soul_hint; /* of skills; absent: none */
};

/* A rejected report's kind, and the JSON of why it did not count. */
struct terminal_rejection {
	enum terminal_rejection_kind kind;
	struct str json;
};

enum terminal_report_kind {
	TERMINAL_ONLINE,
	TERMINAL_OFFLINE, /* ignored if it is at another broker by now */
	TERMINAL_HEARTBEAT,
	/*
	 * Snapshots are stored by the protocol's rule (§3.3): RC_CONFLICT if
	 * one is older than the stored, or has no version although that has
	 * one.
	 */
	TERMINAL_SKILLS,
	TERMINAL_CATALOG,
	TERMINAL_REJECTION /* stored until a report of its kind is accepted */
};

/* Snapshots, rejections and hints of one round trip, in bytes, but for one. */
#define TERMINAL_TRIP_BYTES (2UL * 1024 * 1024)

/* A report, and its result. */
struct terminal_report {
	enum terminal_report_kind kind;
	struct str id;
	bool replayed; /* instead of the writer's */
	struct terminal_snapshot snap;
	struct terminal_rejection rejection;

	enum rc rc;      /* RC_CONFLICT, RC_DENIED, RC_NOENT as above */
	bool present;    /* it is present now; not of a rejection */
	bool turned;     /* its presence changed */
	bool differs;    /* the snapshot changed */
	int64_t current; /* the stored version */

	/* Likewise: the binding, absent: none; when it was written, by Redis'
	 * clock (ms); until when it is present, 0: it is not; and whether its
	 * broker is the writer's. */
	struct str user_id, soul_id;
	int64_t at, until;
	bool here;
};

/*
 * terminal_put_reports(s, w, v, n, a):
 * Write n reports in their order, as many to a round trip as fit
 * TERMINAL_TRIP_BYTES and STATE_PIPE_MAX.  RC_OK if each was executed, with its
 * own result in v[i].rc; otherwise why some were not, and v[i].rc says which.
 * Bindings are taken from a; absent if they do not fit.
 */
enum rc terminal_put_reports(struct state *s, const struct terminal_writer *w,
    struct terminal_report *v, size_t n, struct arena *a) RC_CHECK;

/* ---- copies of presence, for the ticks of souls ---- */

/* What the bucket of a soul must know of a terminal, as a report returned it.
 */
struct terminal_copy {
	struct str id, user_id, soul_id;
	int64_t at, until;

	/* RC_NOENT: the bucket does not know of the binding, see
	 * terminal_repair(). */
	enum rc rc;
	bool ticks; /* the user's bucket had no soul that ticks before */
};

/*
 * terminal_put_copies(s, broker, v, n):
 * Copy the presence of n terminals at that broker; an older copy than what is
 * stored is ignored.  Round trips and result as of terminal_put_reports().
 */
enum rc terminal_put_copies(struct state *s, struct str broker,
    struct terminal_copy *v, size_t n) RC_CHECK;

/*
 * terminal_repair(s, id, ttl_ms, ticks):
 * Tell the bucket of the terminal's user what its record says of its binding; a
 * terminal whose soul does not exist any more is unbound.  *ticks as above.
 */
enum rc terminal_repair(
    struct state *s, struct str id, int64_t ttl_ms, bool *ticks) RC_CHECK;

/* ---- binding ---- */

/* Terminals that one user may bind. */
#define TERMINAL_LIST_MAX 10000

struct terminal_binding {
	struct str terminal_id, user_id, soul_id;
	int64_t ttl_ms; /* of snapshots */
};

/* Whose a terminal is. */
struct terminal_owner {
	char user_id[ID_MAX + 1]; /* "": it is not bound */
	/* When this user's binding was made or last changed, by the clock of
	 * Redis; {0}: it is not bound. */
	struct wall since;
};

/*
 * terminal_read_owner(s, id, out):
 * An unknown terminal is not bound.
 */
enum rc terminal_read_owner(
    struct state *s, struct str id, struct terminal_owner *out) RC_CHECK;

/*
 * terminal_bind(s, b, ticks):
 * Bind to the soul.  RC_NOENT if the user has no such soul, RC_CONFLICT if the
 * terminal is bound by another user, RC_RETRY if the user has bound
 * TERMINAL_LIST_MAX.  Another soul of the same user replaces the previous one.
 * *ticks: the user's bucket had no soul that ticks before.
 *
 * The terminal's record has the binding, and the user's bucket what is needed
 * to find it.  If it fails in between, readers of the one or the other
 * repair it.
 */
enum rc terminal_bind(
    struct state *s, const struct terminal_binding *b, bool *ticks) RC_CHECK;

/*
 * terminal_bind_if_unbound(s, b, ticks):
 * As terminal_bind(), but RC_CONFLICT if the terminal is bound, by this user
 * too: what was chosen meanwhile stays.
 */
enum rc terminal_bind_if_unbound(
    struct state *s, const struct terminal_binding *b, bool *ticks) RC_CHECK;

/*
 * terminal_unbind(s, id, user):
 * RC_NOENT if it is not bound, RC_DENIED if another user bound it.
 */
enum rc terminal_unbind(
    struct state *s, struct str id, struct str user) RC_CHECK;

/*
 * terminal_unbind_soul(s, id, user, soul):
 * The same if it is bound to this soul; RC_CONFLICT: to another.
 */
enum rc terminal_unbind_soul(
    struct state *s, struct str id, struct str user, struct str soul) RC_CHECK;

struct terminal_listed {
	struct str id;
	struct str entry; /* for terminal_list_drop() */
};

/*
 * terminal_list(s, user, a, list, n):
 * The terminals that the user has bound, in byte order.  There may be others
 * among them, whose records say that they are not bound by the user: ignore
 * them, and pass them to terminal_list_drop().
 */
enum rc terminal_list(struct state *s, struct str user, struct arena *a,
    struct terminal_listed **list, size_t *n) RC_CHECK;

/*
 * terminal_list_drop(s, user, t):
 * The record of t, which was read after the list, says that the user has not
 * bound it.  It stays in the list while that may yet change.
 */
enum rc terminal_list_drop(
    struct state *s, struct str user, const struct terminal_listed *t) RC_CHECK;

/* ---- requests to a terminal, and their results ---- */

/*
 * terminal_is_reachable(s, id, broker, ttl_ms, here):
 * *here: whether the terminal is present, and at that broker; absent: at any.
 */
enum rc terminal_is_reachable(struct state *s, struct str id, struct str broker,
    int64_t ttl_ms, bool *here) RC_CHECK;

/* Largest note, in bytes. */
#define TERMINAL_NOTE_MAX 512

struct terminal_expect_result {
	struct str request_id;
	struct str broker; /* where the terminal must be */
	int64_t ttl_ms;    /* of snapshots */
	struct str note;   /* returned with the result */
};

/*
 * terminal_expect_result(s, id, e, here):
 * *here as of terminal_is_reachable().  If true, a result is expected from now
 * on, for ten minutes.
 */
enum rc terminal_expect_result(struct state *s, struct str id,
    const struct terminal_expect_result *e, bool *here) RC_CHECK;

/* A result among others, and what became of it. */
struct terminal_result {
	struct str id, request_id, json;
	enum rc rc; /* RC_NOENT: it was not expected, and is not stored */
	bool first;
	struct str note; /* of the first */
};

/*
 * terminal_put_results(s, v, n, a):
 * Store results (≤ TERMINAL_JSON_MAX each) that are expected, for ten minutes;
 * of several for one request the first.  That clears the terminal's last
 * rejected result.  Round trips and result as of terminal_put_reports(); notes
 * are taken from a.
 */
enum rc terminal_put_results(struct state *s, struct terminal_result *v,
    size_t n, struct arena *a) RC_CHECK;

/*
 * terminal_get_result(s, id, request_id, a, json):
 * RC_NOENT if there is none.
 */
enum rc terminal_get_result(struct state *s, struct str id,
    struct str request_id, struct arena *a, struct str *json) RC_CHECK;

/* ---- credentials ---- */

/*
 * The identity of a terminal: a password, at the broker and over HTTP alike, of
 * which the hash is stored; or a certificate, of which nothing is.  Each change
 * increments a version, which a copy of the hashes for a broker polls; if the
 * process that makes it dies, some 10 s later.
 */

/* Bytes of a hash; identities of one page. */
#define CREDENTIAL_HASH_MAX 160
#define CREDENTIAL_PAGE_MAX 1000

struct credential {
	struct str terminal_id;
	struct str tenant;  /* absent: none */
	struct str user_id; /* the only user who may bind it; absent: any */
	struct str hash;    /* of its password; absent: it has a certificate */
	struct wall created, changed;
	bool revoked; /* until this id is minted again */
};

/*
 * credential_mint(s, c, a, from):
 * Give c->terminal_id an identity, made at c->created.  RC_CONFLICT if it has
 * one that is not revoked; RC_INVALID unless id_terminal_valid().  The terminal
 * is unbound if it was revoked before, or is bound by another user than
 * c->user_id: *from (may be NULL) is then the previous user, taken from a,
 * otherwise absent.
 */
enum rc credential_mint(struct state *s, const struct credential *c,
    struct arena *a, struct str *from) RC_CHECK;

/*
 * credential_rotate(s, id, hash):
 * Replace the password at once; absent: by a certificate.  RC_NOENT if it has
 * no identity, or it is revoked.
 */
enum rc credential_rotate(
    struct state *s, struct str id, struct str hash) RC_CHECK;

/*
 * credential_revoke(s, id, a, from):
 * Its reports do not count any more, its hash is deleted, and it is unbound; a
 * and *from as above.  RC_NOENT if it has no identity, or it is revoked.
 */
enum rc credential_revoke(
    struct state *s, struct str id, struct arena *a, struct str *from) RC_CHECK;

/*
 * credential_read(s, id, a, out):
 * RC_NOENT if it never had one; texts are taken from a.
 */
enum rc credential_read(struct state *s, struct str id, struct arena *a,
    struct credential *out) RC_CHECK;

/*
 * credential_find_hash(s, id, a, hash, tenant):
 * The hash of the password of id, and its tenant, taken from a.  RC_NOENT: it
 * has no identity, or no password, or is revoked.
 */
enum rc credential_find_hash(struct state *s, struct str id, struct arena *a,
    struct str *hash, struct str *tenant) RC_CHECK;

/*
 * credential_list(s, tenant, cursor, limit, a, list, n, next):
 * One page of the identities of a tenant (absent: all), revoked ones included,
 * in a fixed order; limit is 1 to CREDENTIAL_PAGE_MAX, a page may have fewer.
 * The first cursor is absent; *next is the following page's, absent after the
 * last.  What exists throughout is listed exactly once.  RC_INVALID if cursor
 * is not one.
 */
enum rc credential_list(struct state *s, struct str tenant, struct str cursor,
    size_t limit, struct arena *a, struct credential **list, size_t *n,
    struct str *next) RC_CHECK;

/* credential_version(s, version): Changes with each change; 0: no change yet.
 */
enum rc credential_version(struct state *s, int64_t *version) RC_CHECK;

#endif /* !STATE_TERMINAL_H */
