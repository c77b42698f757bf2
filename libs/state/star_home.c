/*
 * star_home: homes of souls, residents of environments, guests of souls, and
 * the identities of users.
 */
#include "state/star_home.h"

#include <string.h>

#include "core/log.h"
#include "core/mem.h"
#include "state/scripts.h"
#include "state/soul.h"
#include "state/state_internal.h"

/* ---- homes ---- */

static void
home_read_fields(const struct state_reply *f, struct record_reader *rd,
    struct star_home *out)
{
	out->room.tenant = record_id(rd, state_reply_at(f, 0));
	out->room.name = record_id(rd, state_reply_at(f, 1));
	out->env_id = record_text(rd, state_reply_at(f, 2));
	out->agent_id = record_text(rd, state_reply_at(f, 3));
	out->terminal_id = record_text(rd, state_reply_at(f, 4));
	out->at = record_num(rd, state_reply_at(f, 5));
	if (rd->rc == RC_OK &&
	    (out->room.name.p == NULL || out->terminal_id.p == NULL ||
		out->agent_id.p == NULL))
		rd->rc = RC_INVALID;
}

/* The home in the reply of c, which has one or none. */
static enum rc
home_run(struct state *s, struct script_call *c, const struct star_home *key,
    struct arena *a, struct star_home *out)
{
	struct record_reader rd = { .a = a };
	const struct state_reply *f;
	struct state_reply *r;
	enum rc rc;

	*out = (struct star_home){ 0 };
	rc = call_run(s, c, 2, &r);
	f = state_reply_at(r, 1);
	if (call_is_done(rc) && state_reply_len(f) > 0) {
		home_read_fields(f, &rd, out);
		out->user_id = arena_str(a, key->user_id);
		out->soul_id = arena_str(a, key->soul_id);
		if (rd.rc == RC_OK && out->soul_id.p == NULL)
			rd.rc = RC_TOOBIG;
		if (record_end(&rd, c->keys[c->n_keys - 1]) != RC_OK)
			rc = rd.rc;
	}
	state_reply_free(r);
	return rc;
}

enum rc
star_home_read(struct state *s, struct str user, struct str soul,
    struct arena *a, struct star_home *out)
{
	const struct star_home key = { .user_id = user, .soul_id = soul };
	struct script_call c;

	call_begin(&c, &script_star_home_read);
	call_key(&c, KEY_STAR_PLACE, user, soul);
	return home_run(s, &c, &key, a, out);
}

static enum rc
home_put(struct state *s, const struct star_home *p, struct arena *a,
    struct star_home *before)
{
	struct script_call c;

	call_begin(&c, &script_star_home_put);
	call_key(&c, KEY_SOUL, p->user_id, p->soul_id);
	call_key(&c, KEY_STAR_PLACE, p->user_id, p->soul_id);
	call_token(&c, p->room.tenant);
	call_token(&c, p->room.name);
	call_text(&c, p->env_id, STAR_HOME_TEXT_MAX);
	call_text(&c, p->agent_id, STAR_HOME_TEXT_MAX);
	call_text(&c, p->terminal_id, ID_MAX);
	call_num(&c, p->at);
	return home_run(s, &c, p, a, before);
}

static bool
home_is_at(const struct star_home *p, const struct star_home *q)
{
	return str_eq(p->room.tenant, q->room.tenant) &&
	    str_eq(p->room.name, q->room.name) &&
	    str_eq(p->agent_id, q->agent_id);
}

/* ---- residents ---- */

/* At is set; of RC_CONFLICT, other is who is there, in a. */
static enum rc
resident_put(struct state *s, struct star_home *p, struct arena *a,
    struct star_resident *other)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	call_begin(&c, &script_star_resident_put);
	star_call_room(&c, KEY_STAR_RESIDENTS, &p->room);
	call_text(&c, p->agent_id, STAR_HOME_TEXT_MAX);
	call_token(&c, p->user_id);
	call_token(&c, p->soul_id);
	call_num(&c, STAR_ROOM_MAX);
	rc = call_run(s, &c, 2, &r);
	if (call_is_done(rc)) {
		p->at = state_reply_int(state_reply_at(r, 1));
	} else if (rc == RC_CONFLICT) {
		*other = (struct star_resident){ .agent_id = p->agent_id,
			.user_id = record_id(&rd, state_reply_at(r, 1)),
			.soul_id = record_id(&rd, state_reply_at(r, 2)),
			.at = state_reply_int(state_reply_at(r, 3)),
			.is_old = state_reply_int(state_reply_at(r, 4)) != 0 };
		if (record_end(&rd, c.keys[0]) != RC_OK)
			rc = rd.rc;
	}
	state_reply_free(r);
	return rc;
}

