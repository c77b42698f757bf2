/*
 * GET /v1/terminals/{terminal_id}/reports: what a body reported, in full.
 */
#include "core/arena.h"
#include "core/log.h"
#include "gateway.h"
#include "handlers.h"
#include "state/terminal.h"
#include "svc/svc.h"
#include "terminals/terminals_api.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* Whether msg is what was stored; what is invalid is logged. */
static bool
reports_decode(
    struct str json, const struct wire_desc *d, struct arena *a, void *msg)
{
	struct wire_err err;

	if (json.p == NULL)
		return false;
	if (wire_decode(d, json, a, msg, &err) == RC_OK)
		return true;
	log_error("gateway.stored", LOG_S("message", wire_desc_name(d)),
	    LOG_S("path", err.path), LOG_S("why", err.why));
	return false;
}

/* What out refers to is in a. */
static enum rc
reports_view(const struct terminal *t, struct str id, struct arena *a,
    struct wire_terminal_reports *out)
{
	struct wire_terminal brief;
	struct wire_skills_report skills;
	struct wire_intent_catalog_report catalog;
	enum rc rc = terminal_view_put(t, id, a, a, &brief);

	if (rc != RC_OK)
		return rc;
	*out = (struct wire_terminal_reports){ .terminal_id = id,
		.online = brief.online,
		.last_seen = brief.last_seen,
		.skill_version = brief.skill_version,
		.catalog_version = brief.catalog_version,
		.has_refused = brief.has_refused,
		.refused = brief.refused,
		.n_refused = brief.n_refused };
	if (reports_decode(t->skills, &wire_skills_report_desc, a, &skills)) {
		out->has_skills = true;
		out->skills = skills.skills;
		out->n_skills = skills.n_skills;
	}
	if (reports_decode(
		t->catalog, &wire_intent_catalog_report_desc, a, &catalog)) {
		out->has_intent_catalog = true;
		out->intent_catalog = catalog.intent_catalog;
		out->n_intent_catalog = catalog.n_intent_catalog;
		out->catalog_hash = t->catalog_hash;
	}
	return RC_OK;
}

void
on_terminals_reports(void *app, struct svc_call *c)
{
	struct str id = svc_call_param(c, 0);
	struct arena *a = arena_new(2 * GATEWAY_RECORD_MAX);
	struct wire_terminal_reports rep;
	struct terminal t = { 0 };
	enum rc rc;

	if (terminal_read_visible(app, c, id, a, &t)) {
		rc = reports_view(&t, id, a, &rep);
		if (rc == RC_OK)
			svc_reply(c, &rep);
		else
			gateway_fail(c, rc);
	}
	arena_free(a);
}
