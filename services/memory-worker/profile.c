/*
 * Between JSON and Redis.
 */
#include "profile.h"

#include "core/id.h"
#include "core/log.h"
#include "profile_doc.h"
#include "state/memory.h"
#include "wire/check.h"
#include "wire/tree.h"

/* A patch's leaves, or a profile's, and its JSON with all escapes. */
#define PATCH_MAX ((size_t)2 * 1024 * 1024)
#define PART_MAX  (8 * PROFILE_BYTES_MAX)

/* What Redis holds cannot be used. */
static enum rc
broken(struct str user_id, const char *why)
{
	log_error(
	    "memory.profile", LOG_V("user_id", user_id), LOG_S("why", why));
	return RC_BUG;
}

enum rc
profile_merge(struct state *s, struct str user_id, struct str patch_json,
    struct wall at, struct wire_err *err)
{
	const struct wire_at top = { .err = err };
	struct profile_leaves change;
	struct arena *a;
	enum rc rc;

	if (!id_valid(user_id) || at.ms < 0)
		return wire_fail(&top, RC_INVALID,
		    "is of no user, or of a time before 1970");
	a = arena_new(PATCH_MAX);
	rc = profile_doc_patch(patch_json, a, &change, err);
	if (rc == RC_OK && change.n > 0) {
		rc = profile_leaves_put(s, user_id, &change, at);
		if (rc == RC_TOOBIG)
			rc = wire_fail(&top, RC_INVALID,
			    "the profile would have over %d values or %lu "
			    "bytes: remove some first",
			    PROFILE_LEAVES_MAX, PROFILE_BYTES_MAX);
		else if (rc == RC_INVALID)
			rc = broken(user_id, "is not what it should be");
	}
	arena_free(a);
	return rc;
}

static enum rc
part_of(const struct profile_leaves *l, const char *part, struct arena *a,
    struct str *out)
{
	struct buf json = BUF_INIT(PART_MAX);
	struct wire_tree *v = NULL;
	enum rc rc = RC_OK;

	profile_doc_part(l, part, &json);
	if (buf_rc(&json) != RC_OK ||
	    wire_tree_parse(buf_str(&json), &v) != RC_OK)
		rc = RC_BUG;
	wire_tree_free(v);
	if (rc == RC_OK) {
		*out = arena_str(a, buf_str(&json));
		rc = out->p != NULL ? RC_OK : RC_TOOBIG;
	}
	buf_free(&json);
	return rc;
}

enum rc
profile_parts(
    struct state *s, struct str user_id, struct arena *a, struct profile *out)
{
	struct profile_leaves l;
	enum rc rc;

	if (!id_valid(user_id))
		return RC_INVALID;
	rc = profile_leaves_read(s, user_id, a, &l);
	if (rc == RC_INVALID)
		return broken(user_id, "is not what it should be");
	if (rc == RC_OK)
		rc = part_of(&l, PROFILE_USER, a, &out->user_profile);
	if (rc == RC_OK)
		rc = part_of(&l, PROFILE_SYSTEM, a, &out->system_state);
	out->updated = l.changed;
	return rc == RC_BUG ? broken(user_id, "makes no document") : rc;
}

enum rc
profile_read(
    struct state *s, struct str user_id, struct arena *a, struct str *json)
{
	struct profile p;
	enum rc rc;

	rc = profile_parts(s, user_id, a, &p);
	if (rc != RC_OK)
		return rc;
	*json = arena_printf(a,
	    "{\"" PROFILE_USER "\":%.*s,\"" PROFILE_SYSTEM "\":%.*s}",
	    STR_ARG(p.user_profile), STR_ARG(p.system_state));
	return json->p != NULL ? RC_OK : RC_TOOBIG;
}

enum rc
profile_clear(struct state *s, struct str user_id)
{
	enum rc rc;

	if (!id_valid(user_id))
		return RC_INVALID;
	rc = profile_leaves_wipe(s, user_id, STR("/" PROFILE_USER));
	return rc == RC_INVALID ? broken(user_id, "is not what it should be")
				: rc;
}
