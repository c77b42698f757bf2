/*
 * POST /v1/souls/{soul_id}/mcp: the soul as an MCP server.  Each tool is one of
 * the other routes, whose response becomes the tool's result.
 */
#include "caller.h"
#include "chat/chat_turn.h"
#include "chat/soul_chat.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"
#include "soul_mcp/mcp_view.h"
#include "state/soul.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* How long a skill may take. */
#define SKILL_MS 30000

/* In the memory of its call. */
struct soul_mcp {
	struct gateway *g;
	struct svc_call *c;
	const struct wire_soul_mcp_request *req;
	struct wire_soul_mcp_arguments args;
	struct soul_chat chat; /* user, and the soul once it was found */
	struct svc_form form;
	struct svc_form_query query[3];
	/* The request of a tool's route. */
	union {
		struct wire_speech_body speech;
		struct wire_invoke_body invoke;
		struct wire_alarm_new alarm;
	} body;
};

/* ---- responses ---- */

/* 500 if it does not fit; the client has its id. */
static int
soul_mcp_end(struct soul_mcp *m, enum rc rc, struct buf *out)
{
	if (rc == RC_OK)
		return 200;
	buf_reset(out);
	rc = mcp_write_error(
	    m->req->id, MCP_INTERNAL, STR("the result is too large"), out);
	return rc == RC_OK ? 200 : 500;
}

static int
soul_mcp_put_outcome(void *arg, int status, struct str json, struct buf *out)
{
	struct buf result = BUF_INIT(2 * WIRE_MESSAGE_MAX);
	struct soul_mcp *m = arg;
	enum rc rc = mcp_put_outcome(status, json, &result);

	if (rc == RC_OK)
		rc = mcp_write_result(m->req->id, buf_str(&result), out);
	buf_free(&result);
	return soul_mcp_end(m, rc, out);
}

/* What is no tool's: json is the result, or an error of JSON-RPC. */
static int
soul_mcp_put_result(void *arg, int status, struct str json, struct buf *out)
{
	struct soul_mcp *m = arg;

	(void)status;
	return soul_mcp_end(m, mcp_write_result(m->req->id, json, out), out);
}

static int
soul_mcp_put_error(void *arg, int status, struct str json, struct buf *out)
{
	struct soul_mcp *m = arg;

	(void)status;
	buf_put_str(out, json);
	return soul_mcp_end(m, buf_rc(out), out);
}

static int
soul_mcp_put_nothing(void *arg, int status, struct str json, struct buf *out)
{
	(void)arg;
	(void)status;
	(void)json;
	(void)out;
	return 202;
}

static void
soul_mcp_reply(struct soul_mcp *m,
    int (*put)(void *arg, int status, struct str json, struct buf *out),
    struct str json)
{
	m->form.put = put;
	svc_call_as(m->c, &m->form);
	svc_reply_encoded(m->c, json);
}

static void
soul_mcp_reject(struct soul_mcp *m, int code, struct str text)
{
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);

	if (mcp_write_error(m->req->id, code, text, &out) == RC_OK)
		soul_mcp_reply(m, soul_mcp_put_error, buf_str(&out));
	else
		svc_fail(m->c, RC_BUG, "the error could not be encoded");
	buf_free(&out);
}

/* ---- tools ---- */

static const struct svc_route *
soul_mcp_route(void (*fn)(void *app, struct svc_call *c))
{
	for (size_t i = 0; i < ROUTES_N; i++)
		if (routes[i].fn == fn)
			return &routes[i];
	return NULL;
}

/* Continue as the route of fn. */
static void
soul_mcp_become(struct soul_mcp *m, void (*fn)(void *app, struct svc_call *c),
    struct str param, const void *request)
{
	m->form.route = soul_mcp_route(fn);
	m->form.param = param;
	m->form.request = request;
	svc_call_as(m->c, &m->form);
	fn(m->g, m->c);
}

static void
soul_mcp_chat(struct soul_mcp *m)
{
	struct soul_chat *s = &m->chat;
	struct str session = m->args.session_id;

	m->form.route = soul_mcp_route(on_chat);
	svc_call_as(m->c, &m->form);
	if (session.n == 0)
		session = arena_printf(
		    svc_call_arena(m->c), "mcp-%.*s", STR_ARG(s->chat.soul_id));
	if (gateway_trim_text(m->args.text).n == 0) {
		svc_fail(m->c, RC_INVALID, "/text: must not be empty");
		return;
	}
	if (!soul_chat_find(s, "soul", s->chat.soul_id, s->chat.terminal_id) ||
	    !soul_chat_set(s, m->args.text, session, (struct str){ 0 }))
		return;
	chat_turn_start(m->g, m->c, s->user,
	    &(struct chat_turn_request){
		.chat = &s->chat, .terminal = &s->terminal });
}

static void
soul_mcp_speak(struct soul_mcp *m)
{
	m->body.speech = (struct wire_speech_body){
		.text = m->args.text, .about = m->args.about, .expires_s = 600
	};
	soul_mcp_become(m, on_users_speak, m->chat.user, &m->body.speech);
}

static void
soul_mcp_invoke(struct soul_mcp *m)
{
	struct soul_chat *s = &m->chat;

	m->form.route = soul_mcp_route(on_terminals_invoke);
	svc_call_as(m->c, &m->form);
	if (m->args.skill.n == 0) {
		svc_fail(m->c, RC_INVALID, "/skill: is missing");
		return;
	}
	if (!soul_chat_find(s, "soul", s->chat.soul_id, s->chat.terminal_id))
		return;
	m->body.invoke = (struct wire_invoke_body){ .user_id = s->user,
		.skill = m->args.skill,
		.arguments = m->args.arguments,
		.timeout_ms = SKILL_MS };
	soul_mcp_become(
	    m, on_terminals_invoke, s->chat.terminal_id, &m->body.invoke);
}

