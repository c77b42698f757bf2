#include "tool_call.h"

#include <stdio.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "catalogue.h"
#include "clean_text.h"
#include "context.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/metric.h"
#include "instance.h"
#include "mcp_connection.h"
#include "mcp_session.h"
#include "presence.h"
#include "result_content.h"
#include "rpc.h"
#include "state/mcp.h"
#include "svc/svc.h"
#include "tool_server.h"
#include "toolbox.h"
#include "user_grants.h"
#include "wire/slice.h"

#define ALIVE_MS   2000
#define TIMEOUT_MS 60000
#define PROVIDER   "mcp-host"
/* Of an image for a model: its base64, so that it fits into a reply beside the
 * text; its media type, as of the schema. */
#define IMAGE_MAX      716800
#define IMAGE_TYPE_MAX 64
/* Bytes of a text of an error, and of progress. */
#define ERROR_MAX    2048
#define USE_ARENA    4096
#define PROGRESS_MAX 256

/* ---- replies ---- */

void
tool_call_progress(struct tool_call *t, const struct wire_tool_call_reply *r)
{
	struct buf json = BUF_INIT(BUS_PAYLOAD_MAX);

	if (t->svc != NULL) {
		svc_progress(t->svc, r);
		return;
	}
	if (wire_encode(&wire_tool_call_reply_desc, r, &json, NULL) == RC_OK)
		(void)!bus_reply_partial(t->msg, buf_str(&json));
	buf_free(&json);
}

static void
call_on_alive(void *arg)
{
	struct tool_call *t = arg;
	const struct wire_tool_call_reply r = { .call_id = t->q->call_id,
		.state = WIRE_TOOL_CALL_REPLY_STATE_RUNNING };

	loop_timer_set(t->host->loop, &t->alive,
	    mono_add_ms(clock_mono(), ALIVE_MS), call_on_alive, t);
	tool_call_progress(t, &r);
}

static void
call_reply(struct tool_call *t)
{
	struct buf json = BUF_INIT(BUS_PAYLOAD_MAX);
	struct wire_err err;

	t->rep.call_id = t->q->call_id;
	t->rep.state = WIRE_TOOL_CALL_REPLY_STATE_ENDED;
	if (t->svc != NULL) {
		svc_reply(t->svc, &t->rep);
		return;
	}
	if (wire_encode(&wire_tool_call_reply_desc, &t->rep, &json, &err) ==
	    RC_OK) {
		(void)!bus_reply(t->msg, buf_str(&json));
	} else {
		log_error("mcp.reply", LOG_S("path", err.path),
		    LOG_S("why", err.why));
		bus_msg_free(t->msg);
	}
	buf_free(&json);
}

void
tool_call_fail(struct tool_call *t, const char *code, const char *text)
{
	t->rep = (struct wire_tool_call_reply){
		.has_ok = true,
		.has_error = true,
		.error = { str_of(code), arena_str(t->a, str_of(text)) },
	};
	if (t->rep.error.message.n == 0)
		t->rep.error.message = str_of(code);
}

/* ---- whether it may be made ---- */

static bool
call_find_tool(struct tool_call *t)
{
	if (user_tools_get(t->host, t->q->user_id, &t->tools) != RC_OK) {
		tool_call_fail(t, "SERVER_UNAVAILABLE",
		    "the user's tools are not known at the moment");
		return false;
	}
	t->tool = toolbox_find(t->tools.box, t->q->name);
	if (t->tool != NULL)
		return true;
	tool_call_fail(t, "UNKNOWN_TOOL", "there is no such tool");
	return false;
}

static bool
call_seal(const struct tool_call *t, char dst[TOOL_DIGEST_MAX])
{
	const struct tool_sealed_call c = { .provider = STR(PROVIDER),
		.server = str_of(t->tool->server->conf->name),
		.tool = t->tool->tool->name,
		.definition = str_of(t->tool->definition),
		.arguments = t->q->arguments };

	return tool_seal(&c, dst) == RC_OK;
}

static void
call_fail_changed(struct tool_call *t)
{
	tool_call_fail(t, "DEFINITION_CHANGED",
	    "the tool is not what it was: its definition has changed");
}

