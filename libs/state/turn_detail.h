/*
 * turn_detail: what went into a user's turns and what came out, for people who
 * want to see why a turn did what it did.  Stored after the turn's end, apart
 * from its record (state/turn.h): who loses it loses nothing else.
 */
#ifndef STATE_TURN_DETAIL_H
#define STATE_TURN_DETAIL_H

#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "state/state.h"

/* Turns of a user; of more, the oldest are removed. */
#define TURN_DETAIL_TURNS_MAX 1000
/* Longest texts, in bytes. */
#define TURN_SUMMARY_MAX (4 * (size_t)1024)
#define TURN_DETAIL_MAX  (256 * (size_t)1024)
/* Turns of one page. */
#define TURN_DETAIL_PAGE_MAX 100

struct turn_detail {
	struct str user_id, turn_id;
	struct wall started;
	int64_t ttl_ms;             /* above 0 */
	struct str summary, detail; /* JSON */
};

/* turn_detail_put(s, d): Store it; one of the same turn is replaced. */
enum rc turn_detail_put(struct state *s, const struct turn_detail *d) RC_CHECK;

struct turn_detail_page {
	struct str after; /* next of the page before; absent: the newest */
	size_t max;       /* at most TURN_DETAIL_PAGE_MAX */
	/* Set: summaries, the newest first; next absent: there are no more. */
	struct str *summary;
	size_t n;
	struct str next;
};

/*
 * turn_detail_list(s, user, a, p):
 * The summaries of a page, which may be fewer than max although there are more.
 * RC_INVALID if after is not the next of a page.
 */
enum rc turn_detail_list(struct state *s, struct str user, struct arena *a,
    struct turn_detail_page *p) RC_CHECK;

/* turn_detail_read(s, user, turn_id, a, json): RC_NOENT: there is none. */
enum rc turn_detail_read(struct state *s, struct str user, struct str turn_id,
    struct arena *a, struct str *json) RC_CHECK;

/* turn_detail_wipe(s, user): Delete all of a user. */
enum rc turn_detail_wipe(struct state *s, struct str user) RC_CHECK;

#endif /* !STATE_TURN_DETAIL_H */
