#include "memories/export_mcp.h"

#include "core/log.h"
#include "memories/export_runs.h"
#include "state/evolution_entry.h"
#include "state/mcp.h"
#include "wire/wire.h"

#define HIDDEN STR("***")

static enum rc
export_mcp_put_server(const struct mcp_user_server *server, struct arena *a,
    const struct export_to *to)
{
	struct wire_memory_export_line line = { .has_mcp_server = true };
	struct wire_memory_export_line_mcp_server *out = &line.mcp_server;
	struct wire_mcp_user_server rec;
	struct wire_err err;
	size_t i;

	if (wire_decode(&wire_mcp_user_server_desc, server->json, a, &rec,
		&err) != RC_OK) {
		log_error("gateway.stored_server", LOG_S("path", err.path),
		    LOG_S("why", err.why));
		return RC_OK;
	}
	out->name = server->name;
	out->url = rec.url;
	out->catalogue = rec.catalogue;
	out->has_policy = rec.has_policy;
	out->policy =
	    (enum wire_memory_export_line_mcp_server_policy)rec.policy;
	out->has_protocol = rec.has_protocol;
	out->protocol =
	    (enum wire_memory_export_line_mcp_server_protocol)rec.protocol;
	out->has_headers = rec.has_header_names;
	out->headers =
	    arena_alloc(a, (rec.n_header_names + 1) * sizeof(*out->headers));
	if (out->headers == NULL)
		return RC_TOOBIG;
	for (i = 0; i < rec.n_header_names; i++)
		out->headers[i] =
		    (struct wire_memory_export_line_mcp_server_headers){
			    rec.header_names[i], HIDDEN
		    };
	out->n_headers = rec.n_header_names;
	return to->put(to->arg, &line);
}

enum rc
export_mcp_servers(struct state *s, struct str user, struct arena *a,
    const struct export_to *to)
{
	struct mcp_user_server *list;
	size_t i, n;
	enum rc rc = mcp_servers_read(s, user, a, &list, &n);

	for (i = 0; rc == RC_OK && i < n; i++)
		rc = export_mcp_put_server(&list[i], a, to);
	return rc;
}

static void
export_mcp_set_policy(struct str policy, struct wire_mcp_grant *out)
{
	static const struct str policies[] = { STR_INIT("auto"),
		STR_INIT("ask"), STR_INIT("never") };
	size_t i;

	for (i = 0; i < NELEM(policies); i++)
		if (str_eq(policy, policies[i])) {
			out->policy = (enum wire_mcp_grant_policy)i;
			out->has_policy = true;
		}
}

enum rc
export_mcp_grants(struct state *s, struct str user, struct str soul,
    struct arena *a, const struct export_to *to)
{
	struct wire_memory_export_line line = { .has_mcp_grant = true };
	struct mcp_grant *list;
	size_t i, n;
	enum rc rc = mcp_grants_read(s, user, a, &list, &n);

	for (i = 0; rc == RC_OK && i < n; i++) {
		if (soul.p != NULL && !str_eq(soul, list[i].soul_id))
			continue;
		line.mcp_grant =
		    (struct wire_mcp_grant){ .server = list[i].server,
			    .tool = list[i].tool,
			    .soul_id = list[i].soul_id };
		export_mcp_set_policy(list[i].policy, &line.mcp_grant);
		if (list[i].pin.n > 0)
			line.mcp_grant.definition = list[i].pin;
		rc = to->put(to->arg, &line);
	}
	return rc;
}

enum rc
export_mcp_evolutions(struct state *s, struct str user, struct str soul,
    struct arena *a, const struct export_to *to)
{
	struct wire_memory_export_line line = { .has_evolution = true };
	struct evolution_entries list;
	struct wire_evolution_record rec;
	struct wire_err err;
	enum rc rc = evolution_entry_list(s, user, a, &list);
	size_t i;

	for (i = 0; rc == RC_OK && i < list.n; i++) {
		if (wire_decode(&wire_evolution_record_desc, list.entry[i].json,
			a, &rec, &err) != RC_OK) {
			log_error("gateway.stored_evolution",
			    LOG_S("path", err.path), LOG_S("why", err.why));
			continue;
		}
		line.evolution = rec.evolution;
		if (soul.p == NULL || str_eq(soul, rec.evolution.soul_id))
			rc = to->put(to->arg, &line);
	}
	return rc;
}
