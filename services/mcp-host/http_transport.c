#include "http_transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/loop.h"
#include "core/mem.h"
#include "http_exchange.h"
#include "http_param.h"
#include "httpc/http_url.h"
#include "rpc.h"
#include "wire/slice.h"

/* The stateless revision, and the first that wants its name in a header. */
#define VERSION_MODERN "2026-07-28"
#define VERSION_HEADER "2025-06-18"
/* Longest session id, and id of an event. */
#define SESSION_ID_MAX 1024
#define EVENT_ID_MAX   1024
/* How long a stream is open before it is opened anew. */
#define STREAM_MS (3600 * 1000)
/* All header lines of one request. */
#define HEADERS_MAX   64
#define HEADERS_BYTES (512UL * 1024)

/* A message that is sent, until it is accepted, or its response has come. */
struct http_message {
	TAILQ_ENTRY(http_message) link;
	struct http_transport *t;
	struct http_exchange *x; /* NULL: not sent yet, or awaited on the
				    stream */
	int64_t id;
	char *json, *method;
	char *params; /* header lines of the stateless protocol, NULs between */
	size_t n_params, n_json;
	bool sent, redirected;
	unsigned resumes;
	bool replied;
	struct loop_timer retry; /* before it is resumed */
	char last_id[EVENT_ID_MAX + 1];
};

TAILQ_HEAD(http_messages, http_message);

struct http_transport {
	struct transport t;
	struct http_transport_opts o;
	char *url;      /* of the server; o.url and o.headers are not used */
	char *endpoint; /* of HTTP with SSE; NULL: none yet, or not that */
	char **headers; /* lines */
	const char *version;                 /* NULL: none negotiated */
	char session_id[SESSION_ID_MAX + 1]; /* "": none */
	bool sse;                            /* HTTP with SSE */
	bool succeeded;                      /* a POST did */
	bool push_tried;
	struct http_messages messages;
	size_t n_messages, bytes;
	struct http_exchange *stream; /* the GET */
	char stream_id[EVENT_ID_MAX + 1];
	struct loop_timer stream_timer;
	int64_t stream_retry_ms;
	struct http_exchange *delete;
	struct loop_deferred opened, pump, ended;
	bool open, closing, over, freed;
	unsigned busy; /* handlers that run */
	struct transport_end end;
	char end_text[256];
	struct wire_paths *paths; /* "id" and "method" */
};

static void transport_pump_later(struct http_transport *t);
static bool message_start(struct http_message *m, bool resume);

static struct http_transport *
transport_of(const struct transport *t)
{
	return CONTAINER_OF(
	    (struct transport *)(uintptr_t)t, struct http_transport, t);
}

static bool
transport_is_modern(const struct http_transport *t)
{
	return t->version != NULL && strcmp(t->version, VERSION_MODERN) == 0;
}

/* ---- the end ---- */

static void
message_free(struct http_message *m)
{
	struct http_transport *t = m->t;

	TAILQ_REMOVE(&t->messages, m, link);
	t->n_messages--;
	t->bytes -= m->n_json;
	loop_timer_cancel(t->o.loop, &m->retry);
	free(m->json);
	free(m->method);
	free(m->params);
	free(m);
}

static void
transport_cancel_all(struct http_transport *t)
{
	struct http_message *m;

	while ((m = TAILQ_FIRST(&t->messages)) != NULL) {
		if (m->x != NULL)
			http_exchange_cancel(m->x);
		message_free(m);
	}
	if (t->stream != NULL)
		http_exchange_cancel(t->stream);
	t->stream = NULL;
	if (t->delete != NULL)
		http_exchange_cancel(t->delete);
	t->delete = NULL;
	loop_timer_cancel(t->o.loop, &t->stream_timer);
	loop_defer_cancel(t->o.loop, &t->opened);
	loop_defer_cancel(t->o.loop, &t->pump);
}

static void
transport_destroy(struct http_transport *t)
{
	size_t i;

	for (i = 0; t->headers[i] != NULL; i++)
		free(t->headers[i]);
	free(t->headers);
	free(t->url);
	free(t->endpoint);
	wire_paths_free(t->paths);
	free(t);
}

