/*
 * Intents one by one.
 */
#include "tools/intent_route.h"

#include "core/buf.h"
#include "core/mem.h"
#include "tools/alarm_call.h"
#include "wire/out.h"
#include "wire/tree.h"

#define REST_MAX ((size_t)64 * 1024)
#define ID_TAIL  32

struct route_work {
	const struct intent_route_input *in;
	struct arena *a;
	struct turn_call *calls;
	struct turn_question *questions;
	struct turn_route *out;
	struct buf rest;
};

static void
route_leave(struct route_work *w, struct str part)
{
	part = str_trim(part);
	if (part.n == 0)
		return;
	if (w->rest.n > 0)
		buf_puts(&w->rest, "，");
	buf_put_str(&w->rest, part);
}

/* The part of the command that an intent covers. */
static struct str
route_part(const struct wire_intent_filter_response_intents *i)
{
	return i->has_source_span ? i->source_span.text : i->span.text;
}

void
intent_route_split(
    struct str normalized, struct arena *a, struct str *skill, struct str *args)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_out o = { .b = &b };
	struct wire_tree_member m;
	struct wire_tree *v;

	*skill = *args = (struct str){ 0 };
	if (wire_tree_parse(normalized, &v) != RC_OK)
		return;
	wire_out_object(&o);
	for (bool more = wire_tree_first(v, &m); more;
	     more = wire_tree_next(v, &m)) {
		if (str_eq(m.key, STR("skill"))) {
			*skill = arena_str(a, wire_tree_text(m.value));
			continue;
		}
		wire_out_key(&o, m.key);
		wire_tree_put(m.value, &o);
	}
	wire_out_object_end(&o);
	*args = arena_str(a, buf_str(&b));
	buf_free(&b);
	wire_tree_free(v);
}

static struct str
route_label(const struct wire_intent_filter_response_intents *i,
    const struct tool *tool)
{
	if (i->intent_name.n > 0)
		return i->intent_name;
	return tool != NULL ? tool->label : i->intent_id;
}

/* Providers accept ids of 40 characters; turn ids differ at the end. */
static struct str
route_id_tail(struct str turn_id)
{
	size_t skip = turn_id.n > ID_TAIL ? turn_id.n - ID_TAIL : 0;

	while (
	    skip < turn_id.n && ((unsigned char)turn_id.p[skip] & 0xC0) == 0x80)
		skip++;
	return (struct str){ turn_id.p + skip, turn_id.n - skip };
}

static struct turn_call *
route_add_call(struct route_work *w,
    const struct wire_intent_filter_response_intents *i,
    const struct tool *tool)
{
	struct turn_call *c = &w->calls[w->out->n_calls];

	*c = (struct turn_call){
		.kind = TURN_DIRECT,
		.intent = (size_t)(i - w->in->response->intents),
		.label = route_label(i, tool),
		.call_id = arena_printf(w->a, "ia_%.*s_%zu",
		    STR_ARG(route_id_tail(w->in->turn_id)), w->out->n_calls),
		.args = STR("{}"),
	};
	w->out->n_calls++;
	return c;
}

static void
route_take_ready(
    struct route_work *w, const struct wire_intent_filter_response_intents *i)
{
	struct str skill, args;
	struct wire_err err;

	intent_route_split(i->normalized, w->a, &skill, &args);
	if (skill.n == 0 || w->out->n_calls == INTENT_ROUTE_CALLS_MAX) {
		route_leave(w, route_part(i));
		return;
	}
	struct tool *tool = tool_catalog_by_skill(w->in->tools, skill);
	if (tool == NULL) {
		struct turn_call *c = route_add_call(w, i, NULL);
		c->outcome = TURN_UNKNOWN;
		c->skill = skill;
		return;
	}
	if (tool_arguments(tool, args, w->a, &args, &err) != RC_OK) {
		route_leave(w, route_part(i));
		return;
	}
	struct turn_call *c = route_add_call(w, i, tool);
	c->skill = tool->skill;
	c->tool = tool->name;
	c->safety = tool->safety;
	c->args = args;
}

static void
route_take_rejected(
    struct route_work *w, const struct wire_intent_filter_response_intents *i)
{
	struct str skill, args;

	if (w->out->n_calls == INTENT_ROUTE_CALLS_MAX)
		return;
	intent_route_split(i->normalized, w->a, &skill, &args);
	struct turn_call *c = route_add_call(w, i, NULL);
	c->outcome = TURN_REJECTED;
	c->skill = skill.n > 0 ? skill : i->intent_id;
}

static void
route_take_question(
    struct route_work *w, const struct wire_intent_filter_response_intents *i)
{
	struct buf missing = BUF_INIT(1024);
	struct str skill, args;

