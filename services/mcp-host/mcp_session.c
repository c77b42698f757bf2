#include "mcp_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue.h"
#include "core/buf.h"
#include "core/map.h"
#include "core/mem.h"
#include "rpc.h"
#include "transport.h"
#include "wire/out.h"
#include "wire/slice.h"

#define SERVER_TEXT_MAX 128
#define WHY_MAX         256
/* Of a server that says how long its list is valid. */
#define TTL_MIN_MS 60000
#define TTL_MAX_MS 86400000

#define META "io.modelcontextprotocol/"

static const char session_modern[] = "2026-07-28";
/* The first is offered. */
static const char *const session_legacy[] = { "2025-11-25", "2025-06-18",
	"2025-03-26", "2024-11-05" };
#define SESSION_BATCHES session_legacy[2]

struct mcp_session {
	struct mcp_session_opts o;
	enum mcp_state state;
	enum mcp_era era;
	const char *version;
	int64_t last_id;
	/* Requests without a response; 0: none. */
	int64_t probe, initialize, list, listen;
	bool push;           /* it says when its list changes */
	bool changed;        /* the list that is being read is not the newest */
	int64_t ttl_ms;      /* of its list; 0: it says none */
	struct map *cursors; /* of the list that is being read */
	size_t pages;
	struct catalogue *new_tools, *tools;
	size_t new_left_out, left_out;
	char server[SERVER_TEXT_MAX];
	char why[WHY_MAX];
	struct buf out[2]; /* messages of a step */
	size_t n_out;
};

struct mcp_session *
mcp_session_new(const struct mcp_session_opts *o)
{
	struct mcp_session *s = mem_zalloc(sizeof(*s));

	s->o = *o;
	s->era = o->era;
	s->version = "";
	s->state = MCP_PROBING;
	buf_init(&s->out[0], TRANSPORT_OUTPUT_MAX);
	buf_init(&s->out[1], TRANSPORT_OUTPUT_MAX);
	return s;
}

static void
session_end_list(struct mcp_session *s)
{
	map_free(s->cursors);
	s->cursors = NULL;
	catalogue_unref(s->new_tools);
	s->new_tools = NULL;
	s->list = 0;
}

void
mcp_session_free(struct mcp_session *s)
{
	if (s == NULL)
		return;
	session_end_list(s);
	catalogue_unref(s->tools);
	buf_free(&s->out[0]);
	buf_free(&s->out[1]);
	free(s);
}

/* ---- steps ---- */

static void
session_begin_step(struct mcp_session *s, struct mcp_step *step)
{
	*step = (struct mcp_step){ .n = 0 };
	s->n_out = 0;
}

static void
session_effect(struct mcp_step *step, const struct mcp_effect *e)
{
	if (step->n < MCP_EFFECTS_MAX)
		step->effects[step->n++] = *e;
}

static struct buf *
session_out(struct mcp_session *s)
{
	struct buf *b = &s->out[s->n_out < NELEM(s->out) ? s->n_out++ : 0];

	buf_reset(b);
	return b;
}

static void
session_fail(struct mcp_session *s, const char *what, struct str detail,
    struct mcp_step *step)
{
	struct buf text = BUF_INIT(WHY_MAX - 1);

	buf_puts(&text, what);
	if (detail.n > 0) {
		buf_puts(&text, ": ");
		wire_text_put(
		    (struct str){ detail.p,
			detail.n < WHY_MAX / 2 ? detail.n : WHY_MAX / 2 },
		    &text);
	}
	str_copy(buf_str(&text), s->why, sizeof(s->why));
	buf_free(&text);
	s->state = MCP_FAILED;
	session_effect(
	    step, &(struct mcp_effect){ .kind = MCP_FAIL, .text = s->why });
}

static void
session_put_client(const struct mcp_session *s, struct buf *b)
{
	buf_printf(b, "{\"name\":\"soul\",\"version\":\"%s\"}", s->o.client);
}

/* What each request of the stateless protocol has; rest: more members. */
static void
session_put_meta(const struct mcp_session *s, int64_t token, struct buf *b)
{
	bool any = false;

	buf_puts(b, "\"_meta\":{");
	if (s->era != MCP_ERA_LEGACY) {
		buf_printf(b,
		    "\"" META "protocolVersion\":\"%s\",\"" META
		    "clientCapabilities\":{},\"" META "clientInfo\":",
		    session_modern);
		session_put_client(s, b);
		any = true;
	}
	if (token != 0)
		buf_printf(b, "%s\"progressToken\":%lld", any ? "," : "",
		    (long long)token);
	buf_putc(b, '}');
}

/* params is the text of an object, or absent. */
static int64_t
session_request(struct mcp_session *s, const char *method, struct str params,
    struct mcp_step *step)
{
	struct buf *b = session_out(s);
	int64_t id = mcp_session_next_id(s);

