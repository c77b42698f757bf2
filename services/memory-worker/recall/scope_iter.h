/*
 * scope_iter: asynchronous iteration over the souls a request is about, one
 * after the other: the soul it names, or all of the user's.
 *
 * The iterator is a member of the request's own struct.  Loop thread.
 */
#ifndef MEMORY_WORKER_SCOPE_ITER_H
#define MEMORY_WORKER_SCOPE_ITER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "state/soul.h"
#include "store/memory_store.h"

struct state;
struct svc_call;

struct scope_iter {
	/* Process it->soul[it->at]; must lead to one scope_iter_next(), before
	 * it returns or later. */
	void (*visit)(struct scope_iter *it);
	/* RC_OK: all were visited; else the error given to scope_iter_next().
	 */
	void (*done)(struct scope_iter *it, enum rc rc);
	struct svc_call *call;
	struct str user_id;
	struct soul *soul; /* of a named one only the id is known */
	size_t n, at;
	/* Private. */
	enum rc rc;
	bool visiting, advanced;
};

/*
 * scope_iter_init(it, s, named, a):
 * Find the souls of it->user_id: the named one or, if that is absent, all,
 * oldest first, in a.  Results as soul_list().
 */
enum rc scope_iter_init(struct scope_iter *it, struct state *s,
    struct str named, struct arena *a) RC_CHECK;

/* scope_iter_start(it): Visit the first. */
void scope_iter_start(struct scope_iter *it);

/*
 * scope_iter_next(it, rc): Continue with the next soul, or end unless rc is
 * RC_OK.
 * scope_iter_stop(it): Skip the remaining souls; before scope_iter_next().
 */
void scope_iter_next(struct scope_iter *it, enum rc rc);
void scope_iter_stop(struct scope_iter *it);

/* scope_iter_scope(it): The user and the current soul. */
struct memory_scope scope_iter_scope(const struct scope_iter *it);

/*
 * scope_iter_request(it, scope, fn, arg):
 * A store request that leaves time for the reply before the call's deadline.
 */
struct store_request scope_iter_request(const struct scope_iter *it,
    const struct memory_scope *scope, store_fn fn, void *arg);

#endif /* !MEMORY_WORKER_SCOPE_ITER_H */
