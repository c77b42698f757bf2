/*
 * Intents one by one.
 */
#include "route.h"

#include "core/buf.h"
#include "core/mem.h"
#include "wire/out.h"
#include "wire/tree.h"

#define REST_MAX ((size_t)64 * 1024)
#define ID_TAIL  32

struct work {
	const struct route_input *in;
	struct arena *a;
	struct turn_deed *deeds;
	struct turn_question *questions;
	struct turn_route *out;
	struct buf rest;
};

static void
leave(struct work *w, struct str part)
{
	part = str_trim(part);
	if (part.n == 0)
		return;
	if (w->rest.n > 0)
		buf_puts(&w->rest, "，");
	buf_put_str(&w->rest, part);
}

/* The part of the command that an intent stands for. */
static struct str
part_of(const struct wire_intent_filter_response_intents *i)
{
	return i->has_source_span ? i->source_span.text : i->span.text;
}

/* The skill an intent names, and its arguments without it; absent: none. */
static void
split(
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
label_of(const struct wire_intent_filter_response_intents *i,
    const struct tool *tool)
{
	if (i->intent_name.n > 0)
		return i->intent_name;
	return tool != NULL ? tool->label : i->intent_id;
}

/* Providers take ids of 40 characters; turns' differ in their ends. */
static struct str
tail(struct str turn_id)
{
	size_t skip = turn_id.n > ID_TAIL ? turn_id.n - ID_TAIL : 0;

	while (
	    skip < turn_id.n && ((unsigned char)turn_id.p[skip] & 0xC0) == 0x80)
		skip++;
	return (struct str){ turn_id.p + skip, turn_id.n - skip };
}

static struct turn_deed *
add_deed(struct work *w, const struct wire_intent_filter_response_intents *i,
    const struct tool *tool)
{
	struct turn_deed *d = &w->deeds[w->out->n_deeds];

	*d = (struct turn_deed){
		.kind = TURN_DIRECT,
		.intent = (size_t)(i - w->in->answer->intents),
		.label = label_of(i, tool),
		.call_id = arena_printf(w->a, "ia_%.*s_%zu",
		    STR_ARG(tail(w->in->turn_id)), w->out->n_deeds),
		.args = STR("{}"),
	};
	w->out->n_deeds++;
	return d;
}

static void
take_ready(struct work *w, const struct wire_intent_filter_response_intents *i)
{
	struct str skill, args;
	struct wire_err err;

	split(i->normalized, w->a, &skill, &args);
	if (skill.n == 0 || w->out->n_deeds == ROUTE_DEEDS_MAX) {
		leave(w, part_of(i));
		return;
	}
	struct tool *tool = tools_skill(w->in->tools, skill);
	if (tool == NULL) {
		struct turn_deed *d = add_deed(w, i, NULL);
		d->outcome = TURN_UNKNOWN;
		d->skill = skill;
		return;
	}
	if (tools_arguments(tool, args, w->a, &args, &err) != RC_OK) {
		leave(w, part_of(i));
		return;
	}
	struct turn_deed *d = add_deed(w, i, tool);
	d->skill = tool->skill;
	d->tool = tool->name;
	d->safety = tool->safety;
	d->args = args;
}

static void
take_rejected(
    struct work *w, const struct wire_intent_filter_response_intents *i)
{
	struct str skill, args;

	if (w->out->n_deeds == ROUTE_DEEDS_MAX)
		return;
	split(i->normalized, w->a, &skill, &args);
	struct turn_deed *d = add_deed(w, i, NULL);
	d->outcome = TURN_REJECTED;
	d->skill = skill.n > 0 ? skill : i->intent_id;
}

static void
take_question(
    struct work *w, const struct wire_intent_filter_response_intents *i)
{
	struct buf missing = BUF_INIT(1024);
	struct str skill, args;

	if (w->out->n_questions == ROUTE_QUESTIONS_MAX) {
		leave(w, part_of(i));
		return;
	}
	split(i->normalized, w->a, &skill, &args);
	const struct tool *tool = tools_skill(w->in->tools, skill);
	for (size_t k = 0; k < i->n_missing_parameters; k++) {
		if (k > 0)
			buf_puts(&missing, "、");
		buf_put_str(&missing,
		    tools_member_label(tool, i->missing_parameters[k], w->a));
	}
	w->questions[w->out->n_questions++] =
	    (struct turn_question){ label_of(i, tool),
		    arena_str(w->a, buf_str(&missing)) };
	buf_free(&missing);
}

static void
take(struct work *w, const struct wire_intent_filter_response_intents *i)
{
	switch (i->status) {
	case WIRE_INTENT_STATUS_READY:
		take_ready(w, i);
		break;
	case WIRE_INTENT_STATUS_NEED_CLARIFICATION:
		take_question(w, i);
		break;
	case WIRE_INTENT_STATUS_REJECTED:
		take_rejected(w, i);
		break;
	case WIRE_INTENT_STATUS_SYSTEM:
		break;
	}
}

/* The rejected intent in whose part a text stands: a time it has no slot for.
 */
static const struct wire_intent_filter_response_intents *
rejected_with(
    const struct wire_intent_filter_response *answer, struct str unmatched)
{
	for (size_t i = 0; i < answer->n_intents; i++) {
		const struct wire_intent_filter_response_intents *in =
		    &answer->intents[i];

		if (in->status == WIRE_INTENT_STATUS_REJECTED &&
		    str_find(in->span.text, unmatched) >= 0)
			return in;
	}
	return NULL;
}

/* A time alone tells the model nothing: it gets what was wanted then. */
static void
leave_unmatched(struct work *w)
{
	const struct wire_intent_filter_response *answer = w->in->answer;
	const struct wire_intent_filter_response_intents *in, *last = NULL;

	for (size_t i = 0; i < answer->meta.n_unmatched; i++) {
		in = rejected_with(answer, answer->meta.unmatched[i]);
		if (in == NULL)
			leave(w, answer->meta.unmatched[i]);
		else if (in != last)
			leave(w, part_of(in));
		last = in;
	}
}

static void
take_all(struct work *w)
{
	const struct wire_intent_filter_response *answer = w->in->answer;

	for (size_t i = 0; i < answer->n_intents; i++)
		take(w, &answer->intents[i]);
	leave_unmatched(w);
	/* An answer without anything in it leaves all. */
	if (w->out->n_deeds == 0 && w->out->n_questions == 0 && w->rest.n == 0)
		leave(w, w->in->command);
}

enum rc
route_read(
    const struct route_input *in, struct arena *a, struct turn_route *out)
{
	struct work w = { .in = in, .a = a, .out = out };

	*out = (struct turn_route){ .action = in->answer->decision.action };
	if (out->action != WIRE_DECISION_ACTION_EXECUTE_INTENTS)
		return RC_OK;
	w.deeds = arena_alloc(a, ROUTE_DEEDS_MAX * sizeof(*w.deeds));
	w.questions =
	    arena_alloc(a, ROUTE_QUESTIONS_MAX * sizeof(*w.questions));
	if (w.deeds == NULL || w.questions == NULL)
		return RC_TOOBIG;
	out->deeds = w.deeds;
	out->questions = w.questions;
	buf_init(&w.rest, REST_MAX);
	take_all(&w);
	out->rest = arena_str(a, buf_str(&w.rest));
	buf_free(&w.rest);
	return out->rest.p != NULL ? RC_OK : RC_TOOBIG;
}

void
route_normalized(const struct turn_deed *deed, struct buf *out)
{
	struct wire_out o = { .b = out };

	buf_puts(out, "{\"skill\":");
	wire_out_str(&o, deed->skill);
	if (deed->args.n > 2)
		buf_putc(out, ',');
	buf_put(out, deed->args.p + 1, deed->args.n - 1);
}