/* Around a handler: false if t was freed in it. */
static void
transport_enter(struct http_transport *t)
{
	t->busy++;
}

static bool
transport_leave(struct http_transport *t)
{
	bool freed = t->freed;

	if (--t->busy == 0 && freed)
		transport_destroy(t);
	return !freed;
}

static void
transport_on_ended(void *arg)
{
	struct http_transport *t = arg;

	transport_enter(t);
	t->t.h.on_closed(t->t.h.arg, &t->end);
	t->freed = true;
	(void)transport_leave(t);
}

/* All is over; on_closed() comes. */
static void
transport_end_with(struct http_transport *t, const struct transport_end *e)
{
	if (t->over)
		return;
	transport_cancel_all(t);
	t->over = true;
	t->end = *e;
	str_copy(e->text, t->end_text, sizeof(t->end_text));
	t->end.text = str_of(t->end_text);
	loop_defer(t->o.loop, &t->ended, transport_on_ended, t);
}

/* ---- messages that come ---- */

/* found: the id and the method of a message. */
static bool
transport_has_id(const struct wire_found found[2], int64_t id)
{
	/* Some servers return an id as a string. */
	struct str text = wire_found_is_text(&found[0])
	    ? wire_found_inside(&found[0])
	    : found[0].value;
	int64_t v;

	return found[1].value.p == NULL &&
	    str_to_i64(text, 1, INT64_MAX, &v) == RC_OK && v == id;
}

/* Whether json is the response to the request id. */
static bool
transport_is_response(
    const struct http_transport *t, struct str json, int64_t id)
{
	struct buf reals = BUF_INIT(2 * TRANSPORT_MESSAGE_MAX);
	struct wire_found found[2];
	bool is = false;

	if (id != 0 && wire_slice_paths(t->paths, json, found) == RC_OK)
		is = transport_has_id(found, id);
	else if (id != 0 && rpc_put_reals(&reals, json) &&
	    wire_slice_paths(t->paths, buf_str(&reals), found) == RC_OK)
		is = transport_has_id(found, id);
	buf_free(&reals);
	return is;
}

/* False if t was freed. */
static bool
transport_deliver(struct http_transport *t, struct str json)
{
	transport_enter(t);
	t->t.h.on_message(t->t.h.arg, json);
	return transport_leave(t);
}

/* False if t was freed.  m is freed. */
static bool
message_fail(struct http_message *m, const struct transport_end *e)
{
	struct http_transport *t = m->t;
	int64_t id = m->id;

	message_free(m);
	transport_pump_later(t);
	if (id == 0)
		return true;
	transport_enter(t);
	t->t.h.on_failed(t->t.h.arg, id, e);
	return transport_leave(t);
}

/* ---- headers ---- */

struct header_list {
	const char *line[HEADERS_MAX];
	size_t n;
	struct buf text; /* what was made for this request */
};

static void
headers_add(struct header_list *l, const char *line)
{
	if (l->n < HEADERS_MAX)
		l->line[l->n++] = line;
}

/* A line that is made here; text does not move, as it was reserved. */
static void
headers_printf(struct header_list *l, const char *name, const char *value)
{
	size_t at = l->text.n;

	buf_printf(&l->text, "%s: %s", name, value);
	buf_putc(&l->text, '\0');
	if (!l->text.over)
		headers_add(l, l->text.p + at);
}

static void
headers_init(struct header_list *l, const struct http_transport *t)
{
	size_t i;

	l->n = 0;
	l->text = (struct buf)BUF_INIT(16384);
	(void)buf_reserve(&l->text, 16383);
	for (i = 0; t->headers[i] != NULL; i++)
		headers_add(l, t->headers[i]);
	if (t->session_id[0] != '\0')
		headers_printf(l, "Mcp-Session-Id", t->session_id);
	if (t->version != NULL && !t->sse &&
	    strcmp(t->version, VERSION_HEADER) >= 0)
		headers_printf(l, "MCP-Protocol-Version", t->version);
}

static void
headers_of_message(struct header_list *l, const struct http_message *m)
{
	size_t at;

	headers_init(l, m->t);
	headers_add(l, "Accept: application/json, text/event-stream");
	headers_add(l, "Content-Type: application/json");
	if (m->t->version == NULL && strcmp(m->method, "server/discover") == 0)
		headers_printf(l, "MCP-Protocol-Version", VERSION_MODERN);
	for (at = 0; at < m->n_params; at += strlen(m->params + at) + 1)
		headers_add(l, m->params + at);
}

