/*
 * The sources of a slot, one after the other.
 */
#include "slots.h"

#include "core/buf.h"
#include "entity.h"
#include "rx/rx.h"
#include "value.h"
#include "wire/out.h"

/* A verb in common form takes at most so many times its bytes. */
#define VERB_GROWTH 6

static const struct value none;

/* One segment's slots on the way. */
struct fill {
	const struct matcher *m;
	const struct segment *g;
	const struct catalog_slot *slot; /* in hand */
	struct slots *out;
	bool over; /* its time was over */
};

/* 十分钟后点头 does not ask to nod for ten minutes. */
static bool
is_moment_of_length(
    const struct wire_intent_slot *def, const struct datetime *t)
{
	return !def->required && t->kind == DATETIME_INSTANT &&
	    t->is_relative && str_find(def->name, STR("duration")) >= 0;
}

static bool
is_kind(const struct wire_intent_slot *def, const struct datetime *t)
{
	if (is_moment_of_length(def, t))
		return false;
	if (!def->has_time_kind)
		return true;
	return entity_is_duration(t) ==
	    (def->time_kind == WIRE_INTENT_SLOT_TIME_KIND_DURATION);
}

/* 今天, 这周: what needs no hour has none to ask for. */
static bool
is_whole_day(const struct reading *r, const struct datetime *t)
{
	return t->grain >= DATETIME_DAY && timing_has_now(r, t);
}

/* One of the times as the slot in hand takes it. */
static struct value
take_time(struct fill *f, const struct datetime *t, struct str key)
{
	const struct reading *r = f->m->r;
	struct timing *s = &f->out->timing;
	uint64_t bit = timing_bit(r, t);
	struct value v;

	if (t->kind == DATETIME_REPEAT && !timing_says_repeat(s, r, t)) {
		s->refused |= bit;
		return none;
	}
	v = value_of_time(r, t, key, f->m->a);
	if (v.kind != VALUE_NONE) {
		s->taken |= bit;
		f->over = false;
	} else if (!str_eq(key, STR("end_at")) && timing_is_today(r, t) &&
	    (f->slot->def->required || !is_whole_day(r, t))) {
		s->over |= bit;
		f->over = true;
	}
	return v;
}

/* Spans of time before points of time, as long as one fits. */
static struct value
from_time(struct fill *f, struct str key)
{
	const struct reading *r = f->m->r;
	struct value v;
	size_t i, pass;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < r->n_times; i++) {
			const struct datetime *t = &r->times[i];

			if (t->start < f->g->start || t->end > f->g->end ||
			    entity_is_duration(t) != (pass == 0) ||
			    !is_kind(f->slot->def, t))
				continue;
			v = take_time(f, t, key);
			if (v.kind != VALUE_NONE)
				return v;
		}
	}
	return none;
}

static void
note_span(const struct fill *f, size_t start, size_t end)
{
	timing_note(&f->out->timing, start, end);
	if (f->out->n_spans < SLOTS_SPANS)
		f->out->spans[f->out->n_spans++] =
		    (struct reading_span){ start, end };
}

/* A word of the speech: its meaning, or what the slot makes of it. */
static struct value
of_entity(const struct fill *f, const struct entity *e)
{
	struct str said = { f->m->r->cmd.folded.p + e->start,
		e->end - e->start };
	struct value v = value_of_listed(f->slot, said, NULL);

	if (v.kind == VALUE_NONE)
		v = value_of_listed(f->slot, str_of(e->value), NULL);
	if (v.kind == VALUE_NONE)
		v = (struct value){ VALUE_TEXT, str_of(e->value), 0 };
	return v;
}

static struct value
from_entities(struct fill *f)
{
	const struct wire_intent_slot *def = f->slot->def;
	const struct reading *r = f->m->r;
	struct entity e, first = { .start = (size_t)-1 };
	size_t i;

	for (i = 0; i < def->n_from_entity_types; i++) {
		if (entity_next(r, f->g->start, f->g->end,
			def->from_entity_types[i], &e) &&
		    e.start < first.start)
			first = e;
	}
	if (first.type == NULL)
		return none;
	if (first.time != NULL && def->use_normalized_entity)
		return take_time(f, first.time,
		    entity_is_duration(first.time) ? STR("duration_seconds")
						   : STR("trigger_at"));
	note_span(f, first.start, first.end);
	if (!def->use_normalized_entity)
		return (struct value){ VALUE_TEXT,
			{ r->cmd.text.p + first.start,
			    first.end - first.start },
			0 };
	return of_entity(f, &first);
}

static struct value
from_values(const struct fill *f, struct str text)
{
	struct reading_span at;
	struct value v = value_of_listed(f->slot, text, &at);

	if (v.kind != VALUE_NONE)
		note_span(f, f->g->start + at.start, f->g->start + at.end);
	return v;
}

/*
 * What a pattern captured in its match.  Words that the pattern spells around a
 * part of a time belong to it (10 of "10分钟"); but a time that it only passes
 * over is not the slot's.
 */
