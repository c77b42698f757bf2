/*
 * answers: whether a body answers what it is asked, in time and in full.  Pure:
 * times are in ms since the watch began.
 */
#ifndef BODY_SIM_ANSWERS_H
#define BODY_SIM_ANSWERS_H

#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/str.h"
#include "verdict.h"

/* When an answer should have come, and when the server no longer waits. */
#define ANSWERS_GOOD_MS 5000
#define ANSWERS_LAST_MS 8000

/* Invokes followed at one time; beyond, the oldest are forgotten. */
#define ANSWERS_MAX 64

/* Room for any result of said. */
#define ANSWERS_SAID_MAX 160

struct answers {
	struct verdicts *v;
	struct arena *arena;
	struct {
		char *id; /* NULL: free */
		int64_t asked;
		bool answered, given_up;
	} ring[ANSWERS_MAX];
	size_t next;
	size_t n; /* results */
};

/* answers_init(a, v), answers_free(a): Nothing was asked. */
void answers_init(struct answers *a, struct verdicts *v);
void answers_free(struct answers *a);

/* answers_asked(a, t, id): An invoke with this id in its topic. */
void answers_asked(struct answers *a, int64_t t, struct str id);

/*
 * answers_came(a, t, id, payload, said):
 * A result with this id in its topic; said gets a few words about it.
 */
void answers_came(struct answers *a, int64_t t, struct str id,
    struct str payload, char said[ANSWERS_SAID_MAX]);

/* answers_time(a, t): Give up what should have been answered by now. */
void answers_time(struct answers *a, int64_t t);

#endif /* !BODY_SIM_ANSWERS_H */
