/*
 * session: a user's conversation: messages, summary, last activity.  Its events
 * are in events.h.
 *
 * A session belongs to its user: "s1" of one user is not "s1" of another.  It
 * holds SESSION_MESSAGES_MAX messages and SESSION_BYTES_MAX of them, and a user
 * has SESSIONS_MAX sessions (keys.h).
 */
#ifndef STATE_SESSION_H
#define STATE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "state/state.h"

/* Messages of a session; the oldest are removed. */
#define SESSION_MESSAGES_MAX 2000
/* Largest message and summary, in bytes. */
#define SESSION_TEXT_MAX (256UL * 1024)
/* Messages of one session_append(). */
#define SESSION_APPEND_MAX 256
/* Bytes of messages that session_messages() reads at once. */
#define SESSION_PAGE_BYTES (4UL * 1024 * 1024)

struct session_key {
	struct str user_id, session_id;
};

/* What has become of runs that a session is to report (state/run.h): JSON. */
struct session_notes {
	struct str *json;
	size_t n;
};

struct session {
	bool known;
	struct str soul_id, terminal_id; /* of the last turn */
	struct str summary;              /* absent: none */
	int64_t summarised; /* number of the last message in the summary; 0 */
	struct wall active; /* last user input; {0}: none */
	struct str job;     /* to be published for a summary; absent: none */
	struct str pending; /* what turns have left open; absent: nothing */
	/* A call that waits for the user's approval, JSON; absent: none. */
	struct str approval;
	struct str inner_voice;     /* of the last turn; absent: none */
	struct session_notes notes; /* also if it is not known */
};

/* A message: a number that rises within the session, and its JSON. */
struct session_message {
	int64_t number;
	struct str json;
};

/* session_read(s, k, a, out): known false if there is none. */
enum rc session_read(struct state *s, const struct session_key *k,
    struct arena *a, struct session *out) RC_CHECK;

/* A session with a call that waits for an approval. */
struct session_approval {
	struct str session_id, approval;
};

struct session_approval_list {
	struct session_approval *list;
	size_t n;
};

/*
 * session_list_approvals(s, user, max, a, out):
 * At most max of the user's sessions, those with the latest input first.
 */
enum rc session_list_approvals(struct state *s, struct str user, size_t max,
    struct arena *a, struct session_approval_list *out) RC_CHECK;

/*
 * session_append(s, k, json, n, first):
 * Append n (1 to SESSION_APPEND_MAX) messages at once; *first (may be NULL) is
 * the first one's number.
 */
enum rc session_append(struct state *s, const struct session_key *k,
    const struct str *json, size_t n, int64_t *first) RC_CHECK;

/*
 * session_user_input(s, k, soul, terminal, idle_ms):
 * The session is active now, and becomes idle idle_ms from now unless another
 * input comes (session_idle_claim()).
 */
enum rc session_user_input(struct state *s, const struct session_key *k,
    struct str soul, struct str terminal, int64_t idle_ms) RC_CHECK;

/*
 * Which messages: the max numbers after after; after < 0: the last max.  bytes
 * (1 to SESSION_PAGE_BYTES; 0: that) limits their total size.
 */
struct session_page {
	int64_t after;
	size_t max;
	size_t bytes;
};

struct session_list {
	struct session_message *message;
	size_t n;
};

/*
 * session_messages(s, k, page, a, out):
 * Read messages, oldest first.  Fewer, but at least one, if more would exceed
 * page.bytes: of the last max the newest.
 */
enum rc session_messages(struct state *s, const struct session_key *k,
    struct session_page page, struct arena *a,
    struct session_list *out) RC_CHECK;

/* A summary that continues the previous one. */
struct session_summary {
	struct str text;
	int64_t after;  /* session.summarised, as it was read */
	int64_t number; /* of the last message in it; > after */
	struct str job; /* to be published because of it; absent: none */
};

/*
 * session_summarise(s, k, sum):
 * Store a summary and, in the same write, the job that results from it, which
 * stays until session_job_done(); so a crash never leaves one without the
 * other.  RC_CONFLICT if another summary was stored since, the last one's job
 * is not done, or there never was a message of that number.  RC_NOENT if there
 * is no such session.
 */
enum rc session_summarise(struct state *s, const struct session_key *k,
    const struct session_summary *sum) RC_CHECK;

/* session_job_done(s, k, job): Delete the job, if it is this one. */
enum rc session_job_done(
    struct state *s, const struct session_key *k, struct str job) RC_CHECK;

/*
 * session_delete(s, k):
 * With its messages and timers.  Its turns, running or waiting, are evicted, so
 * that they write nothing more (turn_check_head()).  RC_NOENT if unknown.
 */
enum rc session_delete(struct state *s, const struct session_key *k) RC_CHECK;

/* ---- idle and long sessions ---- */

/* Either of them, counted since the last summary, makes a session long. */
struct session_length {
	int64_t messages, chars;
};

/*
 * session_request_summary(s, k, least, requested):
 * If the session is as long as least, have it claimed now as if it were idle,
 * at most once a minute for the same messages.
 */
enum rc session_request_summary(struct state *s, const struct session_key *k,
    const struct session_length *least, bool *requested) RC_CHECK;

/* A session that is idle or long. */
struct session_idle {
	struct session_key key;
	/* When it became idle, which identifies the idle period; in the future
	 * if it is long. */
	struct wall due;
	int64_t claims; /* of this period so far: 1 the first time */
};

struct session_idle_list {
	struct session_idle *idle;
	size_t n;
	/* When the next one of the bucket is due, or its claim expires, by
	 * Redis' clock; {0}: there is none. */
	struct wall next;
};

/* Sessions of one claim. */
struct session_idle_claim {
	unsigned bucket;
	int64_t lease_ms; /* > 0 */
	size_t max;       /* > 0 */
};

/*
 * session_idle_claim(s, claim, a, out):
 * Claim sessions of a bucket that are idle by Redis' clock.  A claim expires
 * after lease_ms unless session_idle_done() came; a user input restarts the
 * wait.
 */
enum rc session_idle_claim(struct state *s,
    const struct session_idle_claim *claim, struct arena *a,
    struct session_idle_list *out) RC_CHECK;

/*
 * session_idle_next(s, buckets, n, next):
 * When the first session of each of n (at most STATE_BUCKETS) buckets is due,
 * or its claim expires, as session_idle_list.next.  One round trip; it is
 * negative of those that could not be read, and the first error is returned.
 */
enum rc session_idle_next(struct state *s, const unsigned *buckets, size_t n,
    struct wall *next) RC_CHECK;

/*
 * session_idle_defer(s, idle, ms):
 * Extend the claim to ms from now; then it can be claimed again.  RC_CONFLICT
 * if an input came or the idle period was dealt with.
 */
enum rc session_idle_defer(
    struct state *s, const struct session_idle *idle, int64_t ms) RC_CHECK;

/*
 * session_idle_done(s, idle):
 * The idle period was dealt with; no effect if an input came meanwhile.  A
 * session that is not idle yet is due again when it is.
 */
enum rc session_idle_done(
    struct state *s, const struct session_idle *idle) RC_CHECK;

#endif /* !STATE_SESSION_H */