static struct value
of_capture(const struct fill *f, const struct rx_span *match,
    const struct rx_span *capture)
{
	const struct reading *r = f->m->r;
	size_t from = f->g->start, start = from + (size_t)capture->start;
	size_t end = from + (size_t)capture->end;
	const struct datetime *t = reading_time_at(r, start, end);
	struct value v;

	if (t != NULL && is_moment_of_length(f->slot->def, t))
		return none;
	v = value_of_said(r, f->slot, start, end);
	if (t != NULL && t->kind != DATETIME_REPEAT && v.kind == VALUE_NUMBER &&
	    str_ends(f->slot->def->name, STR("_seconds")))
		f->out->timing.taken |= timing_bit(r, t);
	if (t != NULL && start >= t->start && end <= t->end)
		timing_note(&f->out->timing, from + (size_t)match->start,
		    from + (size_t)match->end);
	else
		timing_note(&f->out->timing, start, end);
	if (f->out->n_spans < SLOTS_SPANS)
		f->out->spans[f->out->n_spans++] =
		    (struct reading_span){ from + (size_t)match->start,
			    from + (size_t)match->end };
	return v;
}

/* An optional group that took no part fills nothing. */
static struct value
from_pattern(const struct fill *f)
{
	struct str text = { f->m->r->cmd.folded.p + f->g->start,
		f->g->end - f->g->start };
	size_t group = (size_t)f->slot->def->regex_group;
	struct rx_span span;
	struct rx_match found;

	if (f->slot->rx == NULL ||
	    rx_find(f->slot->rx, f->m->rx, text, 0, &found) != RC_OK)
		return none;
	/* A pattern without that group means the whole match. */
	span = found.g[group < found.n ? group : 0];
	if (span.start < 0 || span.end <= span.start)
		return none;
	return of_capture(f, &found.g[0], &span);
}

/* The same in another form of the segment. */
static struct value
from_form(const struct fill *f, struct str text)
{
	size_t group = (size_t)f->slot->def->regex_group;
	struct rx_match found;
	struct rx_span span;

	if (f->slot->rx == NULL)
		return value_of_listed(f->slot, text, NULL);
	if (rx_find(f->slot->rx, f->m->rx, text, 0, &found) != RC_OK)
		return none;
	span = found.g[group < found.n ? group : 0];
	if (span.start < 0 || span.end <= span.start)
		return none;
	return value_of_form(f->slot,
	    (struct str){
		text.p + span.start, (size_t)(span.end - span.start) });
}

/* "开到三档" does not open. */
static bool
is_degree(const struct reading *r, size_t at)
{
	struct str after = { r->cmd.folded.p + at, r->cmd.folded.n - at };

	return str_starts(after, STR("到")) || str_starts(after, STR("成"));
}

/* The segment with the verbs that catalogs know for opening and closing. */
static struct str
common_verbs(const struct fill *f)
{
	const struct reading *r = f->m->r;
	size_t i, at = f->g->start, n = 0;
	char *p =
	    arena_alloc(f->m->a, VERB_GROWTH * (f->g->end - f->g->start) + 1);

	if (p == NULL)
		return (struct str){ 0 };
	for (i = 0; i < r->n_words && r->words[i].start < f->g->end; i++) {
		const struct speech_hit *w = &r->words[i];
		const char *verb;

		if (w->kind != SPEECH_ACTION || w->start < at ||
		    w->end > f->g->end || is_degree(r, w->end))
			continue;
		if (strcmp(w->value, "open") == 0)
			verb = "打开";
		else if (strcmp(w->value, "close") == 0)
			verb = "关闭";
		else
			continue;
		memcpy(p + n, r->cmd.folded.p + at, w->start - at);
		n += w->start - at;
		memcpy(p + n, verb, strlen(verb));
		n += strlen(verb);
		at = w->end;
	}
	if (n == 0)
		return (struct str){ 0 };
	memcpy(p + n, r->cmd.folded.p + at, f->g->end - at);
	return (struct str){ p, n + f->g->end - at };
}

/* "点个头", "关咯": not as the catalog spells it. */
static struct value
from_other_forms(const struct fill *f)
{
	const struct plain *plain = &f->m->r->plain;
	struct value v = none;
	struct str text;

	if (f->slot->rx == NULL && f->slot->n_values == 0)
		return none;
	if (plain->text.p != NULL)
		v = from_form(f, plain_part(plain, f->g->start, f->g->end));
	if (v.kind != VALUE_NONE)
		return v;
	text = common_verbs(f);
	return text.p != NULL ? from_form(f, text) : none;
}

static struct value
from_name(struct fill *f)
{
	struct str name = f->slot->def->name;

	if (str_ends(name, STR("_seconds")))
		return from_time(f, STR("duration_seconds"));
	if (str_ends(name, STR("_at")))
		return from_time(f, STR("trigger_at"));
	return none;
}

