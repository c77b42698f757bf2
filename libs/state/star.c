/*
 * star: identities, hubs, rooms and events of Star hubs.
 *
 * A room and its events are in the bucket of the environment's identity, so
 * that appending events can check who holds it.
 */
#include "state/star.h"
#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

#define STAR_ENVIRONMENT STR("environment")
/* Bytes of a member: "<class>:<name>". */
#define STAR_MEMBER_MAX 256

/* ---- keys ---- */

enum rc
star_tokens(const struct str *ids, size_t n, char dst[STAR_TEXT_MAX])
{
	size_t len = 0;
	enum rc rc;

	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			dst[len++] = ':';
		rc = id_token(ids[i], dst + len);
		if (rc != RC_OK)
			return rc;
		len += strlen(dst + len);
	}
	return RC_OK;
}

static void
star_call_key(struct script_call *c, const char *pattern,
    const struct star_identity *id, bool with_class)
{
	const struct str ids[] = { id->tenant, id->class, id->name };
	const struct str room[] = { id->tenant, id->name };
	char text[STAR_TEXT_MAX], tagged[STATE_KEY_MAX];
	struct str key;
	enum rc rc = RC_BUG;

	if (c->n_keys < SCRIPT_KEYS_MAX)
		rc = star_tokens(ids, NELEM(ids), text);
	if (rc == RC_OK)
		rc = state_bucket_key(
		    tagged, pattern, bucket_of_token(str_of(text)), &key);
	if (rc == RC_OK)
		rc = state_key(c->key_text[c->n_keys], tagged,
		    with_class ? ids : room,
		    with_class ? NELEM(ids) : NELEM(room), &c->keys[c->n_keys]);
	if (rc == RC_OK)
		c->n_keys++;
	else if (c->rc == RC_OK)
		c->rc = rc;
}

void
star_call_client(struct script_call *c, const struct star_identity *id)
{
	star_call_key(c, KEY_STAR_CLIENT, id, true);
}

static struct star_identity
star_environment(const struct star_room *room)
{
	return (
	    struct star_identity){ room->tenant, STAR_ENVIRONMENT, room->name };
}

void
star_call_room(
    struct script_call *c, const char *pattern, const struct star_room *room)
{
	struct star_identity id = star_environment(room);

	star_call_key(c, pattern, &id, false);
}

/* ---- identities ---- */

enum rc
star_claim(struct state *s, const struct star_identity *id,
    struct star_claim *c, struct arena *a)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call call;
	enum rc rc;

	c->gen = c->seq = 0;
	c->before = (struct star_holder){ 0 };
	c->session_before = STR_NONE;
	call_begin(&call, &script_star_claim);
	star_call_client(&call, id);
	call_token(&call, c->hub);
	call_token(&call, c->user);
	call_token(&call, c->session);
	call_num(&call, c->any_user);
	rc = call_run(s, &call, 6, &r);
	if (call_is_done(rc)) {
		c->gen = state_reply_int(state_reply_at(r, 1));
		c->before.hub = record_id(&rd, state_reply_at(r, 2));
		c->before.gen = state_reply_int(state_reply_at(r, 3));
		c->session_before = record_id(&rd, state_reply_at(r, 4));
		c->seq = state_reply_int(state_reply_at(r, 5));
		if (record_end(&rd, call.keys[0]) != RC_OK)
			rc = rd.rc;
	}
	state_reply_free(r);
	return rc;
}

enum rc
star_release(struct state *s, const struct star_identity *id,
    const struct star_holder *h)
{
	struct script_call c;

	call_begin(&c, &script_star_release);
	star_call_client(&c, id);
	call_token(&c, h->hub);
	call_num(&c, h->gen);
	return call_run(s, &c, 1, NULL);
}

enum rc
star_extend(struct state *s, const struct star_identity *id,
    const struct star_holder *h)
{
	struct script_call c;

	call_begin(&c, &script_star_extend);
	star_call_client(&c, id);
	call_token(&c, h->hub);
	call_num(&c, h->gen);
	return call_run(s, &c, 1, NULL);
}

enum rc
star_find(struct state *s, const struct star_identity *id, struct arena *a,
    struct star_holder *out)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*out = (struct star_holder){ 0 };
	call_begin(&c, &script_star_find);
	star_call_client(&c, id);
	rc = call_run(s, &c, 3, &r);
	if (rc == RC_OK) {
		out->hub = record_id(&rd, state_reply_at(r, 1));
		out->gen = state_reply_int(state_reply_at(r, 2));
		rc = record_end(&rd, c.keys[0]);
	}
	state_reply_free(r);
	return rc;
}

/* ---- hubs ---- */

static enum rc
star_hub_key(char dst[STATE_KEY_MAX], const char *pattern, struct str hub,
    struct str *out)
{
	return state_key(dst, pattern, &hub, 1, out);
}

