/*
 * llm_response: the response to one attempt; its Content-Type, not the request,
 * decides whether it is read as a stream.
 */
#include "llm/llm_internal.h"
#include "wire/tree.h"
#include "wire/wire.h"

void
llm_response_init(struct llm_response *r, const struct provider *p)
{
	*r = (struct llm_response){ .form = FORM_UNKNOWN };
	sse_reader_init(&r->sse, LLM_LINE_MAX);
	buf_init(&r->body, WIRE_MESSAGE_MAX);
	accum_init(&r->accum, &p->o);
}

void
llm_response_free(struct llm_response *r)
{
	sse_reader_free(&r->sse);
	buf_free(&r->body);
	accum_free(&r->accum);
}

static const struct dialect *
response_dialect(const struct llm_call *call)
{
	return provider_dialect(&call->llm->providers[call->at]);
}

/* Record an error of the stream; the result ends the attempt. */
static enum rc
response_set_error(struct llm_call *call, enum rc rc, struct str text)
{
	call->in.error_rc = rc;
	str_copy(text, call->in.error, sizeof(call->in.error));
	return rc;
}

static enum rc
response_read_error(struct llm_call *call, struct str body)
{
	struct provider_error f;

	provider_error_read(body, 0, call->arena, &f);
	return response_set_error(call, provider_error_rc(0, &f), f.text);
}

static void
response_publish(struct llm_call *call, struct str text)
{
	if (text.n == 0 || call->chat.on_text == NULL)
		return;
	call->gave_text = true;
	call->chat.on_text(call->chat.arg, text);
}

static bool
response_has_error(const struct wire_tree *v)
{
	const struct wire_tree *e = wire_tree_get(v, STR("error"));

	return wire_tree_kind(e) == WIRE_TREE_OBJECT || wire_tree_text(e).n > 0;
}

static enum rc
response_take_event(struct llm_call *call, struct str json)
{
	const char *why = "the response exceeds a limit";
	struct wire_tree *v;
	struct str delta;
	enum rc rc;

	rc = wire_tree_parse(json, &v);
	if (rc != RC_OK)
		return response_set_error(
		    call, rc, STR("an event is not JSON"));
	if (response_has_error(v)) {
		rc = response_read_error(call, json);
	} else {
		rc = response_dialect(call)->event(
		    &call->in.accum, v, &delta, &why);
		if (rc != RC_OK)
			rc = response_set_error(call, rc, str_of(why));
		else
			response_publish(call, delta);
	}
	wire_tree_free(v);
	return rc;
}

static enum rc
response_on_event(void *arg, const struct sse_event *e)
{
	struct llm_call *call = arg;
	struct str data = str_trim(e->data);

	if (call->in.accum.done)
		return RC_OK;
	if (str_eq(data, STR("[DONE]"))) {
		call->in.accum.done = true;
		return RC_OK;
	}
	arena_reset(call->arena);
	if (str_eq(e->type, STR("error")))
		return response_read_error(call, data);
	enum rc rc = data.n > 0 ? response_take_event(call, data) : RC_OK;
	/* Any error stops the stream; the call is being freed. */
	return call->cancelled ? RC_CONFLICT : rc;
}

/* Some send a stream as text/plain, or without a type. */
static bool
response_is_stream(const struct httpc_call *http, struct str begin)
{
	struct str type = httpc_header(http, "Content-Type");

	if (httpc_status(http) != 200)
		return false;
	if (type.p != NULL &&
	    str_eq_nocase(
		str_trim(str_split(&type, ';')), STR("text/event-stream")))
		return true;
	return str_starts(begin, STR("data:")) ||
	    str_starts(begin, STR("event:"));
}

enum rc
llm_response_chunk(
    struct llm_call *call, struct httpc_call *http, struct str chunk)
{
	struct llm_response *r = &call->in;

	if (r->form == FORM_UNKNOWN)
		r->form =
		    response_is_stream(http, chunk) ? FORM_STREAM : FORM_WHOLE;
	if (r->form == FORM_STREAM)
		return sse_reader_feed(&r->sse, chunk, response_on_event, call);
	buf_put_str(&r->body, chunk);
	return buf_rc(&r->body);
}

/* ---- the end ---- */

static void
result_set_error(struct llm_result *r, enum rc rc, struct str text)
{
	r->rc = rc;
	r->error = text;
}

/* A response in one piece; some send status 200 with an error. */
static void
response_read_body(struct llm_call *call, struct llm_result *out)
{
	const char *why = "the response exceeds a limit";
	struct str body = buf_str(&call->in.body);
	struct wire_tree *v;
	struct provider_error f;
	enum rc rc;

	rc = wire_tree_parse(str_trim(body), &v);
	if (rc != RC_OK) {
		result_set_error(out, rc, STR("the response is not JSON"));
		return;
	}
	rc = response_dialect(call)->response(&call->in.accum, v, &why);
	if (rc == RC_INVALID &&
	    (response_has_error(v) || response_has_error(wire_tree_at(v, 0)))) {
		provider_error_read(body, 0, call->arena, &f);
		result_set_error(out, provider_error_rc(0, &f), f.text);
	} else if (rc != RC_OK) {
		result_set_error(out, rc, str_of(why));
	}
	wire_tree_free(v);
}

static void
response_evaluate(struct llm_call *call, enum rc rc,
    const struct httpc_response *http, struct llm_result *out)
{
	struct llm_response *r = &call->in;
	struct provider_error f;

	if (r->error_rc != RC_OK) {
		result_set_error(out, r->error_rc, str_of(r->error));
	} else if (rc == RC_TOOBIG && r->form == FORM_STREAM) {
		result_set_error(
		    out, rc, STR("a line of the stream is too long"));
	} else if (rc != RC_OK) {
		result_set_error(out, rc, str_of(http->why));
	} else if (http->status < 200 || http->status > 299) {
		provider_error_read(
		    buf_str(&r->body), http->status, call->arena, &f);
		result_set_error(
		    out, provider_error_rc(http->status, &f), f.text);
	} else if (r->form != FORM_STREAM) {
		response_read_body(call, out);
	}
}

void
llm_response_end(struct llm_call *call, enum rc rc,
    const struct httpc_response *http, struct llm_result *out)
{
	struct llm_response *r = &call->in;
	const struct provider *p = &call->llm->providers[call->at];
	struct str by = str_of(p->by), rest;

	arena_reset(call->arena);
	response_evaluate(call, rc, http, out);
	accum_flush(&r->accum, &rest);
	if (r->form == FORM_STREAM)
		response_publish(call, rest);
	rc = accum_end(&r->accum, call->chat.turn, by, call->arena, out);
	if (out->rc == RC_OK && rc != RC_OK)
		result_set_error(out, rc, STR("the response is too large"));
	if (out->rc == RC_OK && out->incomplete && out->text.n == 0 &&
	    out->ncalls == 0)
		result_set_error(out, RC_DOWN, STR("the response is empty"));
}
