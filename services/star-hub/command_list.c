/*
 * command_list: requests about all hubs.
 */
#include "cluster/handlers.h"
#include "command.h"
#include "core/map.h"
#include "listing.h"

/* ---- requests ---- */

static bool
command_environments_in_fiber(struct command_run *r)
{
	struct listing l = { 0 };
	const struct listed *e;
	size_t pos = 0;
	bool all = true;

	listing_request(r->h, r->c->identity.tenant, &l);
	command_begin(r);
	wire_out_key(&r->o, STR("environments"));
	wire_out_array(&r->o);
	while ((e = map_next(l.by_id, &pos, NULL)) != NULL) {
		if (!e->up)
			continue;
		if (r->h->out.n > LISTING_BYTES) {
			all = false;
			continue;
		}
		wire_out_object(&r->o);
		command_put(r, "id", str_of(e->id));
		command_put_count(r, "client_count", e->members);
		command_put_flag(r, "up", true);
		wire_out_object_end(&r->o);
	}
	wire_out_array_end(&r->o);
	if (!all)
		command_put_flag(r, "truncated", true);
	listing_free(&l);
	return command_end(r);
}

bool
command_get_environments(struct command_run *r)
{
	return command_later(r, command_environments_in_fiber);
}

static bool
command_stats_in_fiber(struct command_run *r)
{
	const struct hub *h = r->h;
	struct listing l = { 0 };
	size_t agents, envs, humans;

	listing_request(r->h, r->c->identity.tenant, &l);
	agents = l.clients[CLASS_AGENT];
	envs = l.clients[CLASS_ENVIRONMENT];
	humans = l.clients[CLASS_HUMAN];
	listing_free(&l);
	command_begin(r);
	command_put_count(r, "active_connections", agents + envs + humans);
	command_put_count(r, "active_agents", agents);
	command_put_count(r, "active_environments", envs);
	command_put_count(r, "active_humans", humans);
	command_put_count(r, "active_env_count", envs);
	command_put_count(
	    r, "uptime_ms", (size_t)mono_diff_ms(clock_mono(), h->since));
	command_put(r, "hub", str_of(h->name));
	command_put_count(r, "hubs", h->peers->n + 1);
	return command_end(r);
}

bool
command_get_server_stats(struct command_run *r)
{
	return command_later(r, command_stats_in_fiber);
}