enum rc
star_resident_drop(struct state *s, const struct star_room *room,
    const struct star_resident *r)
{
	struct script_call c;

	call_begin(&c, &script_star_resident_drop);
	star_call_room(&c, KEY_STAR_RESIDENTS, room);
	call_text(&c, r->agent_id, STAR_HOME_TEXT_MAX);
	call_token(&c, r->user_id);
	call_token(&c, r->soul_id);
	call_num(&c, r->at);
	return call_run(s, &c, 1, NULL);
}

static enum rc
home_drop_resident(struct state *s, const struct star_home *p)
{
	const struct star_resident r = { p->agent_id, p->user_id, p->soul_id,
		p->at, false };
	enum rc rc = star_resident_drop(s, &p->room, &r);

	return rc == RC_NOENT ? RC_OK : rc;
}

/* Whether the other's home does not confirm it, so that it was removed. */
static enum rc
resident_remove_stale(struct state *s, const struct star_home *p,
    const struct star_resident *other, struct arena *a)
{
	struct star_home q;
	enum rc rc;

	if (!other->is_old)
		return RC_CONFLICT;
	rc = star_home_read(s, other->user_id, other->soul_id, a, &q);
	if (rc == RC_OK && home_is_at(p, &q))
		return RC_CONFLICT;
	if (rc != RC_OK && rc != RC_NOENT)
		return rc;
	rc = star_resident_drop(s, &p->room, other);
	return rc == RC_NOENT ? RC_OK : rc;
}

static void
residents_read_entry(struct record_reader *rd, const struct state_reply *agent,
    const struct state_reply *entry, int64_t now, struct star_resident *out)
{
	struct str rest = state_reply_str(entry);

	out->agent_id = record_text(rd, agent);
	out->user_id = star_read_token(rd, str_split(&rest, ' '));
	out->soul_id = star_read_token(rd, str_split(&rest, ' '));
	if (str_to_i64(rest, 0, INT64_MAX, &out->at) != RC_OK &&
	    rd->rc == RC_OK)
		rd->rc = RC_INVALID;
	out->is_old = now - out->at > STEP_DEAD_MS;
}

enum rc
star_residents_read(struct state *s, const struct star_room *room,
    struct arena *a, struct star_resident **list, size_t *n)
{
	struct record_reader rd = { .a = a };
	const struct state_reply *all;
	struct state_reply *r;
	struct script_call c;
	int64_t now;
	enum rc rc;
	size_t i;

	*n = 0;
	call_begin(&c, &script_star_residents_read);
	star_call_room(&c, KEY_STAR_RESIDENTS, room);
	rc = call_run(s, &c, 3, &r);
	all = state_reply_at(r, 1);
	now = state_reply_int(state_reply_at(r, 2));
	if (rc == RC_OK) {
		*list =
		    arena_alloc(a, state_reply_len(all) / 2 * sizeof(**list));
		rd.rc = *list == NULL ? RC_TOOBIG : RC_OK;
	}
	for (i = 0;
	     rc == RC_OK && rd.rc == RC_OK && i + 1 < state_reply_len(all);
	     i += 2)
		residents_read_entry(&rd, state_reply_at(all, i),
		    state_reply_at(all, i + 1), now, &(*list)[i / 2]);
	if (rc == RC_OK)
		rc = record_end(&rd, c.keys[0]);
	if (rc == RC_OK)
		*n = i / 2;
	state_reply_free(r);
	return rc;
}

/* ---- entering and leaving ---- */

enum rc
star_home_enter(struct state *s, struct star_home *p, struct arena *a,
    struct star_home *before)
{
	struct star_resident other;
	enum rc rc, left;

