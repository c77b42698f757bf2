/*
 * PATCH /v1/souls/{id}: when a soul may speak unasked.
 */
#include <stdio.h>

#include "caller.h"
#include "core/arena.h"
#include "gateway.h"
#include "handlers.h"
#include "souls/soul_view.h"
#include "souls/souls_api.h"
#include "state/soul.h"
#include "state/speech.h"
#include "svc/svc.h"
#include "wire/tree.h"

static const enum speech_proactive soul_speech_values[] = {
	[WIRE_SOUL_CHANGE_REQUEST_PROACTIVE_OFF] = SPEECH_OFF,
	[WIRE_SOUL_CHANGE_REQUEST_PROACTIVE_ALARMS] = SPEECH_ALARMS,
	[WIRE_SOUL_CHANGE_REQUEST_PROACTIVE_ALL] = SPEECH_ALL,
};

/* Minutes of "HH:MM", which the schema has checked. */
static int
soul_speech_minutes(struct str s)
{
	return ((s.p[0] - '0') * 10 + s.p[1] - '0') * 60 + (s.p[3] - '0') * 10 +
	    s.p[4] - '0';
}

/* Whether the request has null, which is absent once it is decoded. */
static bool
soul_speech_removes_quiet(const struct svc_call *c)
{
	const struct wire_tree *quiet;
	struct wire_tree *v;
	bool is;

	if (wire_tree_parse(svc_call_body(c), &v) != RC_OK)
		return false;
	quiet = wire_tree_get(v, STR("quiet_hours"));
	is = quiet != NULL && wire_tree_kind(quiet) == WIRE_TREE_NULL;
	wire_tree_free(v);
	return is;
}

/* False: c has been ended. */
static bool
soul_speech_set_quiet(
    struct svc_call *c, struct str json, struct speech_settings *out)
{
	struct wire_soul_quiet_hours quiet;
	struct wire_err err;

	if (wire_decode(&wire_soul_quiet_hours_desc, json, svc_call_arena(c),
		&quiet, &err) != RC_OK) {
		gateway_reject(
		    c, RC_INVALID, "/quiet_hours%s: %s", err.path, err.why);
		return false;
	}
	out->has_quiet = true;
	out->quiet_from = soul_speech_minutes(quiet.from);
	out->quiet_to = soul_speech_minutes(quiet.to);
	out->quiet_urgent = quiet.urgent;
	return true;
}

static void
soul_speech_reply(
    struct gateway *g, struct svc_call *c, struct wire_soul *list, size_t n)
{
	(void)g;
	if (n > 0)
		svc_reply(c, &list[0]);
	else
		svc_fail(c, RC_NOENT, "soul not found");
}

void
on_souls_change(void *app, struct svc_call *c)
{
	const struct wire_soul_change_request *body = svc_call_request(c);
	struct soul *soul = arena_alloc(svc_call_arena(c), sizeof(*soul));
	struct str user, id = svc_call_param(c, 0);
	struct gateway *g = app;
	struct speech_settings x;
	enum rc rc;

	if (soul == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return;
	}
	if (!caller_user(g, c, body->user_id, &user) ||
	    !gateway_id(c, id, "soul_id"))
		return;
	rc = soul_read(g->state, user, id, svc_call_arena(c), soul);
	if (rc == RC_OK)
		rc = speech_settings_read(g->state, user, id, &x);
	if (rc != RC_OK) {
		gateway_fail_missing(c, rc, "soul not found");
		return;
	}
	if (soul_speech_removes_quiet(c))
		x.has_quiet = false;
	else if (body->quiet_hours.p != NULL &&
	    !soul_speech_set_quiet(c, body->quiet_hours, &x))
		return;
	if (body->has_proactive)
		x.proactive = soul_speech_values[body->proactive];
	rc = speech_settings_put(g->state, user, id, &x);
	if (rc != RC_OK)
		gateway_fail_missing(c, rc, "soul not found");
	else
		soul_view_read(g, c, soul, 1, soul_speech_reply);
}
