/*
 * From what was said to what a skill can be called with.
 */
#include "value.h"

#include <math.h>

#include "core/mem.h"
#include "entity.h"
#include "wire/out.h"
#include "zh/number.h"

/* How far from now anything is, in seconds: some 3,000 years. */
#define SECONDS_MAX 1e11
/* Longest run of digits that is a number and not a code. */
#define DIGITS_MAX 15

/* What people say, and the value that the minimal skill set knows for it. */
static const struct {
	const char *slot, *value;
	const char *said; /* separated by blanks */
} synonyms[] = {
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

static bool
has_word(const char *list, struct str said)
{
	struct str rest = str_of(list);

	while (rest.p != NULL) {
		if (str_eq(str_split(&rest, ' '), said))
			return true;
	}
	return false;
}

static struct str
synonym(struct str slot, struct str folded, struct str said)
{
	size_t i;

	for (i = 0; i < NELEM(synonyms); i++) {
		if (str_eq(str_of(synonyms[i].slot), slot) &&
		    has_word(synonyms[i].said, folded))
			return str_of(synonyms[i].value);
	}
	return said;
}

/* Slots that hold words even where these are digits. */
static bool
holds_words(struct str name)
{
	static const char words[] = "label title name text content song query "
				    "message artist note skill mode album "
				    "keyword topic person place";

	return has_word(words, name);
}

/* Slots that hold a number even where it is written in words. */
static bool
holds_number(struct str name)
{
	static const struct str ends[] = { STR_INIT("seconds"),
		STR_INIT("minutes"), STR_INIT("hours"), STR_INIT("count"),
		STR_INIT("number"), STR_INIT("level"), STR_INIT("percent"),
		STR_INIT("temperature"), STR_INIT("temp"), STR_INIT("volume"),
		STR_INIT("degree"), STR_INIT("degrees"), STR_INIT("angle"),
		STR_INIT("speed"), STR_INIT("brightness"), STR_INIT("value"),
		STR_INIT("times"), STR_INIT("duration"), STR_INIT("index"),
		STR_INIT("channel"), STR_INIT("amount"), STR_INIT("steps"),
		STR_INIT("distance"), STR_INIT("step"), STR_INIT("delta") };
	size_t i;

	for (i = 0; i < NELEM(ends); i++) {
		if (str_ends(name, ends[i]))
			return true;
	}
	return false;
}

/* A pattern that takes digits takes a number. */
static bool
takes_digits(const struct catalog_slot *slot)
{
	return slot->def->regex.p != NULL &&
	    (str_find(slot->def->regex, STR("0-9")) >= 0 ||
		str_find(slot->def->regex, STR("\\d")) >= 0);
}

static bool
is_plain_number(struct str s)
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

static struct value
number_value(double number)
{
	return (struct value){ VALUE_NUMBER, { 0 }, number };
}

/* How far from now; 0 if it is not to come, or in no calendar. */
static double
ahead(const struct reading *r, const struct datetime *t)
{
	if (t->kind == DATETIME_DURATION || (t->is_relative && t->seconds > 0))
		return t->seconds <= SECONDS_MAX ? t->seconds : 0;
	return t->at.ms > r->now.ms ? (double)(t->at.ms - r->now.ms) / 1000 : 0;
}

/* "10" of "10分钟" is 600 seconds; without a unit it is seconds already. */
static bool
seconds_of(const struct reading *r, size_t start, size_t end, double *out)
{
	const struct datetime *t = reading_time_at(r, start, end);
	struct number number;

	if (t != NULL && (*out = ahead(r, t)) > 0)
		return true;
	if (!number_at((struct str){ r->cmd.folded.p, end }, start, &number) ||
	    number.end != end)
		return false;
	*out = number.value;
	return true;
}

/* Whether a catalog says just that: its spelling is the value's. */
static bool
spells(struct str pattern, struct str folded)
{
	size_t i;

	for (i = 0; i < folded.n; i++) {
		if ((unsigned char)folded.p[i] < 0x80)
			return false;
	}
	return str_find(pattern, folded) >= 0;
}

static struct value
listed(const struct catalog_slot *slot, struct str folded, bool whole,
    struct reading_span *span)
{
	size_t i;

	for (i = 0; i < slot->n_values; i++) {
		struct str word = slot->values[i].folded;
		ptrdiff_t at = str_find(folded, word);

		if (whole ? !str_eq(folded, word)
			  : at < 0 || word.n == 0 ||
			    !speech_is_word(
				folded, (size_t)at, (size_t)at + word.n))
			continue;
		if (span != NULL)
			*span = (struct reading_span){ (size_t)at,
				(size_t)at + word.n };
		return (struct value){ VALUE_JSON, slot->values[i].json, 0 };
	}
	return (struct value){ VALUE_NONE, { 0 }, 0 };
}

struct value
value_of_listed(
    const struct catalog_slot *slot, struct str folded, struct reading_span *at)
{
	return listed(slot, folded, false, at);
}

/* By the slot's own values, or as a number. */
static struct value
by_slot(const struct catalog_slot *slot, struct str folded)
{
	struct str name = slot->def->name;
	struct number number;
	struct value v = listed(slot, folded, true, NULL);

	if (v.kind == VALUE_NONE)
		v = listed(slot, folded, false, NULL);
	if (v.kind != VALUE_NONE || holds_words(name) ||
	    !(is_plain_number(folded) || holds_number(name) ||
		takes_digits(slot)))
		return v;
	if (number_at(folded, 0, &number) && number.end == folded.n)
		return number_value(number.value);
	return v;
}

struct value
value_of_form(const struct catalog_slot *slot, struct str folded)
{
	struct value v = by_slot(slot, folded);

	if (v.kind != VALUE_NONE)
		return v;
	return (struct value){ VALUE_TEXT,
		synonym(slot->def->name, folded, folded), 0 };
}

struct value
value_of_said(const struct reading *r, const struct catalog_slot *slot,
    size_t start, size_t end)
{
	struct str folded = { r->cmd.folded.p + start, end - start };
	struct str said = { r->cmd.text.p + start, end - start };
	struct str name = slot->def->name;
	struct value v;
	double seconds;

	if (slot->n_values == 0 && str_ends(name, STR("_seconds")) &&
	    seconds_of(r, start, end, &seconds))
		return number_value(seconds);
	v = by_slot(slot, folded);
	if (v.kind != VALUE_NONE)
		return v;
	return (struct value){ VALUE_TEXT,
		synonym(name, folded,
		    spells(slot->def->regex, folded) ? folded : said),
		0 };
}

static struct value
moment(struct wall t, int offset_min, struct arena *a)
{
	char text[WALL_FORMAT_MAX];
	struct str s;

	wall_format(t, offset_min, text);
	s = arena_str(a, str_of(text));
	return (struct value){ s.p != NULL ? VALUE_TEXT : VALUE_NONE, s, 0 };
}

/* The moment so many seconds from now. */
static struct value
after(const struct reading *r, double seconds, struct arena *a)
{
	int64_t ms = (int64_t)llround(seconds * 1000);

	if (ms <= 0)
		return (struct value){ VALUE_NONE, { 0 }, 0 };
	return moment((struct wall){ r->now.ms + ms }, r->offset_min, a);
}

struct value
value_of_time(const struct reading *r, const struct datetime *t, struct str key,
    struct arena *a)
{
	const struct value none = { VALUE_NONE, { 0 }, 0 };
	double seconds = ahead(r, t);
	bool counted = entity_is_duration(t);

	if (str_eq(key, STR("duration_seconds")))
		return seconds > 0 ? number_value(seconds) : none;
	if (str_eq(key, STR("trigger_at")))
		return counted      ? after(r, seconds, a)
		    : t->at.ms != 0 ? moment(t->at, t->at_offset_min, a)
				    : none;
	if (str_eq(key, STR("end_at")) && !counted && t->to.ms > r->now.ms)
		return moment(t->to, t->offset_min, a);
	return none;
}

void
value_put(const struct value *v, struct wire_out *o)
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