	*before = (struct star_home){ 0 };
	rc = resident_put(s, p, a, &other);
	if (rc == RC_CONFLICT) {
		rc = resident_remove_stale(s, p, &other, a);
		if (rc == RC_OK)
			rc = resident_put(s, p, a, &other);
	}
	if (rc != RC_OK)
		return rc;
	rc = home_put(s, p, a, before);
	left = RC_OK;
	/* What may have been written stays: a reader finds out. */
	if (rc != RC_OK && !state_may_be_done(rc))
		left = home_drop_resident(s, p);
	else if (rc == RC_OK && before->soul_id.p != NULL &&
	    !home_is_at(p, before))
		left = home_drop_resident(s, before);
	if (left != RC_OK)
		log_info("state.resident_left", LOG_V("soul", p->soul_id),
		    LOG_RC(left));
	return rc;
}

enum rc
star_home_leave(struct state *s, struct str user, struct str soul,
    struct arena *a, struct star_home *before)
{
	const struct star_home key = { .user_id = user, .soul_id = soul };
	struct script_call c;
	enum rc rc, left;

	call_begin(&c, &script_star_home_leave);
	call_key(&c, KEY_STAR_PLACE, user, soul);
	rc = home_run(s, &c, &key, a, before);
	if (rc != RC_OK || before->soul_id.p == NULL)
		return rc;
	left = home_drop_resident(s, before);
	if (left != RC_OK)
		log_info(
		    "state.resident_left", LOG_V("soul", soul), LOG_RC(left));
	return rc;
}

/* ---- guests ---- */

static enum rc
guest_put(struct state *s, const struct soul *soul, struct str owner)
{
	char blob[SOUL_BLOB_MAX];
	struct script_call c;

	call_begin(&c, &script_star_guest_put);
	call_key(&c, KEY_SOUL, soul->user_id, soul->id);
	call_key(&c, KEY_SOUL_STATE, soul->user_id, soul->id);
	call_key(&c, KEY_USER_SOULS, soul->user_id, STR_NONE);
	call_token(&c, soul->user_id);
	call_token(&c, soul->id);
	call_text(&c, soul->name, SOUL_TEXT_MAX);
	call_text(&c, soul->mbti_type, SOUL_TEXT_MAX);
	call_text(&c, soul->model, SOUL_TEXT_MAX);
	call_num(&c, soul->created.ms);
	call_text(&c, soul_blob(blob, 1, STR("")), SOUL_BLOB_MAX);
	call_num(&c, SOUL_LIST_MAX);
	call_token(&c, owner);
	return call_run(s, &c, 1, NULL);
}

static enum rc
guest_add(struct state *s, struct str user, struct str soul, struct str guest,
    struct arena *a, struct soul *out)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*out = (struct soul){ .id = soul, .user_id = guest };
	call_begin(&c, &script_star_guest_add);
	call_key(&c, KEY_SOUL, user, soul);
	call_key(&c, KEY_STAR_GUESTS, user, soul);
	call_token(&c, guest);
	call_num(&c, STAR_GUESTS_MAX);
	rc = call_run(s, &c, 5, &r);
	if (call_is_done(rc)) {
		out->name = record_text(&rd, state_reply_at(r, 1));
		out->mbti_type = record_text(&rd, state_reply_at(r, 2));
		out->model = record_text(&rd, state_reply_at(r, 3));
		out->created.ms = record_num(&rd, state_reply_at(r, 4));
		if (record_end(&rd, c.keys[0]) != RC_OK)
			rc = rd.rc;
	}
	state_reply_free(r);
	return rc;
}

enum rc
star_guest_enter(
    struct state *s, struct str user, struct str soul, struct str guest)
{
	struct arena *a = arena_new(16384);
	struct soul known, now;
	enum rc rc;

	rc = str_eq(user, guest) ? RC_INVALID
				 : guest_add(s, user, soul, guest, a, &known);
	if (rc == RC_OK)
		rc = guest_put(s, &known, user);
	/* A deletion may have read the guests before. */
	if (rc == RC_OK && soul_read(s, user, soul, a, &now) == RC_NOENT) {
		rc = soul_delete(s, guest, soul, NULL);
		if (rc == RC_OK)
			rc = RC_NOENT;
	}
	arena_free(a);
	return rc;
}

enum rc
star_guests_read(struct state *s, struct str user, struct str soul,
    struct arena *a, struct str **list, size_t *n)
{
	const struct str ids[] = { user, soul };
	struct record_reader rd = { .a = a };
	char text[STATE_KEY_MAX];
	struct state_reply *r = NULL;
	struct str key;
	enum rc rc;

