/*
 * on_admin: what operators request of the hub.
 */
#include <stdio.h>

#include "cluster/handlers.h"
#include "command.h"
#include "core/log.h"
#include "handlers.h"
#include "svc/svc.h"

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

void
hub_kick_reason(struct str reason, char why[HUB_REASON_MAX])
{
	int n = snprintf(why, HUB_REASON_MAX, "disconnected by an operator%s",
	    reason.n > 0 ? ": " : "");

	str_copy(reason, why + n, HUB_REASON_MAX - (size_t)n);
}

enum rc
hub_kick_anywhere(struct hub *h, struct str key, const char *why,
    struct arena *a, struct str *hub)
{
	struct remote_location at;
	enum rc rc;

	*hub = str_of(h->name);
	if (hub_kick(h, key, why))
		return RC_OK;
	rc = remote_locate(h->peers, key, a, &at);
	if (rc != RC_OK || at.peer == NULL)
		return rc == RC_OK ? RC_NOENT : rc;
	*hub = arena_str(a, str_of(at.peer->name));
	peer_put(at.peer,
	    &(struct link_record){
		.kind = LINK_KICK, .to = key, .text = str_of(why) });
	return RC_OK;
}

/* r->env is the reason. */
static bool
admin_kick_in_fiber(struct command_run *r)
{
	struct identity i;
	struct str hub;
	enum rc rc;

	rc = hub_kick_anywhere(r->h, r->key, r->env.p, r->arena, &hub);
	if (rc == RC_NOENT)
		return command_fail(r, HUB_ERROR_TARGET, NULL);
	if (rc != RC_OK || identity_parse(r->key, &i) != RC_OK)
		return command_fail(r, HUB_ERROR_UNREACHABLE, NULL);
	hub_audit_kicked(r->h, r->c, &i);
	command_begin(r);
	command_put(r, "status", STR("success"));
	command_put(r, "hub", hub);
	return command_end(r);
}

static bool
admin_kick(struct command_run *r)
{
	char why[HUB_REASON_MAX], text[IDENTITY_KEY_MAX];
	struct identity i;

	if (!admin_read_identity(r, &i))
		return false;
	hub_kick_reason(command_text(r, "reason"), why);
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
