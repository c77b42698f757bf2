/*
 * on_rpc: requests of the suite's other services, and of the commands.
 */
#include <stdio.h>

#include "cluster/handlers.h"
#include "core/map.h"
#include "core/mem.h"
#include "environment.h"
#include "handlers.h"
#include "listing.h"
#include "svc/svc.h"
#include "wire/msgs.h"

#define REDIS_DOWN "Redis cannot be reached"

/* The key of an environment, in text; absent: c is rejected. */
static struct str
rpc_env_key(struct svc_call *c, struct str tenant, struct str env,
    char text[IDENTITY_KEY_MAX])
{
	const char *why = identity_id_error(env);
	struct str key = identity_env_key(tenant, env, text);

	if (why == NULL && key.p != NULL)
		return key;
	svc_fail(c, RC_INVALID, "/env_id: is no id of an environment");
	return (struct str){ NULL, 0 };
}

void
on_star_list(void *app, struct svc_call *c)
{
	const struct wire_star_list_request *req = svc_call_request(c);
	struct wire_star_environment_list rep = { 0 };
	struct listing l = { 0 };
	const struct listed *e;
	struct hub *h = app;
	size_t pos = 0, bytes = 0, n;

	listing_request(h, req->tenant, &l);
	n = map_len(l.by_id);
	rep.items = arena_alloc(svc_call_arena(c), n * sizeof(*rep.items));
	while (
	    rep.items != NULL && (e = map_next(l.by_id, &pos, NULL)) != NULL) {
		if (!e->up)
			continue;
		bytes += strlen(e->id) + 40;
		if (bytes > LISTING_BYTES) {
			rep.truncated = true;
			break;
		}
		rep.items[rep.n_items++] =
		    (struct wire_star_environment_list_items){
			    arena_str(svc_call_arena(c), str_of(e->id)),
			    (int64_t)e->members
		    };
	}
	rep.agents = (int64_t)l.clients[CLASS_AGENT];
	rep.environments = (int64_t)l.clients[CLASS_ENVIRONMENT];
	rep.humans = (int64_t)l.clients[CLASS_HUMAN];
	rep.hubs = (int64_t)h->peers->n + 1;
	listing_free(&l);
	svc_reply(c, &rep);
}

void
on_star_members(void *app, struct svc_call *c)
{
	const struct wire_star_members_request *req = svc_call_request(c);
	struct wire_star_member_list rep = { .env_id = req->env_id };
	struct arena *a = svc_call_arena(c);
	struct environment_members m;
	char text[IDENTITY_KEY_MAX];
	struct str key = rpc_env_key(c, req->tenant, req->env_id, text);
	size_t i, bytes = 0;
	enum rc rc;

	if (key.p == NULL)
		return;
	rc = environment_members(app, key, a, &m);
	if (rc == RC_OK)
		rep.items = arena_alloc(a, m.n * sizeof(*rep.items));
	if (rc != RC_OK || rep.items == NULL) {
		svc_fail(c, rc != RC_OK ? rc : RC_TOOBIG, REDIS_DOWN);
		return;
	}
	rep.up = m.up;
	for (i = 0; i < m.n && bytes < LISTING_BYTES; i++) {
		bytes += m.list[i].name.n + m.list[i].holder.hub.n + 50;
		rep.items[i] = (struct wire_star_member_list_items){
			client_class_parse(m.list[i].class) == CLASS_AGENT
			    ? WIRE_STAR_MEMBER_LIST_ITEMS_TYPE_AGENT
			    : WIRE_STAR_MEMBER_LIST_ITEMS_TYPE_HUMAN,
			m.list[i].name, m.list[i].holder.hub
		};
	}
	rep.n_items = i;
	rep.truncated = i < m.n;
	svc_reply(c, &rep);
}

void
on_star_history(void *app, struct svc_call *c)
{
	const struct wire_star_history_request *req = svc_call_request(c);
	struct wire_star_history_reply rep = { .env_id = req->env_id };
	struct star_page page = { .max = (size_t)req->limit,
		.bytes = LISTING_BYTES };
	struct arena *a = svc_call_arena(c);
	char text[IDENTITY_KEY_MAX], cursor[HUB_CURSOR_MAX];
	struct str key = rpc_env_key(c, req->tenant, req->env_id, text);
	size_t i;
	enum rc rc;

	if (key.p == NULL)
		return;
	if (req->after.p != NULL &&
	    !environment_read_cursor(req->after, &page.after)) {
		svc_fail(c, RC_INVALID, "/after: is no cursor of an event");
		return;
	}
	rc = environment_history(app, key, a, &page);
	if (rc == RC_OK)
		rep.events = arena_alloc(a, page.n * sizeof(*rep.events));
	if (rc != RC_OK || rep.events == NULL) {
		svc_fail(c, rc != RC_OK ? rc : RC_TOOBIG, REDIS_DOWN);
		return;
	}
	for (i = 0; i < page.n; i++)
		rep.events[i] = page.event[i].json;
	rep.n_events = page.n;
	if (page.n > 0)
		rep.cursor = environment_cursor(&page, cursor);
	rep.more = page.more;
	rep.gap = page.gap;
	svc_reply(c, &rep);
}

void
on_star_kick(void *app, struct svc_call *c)
{
	const struct wire_star_kick_request *req = svc_call_request(c);
	static const enum client_class classes[] = {
		[WIRE_STAR_KICK_REQUEST_TYPE_AGENT] = CLASS_AGENT,
		[WIRE_STAR_KICK_REQUEST_TYPE_ENVIRONMENT] = CLASS_ENVIRONMENT,
		[WIRE_STAR_KICK_REQUEST_TYPE_HUMAN] = CLASS_HUMAN,
	};
	struct identity i = { .class = classes[req->type],
		.tenant = req->tenant,
		.env = req->env_id,
		.id = req->id };
	char text[IDENTITY_KEY_MAX], why[HUB_REASON_MAX];
	struct wire_star_kick_reply rep;
	struct identity same;
	struct hub *h = app;
	struct str key;
	enum rc rc;

	if (i.class == CLASS_ENVIRONMENT)
		i.env = i.id;
	key = identity_key(&i, text);
	if (key.p == NULL || identity_parse(key, &same) != RC_OK) {
		svc_fail(c, RC_INVALID,
		    "/id: is no id of a client; an agent has an env_id");
		return;
	}
	hub_kick_reason(req->reason, why);
	rc = hub_kick_anywhere(h, key, why, svc_call_arena(c), &rep.hub);
	if (rc == RC_OK)
		svc_reply(c, &rep);
	else
		svc_fail(c, rc,
		    rc == RC_NOENT ? "no client has this identity"
				   : REDIS_DOWN);
}