	rpc_write_request(b, id, method, params);
	session_effect(step,
	    &(struct mcp_effect){ .kind = MCP_SEND,
		.json = buf_str(b),
		.id = id,
		.method = method });
	return id;
}

static int64_t
session_request_with_meta(struct mcp_session *s, const char *method,
    const char *members, struct mcp_step *step)
{
	struct buf params = BUF_INIT(TRANSPORT_OUTPUT_MAX);
	int64_t id;

	buf_putc(&params, '{');
	buf_puts(&params, members);
	session_put_meta(s, 0, &params);
	buf_putc(&params, '}');
	id = session_request(s, method, buf_str(&params), step);
	buf_free(&params);
	return id;
}

/* ---- detecting the era, initialize ---- */

static void
session_initialize(struct mcp_session *s, struct mcp_step *step)
{
	struct buf params = BUF_INIT(1024);

	s->era = MCP_ERA_LEGACY;
	s->state = MCP_INITIALIZING;
	buf_printf(&params,
	    "{\"protocolVersion\":\"%s\",\"capabilities\":%s,\"clientInfo\":",
	    session_legacy[0],
	    s->o.roots ? "{\"roots\":{\"listChanged\":false}}" : "{}");
	session_put_client(s, &params);
	buf_putc(&params, '}');
	s->initialize =
	    session_request(s, "initialize", buf_str(&params), step);
	step->timer_ms = MCP_INITIALIZE_MS;
	buf_free(&params);
}

static void
session_probe(struct mcp_session *s, struct mcp_step *step)
{
	s->state = MCP_PROBING;
	s->probe = session_request_with_meta(s, "server/discover", "", step);
	step->timer_ms = s->o.only ? MCP_INITIALIZE_MS : MCP_PROBE_MS;
}

void
mcp_session_on_open(struct mcp_session *s, struct mcp_step *step)
{
	session_begin_step(s, step);
	if (s->o.era == MCP_ERA_LEGACY)
		session_initialize(s, step);
	else
		session_probe(s, step);
}

static void
session_set_server(struct mcp_session *s, struct str info)
{
	struct buf text = BUF_INIT(SERVER_TEXT_MAX - 1);

	if (rpc_text(rpc_member(info, STR("name")), &text)) {
		buf_putc(&text, ' ');
		(void)rpc_text(rpc_member(info, STR("version")), &text);
	}
	str_copy(str_trim(buf_str(&text)), s->server, sizeof(s->server));
	buf_free(&text);
}

/* ---- lists ---- */

static void
session_request_page(
    struct mcp_session *s, struct str cursor, struct mcp_step *step)
{
	struct buf members = BUF_INIT(TRANSPORT_OUTPUT_MAX / 2);

	if (cursor.p != NULL) {
		buf_puts(&members, "\"cursor\":");
		rpc_put_line(&members, cursor);
		if (s->era == MCP_ERA_MODERN)
			buf_putc(&members, ',');
	}
	if (s->era == MCP_ERA_MODERN) {
		s->list = session_request_with_meta(
		    s, "tools/list", members.p != NULL ? members.p : "", step);
	} else {
		struct buf params = BUF_INIT(TRANSPORT_OUTPUT_MAX / 2 + 2);

		buf_putc(&params, '{');
		buf_put_str(&params, buf_str(&members));
		buf_putc(&params, '}');
		s->list =
		    session_request(s, "tools/list", buf_str(&params), step);
		buf_free(&params);
	}
	step->timer_ms = MCP_LIST_MS;
	buf_free(&members);
}

static void
session_list(struct mcp_session *s, struct mcp_step *step)
{
	if (s->tools == NULL)
		s->state = MCP_LISTING;
	s->changed = false;
	s->cursors = map_new();
	s->pages = 0;
	s->new_tools = catalogue_new();
	s->new_left_out = 0;
	session_request_page(s, (struct str){ NULL, 0 }, step);
}

static void
session_listen(struct mcp_session *s, struct mcp_step *step)
{
	if (s->era == MCP_ERA_MODERN && s->push && s->listen == 0)
		s->listen = session_request_with_meta(s, "subscriptions/listen",
		    "\"notifications\":{\"toolsListChanged\":true},", step);
}

static void
session_listed(struct mcp_session *s, struct mcp_step *step)
{
	catalogue_seal(s->new_tools);
	catalogue_unref(s->tools);
	s->tools = s->new_tools;
	s->new_tools = NULL;
	s->left_out = s->new_left_out;
	session_end_list(s);
	s->state = MCP_READY;
	session_effect(step, &(struct mcp_effect){ .kind = MCP_TOOLS });
	session_listen(s, step);
	if (s->changed)
		step->timer_ms = MCP_RELIST_MS;
	else if (s->ttl_ms > 0 && !s->push)
		step->timer_ms = s->ttl_ms;
}

