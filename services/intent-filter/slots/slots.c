/*
 * Filling slots from their sources, and checking the result against the
 * terminal's skill.
 */
#include "slots/slots.h"

#include "core/buf.h"
#include "core/mem.h"
#include "rx/rx.h"
#include "slots/skill_cache.h"
#include "wire/coerce.h"
#include "wire/out.h"
#include "wire/schema.h"
#include "wire/tree.h"
#include "zh/number.h"

/* Room for the slots of an intent at first. */
#define SLOTS_BYTES 512
/* Growth of a verb in its common form. */
#define VERB_GROWTH 6
/* Numbers of one time, and its bytes, that are examined. */
#define SLOTS_NUMBERS  8
#define SLOTS_TIME_MAX 256
/* Values of a slot that are joined; the rest is ignored. */
#define SLOTS_VARIANTS 4

static const struct slot_value slot_no_value;

/* The slots of one segment in progress. */
struct slots_fill_state {
	const struct matcher *m;
	const struct segment *g;
	const struct catalog_slot *slot; /* the current one */
	struct slots *out;
	bool expired; /* its time is over */
	size_t variant;
	bool in_room; /* what looked like its value is a part of a room */
};

/* 十分钟后点头 is not a duration of the nod. */
static bool
slots_is_relative_for_duration(
    const struct wire_intent_slot *def, const struct datetime *t)
{
	return !def->required && t->kind == DATETIME_INSTANT &&
	    t->is_relative && str_find(def->name, STR("duration")) >= 0;
}

static bool
slots_is_kind(const struct wire_intent_slot *def, const struct datetime *t)
{
	if (slots_is_relative_for_duration(def, t))
		return false;
	if (!def->has_time_kind)
		return true;
	return entity_is_duration(t) ==
	    (def->time_kind == WIRE_INTENT_SLOT_TIME_KIND_DURATION);
}

/* 今天, 这周: an optional hour need not be asked for. */
static bool
slots_is_whole_day(const struct utterance *u, const struct datetime *t)
{
	return t->grain >= DATETIME_DAY && utterance_time_includes_now(u, t);
}

/* 九点, 七八点: the user is to say which half of the day is meant. */
static bool
slots_needs_half(struct slots_fill_state *f, const struct datetime *t)
{
	if (!f->m->needs_half || !t->is_either_half || entity_is_duration(t))
		return false;
	f->out->times.expired |= slot_times_bit(f->m->u, t);
	f->expired = true;
	return true;
}

/* Take one of the times for the current slot. */
static struct slot_value
slots_take_time(
    struct slots_fill_state *f, const struct datetime *t, struct str key)
{
	const struct utterance *u = f->m->u;
	struct slot_times *s = &f->out->times;
	uint64_t bit = slot_times_bit(u, t);
	struct slot_value v;

	if (t->kind == DATETIME_REPEAT && !slot_times_is_repeat(s, u, t)) {
		s->rejected |= bit;
		return slot_no_value;
	}
	if (slots_needs_half(f, t))
		return slot_no_value;
	v = slot_value_of_time(u, t, key, f->m->a);
	if (v.kind != VALUE_NONE) {
		s->taken |= bit;
		f->expired = false;
	} else if (!str_eq(key, STR("end_at")) &&
	    utterance_time_is_today(u, t) &&
	    (f->slot->def->required || !slots_is_whole_day(u, t))) {
		s->expired |= bit;
		f->expired = true;
	}
	return v;
}

/*
 * Whether the slot's own pattern, if it has one, matches the time with its
 * numerals in digits: "十分钟" for ([0-9]+)分钟, not "半小时".
 */