/* ---- the stream: a GET ---- */

static void transport_stream_start(void *arg);

static void
transport_stream_later(struct http_transport *t, int64_t hint_ms)
{
	int64_t ms = t->stream_retry_ms;

	ms = hint_ms > ms ? hint_ms : ms;
	ms = ms < HTTP_STREAM_RETRY_MAX_MS ? ms : HTTP_STREAM_RETRY_MAX_MS;
	t->stream_retry_ms = 2 * ms;
	loop_timer_set(t->o.loop, &t->stream_timer,
	    mono_add_ms(clock_mono(), ms), transport_stream_start, t);
}

static void
transport_use_endpoint(struct http_transport *t, struct str data)
{
	struct buf url = BUF_INIT(HTTP_URL_MAX);
	const struct transport_end e = { .why = TRANSPORT_BROKEN,
		.text = STR("its endpoint is not at the same origin") };

	loop_timer_cancel(t->o.loop, &t->stream_timer);
	if (t->endpoint != NULL)
		return;
	if (http_url_join(str_of(t->url), data, &url) == RC_OK)
		t->endpoint = str_dup(buf_str(&url));
	buf_free(&url);
	if (t->endpoint == NULL) {
		transport_end_with(t, &e);
		return;
	}
	transport_pump_later(t);
	if (t->open)
		return;
	t->open = true;
	transport_enter(t);
	t->t.h.on_open(t->t.h.arg);
	(void)transport_leave(t);
}

/* Responses come here if the server has them on its stream. */
static bool
transport_on_reply(struct http_transport *t, struct str json)
{
	struct http_message *m, *next;

	for (m = TAILQ_FIRST(&t->messages); m != NULL; m = next) {
		next = TAILQ_NEXT(m, link);
		if (!m->sent || !transport_is_response(t, json, m->id))
			continue;
		if (m->x != NULL)
			http_exchange_cancel(m->x);
		message_free(m);
		break;
	}
	return transport_deliver(t, json);
}

static void
transport_on_stream_event(
    void *arg, struct http_exchange *x, struct str type, struct str data)
{
	struct http_transport *t = arg;

	(void)x;
	t->stream_retry_ms = HTTP_STREAM_RETRY_MS;
	if (t->sse && str_eq(type, STR("endpoint")))
		transport_use_endpoint(t, data);
	else if (str_eq(type, STR("message")))
		(void)transport_on_reply(t, data);
}

static enum transport_why
transport_why_of_status(int status)
{
	return status == 401 || status == 403 ? TRANSPORT_UNAUTHORIZED
					      : TRANSPORT_REJECTED;
}

static void
transport_describe(
    const struct http_exchange_end *e, struct transport_end *out, char text[64])
{
	*out = (struct transport_end){ .status = e->status };
	if (e->rc != RC_OK) {
		out->why =
		    e->was_sent ? TRANSPORT_EXITED : TRANSPORT_UNREACHABLE;
		if (e->rc == RC_TOOBIG || e->rc == RC_INVALID)
			out->why = TRANSPORT_BROKEN;
		out->text = e->why;
		out->may_have_run = e->was_sent;
		return;
	}
	out->why = transport_why_of_status(e->status);
	snprintf(text, 64, "HTTP status %d%s", e->status,
	    out->why == TRANSPORT_UNAUTHORIZED
		? ": the token in its headers is not accepted"
		: "");
	out->text = str_of(text);
	/* A gateway may say so of a server that is at work. */
	out->may_have_run = e->status >= 500;
}