/* The hubs of the set. */
static enum rc
star_read_hubs(const struct state_reply *all, struct arena *a, struct str key,
    struct star_hub **list, size_t *n)
{
	struct record_reader rd = { .a = a };
	size_t i, len = state_reply_len(all) / 2;
	enum rc rc;

	*list = arena_alloc(a, len * sizeof(**list));
	if (*list == NULL)
		return RC_TOOBIG;
	for (i = 0; i < len; i++) {
		(*list)[i].name = record_id(&rd, state_reply_at(all, 2 * i));
		(*list)[i].dead = str_eq(
		    state_reply_str(state_reply_at(all, 2 * i + 1)), STR("0"));
	}
	rc = record_end(&rd, key);
	if (rc == RC_OK)
		*n = len;
	return rc;
}

enum rc
star_hub_renew(struct state *s, struct star_renewal *r, struct arena *a)
{
	struct state_reply *reply;
	struct script_call c;
	enum rc rc;

	r->n = 0;
	if (r->ttl_ms <= 0)
		return RC_INVALID;
	call_begin(&c, &script_star_hub_renew);
	call_key(&c, KEY_STAR_HUBS, STR_NONE, STR_NONE);
	call_token(&c, r->hub);
	call_num(&c, r->ttl_ms);
	call_num(&c, r->first);
	call_num(&c, r->judges);
	rc = call_run(s, &c, 2, &reply);
	if (call_is_done(rc)) {
		enum rc read = star_read_hubs(
		    state_reply_at(reply, 1), a, c.keys[0], &r->list, &r->n);

		if (read != RC_OK)
			rc = read;
	}
	state_reply_free(reply);
	return rc;
}

static enum rc
star_hub_set(struct state *s, bool dead, struct str hub)
{
	char text[STATE_KEY_MAX], token[ID_TOKEN_MAX];
	struct str key;
	enum rc rc;

	rc = state_key(text, KEY_STAR_HUBS, NULL, 0, &key);
	if (rc == RC_OK)
		rc = id_token(hub, token);
	if (rc != RC_OK)
		return rc;
	return dead
	    ? state_cmd(s,
		  STATE_ARGS(STR("ZADD"), key, STR("0"), str_of(token)), NULL)
	    : state_cmd(s, STATE_ARGS(STR("ZREM"), key, str_of(token)), NULL);
}

enum rc
star_hub_end(struct state *s, struct str hub)
{
	return star_hub_set(s, true, hub);
}

enum rc
star_hub_forget(struct state *s, struct str hub)
{
	return star_hub_set(s, false, hub);
}

static enum rc
star_hub_change(
    struct state *s, bool add, struct str hub, const struct star_room *room)
{
	const struct str ids[] = { room->tenant, room->name };
	const struct str command = add ? STR("SADD") : STR("SREM");
	char text[STATE_KEY_MAX], tokens[STAR_TEXT_MAX];
	struct str key;
	enum rc rc;

	rc = star_hub_key(text, KEY_STAR_ROOMS, hub, &key);
	if (rc == RC_OK)
		rc = star_tokens(ids, NELEM(ids), tokens);
	if (rc == RC_OK)
		rc = state_cmd(
		    s, STATE_ARGS(command, key, str_of(tokens)), NULL);
	return rc;
}

enum rc
star_hub_add_room(struct state *s, struct str hub, const struct star_room *room)
{
	return star_hub_change(s, true, hub, room);
}

enum rc
star_hub_drop_room(
    struct state *s, struct str hub, const struct star_room *room)
{
	return star_hub_change(s, false, hub, room);
}

struct str
star_read_token(struct record_reader *rd, struct str token)
{
	const struct state_reply r = { .kind = STATE_STR, .s = token };

	return record_id(rd, &r);
}

enum rc
star_hub_rooms(struct state *s, struct str hub, struct arena *a,
    struct star_room **rooms, size_t *n)
{
	struct record_reader rd = { .a = a };
	char text[STATE_KEY_MAX];
	struct state_reply *r = NULL;
	struct str key, rest;
	enum rc rc;
	size_t i;

	*n = 0;
	rc = star_hub_key(text, KEY_STAR_ROOMS, hub, &key);
	if (rc == RC_OK)
		rc = state_cmd(s, STATE_ARGS(STR("SMEMBERS"), key), &r);
	if (rc != RC_OK)
		goto out;
	*rooms = arena_alloc(a, state_reply_len(r) * sizeof(**rooms));
	if (*rooms == NULL) {
		rc = RC_TOOBIG;
		goto out;
	}
	for (i = 0; i < state_reply_len(r); i++) {
		rest = state_reply_str(state_reply_at(r, i));
		(*rooms)[i].tenant =
		    star_read_token(&rd, str_split(&rest, ':'));
		(*rooms)[i].name = star_read_token(&rd, rest);
	}
	rc = record_end(&rd, key);
	if (rc == RC_OK)
		*n = i;
out:
	state_reply_free(r);
	return rc;
}

