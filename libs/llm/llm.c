/*
 * A call from its request to its result: the answer's Content-Type, not what
 * was asked for, says whether it is a stream.
 */
#include "llm/llm.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/log.h"
#include "core/mem.h"
#include "httpc/httpc.h"
#include "httpc/sse.h"
#include "llm/accum.h"
#include "llm/fault.h"
#include "llm/request.h"
#include "wire/wire.h"

#define FIRST_BYTE_MS 120000
#define IDLE_MS       60000
#define URL_MAX       2048
#define TURN_MAX      160

struct llm {
	struct httpc *http;
	char *url;
	char *model;
	char *authorization; /* a header line, or NULL */
	bool cumulative;
	int64_t first_byte_ms, idle_ms;
};

struct llm_call {
	struct llm *llm;
	struct httpc_call *http;
	llm_text_fn on_text;
	llm_done_fn on_done;
	void *arg;
	char turn[TURN_MAX];
	enum { FORM_UNKNOWN, FORM_STREAM, FORM_WHOLE } form;
	struct sse sse;
	struct buf body; /* of FORM_WHOLE */
	struct accum accum;
	struct arena *arena; /* of one event, then of the result */
	enum rc fault_rc;    /* of an error in the stream */
	char fault[FAULT_TEXT_MAX + 1];
	bool gave_text;
	bool feeding;   /* our caller is sse_feed() */
	bool cancelled; /* while feeding */
};

static void
call_free(struct llm_call *call)
{
	sse_free(&call->sse);
	buf_free(&call->body);
	accum_free(&call->accum);
	arena_free(call->arena);
	free(call);
}

static char *
join_url(const char *base)
{
	struct str s = str_of(base);
	char url[URL_MAX];

	if (s.n > 0 && s.p[s.n - 1] == '/')
		s.n--;
	int n = snprintf(url, sizeof(url), "%.*s/chat/completions", STR_ARG(s));
	if (n < 0 || (size_t)n >= sizeof(url))
		return NULL;
	return mem_strdup(url);
}

static char *
bearer(const char *key)
{
	struct buf b = BUF_INIT(16384);

	if (key == NULL || key[0] == '\0')
		return NULL;
	buf_printf(&b, "Authorization: Bearer %s", key);
	char *line = str_dup(buf_str(&b));
	buf_free(&b);
	return line;
}

static bool
is_http(const char *url)
{
	return url != NULL &&
	    (str_starts(str_of(url), STR("http://")) ||
		str_starts(str_of(url), STR("https://")));
}

enum rc
llm_new(const struct llm_opts *o, struct llm **out)
{
	if (!is_http(o->base_url) || o->model == NULL || o->model[0] == '\0')
		return RC_INVALID;
	char *url = join_url(o->base_url);
	if (url == NULL)
		return RC_INVALID;
	struct llm *l = mem_zalloc(sizeof(*l));
	l->url = url;
	l->model = mem_strdup(o->model);
	l->authorization = bearer(o->api_key);
	l->cumulative = o->cumulative;
	l->first_byte_ms =
	    o->first_byte_ms > 0 ? o->first_byte_ms : FIRST_BYTE_MS;
	l->idle_ms = o->idle_ms > 0 ? o->idle_ms : IDLE_MS;
	l->http = httpc_new(&(struct httpc_opts){ .loop = o->loop,
	    .peer = "llm",
	    .active_max = o->active_max,
	    .queue_max = o->queue_max,
	    .proxy = o->proxy,
	    .ca_file = o->ca_file,
	    .metrics = o->metrics });
	*out = l;
	return RC_OK;
}

void
llm_free(struct llm *l)
{
	if (l == NULL)
		return;
	httpc_free(l->http);
	free(l->url);
	free(l->model);
	free(l->authorization);
	free(l);
}

/* ---- reading ------------------------------------------------------------- */

/* Keep an error of the stream; what it returns ends the call. */
static enum rc
fail(struct llm_call *call, enum rc rc, struct str text)
{
	call->fault_rc = rc;
	str_copy(text, call->fault, sizeof(call->fault));
	return rc;
}

