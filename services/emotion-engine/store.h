/*
 * store: souls in Redis, as records, changed by compare-and-set.
 */
#ifndef EMOTION_ENGINE_STORE_H
#define EMOTION_ENGINE_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/str.h"
#include "record.h"

struct soul_state;
struct state;

struct store {
	struct state *state;
	bool migrate; /* souls of persona-pad-v2 go on as persona-pad-v3 */
};

struct store_soul {
	struct str id;
	enum rc rc;      /* RC_NOENT: no such soul; RC_INVALID: not readable */
	int64_t version; /* of what was loaded or saved */
	struct record record;
	bool saved;
	struct str log; /* to be remembered of the change; absent: nothing */
};

/*
 * store_take(s, soul, st, a):
 * Make soul of a state that was read; rc says how it went.  A round trip if it
 * has never felt anything.
 */
void store_take(const struct store *s, struct store_soul *soul,
    const struct soul_state *st, struct arena *a);

/*
 * store_load(s, souls, n, a):
 * Read n souls (id given) in one round trip, and take them.  RC_OK: each soul's
 * rc says how it went.
 */
enum rc store_load(const struct store *s, struct store_soul *souls, size_t n,
    struct arena *a) RC_CHECK;

/*
 * store_save(s, souls, n, a):
 * Write those of n souls whose rc is RC_OK and that nobody changed since they
 * were loaded, with their log; saved says it, and version is then the new one.
 * One round trip.
 */
enum rc store_save(const struct store *s, struct store_soul *souls, size_t n,
    struct arena *a) RC_CHECK;

#endif /* !EMOTION_ENGINE_STORE_H */
