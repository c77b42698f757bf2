/*
 * key_map: the keys of the formats 1 and 2, and which becomes which.
 *
 * Format 1 (up to 0.1) has a hash tag for each record, format 2 one for each
 * bucket of users (state_key()).  Both formats are written out here, because
 * that of today's programs may change, and these may not.
 *
 * Pure.  Any thread.
 */
#ifndef CHAT_GATEWAY_KEY_MAP_H
#define CHAT_GATEWAY_KEY_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"
#include "state/state.h"

/* What a key's record is; in the order in which counts are printed. */
enum key_record {
	RECORD_SESSION,
	RECORD_MESSAGES,
	RECORD_EVENTS,
	RECORD_RETRY,
	RECORD_QUEUE,
	RECORD_TURN,
	RECORD_INSTANCE,
	RECORD_IDLE,
	RECORD_USER_SESSIONS,
	RECORD_USER_SOULS,
	RECORD_SOUL_NAMES,
	RECORD_USER_TERMINALS,
	RECORD_DELETING,
	RECORD_SOUL,
	RECORD_SOUL_STATE,
	RECORD_SOUL_LOG,
	RECORD_BODIES,
	RECORD_TICKS,
	RECORD_TICK_INTERVAL,
	RECORD_MEMORY,
	RECORD_MEMORY_ITEMS,
	RECORD_MEMORY_ORDER,
	RECORD_MEMORY_TOMBSTONES,
	RECORD_MEMORY_VECTORS,
	RECORD_MEMORY_SUPERSEDED,
	RECORD_MEMORY_SUPERSEDED_ITEMS,
	RECORD_PROFILE,
	RECORD_TERMINAL,
	RECORD_RESULT,
	RECORD_CREDENTIAL,
	RECORD_CREDENTIALS,
	RECORD_CREDENTIALS_VERSION,
	RECORD_CREDENTIALS_CHANGING,
	RECORD_TENANT,
	RECORD_LEASE,
	RECORD_LEASE_EPOCH,
	RECORD_TIMERS,
	RECORD_N
};

/* The formats; also an index. */
enum key_format { FORMAT_1, FORMAT_2, FORMAT_N };

/* Ids of a key at most. */
#define KEY_IDS_MAX 2

/*
 * A key, taken apart.  Ids are tokens (core/id.h).  The owner of a soul and of
 * a turn is not in its key of format 1: ids[0] is absent until the caller sets
 * it.
 */
struct key_parts {
	enum key_record record;
	struct str ids[KEY_IDS_MAX];
	struct str rest; /* what follows a prefix, otherwise absent */
};

/* key_record_name(r): For people: "sessions". */
const char *key_record_name(enum key_record r);

/*
 * key_record_has_guard(r):
 * Whether its key of format 1 is a guard after the record has moved: a list,
 * which the record never is.
 */
bool key_record_has_guard(enum key_record r);

/* key_record_exists(r, f): Whether the format has the record. */
bool key_record_exists(enum key_record r, enum key_format f);

/*
 * key_parse(key, f, out):
 * The parts of a key of format f; they point into key.  False: it is none.  A
 * key that is the same in both formats is one of both.
 */
bool key_parse(struct str key, enum key_format f, struct key_parts *out);

/*
 * key_print(k, f, dst, out):
 * The key of k in format f, in dst.  RC_NOENT: the format has no such record,
 * or the owner is absent and the format needs it; RC_INVALID: an id is none.
 */
enum rc key_print(const struct key_parts *k, enum key_format f,
    char dst[STATE_KEY_MAX], struct str *out) RC_CHECK;

/*
 * key_rename(key, f, owner, dst, out):
 * key, of format f, in the other format; owner (a token) is that of a soul or
 * turn of format 1, otherwise ignored.  RC_NOENT: it is no key of format f, or
 * as of key_print().
 */
enum rc key_rename(struct str key, enum key_format f, struct str owner,
    char dst[STATE_KEY_MAX], struct str *out) RC_CHECK;

/*
 * key_idle(member, dst, out):
 * The set of format 2 for an idle session, "user:session" in tokens.
 * RC_INVALID: it is none.
 */
enum rc key_idle(
    struct str member, char dst[STATE_KEY_MAX], struct str *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_KEY_MAP_H */
