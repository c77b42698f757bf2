/*
 * judge: a real body as it is seen from its broker, against protocol sections
 * 3, 6 and 7.4.  Pure: it is told what comes and when, in ms since the watch
 * began, and says what it would like to be done.
 */
#ifndef BODY_SIM_JUDGE_H
#define BODY_SIM_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"
#include "verdict.h"

/* How long the broker may take to send what it has kept. */
#define JUDGE_KEPT_MS 1500
/* How long a body may take to come back after its connection was broken. */
#define JUDGE_BACK_MS 30000

/* Room for any result of said. */
#define JUDGE_SAID_MAX 192

struct judge_opts {
	const char *terminal;
	int64_t ttl_ms; /* the server's: silence after which reports are void */
	bool invokes;   /* an invoke will be sent */
	bool probes;    /* judge_probed() will be called */
};

struct judge_msg {
	struct str leaf; /* the topic after "<prefix>/terminal/<id>/" */
	struct str payload;
	int qos;
	bool kept; /* by the broker: an old one, sent for the subscription */
};

struct judge;

/* judge_new(o), judge_free(j): terminal is kept; NULL is allowed. */
struct judge *judge_new(const struct judge_opts *o);
void judge_free(struct judge *j);

/*
 * judge_saw(j, t, m, said): A message; said gets a few words about it.
 * judge_time(j, t):         Time has passed; call it some times a second.
 * judge_end(j, t):          The watch is over.
 */
void judge_saw(struct judge *j, int64_t t, const struct judge_msg *m,
    char said[JUDGE_SAID_MAX]);
void judge_time(struct judge *j, int64_t t);
void judge_end(struct judge *j, int64_t t);

/*
 * judge_wants_kept(j, t):
 * Whether the broker is to be asked for what it has kept; true once each time,
 * and it is then expected to be asked at once.
 */
bool judge_wants_kept(struct judge *j, int64_t t);

/* judge_calm(j, t): The body is there and not announcing itself just now. */
bool judge_calm(const struct judge *j, int64_t t);

/* judge_kicked(j, t): Its connection is being broken now; t < 0: it is not. */
void judge_kicked(struct judge *j, int64_t t);

/*
 * judge_probed(j, line, heard):
 * Whether somebody is subscribed to what line is about.
 */
void judge_probed(struct judge *j, enum line line, bool heard);

/* judge_done(j): Nothing more can be found out. */
bool judge_done(const struct judge *j);

/* judge_verdicts(j): What was found out so far. */
const struct verdicts *judge_verdicts(const struct judge *j);

#endif /* !BODY_SIM_JUDGE_H */