static bool
slots_pattern_takes(const struct slots_fill_state *f, const struct datetime *t)
{
	struct str text = { f->m->u->cmd.folded.p + t->start,
		t->end - t->start };
	struct number found[SLOTS_NUMBERS];
	struct buf b = BUF_INIT(SLOTS_TIME_MAX);
	struct rx_match match;
	size_t i, n, at = 0;
	bool takes;

	if (f->slot->rx == NULL)
		return true;
	n = number_find(text, found, NELEM(found));
	for (i = 0; i < n; i++) {
		buf_put(&b, text.p + at, found[i].start - at);
		buf_printf(&b, "%.10g", found[i].value);
		at = found[i].end;
	}
	buf_put(&b, text.p + at, text.n - at);
	takes = buf_rc(&b) == RC_OK &&
	    rx_find(f->slot->rx, f->m->rx, buf_str(&b), 0, &match) == RC_OK;
	buf_free(&b);
	return takes;
}

/* The first suitable time, durations before instants. */
static struct slot_value
slots_from_time(struct slots_fill_state *f, struct str key)
{
	const struct utterance *u = f->m->u;
	struct slot_value v;
	size_t i, pass;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < u->n_times; i++) {
			const struct datetime *t = &u->times[i];

			if (t->start < f->g->start || t->end > f->g->end ||
			    entity_is_duration(t) != (pass == 0) ||
			    !slots_is_kind(f->slot->def, t) ||
			    (f->slot->def->from_time_key.p == NULL &&
				!slots_pattern_takes(f, t)))
				continue;
			v = slots_take_time(f, t, key);
			if (v.kind != VALUE_NONE)
				return v;
		}
	}
	return slot_no_value;
}

static void
slots_note_span(const struct slots_fill_state *f, size_t start, size_t end)
{
	slot_times_note(&f->out->times, start, end);
	if (f->out->n_spans < SLOTS_SPANS)
		f->out->spans[f->out->n_spans++] =
		    (struct text_span){ start, end };
}

/* The slot's value for an entity, else the entity's own. */
static struct slot_value
slots_of_entity(const struct slots_fill_state *f, const struct entity *e)
{
	struct str filled = { f->m->u->cmd.folded.p + e->start,
		e->end - e->start };
	struct slot_value v = slot_value_of_listed(f->slot, filled, NULL);

	if (v.kind == VALUE_NONE)
		v = slot_value_of_listed(f->slot, str_of(e->value), NULL);
	if (v.kind == VALUE_NONE)
		v = (struct slot_value){ VALUE_TEXT, str_of(e->value), 0 };
	return v;
}

static struct slot_value
slots_from_entities(struct slots_fill_state *f)
{
	const struct wire_intent_slot *def = f->slot->def;
	const struct utterance *u = f->m->u;
	struct entity e, first = { .start = (size_t)-1 };
	size_t i;

	for (i = 0; i < def->n_from_entity_types; i++) {
		if (entity_next(u, f->g->start, f->g->end,
			def->from_entity_types[i], &e) &&
		    e.start < first.start)
			first = e;
	}
	if (first.type == NULL)
		return slot_no_value;
	if (first.time != NULL && def->use_normalized_entity)
		return slots_take_time(f, first.time,
		    entity_is_duration(first.time) ? STR("duration_seconds")
						   : STR("trigger_at"));
	slots_note_span(f, first.start, first.end);
	if (!def->use_normalized_entity)
		return (struct slot_value){ VALUE_TEXT,
			{ u->cmd.text.p + first.start,
			    first.end - first.start },
			0 };
	return slots_of_entity(f, &first);
}

/* The room whose name has byte at. */
static const struct word_hit *
slots_room_at(const struct slots_fill_state *f, size_t at)
{
	const struct utterance *u = f->m->u;
	size_t i;

	for (i = 0; i < u->n_words && u->words[i].start <= at; i++) {
		if (u->words[i].kind == WORD_ROOM && u->words[i].end > at)
			return &u->words[i];
	}
	return NULL;
}

