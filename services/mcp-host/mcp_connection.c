#include "mcp_connection.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "catalogue.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "rpc.h"

struct mcp_call {
	LIST_ENTRY(mcp_call) link;
	struct mcp_connection *connection;
	struct mcp_call_handler h;
	int64_t id;
	int64_t timeout_ms;
	struct mono end; /* of all */
	struct loop_timer timer;
	bool canceled;
};

struct mcp_connection {
	struct mcp_connection_opts o;
	struct transport *transport;
	struct mcp_session *session;
	LIST_HEAD(, mcp_call) calls;
	size_t n_calls;
	struct loop_timer timer;
	const char *why; /* of its end; NULL: the transport's */
	bool ending;     /* on_closed is about to come */
};

/* ---- calls ---- */

static void
call_end(
    struct mcp_call *c, enum mcp_call_end end, int64_t code, struct str json)
{
	LIST_REMOVE(c, link);
	c->connection->n_calls--;
	loop_timer_cancel(c->connection->o.loop, &c->timer);
	c->h.on_end(c->h.arg, end, code, json);
	free(c);
}

static struct mcp_call *
call_find(const struct mcp_connection *c, int64_t id)
{
	struct mcp_call *call;

	LIST_FOREACH (call, &c->calls, link)
		if (call->id == id)
			return call;
	return NULL;
}

/* The stateless protocol over HTTP has no such notification. */
static void
call_send_cancel(const struct mcp_call *call)
{
	const struct mcp_connection *c = call->connection;
	struct buf b = BUF_INIT(512);
	struct transport_message m = { .method =
					   STR("notifications/cancelled") };

	mcp_session_write_cancel(call->id, &b);
	m.json = buf_str(&b);
	/* What does not fit is not missed: its response is not wanted. */
	(void)!transport_send(c->transport, &m);
	transport_cancel(c->transport, call->id);
	buf_free(&b);
}

static void
call_on_timer(void *arg)
{
	struct mcp_call *call = arg;

	call_send_cancel(call);
	call_end(call, call->canceled ? MCP_CALL_CANCELED : MCP_CALL_TIMEOUT, 0,
	    (struct str){ NULL, 0 });
}

static void
call_set_timer(struct mcp_call *call)
{
	struct mono at = mono_add_ms(clock_mono(), call->timeout_ms);

	if (mono_diff_ns(at, call->end) > 0)
		at = call->end;
	loop_timer_set(
	    call->connection->o.loop, &call->timer, at, call_on_timer, call);
}

void
mcp_call_cancel(struct mcp_call *call)
{
	call->canceled = true;
	loop_timer_set(call->connection->o.loop, &call->timer, clock_mono(),
	    call_on_timer, call);
}

enum rc
mcp_connection_call(struct mcp_connection *c, const struct mcp_call_opts *o,
    struct mcp_call **out)
{
	struct buf b = BUF_INIT(TRANSPORT_OUTPUT_MAX);
	struct transport_message m = { .id = mcp_session_next_id(c->session),
		.method = STR("tools/call"),
		.name = o->name,
		.arguments = o->arguments,
		.schema = o->schema };
	struct mcp_call *call;
	enum rc rc = RC_RETRY;

	*out = NULL;
	if (mcp_session_state(c->session) != MCP_READY || c->ending)
		return RC_DOWN;
	if (c->n_calls == MCP_CALLS_MAX)
		return RC_RETRY;
	mcp_session_write_call(c->session, m.id, o->name, o->arguments, &b);
	m.json = buf_str(&b);
	if (!b.over)
		rc = transport_send(c->transport, &m);
	buf_free(&b);
	if (rc != RC_OK)
		return rc;
	call = mem_zalloc(sizeof(*call));
	call->connection = c;
	call->h = o->handler;
	call->id = m.id;
	call->timeout_ms = o->timeout_ms;
	call->end = mono_add_ms(clock_mono(), o->max_ms);
	LIST_INSERT_HEAD(&c->calls, call, link);
	c->n_calls++;
	call_set_timer(call);
	*out = call;
	return RC_OK;
}

static void
connection_end_calls(struct mcp_connection *c, enum mcp_call_end end)
{
	while (!LIST_EMPTY(&c->calls))
		call_end(
		    LIST_FIRST(&c->calls), end, 0, (struct str){ NULL, 0 });
}

/* ---- steps of the session ---- */

static void connection_on_timer(void *arg);

static void
connection_fail(struct mcp_connection *c, const char *why)
{
	if (c->why == NULL)
		c->why = why;
	c->ending = true;
	transport_close(c->transport);
}

static void
connection_apply(struct mcp_connection *c, const struct mcp_effect *e)
{
	struct transport_message m = {
		.json = e->json, .id = e->id, .method = str_of(e->method)
	};

	switch (e->kind) {
	case MCP_SEND:
		if (transport_send(c->transport, &m) != RC_OK)
			connection_fail(c, "it does not read");
		break;
	case MCP_VERSION:
		transport_set_version(c->transport, e->text);
		break;
	case MCP_TOOLS:
		c->o.handler.on_tools(
		    c->o.handler.arg, mcp_session_tools(c->session));
		break;
	case MCP_FAIL:
		connection_fail(c, e->text);
		break;
	}
}

static void
connection_step(struct mcp_connection *c, const struct mcp_step *step)
{
	if (step->timer_ms == 0)
		loop_timer_cancel(c->o.loop, &c->timer);
	else if (step->timer_ms > 0)
		loop_timer_set(c->o.loop, &c->timer,
		    mono_add_ms(clock_mono(), step->timer_ms),
		    connection_on_timer, c);
	for (size_t i = 0; i < step->n; i++)
		connection_apply(c, &step->effects[i]);
}

