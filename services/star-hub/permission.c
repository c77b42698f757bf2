#include "permission.h"

#include "auth/auth.h"

static const char *
permission_of_room(const struct identity *from, const struct recipient *to,
    const struct relation *r)
{
	if (from->class != CLASS_ENVIRONMENT)
		return "only environments send to all members";
	if (!r->global &&
	    (to->kind == RECIPIENT_ALL || !str_eq(to->to.env, from->env)))
		return "an environment sends to its own members only";
	return NULL;
}

static const char *
permission_of_agent(
    const struct identity *from, const struct identity *to, bool member)
{
	if (to->class == CLASS_HUMAN)
		return member ? NULL
			      : "the human is not in the agent's environment";
	return str_eq(from->env, to->env)
	    ? NULL
	    : "an agent sends within its own environment only";
}

static const char *
permission_of_environment(const struct identity *from,
    const struct identity *to, const struct relation *r)
{
	switch (to->class) {
	case CLASS_AGENT:
		return str_eq(from->env, to->env)
		    ? NULL
		    : "the agent is in another environment";
	case CLASS_HUMAN:
		return r->member || r->addressed
		    ? NULL
		    : "the human is not in the environment, and has not "
		      "written to it";
	default:
		return r->global || str_eq(from->env, to->env)
		    ? NULL
		    : "environments do not send to each other here";
	}
}

static const char *
permission_of_human(const struct identity *to, bool member)
{
	switch (to->class) {
	case CLASS_AGENT:
		return member ? NULL
			      : "the human is not in the agent's environment";
	case CLASS_HUMAN:
		return "humans do not send to each other";
	default:
		return NULL;
	}
}

const char *
permission_check(const struct identity *from, const struct recipient *to,
    const struct relation *r)
{
	if (to->kind == RECIPIENT_HUB || to->kind == RECIPIENT_NOBODY)
		return NULL;
	if (to->kind != RECIPIENT_CLIENT)
		return permission_of_room(from, to, r);
	switch (from->class) {
	case CLASS_AGENT:
		return permission_of_agent(from, &to->to, r->member);
	case CLASS_ENVIRONMENT:
		return permission_of_environment(from, &to->to, r);
	default:
		return permission_of_human(&to->to, r->member);
	}
}

const char *
permission_connect(const struct auth_caller *who, const struct identity *as)
{
	switch (who->role) {
	case WIRE_ROLE_OWNER:
	case WIRE_ROLE_OPERATOR:
		return NULL;
	case WIRE_ROLE_TERMINAL:
		return as->class == CLASS_AGENT &&
			str_eq(as->id, who->terminal_id)
		    ? NULL
		    : "a terminal connects only as the agent that has its id";
	default:
		return "the role of the access token may not connect";
	}
}
