/*
 * on_command: messages to the hub itself, the only payloads that it reads.
 */
#include <stdio.h>

#include "command.h"
#include "core/mem.h"
#include "envelope.h"
#include "handlers.h"
#include "wire/slice.h"

/* Bytes of a list in a reply; what does not fit is left out. */
#define LIST_BYTES (768UL * 1024)
#define VERSION    "1.0"

bool
command_fail(struct command_run *r, enum hub_error error, const char *message)
{
	r->f->error = error;
	r->f->message = message;
	return false;
}

bool
command_invalid(struct command_run *r, const char *error)
{
	r->f->validation_error = error;
	return command_fail(r, HUB_ERROR_VALIDATION, NULL);
}

struct str
command_text(struct command_run *r, const char *key)
{
	return payload_text(
	    payload_member(r->p.data, str_of(key)), r->h->arena);
}

/* ---- the reply ---- */

void
command_begin(struct command_run *r)
{
	char id[32];

	r->o = (struct wire_out){ .b = &r->h->out };
	hub_message_begin(&r->o, "message", &r->c->identity);
	wire_out_object(&r->o);
	wire_out_key(&r->o, STR("type"));
	wire_out_str(&r->o, STR("outcome"));
	wire_out_key(&r->o, STR("id"));
	if (r->p.id.p != NULL && r->p.id.n <= ENVELOPE_MESSAGE_ID_MAX) {
		wire_out_raw(&r->o, r->p.id);
	} else if (r->e->message_id.p != NULL) {
		wire_out_raw(&r->o, r->e->message_id);
	} else {
		(void)snprintf(id, sizeof(id), "hub-%llu",
		    (unsigned long long)++r->h->events);
		wire_out_str(&r->o, str_of(id));
	}
	wire_out_key(&r->o, STR("outcome"));
	wire_out_object(&r->o);
}

bool
command_end(struct command_run *r)
{
	wire_out_object_end(&r->o);
	wire_out_key(&r->o, STR("outcome_type"));
	wire_out_str(&r->o, STR("dict"));
	wire_out_object_end(&r->o);
	hub_message_end(&r->o, hub_now(r->h));
	if (!client_send_text(r->h, r->c) && !r->c->closing)
		client_drop(r->h, r->c);
	return true;
}

void
command_put(struct command_run *r, const char *key, struct str value)
{
	hub_put(&r->o, key, value);
}

void
command_put_count(struct command_run *r, const char *key, size_t n)
{
	wire_out_key(&r->o, str_of(key));
	wire_out_i64(&r->o, (int64_t)n);
}

void
command_put_flag(struct command_run *r, const char *key, bool is)
{
	wire_out_key(&r->o, str_of(key));
	wire_out_bool(&r->o, is);
}

/* ---- requests ---- */

static void
command_put_environment(struct command_run *r, const struct client *env)
{
	char text[IDENTITY_KEY_MAX];

	wire_out_object(&r->o);
	command_put(r, "id", env->identity.id);
	command_put_count(r, "client_count",
	    room_count(rooms_find(r->h->rooms, client_env_key(env, text))));
	command_put_flag(r, "up", true);
	wire_out_object_end(&r->o);
}

static bool
command_get_environments(struct command_run *r)
{
	const struct client *env;
	size_t pos = 0;
	bool all = true;

	command_begin(r);
	wire_out_key(&r->o, STR("environments"));
	wire_out_array(&r->o);
	while ((env = directory_next(
		    r->h->directory, CLASS_ENVIRONMENT, &pos)) != NULL) {
		if (!str_eq(env->identity.tenant, r->c->identity.tenant))
			continue;
		if (r->h->out.n > LIST_BYTES)
			all = false;
		else
			command_put_environment(r, env);
	}
	wire_out_array_end(&r->o);
	if (!all)
		command_put_flag(r, "truncated", true);
	return command_end(r);
}

static bool
command_get_server_stats(struct command_run *r)
{
	const struct hub *h = r->h;
	const struct str tenant = r->c->identity.tenant;
	size_t agents = directory_count(h->directory, CLASS_AGENT, tenant);
	size_t envs = directory_count(h->directory, CLASS_ENVIRONMENT, tenant);
	size_t humans = directory_count(h->directory, CLASS_HUMAN, tenant);

	command_begin(r);
	command_put_count(r, "active_connections", agents + envs + humans);
	command_put_count(r, "active_agents", agents);
	command_put_count(r, "active_environments", envs);
	command_put_count(r, "active_humans", humans);
	command_put_count(r, "active_env_count", envs);
	command_put_count(
	    r, "uptime_ms", (size_t)mono_diff_ms(clock_mono(), h->since));
	command_put(r, "hub", str_of(h->name));
	return command_end(r);
}

struct version_search {
	size_t n;
	bool found;
};

static void
version_on_element(void *arg, const struct wire_slice *s)
{
	struct version_search *v = arg;

	v->n++;
	/* "1", or "1.x" with anything behind it. */
	if (str_eq(s->value, STR("\"1\"")) || str_starts(s->value, STR("\"1.")))
		v->found = true;
}

static bool
command_version_negotiate(struct command_run *r)
{
	struct str list = payload_member(r->p.data, STR("supported_versions"));
	struct version_search v = { 0 };

	if (list.n == 0 || list.p[0] != '[' ||
	    envelope_members(list, version_on_element, &v) != RC_OK)
		return command_invalid(r,
		    "/payload/data/supported_versions: must be an array of "
		    "versions");
	if (!v.found)
		return command_invalid(
		    r, "/payload/data/supported_versions: has no version 1.x");
	command_begin(r);
	command_put(r, "selected_version", STR(VERSION));
	command_put(r, "server_version", STR(VERSION));
	return command_end(r);
}

