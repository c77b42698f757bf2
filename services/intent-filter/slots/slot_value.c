/*
 * Values of slots: what a skill is called with.
 */
#include <math.h>

#include "core/mem.h"
#include "slots/slots.h"
#include "wire/out.h"
#include "zh/number.h"

/* Largest distance from now, in seconds: some 3,000 years. */
#define SECONDS_MAX 1e11
/* Longest run of digits that is a number and not a code. */
#define DIGITS_MAX 15

/* Phrases, and the value that the minimal skill set has for them. */
static const struct {
	const char *slot, *value;
	const char *text; /* separated by blanks */
} slot_value_synonyms[] = {
	{ "mode", "on",
	    "开 开灯 打开 打开灯 把灯打开 灯打开 开启 点亮 open on turn_on" },
	{ "mode", "off",
	    "关 关灯 关闭 关闭灯 把灯关掉 关掉 关上 灯关了 灯关 关了 熄灭 close "
	    "off turn_off" },
	{ "mode", "set_color",
	    "设置颜色 变色 变红 变红色 变绿 变绿色 变白 变白色 红灯 绿灯 白灯 "
	    "变蓝 变蓝色 变黄 变黄色 换颜色 color" },
	{ "color", "white", "白 白色 白灯 灯白色 变白 变白色" },
	{ "color", "red", "红 红色 红灯 灯红色 变红 变红色" },
	{ "color", "green", "绿 绿色 绿灯 灯绿色 变绿 变绿色" },
	{ "color", "blue", "蓝 蓝色 蓝灯 变蓝 变蓝色" },
	{ "color", "yellow", "黄 黄色 黄灯 变黄 变黄色" },
	{ "color", "purple", "紫 紫色 紫灯 变紫 变紫色" },
	{ "color", "orange", "橙 橙色 橘色" },
	{ "color", "pink", "粉 粉色 粉红 粉红色" },
};

static struct str
slot_value_synonym(struct str slot, struct str folded, struct str text)
{
	size_t i;

	for (i = 0; i < NELEM(slot_value_synonyms); i++) {
		if (str_eq(str_of(slot_value_synonyms[i].slot), slot) &&
		    vocabulary_list_has(
			str_of(slot_value_synonyms[i].text), folded))
			return str_of(slot_value_synonyms[i].value);
	}
	return text;
}

static bool
slot_value_is_number(struct str s)
{
	size_t i, points = 0;

	if (s.n == 0 || s.n > DIGITS_MAX)
		return false;
	for (i = 0; i < s.n; i++) {
		if (s.p[i] == '.' && i > 0 && i + 1 < s.n)
			points++;
		else if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	}
	/* 007 and 0755 are codes. */
	return points <= 1 && !(s.n > 1 && s.p[0] == '0' && s.p[1] != '.');
}

static struct slot_value
slot_value_number(double number)
{
	return (struct slot_value){ VALUE_NUMBER, { 0 }, number };
}

/* Seconds from now; 0: not in the future, or too far. */
static double
slot_value_seconds_ahead(const struct utterance *u, const struct datetime *t)
{
	if (t->kind == DATETIME_DURATION || (t->is_relative && t->seconds > 0))
		return t->seconds <= SECONDS_MAX ? t->seconds : 0;
	return t->at.ms > u->now.ms ? (double)(t->at.ms - u->now.ms) / 1000 : 0;
}

/* "10" of "10分钟" is 600 seconds; without a unit it is in seconds. */
static bool
slot_value_seconds(
    const struct utterance *u, size_t start, size_t end, double *out)
{
	const struct datetime *t = utterance_time_at(u, start, end);
	struct number number;

	if (t != NULL && (*out = slot_value_seconds_ahead(u, t)) > 0)
		return true;
	if (!number_at((struct str){ u->cmd.folded.p, end }, start, &number) ||
	    number.end != end)
		return false;
	*out = number.value;
	return true;
}

/* Whether the pattern spells the text: then its spelling is the value. */
static bool
slot_value_is_spelled(struct str pattern, struct str folded)
{
	size_t i;

	for (i = 0; i < folded.n; i++) {
		if ((unsigned char)folded.p[i] < 0x80)
			return false;
	}
	return str_find(pattern, folded) >= 0;
}

