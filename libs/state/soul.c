/*
 * soul: records of souls, and which user has which.
 */
#include "state/soul.h"

#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

#define CREATED_MAX_MS INT64_C(9007199254740991) /* exact as a double */

enum rc
soul_create(struct state *s, const struct soul *soul, struct str state)
{
	char blob[SOUL_BLOB_MAX];
	struct script_call c;

	if (soul->created.ms < 0 || soul->created.ms > CREATED_MAX_MS)
		return RC_INVALID;
	if (state.n > SOUL_STATE_MAX)
		return RC_TOOBIG;
	call_begin(&c, &script_soul_create);
	call_key(&c, KEY_SOUL, soul->user_id, soul->id);
	call_key(&c, KEY_SOUL_STATE, soul->user_id, soul->id);
	call_key(&c, KEY_USER_SOULS, soul->user_id, STR_NONE);
	call_key(&c, KEY_USER_SOUL_NAMES, soul->user_id, STR_NONE);
	call_key(&c, KEY_USER_DELETING, soul->user_id, STR_NONE);
	call_token(&c, soul->user_id);
	call_token(&c, soul->id);
	call_text(&c, soul->name, SOUL_TEXT_MAX);
	call_text(&c, soul->mbti_type, SOUL_TEXT_MAX);
	call_text(&c, soul->model, SOUL_TEXT_MAX);
	call_num(&c, soul->created.ms);
	call_text(&c, soul_blob(blob, 1, state), SOUL_BLOB_MAX);
	call_num(&c, SOUL_LIST_MAX);
	return call_run(s, &c, 1, NULL);
}

static void
soul_read_fields(
    const struct state_reply *h, struct record_reader *rd, struct soul *out)
{
	out->user_id = record_id(rd, state_reply_at(h, 0));
	out->name = record_text(rd, state_reply_at(h, 1));
	out->mbti_type = record_text(rd, state_reply_at(h, 2));
	out->model = record_text(rd, state_reply_at(h, 3));
	out->created.ms = record_num(rd, state_reply_at(h, 4));
	/* Access depends on the owner, so a soul must have one. */
	if (rd->rc == RC_OK && out->user_id.p == NULL)
		rd->rc = RC_INVALID;
}

enum rc
soul_read(struct state *s, struct str user, struct str id, struct arena *a,
    struct soul *out)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	memset(out, 0, sizeof(*out));
	call_begin(&c, &script_soul_read);
	call_key(&c, KEY_SOUL, user, id);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		soul_read_fields(state_reply_at(r, 1), &rd, out);
		out->id = arena_str(a, id);
		if (rd.rc == RC_OK && out->id.p == NULL)
			rd.rc = RC_TOOBIG;
		rc = record_end(&rd, c.keys[0]);
	}
	if (rc != RC_OK)
		memset(out, 0, sizeof(*out));
	state_reply_free(r);
	return rc;
}

enum rc
soul_list(struct state *s, struct str user, struct arena *a, struct soul **out,
    size_t *n)
{
	struct record_reader rd = { .a = a };
	const struct state_reply *all, *h;
	struct state_reply *r;
	struct script_call c;
	enum rc rc;
	size_t i;

	*out = NULL;
	*n = 0;
	call_begin(&c, &script_soul_list);
	call_key(&c, KEY_USER_SOULS, user, STR_NONE);
	call_token(&c, user);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		all = state_reply_at(r, 1);
		*out = arena_alloc(a, state_reply_len(all) * sizeof(**out));
		rd.rc = *out == NULL ? RC_TOOBIG : RC_OK;
		for (i = 0; rd.rc == RC_OK && i < state_reply_len(all); i++) {
			h = state_reply_at(all, i);
			(*out)[i].id = record_id(&rd, state_reply_at(h, 5));
			soul_read_fields(h, &rd, &(*out)[i]);
		}
		rc = record_end(&rd, c.keys[0]);
		*n = rc == RC_OK ? i : 0;
	}
	state_reply_free(r);
	return rc;
}
