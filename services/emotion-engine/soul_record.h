/*
 * soul_record: a soul's traits and state as they are stored: packing, and
 * loading and saving with compare-and-set.
 *
 * The first stored record of a soul is empty and is then created from its MBTI
 * type.
 */
#ifndef EMOTION_ENGINE_SOUL_RECORD_H
#define EMOTION_ENGINE_SOUL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "dynamics/drive.h"
#include "dynamics/pad.h"
#include "persona/persona.h"

struct soul_state;
struct state;

/* Size of a packed record in bytes. */
#define RECORD_SIZE 296

/* Requests that a record remembers as applied. */
#define RECORD_APPLIED_N 4

struct record {
	struct persona base; /* traits without drift */
	struct pad_state state;
	struct drives drives;
	/* The last that were applied, the newest first; 0: none. */
	int64_t applied[RECORD_APPLIED_N];
};

/*
 * record_applied_id(request): What stands for a request's id; never 0.
 * record_is_applied(r, id):   Whether it is among the last.
 * record_add_applied(r, id):  It is the newest now.
 * Pure.
 */
int64_t record_applied_id(struct str request);
bool record_is_applied(const struct record *r, int64_t id);
void record_add_applied(struct record *r, int64_t id);

/*
 * record_new(mbti, model, now, out):
 * A soul created at now.  RC_INVALID if mbti is not a type.  Pure, like the
 * next two.
 */
enum rc record_new(struct str mbti, enum persona_model model, int64_t now,
    struct record *out) RC_CHECK;

/* record_pack(r, dst): The packed form, in dst. */
struct str record_pack(const struct record *r, char dst[RECORD_SIZE]);

/*
 * record_unpack(bytes, out):
 * RC_INVALID, *out undefined, if bytes are not a packed record.  One of 0.1 has
 * no drives; it gets those of a new soul.
 */
enum rc record_unpack(struct str bytes, struct record *out) RC_CHECK;

struct record_store {
	struct state *state;
	bool migrate; /* convert souls of persona-pad-v2 to persona-pad-v3 */
};

struct stored_soul {
	struct str user_id, id;
	enum rc rc;      /* RC_NOENT: no such soul; RC_INVALID: unreadable */
	int64_t version; /* as loaded or saved */
	struct record record;
	bool saved;
	struct str log;     /* log entry to save with it; absent: none */
	struct str turn_id; /* of record_store_swap(), as in soul_state */
	bool noted;         /* likewise */
};

/*
 * record_store_take(s, soul, st, a):
 * Decode a state that was read; soul->rc is the result.  One round trip if the
 * stored record is empty.
 * record_store_load(s, souls, n, a):
 * Read n souls by id in one round trip and decode them.  After RC_OK the rc of
 * each soul is its result.
 */
void record_store_take(const struct record_store *s, struct stored_soul *soul,
    const struct soul_state *st, struct arena *a);
enum rc record_store_load(const struct record_store *s,
    struct stored_soul *souls, size_t n, struct arena *a) RC_CHECK;

/*
 * record_store_save(s, souls, n, a):
 * Store those of n souls whose rc is RC_OK and whose stored version is still
 * the loaded one, with their log entries, in one round trip.  Sets saved, and
 * version to the new one.
 */
enum rc record_store_save(const struct record_store *s,
    struct stored_soul *souls, size_t n, struct arena *a) RC_CHECK;

/*
 * record_store_swap(s, soul, a):
 * As record_store_save() of one soul with a log entry.  If it was changed
 * meanwhile, saved is false and soul is what is stored instead; its rc is the
 * result of decoding that.
 */
enum rc record_store_swap(const struct record_store *s,
    struct stored_soul *soul, struct arena *a) RC_CHECK;

#endif /* !EMOTION_ENGINE_SOUL_RECORD_H */
