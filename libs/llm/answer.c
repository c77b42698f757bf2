/*
 * The answer to one attempt: its Content-Type, not what was asked for, says
 * whether it is a stream.
 */
#include "llm/call.h"
#include "wire/tree.h"
#include "wire/wire.h"

void
answer_init(struct answer *r, const struct provider *p)
{
	*r = (struct answer){ .form = FORM_UNKNOWN };
	sse_reader_init(&r->sse, LLM_LINE_MAX);
	buf_init(&r->body, WIRE_MESSAGE_MAX);
	accum_init(&r->accum, &p->o);
}

void
answer_free(struct answer *r)
{
	sse_reader_free(&r->sse);
	buf_free(&r->body);
	accum_free(&r->accum);
}

static const struct dialect *
dialect_of(const struct llm_call *call)
{
	return provider_dialect(&call->llm->providers[call->at]);
}

/* Keep an error of the stream; what it returns ends the attempt. */
static enum rc
fail(struct llm_call *call, enum rc rc, struct str text)
{
	call->in.fault_rc = rc;
	str_copy(text, call->in.fault, sizeof(call->in.fault));
	return rc;
}

static enum rc
fail_with(struct llm_call *call, struct str body)
{
	struct fault f;

	fault_read(body, 0, call->arena, &f);
	return fail(call, fault_rc(0, &f), f.text);
}

static void
give(struct llm_call *call, struct str text)
{
	if (text.n == 0 || call->chat.on_text == NULL)
		return;
	call->gave_text = true;
	call->chat.on_text(call->chat.arg, text);
}

static bool
has_error(const struct wire_tree *v)
{
	const struct wire_tree *e = wire_tree_get(v, STR("error"));

	return wire_tree_kind(e) == WIRE_TREE_OBJECT || wire_tree_text(e).n > 0;
}

static enum rc
take_event(struct llm_call *call, struct str json)
{
	const char *why = "the answer breaks a bound";
	struct wire_tree *v;
	struct str delta;
	enum rc rc;

	rc = wire_tree_parse(json, &v);
	if (rc != RC_OK)
		return fail(call, rc, STR("an event is not JSON"));
	if (has_error(v)) {
		rc = fail_with(call, json);
	} else {
		rc = dialect_of(call)->event(&call->in.accum, v, &delta, &why);
		if (rc != RC_OK)
			rc = fail(call, rc, str_of(why));
		else
			give(call, delta);
	}
	wire_tree_free(v);
	return rc;
}

static enum rc
on_event(void *arg, const struct sse_event *e)
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
		return fail_with(call, data);
	enum rc rc = data.n > 0 ? take_event(call, data) : RC_OK;
	/* Any code will do: the call is freed, not ended. */
	return call->cancelled ? RC_CONFLICT : rc;
}

/* Some send a stream as text/plain, or as nothing. */
static bool
is_stream(const struct httpc_call *http, struct str begin)
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
answer_chunk(struct llm_call *call, struct httpc_call *http, struct str chunk)
{
	struct answer *r = &call->in;

	if (r->form == FORM_UNKNOWN)
		r->form = is_stream(http, chunk) ? FORM_STREAM : FORM_WHOLE;
	if (r->form == FORM_STREAM)
		return sse_reader_feed(&r->sse, chunk, on_event, call);
	buf_put_str(&r->body, chunk);
	return buf_rc(&r->body);
}

/* ---- the end ------------------------------------------------------------ */

static void
set_error(struct llm_result *r, enum rc rc, struct str text)
{
	r->rc = rc;
	r->error = text;
}

/* An answer in one piece; some say 200 and then an error. */
static void
read_whole(struct llm_call *call, struct llm_result *out)
{
	const char *why = "the answer breaks a bound";
	struct str body = buf_str(&call->in.body);
	struct wire_tree *v;
	struct fault f;
	enum rc rc;

	rc = wire_tree_parse(str_trim(body), &v);
	if (rc != RC_OK) {
		set_error(out, rc, STR("the answer is not JSON"));
		return;
	}
	rc = dialect_of(call)->answer(&call->in.accum, v, &why);
	if (rc == RC_INVALID &&
	    (has_error(v) || has_error(wire_tree_at(v, 0)))) {
		fault_read(body, 0, call->arena, &f);
		set_error(out, fault_rc(0, &f), f.text);
	} else if (rc != RC_OK) {
		set_error(out, rc, str_of(why));
	}
	wire_tree_free(v);
}

static void
judge(struct llm_call *call, enum rc rc, const struct httpc_response *answer,
    struct llm_result *out)
{
	struct answer *r = &call->in;
	struct fault f;

	if (r->fault_rc != RC_OK) {
		set_error(out, r->fault_rc, str_of(r->fault));
	} else if (rc == RC_TOOBIG && r->form == FORM_STREAM) {
		set_error(out, rc, STR("a line of the stream is too long"));
	} else if (rc != RC_OK) {
		set_error(out, rc, str_of(answer->why));
	} else if (answer->status < 200 || answer->status > 299) {
		fault_read(buf_str(&r->body), answer->status, call->arena, &f);
		set_error(out, fault_rc(answer->status, &f), f.text);
	} else if (r->form != FORM_STREAM) {
		read_whole(call, out);
	}
}

void
answer_end(struct llm_call *call, enum rc rc,
    const struct httpc_response *answer, struct llm_result *out)
{
	struct answer *r = &call->in;
	const struct provider *p = &call->llm->providers[call->at];
	struct str by = str_of(p->by), rest;

	arena_reset(call->arena);
	judge(call, rc, answer, out);
	accum_flush(&r->accum, &rest);
	if (r->form == FORM_STREAM)
		give(call, rest);
	rc = accum_end(&r->accum, call->chat.turn, by, call->arena, out);
	if (out->rc == RC_OK && rc != RC_OK)
		set_error(out, rc, STR("the answer is too large"));
	if (out->rc == RC_OK && out->incomplete && out->text.n == 0 &&
	    out->ncalls == 0)
		set_error(
		    out, RC_DOWN, STR("the answer ended before it began"));
}
