/*
 * session: a conversation of a user: messages, summary, last activity.
 *
 * A session belongs to its user: "s1" of one user is not "s1" of another.  It
 * keeps SESSION_MESSAGES_MAX messages and MESSAGES_BYTES of them, and a user
 * SESSIONS_KEPT sessions (keys.h).
 */
#ifndef STATE_SESSION_H
#define STATE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "state/state.h"

/* Messages a session keeps; older ones fall out. */
#define SESSION_MESSAGES_MAX 2000
/* Largest message and summary, in bytes. */
#define SESSION_TEXT_MAX (256UL * 1024)
/* Messages of one session_append(). */
#define SESSION_APPEND_MAX 256
/* Bytes of messages that session_messages() gives at once. */
#define SESSION_PAGE_BYTES (4UL * 1024 * 1024)

struct session_key {
	struct str user_id, session_id;
};

struct session {
	bool known;
	struct str soul_id, terminal_id; /* of the last turn */
	struct str summary;              /* absent: none */
	int64_t summarised; /* number of the last message in the summary; 0 */
	struct wall active; /* last user input; {0}: none */
	struct str job;  /* what is to be done of a summary; absent: nothing */
	struct str late; /* what turns have left open; absent: nothing */
};

/* A message: a number that rises within the session, and its JSON. */
struct session_message {
	int64_t number;
	struct str json;
};

/* session_read(s, k, a, out): known false if there is none. */
enum rc session_read(struct state *s, const struct session_key *k,
    struct arena *a, struct session *out) RC_CHECK;

/*
 * session_append(s, k, json, n, first):
 * Append n (1 to SESSION_APPEND_MAX) messages at once; *first (may be NULL) is
 * the first one's number.
 */
enum rc session_append(struct state *s, const struct session_key *k,
    const struct str *json, size_t n, int64_t *first) RC_CHECK;

/*
 * session_user_input(s, k, soul, terminal, idle_ms):
 * Note a user's input: the session is active now, and falls idle idle_ms from
 * now unless another comes (session_idle_claim()).
 */
enum rc session_user_input(struct state *s, const struct session_key *k,
    struct str soul, struct str terminal, int64_t idle_ms) RC_CHECK;

/*
 * Which messages: the max numbers above after; after < 0: the last max.  bytes
 * (1 to SESSION_PAGE_BYTES; 0: that) is how much they may have together.
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
 * Read messages, oldest first.  Fewer (but not none) where more would be over
 * page.bytes: of the last max then the newest.
 */
enum rc session_messages(struct state *s, const struct session_key *k,
    struct session_page page, struct arena *a,
    struct session_list *out) RC_CHECK;

/*
 * session_put_summary(s, k, summary, number):
 * The summary of all messages up to number.  RC_CONFLICT if a newer one is
 * there or there never was a message of that number, RC_NOENT if there is no
 * such session.
 */
enum rc session_put_summary(struct state *s, const struct session_key *k,
    struct str summary, int64_t number) RC_CHECK;

/* A summary that goes on where the last one ended. */
struct session_summary {
	struct str text;
	int64_t after;  /* session.summarised, as it was read */
	int64_t number; /* of the last message in it; > after */
	struct str job; /* what is to be done because of it; absent: nothing */
};

/*
 * session_summarise(s, k, sum):
 * Store a summary and, in one with it, the job that it makes, which stays until
 * session_job_done(): so neither is without the other, whoever dies.
 * RC_CONFLICT if another summary was stored since, the last one's job is not
 * done, or there never was a message of that number.  RC_NOENT if there is no
 * such session.
 */
enum rc session_summarise(struct state *s, const struct session_key *k,
    const struct session_summary *sum) RC_CHECK;

/* session_job_done(s, k, job): Forget the job, if it is this one. */
enum rc session_job_done(
    struct state *s, const struct session_key *k, struct str job) RC_CHECK;

/*
 * session_delete(s, k):
 * With its messages and timers.  Its turns, running or waiting, are evicted, so
 * that they write nothing more (turn_hold()).  RC_NOENT if unknown.
 */
enum rc session_delete(struct state *s, const struct session_key *k) RC_CHECK;

/* What makes a session long since its last summary: either of them. */
struct session_length {
	int64_t messages, chars;
};

/*
 * session_long(s, k, least, asked):
 * If it is as long as least, have it claimed now as if it had fallen idle, once
 * a minute for the same messages; *asked: it was asked for.
 */
enum rc session_long(struct state *s, const struct session_key *k,
    const struct session_length *least, bool *asked) RC_CHECK;

/* A session that has fallen idle, or is long. */
struct session_idle {
	struct session_key key;
	/* When it fell idle: which stretch this is; in future if it is long. */
	struct wall due;
	int64_t claims; /* of this stretch so far: 1 the first time */
};

struct session_idle_list {
	struct session_idle *idle;
	size_t n;
};

/*
 * session_idle_claim(s, lease_ms, max, a, out):
 * Claim sessions that have fallen idle by Redis' clock.  A claim is another's
 * again after lease_ms unless session_idle_done() came; a user input meanwhile
 * starts the wait anew.
 */
enum rc session_idle_claim(struct state *s, int64_t lease_ms, size_t max,
    struct arena *a, struct session_idle_list *out) RC_CHECK;

/*
 * session_idle_later(s, idle, ms):
 * Keep the claim for ms from now; then it is claimed again.  RC_CONFLICT if an
 * input came or the stretch was dealt with.
 */
enum rc session_idle_later(
    struct state *s, const struct session_idle *idle, int64_t ms) RC_CHECK;

/*
 * session_idle_done(s, idle):
 * The stretch was dealt with; nothing happens if an input came meanwhile.  One
 * that is not idle yet is due again when it falls idle.
 */
enum rc session_idle_done(
    struct state *s, const struct session_idle *idle) RC_CHECK;

#endif /* !STATE_SESSION_H */