	*n = 0;
	rc = state_key(text, KEY_STAR_GUESTS, ids, NELEM(ids), &key);
	if (rc == RC_OK)
		rc = state_cmd(s, STATE_ARGS(STR("SMEMBERS"), key), &r);
	if (rc == RC_OK) {
		*list = record_ids(&rd, r, n);
		rc = record_end(&rd, key);
	}
	state_reply_free(r);
	return rc;
}

/* The soul's own user forgets the guest. */
static enum rc
guest_remove(
    struct state *s, struct str owner, struct str soul, struct str guest)
{
	const struct str ids[] = { owner, soul };
	char text[STATE_KEY_MAX], token[ID_TOKEN_MAX];
	struct str key;
	enum rc rc = state_key(text, KEY_STAR_GUESTS, ids, NELEM(ids), &key);

	if (rc == RC_OK)
		rc = id_token(guest, token);
	return rc == RC_OK
	    ? state_cmd(s, STATE_ARGS(STR("SREM"), key, str_of(token)), NULL)
	    : rc;
}

enum rc
star_guest_leave(struct state *s, struct str guest, struct str soul)
{
	const struct str ids[] = { guest, soul };
	char text[STATE_KEY_MAX], owner[ID_MAX + 1];
	struct state_reply *r = NULL;
	struct str key;
	enum rc rc = state_key(text, KEY_SOUL, ids, NELEM(ids), &key);

	if (rc == RC_OK)
		rc = state_cmd(s, STATE_ARGS(STR("HGET"), key, STR("o")), &r);
	if (rc == RC_OK && state_reply_kind(r) != STATE_NIL) {
		rc = id_untoken(state_reply_str(r), owner);
		if (rc == RC_OK)
			rc = guest_remove(s, str_of(owner), soul, guest);
	}
	state_reply_free(r);
	return rc;
}

/* ---- identities by user ---- */

static enum rc
user_change(
    struct state *s, bool add, struct str user, const struct star_identity *id)
{
	const struct str ids[] = { id->tenant, id->class, id->name };
	const struct str command = add ? STR("SADD") : STR("SREM");
	char text[STATE_KEY_MAX], tokens[STAR_TEXT_MAX];
	struct str key;
	enum rc rc;

	rc = state_key(text, KEY_STAR_USER, &user, 1, &key);
	if (rc == RC_OK)
		rc = star_tokens(ids, NELEM(ids), tokens);
	if (rc == RC_OK)
		rc = state_cmd(
		    s, STATE_ARGS(command, key, str_of(tokens)), NULL);
	return rc;
}

enum rc
star_user_add(struct state *s, struct str user, const struct star_identity *id)
{
	return user_change(s, true, user, id);
}

enum rc
star_user_drop(struct state *s, struct str user, const struct star_identity *id)
{
	struct script_call c;
	enum rc rc;

	call_begin(&c, &script_star_forget);
	star_call_client(&c, id);
	call_token(&c, user);
	rc = call_run(s, &c, 1, NULL);
	return rc == RC_OK || rc == RC_NOENT ? user_change(s, false, user, id)
					     : rc;
}

enum rc
star_user_read(struct state *s, struct str user, struct arena *a,
    struct star_identity **list, size_t *n)
{
	struct record_reader rd = { .a = a };
	char text[STATE_KEY_MAX];
	struct state_reply *r = NULL;
	struct str key, rest;
	size_t i, len;
	enum rc rc;

	*n = 0;
	rc = state_key(text, KEY_STAR_USER, &user, 1, &key);
	if (rc == RC_OK)
		rc = state_cmd(s, STATE_ARGS(STR("SMEMBERS"), key), &r);
	len = rc == RC_OK ? state_reply_len(r) : 0;
	*list = arena_alloc(a, (len + 1) * sizeof(**list));
	if (rc == RC_OK && *list == NULL)
		rc = RC_TOOBIG;
	for (i = 0; rc == RC_OK && i < len; i++) {
		struct star_identity *id = &(*list)[i];

		rest = state_reply_str(state_reply_at(r, i));
		id->tenant = star_read_token(&rd, str_split(&rest, ':'));
		id->class = star_read_token(&rd, str_split(&rest, ':'));
		id->name = star_read_token(&rd, rest);
	}
	if (rc == RC_OK)
		rc = record_end(&rd, key);
	if (rc == RC_OK)
		*n = len;
	state_reply_free(r);
	return rc;
}
