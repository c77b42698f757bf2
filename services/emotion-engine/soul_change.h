/*
 * soul_change: changing a soul with compare-and-set.
 */
#ifndef EMOTION_ENGINE_SOUL_CHANGE_H
#define EMOTION_ENGINE_SOUL_CHANGE_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/rc.h"

struct engine;
struct stored_soul;
struct svc_call;

/*
 * soul_change_fn: changes soul->record and sets soul->log, which is in the
 * caller's memory; called again with what is stored if another change was
 * faster.  False: there is nothing to change, and nothing is stored.
 */
typedef bool (*soul_change_fn)(void *arg, struct stored_soul *soul);

/*
 * soul_change(e, soul, apply, arg, a):
 * Load the soul (user_id and id given), apply, and save it with its log entry;
 * soul->saved says whether it is stored.  RC_NOENT: no such soul; RC_INVALID:
 * it is not readable; RC_CONFLICT: others are always faster; as
 * soul_state_swap().
 */
enum rc soul_change(struct engine *e, struct stored_soul *soul,
    soul_change_fn apply, void *arg, struct arena *a) RC_CHECK;

/* soul_load(e, soul, a): As it is stored; results as above. */
enum rc soul_load(
    struct engine *e, struct stored_soul *soul, struct arena *a) RC_CHECK;

/* soul_fail(c, rc): End a call with the text of that result. */
void soul_fail(struct svc_call *c, enum rc rc);

#endif /* !EMOTION_ENGINE_SOUL_CHANGE_H */