static void
transport_on_stream_end(
    void *arg, struct http_exchange *x, const struct http_exchange_end *e)
{
	struct http_transport *t = arg;
	struct transport_end end;
	char text[64];

	(void)x;
	t->stream = NULL;
	if (e->last_id.n > 0 && e->last_id.n <= EVENT_ID_MAX)
		str_copy(e->last_id, t->stream_id, sizeof(t->stream_id));
	if (!t->sse) {
		/* Without one, the server has nothing to send by itself. */
		if (e->rc != RC_OK || e->is_stream)
			transport_stream_later(t, e->retry_ms);
		return;
	}
	transport_describe(e, &end, text);
	if (e->is_stream) {
		end.why = TRANSPORT_EXITED;
		end.text = STR("the server has ended its stream");
	} else if (e->rc == RC_OK && e->status < 300) {
		end.why = TRANSPORT_BROKEN;
		end.text = STR("not an MCP server");
	}
	end.may_have_run = true;
	transport_end_with(t, &end);
}

static void
transport_on_no_endpoint(void *arg)
{
	const struct transport_end e = { .why = TRANSPORT_BROKEN,
		.text = STR("no endpoint event came in time") };

	transport_end_with(arg, &e);
}

static void
transport_stream_start(void *arg)
{
	struct http_transport *t = arg;
	struct header_list l;
	struct http_exchange_opts o = { .client = t->o.client,
		.method = "GET",
		.url = t->url,
		.headers = l.line,
		.deadline = { clock_wall().ms + STREAM_MS },
		.handler = {
		    transport_on_stream_event, transport_on_stream_end, t } };
	const struct transport_end e = { .why = TRANSPORT_UNREACHABLE,
		.text = STR("no request can be made") };

	headers_init(&l, t);
	headers_add(&l, "Accept: text/event-stream");
	if (t->stream_id[0] != '\0' && !t->sse)
		headers_printf(&l, "Last-Event-ID", t->stream_id);
	o.n_headers = l.n;
	if (http_exchange_start(&o, &t->stream) != RC_OK) {
		if (t->sse)
			transport_end_with(t, &e);
		else
			transport_stream_later(t, 0);
	} else if (t->sse) {
		loop_timer_set(t->o.loop, &t->stream_timer,
		    mono_add_ms(clock_mono(), HTTP_ENDPOINT_MS),
		    transport_on_no_endpoint, t);
	}
	buf_free(&l.text);
}

/* ---- messages that are sent ---- */

/* The server has HTTP with SSE only: send m there. */
static void
message_fall_back(struct http_message *m)
{
	struct http_transport *t = m->t;

	t->sse = true;
	m->sent = false;
	transport_stream_start(t);
}

/* False: it cannot go on elsewhere. */
static bool
message_redirect(struct http_message *m, const struct http_exchange_end *e)
{
	struct http_transport *t = m->t;
	char **url = t->sse ? &t->endpoint : &t->url;

	if ((e->status != 307 && e->status != 308) || m->redirected ||
	    !http_url_same_origin(str_of(*url), e->location))
		return false;
	m->redirected = true;
	free(*url);
	*url = str_dup(e->location);
	return message_start(m, false);
}

static void
message_on_resume(void *arg)
{
	struct http_message *m = arg;
	const struct transport_end e = { .why = TRANSPORT_EXITED,
		.text = STR("its stream could not be resumed"),
		.may_have_run = true };

	if (!message_start(m, true))
		(void)message_fail(m, &e);
}

/* Whether the rest of the stream may still be had. */
static bool
message_resume(struct http_message *m, const struct http_exchange_end *e)
{
	struct http_transport *t = m->t;
	int64_t ms = e->retry_ms > 0 ? e->retry_ms : HTTP_STREAM_RETRY_MS;

	if (!e->is_stream || transport_is_modern(t) || t->sse)
		return false;
	if (e->last_id.n > 0 && e->last_id.n <= EVENT_ID_MAX)
		str_copy(e->last_id, m->last_id, sizeof(m->last_id));
	if (m->last_id[0] == '\0' || m->resumes++ == HTTP_RESUMES_MAX)
		return false;
	ms = ms < HTTP_STREAM_RETRY_MAX_MS ? ms : HTTP_STREAM_RETRY_MAX_MS;
	loop_timer_set(t->o.loop, &m->retry, mono_add_ms(clock_mono(), ms),
	    message_on_resume, m);
	return true;
}

static bool
transport_is_lost(const struct http_transport *t, int status)
{
	return (status == 400 || status == 404) && t->succeeded && !t->sse &&
	    !transport_is_modern(t);
}