static bool
call_is_allowed(struct tool_call *t)
{
	char seal[TOOL_DIGEST_MAX];
	struct user_grants grants;
	struct grant_decision d;
	struct grant_call c = { .definition = str_of(t->tool->definition),
		.requested = t->q->definition };

	if (user_grants_read(t->host, t->q->user_id, t->a, &grants) != RC_OK) {
		tool_call_fail(t, "SERVER_UNAVAILABLE",
		    "what the user has allowed is not known at the moment");
		return false;
	}
	if (!call_seal(t, seal)) {
		tool_call_fail(
		    t, "INVALID_ARGUMENTS", "the arguments are too long");
		return false;
	}
	c.seal = str_of(seal);
	if (t->q->has_approval)
		c.approved = t->q->approval.seal;
	d = user_grants_decide(&grants, t->tool, t->q->soul_id);
	switch (grant_check(&d, &c)) {
	case GRANT_ALLOWED:
		return true;
	case GRANT_FORBIDDEN:
		tool_call_fail(t, "FORBIDDEN", "the tool may not be called");
		return false;
	case GRANT_APPROVAL_REQUIRED:
		tool_call_fail(t, "APPROVAL_REQUIRED",
		    "the user has to approve this call");
		return false;
	case GRANT_DEFINITION_CHANGED:
		break;
	}
	call_fail_changed(t);
	return false;
}

/*
 * "Always" is stored before anything is executed, and announced, as other
 * replicas of the orchestrator have lists in which the tool asks.
 */
static bool
call_store_grant(struct tool_call *t)
{
	if (!t->q->has_approval ||
	    t->q->approval.scope !=
		WIRE_TOOL_CALL_REQUEST_APPROVAL_SCOPE_ALWAYS)
		return true;
	if (user_grants_allow(t->host, t->q->user_id, t->q->soul_id, t->tool) ==
	    RC_OK) {
		presence_changed(t->host->presence, t->q->user_id);
		return true;
	}
	tool_call_fail(t, "SERVER_UNAVAILABLE",
	    "the approval cannot be stored at the moment");
	return false;
}

/* ---- the result ---- */

/* Store a part's bytes; its id, absent if that is not possible. */
static struct str
call_store_part(struct tool_call *t, const struct result_part *p)
{
	char id[ID_HEX32_MAX];
	enum rc rc;

	id_hex32(id);
	rc = mcp_content_put(t->host->state, t->q->user_id,
	    &(struct mcp_content){ str_of(id), p->mime_type, p->data });
	if (rc == RC_OK)
		return arena_str(t->a, str_of(id));
	log_info(
	    "mcp.content_not_stored", LOG_I("bytes", p->bytes), LOG_RC(rc));
	return (struct str){ NULL, 0 };
}

/* The first image, for models that can see. */
static void
call_put_image(struct tool_call *t, const struct result_part *p)
{
	struct wire_tool_call_reply_images *image;

	if (t->rep.has_images || p->kind != RESULT_IMAGE || p->data.n == 0 ||
	    p->data.n > IMAGE_MAX || p->mime_type.n > IMAGE_TYPE_MAX)
		return;
	image = arena_alloc(t->a, sizeof(*image));
	if (image == NULL)
		return;
	*image = (struct wire_tool_call_reply_images){ p->mime_type, p->data };
	t->rep.images = image;
	t->rep.n_images = 1;
	t->rep.has_images = true;
}

static void
call_put_parts(struct tool_call *t, const struct result_content *r)
{
	struct wire_tool_call_reply_content_left_out *out =
	    arena_alloc(t->a, (r->n_parts + 1) * sizeof(*out));

	if (out == NULL || r->n_parts == 0)
		return;
	for (size_t i = 0; i < r->n_parts; i++) {
		out[i] = (struct wire_tool_call_reply_content_left_out){
			.id = call_store_part(t, &r->parts[i]),
			.type = str_of(result_kind_name(r->parts[i].kind)),
			.mime_type = r->parts[i].mime_type,
			.bytes = (int64_t)r->parts[i].bytes
		};
		call_put_image(t, &r->parts[i]);
	}
	t->rep.content_left_out = out;
	t->rep.n_content_left_out = r->n_parts;
	t->rep.has_content_left_out = true;
}

static void
call_read_result(struct tool_call *t)
{
	struct result_content *r = mem_zalloc(sizeof(*r));
	struct str json = buf_str(&t->result);

	if (str_eq(rpc_member(json, STR("resultType")),
		STR("\"input_required\""))) {
		tool_call_fail(t, "TOOL_ERROR",
		    "the tool needs input of the user, which it cannot get");
		t->rep.text = STR("");
	} else if (result_content_read(json, t->a, r) != RC_OK) {
		tool_call_fail(
		    t, "TOOL_ERROR", "the tool's result cannot be read");
		t->rep.text = STR("");
	} else {
		t->rep = (struct wire_tool_call_reply){ .has_ok = true,
			.ok = !r->is_error,
			.text = r->text,
			.structured = arena_str(t->a, r->structured) };
		if (r->is_error) {
			t->rep.has_error = true;
			t->rep.error.code = STR("TOOL_ERROR");
			t->rep.error.message = STR("the tool reports an error");
		}
		call_put_parts(t, r);
	}
	free(r);
}

