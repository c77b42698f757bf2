/*
 * breaker: leaves a provider alone that keeps failing, and tries it again with
 * one call after a while.  Private, pure.
 */
#ifndef LLM_BREAKER_H
#define LLM_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/clock.h"

/* So many failed calls in a row open it, first for so long. */
#define BREAKER_FAILURES 3
#define BREAKER_MIN_MS   10000
/* The wait doubles up to this; a fault that waiting hardly mends has it. */
#define BREAKER_MAX_MS 300000
/* The wait for a provider that nobody stands in for. */
#define BREAKER_ALONE_MS 1000

/* Zero-initialised: closed. */
struct breaker {
	unsigned failures; /* in a row */
	int64_t wait_ms;   /* 0: closed */
	struct mono until; /* when a probe is due */
	bool probing;      /* a probe is under way */
};

enum breaker_word {
	BREAKER_CLOSED, /* ask */
	BREAKER_PROBE,  /* ask, once; say what became of it */
	BREAKER_OPEN    /* do not ask */
};

/* breaker_ask(b, now): Whether a call may go; a probe is then under way. */
enum breaker_word breaker_ask(struct breaker *b, struct mono now);

/* breaker_is_open(b): Whether calls that are no probe should leave. */
bool breaker_is_open(const struct breaker *b);

/*
 * About a call: breaker_ask() called it a probe; it failed for long; there is
 * no other provider, so this one is never left alone for longer than
 * BREAKER_ALONE_MS.
 */
#define BREAKER_OF_PROBE 1U
#define BREAKER_HARD     2U
#define BREAKER_ALONE    4U

/*
 * What became of a call; flags are those above.
 * breaker_good(b):            The provider works.
 * breaker_bad(b, now, flags): It failed.  A call that began before the breaker
 *                             opened changes nothing, unless it is hard.
 * breaker_leave(b, flags):    The call showed nothing.
 */
void breaker_good(struct breaker *b);
void breaker_bad(struct breaker *b, struct mono now, unsigned flags);
void breaker_leave(struct breaker *b, unsigned flags);

#endif /* !LLM_BREAKER_H */