/* Whether 和, 、 or "and" is between two bytes of the segment. */
static bool
slots_are_linked(const struct slots_fill_state *f, size_t from, size_t to)
{
	const struct utterance *u = f->m->u;
	size_t i;

	for (i = 0; i < u->n_words; i++) {
		if (u->words[i].kind == WORD_LINK &&
		    u->words[i].start >= f->g->start + from &&
		    u->words[i].end <= f->g->start + to)
			return true;
	}
	return false;
}

/*
 * Of the values of the slot that are joined, in the order of the text, the one
 * that the candidate is for.  *at is that of one of them.
 */
static struct slot_value
slots_of_variant(struct slots_fill_state *f, struct str text,
    struct slot_value one, struct text_span *at)
{
	struct slot_value values[SLOTS_VARIANTS], v;
	struct text_span spans[SLOTS_VARIANTS], next;
	size_t n = 0, from = 0, end;

	while (n < SLOTS_VARIANTS && from < text.n) {
		/* The leftmost: of what precedes one that is found. */
		for (end = text.n, v = slot_no_value;;) {
			struct slot_value found = slot_value_of_listed(f->slot,
			    (struct str){ text.p + from, end - from }, &next);

			if (found.kind == VALUE_NONE)
				break;
			v = found;
			spans[n] = (struct text_span){ from + next.start,
				from + next.end };
			end = from + next.start;
		}
		if (v.kind == VALUE_NONE ||
		    (n > 0 &&
			!slots_are_linked(f, spans[n - 1].end, spans[n].start)))
			break;
		values[n] = v;
		from = spans[n++].end;
	}
	if (n < 2 || f->slot->n_values < 2)
		return one;
	f->out->n_variants = n;
	if (f->variant >= n)
		return one;
	*at = spans[f->variant];
	return values[f->variant];
}

static struct slot_value
slots_from_values(struct slots_fill_state *f, struct str text)
{
	struct text_span at;
	struct slot_value v = slot_value_of_listed(f->slot, text, &at);
	const struct word_hit *room = v.kind != VALUE_NONE
	    ? slots_room_at(f, f->g->start + at.start)
	    : NULL;

	/* "台灯" is no word of 阳台灯. */
	if (room != NULL && room->end < f->g->start + at.end &&
	    room->start < f->g->start + at.start) {
		size_t n = room->end - f->g->start;

		f->in_room = true;
		v = slot_value_of_listed(
		    f->slot, (struct str){ text.p + n, text.n - n }, &at);
		at.start += n;
		at.end += n;
	}
	if (v.kind != VALUE_NONE)
		v = slots_of_variant(f, text, v, &at);
	if (v.kind != VALUE_NONE)
		slots_note_span(
		    f, f->g->start + at.start, f->g->start + at.end);
	return v;
}

/*
 * The value of a pattern's capture.  If the capture is a part of a time (10 of
 * "10分钟"), the slot takes the whole match; a time that the match merely
 * contains is not the slot's.
 */
static struct slot_value
slots_of_capture(struct slots_fill_state *f, const struct rx_span *candidate,
    const struct rx_span *capture)
{
	const struct utterance *u = f->m->u;
	size_t from = f->g->start, start = from + (size_t)capture->start;
	size_t end = from + (size_t)capture->end;
	const struct datetime *t = utterance_time_at(u, start, end);
	struct slot_value v;

	if (t != NULL && slots_is_relative_for_duration(f->slot->def, t))
		return slot_no_value;
	if (t != NULL && str_ends(f->slot->def->name, STR("_seconds")) &&
	    slots_needs_half(f, t))
		return slot_no_value;
	v = slot_value_of_text(u, f->slot, start, end);
	if (t != NULL && t->kind != DATETIME_REPEAT && v.kind == VALUE_NUMBER &&
	    str_ends(f->slot->def->name, STR("_seconds")))
		f->out->times.taken |= slot_times_bit(u, t);
	if (t != NULL && start >= t->start && end <= t->end)
		slot_times_note(&f->out->times, from + (size_t)candidate->start,
		    from + (size_t)candidate->end);
	else
		slot_times_note(&f->out->times, start, end);
	if (f->out->n_spans < SLOTS_SPANS)
		f->out->spans[f->out->n_spans++] =
		    (struct text_span){ from + (size_t)candidate->start,
			    from + (size_t)candidate->end };
	return v;
}

