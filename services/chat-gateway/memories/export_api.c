/*
 * GET /v1/memories/export: where souls live, identities, MCP servers, grants
 * and webhooks, the profile, all memories page by page, souls, conversations,
 * runs with their events, alarms and pushes, and an end line, as JSON lines.
 */
#include <stdlib.h>

#include "caller.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"
#include "memories/export_alarms.h"
#include "memories/export_mcp.h"
#include "memories/export_runs.h"
#include "memories/export_sessions.h"
#include "memories/memory_request.h"
#include "state/soul.h"
#include "state/star_home.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "webhooks/webhook_view.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define PAGE_ITEMS 1000
#define LINES_MAX  (2 * (size_t)WIRE_MESSAGE_MAX)
#define READ_MAX   ((size_t)WIRE_ARENA_MAX)
/* httpd does not report when a client has read its output. */
#define POLL_MS 10
/* Audit reason of an incomplete export. */
#define CUT_SHORT "cut short"

struct export
{
	struct gateway *g;
	struct svc_call *c;
	struct str user, soul; /* of the call */
	struct arena *a;       /* for the last reply */
	struct peer_request q;
	struct loop_timer timer;
	struct buf lines; /* not sent yet */
	struct buf next;  /* cursor of the next page */
	struct export_sessions sessions;
	struct export_runs runs;
	struct export_alarms alarms;
	bool begun, degraded, memories_done, souls_done, sessions_done,
	    runs_done;
	/* The state is read for it, and its client has disconnected. */
	bool busy, disconnected;
	int64_t n;
};

static void
export_free(struct export *x)
{
	peer_request_cancel(&x->q);
	loop_timer_cancel(svc_loop(x->g->svc), &x->timer);
	arena_free(x->a);
	export_sessions_free(&x->sessions);
	buf_free(&x->lines);
	buf_free(&x->next);
	free(x);
}

static enum rc
export_put_line(struct export *x, const struct wire_memory_export_line *line)
{
	struct wire_err err;
	enum rc rc;

	rc = wire_encode(&wire_memory_export_line_desc, line, &x->lines, &err);
	if (rc != RC_OK)
		log_error("gateway.export", LOG_S("path", err.path),
		    LOG_S("why", err.why));
	buf_putc(&x->lines, '\n');
	return rc == RC_OK ? buf_rc(&x->lines) : rc;
}

static enum rc
export_send(struct export *x)
{
	enum rc rc = RC_OK;

	if (!x->begun)
		rc = svc_lines_start(x->c);
	x->begun = true;
	if (rc == RC_OK)
		rc = svc_lines_send(x->c, buf_str(&x->lines));
	buf_reset(&x->lines);
	return rc;
}

/* An export is audited whether it was complete or not. */
static void
export_audit(struct export *x, const char *how)
{
	svc_audit_call(x->c,
	    &(struct wire_audit){ .action = WIRE_AUDIT_ACTION_MEMORIES_EXPORTED,
		.user_id = x->user,
		.soul_id = x->soul,
		.reason = str_of(how),
		.has_count = true,
		.count = x->n });
}

/* The response is incomplete: an error line if possible, then truncation. */
static void
export_fail(struct export *x, struct memory_request_error f)
{
	struct svc_call *c = x->c;
	const struct wire_memory_export_line line = {
		.has_error = true,
		.error = { .error = str_of(f.text),
		    .code = str_of(rc_name(f.rc)),
		    .memories = x->n,
		    .trace_id = str_of(svc_call_trace(c)->trace_id) },
	};

	if (!x->begun) {
		/* The text may belong to the memory that is freed. */
		svc_fail(c, f.rc, f.text);
		export_free(x);
		return;
	}
	buf_reset(&x->lines);
	if (export_put_line(x, &line) == RC_OK)
		(void)!export_send(x);
	export_audit(x, CUT_SHORT);
	export_free(x);
	svc_lines_truncate(c, f.rc);
}

static void
export_fail_text(struct export *x, enum rc rc, const char *text)
{
	export_fail(x, (struct memory_request_error){ rc, text });
}

static void
export_on_disconnect(void *arg)
{
	struct export *x = arg;
	struct svc_call *c = x->c;
	bool begun = x->begun;

	x->disconnected = true;
	if (x->busy)
		return;
	if (begun)
		export_audit(x, CUT_SHORT);
	export_free(x);
	if (begun)
		svc_lines_truncate(c, RC_DOWN);
	else
		svc_fail(c, RC_DOWN, "the client disconnected");
}

static void
export_request(struct export *x, enum memory_request_kind kind,
    peer_request_fn fn, const void *msg)
{
	enum rc rc;

	memory_request_set_kind(&x->q, kind);
	x->q.fn = fn;
	rc = peer_request_send(&x->q, msg);
	if (rc == RC_DOWN)
		export_fail_text(
		    x, rc, "the message bus cannot be reached now");
	else if (rc != RC_OK)
		export_fail(x, memory_request_error(&x->q, rc));
}

static void export_on_page(struct peer_request *q, enum rc rc);
static void export_next(void *arg);