static enum rc
fail_with(struct llm_call *call, struct str body)
{
	struct fault f;

	fault_read(body, 0, call->arena, &f);
	return fail(call, fault_rc(0, &f), f.text);
}

static enum rc
take_chunk(struct llm_call *call, struct str json)
{
	struct wire_llm_chat_chunk c;
	char text[WIRE_ERR_TEXT_MAX];
	struct wire_err err;
	struct str delta;
	enum rc rc;

	rc =
	    wire_decode(&wire_llm_chat_chunk_desc, json, call->arena, &c, &err);
	if (rc != RC_OK) {
		wire_err_text(&err, text, sizeof(text));
		return fail(call, rc, str_of(text));
	}
	if (c.error.p != NULL)
		return fail_with(call, json);
	rc = accum_chunk(&call->accum, &c, call->arena, &delta);
	if (rc != RC_OK)
		return fail(call, rc, STR("the answer breaks a bound"));
	if (delta.n > 0) {
		call->gave_text = true;
		if (call->on_text != NULL)
			call->on_text(call->arg, delta);
	}
	return RC_OK;
}

static enum rc
on_event(void *arg, const struct sse_event *e)
{
	struct llm_call *call = arg;
	struct str data = str_trim(e->data);

	if (call->accum.done)
		return RC_OK;
	if (str_eq(data, STR("[DONE]"))) {
		call->accum.done = true;
		return RC_OK;
	}
	arena_reset(call->arena);
	if (str_eq(e->type, STR("error")))
		return fail_with(call, data);
	enum rc rc = take_chunk(call, data);
	/* Any code will do: the call is freed, not ended. */
	return call->cancelled ? RC_CONFLICT : rc;
}

static bool
is_stream(const struct httpc_call *http)
{
	struct str type = httpc_header(http, "Content-Type");

	return httpc_status(http) == 200 && type.p != NULL &&
	    str_eq_nocase(
		str_trim(str_cut(&type, ';')), STR("text/event-stream"));
}

static enum rc
on_chunk(void *arg, struct httpc_call *http, struct str chunk)
{
	struct llm_call *call = arg;

	if (call->form == FORM_UNKNOWN)
		call->form = is_stream(http) ? FORM_STREAM : FORM_WHOLE;
	if (call->form == FORM_WHOLE) {
		buf_put_str(&call->body, chunk);
		return buf_rc(&call->body);
	}
	call->feeding = true;
	enum rc rc = sse_feed(&call->sse, chunk, on_event, call);
	call->feeding = false;
	if (call->cancelled) {
		call_free(call);
		return RC_OK;
	}
	return rc;
}

/* ---- the end --------------------------------------------------------------
 */

static void
set_error(struct llm_result *r, enum rc rc, struct str text)
{
	r->rc = rc;
	r->error = text;
}

/* An answer in one piece; some say 200 and then an error. */
static void
read_whole(struct llm_call *call, struct llm_result *r)
{
	struct wire_llm_chat_response answer;
	struct str body = buf_str(&call->body);
	char text[WIRE_ERR_TEXT_MAX];
	struct wire_err err;
	struct fault f;
	enum rc rc;

	rc = wire_decode(
	    &wire_llm_chat_response_desc, body, call->arena, &answer, &err);
	if (rc == RC_OK) {
		rc = accum_answer(&call->accum, &answer, call->arena);
		if (rc != RC_OK)
			set_error(r, rc, STR("the answer breaks a bound"));
		return;
	}
	if (str_find(body, STR("\"error\"")) >= 0) {
		fault_read(body, 0, call->arena, &f);
		set_error(r, fault_rc(0, &f), f.text);
		return;
	}
	wire_err_text(&err, text, sizeof(text));
	set_error(r, rc, arena_str(call->arena, str_of(text)));
}

