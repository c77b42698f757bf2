/*
 * chaos: the history of a stack under faults: what clients sent and received,
 * what reached the bodies, and what was stored in the end; and whether all that
 * fits together.
 *
 * It only records: times (ms, of one monotonic clock) are arguments.  Every
 * function but chaos_count(), chaos_check() and chaos_print() may be called
 * from any thread.
 */
#ifndef TESTKIT_CHAOS_H
#define TESTKIT_CHAOS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A command may reach a body this long after the end of its turn: it was
 * accepted just before, and a thread of the test may be late.
 */
#define CHAOS_SLACK_MS 2000

/* Room for a trace id, NUL included. */
#define CHAOS_TRACE_MAX 33

struct chaos;

struct chaos *chaos_new(void);
void chaos_free(struct chaos *h);

/* ---- turns ---- */

/*
 * chaos_input(h, at, session, body):
 * A client has an input for a session; its number.  body is one whose commands
 * are recorded, or NULL.  Inputs of a session may overlap.
 *
 * chaos_text(input, text, dst, size): Its text, by which its message is
 * found: "第<number>句：<text>".
 */
int chaos_input(
    struct chaos *h, int64_t at, const char *session, const char *body);
void chaos_text(int input, const char *text, char *dst, size_t size);

/*
 * chaos_send(h, at, input): It is sent, for the first time or again with the
 * same ids; the number of the attempt.
 *
 * chaos_trace(attempt, dst): The trace id to send with it, unique in this
 * history.
 */
int chaos_send(struct chaos *h, int64_t at, int input);
void chaos_trace(int attempt, char dst[CHAOS_TRACE_MAX]);

enum chaos_end {
	CHAOS_OPEN,      /* not known: it may have had, or still have, effect */
	CHAOS_DONE,      /* acknowledged */
	CHAOS_FAILED,    /* an error with which a turn ends */
	CHAOS_CANCELED,  /* the error of a canceled turn */
	CHAOS_LOST,      /* lost, and nothing was sent to the body */
	CHAOS_LOST_ACTED /* lost, something may have been sent before */
};

/* The response to an attempt; texts may be NULL. */
struct chaos_result {
	enum chaos_end end;
	int status; /* HTTP; 0: none */
	const char *turn_id;
	const char *reply;
	json_t *executed; /* array of skills, or NULL */
};

/*
 * chaos_result(h, at, attempt, r): It has ended for its client.
 * chaos_canceled(h, at, attempt): Its cancellation was acknowledged.
 */
void chaos_result(
    struct chaos *h, int64_t at, int attempt, const struct chaos_result *r);
void chaos_canceled(struct chaos *h, int64_t at, int attempt);

/* ---- commands ---- */

/* chaos_publish(h, at, trace, request_id): A service sent a command. */
void chaos_publish(
    struct chaos *h, int64_t at, const char *trace, const char *request_id);

/* A command as its body received it. */
struct chaos_delivery {
	const char *body, *request_id;
	const char *session; /* NULL: it does not say */
	json_t *skills;      /* array */
};

void chaos_deliver(struct chaos *h, int64_t at, const struct chaos_delivery *d);

/*
 * chaos_disconnected(h, at, body): What was being sent to the body is lost.
 *
 * chaos_outage(h, at, what): Something was broken.
 * chaos_outage_end(h, at): That is over; with held, messages that were sent
 * before may have been delivered since.
 */
void chaos_disconnected(struct chaos *h, int64_t at, const char *body);
void chaos_outage(struct chaos *h, int64_t at, const char *what);
void chaos_outage_end(struct chaos *h, int64_t at, bool held);

/* ---- other writes ---- */

/*
 * chaos_write(h, at, record, value): A client writes a record that nobody
 * else writes ("": deletes it); the number of the write.
 * chaos_written(h, at, write): It was acknowledged.
 */
int chaos_write(
    struct chaos *h, int64_t at, const char *record, const char *value);
void chaos_written(struct chaos *h, int64_t at, int write);

/*
 * chaos_forget(h, session): A client deletes it: what is stored of it is not
 * checked any more.
 */
void chaos_forget(struct chaos *h, const char *session);

/* chaos_wrong(h, at, text): Something that is wrong by itself. */
void chaos_wrong(struct chaos *h, int64_t at, const char *text);

/* ---- what is stored in the end ---- */

/* A message of a session; in their order. */
struct chaos_message {
	const char *role, *content, *turn_id;
};

void chaos_message(
    struct chaos *h, const char *session, const struct chaos_message *m);

/* An event of a session's log, in their order. */
struct chaos_event {
	int64_t seq;
	const char *turn_id, *type;
};

void chaos_event(
    struct chaos *h, const char *session, const struct chaos_event *e);

/*
 * chaos_record(h, turn_id, state, trace): The record of a turn.
 * chaos_read(h, record, value): A record of chaos_write(), "": absent.
 */
void chaos_record(
    struct chaos *h, const char *turn_id, const char *state, const char *trace);
void chaos_read(struct chaos *h, const char *record, const char *value);

/* ---- the verdict ---- */

/* How much there is, for the summary of a test. */
struct chaos_counts {
	size_t inputs, attempts, done, lost, open, commands, unassigned, writes,
	    turns;
};

void chaos_count(struct chaos *h, struct chaos_counts *n);

/*
 * chaos_check(h, to):
 * Everything that is wrong, each with the entries that belong to it, on to (up
 * to CHAOS_PRINT_MAX of them).  Returns how many there are:
 *
 * - an acknowledged input is stored once, with its reply, others at most once;
 * - in its session, an input that was acknowledged before another was sent is
 *   before it;
 * - the events of a session have consecutive numbers, those of a turn begin
 *   with its start, unless it was canceled before, and end with its one end;
 * - the record of a turn has ended as its events did, and at most one turn of
 *   an input was completed;
 * - no command reaches a body twice, or for an input a second time, or later
 *   than the end of its turn, or at all if the turn was lost without one;
 * - a skill that was reported as executed has reached the body;
 * - a record has the value that was acknowledged last, or one of those that
 *   were not acknowledged.
 */
#define CHAOS_PRINT_MAX 20
size_t chaos_check(struct chaos *h, FILE *to);

/* chaos_print(h, since, to): What was recorded since then, in order. */
void chaos_print(struct chaos *h, int64_t since, FILE *to);

#endif /* !TESTKIT_CHAOS_H */