/* An optional group that did not participate fills nothing. */
static struct slot_value
slots_from_pattern(struct slots_fill_state *f)
{
	struct str text = { f->m->u->cmd.folded.p + f->g->start,
		f->g->end - f->g->start };
	size_t group = (size_t)f->slot->def->regex_group;
	struct rx_span span;
	struct rx_match found;

	if (f->slot->rx == NULL ||
	    rx_find(f->slot->rx, f->m->rx, text, 0, &found) != RC_OK)
		return slot_no_value;
	/* A pattern without that group means the whole match. */
	span = found.g[group < found.n ? group : 0];
	if (span.start < 0 || span.end <= span.start)
		return slot_no_value;
	return slots_of_capture(f, &found.g[0], &span);
}

/* The same in another form of the segment. */
static struct slot_value
slots_from_form(const struct slots_fill_state *f, struct str text)
{
	size_t group = (size_t)f->slot->def->regex_group;
	struct rx_match found;
	struct rx_span span;

	if (f->slot->rx == NULL)
		return slot_value_of_listed(f->slot, text, NULL);
	if (rx_find(f->slot->rx, f->m->rx, text, 0, &found) != RC_OK)
		return slot_no_value;
	span = found.g[group < found.n ? group : 0];
	if (span.start < 0 || span.end <= span.start)
		return slot_no_value;
	return slot_value_of_form(f->slot,
	    (struct str){
		text.p + span.start, (size_t)(span.end - span.start) });
}

/* 开 in "开到三档" does not mean to open. */
static bool
slots_is_degree(const struct utterance *u, size_t at)
{
	struct str after = { u->cmd.folded.p + at, u->cmd.folded.n - at };

	return str_starts(after, STR("到")) || str_starts(after, STR("成"));
}

/* The segment with 打开 and 关闭 for other verbs of opening and closing. */
static struct str
slots_common_verbs(const struct slots_fill_state *f)
{
	const struct utterance *u = f->m->u;
	size_t i, at = f->g->start, n = 0;
	char *p =
	    arena_alloc(f->m->a, VERB_GROWTH * (f->g->end - f->g->start) + 1);

	if (p == NULL)
		return (struct str){ 0 };
	for (i = 0; i < u->n_words && u->words[i].start < f->g->end; i++) {
		const struct word_hit *w = &u->words[i];
		const char *verb;

		if (w->kind != WORD_ACTION || w->start < at ||
		    w->end > f->g->end || slots_is_degree(u, w->end))
			continue;
		if (strcmp(w->value, "open") == 0)
			verb = "打开";
		else if (strcmp(w->value, "close") == 0)
			verb = "关闭";
		else
			continue;
		memcpy(p + n, u->cmd.folded.p + at, w->start - at);
		n += w->start - at;
		memcpy(p + n, verb, strlen(verb));
		n += strlen(verb);
		at = w->end;
	}
	if (n == 0)
		return (struct str){ 0 };
	memcpy(p + n, u->cmd.folded.p + at, f->g->end - at);
	return (struct str){ p, n + f->g->end - at };
}

/* "点个头", "关咯": other forms than the catalog's. */
static struct slot_value
slots_from_other_forms(const struct slots_fill_state *f)
{
	const struct normalized_text *form = &f->m->u->normalized;
	struct slot_value v = slot_no_value;
	struct str text;

	if ((f->slot->rx == NULL && f->slot->n_values == 0) || f->in_room)
		return slot_no_value;
	if (form->text.p != NULL)
		v = slots_from_form(
		    f, normalized_text_part(form, f->g->start, f->g->end));
	if (v.kind != VALUE_NONE)
		return v;
	text = slots_common_verbs(f);
	return text.p != NULL ? slots_from_form(f, text) : slot_no_value;
}

