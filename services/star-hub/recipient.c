#include "recipient.h"

#define ENV_PREFIX STR("env_")
#define ALL_SUFFIX STR("_all")

/* A room's name of v1, env_<id>_all; absent: it is none. */
static struct str
recipient_named_room(struct str id)
{
	size_t around = ENV_PREFIX.n + ALL_SUFFIX.n;

	if (id.n <= around || !str_starts(id, ENV_PREFIX) ||
	    !str_ends(id, ALL_SUFFIX))
		return (struct str){ NULL, 0 };
	return (struct str){ id.p + ENV_PREFIX.n, id.n - around };
}

static bool
recipient_is_all(struct str id)
{
	return str_eq(id, STR("all")) || str_eq(id, STR("broadcast"));
}

/* The members of env: all, or those of a class. */
static const char *
recipient_set_room(const struct party *p, struct str env, struct recipient *out)
{
	out->kind = RECIPIENT_ROOM;
	out->to.env = env;
	out->audience = p->class == CLASS_N ? CLASS_HUB : p->class;
	return out->audience == CLASS_ENVIRONMENT
	    ? "/recipient/type: must be agent, human or hub of a broadcast"
	    : NULL;
}

/* An agent is in an environment, which only humans have to name. */
static const char *
recipient_set_agent(const struct party *p, const struct recipient_context *c,
    struct recipient *out)
{
	out->to.env = p->env;
	if (p->env.p != NULL)
		return NULL;
	if (c->from->class != CLASS_HUMAN) {
		out->to.env = c->from->env;
		return NULL;
	}
	out->to.env = c->environment;
	return c->environments > 1
	    ? "/recipient/env: is missing, and you are in several environments"
	    : NULL;
}

const char *
recipient_of(const struct party *p, const struct recipient_context *c,
    struct recipient *out)
{
	struct str room = recipient_named_room(p->id);

	*out = (struct recipient){ .kind = RECIPIENT_CLIENT,
		.to = { .class = p->class,
		    .tenant = c->from->tenant,
		    .id = p->id } };
	if (str_eq(p->id, STR("*")))
		return recipient_set_room(p, c->from->env, out);
	if (room.p != NULL)
		return recipient_set_room(p, room, out);
	if (recipient_is_all(p->id)) {
		const char *error = recipient_set_room(p, c->from->env, out);

		if (c->global)
			out->kind = RECIPIENT_ALL;
		return error;
	}
	if (str_eq(p->id, STR("hub")) || str_eq(p->id, STR("server"))) {
		out->kind =
		    p->class == CLASS_HUB ? RECIPIENT_HUB : RECIPIENT_NOBODY;
		return NULL;
	}
	if (p->class == CLASS_HUB) {
		out->kind = RECIPIENT_NOBODY;
		return NULL;
	}
	if (p->class == CLASS_AGENT)
		return recipient_set_agent(p, c, out);
	if (p->class == CLASS_ENVIRONMENT)
		out->to.env = p->id;
	return NULL;
}