static void
soul_mcp_recall(struct soul_mcp *m)
{
	m->query[0] = (struct svc_form_query){ "query", m->args.query };
	m->query[1] =
	    (struct svc_form_query){ "soul_id", m->chat.chat.soul_id };
	m->form.query = m->query;
	if (m->args.query.n > 0) {
		soul_mcp_become(m, on_memories_list, (struct str){ 0 }, NULL);
		return;
	}
	svc_call_as(m->c, &m->form);
	svc_fail(m->c, RC_INVALID, "/query: is missing");
}

static void
soul_mcp_alarms(struct soul_mcp *m)
{
	switch (m->args.action) {
	case WIRE_SOUL_MCP_ARGUMENTS_ACTION_SET:
		m->body.alarm = (struct wire_alarm_new){
			.user_id = m->chat.user,
			.soul_id = m->chat.chat.soul_id,
			.kind = WIRE_ALARM_NEW_KIND_REMINDER,
			.text = m->args.text,
			.when = m->args.when,
		};
		soul_mcp_become(
		    m, on_alarms_set, (struct str){ 0 }, &m->body.alarm);
		break;
	case WIRE_SOUL_MCP_ARGUMENTS_ACTION_CANCEL:
		soul_mcp_become(m, on_alarms_cancel, m->args.alarm_id, NULL);
		break;
	case WIRE_SOUL_MCP_ARGUMENTS_ACTION_LIST:
	default:
		soul_mcp_become(m, on_alarms_list, (struct str){ 0 }, NULL);
		break;
	}
}

static const struct {
	const char *name;
	void (*fn)(struct soul_mcp *m);
} soul_mcp_tools[] = {
	{ "chat", soul_mcp_chat },
	{ "say", soul_mcp_speak },
	{ "invoke_skill", soul_mcp_invoke },
	{ "recall", soul_mcp_recall },
	{ "alarms", soul_mcp_alarms },
};

static void
soul_mcp_call(struct soul_mcp *m)
{
	struct arena *a = svc_call_arena(m->c);
	struct wire_soul_mcp_call call;
	struct wire_err err;
	char why[WIRE_ERR_TEXT_MAX];

	if (wire_decode(&wire_soul_mcp_call_desc,
		m->req->params.n > 0 ? m->req->params : STR("{}"), a, &call,
		&err) != RC_OK) {
		wire_err_text(&err, why, sizeof(why));
		soul_mcp_reject(m, MCP_INVALID_PARAMS, str_of(why));
		return;
	}
	m->form.put = soul_mcp_put_outcome;
	for (size_t i = 0; i < NELEM(soul_mcp_tools); i++) {
		if (!str_eq(call.name, str_of(soul_mcp_tools[i].name)))
			continue;
		if (wire_decode(&wire_soul_mcp_arguments_desc,
			call.arguments.n > 0 ? call.arguments : STR("{}"), a,
			&m->args, &err) == RC_OK) {
			soul_mcp_tools[i].fn(m);
			return;
		}
		wire_err_text(&err, why, sizeof(why));
		svc_call_as(m->c, &m->form);
		svc_fail(m->c, RC_INVALID, why);
		return;
	}
	soul_mcp_reject(m, MCP_INVALID_PARAMS, STR("unknown tool"));
}

/* ---- methods ---- */

static void
soul_mcp_hello(struct soul_mcp *m, const struct soul *soul)
{
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);

	if (mcp_put_hello(m->req->params, soul->name, svc_version(), &out) ==
	    RC_OK)
		soul_mcp_reply(m, soul_mcp_put_result, buf_str(&out));
	else
		svc_fail(m->c, RC_TOOBIG, "the name is too long");
	buf_free(&out);
}

static void
soul_mcp_dispatch(struct soul_mcp *m, const struct soul *soul)
{
	const struct str method = m->req->method;

	/* Notifications, and responses to what is never requested. */
	if (m->req->id.n == 0 || method.n == 0)
		soul_mcp_reply(m, soul_mcp_put_nothing, STR(""));
	else if (str_eq(method, STR("initialize")))
		soul_mcp_hello(m, soul);
	else if (str_eq(method, STR("ping")))
		soul_mcp_reply(m, soul_mcp_put_result, STR("{}"));
	else if (str_eq(method, STR("tools/list")))
		soul_mcp_reply(m, soul_mcp_put_result, str_of(mcp_tools));
	else if (str_eq(method, STR("tools/call")))
		soul_mcp_call(m);
	else
		soul_mcp_reject(m, MCP_UNKNOWN_METHOD, STR("unknown method"));
}

void
on_soul_mcp(void *app, struct svc_call *c)
{
	struct arena *a = svc_call_arena(c);
	struct soul_mcp *m = arena_alloc(a, sizeof(*m));
	struct gateway *g = app;
	struct str user, id = svc_call_param(c, 0);
	struct soul soul;
	enum rc rc;

	if (!caller_query_user(g, c, &user) || !gateway_id(c, id, "soul_id"))
		return;
	rc = m != NULL ? soul_read(g->state, user, id, a, &soul) : RC_TOOBIG;
	if (rc != RC_OK) {
		gateway_fail_missing(c, rc, "soul not found");
		return;
	}
	*m = (struct soul_mcp){ .g = g,
		.c = c,
		.req = svc_call_request(c),
		.chat = { .g = g, .c = c, .user = user },
		.form = { .user_id = user, .arg = m } };
	m->chat.chat.soul_id = id;
	m->form.route = soul_mcp_route(on_soul_mcp);
	soul_mcp_dispatch(m, &soul);
}
