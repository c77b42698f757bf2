/*
 * profile: the leaves of a user's profile, with their times, and tombstones.
 *
 * A tombstone means "here and below, nothing older".  A value means that too,
 * so what lies below a value or a tombstone is always younger, and checking the
 * parents of a path tells whether a change comes too late.
 */
#include <stdlib.h>

#include "core/mem.h"
#include "state/memory.h"
#include "state/scripts.h"
#include "state/state_internal.h"

#define DAY_MS INT64_C(86400000)

_Static_assert(
    SCRIPT_ARGS_MAX >= 2 * PROFILE_LEAVES_MAX + 6, "a change fits one call");

static void
profile_call(struct script_call *c, const struct state_script *script,
    struct str user_id)
{
	call_begin(c, script);
	call_key(c, KEY_PROFILE, user_id, STR_NONE);
}

enum rc
profile_leaves_put(struct state *s, struct str user_id,
    const struct profile_leaves *change, struct wall at)
{
	struct state_reply *r;
	struct script_call c;
	size_t i;
	enum rc rc;

	if (at.ms < 0)
		return RC_INVALID;
	if (change->n > PROFILE_LEAVES_MAX)
		return RC_TOOBIG;
	profile_call(&c, &script_profile_put, user_id);
	call_num(&c, at.ms);
	call_num(&c, PROFILE_TOMBSTONE_DAYS * DAY_MS);
	call_num(&c, PROFILE_TOMBSTONES_MAX);
	call_num(&c, PROFILE_LEAVES_MAX);
	call_num(&c, PROFILE_BYTES_MAX);
	for (i = 0; i < change->n; i++) {
		if (change->leaf[i].path.n == 0 ||
		    change->leaf[i].path.p[0] != '/')
			return RC_INVALID;
		call_text(&c, change->leaf[i].path, PROFILE_PATH_MAX);
		call_text(&c, change->leaf[i].value, PROFILE_VALUE_MAX);
	}
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK && state_reply_int(state_reply_at(r, 1)) == 0)
		rc = RC_TOOBIG;
	state_reply_free(r);
	return rc;
}

enum rc
profile_leaves_wipe(struct state *s, struct str user_id, struct str path)
{
	struct script_call c;

	if (path.n == 0 || path.p[0] != '/')
		return RC_INVALID;
	profile_call(&c, &script_profile_wipe, user_id);
	call_text(&c, path, PROFILE_PATH_MAX);
	call_num(&c, PROFILE_TOMBSTONE_DAYS * DAY_MS);
	call_num(&c, PROFILE_TOMBSTONES_MAX);
	return call_run(s, &c, 1, NULL);
}

static int
profile_leaf_compare(const void *a, const void *b)
{
	return str_cmp(((const struct profile_leaf *)a)->path,
	    ((const struct profile_leaf *)b)->path);
}

enum rc
profile_leaves_read(struct state *s, struct str user_id, struct arena *a,
    struct profile_leaves *out)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	size_t i, n;
	enum rc rc;

	*out = (struct profile_leaves){ 0 };
	profile_call(&c, &script_profile_read, user_id);
	rc = call_run(s, &c, 2, &r);
	if (rc != RC_OK) {
		state_reply_free(r);
		return rc;
	}
	n = (state_reply_len(r) - 2) / 2;
	out->changed.ms = record_num(&rd, state_reply_at(r, 1));
	out->leaf = arena_alloc(a, (n + 1) * sizeof(*out->leaf));
	for (i = 0; i < n && out->leaf != NULL; i++) {
		out->leaf[i].path =
		    record_text(&rd, state_reply_at(r, 2 + 2 * i));
		out->leaf[i].value =
		    record_text(&rd, state_reply_at(r, 3 + 2 * i));
	}
	state_reply_free(r);
	if (out->leaf == NULL)
		return RC_TOOBIG;
	out->n = n;
	qsort(out->leaf, n, sizeof(*out->leaf), profile_leaf_compare);
	return record_end(&rd, c.keys[0]);
}

/* Without the quotes of a JSON text; names of zones have no escapes. */
struct str
profile_zone_text(struct str json)
{
	if (json.n < 2 || json.p[0] != '"')
		return STR_NONE;
	return (struct str){ json.p + 1, json.n - 2 };
}

enum rc
profile_zone_read(
    struct state *s, struct str user_id, struct arena *a, struct str *zone)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;

	*zone = STR_NONE;
	profile_call(&c, &script_profile_zone, user_id);
	enum rc rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK &&
	    state_reply_kind(state_reply_at(r, 1)) == STATE_STR) {
		*zone =
		    profile_zone_text(record_text(&rd, state_reply_at(r, 1)));
		rc = record_end(&rd, c.keys[0]);
	}
	state_reply_free(r);
	return rc;
}