static void
export_request_page(struct export *x)
{
	const struct wire_memory_list_request req = {
		.user_id = x->user,
		.soul_id = x->soul,
		.after =
		    x->next.n > 0 ? buf_str(&x->next) : (struct str){ NULL, 0 },
		.limit = PAGE_ITEMS,
	};

	arena_reset(x->a);
	export_request(x, MEMORY_REQUEST_LIST, export_on_page, &req);
}

/* When the client has read what was sent. */
static void
export_on_poll(void *arg)
{
	struct export *x = arg;

	if (gateway_stream_has_room(x->c))
		fiber_start(export_next, x);
	else
		loop_timer_set(svc_loop(x->g->svc), &x->timer,
		    mono_add_ms(clock_mono(), POLL_MS), export_on_poll, x);
}

static void
export_end(struct export *x)
{
	struct svc_call *c = x->c;
	const struct wire_memory_export_line line = {
		.has_end = true,
		.end = { .memories = x->n, .degraded = x->degraded },
	};
	enum rc rc;

	rc = export_put_line(x, &line);
	if (rc == RC_OK)
		rc = export_send(x);
	export_audit(x, rc == RC_OK ? "complete" : CUT_SHORT);
	export_free(x);
	if (rc == RC_OK)
		svc_stream_end(c, rc);
	else
		svc_lines_truncate(c, rc);
}

static enum rc
export_put_line_of(void *arg, const struct wire_memory_export_line *line)
{
	return export_put_line(arg, line);
}

static enum rc
export_put_souls(struct export *x)
{
	struct wire_memory_export_line line = { .has_soul = true };
	char at[WALL_FORMAT_MAX];
	struct soul *list;
	size_t i, n;
	enum rc rc = soul_list(x->g->state, x->user, x->a, &list, &n);

	for (i = 0; rc == RC_OK && i < n; i++) {
		wall_format(list[i].created, 0, at);
		line.soul = (struct wire_memory_export_line_soul){
			.soul_id = list[i].id,
			.name = list[i].name,
			.mbti_type = list[i].mbti_type,
			.created_at = str_of(at),
		};
		rc = export_put_line(x, &line);
	}
	return rc;
}

/* Souls, sessions, runs, alarms and pushes; RC_NOENT: all are done. */
static enum rc
export_step(struct export *x, const struct export_to *to)
{
	enum rc rc = RC_NOENT;

	if (!x->souls_done) {
		x->souls_done = true;
		return export_put_souls(x);
	}
	if (!x->sessions_done)
		rc = export_sessions_next(&x->sessions, x->g->state, x->a, to);
	x->sessions_done |= rc == RC_NOENT;
	if (x->sessions_done && !x->runs_done)
		rc = export_runs_next(&x->runs, x->g->state, x->a, to);
	x->runs_done |= x->sessions_done && rc == RC_NOENT;
	if (x->runs_done)
		rc = export_alarms_next(&x->alarms, x->g->state, x->a, to);
	return rc;
}

/* The state is read meanwhile, so that the client may disconnect. */
static void
export_put_rest(struct export *x)
{
	enum rc rc;

	arena_reset(x->a);
	x->busy = true;
	rc = export_step(x, &(struct export_to){ export_put_line_of, x });
	x->busy = false;
	if (x->disconnected)
		export_on_disconnect(x);
	else if (rc == RC_NOENT)
		export_end(x);
	else if (rc != RC_OK)
		export_fail_text(x, rc == RC_TIMEOUT ? RC_DOWN : rc,
		    "the state cannot be used now; try again");
	else if (export_send(x) != RC_OK)
		export_on_disconnect(x);
	else
		export_on_poll(x);
}

/* Memories, then the rest, unless it is one soul's export. */
static void
export_next(void *arg)
{
	struct export *x = arg;

	if (!x->memories_done)
		export_request_page(x);
	else if (x->soul.p != NULL)
		export_end(x);
	else
		export_put_rest(x);
}

static void
export_on_page(struct peer_request *q, enum rc rc)
{
	struct export *x = q->arg;
	const struct wire_memory_list_reply *page = q->reply;
	struct wire_memory_export_line line = { .has_memory = true };
	size_t i;

	if (rc != RC_OK) {
		export_fail(x, memory_request_error(q, rc));
		return;
	}
	x->degraded |= page->degraded;
	for (i = 0; i < page->n_items && rc == RC_OK; i++) {
		line.memory = page->items[i];
		rc = export_put_line(x, &line);
	}
	if (rc != RC_OK) {
		export_fail_text(x, RC_BUG, "a memory cannot be encoded");
		return;
	}
	x->n += (int64_t)page->n_items;
	buf_reset(&x->next);
	buf_put_str(&x->next, page->next);
	x->memories_done = page->next.p == NULL;
	if (export_send(x) != RC_OK)
		export_on_disconnect(x);
	else
		export_on_poll(x);
}

