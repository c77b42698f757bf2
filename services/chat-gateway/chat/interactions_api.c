/*
 * Questions of sessions and runs: GET /v1/interactions lists those that wait;
 * POST /v1/sessions/{session_id}/reply replies to that of a session, by a turn.
 */
#include "caller.h"
#include "chat/chat_turn.h"
#include "core/arena.h"
#include "core/log.h"
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"
#include "runs/run_view.h"
#include "state/run.h"
#include "state/session.h"
#include "svc/svc.h"
#include "tool/tool_approval.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* Sessions and runs that are listed at most. */
#define SESSIONS_LISTED 64
#define RUNS_LISTED     64

/* ---- list ---- */

struct interaction_list {
	struct gateway *g;
	struct arena *a;
	struct str user;
	struct wire_interaction_list rep;
};

/* One that cannot be read, or has expired, does not wait. */
static enum rc
interactions_add_session(
    struct interaction_list *l, const struct session_approval *s)
{
	struct wire_interaction_list_interactions *to =
	    &l->rep.interactions[l->rep.n_interactions];
	struct wire_session_approval m;
	struct wire_err err;
	enum rc rc;

	rc = wire_decode(
	    &wire_session_approval_desc, s->approval, l->a, &m, &err);
	if (rc == RC_INVALID)
		log_error("gateway.approval", LOG_V("session", s->session_id),
		    LOG_S("path", err.path), LOG_S("why", err.why));
	if (rc == RC_INVALID ||
	    (rc == RC_OK && m.expires_ms <= clock_wall().ms))
		return RC_OK;
	if (rc != RC_OK)
		return rc;
	*to = (struct wire_interaction_list_interactions){
		.interaction_id = m.interaction_id,
		.session_id = s->session_id,
		.kind = WIRE_QUESTION_KIND_SINGLE_CHOICE,
		.prompt = m.prompt,
		.options = (struct wire_question_option *)(uintptr_t)
		    tool_approval_options(m.chinese),
		.n_options = TOOL_APPROVAL_OPTIONS_N,
		.has_options = true,
		.has_tool = true,
		.tool = { .name = m.name,
		    .server = m.server,
		    .tool = m.tool,
		    .arguments = m.arguments },
	};
	to->expires_at = wall_text((struct wall){ m.expires_ms }, 0, l->a);
	if (to->expires_at.p == NULL)
		return RC_TOOBIG;
	l->rep.n_interactions++;
	return RC_OK;
}

/* A run that was deleted meanwhile, or does not wait any more, is left out. */
static enum rc
interactions_add_run(struct interaction_list *l, struct str run_id)
{
	struct wire_interaction_list_interactions *to =
	    &l->rep.interactions[l->rep.n_interactions];
	struct wire_run_record view;
	struct run_record rec;
	enum rc rc;

	rc = run_read(l->g->state, run_id, l->a, &rec);
	if (rc == RC_OK)
		rc = run_view_record(&rec, l->a, &view);
	if (rc == RC_NOENT || rc == RC_INVALID ||
	    (rc == RC_OK && !view.has_interaction))
		return RC_OK;
	if (rc != RC_OK)
		return rc;
	*to = (struct wire_interaction_list_interactions){
		.interaction_id = view.interaction.interaction_id,
		.run_id = rec.run_id,
		.kind = view.interaction.kind,
		.prompt = view.interaction.prompt,
		.options = view.interaction.options,
		.n_options = view.interaction.n_options,
		.has_options = view.interaction.has_options,
		.fields = view.interaction.fields,
		.n_fields = view.interaction.n_fields,
		.has_fields = view.interaction.has_fields,
		.expires_at = view.reply_until,
	};
	l->rep.n_interactions++;
	return RC_OK;
}

static enum rc
interactions_add_sessions(struct interaction_list *l)
{
	struct session_approval_list found;
	enum rc rc;
	size_t i;

	rc = session_list_approvals(
	    l->g->state, l->user, SESSIONS_LISTED, l->a, &found);
	for (i = 0; rc == RC_OK && i < found.n; i++)
		rc = interactions_add_session(l, &found.list[i]);
	return rc;
}