static struct slot_value
slots_from_name(struct slots_fill_state *f)
{
	struct str name = f->slot->def->name;

	if (str_ends(name, STR("_seconds")))
		return slots_from_time(f, STR("duration_seconds"));
	if (str_ends(name, STR("_at")))
		return slots_from_time(f, STR("trigger_at"));
	return slot_no_value;
}

static struct slot_value
slots_from_text(struct slots_fill_state *f)
{
	const struct wire_intent_slot *def = f->slot->def;
	struct str text = { f->m->u->cmd.folded.p + f->g->start,
		f->g->end - f->g->start };
	struct slot_value v = slot_no_value;

	f->in_room = false;
	if (def->from_time_key.p != NULL && f->m->u->uses_times)
		v = slots_from_time(f, def->from_time_key);
	if (v.kind == VALUE_NONE && def->n_from_entity_types > 0)
		v = slots_from_entities(f);
	if (v.kind == VALUE_NONE)
		v = slots_from_pattern(f);
	if (v.kind == VALUE_NONE && f->slot->rx == NULL)
		v = slots_from_values(f, text);
	if (v.kind == VALUE_NONE)
		v = slots_from_other_forms(f);
	if (v.kind == VALUE_NONE && f->m->u->uses_times)
		v = slots_from_name(f);
	return v;
}

/* The only number of the segment; false: none, or several. */
static bool
slots_find_number(const struct slots_fill_state *f, struct str *out)
{
	struct str text = { f->m->u->cmd.folded.p + f->g->start,
		f->g->end - f->g->start };
	struct number found[2];

	if (number_find(text, found, NELEM(found)) != 1)
		return false;
	*out = (struct str){ text.p + found[0].start,
		found[0].end - found[0].start };
	return true;
}

/*
 * The slot's value in what its segment refers to; "30" of "音量调到50，不，30"
 * replaces the number that the pattern finds there.
 */
static struct slot_value
slots_from_carried(struct slots_fill_state *f)
{
	const struct segment *g = f->g;
	struct segment carried = { .start = g->carried.start,
		.end = g->carried.end };
	struct slot_value v;
	struct str number;

	if (g->carried.end == 0)
		return slot_no_value;
	f->g = &carried;
	v = slots_from_text(f);
	f->g = g;
	if (g->amends && v.kind == VALUE_NUMBER &&
	    slots_find_number(f, &number)) {
		f->out->n_amended++;
		return slot_value_of_form(f->slot, number);
	}
	return v;
}

/* The slots that have a value as a JSON object. */
static struct str
slots_write(const struct catalog_intent *in, const struct slot_value *values,
    bool with_skill, struct arena *a)
{
	const struct wire_intent *def = in->def;
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_out o = { .b = &b };
	struct str json = { 0 };
	size_t i;

	(void)buf_reserve(&b, SLOTS_BYTES);
	wire_out_object(&o);
	for (i = 0; i < def->n_slots; i++) {
		if (values[i].kind == VALUE_NONE ||
		    (!with_skill && str_eq(def->slots[i].name, STR("skill"))))
			continue;
		wire_out_raw(&o, in->slots[i].key);
		o.comma = false;
		slot_value_put(&values[i], &o);
	}
	wire_out_object_end(&o);
	if (buf_rc(&b) == RC_OK)
		json = arena_str(a, buf_str(&b));
	buf_free(&b);
	return json;
}

/* A color implies the mode. */
static void
slots_infer_mode(const struct catalog_intent *in, struct slot_value *values)
{
	ptrdiff_t mode = in->mode, color = in->color;

	if (mode >= 0 && color >= 0 && values[mode].kind == VALUE_NONE &&
	    values[color].kind != VALUE_NONE)
		values[mode] =
		    (struct slot_value){ VALUE_TEXT, STR("set_color"), 0 };
}