/* No success. */
static void
message_on_rejected(struct http_message *m, const struct http_exchange_end *e)
{
	struct http_transport *t = m->t;
	bool lost = transport_is_lost(t, e->status);
	struct transport_end end;
	char text[64];

	if (message_redirect(m, e))
		return;
	if (!t->succeeded && !t->sse && t->o.kind == MCP_HTTP_OR_SSE &&
	    strcmp(m->method, "initialize") == 0 &&
	    (e->status == 400 || e->status == 404 || e->status == 405)) {
		message_fall_back(m);
		return;
	}
	transport_describe(e, &end, text);
	if (lost)
		end.why = TRANSPORT_SESSION_LOST;
	if (!message_fail(m, &end) || !lost)
		return;
	/* What is open on the old session has no end any more. */
	t->session_id[0] = '\0';
	end.may_have_run = true;
	transport_end_with(t, &end);
}

/* A session begins with initialize, and is not replaced by anything else. */
static void
transport_on_success(struct http_transport *t, const struct http_message *m,
    const struct http_exchange_end *e)
{
	t->succeeded = true;
	if (t->sse || t->session_id[0] != '\0' || e->session_id.n == 0 ||
	    e->session_id.n > SESSION_ID_MAX ||
	    strcmp(m->method, "initialize") != 0)
		return;
	str_copy(e->session_id, t->session_id, sizeof(t->session_id));
}

/* A request whose response did not come with it. */
static void
message_on_no_response(
    struct http_message *m, const struct http_exchange_end *e)
{
	const struct transport_end end = { .why = TRANSPORT_EXITED,
		.status = e->status,
		.text = e->is_stream
		    ? STR("the response ended without a result")
		    : STR("what it sends is no MCP message: is its URL right?"),
		.may_have_run = true };

	if (m->t->sse) /* It comes on the stream. */
		return;
	if (!message_resume(m, e))
		(void)message_fail(m, &end);
}

/* Whether json has the response; a batch is taken to have it. */
static bool
message_is_reply(const struct http_message *m, struct str json)
{
	return m->id != 0 &&
	    (str_starts(str_trim(json), STR("[")) ||
		transport_is_response(m->t, json, m->id));
}

static void
message_on_success(struct http_message *m, const struct http_exchange_end *e)
{
	struct http_transport *t = m->t;
	bool is_message = !e->is_stream && !t->sse && e->status != 202 &&
	    str_trim(e->body).n > 0;
	bool initialized = strcmp(m->method, "notifications/initialized") == 0;

	transport_on_success(t, m, e);
	if (initialized && t->o.push && !t->sse && !t->push_tried) {
		t->push_tried = true;
		transport_stream_start(t);
	}
	m->replied = m->replied || (is_message && message_is_reply(m, e->body));
	transport_enter(t);
	/* A handler may end all messages, so it comes last. */
	if (m->replied || m->id == 0) {
		message_free(m);
		transport_pump_later(t);
	} else {
		message_on_no_response(m, e);
	}
	if (is_message && !t->freed && !t->over)
		(void)transport_deliver(t, e->body);
	(void)transport_leave(t);
}

static void
message_on_event(
    void *arg, struct http_exchange *x, struct str type, struct str data)
{
	struct http_message *m = arg;

	if (!str_eq(type, STR("message")))
		return;
	if (message_is_reply(m, data)) {
		m->replied = true;
		http_exchange_finish(x);
	}
	(void)transport_deliver(m->t, data);
}

static void
message_on_end(
    void *arg, struct http_exchange *x, const struct http_exchange_end *e)
{
	struct http_message *m = arg;
	struct transport_end end;
	char text[64];

	(void)x;
	m->x = NULL;
	if (e->rc == RC_OK && e->status >= 200 && e->status < 300) {
		message_on_success(m, e);
	} else if (m->replied) {
		struct http_transport *t = m->t;

		message_free(m);
		transport_pump_later(t);
	} else if (e->rc == RC_OK && message_is_reply(m, e->body)) {
		struct http_transport *t = m->t;

		/* An error of the protocol, with a status of its own. */
		message_free(m);
		transport_pump_later(t);
		(void)transport_deliver(t, e->body);
	} else if (e->rc == RC_OK) {
		message_on_rejected(m, e);
	} else if (!message_resume(m, e)) {
		transport_describe(e, &end, text);
		end.may_have_run = end.may_have_run || m->resumes > 0;
		(void)message_fail(m, &end);
	}
}