static enum rc
interactions_add_runs(struct interaction_list *l)
{
	struct run_page p = { .max = RUN_PAGE_MAX };
	size_t i, n = 0;
	enum rc rc;

	rc = run_list(l->g->state, l->user, l->a, &p);
	for (i = 0; rc == RC_OK && i < p.n && n < RUNS_LISTED; i++) {
		if (p.run[i].status != RUN_IS_WAITING)
			continue;
		n++;
		rc = interactions_add_run(l, p.run[i].run_id);
	}
	return rc;
}

void
on_interactions(void *app, struct svc_call *c)
{
	struct interaction_list l = { .g = app, .a = svc_call_arena(c) };
	struct str which = svc_call_query(c, "state");
	enum rc rc;

	if (!str_eq(which, STR("waiting"))) {
		svc_fail(c, RC_INVALID, "state: must be waiting");
		return;
	}
	if (!caller_query_user(l.g, c, &l.user))
		return;
	l.rep.interactions = arena_alloc(
	    l.a, (SESSIONS_LISTED + RUNS_LISTED) * sizeof(*l.rep.interactions));
	rc = l.rep.interactions != NULL ? interactions_add_sessions(&l)
					: RC_TOOBIG;
	if (rc == RC_OK)
		rc = interactions_add_runs(&l);
	if (rc == RC_OK)
		svc_reply(c, &l.rep);
	else
		gateway_fail(c, rc);
}

/* ---- reply ---- */

/* The user's text in the conversation. */
static struct str
reply_text(struct str content)
{
	static const struct {
		struct str value, text;
	} rows[] = {
		{ STR_INIT(TOOL_APPROVAL_THIS_TIME),
		    STR_INIT("这次可以 (once)") },
		{ STR_INIT(TOOL_APPROVAL_ALWAYS),
		    STR_INIT("一直可以 (always)") },
		{ STR_INIT(TOOL_APPROVAL_NO), STR_INIT("不要 (no)") },
	};
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		if (str_eq(rows[i].value, content))
			return rows[i].text;
	return content;
}

/*
 * The turn's input: two replies with one key, or to one question without keys,
 * repeat each other.
 */
static struct wire_chat_request *
reply_chat(struct svc_call *c, struct str session, struct str terminal)
{
	const struct wire_interaction_reply *body = svc_call_request(c);
	struct arena *a = svc_call_arena(c);
	struct wire_chat_request *chat = arena_alloc(a, sizeof(*chat));
	struct wire_chat_request_inputs *in = arena_alloc(a, sizeof(*in));

	if (chat == NULL || in == NULL)
		return NULL;
	*in = (struct wire_chat_request_inputs){
		.input_id = body->idempotency_key.n > 0 ? body->idempotency_key
							: body->interaction_id,
		.type = WIRE_CHAT_REQUEST_INPUTS_TYPE_KEYBOARD_TEXT,
		.text = reply_text(body->content),
	};
	*chat = (struct wire_chat_request){ .session_id = session,
		.terminal_id = terminal,
		.inputs = in,
		.n_inputs = 1 };
	return chat;
}

void
on_sessions_reply(void *app, struct svc_call *c)
{
	const struct wire_interaction_reply *body = svc_call_request(c);
	struct str session = svc_call_param(c, 0), user;
	struct chat_turn_request req = {
		.interaction_id = body->interaction_id,
		.content = body->content,
	};
	struct gateway *g = app;
	struct session rec;
	enum rc rc;

	if (!caller_user(g, c, body->user_id, &user) ||
	    !gateway_id(c, session, "session_id"))
		return;
	rc = session_read(g->state, &(struct session_key){ user, session },
	    svc_call_arena(c), &rec);
	if (rc == RC_OK && (!rec.known || rec.terminal_id.n == 0))
		rc = RC_NOENT;
	if (rc == RC_OK) {
		req.chat = reply_chat(c, session, rec.terminal_id);
		rc = req.chat != NULL ? RC_OK : RC_TOOBIG;
	}
	if (rc == RC_OK)
		chat_turn_start(g, c, user, &req);
	else
		gateway_fail_missing(c, rc, "session not found");
}