static struct value
from_text(struct fill *f)
{
	const struct wire_intent_slot *def = f->slot->def;
	struct str text = { f->m->r->cmd.folded.p + f->g->start,
		f->g->end - f->g->start };
	struct value v = none;

	if (def->from_time_key.p != NULL && f->m->r->tells_times)
		v = from_time(f, def->from_time_key);
	if (v.kind == VALUE_NONE && def->n_from_entity_types > 0)
		v = from_entities(f);
	if (v.kind == VALUE_NONE)
		v = from_pattern(f);
	if (v.kind == VALUE_NONE && f->slot->rx == NULL)
		v = from_values(f, text);
	if (v.kind == VALUE_NONE)
		v = from_other_forms(f);
	if (v.kind == VALUE_NONE && f->m->r->tells_times)
		v = from_name(f);
	return v;
}

static ptrdiff_t
slot_named(const struct wire_intent *def, struct str name)
{
	size_t i;

	for (i = 0; i < def->n_slots; i++) {
		if (str_eq(def->slots[i].name, name))
			return (ptrdiff_t)i;
	}
	return -1;
}

/* The slots that have a value as a JSON object. */
static struct str
write_values(const struct wire_intent *def, const struct value *values,
    bool with_skill, struct arena *a)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_out o = { .b = &b };
	struct str json = { 0 };
	size_t i;

	wire_out_object(&o);
	for (i = 0; i < def->n_slots; i++) {
		if (values[i].kind == VALUE_NONE ||
		    (!with_skill && str_eq(def->slots[i].name, STR("skill"))))
			continue;
		wire_out_key(&o, def->slots[i].name);
		value_put(&values[i], &o);
	}
	wire_out_object_end(&o);
	if (buf_rc(&b) == RC_OK)
		json = arena_str(a, buf_str(&b));
	buf_free(&b);
	return json;
}

/* A colour alone says what is to be done. */
static void
infer_mode(const struct wire_intent *def, struct value *values)
{
	ptrdiff_t mode = slot_named(def, STR("mode"));
	ptrdiff_t color = slot_named(def, STR("color"));

	if (mode >= 0 && color >= 0 && values[mode].kind == VALUE_NONE &&
	    values[color].kind != VALUE_NONE)
		values[mode] =
		    (struct value){ VALUE_TEXT, STR("set_color"), 0 };
}

/* Whether a slot is filled by times, so that it comes after the others. */
static bool
is_of_time(const struct wire_intent_slot *def)
{
	return def->from_time_key.p != NULL ||
	    str_ends(def->name, STR("_seconds")) ||
	    str_ends(def->name, STR("_at"));
}

/*
 * All that the text says.  Slots of times come last: another slot may say that
 * a time is repeated.
 */
static void
fill_from_text(struct fill *f, const struct catalog_intent *in,
    struct value *values, bool *asked)
{
	const struct wire_intent *def = in->def;
	struct timing *s = &f->out->timing;
	size_t i, pass;
	uint64_t over;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < def->n_slots; i++) {
			if (is_of_time(&def->slots[i]) != (pass == 1))
				continue;
			f->slot = &in->slots[i];
			f->over = false;
			over = s->over;
			values[i] = from_text(f);
			/* One slot asks for another time. */
			asked[i] = f->over && values[i].kind == VALUE_NONE &&
			    s->over != over;
			f->out->said += values[i].kind != VALUE_NONE;
		}
	}
	f->out->said += s->refused != 0 || s->over != 0;
}

enum rc
slots_fill(const struct matcher *m, const struct segment *g, struct match *t)
{
	const struct catalog_intent *in = t->intent;
	const struct wire_intent *def = in->def;
	size_t i, n = def->n_slots + 1;
	struct fill f = { .m = m, .g = g };
	struct value *values;
	struct slots *out;
	bool *asked;

	if (t->slots != NULL)
		return RC_OK;
	out = arena_alloc(m->a, sizeof(*out));
	values = arena_alloc(m->a, n * sizeof(*values));
	asked = arena_alloc(m->a, n * sizeof(*asked));
	if (out == NULL || values == NULL || asked == NULL)
		return RC_TOOBIG;
	*out = (struct slots){ 0 };
	out->missing = arena_alloc(m->a, n * sizeof(*out->missing));
	if (out->missing == NULL)
		return RC_TOOBIG;
	f.out = out;
	fill_from_text(&f, in, values, asked);
	infer_mode(def, values);
	for (i = 0; i < def->n_slots; i++) {
		if (values[i].kind != VALUE_NONE)
			continue;
		if (def->slots[i].default_.p != NULL && !asked[i])
			values[i] = (struct value){ VALUE_JSON,
				def->slots[i].default_, 0 };
		else if (def->slots[i].required || asked[i])
			out->missing[out->nmissing++] = def->slots[i].name;
	}
	out->parameters = write_values(def, values, false, m->a);
	out->normalized = write_values(def, values, true, m->a);
	if (out->normalized.p == NULL || out->parameters.p == NULL)
		return RC_TOOBIG;
	t->slots = out;
	return RC_OK;
}
