/*
 * session_index: a user's sessions in short, to be listed.
 */
#ifndef STATE_SESSION_INDEX_H
#define STATE_SESSION_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"

struct state;

/* Sessions of one page. */
#define SESSION_INDEX_PAGE_MAX 50

struct session_entry {
	struct str session_id;
	struct str soul_id, terminal_id; /* of the last turn; absent: none */
	struct wall active;              /* last user input */
	int64_t messages;                /* that are stored */
	/* Of the newest message of the user or the soul, at most 480 bytes;
	 * absent: the last two messages have no text. */
	struct str last_text;
};

struct session_index_page {
	struct str after; /* next of the page before; absent: the newest */
	size_t max;       /* at most SESSION_INDEX_PAGE_MAX */
	/* Set: sessions, that of the latest input first; next absent: there
	 * are no more. */
	struct session_entry *entry;
	size_t n;
	struct str next;
};

/*
 * session_index_read(s, user, a, p):
 * RC_INVALID if after is not the next of a page, or max is 0 or too large.
 */
enum rc session_index_read(struct state *s, struct str user, struct arena *a,
    struct session_index_page *p) RC_CHECK;

#endif /* !STATE_SESSION_INDEX_H */
