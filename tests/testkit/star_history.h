/*
 * star_history: what the clients of star-hubs sent, got and heard of under
 * faults, and whether that fits together.
 *
 * It only records: times (ms, of one monotonic clock, from 0) are arguments.
 * Clients are numbers from 0, and so are the connections of each, in the order
 * in which they opened.
 */
#ifndef TESTKIT_STAR_HISTORY_H
#define TESTKIT_STAR_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Who has joined or left is known to an environment after so long; so is the
 * end of an older connection to its client. */
#define STAR_PRESENCE_MS 4000
/* A message is on its way for so long at most: hubs that are dead are noticed
 * by then. */
#define STAR_ON_ITS_WAY_MS 10000

struct star_history;

/* star_history_new(n, resume_ms): Of n clients, whose sessions go on for
 * resume_ms after their connection's end. */
struct star_history *star_history_new(size_t n, int64_t resume_ms);
void star_history_free(struct star_history *h);

/* star_history_failure(h, at, what): It is printed beside what is wrong then.
 */
void star_history_failure(struct star_history *h, int64_t at, const char *what);

/* star_history_wrong(h, at, text): Something that is wrong by itself. */
void star_history_wrong(struct star_history *h, int64_t at, const char *text);

/* ---- connections ---- */

enum star_opened {
	STAR_NEW,     /* without a session */
	STAR_RESUMED, /* the session of the one before */
	STAR_LOST     /* that session was lost */
};

/*
 * star_history_opened(h, at, c, how): Its first heartbeat came; the number of
 *     the connection.
 * star_history_ended(h, at, c, conn): It has ended for its client.
 * star_history_noticed(h, at, c, conn): A response of a hub came on it.
 */
int star_history_opened(
    struct star_history *h, int64_t at, int c, enum star_opened how);
void star_history_ended(struct star_history *h, int64_t at, int c, int conn);
void star_history_noticed(struct star_history *h, int64_t at, int c, int conn);

/* ---- messages ---- */

/*
 * star_history_send(h, at, from, to): A message on from's newest connection;
 * its number, from 0.
 *
 * star_history_broadcast(h, at, env, to, n):
 * The same to all of env's members; to, in ascending order, are all that may
 * get it: those that are members as far as env has heard have to.
 *
 * star_history_taken(h, number): A hub has handled it, and those before it on
 * the same connection: what comes of them is reported on the session.
 */
uint32_t star_history_send(
    struct star_history *h, int64_t at, int from, int to);
uint32_t star_history_broadcast(
    struct star_history *h, int64_t at, int env, const int *to, size_t n);
void star_history_taken(struct star_history *h, uint32_t number);

/*
 * star_history_received(h, at, c, conn, number): c got it.
 * star_history_failed(h, at, c, number, unknown): c got the error that it was
 *     not delivered; or that this is not known.
 * star_history_dropped(h, at, c, n): c got the event that it missed n.
 */
void star_history_received(
    struct star_history *h, int64_t at, int c, int conn, uint32_t number);
void star_history_failed(
    struct star_history *h, int64_t at, int c, uint32_t number, bool unknown);
void star_history_dropped(
    struct star_history *h, int64_t at, int c, uint32_t n);

/* ---- presence ---- */

/*
 * star_history_member(h, at, c, env): c is a member of env's from now on,
 *     while its session lasts.
 * star_history_notified(h, env, c, is): env has heard that c is one, or not:
 *     what no hub is known to have handled before is not for it.  A new session
 *     of env has heard of nobody.
 * star_history_is_notified(h, env, c): What it heard last.
 */
void star_history_member(struct star_history *h, int64_t at, int c, int env);
void star_history_notified(struct star_history *h, int env, int c, bool is);
bool star_history_is_notified(const struct star_history *h, int env, int c);

/*
 * star_history_check_views(h, at, all, to):
 * Members that an environment should have heard of by now, and has not, or the
 * opposite; with all, those of which it may still hear in time, too.  Returns
 * how many.
 */
size_t star_history_check_views(
    struct star_history *h, int64_t at, bool all, FILE *to);

/* ---- the verdict ---- */

struct star_counts {
	size_t opened[3]; /* enum star_opened */
	size_t messages, broadcasts, received, refused, unknown, dropped;
	/* Of those that did not arrive: by what they are explained. */
	size_t with_error, not_taken, sender_lost, recipient_lost,
	    reported_dropped;
	size_t views; /* checked */
};

/*
 * star_history_check(h, n, to):
 * Everything that is wrong, on to (up to STAR_PRINT_MAX of them); n (may be
 * NULL) gets how much there is.  Returns how many:
 *
 * - nobody gets a message twice, or another one's, or one of which its sender
 *   got the error that it was not delivered;
 * - what a client sends to another on one connection arrives in that order in
 *   each of its sessions, broadcasts and other messages each by themselves;
 * - a message that did not arrive has its error at the sender; or no hub had
 *   taken it when the sender's connection ended; or it was on its way when the
 *   session of the sender, or of the recipient was lost; or one of them got the
 *   event that so many are missing;
 * - a connection is silent STAR_PRESENCE_MS after a newer one of its client has
 *   opened;
 * - views, as far as they were checked.
 */
#define STAR_PRINT_MAX 20
size_t star_history_check(
    struct star_history *h, struct star_counts *n, FILE *to);

#endif /* !TESTKIT_STAR_HISTORY_H */