enum rc
star_outdate(struct state *s, struct str hub, const struct star_outdated *o)
{
	struct script_call c;

	call_begin(&c, &script_star_outdate);
	call_key(&c, KEY_STAR_OUTDATED, hub, STR_NONE);
	call_text(&c, o->key, STAR_OUTDATED_KEY);
	call_num(&c, o->gen);
	return call_run(s, &c, 1, NULL);
}

enum rc
star_read_outdated(struct state *s, struct str hub,
    const struct star_outdated_list *done, struct arena *a,
    struct star_outdated_list *out)
{
	struct record_reader rd = { .a = a };
	const struct state_reply *all;
	struct state_reply *r;
	struct script_call c;
	enum rc rc;
	size_t i;

	out->n = 0;
	call_begin(&c, &script_star_outdated);
	call_key(&c, KEY_STAR_OUTDATED, hub, STR_NONE);
	call_num(&c, STAR_OUTDATED_MAX);
	for (i = 0; i < done->n; i++) {
		call_text(&c, done->v[i].key, STAR_OUTDATED_KEY);
		call_num(&c, done->v[i].gen);
	}
	rc = call_run(s, &c, 2, &r);
	all = state_reply_at(r, 1);
	if (call_is_done(rc)) {
		out->v =
		    arena_alloc(a, state_reply_len(all) / 2 * sizeof(*out->v));
		rd.rc = out->v == NULL ? RC_TOOBIG : RC_OK;
	}
	for (i = 0;
	     call_is_done(rc) && rd.rc == RC_OK && i + 1 < state_reply_len(all);
	     i += 2)
		out->v[out->n++] = (struct star_outdated){
			record_text(&rd, state_reply_at(all, i)),
			record_num(&rd, state_reply_at(all, i + 1))
		};
	if (call_is_done(rc) && record_end(&rd, c.keys[0]) != RC_OK)
		rc = rd.rc;
	state_reply_free(r);
	return rc;
}

enum rc
star_is_outdated(struct state *s, struct str hub, struct str key)
{
	char text[STATE_KEY_MAX];
	struct state_reply *r = NULL;
	struct str at;
	enum rc rc;

	rc = star_hub_key(text, KEY_STAR_OUTDATED, hub, &at);
	if (rc == RC_OK)
		rc = state_cmd(s, STATE_ARGS(STR("ZSCORE"), at, key), &r);
	if (rc == RC_OK && state_reply_str(r).p == NULL)
		rc = RC_NOENT;
	state_reply_free(r);
	return rc;
}

/* ---- rooms ---- */

/* Its field, in dst, and its claim. */
static void
star_call_member(struct script_call *c, const struct star_member *m,
    char dst[STAR_MEMBER_MAX])
{
	size_t n = m->class.n + m->name.n + 1;

	if (n > STAR_MEMBER_MAX) {
		c->rc = RC_INVALID;
		return;
	}
	memcpy(dst, m->class.p, m->class.n);
	dst[m->class.n] = ':';
	memcpy(dst + m->class.n + 1, m->name.p, m->name.n);
	call_text(c, (struct str){ dst, n }, STAR_MEMBER_MAX);
	call_token(c, m->holder.hub);
	call_num(c, m->holder.gen);
}

enum rc
star_room_join(struct state *s, const struct star_room *room,
    const struct star_member *m, bool *new)
{
	char member[STAR_MEMBER_MAX];
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*new = false;
	call_begin(&c, &script_star_room_join);
	star_call_room(&c, KEY_STAR_ROOM, room);
	star_call_member(&c, m, member);
	call_num(&c, STAR_ROOM_MAX);
	rc = call_run(s, &c, 2, &r);
	if (call_is_done(rc))
		*new = state_reply_int(state_reply_at(r, 1)) != 0;
	state_reply_free(r);
	return rc;
}

enum rc
star_room_leave(
    struct state *s, const struct star_room *room, const struct star_member *m)
{
	char member[STAR_MEMBER_MAX];
	struct script_call c;

	call_begin(&c, &script_star_room_leave);
	star_call_room(&c, KEY_STAR_ROOM, room);
	star_call_member(&c, m, member);
	return call_run(s, &c, 1, NULL);
}

static void
star_read_member(struct record_reader *rd, struct str member, struct str entry,
    struct star_member *out)
{
	const struct state_reply whole = { .kind = STATE_STR, .s = member };

