/*
 * From what was said to what a skill can be called with.
 */
#include "slots.h"

#include "core/buf.h"
#include "core/mem.h"
#include "duration.h"
#include "rx/rx.h"
#include "wire/out.h"

struct value {
	enum { VALUE_NONE, VALUE_TEXT, VALUE_NUMBER, VALUE_JSON } kind;
	struct str s; /* text or JSON */
	double number;
};

/* What people say, and the value that the minimal skill set knows for it. */
static const struct {
	struct str slot, said, value;
} synonyms[] = {
#define MODE(said, value)                                         \
	{                                                         \
		STR_INIT("mode"), STR_INIT(said), STR_INIT(value) \
	}
#define COLOR(said, value)                                         \
	{                                                          \
		STR_INIT("color"), STR_INIT(said), STR_INIT(value) \
	}
	MODE("开", "on"),
	MODE("开灯", "on"),
	MODE("打开", "on"),
	MODE("打开灯", "on"),
	MODE("把灯打开", "on"),
	MODE("灯打开", "on"),
	MODE("开启", "on"),
	MODE("open", "on"),
	MODE("关", "off"),
	MODE("关灯", "off"),
	MODE("关闭", "off"),
	MODE("关闭灯", "off"),
	MODE("把灯关掉", "off"),
	MODE("关掉", "off"),
	MODE("灯关了", "off"),
	MODE("灯关", "off"),
	MODE("关了", "off"),
	MODE("关灯", "off"),
	MODE("close", "off"),
	MODE("设置颜色", "set_color"),
	MODE("变色", "set_color"),
	MODE("变红", "set_color"),
	MODE("变红色", "set_color"),
	MODE("变绿", "set_color"),
	MODE("变绿色", "set_color"),
	MODE("变白", "set_color"),
	MODE("变白色", "set_color"),
	MODE("红灯", "set_color"),
	MODE("绿灯", "set_color"),
	MODE("白灯", "set_color"),
	MODE("color", "set_color"),
	COLOR("白", "white"),
	COLOR("白色", "white"),
	COLOR("白灯", "white"),
	COLOR("灯白色", "white"),
	COLOR("红", "red"),
	COLOR("红色", "red"),
	COLOR("红灯", "red"),
	COLOR("绿", "green"),
	COLOR("绿色", "green"),
	COLOR("绿灯", "green"),
#undef MODE
#undef COLOR
};

static struct str
synonym(struct str slot, struct str said)
{
	size_t i;

	for (i = 0; i < NELEM(synonyms); i++) {
		if (str_eq(synonyms[i].slot, slot) &&
		    str_eq_nocase(synonyms[i].said, said))
			return synonyms[i].value;
	}
	return said;
}

static struct value
text_value(struct str slot, struct str said)
{
	return (struct value){ VALUE_TEXT, synonym(slot, said), 0 };
}

/* "10" of "10分钟" is 600 seconds; without a unit it is seconds already. */
static struct value
seconds_value(struct match_text t, struct rx_span span, struct str said)
{
	struct duration d;
	double number;

	if (duration_find(t.folded, (size_t)span.start, &d) &&
	    d.start == (size_t)span.start)
		return (struct value){ VALUE_NUMBER, { 0 }, d.seconds };
	if (str_to_f64(said, 0, 1e9, &number) == RC_OK)
		return (struct value){ VALUE_NUMBER, { 0 }, number };
	return (struct value){ VALUE_TEXT, said, 0 };
}

/* An optional group that took no part fills nothing. */
static struct value
captured(
    const struct catalog_slot *slot, struct match_text t, struct rx_scratch *rx)
{
	const struct value none = { VALUE_NONE, { 0 }, 0 };
	struct rx_span span;
	struct rx_match m;
	size_t group = (size_t)slot->def->regex_group;
	struct str said;

	if (slot->rx == NULL || rx_find(slot->rx, rx, t.text, 0, &m) != RC_OK)
		return none;
	/* A pattern without that group means the whole match. */
	span = m.g[group < m.n ? group : 0];
	if (span.start < 0 || span.end <= span.start)
		return none;
	said = (struct str){ t.text.p + span.start,
		(size_t)(span.end - span.start) };
	if (str_ends(slot->def->name, STR("_seconds")))
		return seconds_value(t, span, said);
	return text_value(slot->def->name, said);
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

static void
write_value(struct wire_out *o, const struct value *v)
{
	switch (v->kind) {
	case VALUE_TEXT:
		wire_out_str(o, v->s);
		break;
	case VALUE_NUMBER:
		wire_out_f64(o, v->number);
		break;
	case VALUE_JSON:
		wire_out_raw(o, v->s);
		break;
	case VALUE_NONE:
		wire_out_null(o);
		break;
	}
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
		write_value(&o, &values[i]);
	}
	wire_out_object_end(&o);
	if (buf_rc(&b) == RC_OK)
		json = arena_str(a, buf_str(&b));
	buf_free(&b);
	return json;
}

enum rc
slots_fill(const struct catalog_intent *in, struct match_text t,
    struct rx_scratch *rx, struct arena *a, struct slots *out)
{
	const struct wire_intent *def = in->def;
	ptrdiff_t mode = slot_named(def, STR("mode"));
	ptrdiff_t color = slot_named(def, STR("color"));
	struct value *values =
	    arena_alloc(a, (def->n_slots + 1) * sizeof(*values));
	size_t i;

	*out = (struct slots){ 0 };
	out->missing = arena_alloc(a, (def->n_slots + 1) * sizeof(struct str));
	if (values == NULL || out->missing == NULL)
		return RC_TOOBIG;
	for (i = 0; i < def->n_slots; i++)
		values[i] = captured(&in->slots[i], t, rx);
	if (mode >= 0 && color >= 0 && values[mode].kind == VALUE_NONE &&
	    values[color].kind != VALUE_NONE)
		values[mode] =
		    (struct value){ VALUE_TEXT, STR("set_color"), 0 };
	for (i = 0; i < def->n_slots; i++) {
		if (values[i].kind != VALUE_NONE)
			continue;
		if (def->slots[i].default_.p != NULL)
			values[i] = (struct value){ VALUE_JSON,
				def->slots[i].default_, 0 };
		else if (def->slots[i].required)
			out->missing[out->nmissing++] = def->slots[i].name;
	}
	out->parameters = write_values(def, values, false, a);
	out->normalized = write_values(def, values, true, a);
	return out->normalized.p != NULL && out->parameters.p != NULL
	    ? RC_OK
	    : RC_TOOBIG;
}