/* Whether a slot is filled by times: after the others. */
static bool
slots_is_of_time(const struct wire_intent_slot *def)
{
	return def->from_time_key.p != NULL ||
	    str_ends(def->name, STR("_seconds")) ||
	    str_ends(def->name, STR("_at"));
}

/*
 * Fill the slots from the text.  Slots of times come last, because another slot
 * may hold the repetition of a time.
 */
static void
slots_fill_from_text(struct slots_fill_state *f,
    const struct catalog_intent *in, struct slot_value *values,
    bool *needs_time)
{
	const struct wire_intent *def = in->def;
	struct slot_times *s = &f->out->times;
	size_t i, pass;
	uint64_t expired;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < def->n_slots; i++) {
			if (slots_is_of_time(&def->slots[i]) != (pass == 1))
				continue;
			f->slot = &in->slots[i];
			f->expired = false;
			expired = s->expired;
			values[i] = slots_from_text(f);
			if (f->g->amends && values[i].kind != VALUE_NONE)
				f->out->n_amended++;
			if (pass == 0 && values[i].kind == VALUE_NONE)
				values[i] = slots_from_carried(f);
			/* Only one slot asks for another time. */
			needs_time[i] = f->expired &&
			    values[i].kind == VALUE_NONE &&
			    s->expired != expired;
			f->out->filled += values[i].kind != VALUE_NONE;
		}
	}
	f->out->filled += s->rejected != 0 || s->expired != 0;
}

enum rc
slots_fill(
    const struct matcher *m, const struct segment *g, struct candidate *t)
{
	const struct catalog_intent *in = t->intent;
	const struct wire_intent *def = in->def;
	size_t i, n = def->n_slots + 1;
	struct slots_fill_state f = { .m = m, .g = g, .variant = t->variant };
	struct slot_value *values;
	struct slots *out;
	bool *needs_time;

	if (t->slots != NULL)
		return RC_OK;
	out = arena_alloc(m->a, sizeof(*out));
	values = arena_alloc(m->a, n * sizeof(*values));
	needs_time = arena_alloc(m->a, n * sizeof(*needs_time));
	if (out == NULL || values == NULL || needs_time == NULL)
		return RC_TOOBIG;
	*out = (struct slots){ 0 };
	out->missing = arena_alloc(m->a, n * sizeof(*out->missing));
	if (out->missing == NULL)
		return RC_TOOBIG;
	f.out = out;
	slots_fill_from_text(&f, in, values, needs_time);
	slots_infer_mode(in, values);
	for (i = 0; i < def->n_slots; i++) {
		if (values[i].kind != VALUE_NONE)
			continue;
		if (def->slots[i].default_.p != NULL && !needs_time[i])
			values[i] = (struct slot_value){ VALUE_JSON,
				def->slots[i].default_, 0 };
		else if (def->slots[i].required || needs_time[i])
			out->missing[out->n_missing++] = def->slots[i].name;
	}
	out->parameters = slots_write(in, values, false, m->a);
	out->normalized = slots_write(in, values, true, m->a);
	if (out->normalized.p == NULL || out->parameters.p == NULL)
		return RC_TOOBIG;
	t->slots = out;
	return RC_OK;
}

/* ---- the skill ---- */

static const struct wire_skill *
skill_find(const struct wire_skill *skills, size_t n, struct str name)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (str_eq(skills[i].name, name))
			return &skills[i];
	}
	return NULL;
}