	/* Both are a copy's. */
	member = record_text(rd, &whole);
	out->class = str_split(&member, ':');
	out->name = member;
	out->holder.hub = star_read_token(rd, str_split(&entry, ' '));
	if (str_to_i64(entry, 1, INT64_MAX, &out->holder.gen) != RC_OK &&
	    rd->rc == RC_OK)
		rd->rc = RC_INVALID;
}

/* The members in the reply of c. */
static enum rc
star_run_members(struct state *s, struct script_call *c, struct arena *a,
    struct star_member **list, size_t *n)
{
	struct record_reader rd = { .a = a };
	const struct state_reply *all;
	struct state_reply *r;
	enum rc rc;
	size_t i;

	*n = 0;
	rc = call_run(s, c, 2, &r);
	if (!call_is_done(rc))
		goto out;
	all = state_reply_at(r, 1);
	*list = arena_alloc(a, state_reply_len(all) / 2 * sizeof(**list));
	if (*list == NULL) {
		rc = RC_TOOBIG;
		goto out;
	}
	for (i = 0; i + 1 < state_reply_len(all); i += 2)
		star_read_member(&rd, state_reply_str(state_reply_at(all, i)),
		    state_reply_str(state_reply_at(all, i + 1)),
		    &(*list)[i / 2]);
	if (record_end(&rd, c->keys[0]) != RC_OK)
		rc = rd.rc;
	else
		*n = i / 2;
out:
	state_reply_free(r);
	return rc;
}

enum rc
star_room_read(struct state *s, const struct star_room *room, struct arena *a,
    struct star_member **list, size_t *n)
{
	struct script_call c;

	call_begin(&c, &script_star_room_read);
	star_call_room(&c, KEY_STAR_ROOM, room);
	return star_run_members(s, &c, a, list, n);
}

enum rc
star_room_sweep(struct state *s, const struct star_room *room, struct str hub,
    struct arena *a, struct star_member **list, size_t *n)
{
	struct script_call c;

	call_begin(&c, &script_star_room_sweep);
	star_call_room(&c, KEY_STAR_ROOM, room);
	call_token(&c, hub);
	return star_run_members(s, &c, a, list, n);
}

/* ---- events ---- */

enum rc
star_events_append(
    struct state *s, const struct star_room *room, const struct star_events *e)
{
	struct star_identity id = star_environment(room);
	struct script_call c;

	if (e->n == 0 || e->n > STAR_APPEND_MAX || e->first < 1 ||
	    e->retain < 1)
		return RC_INVALID;
	call_begin(&c, &script_star_events_append);
	star_call_client(&c, &id);
	star_call_room(&c, KEY_STAR_EVENTS, room);
	call_token(&c, e->holder.hub);
	call_num(&c, e->holder.gen);
	call_num(&c, e->first);
	call_num(&c, e->retain);
	for (size_t i = 0; i < e->n; i++)
		call_text(&c, e->json[i], STAR_EVENT_MAX);
	return call_run(s, &c, 1, NULL);
}

static enum rc
star_read_page(const struct state_reply *r, struct arena *a,
    struct star_page *p, struct str key)
{
	const struct state_reply *list = state_reply_at(r, 3);
	struct record_reader rd = { .a = a };
	size_t i, n = state_reply_len(list) / 3;

	p->newest = state_reply_int(state_reply_at(r, 1));
	p->more = state_reply_int(state_reply_at(r, 2)) != 0;
	p->event = arena_alloc(a, n * sizeof(*p->event));
	if (p->event == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++)
		p->event[i] = (struct star_event){
			.seq = state_reply_int(state_reply_at(list, 3 * i)),
			.gen = state_reply_int(state_reply_at(list, 3 * i + 1)),
			.json =
			    record_text(&rd, state_reply_at(list, 3 * i + 2)),
		};
	p->gap = n > 0 ? p->event[n - 1].seq - p->after > (int64_t)n
		       : p->newest > p->after;
	p->n = rd.rc == RC_OK ? n : 0;
	return record_end(&rd, key);
}

enum rc
star_events_read(struct state *s, const struct star_room *room, struct arena *a,
    struct star_page *p)
{
	struct star_identity id = star_environment(room);
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	p->n = 0;
	if (p->after < 0 || p->max == 0)
		return RC_INVALID;
	call_begin(&c, &script_star_events_read);
	star_call_client(&c, &id);
	star_call_room(&c, KEY_STAR_EVENTS, room);
	call_num(&c, p->after);
	call_num(&c, (int64_t)p->max);
	call_num(&c, (int64_t)(p->bytes > 0 ? p->bytes : STAR_PAGE_BYTES));
	rc = call_run(s, &c, 4, &r);
	if (rc == RC_OK)
		rc = star_read_page(r, a, p, c.keys[0]);
	state_reply_free(r);
	return rc;
}