static void
call_read_error(struct tool_call *t)
{
	struct buf text = BUF_INIT(TOOLBOX_DESCRIPTION_MAX);
	struct buf line = BUF_INIT(ERROR_MAX);

	wire_text_put(buf_str(&t->result), &text);
	clean_text_line(buf_str(&text), ERROR_MAX - 1, &line);
	tool_call_fail(t,
	    t->code == RPC_INVALID_PARAMS ? "INVALID_ARGUMENTS" : "TOOL_ERROR",
	    line.p != NULL ? line.p : "");
	t->rep.text = t->rep.error.message;
	buf_free(&text);
	buf_free(&line);
}

static void
call_read_end(struct tool_call *t)
{
	switch ((enum mcp_call_end)t->how) {
	case MCP_CALL_RESULT:
		call_read_result(t);
		break;
	case MCP_CALL_ERROR:
		call_read_error(t);
		break;
	case MCP_CALL_TIMEOUT:
		tool_call_fail(t, "TIMEOUT",
		    "the tool has not ended in time; it may have acted");
		break;
	case MCP_CALL_LOST:
	case MCP_CALL_CANCELED:
		tool_call_fail(t, "NOT_CONFIRMED",
		    "it is not known whether the tool has acted");
		break;
	case MCP_CALL_NOT_SENT:
		tool_call_fail(t, "SERVER_UNAVAILABLE",
		    "the tool's server is not available");
		break;
	}
}

/* ---- the call at an instance ---- */

static double
call_number(struct str json, bool *has)
{
	double v = 0;

	*has = str_to_f64(json, 0, 9007199254740991.0, &v) == RC_OK;
	return v;
}

static void
call_on_progress(void *arg, const struct rpc_message *m)
{
	struct tool_call *t = arg;
	struct buf text = BUF_INIT(TOOLBOX_DESCRIPTION_MAX);
	struct buf line = BUF_INIT(PROGRESS_MAX);
	struct wire_tool_call_reply r = { .call_id = t->q->call_id,
		.state = WIRE_TOOL_CALL_REPLY_STATE_RUNNING };

	r.progress = call_number(m->progress, &r.has_progress);
	r.total = call_number(m->total, &r.has_total);
	wire_text_put(m->progress_text, &text);
	clean_text_line(buf_str(&text), PROGRESS_MAX - 1, &line);
	if (line.n > 0)
		r.message = buf_str(&line);
	tool_call_progress(t, &r);
	buf_free(&text);
	buf_free(&line);
}

static void
call_on_end(void *arg, enum mcp_call_end end, int64_t code, struct str json)
{
	struct tool_call *t = arg;

	t->open = NULL;
	t->ended = true;
	t->how = end;
	t->code = code;
	buf_reset(&t->result);
	buf_put_str(&t->result, json);
	host_wake(&t->waits);
}

static int64_t
call_left_ms(const struct tool_call *t)
{
	return mono_diff_ms(t->end, clock_mono());
}

/* False: nothing was sent, and t->rep says why. */
static bool
call_send(struct tool_call *t)
{
	struct mcp_connection *c = instance_connection(t->instance);
	const struct mcp_server *conf = t->tool->server->conf;
	struct mcp_call_opts o = { .name = t->tool->tool->name,
		.arguments = t->q->arguments,
		.schema = t->tool->tool->schema,
		.timeout_ms =
		    conf->timeout_ms > 0 ? conf->timeout_ms : TIMEOUT_MS,
		.max_ms = call_left_ms(t),
		.handler = { call_on_progress, call_on_end, t } };
	enum rc rc = RC_DOWN;

	t->ended = false;
	if (t->canceled) {
		tool_call_fail(t, "SERVER_UNAVAILABLE",
		    "the call was canceled before it was sent");
		return false;
	}
	/* This process may list another tool than the one that is known. */
	if (c != NULL &&
	    !toolbox_tool_is_in(
		t->tool, mcp_session_tools(mcp_connection_session(c)))) {
		log_warn("mcp.tool_changed",
		    LOG_S("server", t->tool->server->label),
		    LOG_V("tool", t->tool->tool->name));
		call_fail_changed(t);
		return false;
	}
	if (c != NULL)
		rc = mcp_connection_call(c, &o, &t->open);
	if (rc == RC_RETRY)
		tool_call_fail(t, "BUSY", "the tool's server is busy");
	else if (rc != RC_OK)
		tool_call_fail(t, "SERVER_UNAVAILABLE",
		    "the tool's server is not available");
	return rc == RC_OK;
}