/* The environment whose members are wanted; absent: none. */
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

static bool
command_get_members(struct command_run *r)
{
	char text[IDENTITY_KEY_MAX];
	struct str env = command_env(r);
	struct str key = identity_env_key(r->c->identity.tenant, env, text);
	const struct room *room;
	const struct client *m;
	size_t i, n;

	if (key.p == NULL ||
	    (!str_eq(env, r->c->identity.env) &&
		client_membership(r->h, r->c, key) == NULL))
		return command_fail(r, HUB_ERROR_PERMISSION,
		    "the members of an environment are for those in it");
	room = rooms_find(r->h->rooms, key);
	n = room_count(room);
	command_begin(r);
	command_put(r, "env_id", env);
	command_put_flag(r, "up", directory_find(r->h->directory, key) != NULL);
	command_put_count(r, "count", n);
	wire_out_key(&r->o, STR("members"));
	wire_out_array(&r->o);
	for (i = 0; i < n && r->h->out.n <= LIST_BYTES; i++) {
		m = room_client(room, i);
		wire_out_object(&r->o);
		command_put(r, "id", m->identity.id);
		command_put(r, "type", client_class_names[m->identity.class]);
		wire_out_object_end(&r->o);
	}
	wire_out_array_end(&r->o);
	if (i < n)
		command_put_flag(r, "truncated", true);
	return command_end(r);
}

/* The key of the environment that a human names to join or leave it; absent:
 * f says what is wrong. */
static struct str
command_human_env(
    struct command_run *r, char text[IDENTITY_KEY_MAX], struct str *env)
{
	*env = command_text(r, "env_id");
	if (r->c->identity.class != CLASS_HUMAN) {
		(void)command_fail(r, HUB_ERROR_PERMISSION,
		    "only humans join and leave environments");
		return (struct str){ NULL, 0 };
	}
	if (env->p == NULL || identity_id_error(*env) != NULL) {
		(void)command_invalid(r,
		    "/payload/data/env_id: must be the id of an "
		    "environment");
		return (struct str){ NULL, 0 };
	}
	return identity_env_key(r->c->identity.tenant, *env, text);
}

static bool
command_joined(struct command_run *r, struct str env, const char *status)
{
	command_begin(r);
	command_put(r, "status", STR("success"));
	command_put(r, "message", str_of(status));
	command_put(r, "env_id", env);
	return command_end(r);
}

static bool
command_join(struct command_run *r)
{
	char text[IDENTITY_KEY_MAX];
	struct str env, key = command_human_env(r, text, &env);
	const char *why;

	if (key.p == NULL)
		return false;
	if (client_membership(r->h, r->c, key) == NULL &&
	    directory_find(r->h->directory, key) == NULL)
		return command_fail(r, HUB_ERROR_ENVIRONMENT, NULL);
	why = human_join(r->h, r->c, key);
	if (why != NULL)
		return command_fail(r, HUB_ERROR_PERMISSION, why);
	return command_joined(r, env, "joined");
}

static bool
command_leave(struct command_run *r)
{
	char text[IDENTITY_KEY_MAX];
	struct str env, key = command_human_env(r, text, &env);
	struct room_member *m;

	if (key.p == NULL)
		return false;
	m = client_membership(r->h, r->c, key);
	if (m != NULL) {
		room_leave(m);
		presence_left(r->h, r->c, key, "closed");
	}
	return command_joined(r, env, "left");
}

static bool
command_authentication(struct command_run *r)
{
	return client_auth_handle(r->h, r->c, r->e, r->f);
}

static bool
command_ping(struct command_run *r)
{
	command_begin(r);
	command_put(r, "status", STR("success"));
	command_put(r, "message", STR("pong"));
	wire_out_key(&r->o, STR("data"));
	wire_out_object(&r->o);
	wire_out_object_end(&r->o);
	return command_end(r);
}

struct command_row {
	struct str name;
	bool (*fn)(struct command_run *r);
};
static const struct command_row command_rows[] = {
	{ STR_INIT("get_environments"), command_get_environments },
	{ STR_INIT("get_server_stats"), command_get_server_stats },
	{ STR_INIT("version_negotiate"), command_version_negotiate },
	{ STR_INIT("get_members"), command_get_members },
	{ STR_INIT("join_environment"), command_join },
	{ STR_INIT("leave_environment"), command_leave },
	{ STR_INIT("admin_command"), on_admin },
	{ STR_INIT("authentication"), command_authentication },
};

static bool
command_stream(struct command_run *r)
{
	struct str name = payload_stream(&r->p, r->h->arena);
	size_t i;

	if (name.p == NULL)
		return command_invalid(r, "/payload/stream: is missing");
	for (i = 0; i < NELEM(command_rows); i++)
		if (str_eq(name, command_rows[i].name))
			return command_rows[i].fn(r);
	return command_invalid(r, "/payload/stream: is no request to the hub");
}

bool
on_command(struct hub *h, struct client *c, const struct envelope *e,
    struct hub_failure *f)
{
	struct command_run r = { .h = h, .c = c, .e = e, .f = f };
	struct str type;

	if (payload_read(e->payload, &r.p) != RC_OK)
		return command_invalid(&r, "/payload: must be an object");
	type = payload_text(r.p.type, h->arena);
	if (str_eq(type, STR("stream")))
		return command_stream(&r);
	if (str_eq(type, STR("action")) &&
	    str_eq(payload_text(r.p.action, h->arena), STR("ping")))
		return command_ping(&r);
	if (str_eq(type, STR("action")))
		return command_invalid(
		    &r, "/payload/action: the hub does ping only");
	return command_invalid(&r,
	    "/payload/type: must be stream, or action for a ping, to the hub");
}