static void
export_on_profile(struct peer_request *q, enum rc rc)
{
	struct export *x = q->arg;
	struct wire_memory_export_line line = { .has_profile = true };

	if (rc != RC_OK) {
		export_fail(x, memory_request_error(q, rc));
		return;
	}
	line.profile = *(const struct wire_memory_profile_reply *)q->reply;
	if (export_put_line(x, &line) == RC_OK)
		export_request_page(x);
	else
		export_fail_text(x, RC_BUG, "the profile cannot be encoded");
}

/* ---- what no other service has ---- */

static enum rc
export_put_home(struct export *x, struct str soul)
{
	struct wire_memory_export_line line = { .has_star_place = true };
	char at[WALL_FORMAT_MAX];
	struct star_home home;
	enum rc rc;

	rc = star_home_read(x->g->state, x->user, soul, x->a, &home);
	if (rc != RC_OK)
		return rc == RC_NOENT ? RC_OK : rc;
	wall_format((struct wall){ home.at }, 0, at);
	line.star_place =
	    (struct wire_star_soul_place){ .soul_id = home.soul_id,
		    .env_id = home.env_id,
		    .agent_id = home.agent_id,
		    .terminal_id = home.terminal_id,
		    .entered_at = str_of(at) };
	return export_put_line(x, &line);
}

static enum rc
export_put_homes(struct export *x)
{
	struct soul *list;
	size_t i, n;
	enum rc rc;

	if (x->soul.p != NULL)
		return export_put_home(x, x->soul);
	rc = soul_list(x->g->state, x->user, x->a, &list, &n);
	for (i = 0; rc == RC_OK && i < n; i++)
		rc = export_put_home(x, list[i].id);
	return rc;
}

static enum rc
export_put_identities(struct export *x)
{
	struct wire_memory_export_line line = { .has_star_identity = true };
	struct star_identity *list;
	size_t i, n;
	enum rc rc;

	if (x->soul.p != NULL)
		return RC_OK;
	rc = star_user_read(x->g->state, x->user, x->a, &list, &n);
	for (i = 0; rc == RC_OK && i < n; i++) {
		line.star_identity.class = list[i].class;
		line.star_identity.id = list[i].name;
		rc = export_put_line(x, &line);
	}
	return rc;
}

static enum rc
export_put_mcp(struct export *x)
{
	const struct export_to to = { export_put_line_of, x };
	enum rc rc = RC_OK;

	if (x->soul.p == NULL)
		rc = export_mcp_servers(x->g->state, x->user, x->a, &to);
	if (rc == RC_OK)
		rc =
		    export_mcp_grants(x->g->state, x->user, x->soul, x->a, &to);
	if (rc == RC_OK)
		rc = export_mcp_evolutions(
		    x->g->state, x->user, x->soul, x->a, &to);
	return rc;
}

static enum rc
export_put_webhooks(struct export *x)
{
	struct wire_memory_export_line line = { .has_webhook = true };
	struct webhook_listed *list;
	size_t i, n;
	enum rc rc;

	if (x->soul.p != NULL)
		return RC_OK;
	rc = webhook_list(x->g->state, x->user, x->a, &list, &n);
	for (i = 0; rc == RC_OK && i < n; i++) {
		if (webhook_view_put(&list[i], x->a, &line.webhook) == RC_OK)
			rc = export_put_line(x, &line);
	}
	return rc;
}

static void
export_start(
    struct gateway *g, struct svc_call *c, struct str user, struct str soul)
{
	const struct wire_memory_profile_request req = { .user_id = user };
	struct export *x = mem_zalloc(sizeof(*x));
	enum rc rc;

	x->g = g;
	x->c = c;
	x->user = user;
	x->soul = soul;
	x->sessions.user = user;
	x->runs.user = user;
	x->alarms.user = user;
	x->a = arena_new(READ_MAX);
	x->q = (struct peer_request){
		.g = g, .trace = svc_call_trace(c), .a = x->a, .arg = x
	};
	buf_init(&x->lines, LINES_MAX);
	buf_init(&x->next, WIRE_MESSAGE_MAX);
	rc = export_put_homes(x);
	if (rc == RC_OK)
		rc = export_put_identities(x);
	if (rc == RC_OK)
		rc = export_put_mcp(x);
	if (rc == RC_OK)
		rc = export_put_webhooks(x);
	arena_reset(x->a);
	if (rc != RC_OK)
		export_fail_text(x, rc == RC_TIMEOUT ? RC_DOWN : rc,
		    "the state cannot be used now; try again");
	else if (svc_call_on_abort(c, export_on_disconnect, x) != RC_OK)
		export_on_disconnect(x);
	else if (soul.p == NULL)
		export_request(
		    x, MEMORY_REQUEST_PROFILE, export_on_profile, &req);
	else
		export_request_page(x);
}

void
on_export(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct str soul = svc_call_query(c, "soul_id");
	struct str user;

	if (!caller_query_user(g, c, &user) ||
	    (soul.p != NULL && !gateway_id(c, soul, "soul_id")))
		return;
	if (gateway_stream_begin(g, c))
		export_start(g, c, user, soul);
}
