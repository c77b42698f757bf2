#include "skills.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "wire/out.h"
#include "wire/schema.h"
#include "wire/wire.h"

#define HEAD_SECONDS   1.5
#define ALARM_DEFAULT  "闹钟"
#define ALARM_FAR_DAYS 366
#define DAY_MS         86400000.0
#define MEMBERS_MAX    3
#define NUMBER_MAX     1e15

static const struct {
	struct str skill_member, spoken, value;
} skill_synonyms[] = {
#define MODE(spoken, value)                                         \
	{                                                           \
		STR_INIT("mode"), STR_INIT(spoken), STR_INIT(value) \
	}
#define COLOR(spoken, value)                                         \
	{                                                            \
		STR_INIT("color"), STR_INIT(spoken), STR_INIT(value) \
	}
#define ACTION(spoken, value)                                         \
	{                                                             \
		STR_INIT("action"), STR_INIT(spoken), STR_INIT(value) \
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

/* A skill's arguments; others are ignored. */
static const struct {
	const char *name;
	const char *texts[MEMBERS_MAX];
	const char *numbers[MEMBERS_MAX];
} skill_shapes[SKILL_N] = {
	[SKILL_LIGHT] = { "control_light", { "mode", "color" }, { NULL } },
	[SKILL_ALARM] = { "create_alarm", { "trigger_at", "label" },
	    { "trigger_in_seconds" } },
	[SKILL_HEAD] = { "set_head_motion", { "action" },
	    { "duration_seconds" } },
	[SKILL_SPEAK] = { "speak", { "text" }, { NULL } },
};

struct skills {
	struct wire_schema *schema[SKILL_N];
};

const char *
skill_name(enum skill s)
{
	return skill_shapes[s].name;
}

struct skills *
skills_new(const struct documents *d)
{
	struct skills *s = mem_zalloc(sizeof(*s));
	struct wire_err err;
	int i;

	for (i = 0; i < SKILL_N; i++) {
		const struct wire_skill *skill =
		    documents_skill(d, str_of(skill_shapes[i].name));

		if (skill != NULL &&
		    wire_schema_new(skill->input_schema, &s->schema[i], &err) !=
			RC_OK) {
			log_error("skills.broken",
			    LOG_S("skill", skill_shapes[i].name));
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

/* ---- normalization ---- */

/* A null counts as absent. */
static const struct wire_tree *
skill_member(const struct wire_tree *const args[2], const char *name)
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
skill_synonym(struct str skill_member, struct str spoken)
{
	size_t i;

	for (i = 0; i < NELEM(skill_synonyms); i++) {
		if (str_eq(skill_synonyms[i].skill_member, skill_member) &&
		    str_eq_nocase(skill_synonyms[i].spoken, spoken))
			return skill_synonyms[i].value;
	}
	return spoken;
}

/* An unknown value stays, so that the schema rejects it. */
static void
skill_put_unchanged(struct wire_out *o, const struct wire_tree *v)
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
skill_put_text(struct wire_out *o, const char *name, const struct wire_tree *v)
{
	if (v == NULL)
		return;
	wire_out_key(o, str_of(name));
	if (wire_tree_kind(v) == WIRE_TREE_TEXT)
		wire_out_str(o,
		    skill_synonym(str_of(name), str_trim(wire_tree_text(v))));
	else
		skill_put_unchanged(o, v);
}

/* A duration of 0 counts as absent. */
static void
skill_put_number(
    struct wire_out *o, const char *name, const struct wire_tree *v)
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
		skill_put_unchanged(o, v);
}

static void
skill_normalize(
    enum skill skill, const struct wire_tree *const args[2], struct buf *out)
{
	struct wire_out o = { .b = out };
	int i;

	wire_out_object(&o);
	for (i = 0; i < MEMBERS_MAX && skill_shapes[skill].texts[i] != NULL;
	     i++)
		skill_put_text(&o, skill_shapes[skill].texts[i],
		    skill_member(args, skill_shapes[skill].texts[i]));
	for (i = 0; i < MEMBERS_MAX && skill_shapes[skill].numbers[i] != NULL;
	     i++)
		skill_put_number(&o, skill_shapes[skill].numbers[i],
		    skill_member(args, skill_shapes[skill].numbers[i]));
	/* A color implies the mode. */
	if (skill == SKILL_LIGHT && skill_member(args, "mode") == NULL &&
	    skill_member(args, "color") != NULL) {
		wire_out_key(&o, STR("mode"));
		wire_out_str(&o, STR("set_color"));
	}
	wire_out_object_end(&o);
}

/* ---- parsing ---- */

static enum rc
skill_error(char why[SKILLS_ERROR_MAX], const char *text)
{
	snprintf(why, SKILLS_ERROR_MAX, "%s", text);
	return RC_INVALID;
}

static enum rc
skill_read_light(const struct wire_tree *args, struct skill_call *out,
    char why[SKILLS_ERROR_MAX])
{
	struct str mode = wire_tree_text(wire_tree_get(args, STR("mode")));
	struct str color = wire_tree_text(wire_tree_get(args, STR("color")));
	size_t i;

	if (str_eq(mode, STR("off"))) {
		out->color = WIRE_BODY_STATE_COLOR_OFF;
		return RC_OK;
	}
	if (color.p == NULL && str_eq(mode, STR("set_color")))
		return skill_error(
		    why, "/color: is missing; set_color needs one");
	out->color = WIRE_BODY_STATE_COLOR_WHITE;
	for (i = 0; i < NELEM(wire_body_state_color_names); i++) {
		if (str_eq(wire_body_state_color_names[i], color))
			out->color = (enum wire_body_state_color)i;
	}
	return RC_OK;
}

static enum rc
skill_read_alarm(const struct wire_tree *args, struct wall now,
    struct skill_call *out, char why[SKILLS_ERROR_MAX])
{
	const struct wire_tree *in =
	    wire_tree_get(args, STR("trigger_in_seconds"));
	const struct wire_tree *at = wire_tree_get(args, STR("trigger_at"));
	const struct wire_tree *label = wire_tree_get(args, STR("label"));
	double far_ms = ALARM_FAR_DAYS * DAY_MS;

	if (in != NULL && wire_tree_number(in) * 1000 > far_ms)
		return skill_error(why, "/trigger_in_seconds: is over a year");
	if (in != NULL) {
		out->at.ms = now.ms + llround(wire_tree_number(in) * 1000);
	} else if (at == NULL) {
		return skill_error(
		    why, "trigger_at or trigger_in_seconds is required");
	} else if (wall_parse(wire_tree_text(at), &out->at) != RC_OK) {
		return skill_error(why,
		    "/trigger_at: must be a time with its zone, as in "
		    "2026-02-22T17:40:00+08:00");
	} else if (out->at.ms < now.ms) {
		return skill_error(why, "/trigger_at: is in the past");
	} else if ((double)(out->at.ms - now.ms) > far_ms) {
		return skill_error(why, "/trigger_at: is over a year away");
	}
	str_copy(wire_tree_text(label).n > 0 ? wire_tree_text(label)
					     : STR(ALARM_DEFAULT),
	    out->label, sizeof(out->label));
	return RC_OK;
}

static void
skill_read_head(const struct wire_tree *args, struct skill_call *out)
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
skill_read(const struct wire_tree *args, struct wall now,
    struct skill_call *out, char why[SKILLS_ERROR_MAX])
{
	switch (out->skill) {
	case SKILL_LIGHT:
		return skill_read_light(args, out, why);
	case SKILL_ALARM:
		return skill_read_alarm(args, now, out, why);
	case SKILL_SPEAK:
		str_copy(wire_tree_text(wire_tree_get(args, STR("text"))),
		    out->text, sizeof(out->text));
		return RC_OK;
	default:
		skill_read_head(args, out);
		return RC_OK;
	}
}

static int
skill_find(struct str name)
{
	int i;

	for (i = 0; i < SKILL_N; i++) {
		if (str_eq(str_of(skill_shapes[i].name), name))
			return i;
	}
	return -1;
}

enum rc
skills_read(struct skills *s, struct str name,
    const struct wire_tree *const args[2], struct wall now,
    struct skill_call *out, char why[SKILLS_ERROR_MAX])
{
	struct buf json = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_tree *clean = NULL;
	struct wire_err err;
	int skill = skill_find(name);
	enum rc rc;

	if (skill < 0 || s->schema[skill] == NULL) {
		snprintf(why, SKILLS_ERROR_MAX, "unknown skill: %.*s",
		    STR_ARG(name));
		return RC_NOENT;
	}
	*out = (struct skill_call){ .skill = (enum skill)skill };
	skill_normalize(out->skill, args, &json);
	rc = buf_rc(&json);
	if (rc == RC_OK) {
		rc = wire_schema_check(s->schema[skill], buf_str(&json), &err);
		if (rc != RC_OK)
			wire_err_text(&err, why, SKILLS_ERROR_MAX);
	} else {
		(void)skill_error(why, "the arguments are too large");
	}
	if (rc == RC_OK)
		rc = wire_tree_parse(buf_str(&json), &clean);
	if (rc == RC_OK)
		rc = skill_read(clean, now, out, why);
	wire_tree_free(clean);
	buf_free(&json);
	return rc == RC_OK ? RC_OK : RC_INVALID;
}

/* ---- reports ---- */

/* The arguments as a JSON text, made by the preprocessor. */
#define DOCUMENT_JSON(...) #__VA_ARGS__

/* clang-format off */
static const char documents_skills_json[] = DOCUMENT_JSON({ "skills": [
{
	"name": "control_light",
	"description":
	"控制灯：开灯、关灯、设置颜色。set_color 必须给 color；on 不给 color 为白色。立即生效。",
	"input_schema": {
		"type": "object",
		"properties": {
			"mode": {
				"type": "string",
				"enum": ["on", "off", "set_color"]
			},
			"color": {
				"type": "string",
				"enum": ["white", "red", "green"]
			}
		},
		"required": ["mode"]
	}
},
{
	"name": "create_alarm",
	"description":
	"订闹钟，到点响一次。trigger_at（带时区）与 trigger_in_seconds 至少给一个。",
	"input_schema": {
		"type": "object",
		"properties": {
			"trigger_at": { "type": "string" },
			"trigger_in_seconds": {
				"type": "number",
				"minimum": 1
			},
			"label": { "type": "string" }
		}
	}
},
{
	"name": "set_head_motion",
	"description":
	"头部动作：点头/摇头，默认 1.5 秒。头只有一个：后来的动作取代先前的。",
	"input_schema": {
		"type": "object",
		"properties": {
			"action": { "type": "string", "enum": ["点头", "摇头"] },
			"duration_seconds": {
				"type": "number",
				"minimum": 0.2,
				"maximum": 10
			}
		},
		"required": ["action"]
	}
},
{
	"name": "speak",
	"description":
	"说出一段文字。服务端主动说话时使用；回复用户时不要调用，回复本身会送达。",
	"input_schema": {
		"type": "object",
		"properties": {
			"text": {
				"type": "string",
				"minLength": 1,
				"maxLength": 4096
			}
		},
		"required": ["text"]
	}
}
] });

static const char documents_intents_json[] = DOCUMENT_JSON({ "intent_catalog": [
{
	"id": "intent_light_control",
	"name": "控制灯",
	"priority": 90,
	"match": { "keywords_any": [
		"开灯", "打开灯", "把灯打开", "灯打开", "关灯", "关闭灯",
		"灯关了", "灯关", "灯", "红色", "绿色", "白色", "灯白色",
		"变红", "变绿", "变白"
	] },
	"slots": [
		{ "name": "skill", "default": "control_light" },
		{
			"name": "mode",
			"regex":
"(打?开灯|把?灯打开|打开|开启|关闭?灯|把灯关掉|灯关了|关[了掉闭]|变[红绿白]色?|[红绿白]灯)",
			"regex_group": 1
		},
		{
			"name": "color",
			"regex": "(红色|红|绿色|绿|白色|白|白灯|灯白色)",
			"regex_group": 1
		}
	]
},
{
	"id": "intent_alarm_create",
	"name": "订闹钟",
	"priority": 90,
	"match": { "keywords_any": ["闹钟", "叫我", "alarm"] },
	"slots": [
		{ "name": "skill", "default": "create_alarm" },
		{
			"name": "trigger_in_seconds",
			"required": true,
			"regex": "([0-9]+(?:\\.[0-9]+)?)\\s*(?:秒|分|小时)",
			"regex_group": 1
		},
		{ "name": "label", "default": "闹钟" }
	]
},
{
	"id": "intent_head_motion",
	"name": "头部动作",
	"priority": 80,
	"match": { "keywords_any": ["点头", "摇头"] },
	"slots": [
		{ "name": "skill", "default": "set_head_motion" },
		{
			"name": "action",
			"required": true,
			"regex": "(点头|摇头)",
			"regex_group": 1
		},
		{
			"name": "duration_seconds",
			"regex": "([0-9]+(?:\\.[0-9]+)?)\\s*秒",
			"regex_group": 1
		}
	]
}
] });
/* clang-format on */

struct documents {
	struct arena *arena;
	struct wire_skills_report skills;
	struct wire_intent_catalog_report intents;
};

static void
documents_decode(struct documents *d, const struct wire_desc *desc,
    const char *json, void *to)
{
	struct wire_err err;

	if (wire_decode(desc, str_of(json), d->arena, to, &err) == RC_OK)
		return;
	log_error(
	    "documents.broken", LOG_S("path", err.path), LOG_S("why", err.why));
	abort();
}

struct documents *
documents_new(void)
{
	struct documents *d = mem_zalloc(sizeof(*d));

	d->arena = arena_new(WIRE_ARENA_MAX);
	documents_decode(
	    d, &wire_skills_report_desc, documents_skills_json, &d->skills);
	documents_decode(d, &wire_intent_catalog_report_desc,
	    documents_intents_json, &d->intents);
	return d;
}

void
documents_free(struct documents *d)
{
	if (d == NULL)
		return;
	arena_free(d->arena);
	free(d);
}

static bool
documents_names(struct str list, struct str name)
{
	while (list.p != NULL)
		if (str_eq(str_trim(str_split(&list, ',')), name))
			return true;
	return false;
}

enum rc
documents_select(struct documents *d, struct str names)
{
	struct str list = names, skill;
	size_t i, n = 0;

	while (list.p != NULL)
		if (documents_skill(d, str_trim(str_split(&list, ','))) == NULL)
			return RC_INVALID;
	for (i = 0; i < d->skills.n_skills; i++)
		if (documents_names(names, d->skills.skills[i].name))
			d->skills.skills[n++] = d->skills.skills[i];
	d->skills.n_skills = n;
	for (i = 0, n = 0; i < d->intents.n_intent_catalog; i++) {
		struct wire_intent *in = &d->intents.intent_catalog[i];

		if (wire_tree_string(in->slots[0].default_, d->arena, &skill) ==
			RC_OK &&
		    documents_skill(d, skill) != NULL)
			d->intents.intent_catalog[n++] = *in;
	}
	d->intents.n_intent_catalog = n;
	return RC_OK;
}

const struct wire_skill *
documents_skill(const struct documents *d, struct str name)
{
	size_t i;

	for (i = 0; i < d->skills.n_skills; i++) {
		if (str_eq(d->skills.skills[i].name, name))
			return &d->skills.skills[i];
	}
	return NULL;
}

enum rc
documents_skills(const struct documents *d, struct str terminal,
    struct str hint, int64_t version, struct buf *out)
{
	struct wire_skills_report r = d->skills;

	r.terminal_id = terminal;
	if (hint.n > 0)
		r.soul_hint = hint;
	r.skill_version = version;
	return wire_encode(&wire_skills_report_desc, &r, out, NULL);
}

enum rc
documents_intents(const struct documents *d, struct str terminal,
    int64_t version, struct buf *out)
{
	struct wire_intent_catalog_report r = d->intents;

	r.terminal_id = terminal;
	r.catalog_version = version;
	return wire_encode(&wire_intent_catalog_report_desc, &r, out, NULL);
}
