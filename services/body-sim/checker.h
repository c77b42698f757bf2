/*
 * checker: judges a real body by its messages, against sections 3, 6 and 7.4 of
 * the protocol.  Pure: messages and times are arguments; times are in ms since
 * the check began.
 */
#ifndef BODY_SIM_CHECKER_H
#define BODY_SIM_CHECKER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"
#include "verdict.h"

/* Time for the broker to send retained messages. */
#define CHECKER_RETAINED_MS 1500
/* Time for the body to come back after its connection was broken. */
#define CHECKER_RECONNECT_MS 30000

/* Room for any summary of a message. */
#define CHECKER_TEXT_MAX 192

struct checker_opts {
	const char *terminal;
	int64_t ttl_ms; /* of snapshots, at the server */
	bool invokes;   /* an invoke will be sent */
	bool probes;    /* checker_probed() will be called */
};

struct checker_msg {
	struct str leaf; /* the topic after "<prefix>/terminal/<id>/" */
	struct str payload;
	int qos;
	bool retained; /* sent by the broker for a new subscription */
};

struct checker;

/* checker_new(o), checker_free(c): terminal is not copied; NULL is allowed. */
struct checker *checker_new(const struct checker_opts *o);
void checker_free(struct checker *c);

/*
 * checker_message(c, t, m, text): A message; text becomes a summary of it.
 * checker_tick(c, t):             Call it several times a second.
 * checker_finish(c, t):           The check is over.
 */
void checker_message(struct checker *c, int64_t t, const struct checker_msg *m,
    char text[CHECKER_TEXT_MAX]);
void checker_tick(struct checker *c, int64_t t);
void checker_finish(struct checker *c, int64_t t);

/*
 * checker_wants_retained(c, t):
 * Whether the caller has to subscribe now to get the retained messages; true
 * once after each announcement.
 */
bool checker_wants_retained(struct checker *c, int64_t t);

/* checker_idle(c, t): The body is online and not announcing itself. */
bool checker_idle(const struct checker *c, int64_t t);

/* checker_kicked(c, t): Its connection is being broken; t < 0: that failed. */
void checker_kicked(struct checker *c, int64_t t);

/*
 * checker_repeated(c, t, id):
 * Sent again, with the id of an invoke that has its result: an unknown skill.
 */
void checker_repeated(struct checker *c, int64_t t, struct str id);

/* checker_probed(c, line, subscribed): Result of a probe for that line. */
void checker_probed(struct checker *c, enum line line, bool subscribed);

/* checker_done(c): Nothing more can be found out. */
bool checker_done(const struct checker *c);

/* checker_verdicts(c): The verdicts so far. */
const struct verdicts *checker_verdicts(const struct checker *c);

#endif /* !BODY_SIM_CHECKER_H */
