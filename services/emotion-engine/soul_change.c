/*
 * Load, apply, save; again if another process was faster.
 */
#include "soul_change.h"

#include "core/fiber.h"
#include "engine.h"
#include "soul_cache.h"
#include "soul_record.h"
#include "svc/svc.h"

/*
 * Attempts to save a soul that is changed concurrently.  Of concurrent attempts
 * one succeeds, and a process makes one at a time (engine_soul_lock()), so the
 * limit exceeds any number of replicas.
 */
#define SAVE_TRIES 64

void
soul_fail(struct svc_call *c, enum rc rc)
{
	switch (rc) {
	case RC_NOENT:
		svc_fail(c, rc, "soul not found");
		return;
	case RC_INVALID:
		svc_fail(c, RC_BUG, "the soul's state is not readable");
		return;
	case RC_CONFLICT:
		svc_fail(
		    c, RC_RETRY, "too many concurrent changes of this soul");
		return;
	case RC_UNREPLICATED:
		svc_fail(c, rc,
		    "the soul was changed, but is not stored safely: too few "
		    "replicas of Redis have it; do not repeat it");
		return;
	default:
		svc_fail(c, rc, "the state store does not answer");
		return;
	}
}

enum rc
soul_load(struct engine *e, struct stored_soul *soul, struct arena *a)
{
	enum rc rc;

	rc = record_store_load(&e->store, soul, 1, a);
	return rc != RC_OK ? rc : soul->rc;
}

/* *done: it is saved, or there was nothing to change. */
static enum rc
soul_change_try(struct engine *e, struct stored_soul *soul,
    soul_change_fn apply, void *arg, struct arena *a, bool *done)
{
	*done = !apply(arg, soul);
	if (*done)
		return RC_OK;
	enum rc rc = record_store_swap(&e->store, soul, a);
	if (rc != RC_OK || soul->saved) {
		*done = soul->saved;
		return rc;
	}
	soul_cache_was_stale(e->cache);
	return soul->rc;
}

enum rc
soul_change(struct engine *e, struct stored_soul *soul, soul_change_fn apply,
    void *arg, struct arena *a)
{
	struct fiber_lock *lock = engine_soul_lock(e, soul->id);
	bool done = false;

	fiber_lock(lock);
	enum rc rc =
	    soul_cache_get(e->cache, soul) ? RC_OK : soul_load(e, soul, a);
	for (int i = 0; rc == RC_OK && !done && i < SAVE_TRIES; i++)
		rc = soul_change_try(e, soul, apply, arg, a, &done);
	if (soul->saved)
		soul_cache_put(e->cache, soul);
	else if (!done)
		soul_cache_drop(e->cache, soul);
	fiber_unlock(lock);
	return rc == RC_OK && !done ? RC_CONFLICT : rc;
}
