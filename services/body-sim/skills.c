/*
 * Synonyms, schema, meaning: in this order.
 */
#include "skills.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "wire/out.h"
#include "wire/schema.h"

#define HEAD_SECONDS   1.5
#define ALARM_DEFAULT  "闹钟"
#define ALARM_FAR_DAYS 366
#define DAY_MS         86400000.0
#define MEMBERS_MAX    3
#define NUMBER_MAX     1e15

static const struct {
	struct str member, said, value;
} synonyms[] = {
#define MODE(said, value)                                         \
	{                                                         \
		STR_INIT("mode"), STR_INIT(said), STR_INIT(value) \
	}
#define COLOR(said, value)                                         \
	{                                                          \
		STR_INIT("color"), STR_INIT(said), STR_INIT(value) \
	}
#define ACTION(said, value)                                         \
	{                                                           \
		STR_INIT("action"), STR_INIT(said), STR_INIT(value) \
	}
	MODE("on", "on"),
	MODE("open", "on"),
	MODE("开", "on"),
	MODE("开灯", "on"),
	MODE("打开", "on"),
	MODE("打开灯", "on"),
	MODE("把灯打开", "on"),
	MODE("灯打开", "on"),
	MODE("开启", "on"),
	MODE("off", "off"),
	MODE("close", "off"),
	MODE("关", "off"),
	MODE("关灯", "off"),
	MODE("关闭", "off"),
	MODE("关闭灯", "off"),
	MODE("把灯关掉", "off"),
	MODE("关掉", "off"),
	MODE("灯关了", "off"),
	MODE("关了", "off"),
	MODE("灯关", "off"),
	MODE("set_color", "set_color"),
	MODE("color", "set_color"),
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
	COLOR("white", "white"),
	COLOR("白", "white"),
	COLOR("白色", "white"),
	COLOR("白灯", "white"),
	COLOR("灯白色", "white"),
	COLOR("red", "red"),
	COLOR("红", "red"),
	COLOR("红色", "red"),
	COLOR("红灯", "red"),
	COLOR("green", "green"),
	COLOR("绿", "green"),
	COLOR("绿色", "green"),
	COLOR("绿灯", "green"),
	ACTION("nod", "点头"),
	ACTION("shake", "摇头"),
#undef MODE
#undef COLOR
#undef ACTION
};

/* A skill's arguments; what is none of these is of no use to the body. */
static const struct {
	const char *name;
	const char *texts[MEMBERS_MAX];
	const char *numbers[MEMBERS_MAX];
} shapes[SKILL_N] = {
	[SKILL_LIGHT] = { "control_light", { "mode", "color" }, { NULL } },
	[SKILL_ALARM] = { "create_alarm", { "trigger_at", "label" },
	    { "trigger_in_seconds" } },
	[SKILL_HEAD] = { "set_head_motion", { "action" },
	    { "duration_seconds" } },
};

struct skills {
	struct wire_schema *schema[SKILL_N];
};

const char *
skill_name(enum skill s)
{
	return shapes[s].name;
}

struct skills *
skills_new(const struct documents *d)
{
	struct skills *s = mem_zalloc(sizeof(*s));
	struct wire_err err;
	int i;

	for (i = 0; i < SKILL_N; i++) {
		const struct wire_skill *skill =
		    documents_skill(d, str_of(shapes[i].name));

		if (skill == NULL ||
		    wire_schema_new(skill->input_schema, &s->schema[i], &err) !=
			RC_OK) {
			log_error(
			    "skills.broken", LOG_S("skill", shapes[i].name));
			abort();
		}
	}
	return s;
}

void
skills_free(struct skills *s)
{
	int i;

	if (s == NULL)
		return;
	for (i = 0; i < SKILL_N; i++)
		wire_schema_free(s->schema[i]);
	free(s);
}

/* ---- normalising --------------------------------------------------------- */

/* Null is the same as nothing. */
static const struct wire_tree *
member(const struct wire_tree *const args[2], const char *name)
{
	const struct wire_tree *v;
	int i;

	for (i = 0; i < 2; i++) {
		v = wire_tree_get(args[i], str_of(name));
		if (wire_tree_kind(v) != WIRE_TREE_NULL)
			return v;
	}
	return NULL;
}