/* Send m, or ask for the rest of its stream. */
static bool
message_start(struct http_message *m, bool resume)
{
	struct http_transport *t = m->t;
	struct header_list l;
	struct http_exchange_opts o = { .client = t->o.client,
		.method = resume ? "GET" : "POST",
		.url = t->sse ? t->endpoint : t->url,
		.headers = l.line,
		.no_resend = strcmp(m->method, "tools/call") == 0,
		.handler = { message_on_event, message_on_end, m } };
	enum rc rc;

	if (resume) {
		headers_init(&l, t);
		headers_add(&l, "Accept: text/event-stream");
		headers_printf(&l, "Last-Event-ID", m->last_id);
	} else {
		headers_of_message(&l, m);
		o.body = (struct str){ m->json, m->n_json };
	}
	o.n_headers = l.n;
	o.deadline.ms =
	    clock_wall().ms + (m->id != 0 ? t->o.request_ms : HTTP_NOTIFY_MS);
	m->sent = true;
	rc = l.text.over ? RC_TOOBIG : http_exchange_start(&o, &m->x);
	buf_free(&l.text);
	return rc == RC_OK;
}

/* Whether those behind m must wait until the server has it. */
static bool
message_is_barrier(const struct http_message *m)
{
	return m->x != NULL &&
	    strcmp(m->method, "notifications/initialized") == 0;
}

static void
transport_pump(void *arg)
{
	struct http_transport *t = arg;
	const struct transport_end e = { .why = TRANSPORT_UNREACHABLE,
		.text = STR("no request can be made") };
	struct http_message *m, *next;

	if (t->sse && t->endpoint == NULL)
		return;
	for (m = TAILQ_FIRST(&t->messages); m != NULL; m = next) {
		next = TAILQ_NEXT(m, link);
		if (message_is_barrier(m))
			return;
		if (m->sent)
			continue;
		/* Its handler may end all of them. */
		if (!message_start(m, false)) {
			(void)message_fail(m, &e);
			return;
		}
		if (message_is_barrier(m))
			return;
	}
}

static void
transport_pump_later(struct http_transport *t)
{
	if (!t->over && !t->closing)
		loop_defer(t->o.loop, &t->pump, transport_pump, t);
}

/* ---- the functions of transport.h ---- */

static void
message_set_params(struct http_message *m, const struct transport_message *msg)
{
	struct buf b = BUF_INIT(HEADERS_BYTES);

	if (!transport_is_modern(m->t) &&
	    strcmp(m->method, "server/discover") != 0)
		return;
	if (msg->method.n > 0) {
		buf_printf(&b, "Mcp-Method: %s", m->method);
		buf_putc(&b, '\0');
	}
	if (msg->name.n > 0) {
		buf_puts(&b, "Mcp-Name: ");
		http_param_value_put(msg->name, &b);
		buf_putc(&b, '\0');
	}
	if (msg->schema.n > 0)
		http_param_put(msg->schema, msg->arguments, &b);
	m->params = b.p;
	m->n_params = b.n;
}

static enum rc
http_transport_send(struct transport *base, const struct transport_message *msg)
{
	struct http_transport *t = transport_of(base);
	struct http_message *m;

	if (t->over || t->closing || !t->open)
		return RC_DOWN;
	if (t->n_messages == HTTP_REQUESTS_MAX ||
	    t->bytes + msg->json.n > TRANSPORT_OUTPUT_MAX)
		return RC_RETRY;
	/* The stateless protocol cancels by closing the response. */
	if (transport_is_modern(t) &&
	    str_eq(msg->method, STR("notifications/cancelled")))
		return RC_OK;
	m = mem_zalloc(sizeof(*m));
	m->t = t;
	m->id = msg->id;
	m->json = str_dup(msg->json);
	m->n_json = msg->json.n;
	m->method = str_dup(msg->method.p != NULL ? msg->method : STR(""));
	message_set_params(m, msg);
	TAILQ_INSERT_TAIL(&t->messages, m, link);
	t->n_messages++;
	t->bytes += m->n_json;
	transport_pump_later(t);
	return RC_OK;
}