static void
session_read_ttl(struct mcp_session *s, struct str result)
{
	int64_t ms;

	if (str_to_i64(rpc_member(result, STR("ttlMs")), 1, INT64_MAX, &ms) !=
	    RC_OK)
		return;
	s->ttl_ms = ms < TTL_MIN_MS ? TTL_MIN_MS : ms;
	if (s->ttl_ms > TTL_MAX_MS)
		s->ttl_ms = TTL_MAX_MS;
}

/* A server may repeat a cursor, or never end its list. */
static void
session_on_page(struct mcp_session *s, struct str result, struct mcp_step *step)
{
	struct str cursor = rpc_member(result, STR("nextCursor"));

	if (catalogue_add(s->new_tools, result, &s->new_left_out) != RC_OK) {
		session_end_list(s);
		if (s->tools == NULL)
			session_fail(s, "its list of tools is not valid",
			    (struct str){ NULL, 0 }, step);
		return;
	}
	session_read_ttl(s, result);
	if (cursor.n < 2 || cursor.p[0] != '"' || cursor.n > MCP_CURSOR_MAX ||
	    ++s->pages >= MCP_PAGES_MAX ||
	    map_put(s->cursors, cursor, s) != NULL)
		session_listed(s, step);
	else
		session_request_page(s, cursor, step);
}

static void
session_on_list(
    struct mcp_session *s, const struct rpc_message *m, struct mcp_step *step)
{
	s->list = 0;
	if (m->kind == RPC_RESULT) {
		session_on_page(s, m->result, step);
		return;
	}
	/* It has no tools. */
	if (m->code == RPC_UNKNOWN_METHOD && s->pages == 0) {
		session_listed(s, step);
		return;
	}
	session_end_list(s);
	if (s->tools == NULL)
		session_fail(s, "it does not list its tools", m->error, step);
}

void
mcp_session_on_changed(struct mcp_session *s, struct mcp_step *step)
{
	bool first = !s->changed;

	session_begin_step(s, step);
	s->changed = true;
	step->timer_ms = MCP_TIMER_UNCHANGED;
	/* One that says so all the time gets no later list for it. */
	if (first && s->list == 0 && s->state == MCP_READY)
		step->timer_ms = MCP_RELIST_MS;
}

/* ---- responses ---- */

static const char *
session_known_version(struct str json)
{
	struct buf text = BUF_INIT(64);
	const char *found = NULL;

	if (rpc_text(json, &text))
		for (size_t i = 0; i < NELEM(session_legacy); i++)
			if (str_eq(buf_str(&text), str_of(session_legacy[i])))
				found = session_legacy[i];
	buf_free(&text);
	return found;
}

static void
session_set_version(
    struct mcp_session *s, const char *version, struct mcp_step *step)
{
	s->version = version;
	session_effect(
	    step, &(struct mcp_effect){ .kind = MCP_VERSION, .text = version });
}

static void
session_on_initialize(
    struct mcp_session *s, const struct rpc_message *m, struct mcp_step *step)
{
	struct str version = rpc_member(m->result, STR("protocolVersion"));
	struct buf *b;

	s->initialize = 0;
	if (m->kind == RPC_ERROR) {
		session_fail(s, "initialize failed", m->error, step);
		return;
	}
	if (session_known_version(version) == NULL) {
		session_fail(s, "its version of the protocol is not known",
		    version, step);
		return;
	}
	s->probe = 0;
	session_set_version(s, session_known_version(version), step);
	session_set_server(s, rpc_member(m->result, STR("serverInfo")));
	b = session_out(s);
	rpc_write_notification(
	    b, "notifications/initialized", (struct str){ NULL, 0 });
	session_effect(step,
	    &(struct mcp_effect){ .kind = MCP_SEND,
		.json = buf_str(b),
		.method = "notifications/initialized" });
	session_list(s, step);
}

struct session_versions {
	bool modern;
};

static void
session_on_version(void *arg, const struct wire_slice *v)
{
	struct session_versions *found = arg;

	if (v->value.n == sizeof(session_modern) + 1 &&
	    memcmp(v->value.p + 1, session_modern,
		sizeof(session_modern) - 1) == 0)
		found->modern = true;
}

static bool
session_is_modern(struct str result)
{
	struct session_versions found = { false };
	const struct wire_slice_handler h = { .each = session_on_version,
		.arg = &found };
	struct str list = rpc_member(result, STR("supportedVersions"));

	return list.n > 0 && list.p[0] == '[' &&
	    wire_slice_each(list, &h) == RC_OK && found.modern;
}

static void
session_on_discover(
    struct mcp_session *s, const struct rpc_message *m, struct mcp_step *step)
{
	struct str tools, meta;

