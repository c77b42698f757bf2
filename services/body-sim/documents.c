/*
 * The two reports as the JSON they become.
 */
#include "documents.h"

#include <stdlib.h>

#include "core/arena.h"
#include "core/log.h"
#include "core/mem.h"
#include "wire/wire.h"

/* The JSON text of the arguments, which the compiler takes apart and glues. */
#define JSON(...) #__VA_ARGS__

/* clang-format off */
static const char skills_json[] = JSON({ "skills": [
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
}
] });

static const char intents_json[] = JSON({ "intent_catalog": [
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
read_in(struct documents *d, const struct wire_desc *desc, const char *json,
    void *to)
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
	read_in(d, &wire_skills_report_desc, skills_json, &d->skills);
	read_in(d, &wire_intent_catalog_report_desc, intents_json, &d->intents);
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