static void
http_transport_cancel(struct transport *base, int64_t id)
{
	struct http_transport *t = transport_of(base);
	struct http_message *m;

	TAILQ_FOREACH (m, &t->messages, link)
		if (m->id == id) {
			if (m->x != NULL)
				http_exchange_cancel(m->x);
			message_free(m);
			transport_pump_later(t);
			return;
		}
}

static void
http_transport_set_version(struct transport *base, const char *version)
{
	transport_of(base)->version = version;
}

static void
transport_on_deleted(
    void *arg, struct http_exchange *x, const struct http_exchange_end *e)
{
	struct http_transport *t = arg;
	const struct transport_end end = { .why = TRANSPORT_CLOSED,
		.text = STR("closed"),
		.may_have_run = true };

	(void)x;
	(void)e;
	t->delete = NULL;
	transport_end_with(t, &end);
}

static void
transport_on_delete_event(
    void *arg, struct http_exchange *x, struct str type, struct str data)
{
	(void)arg;
	(void)x;
	(void)type;
	(void)data;
}

/* False: there is no session to be ended, or no way to do so. */
static bool
transport_delete_session(struct http_transport *t)
{
	struct header_list l;
	struct http_exchange_opts o = { .client = t->o.client,
		.method = "DELETE",
		.url = t->url,
		.headers = l.line,
		.deadline = { clock_wall().ms + HTTP_DELETE_MS },
		.handler = {
		    transport_on_delete_event, transport_on_deleted, t } };
	enum rc rc;

	if (t->sse || t->session_id[0] == '\0')
		return false;
	headers_init(&l, t);
	o.n_headers = l.n;
	rc = http_exchange_start(&o, &t->delete);
	buf_free(&l.text);
	return rc == RC_OK;
}

static void
http_transport_close(struct transport *base)
{
	struct http_transport *t = transport_of(base);
	const struct transport_end end = { .why = TRANSPORT_CLOSED,
		.text = STR("closed"),
		.may_have_run = true };

	if (t->over || t->closing)
		return;
	t->closing = true;
	transport_cancel_all(t);
	if (!transport_delete_session(t))
		transport_end_with(t, &end);
}

static void
http_transport_free(struct transport *base)
{
	struct http_transport *t = transport_of(base);

	transport_cancel_all(t);
	loop_defer_cancel(t->o.loop, &t->ended);
	t->over = true;
	t->freed = true;
	if (t->busy == 0)
		transport_destroy(t);
}

static const struct transport_ops http_transport_ops = {
	.send = http_transport_send,
	.cancel = http_transport_cancel,
	.set_version = http_transport_set_version,
	.close = http_transport_close,
	.free = http_transport_free,
};

static void
transport_on_opened(void *arg)
{
	struct http_transport *t = arg;

	if (t->sse) {
		transport_stream_start(t);
		return;
	}
	t->open = true;
	transport_enter(t);
	t->t.h.on_open(t->t.h.arg);
	(void)transport_leave(t);
}

struct transport *
http_transport_new(
    const struct http_transport_opts *o, const struct transport_handler *h)
{
	static const char *const paths[] = { "id", "method" };
	struct http_transport *t = mem_zalloc(sizeof(*t));
	size_t i, size;

	t->t = (struct transport){ &http_transport_ops, *h };
	t->o = *o;
	t->url = mem_strdup(o->url);
	t->headers = mem_calloc(o->n_headers + 1, sizeof(*t->headers));
	for (i = 0; i < o->n_headers; i++) {
		size = strlen(o->headers[i].name) +
		    strlen(o->headers[i].value) + 3;
		t->headers[i] = mem_alloc(size);
		snprintf(t->headers[i], size, "%s: %s", o->headers[i].name,
		    o->headers[i].value);
	}
	t->sse = o->kind == MCP_SSE;
	t->stream_retry_ms = HTTP_STREAM_RETRY_MS;
	TAILQ_INIT(&t->messages);
	t->paths = wire_paths_new(paths, NELEM(paths));
	loop_defer(o->loop, &t->opened, transport_on_opened, t);
	return &t->t;
}