/* The members of an object without skill; skill first if it is given. */
static void
skill_put_members(
    const struct wire_tree *object, struct str skill, struct buf *b)
{
	struct wire_out o = { .b = b };
	struct wire_tree_member m;
	bool more;

	wire_out_object(&o);
	if (skill.p != NULL) {
		wire_out_key(&o, STR("skill"));
		wire_out_str(&o, skill);
	}
	for (more = wire_tree_first(object, &m); more;
	     more = wire_tree_next(object, &m)) {
		if (str_eq(m.key, STR("skill")))
			continue;
		wire_out_key(&o, m.key);
		wire_tree_put(m.value, &o);
	}
	wire_out_object_end(&o);
}

/* The required members of a schema that are absent in the arguments. */
static enum rc
skill_find_missing(const struct wire_tree *schema,
    const struct wire_tree *arguments, struct slots *s, struct arena *a)
{
	const struct wire_tree *required =
	    wire_tree_get(schema, STR("required"));
	size_t i, n = wire_tree_len(required);

	s->n_missing = 0;
	s->missing = arena_alloc(a, n * sizeof(*s->missing));
	if (s->missing == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		struct str name = wire_tree_text(wire_tree_at(required, i));

		if (name.p == NULL || wire_tree_get(arguments, name) != NULL)
			continue;
		s->missing[s->n_missing] = arena_str(a, name);
		if (s->missing[s->n_missing++].p == NULL)
			return RC_TOOBIG;
	}
	return RC_OK;
}

/* Whether the arguments are valid; s->missing is set in any case. */
static enum rc
skill_check_arguments(const struct skill_shape *shape, struct str json,
    const struct wire_tree *arguments, struct slots *s, struct arena *a)
{
	enum rc valid = wire_schema_check(shape->compiled, json, NULL);
	enum rc rc = skill_find_missing(shape->tree, arguments, s, a);

	return rc == RC_OK ? valid : rc;
}

static enum rc
skill_check_call(const struct skill_shape *shape, const struct wire_tree *call,
    struct slots *s, struct arena *a)
{
	struct str skill = wire_tree_text(wire_tree_get(call, STR("skill")));
	struct buf uncoerced = BUF_INIT(WIRE_MESSAGE_MAX);
	struct buf coerced = BUF_INIT(WIRE_MESSAGE_MAX);
	struct buf whole = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_tree *arguments = NULL;
	enum rc rc;

	skill_put_members(call, (struct str){ 0 }, &uncoerced);
	rc = buf_rc(&uncoerced);
	if (rc == RC_OK)
		rc = wire_coerce(shape->tree, buf_str(&uncoerced), &coerced);
	if (rc == RC_OK)
		rc = wire_tree_parse(buf_str(&coerced), &arguments);
	if (rc == RC_OK) {
		skill_put_members(arguments, skill, &whole);
		s->normalized = arena_str(a, buf_str(&whole));
		rc = s->normalized.p != NULL
		    ? skill_check_arguments(
			  shape, buf_str(&coerced), arguments, s, a)
		    : RC_TOOBIG;
	}
	wire_tree_free(arguments);
	buf_free(&uncoerced);
	buf_free(&coerced);
	buf_free(&whole);
	return rc == RC_OK || rc == RC_TOOBIG ? rc : RC_INVALID;
}

enum rc
skill_check(const struct skill_set *set, struct slots *s, struct arena *a)
{
	const struct skill_shape *shape;
	const struct wire_skill *skill;
	struct wire_tree *call;
	enum rc rc;

	rc = wire_tree_parse(s->normalized, &call);
	if (rc != RC_OK)
		return rc;
	skill = skill_find(set->skills, set->n,
	    wire_tree_text(wire_tree_get(call, STR("skill"))));
	if (skill == NULL)
		rc = RC_INVALID;
	else if (skill->input_schema.p != NULL)
		rc = skill_cache_get(set->cache, skill->input_schema, &shape);
	if (rc == RC_OK && skill->input_schema.p != NULL) {
		rc = skill_check_call(shape, call, s, a);
		skill_cache_return(set->cache, shape);
	}
	wire_tree_free(call);
	return rc;
}
