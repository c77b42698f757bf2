/*
 * command_room: requests about the environments that a client is in.
 */
#include "command.h"
#include "environment.h"
#include "handlers.h"
#include "listing.h"
#include "state/star.h"

#define HISTORY_LIMIT 100

static bool
command_unreachable(struct command_run *r)
{
	return command_fail(r, HUB_ERROR_UNREACHABLE,
	    "Redis cannot be reached: nothing was done");
}

/* ---- an environment ---- */

/* The environment that is meant; absent: none. */
static struct str
command_env(struct command_run *r)
{
	struct str env = command_text(r, "env_id");
	size_t i;

	if (env.p != NULL || r->c->identity.class != CLASS_HUMAN)
		return env.p != NULL ? env : r->c->identity.env;
	for (i = 0; i < r->c->nrooms; i++)
		if (r->c->rooms[i].room != NULL)
			return room_env(r->c->rooms[i].room);
	return env;
}

/* One that the client is in, into r->env and r->key, which is in text. */
static bool
command_own_env(struct command_run *r, char text[IDENTITY_KEY_MAX])
{
	r->env = command_env(r);
	r->key = identity_env_key(r->c->identity.tenant, r->env, text);
	if (r->key.p != NULL &&
	    (str_eq(r->env, r->c->identity.env) ||
		client_membership(r->h, r->c, r->key) != NULL))
		return true;
	return command_fail(r, HUB_ERROR_PERMISSION,
	    "what is in an environment is for those in it");
}

static void
command_put_members(
    struct command_run *r, const struct star_member *list, size_t n)
{
	size_t i;

	wire_out_key(&r->o, STR("members"));
	wire_out_array(&r->o);
	for (i = 0; i < n && r->h->out.n <= LISTING_BYTES; i++) {
		wire_out_object(&r->o);
		command_put(r, "id", list[i].name);
		command_put(r, "type", list[i].class);
		wire_out_object_end(&r->o);
	}
	wire_out_array_end(&r->o);
	if (i < n)
		command_put_flag(r, "truncated", true);
}

static bool
command_members_in_fiber(struct command_run *r)
{
	struct arena *a = arena_new(ENVIRONMENT_ARENA);
	struct environment_members m;
	enum rc rc = environment_members(r->h, r->key, a, &m);

	if (rc == RC_OK) {
		command_begin(r);
		command_put(r, "env_id", r->env);
		command_put_flag(r, "up", m.up);
		command_put_count(r, "count", m.n);
		command_put_members(r, m.list, m.n);
	}
	arena_free(a);
	return rc == RC_OK ? command_end(r) : command_unreachable(r);
}

bool
command_get_members(struct command_run *r)
{
	char text[IDENTITY_KEY_MAX];

	return command_own_env(r, text) &&
	    command_later(r, command_members_in_fiber);
}

/* ---- its history ---- */

static bool
command_history_in_fiber(struct command_run *r)
{
	struct star_page page = { .after = r->after,
		.max = (size_t)r->limit,
		.bytes = LISTING_BYTES };
	struct arena *a = arena_new(ENVIRONMENT_ARENA);
	char cursor[HUB_CURSOR_MAX];
	enum rc rc = environment_history(r->h, r->key, a, &page);
	size_t i;

	if (rc != RC_OK) {
		arena_free(a);
		return command_unreachable(r);
	}
	command_begin(r);
	command_put(r, "env_id", r->env);
	command_put_flag(r, "gap", page.gap);
	command_put_flag(r, "more", page.more);
	if (page.n > 0)
		command_put(r, "cursor", environment_cursor(&page, cursor));
	wire_out_key(&r->o, STR("events"));
	wire_out_array(&r->o);
	for (i = 0; i < page.n; i++)
		wire_out_raw(&r->o, page.event[i].json);
	wire_out_array_end(&r->o);
	arena_free(a);
	return command_end(r);
}

bool
command_get_history(struct command_run *r)
{
	struct str after = command_text(r, "after");
	struct str limit = payload_member(r->p.data, STR("limit"));
	char text[IDENTITY_KEY_MAX];

	if (!command_own_env(r, text))
		return false;
	if (after.p != NULL && !environment_read_cursor(after, &r->after))
		return command_invalid(
		    r, "/payload/data/after: must be the cursor of an event");
	r->limit = HISTORY_LIMIT;
	if (limit.p != NULL &&
	    str_to_i64(limit, 1, HISTORY_LIMIT, &r->limit) != RC_OK)
		return command_invalid(
		    r, "/payload/data/limit: must be from 1 to 100");
	return command_later(r, command_history_in_fiber);
}

/* ---- joining and leaving ---- */

/* That a human names to join or leave it, into r->env and r->key, which is in
 * text. */
static bool
command_human_env(struct command_run *r, char text[IDENTITY_KEY_MAX])
{
	r->env = command_text(r, "env_id");
	if (r->c->identity.class != CLASS_HUMAN)
		return command_fail(r, HUB_ERROR_PERMISSION,
		    "only humans join and leave environments");
	if (r->env.p == NULL || identity_id_error(r->env) != NULL)
		return command_invalid(r,
		    "/payload/data/env_id: must be the id of an environment");
	r->key = identity_env_key(r->c->identity.tenant, r->env, text);
	return true;
}

static bool
command_joined(struct command_run *r, const char *status)
{
	command_begin(r);
	command_put(r, "status", STR("success"));
	command_put(r, "message", str_of(status));
	command_put(r, "env_id", r->env);
	return command_end(r);
}

static bool
command_join_in_fiber(struct command_run *r)
{
	switch (human_join(r->h, r->c, r->key)) {
	case RC_OK:
		return command_joined(r, "joined");
	case RC_NOENT:
		return command_fail(r, HUB_ERROR_ENVIRONMENT, NULL);
	case RC_TOOBIG:
		return command_fail(r, HUB_ERROR_PERMISSION,
		    "a human is in 16 environments at most: leave one first");
	case RC_RETRY:
		return command_fail(r, HUB_ERROR_PERMISSION,
		    "the environment has too many members");
	default:
		return command_unreachable(r);
	}
}

bool
command_join(struct command_run *r)
{
	char text[IDENTITY_KEY_MAX];

	return command_human_env(r, text) &&
	    command_later(r, command_join_in_fiber);
}

bool
command_leave(struct command_run *r)
{
	char text[IDENTITY_KEY_MAX];
	struct room_member *m;

	if (!command_human_env(r, text))
		return false;
	m = client_membership(r->h, r->c, r->key);
	if (m != NULL)
		membership_exit(r->h, m, "closed");
	return command_joined(r, "left");
}