static struct str
synonym(struct str member, struct str said)
{
	size_t i;

	for (i = 0; i < NELEM(synonyms); i++) {
		if (str_eq(synonyms[i].member, member) &&
		    str_eq_nocase(synonyms[i].said, said))
			return synonyms[i].value;
	}
	return said;
}

/* What no synonym or number is found for stays, and the schema refuses it. */
static void
put_as_it_is(struct wire_out *o, const struct wire_tree *v)
{
	switch (wire_tree_kind(v)) {
	case WIRE_TREE_TEXT:
		wire_out_str(o, wire_tree_text(v));
		break;
	case WIRE_TREE_NUMBER:
		wire_out_f64(o, wire_tree_number(v));
		break;
	case WIRE_TREE_BOOL:
		wire_out_bool(o, wire_tree_bool(v));
		break;
	case WIRE_TREE_ARRAY:
		wire_out_raw(o, STR("[]"));
		break;
	case WIRE_TREE_OBJECT:
		wire_out_raw(o, STR("{}"));
		break;
	case WIRE_TREE_NULL:
		wire_out_null(o);
		break;
	}
}

static void
put_text(struct wire_out *o, const char *name, const struct wire_tree *v)
{
	if (v == NULL)
		return;
	wire_out_key(o, str_of(name));
	if (wire_tree_kind(v) == WIRE_TREE_TEXT)
		wire_out_str(
		    o, synonym(str_of(name), str_trim(wire_tree_text(v))));
	else
		put_as_it_is(o, v);
}

/* A duration of 0 means that none was given. */
static void
put_number(struct wire_out *o, const char *name, const struct wire_tree *v)
{
	double n = wire_tree_number(v);
	bool is = wire_tree_kind(v) == WIRE_TREE_NUMBER ||
	    (wire_tree_kind(v) == WIRE_TREE_TEXT &&
		str_to_f64(str_trim(wire_tree_text(v)), -NUMBER_MAX, NUMBER_MAX,
		    &n) == RC_OK);

	if (v == NULL ||
	    (is && n == 0 && str_starts(str_of(name), STR("duration"))))
		return;
	wire_out_key(o, str_of(name));
	if (is)
		wire_out_f64(o, n);
	else
		put_as_it_is(o, v);
}

static void
normalise(
    enum skill skill, const struct wire_tree *const args[2], struct buf *out)
{
	struct wire_out o = { .b = out };
	int i;

	wire_out_object(&o);
	for (i = 0; i < MEMBERS_MAX && shapes[skill].texts[i] != NULL; i++)
		put_text(&o, shapes[skill].texts[i],
		    member(args, shapes[skill].texts[i]));
	for (i = 0; i < MEMBERS_MAX && shapes[skill].numbers[i] != NULL; i++)
		put_number(&o, shapes[skill].numbers[i],
		    member(args, shapes[skill].numbers[i]));
	/* A colour alone says what to do. */
	if (skill == SKILL_LIGHT && member(args, "mode") == NULL &&
	    member(args, "color") != NULL) {
		wire_out_key(&o, STR("mode"));
		wire_out_str(&o, STR("set_color"));
	}
	wire_out_object_end(&o);
}

/* ---- meaning ------------------------------------------------------------- */

static enum rc
refuse(char why[SKILLS_WHY_MAX], const char *text)
{
	snprintf(why, SKILLS_WHY_MAX, "%s", text);
	return RC_INVALID;
}

static enum rc
read_light(const struct wire_tree *args, struct skill_call *out,
    char why[SKILLS_WHY_MAX])
{
	struct str mode = wire_tree_text(wire_tree_get(args, STR("mode")));
	struct str color = wire_tree_text(wire_tree_get(args, STR("color")));
	size_t i;

	if (str_eq(mode, STR("off"))) {
		out->color = WIRE_BODY_STATE_COLOR_OFF;
		return RC_OK;
	}
	if (color.p == NULL && str_eq(mode, STR("set_color")))
		return refuse(why, "/color: is missing; set_color needs one");
	out->color = WIRE_BODY_STATE_COLOR_WHITE;
	for (i = 0; i < NELEM(wire_body_state_color_names); i++) {
		if (str_eq(wire_body_state_color_names[i], color))
			out->color = (enum wire_body_state_color)i;
	}
	return RC_OK;
}

