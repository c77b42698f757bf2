/*
 * hub_audit: what was done to clients, and by whom.
 */
#include "core/mem.h"
#include "core/rate.h"
#include "hub.h"
#include "svc/audit.h"
#include "wire/msgs.h"

/* Events about replaced clients: one that cannot connect to stay repeats it. */
#define REPLACED_PER_S 10
#define REPLACED_BURST 20

static const enum wire_audit_client_type audit_types[] = {
	[CLASS_AGENT] = WIRE_AUDIT_CLIENT_TYPE_AGENT,
	[CLASS_ENVIRONMENT] = WIRE_AUDIT_CLIENT_TYPE_ENVIRONMENT,
	[CLASS_HUMAN] = WIRE_AUDIT_CLIENT_TYPE_HUMAN,
};

static void
audit_set_client(struct hub *h, struct wire_audit *e, const struct identity *i)
{
	e->hub = str_of(h->name);
	e->has_client_type = true;
	e->client_type = audit_types[i->class];
	e->client_id = i->id;
	if (i->class == CLASS_AGENT)
		e->env_id = i->env;
}

static void
audit_set_actor(struct wire_audit *e, const struct client *by)
{
	/* Without authentication the key is 0. */
	if (by->caller.key != 0)
		svc_audit_set_caller(e, &by->caller);
	e->address = str_of(ws_peer_address(by->peer));
}

void
hub_audit_kicked(
    struct hub *h, const struct client *by, const struct identity *i)
{
	struct wire_audit e = { .action = WIRE_AUDIT_ACTION_CLIENT_KICKED,
		.reason = STR("admin_command") };

	audit_set_client(h, &e, i);
	audit_set_actor(&e, by);
	svc_audit(h->svc, &e, NULL);
}

void
hub_audit_drained(struct hub *h, const struct client *by)
{
	struct wire_audit e = { .action = WIRE_AUDIT_ACTION_HUB_DRAINED,
		.hub = str_of(h->name),
		.reason = STR("admin_command") };

	audit_set_actor(&e, by);
	svc_audit(h->svc, &e, NULL);
}

void
hub_audit_replaced(struct hub *h, const struct client *by, struct str owner)
{
	struct wire_audit e = { .action = WIRE_AUDIT_ACTION_CLIENT_REPLACED,
		.has_count = true,
		.count = ++h->replaced };

	if (rate_take(h->replaced_rate, STR(""), clock_mono()) > 0)
		return;
	h->replaced = 0;
	audit_set_client(h, &e, &by->identity);
	audit_set_actor(&e, by);
	/* A terminal's begins with "/", and is no user. */
	if (owner.n > 0 && owner.p[0] != '/')
		e.user_id = owner;
	svc_audit(h->svc, &e, NULL);
}

void
hub_audit_start(struct hub *h)
{
	h->replaced_rate = rate_new(REPLACED_PER_S, REPLACED_BURST, 1);
}

void
hub_audit_stop(struct hub *h)
{
	rate_free(h->replaced_rate);
}