/* The provider's own word on retrying, or the rule of its clients. */
static bool
may_retry(const struct llm_call *call, const struct httpc_call *http,
    const struct llm_result *r)
{
	struct str word = httpc_header(http, "x-should-retry");

	if (r->rc == RC_OK || call->gave_text)
		return false;
	if (str_eq(word, STR("true")))
		return true;
	if (str_eq(word, STR("false")))
		return false;
	return r->rc == RC_DOWN || r->rc == RC_AGAIN || r->status == 408 ||
	    r->status == 409;
}

static void
judge(struct llm_call *call, enum rc rc, const struct httpc_answer *answer,
    struct llm_result *r)
{
	struct fault f;

	if (call->fault_rc != RC_OK) {
		set_error(r, call->fault_rc, str_of(call->fault));
	} else if (rc == RC_TOOBIG && call->form == FORM_STREAM) {
		set_error(r, rc, STR("a line of the stream is too long"));
	} else if (rc != RC_OK) {
		set_error(r, rc, str_of(answer->why));
	} else if (answer->status < 200 || answer->status > 299) {
		fault_read(
		    buf_str(&call->body), answer->status, call->arena, &f);
		set_error(r, fault_rc(answer->status, &f), f.text);
	} else if (call->form != FORM_STREAM) {
		read_whole(call, r);
	}
}

static void
on_done(void *arg, struct httpc_call *http, enum rc rc,
    const struct httpc_answer *answer)
{
	struct llm_call *call = arg;
	struct llm_result r = { .rc = RC_OK,
		.error = STR_INIT(""),
		.status = answer->status,
		.retry_after_ms = answer->retry_after_ms };

	arena_reset(call->arena);
	judge(call, rc, answer, &r);
	rc = accum_end(&call->accum, str_of(call->turn), call->arena, &r);
	if (r.rc == RC_OK && rc != RC_OK)
		set_error(&r, rc, STR("the answer is too large"));
	if (r.rc == RC_OK && r.incomplete && r.text.n == 0 && r.ncalls == 0)
		set_error(&r, RC_DOWN, STR("the answer ended before it began"));
	r.retry = may_retry(call, http, &r);
	call->on_done(call->arg, &r);
	call_free(call);
}

/* ---- asking ---------------------------------------------------------------
 */

static struct llm_call *
call_new(struct llm *l, const struct llm_chat *chat)
{
	struct llm_call *call = mem_zalloc(sizeof(*call));

	call->llm = l;
	call->on_text = chat->on_text;
	call->on_done = chat->on_done;
	call->arg = chat->arg;
	call->arena = arena_new(WIRE_ARENA_MAX);
	str_copy(chat->turn, call->turn, sizeof(call->turn));
	sse_init(&call->sse, LLM_LINE_MAX);
	buf_init(&call->body, WIRE_MESSAGE_MAX);
	accum_init(&call->accum, l->cumulative);
	return call;
}

enum rc
llm_chat(struct llm *l, const struct llm_chat *chat, struct llm_call **out)
{
	struct buf body = BUF_INIT(LLM_REQUEST_MAX);
	const char *headers[2] = { chat->stream ? "Accept: text/event-stream"
						: "Accept: application/json",
		l->authorization };
	enum rc rc = request_write(chat, str_of(l->model), &body);

	if (rc == RC_OK) {
		struct llm_call *call = call_new(l, chat);
		rc = httpc_start(l->http,
		    &(struct httpc_request){ .method = "POST",
			.url = l->url,
			.headers = headers,
			.nheaders = l->authorization != NULL ? 2 : 1,
			.body = buf_str(&body),
			.trace = chat->trace,
			.deadline = chat->deadline,
			.first_byte_ms = l->first_byte_ms,
			.idle_ms = l->idle_ms,
			.body_max = 2 * LLM_TEXT_MAX,
			.on_chunk = on_chunk,
			.on_done = on_done,
			.arg = call },
		    &call->http);
		if (rc != RC_OK)
			call_free(call);
		else if (out != NULL)
			*out = call;
	}
	buf_free(&body);
	return rc;
}

void
llm_cancel(struct llm_call *call)
{
	httpc_cancel(call->http);
	/* on_chunk() goes on with it when it is the one that called us. */
	if (call->feeding)
		call->cancelled = true;
	else
		call_free(call);
}
