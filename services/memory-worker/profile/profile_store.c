/*
 * Profiles in Redis, and the handler that reads and patches them.  A patch
 * without a time is as of its arrival by Redis' clock, so successive patches of
 * a client apply in order, whichever worker receives them.
 */
#include "profile/profile_store.h"

#include "core/id.h"
#include "core/log.h"
#include "handlers.h"
#include "memory_worker.h"
#include "state/memory.h"
#include "state/system.h"
#include "svc/svc.h"
#include "wire/check.h"
#include "wire/msgs.h"
#include "wire/out.h"
#include "wire/tree.h"

/* Largest patch, as leaves; largest object, as JSON with all escapes. */
#define PATCH_MAX ((size_t)2 * 1024 * 1024)
#define PART_MAX  (8 * PROFILE_BYTES_MAX)
/* A version as JSON. */
#define SYSTEM_JSON_MAX (8 * SYSTEM_VERSION_MAX)

/* The stored profile is corrupt. */
static enum rc
profile_unreadable(struct str user_id, const char *why)
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
			rc = profile_unreadable(
			    user_id, "is not what it should be");
	}
	arena_free(a);
	return rc;
}

static enum rc
profile_read_part(const struct profile_leaves *l, const char *part,
    struct arena *a, struct str *out)
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

/* The number of the deployment's starts, and its version, as leaves. */
static enum rc
profile_add_system(struct state *s, struct arena *a, struct profile_leaves *l)
{
	struct buf json = BUF_INIT(SYSTEM_JSON_MAX);
	struct wire_out o = { .b = &json };
	struct system_state system;
	enum rc rc = system_read(s, a, &system);

	if (rc != RC_OK)
		return rc == RC_NOENT ? RC_OK : rc;
	wire_out_text(&o, system.version);
	rc = profile_doc_add(l, STR("/" PROFILE_SYSTEM "/boot_count"),
	    arena_printf(a, "%lld", (long long)system.boot_count), a);
	if (rc == RC_OK)
		rc = profile_doc_add(l, STR("/" PROFILE_SYSTEM "/version"),
		    arena_str(a, buf_str(&json)), a);
	buf_free(&json);
	return rc;
}

enum rc
profile_read(
    struct state *s, struct str user_id, struct arena *a, struct profile *out)
{
	struct profile_leaves l;
	enum rc rc;

	if (!id_valid(user_id))
		return RC_INVALID;
	rc = profile_leaves_read(s, user_id, a, &l);
	if (rc == RC_INVALID)
		return profile_unreadable(user_id, "is not what it should be");
	if (rc == RC_OK)
		rc = profile_add_system(s, a, &l);
	if (rc == RC_OK)
		rc = profile_read_part(&l, PROFILE_USER, a, &out->user_profile);
	if (rc == RC_OK)
		rc = profile_read_part(
		    &l, PROFILE_SYSTEM, a, &out->system_state);
	out->updated = l.changed;
	return rc == RC_BUG ? profile_unreadable(user_id, "makes no document")
			    : rc;
}

enum rc
profile_clear(struct state *s, struct str user_id)
{
	enum rc rc;

	if (!id_valid(user_id))
		return RC_INVALID;
	rc = profile_leaves_wipe(s, user_id, STR("/" PROFILE_USER));
	return rc == RC_INVALID
	    ? profile_unreadable(user_id, "is not what it should be")
	    : rc;
}

static void
profile_reply(struct svc_call *c, struct str user_id, const struct profile *p)
{
	char updated[WALL_FORMAT_MAX];
	struct wire_memory_profile_reply rep = {
		.user_id = user_id,
		.user_profile = p->user_profile,
		.system_state = p->system_state,
	};

	wall_format(p->updated, 0, updated);
	if (p->updated.ms != 0)
		rep.updated_at = str_of(updated);
	svc_reply(c, &rep);
}

static void
profile_fail(struct svc_call *c, enum rc rc, const struct wire_err *err)
{
	char text[WIRE_ERR_TEXT_MAX];

	if (rc == RC_INVALID) {
		wire_err_text(err, text, sizeof(text));
		svc_fail(c, rc, text);
	} else if (rc == RC_BUG || rc == RC_TOOBIG) {
		svc_fail(c, RC_BUG, "the profile is not readable");
	} else if (rc == RC_UNREPLICATED) {
		svc_fail(c, rc,
		    "the profile was changed, but is not stored safely: too "
		    "few replicas of Redis have it; repeat it");
	} else {
		svc_fail(c, rc, "the profiles cannot be reached now");
	}
}

void
on_profile(void *app, struct svc_call *c)
{
	struct memory_worker *w = app;
	const struct wire_memory_profile_request *req = svc_call_request(c);
	struct wire_err err = { "/user_id", "is no id" };
	struct profile p;
	enum rc rc = RC_OK;

	if (req->patch.p != NULL)
		rc = profile_merge(w->state, req->user_id, req->patch,
		    (struct wall){ 0 }, &err);
	if (rc == RC_OK)
		rc =
		    profile_read(w->state, req->user_id, svc_call_arena(c), &p);
	if (rc != RC_OK)
		profile_fail(c, rc, &err);
	else
		profile_reply(c, req->user_id, &p);
}
