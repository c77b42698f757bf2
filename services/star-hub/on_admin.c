/*
 * on_admin: what operators request of the hub.
 */
#include <stdio.h>

#include "cluster/handlers.h"
#include "command.h"
#include "core/log.h"
#include "handlers.h"
#include "svc/svc.h"

/* Bytes of a close reason, NUL included. */
#define REASON_MAX 124

bool
hub_kick(struct hub *h, struct str key, const char *why)
{
	struct client *c = directory_find(h->directory, key);

	if (c == NULL)
		return false;
	log_info("star.kicked", LOG_V("id", c->identity.id),
	    LOG_V("tenant", c->identity.tenant));
	client_ref(c);
	claims_end(h->claims, c, "kicked");
	if (c->phase == CLIENT_OPEN)
		client_close(c, WS_CLOSE_POLICY, str_of(why));
	client_unref(h, c);
	return true;
}

/* The client that data names; false: it is wrong, as r->f says. */
static bool
admin_read_identity(struct command_run *r, struct identity *i)
{
	*i = (struct identity){ .class = client_class_parse(
				    command_text(r, "class")),
		.tenant = r->c->identity.tenant,
		.id = command_text(r, "id") };
	if (i->class >= CLASS_HUB)
		return command_invalid(r,
		    "/payload/data/class: must be agent, environment or human");
	if (i->id.p == NULL || identity_id_error(i->id) != NULL)
		return command_invalid(
		    r, "/payload/data/id: must be the id of a client");
	if (i->class == CLASS_AGENT)
		i->env = command_text(r, "env_id");
	else if (i->class == CLASS_ENVIRONMENT)
		i->env = i->id;
	if (i->class == CLASS_AGENT &&
	    (i->env.p == NULL || identity_id_error(i->env) != NULL))
		return command_invalid(r,
		    "/payload/data/env_id: must be the id of an environment");
	return true;
}

static bool
admin_succeed(struct command_run *r)
{
	command_begin(r);
	command_put(r, "status", STR("success"));
	command_put(r, "hub", str_of(r->h->name));
	return command_end(r);
}

/* It is at another hub, or nowhere; r->env is the reason. */
static bool
admin_kick_in_fiber(struct command_run *r)
{
	struct arena *a = arena_new(4096);
	struct remote_location at;
	struct identity i;
	enum rc rc;

	rc = remote_locate(r->h->peers, r->key, a, &at);
	arena_free(a);
	if (rc == RC_NOENT)
		return command_fail(r, HUB_ERROR_TARGET, NULL);
	if (rc != RC_OK || identity_parse(r->key, &i) != RC_OK)
		return command_fail(r, HUB_ERROR_UNREACHABLE, NULL);
	if (at.peer != NULL)
		peer_put(at.peer,
		    &(struct link_record){ .kind = LINK_KICK,
			.to = r->key,
			.n = WS_CLOSE_POLICY,
			.text = r->env });
	else if (!hub_kick(r->h, r->key, r->env.p))
		return command_fail(r, HUB_ERROR_TARGET, NULL);
	hub_audit_kicked(r->h, r->c, &i);
	return admin_succeed(r);
}

static bool
admin_kick(struct command_run *r)
{
	static const char kicked[] = "disconnected by an operator";
	struct str reason = command_text(r, "reason");
	char why[REASON_MAX], text[IDENTITY_KEY_MAX];
	struct identity i;
	size_t n;

	if (!admin_read_identity(r, &i))
		return false;
	n = (size_t)snprintf(
	    why, sizeof(why), "%s%s", kicked, reason.n > 0 ? ": " : "");
	str_copy(reason, why + n, sizeof(why) - n);
	r->key = identity_key(&i, text);
	r->env = str_of(why);
	return command_later(r, admin_kick_in_fiber);
}

/* Of this hub, or of the one that is named. */
static bool
admin_drain(struct command_run *r)
{
	struct str hub = command_text(r, "hub");

	if (hub.p != NULL && !str_eq(hub, str_of(r->h->name)))
		return command_fail(r, HUB_ERROR_TARGET,
		    "the operator is not connected to this hub");
	log_info("star.drained");
	hub_audit_drained(r->h, r->c);
	svc_end(r->h->svc);
	return admin_succeed(r);
}

bool
on_admin(struct command_run *r)
{
	struct str name;

	if (!client_is_operator(r->c))
		return command_fail(r, HUB_ERROR_PERMISSION,
		    "admin commands are for operators");
	name = command_text(r, "command");
	if (str_eq(name, STR("kick")))
		return admin_kick(r);
	if (str_eq(name, STR("drain")))
		return admin_drain(r);
	return command_invalid(
	    r, "/payload/data/command: must be kick or drain");
}
