/*
 * walk: the souls that a request is about, asked one after the other.
 *
 * A request is about the soul it names, or about all of the user's.  The walk
 * lies in the request's memory.  Loop thread.
 */
#ifndef MEMORY_WORKER_WALK_H
#define MEMORY_WORKER_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "state/soul.h"
#include "store.h"

struct state;
struct svc_call;

struct walk {
	/* Ask about w->soul[w->at]; walk_on() is called once, now or later. */
	void (*ask)(struct walk *w);
	/* RC_OK: all were asked; else what walk_on() was told.  Frees w. */
	void (*end)(struct walk *w, enum rc rc);
	struct svc_call *call;
	struct str user_id;
	struct soul *soul; /* of one that was named only the id is known */
	size_t n, at;
	/* Private. */
	enum rc rc;
	bool asking, answered;
};

/*
 * walk_find(w, s, named, a):
 * Find the souls of w->user_id: the one that is named or, if that is absent,
 * all, the oldest first, in a.  As soul_list().
 */
enum rc walk_find(struct walk *w, struct state *s, struct str named,
    struct arena *a) RC_CHECK;

/* walk_start(w): Ask the first. */
void walk_start(struct walk *w);

/*
 * walk_on(w, rc): This soul is done: to the next, or with other than RC_OK to
 * the end.
 * walk_stop(w):   The souls that follow need not be asked; before walk_on().
 */
void walk_on(struct walk *w, enum rc rc);
void walk_stop(struct walk *w);

/* walk_scope(w): The user and the soul that is asked about. */
struct memory_scope walk_scope(const struct walk *w);

/*
 * walk_ask(w, scope, fn, arg):
 * A question to the store whose answer comes in time for the call's.
 */
struct store_ask walk_ask(const struct walk *w,
    const struct memory_scope *scope, store_fn fn, void *arg);

#endif /* !MEMORY_WORKER_WALK_H */