static void
connection_on_timer(void *arg)
{
	struct mcp_connection *c = arg;
	struct mcp_step step;

	mcp_session_on_timer(c->session, &step);
	connection_step(c, &step);
}

/* ---- messages of the server ---- */

static void
connection_respond(struct mcp_connection *c, const struct buf *b)
{
	const struct transport_message m = { .json = buf_str(b) };

	/* One that does not read gets no response, either. */
	if (!b->over)
		(void)!transport_send(c->transport, &m);
}

/* What is not declared gets an error, so that the server does not wait. */
static void
connection_on_request(struct mcp_connection *c, const struct rpc_message *m)
{
	struct buf b = BUF_INIT(TRANSPORT_OUTPUT_MAX);

	if (str_eq(m->method, STR("ping"))) {
		rpc_write_result(&b, m->id_json, STR("{}"));
	} else if (str_eq(m->method, STR("roots/list")) && c->o.roots != NULL) {
		rpc_write_result(&b, m->id_json, str_of(c->o.roots));
	} else {
		rpc_write_error(&b, m->id_json, RPC_UNKNOWN_METHOD,
		    "this client does not support it");
		metric_add(c->o.counts->requests, 1);
	}
	connection_respond(c, &b);
	buf_free(&b);
}

static void
connection_on_notification(
    struct mcp_connection *c, const struct rpc_message *m)
{
	struct mcp_step step;
	struct mcp_call *call;

	if (str_eq(m->method, STR("notifications/tools/list_changed"))) {
		mcp_session_on_changed(c->session, &step);
		connection_step(c, &step);
	} else if (str_eq(m->method, STR("notifications/progress"))) {
		call = call_find(c, m->progress_token);
		if (call == NULL || call->canceled)
			return;
		call_set_timer(call);
		call->h.on_progress(call->h.arg, m);
	}
}

static void
connection_on_response(struct mcp_connection *c, const struct rpc_message *m)
{
	struct mcp_call *call = call_find(c, m->id);
	struct mcp_step step;

	if (call != NULL) {
		if (m->kind == RPC_RESULT)
			call_end(call, MCP_CALL_RESULT, 0, m->result);
		else
			call_end(call, MCP_CALL_ERROR, m->code, m->error);
	} else if (mcp_session_on_response(c->session, m, &step)) {
		connection_step(c, &step);
	} else {
		metric_add(c->o.counts->unwanted, 1);
	}
}

static void
connection_on_rpc(void *arg, const struct rpc_message *m)
{
	struct mcp_connection *c = arg;

	if (m->kind == RPC_REQUEST)
		connection_on_request(c, m);
	else if (m->kind == RPC_NOTIFICATION)
		connection_on_notification(c, m);
	else
		connection_on_response(c, m);
}

/* ---- the transport ---- */

static void
connection_on_open(void *arg)
{
	struct mcp_connection *c = arg;
	struct mcp_step step;

	mcp_session_on_open(c->session, &step);
	connection_step(c, &step);
}

static void
connection_on_message(void *arg, struct str json)
{
	struct mcp_connection *c = arg;

	if (rpc_read(c->o.reader, json, mcp_session_batches(c->session),
		connection_on_rpc, c) != RC_OK)
		metric_add(c->o.counts->noise, 1);
}

static void
connection_on_failed(void *arg, int64_t id, const struct transport_end *e)
{
	struct mcp_connection *c = arg;
	struct mcp_call *call = call_find(c, id);
	struct mcp_step step;

	/* The transport ends next, after this request. */
	if (e->why == TRANSPORT_SESSION_LOST)
		c->ending = true;
	if (call != NULL)
		call_end(call,
		    e->may_have_run ? MCP_CALL_LOST : MCP_CALL_NOT_SENT, 0,
		    e->text);
	else if (mcp_session_on_failed(c->session, id, e->text, &step))
		connection_step(c, &step);
}

static void
connection_on_closed(void *arg, const struct transport_end *e)
{
	struct mcp_connection *c = arg;
	struct buf why = BUF_INIT(512);

	c->transport = NULL;
	buf_put_str(&why, c->why != NULL ? str_of(c->why) : e->text);
	connection_end_calls(
	    c, e->may_have_run ? MCP_CALL_LOST : MCP_CALL_NOT_SENT);
	c->o.handler.on_closed(c->o.handler.arg, e, why.p != NULL ? why.p : "");
	buf_free(&why);
	mcp_connection_free(c);
}

struct mcp_connection *
mcp_connection_new(const struct mcp_connection_opts *o)
{
	struct mcp_connection *c = mem_zalloc(sizeof(*c));
	const struct transport_handler h = { connection_on_open,
		connection_on_message, connection_on_failed,
		connection_on_closed, c };

	c->o = *o;
	LIST_INIT(&c->calls);
	c->session = mcp_session_new(&o->session);
	c->transport = o->open(o->arg, &h);
	return c;
}

void
mcp_connection_close(struct mcp_connection *c)
{
	c->ending = true;
	transport_close(c->transport);
}

void
mcp_connection_free(struct mcp_connection *c)
{
	if (c == NULL)
		return;
	connection_end_calls(c, MCP_CALL_LOST);
	loop_timer_cancel(c->o.loop, &c->timer);
	transport_free(c->transport);
	mcp_session_free(c->session);
	free(c);
}

const struct mcp_session *
mcp_connection_session(const struct mcp_connection *c)
{
	return c->session;
}

bool
mcp_connection_is_ending(const struct mcp_connection *c)
{
	return c->ending;
}

size_t
mcp_connection_calls(const struct mcp_connection *c)
{
	return c->n_calls;
}
