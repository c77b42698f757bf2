/*
 * retry: what to do about a failed attempt.  Private, pure.
 *
 * The policy of the providers' own clients, with two additions: a provider that
 * wants a longer pause than a talk bears is left for the next one, and nothing
 * is waited for that would not fit the caller's deadline.
 */
#ifndef LLM_RETRY_H
#define LLM_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rc.h"

/* Waits double from the first of these to the second. */
#define RETRY_MIN_MS 500
#define RETRY_MAX_MS 8000
/* The longest pause a provider may ask for. */
#define RETRY_AFTER_MAX_MS 60000
/* The longest that is waited while another provider could be asked. */
#define RETRY_PATIENCE_MS 2000
/* A time-out after less than this is its caller's haste. */
#define RETRY_SLOW_MS 10000

/* A failed attempt. */
struct retry_facts {
	enum rc rc; /* not RC_OK */
	int status; /* HTTP; 0: no answer */
	/* x-should-retry: 1 true, -1 false, 0 not said. */
	int word;
	bool gave_text;         /* the caller was given text of it */
	int64_t retry_after_ms; /* -1: not said */
	unsigned tries;         /* at this provider, this one too */
	unsigned tries_max;
	int64_t spent_ms; /* on this attempt */
	int64_t left_ms;  /* until the caller's deadline */
	bool others;      /* another provider could be asked */
	uint32_t random;  /* any number */
};

enum retry_what { RETRY_END, RETRY_AGAIN, RETRY_NEXT };

/* Whose fault it is: the caller's, the provider's, its owner's for long. */
enum retry_blame { RETRY_BLAME_NONE, RETRY_BLAME_SOFT, RETRY_BLAME_HARD };

struct retry_plan {
	enum retry_what what;
	int64_t wait_ms; /* of RETRY_AGAIN */
	enum retry_blame blame;
};

/* retry_plan(f): What to do. */
struct retry_plan retry_plan(const struct retry_facts *f);

/* retry_would(f): Whether the same call may succeed, whoever makes it. */
bool retry_would(const struct retry_facts *f);

#endif /* !LLM_RETRY_H */