static enum rc
read_alarm(const struct wire_tree *args, struct wall now,
    struct skill_call *out, char why[SKILLS_WHY_MAX])
{
	const struct wire_tree *in =
	    wire_tree_get(args, STR("trigger_in_seconds"));
	const struct wire_tree *at = wire_tree_get(args, STR("trigger_at"));
	const struct wire_tree *label = wire_tree_get(args, STR("label"));
	double far_ms = ALARM_FAR_DAYS * DAY_MS;

	if (in != NULL && wire_tree_number(in) * 1000 > far_ms)
		return refuse(why, "/trigger_in_seconds: is over a year");
	if (in != NULL) {
		out->at.ms = now.ms + llround(wire_tree_number(in) * 1000);
	} else if (at == NULL) {
		return refuse(
		    why, "trigger_at or trigger_in_seconds is required");
	} else if (wall_parse(wire_tree_text(at), &out->at) != RC_OK) {
		return refuse(why,
		    "/trigger_at: must be a time with its zone, as in "
		    "2026-02-22T17:40:00+08:00");
	} else if (out->at.ms < now.ms) {
		return refuse(why, "/trigger_at: is in the past");
	} else if ((double)(out->at.ms - now.ms) > far_ms) {
		return refuse(why, "/trigger_at: is over a year away");
	}
	str_copy(wire_tree_text(label).n > 0 ? wire_tree_text(label)
					     : STR(ALARM_DEFAULT),
	    out->label, sizeof(out->label));
	return RC_OK;
}

static void
read_head(const struct wire_tree *args, struct skill_call *out)
{
	const struct wire_tree *s =
	    wire_tree_get(args, STR("duration_seconds"));
	struct str action = wire_tree_text(wire_tree_get(args, STR("action")));

	out->motion = str_eq(action, str_of(face_motion_name(FACE_NOD)))
	    ? FACE_NOD
	    : FACE_SHAKE;
	out->seconds = s != NULL ? wire_tree_number(s) : HEAD_SECONDS;
}

static enum rc
read_checked(const struct wire_tree *args, struct wall now,
    struct skill_call *out, char why[SKILLS_WHY_MAX])
{
	switch (out->skill) {
	case SKILL_LIGHT:
		return read_light(args, out, why);
	case SKILL_ALARM:
		return read_alarm(args, now, out, why);
	default:
		read_head(args, out);
		return RC_OK;
	}
}

static int
find(struct str name)
{
	int i;

	for (i = 0; i < SKILL_N; i++) {
		if (str_eq(str_of(shapes[i].name), name))
			return i;
	}
	return -1;
}

enum rc
skills_read(struct skills *s, struct str name,
    const struct wire_tree *const args[2], struct wall now,
    struct skill_call *out, char why[SKILLS_WHY_MAX])
{
	struct buf json = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_tree *clean = NULL;
	struct wire_err err;
	int skill = find(name);
	enum rc rc;

	if (skill < 0) {
		snprintf(
		    why, SKILLS_WHY_MAX, "unknown skill: %.*s", STR_ARG(name));
		return RC_NOENT;
	}
	*out = (struct skill_call){ .skill = (enum skill)skill };
	normalise(out->skill, args, &json);
	rc = buf_rc(&json);
	if (rc == RC_OK) {
		rc = wire_schema_check(s->schema[skill], buf_str(&json), &err);
		if (rc != RC_OK)
			wire_err_text(&err, why, SKILLS_WHY_MAX);
	} else {
		(void)refuse(why, "the arguments are too large");
	}
	if (rc == RC_OK)
		rc = wire_tree_parse(buf_str(&json), &clean);
	if (rc == RC_OK)
		rc = read_checked(clean, now, out, why);
	wire_tree_free(clean);
	buf_free(&json);
	return rc == RC_OK ? RC_OK : RC_INVALID;
}