static void
call_fail_instance(struct tool_call *t, enum instance_state st)
{
	char text[320];

	if (st == INSTANCE_BUSY) {
		tool_call_fail(
		    t, "BUSY", "as many servers run as may: try again later");
		return;
	}
	(void)snprintf(text, sizeof(text),
	    "the tool's server is not available: %s",
	    st == INSTANCE_STARTING ? "it is starting"
				    : instance_why(t->instance));
	tool_call_fail(t, "SERVER_UNAVAILABLE", text);
}

/*
 * Once, or a second time if the server has lost the session, and so has not
 * executed it.  What was passed on is not passed on a second time.
 */
static void
call_make(struct tool_call *t)
{
	enum instance_state st;

	for (int tries = 0; tries < 2; tries++) {
		t->instance =
		    instance_of(t->host, t->tool->server, t->q->user_id);
		instance_hold(t->instance);
		st = instance_await(t->instance, call_left_ms(t));
		if (st == INSTANCE_ELSEWHERE && t->msg == NULL) {
			if (tool_call_pass(t)) {
				instance_release(t->instance);
				return;
			}
			st = INSTANCE_FAILED;
		}
		if (st != INSTANCE_READY) {
			call_fail_instance(t, st);
		} else if (call_send(t)) {
			while (!t->ended)
				(void)host_wait(t->host, &t->waits, ALIVE_MS);
			call_read_end(t);
		}
		instance_release(t->instance);
		if (st != INSTANCE_READY || !t->ended ||
		    t->how != MCP_CALL_NOT_SENT)
			return;
	}
}

/* ---- all of it ---- */

static void
call_count(struct tool_call *t)
{
	metric_add(tool_server_calls(t->tool->server, svc_metrics(t->host->svc),
		       t->rep.ok ? STR("ok") : t->rep.error.code),
	    1);
	metric_observe(t->host->call_seconds,
	    (double)mono_diff_ns(clock_mono(), t->began) / 1e9);
}

/* A use of a tool that is stored while the reply is on its way. */
struct call_use {
	struct host *host;
	struct arena *a;
	struct str user_id, session_id;
	struct mcp_used used;
};

static void
call_use_fiber(void *arg)
{
	struct call_use *u = arg;

	/* It only ranks the next list. */
	(void)!mcp_used_add(
	    u->host->state, u->user_id, u->session_id, &u->used);
	svc_release(u->host->svc);
	arena_free(u->a);
}

static void
call_remember_use(struct tool_call *t)
{
	struct arena *a = arena_new(USE_ARENA);
	struct call_use *u = arena_alloc(a, sizeof(*u));

	if (!t->rep.ok || u == NULL) {
		arena_free(a);
		return;
	}
	*u = (struct call_use){ .host = t->host,
		.a = a,
		.user_id = arena_str(a, t->q->user_id),
		.session_id = arena_str(a, t->q->session_id),
		.used = { arena_str(a, str_of(t->tool->server->conf->name)),
		    arena_str(a, t->tool->tool->name) } };
	svc_hold(t->host->svc);
	fiber_start(call_use_fiber, u);
}

static void
call_execute(struct tool_call *t)
{
	if (t->msg == NULL && !call_store_grant(t))
		return;
	call_make(t);
}

void
tool_call_run(struct tool_call *t)
{
	buf_init(&t->result, RESULT_MAX);
	call_on_alive(t);
	if (map_get(t->host->calls, t->q->call_id) == NULL) {
		(void)map_put(t->host->calls, t->q->call_id, t);
		t->listed = true;
	}
	if (call_find_tool(t) && call_is_allowed(t)) {
		/* Who has passed it on has claimed it. */
		if (t->msg != NULL) {
			call_execute(t);
		} else if (tool_call_claim(t)) {
			call_execute(t);
			tool_call_store(t);
			call_remember_use(t);
			call_count(t);
		}
	}
	loop_timer_cancel(t->host->loop, &t->alive);
	if (t->listed)
		(void)map_del(t->host->calls, t->q->call_id);
	call_reply(t);
	user_tools_free(&t->tools);
	buf_free(&t->result);
}

void
tool_call_cancel(struct tool_call *t)
{
	t->canceled = true;
	if (t->open != NULL)
		mcp_call_cancel(t->open);
	host_wake(&t->waits);
}