	s->probe = 0;
	if (m->kind == RPC_RESULT && session_is_modern(m->result)) {
		tools = rpc_member(
		    rpc_member(m->result, STR("capabilities")), STR("tools"));
		meta = rpc_member(m->result, STR("_meta"));
		s->era = MCP_ERA_MODERN;
		s->initialize = 0;
		s->push =
		    str_eq(rpc_member(tools, STR("listChanged")), STR("true"));
		session_set_version(s, session_modern, step);
		session_set_server(s, rpc_member(meta, STR(META "serverInfo")));
		session_list(s, step);
		return;
	}
	/* A late one; initialize has been sent. */
	if (s->state == MCP_INITIALIZING)
		step->timer_ms = MCP_TIMER_UNCHANGED;
	else if (s->o.only)
		session_fail(s, "it does not know " META "2026-07-28",
		    m->kind == RPC_ERROR ? m->error : (struct str){ NULL, 0 },
		    step);
	else
		session_initialize(s, step);
}

bool
mcp_session_on_response(
    struct mcp_session *s, const struct rpc_message *m, struct mcp_step *step)
{
	session_begin_step(s, step);
	if (m->id == 0)
		return false;
	if (m->id == s->probe)
		session_on_discover(s, m, step);
	else if (m->id == s->initialize)
		session_on_initialize(s, m, step);
	else if (m->id == s->list)
		session_on_list(s, m, step);
	else if (m->id == s->listen) {
		s->listen = 0;
		step->timer_ms = MCP_TIMER_UNCHANGED;
	} else {
		return false;
	}
	return true;
}

bool
mcp_session_on_failed(
    struct mcp_session *s, int64_t id, struct str why, struct mcp_step *step)
{
	const struct rpc_message m = { .kind = RPC_ERROR,
		.id = id,
		.code = RPC_INTERNAL,
		.error = why.n > 0 ? why : STR("no response") };

	return mcp_session_on_response(s, &m, step);
}

void
mcp_session_on_timer(struct mcp_session *s, struct mcp_step *step)
{
	session_begin_step(s, step);
	switch (s->state) {
	case MCP_PROBING:
		/* Its response, if it comes later, still counts. */
		if (s->o.only)
			session_fail(s, "no response to server/discover",
			    (struct str){ NULL, 0 }, step);
		else
			session_initialize(s, step);
		break;
	case MCP_INITIALIZING:
		session_fail(s, "no response to initialize",
		    (struct str){ NULL, 0 }, step);
		break;
	case MCP_LISTING:
		session_fail(s, "no response to tools/list",
		    (struct str){ NULL, 0 }, step);
		break;
	case MCP_READY:
		/* One that did not answer is given up. */
		if (s->list != 0)
			session_end_list(s);
		session_list(s, step);
		break;
	case MCP_FAILED:
		break;
	}
}

/* ---- what others need ---- */

enum mcp_state
mcp_session_state(const struct mcp_session *s)
{
	return s->state;
}

enum mcp_era
mcp_session_era(const struct mcp_session *s)
{
	return s->version[0] != '\0' ? s->era : MCP_ERA_UNKNOWN;
}

const char *
mcp_session_version(const struct mcp_session *s)
{
	return s->version;
}

bool
mcp_session_batches(const struct mcp_session *s)
{
	return s->version == SESSION_BATCHES;
}

struct catalogue *
mcp_session_tools(const struct mcp_session *s)
{
	return s->tools;
}

size_t
mcp_session_left_out(const struct mcp_session *s)
{
	return s->left_out;
}

const char *
mcp_session_server(const struct mcp_session *s)
{
	return s->server;
}

int64_t
mcp_session_next_id(struct mcp_session *s)
{
	return ++s->last_id;
}

void
mcp_session_write_call(const struct mcp_session *s, int64_t id, struct str name,
    struct str arguments, struct buf *out)
{
	struct buf params = BUF_INIT(TRANSPORT_OUTPUT_MAX);
	struct wire_out o = { &params, false };

	buf_puts(&params, "{\"name\":");
	wire_out_text(&o, name);
	buf_puts(&params, ",\"arguments\":");
	buf_put_str(&params, arguments.n > 0 ? arguments : STR("{}"));
	buf_putc(&params, ',');
	session_put_meta(s, id, &params);
	buf_putc(&params, '}');
	rpc_write_request(out, id, "tools/call", buf_str(&params));
	out->over |= params.over;
	buf_free(&params);
}

void
mcp_session_write_cancel(int64_t id, struct buf *out)
{
	char params[96];
	int n = snprintf(params, sizeof(params),
	    "{\"requestId\":%lld,\"reason\":\"not wanted any more\"}",
	    (long long)id);

	rpc_write_notification(out, "notifications/cancelled",
	    (struct str){ params, n > 0 ? (size_t)n : 0 });
}