	if (w->out->n_questions == INTENT_ROUTE_QUESTIONS_MAX) {
		route_leave(w, route_part(i));
		return;
	}
	intent_route_split(i->normalized, w->a, &skill, &args);
	const struct tool *tool = tool_catalog_by_skill(w->in->tools, skill);
	for (size_t k = 0; k < i->n_missing_parameters; k++) {
		if (k > 0)
			buf_puts(&missing, "、");
		buf_put_str(&missing,
		    tool_member_label(tool, i->missing_parameters[k], w->a));
	}
	w->questions[w->out->n_questions++] =
	    (struct turn_question){ .label = route_label(i, tool),
		    .missing = arena_str(w->a, buf_str(&missing)) };
	buf_free(&missing);
}

/* The server's alarms; other system intents are no calls. */
static void
route_take_system(
    struct route_work *w, const struct wire_intent_filter_response_intents *i)
{
	struct str question;

	if (!alarm_call_is_intent(i->intent_id))
		return;
	question = alarm_call_question(i->normalized, w->a);
	if (question.n == 0 && w->out->n_calls < INTENT_ROUTE_CALLS_MAX) {
		struct turn_call *c = route_add_call(w, i, NULL);

		c->kind = TURN_ALARM;
		c->skill = i->intent_id;
		c->args = i->normalized;
	} else if (question.n > 0 &&
	    w->out->n_questions < INTENT_ROUTE_QUESTIONS_MAX) {
		w->questions[w->out->n_questions++] =
		    (struct turn_question){ .label = route_label(i, NULL),
			    .text = question };
	} else {
		route_leave(w, route_part(i));
	}
}

static void
route_take(
    struct route_work *w, const struct wire_intent_filter_response_intents *i)
{
	switch (i->status) {
	case WIRE_INTENT_STATUS_READY:
		route_take_ready(w, i);
		break;
	case WIRE_INTENT_STATUS_NEED_CLARIFICATION:
		route_take_question(w, i);
		break;
	case WIRE_INTENT_STATUS_REJECTED:
		route_take_rejected(w, i);
		break;
	case WIRE_INTENT_STATUS_SYSTEM:
		route_take_system(w, i);
		break;
	}
}

/* The rejected intent whose span has the text: a time without a slot. */
static const struct wire_intent_filter_response_intents *
route_rejected_with(
    const struct wire_intent_filter_response *response, struct str unmatched)
{
	for (size_t i = 0; i < response->n_intents; i++) {
		const struct wire_intent_filter_response_intents *in =
		    &response->intents[i];

		if (in->status == WIRE_INTENT_STATUS_REJECTED &&
		    str_find(in->span.text, unmatched) >= 0)
			return in;
	}
	return NULL;
}

/* A time expression alone is useless: the model gets its intent's text. */
static void
route_leave_unmatched(struct route_work *w)
{
	const struct wire_intent_filter_response *response = w->in->response;
	const struct wire_intent_filter_response_intents *in, *last = NULL;

	for (size_t i = 0; i < response->meta.n_unmatched; i++) {
		in = route_rejected_with(response, response->meta.unmatched[i]);
		if (in == NULL)
			route_leave(w, response->meta.unmatched[i]);
		else if (in != last)
			route_leave(w, route_part(in));
		last = in;
	}
}

static void
route_take_all(struct route_work *w)
{
	const struct wire_intent_filter_response *response = w->in->response;

	for (size_t i = 0; i < response->n_intents; i++)
		route_take(w, &response->intents[i]);
	route_leave_unmatched(w);
	/* An empty result leaves the whole command. */
	if (w->out->n_calls == 0 && w->out->n_questions == 0 && w->rest.n == 0)
		route_leave(w, w->in->command);
}

enum rc
intent_route_read(const struct intent_route_input *in, struct arena *a,
    struct turn_route *out)
{
	struct route_work w = { .in = in, .a = a, .out = out };

	*out = (struct turn_route){ .action = in->response->decision.action };
	if (out->action != WIRE_DECISION_ACTION_EXECUTE_INTENTS)
		return RC_OK;
	w.calls = arena_alloc(a, INTENT_ROUTE_CALLS_MAX * sizeof(*w.calls));
	w.questions =
	    arena_alloc(a, INTENT_ROUTE_QUESTIONS_MAX * sizeof(*w.questions));
	if (w.calls == NULL || w.questions == NULL)
		return RC_TOOBIG;
	out->calls = w.calls;
	out->questions = w.questions;
	buf_init(&w.rest, REST_MAX);
	route_take_all(&w);
	out->rest = arena_str(a, buf_str(&w.rest));
	buf_free(&w.rest);
	return out->rest.p != NULL ? RC_OK : RC_TOOBIG;
}

void
intent_route_normalized(const struct turn_call *call, struct buf *out)
{
	struct wire_out o = { .b = out };

	buf_puts(out, "{\"skill\":");
	wire_out_str(&o, call->skill);
	if (call->args.n > 2)
		buf_putc(out, ',');
	buf_put(out, call->args.p + 1, call->args.n - 1);
}