static struct slot_value
slot_value_listed(const struct catalog_slot *slot, struct str folded,
    bool whole, struct text_span *span)
{
	size_t i;

	for (i = 0; i < slot->n_values; i++) {
		struct str word = slot->values[i].folded;
		ptrdiff_t at = str_find(folded, word);

		if (whole ? !str_eq(folded, word)
			  : at < 0 || word.n == 0 ||
			    !vocabulary_is_whole_word(
				folded, (size_t)at, (size_t)at + word.n))
			continue;
		if (span != NULL)
			*span = (struct text_span){ (size_t)at,
				(size_t)at + word.n };
		return (
		    struct slot_value){ VALUE_JSON, slot->values[i].json, 0 };
	}
	return (struct slot_value){ VALUE_NONE, { 0 }, 0 };
}

struct slot_value
slot_value_of_listed(
    const struct catalog_slot *slot, struct str folded, struct text_span *at)
{
	return slot_value_listed(slot, folded, false, at);
}

/* By the slot's own values, or as a number. */
static struct slot_value
slot_value_by_slot(const struct catalog_slot *slot, struct str folded)
{
	struct number number;
	struct slot_value v = slot_value_listed(slot, folded, true, NULL);

	if (v.kind == VALUE_NONE)
		v = slot_value_listed(slot, folded, false, NULL);
	if (v.kind != VALUE_NONE ||
	    (slot->traits & CATALOG_SLOT_HOLDS_WORDS) != 0 ||
	    !((slot->traits & CATALOG_SLOT_HOLDS_NUMBER) != 0 ||
		slot_value_is_number(folded)))
		return v;
	if (number_at(folded, 0, &number) && number.end == folded.n)
		return slot_value_number(number.value);
	return v;
}

struct slot_value
slot_value_of_form(const struct catalog_slot *slot, struct str folded)
{
	struct slot_value v = slot_value_by_slot(slot, folded);

	if (v.kind != VALUE_NONE)
		return v;
	return (struct slot_value){ VALUE_TEXT,
		slot_value_synonym(slot->def->name, folded, folded), 0 };
}

struct slot_value
slot_value_of_text(const struct utterance *u, const struct catalog_slot *slot,
    size_t start, size_t end)
{
	struct str folded = { u->cmd.folded.p + start, end - start };
	struct str text = { u->cmd.text.p + start, end - start };
	struct str name = slot->def->name;
	struct slot_value v;
	double seconds;

	if (slot->n_values == 0 && str_ends(name, STR("_seconds")) &&
	    slot_value_seconds(u, start, end, &seconds))
		return slot_value_number(seconds);
	v = slot_value_by_slot(slot, folded);
	if (v.kind != VALUE_NONE)
		return v;
	return (struct slot_value){ VALUE_TEXT,
		slot_value_synonym(name, folded,
		    slot_value_is_spelled(slot->def->regex, folded) ? folded
								    : text),
		0 };
}

static struct slot_value
slot_value_instant(struct wall t, int offset_min, struct arena *a)
{
	struct str s = wall_text(t, offset_min, a);

	return (
	    struct slot_value){ s.p != NULL ? VALUE_TEXT : VALUE_NONE, s, 0 };
}

/* The instant a number of seconds from now. */
static struct slot_value
slot_value_after(const struct utterance *u, double seconds, struct arena *a)
{
	int64_t ms = (int64_t)llround(seconds * 1000);

	if (ms <= 0)
		return (struct slot_value){ VALUE_NONE, { 0 }, 0 };
	return slot_value_instant(
	    (struct wall){ u->now.ms + ms }, u->offset_min, a);
}

struct slot_value
slot_value_of_time(const struct utterance *u, const struct datetime *t,
    struct str key, struct arena *a)
{
	const struct slot_value none = { VALUE_NONE, { 0 }, 0 };
	double seconds = slot_value_seconds_ahead(u, t);
	bool counted = entity_is_duration(t);

	if (str_eq(key, STR("duration_seconds")))
		return seconds > 0 ? slot_value_number(seconds) : none;
	if (str_eq(key, STR("trigger_at")))
		return counted ? slot_value_after(u, seconds, a)
		    : t->at.ms != 0
		    ? slot_value_instant(t->at, t->at_offset_min, a)
		    : none;
	if (str_eq(key, STR("end_at")) && !counted && t->to.ms > u->now.ms)
		return slot_value_instant(t->to, t->offset_min, a);
	return none;
}

void
slot_value_put(const struct slot_value *v, struct wire_out *o)
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
