/*
 * Labels, names and schemas of skills; the cache keyed by the skills' JSON.
 */
#include "tools/tool_catalog.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/map.h"
#include "core/mem.h"
#include "tools/tool_schema.h"
#include "wire/coerce.h"
#include "wire/msgs.h"
#include "wire/out.h"
#include "wire/schema.h"
#include "wire/tree.h"
#include "wire/wire.h"

/* The arguments of recall_memory; all are optional. */
#define QUERY_HELP "要查找的内容；没有就是用户刚说的话"
#define RECALL(of_number, of_all)                         \
	"{\"type\":\"object\",\"properties\":{"           \
	"\"query\":{\"type\":\"string\",\"description\":" \
	"\"" QUERY_HELP "\"},"                            \
	"\"top_k\":{" of_number "\"type\":\"integer\","   \
	"\"minimum\":1,\"maximum\":10,\"default\":5,"     \
	"\"description\":\"最多几条\"}}" of_all "}"
/* The argument of forget_memory. */
#define FORGET_HELP                                  \
	"要忘掉的内容，一句完整的话；" \
	"尽量用记忆的原话，"                \
	"把“这个”换成所指的事"
#define FORGET(of_query)                                              \
	"{\"type\":\"object\",\"properties\":{"                       \
	"\"query\":{\"type\":\"string\"," of_query "\"description\":" \
	"\"" FORGET_HELP "\"}},\"required\":[\"query\"]}"
/* The argument of more_tools. */
#define MORE                                                          \
	"{\"type\":\"object\",\"properties\":{\"query\":{"            \
	"\"type\":\"string\",\"minLength\":1,\"maxLength\":500,"      \
	"\"description\":\"要做的事，或者工具的名字\"}}," \
	"\"required\":[\"query\"]}"
/* Longest label, in code points. */
#define LABEL_MAX 12
/* A substitute name: legal characters of the skill, '_', 8 digits. */
#define NAME_PREFIX_MAX 48

struct tool_catalog {
	struct tool *list;
	size_t n;
	struct tool recall, forget, more;
	struct arena *texts; /* owned; or NULL */
	size_t refs;
};

/* ---- labels ---- */

/* The first clause of a description, if it is short; else absent. */
static struct str
tool_clause(struct str s)
{
	static const struct str ends = STR_INIT("：:，,。.；;（(、/！!？?\r\n");
	size_t pos = 0, n = 0, at = 0;
	int32_t c;

	s = str_trim(s);
	if (s.n == 0)
		return (struct str){ 0 };
	while (at = pos, (c = str_utf8_next(s, &pos)) >= 0) {
		struct str one = { s.p + at, pos - at };
		if (str_find(ends, one) >= 0)
			break;
		if (++n > LABEL_MAX)
			return (struct str){ 0 };
	}
	struct str label = str_trim((struct str){ s.p, at });
	return label.n > 0 ? label : (struct str){ 0 };
}

static struct str
tool_usual_label(struct str member)
{
	static const struct {
		struct str member, label;
	} rows[] = {
		{ STR_INIT("action"), STR_INIT("动作") },
		{ STR_INIT("brightness"), STR_INIT("亮度") },
		{ STR_INIT("color"), STR_INIT("颜色") },
		{ STR_INIT("device"), STR_INIT("设备") },
		{ STR_INIT("duration_seconds"), STR_INIT("时长") },
		{ STR_INIT("label"), STR_INIT("名称") },
		{ STR_INIT("mode"), STR_INIT("模式") },
		{ STR_INIT("room"), STR_INIT("房间") },
		{ STR_INIT("target"), STR_INIT("对象") },
		{ STR_INIT("temperature"), STR_INIT("温度") },
		{ STR_INIT("trigger_at"), STR_INIT("时间") },
		{ STR_INIT("trigger_in_seconds"), STR_INIT("时间") },
		{ STR_INIT("volume"), STR_INIT("音量") },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		if (str_eq(rows[i].member, member))
			return rows[i].label;
	}
	return member;
}

struct str
tool_member_label(const struct tool *tool, struct str member, struct arena *a)
{
	struct wire_tree *v;

	if (tool == NULL || wire_tree_parse(tool->schema, &v) != RC_OK)
		return tool_usual_label(member);
	const struct wire_tree *p =
	    wire_tree_get(wire_tree_get(v, STR("properties")), member);
	struct str label =
	    tool_clause(wire_tree_text(wire_tree_get(p, STR("title"))));
	if (label.p == NULL)
		label = tool_clause(
		    wire_tree_text(wire_tree_get(p, STR("description"))));
	label =
	    label.p != NULL ? arena_str(a, label) : tool_usual_label(member);
	wire_tree_free(v);
	return label;
}

/* ---- names ---- */

static bool
tool_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* FNV-1a: a skill has the same name in every turn. */
static uint32_t
tool_hash(struct str s, uint32_t seed)
{
	uint32_t h = 2166136261U ^ seed;

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 16777619U;
	return h;
}

static bool
tool_is_built_in(struct str name)
{
	return str_eq(name, STR(TOOL_NAME_RECALL)) ||
	    str_eq(name, STR(TOOL_NAME_FORGET)) ||
	    str_eq(name, STR(TOOL_NAME_MORE));
}

static struct str
tool_make_name(struct str skill, uint32_t seed, struct arena *a)
{
	char prefix[NAME_PREFIX_MAX + 1];
	size_t n = 0;
	bool whole =
	    seed == 0 && skill.n <= TOOL_NAME_MAX && !tool_is_built_in(skill);

	for (size_t i = 0; i < skill.n; i++) {
		if (!tool_name_char(skill.p[i]))
			whole = false;
		else if (n < NAME_PREFIX_MAX)
			prefix[n++] = skill.p[i];
	}
	if (whole)
		return skill;
	prefix[n] = '\0';
	return arena_printf(
	    a, "%s_%08x", n > 0 ? prefix : "skill", tool_hash(skill, seed));
}

struct str
tool_legal_name(struct str name, struct arena *a)
{
	return tool_is_built_in(name) ? name : tool_make_name(name, 0, a);
}

struct tool *
tool_catalog_by_name(struct tool_catalog *t, struct str name)
{
	for (size_t i = 0; i < t->n; i++) {
		if (str_eq(t->list[i].name, name))
			return &t->list[i];
	}
	if (str_eq(name, t->forget.name))
		return &t->forget;
	if (str_eq(name, t->more.name))
		return &t->more;
	return str_eq(name, t->recall.name) ? &t->recall : NULL;
}

struct tool *
tool_catalog_by_skill(struct tool_catalog *t, struct str skill)
{
	for (size_t i = 0; i < t->n; i++) {
		if (str_eq(t->list[i].skill, skill))
			return &t->list[i];
	}
	return NULL;
}

/* ---- decoding ---- */

/*
 * The schema as every provider accepts it, with "type": "object"; absent if it
 * is of another type.
 */
static enum rc
tool_object_schema(struct str schema, struct arena *a, struct str *out)
{
	struct wire_tree *v;

	*out = STR(TOOL_SCHEMA_ANY);
	if (schema.p == NULL)
		return RC_OK;
	*out = (struct str){ 0 };
	if (wire_tree_parse(schema, &v) != RC_OK)
		return RC_OK;
	bool is = wire_tree_kind(v) == WIRE_TREE_OBJECT;
	const struct wire_tree *type = wire_tree_get(v, STR("type"));
	bool typed = str_eq(wire_tree_text(type), STR("object"));
	if (is && wire_tree_len(v) == 0)
		*out = STR(TOOL_SCHEMA_ANY);
	else if (is && typed)
		*out = arena_str(a, schema);
	else if (is && type == NULL)
		*out = arena_printf(a, "{\"type\":\"object\",%.*s",
		    (int)schema.n - 1, schema.p + 1);
	wire_tree_free(v);
	return is && (typed || type == NULL) && out->p == NULL ? RC_TOOBIG
							       : RC_OK;
}

static void
tool_read_extensions(struct tool *tool)
{
	struct wire_tree *v;

	if (str_find(tool->schema, STR("\"x-")) < 0 ||
	    wire_tree_parse(tool->schema, &v) != RC_OK)
		return;
	double s = wire_tree_number(wire_tree_get(v, STR("x-timeout-seconds")));
	if (s >= 1 && s <= TOOL_TIMEOUT_MAX)
		tool->timeout_s = (int64_t)s;
	tool->safety = wire_tree_bool(wire_tree_get(v, STR("x-safety")));
	wire_tree_free(v);
}

static enum rc
tool_read(struct tool_catalog *t, const struct wire_skill *s, struct arena *a)
{
	struct tool *tool = &t->list[t->n];
	uint32_t seed = 0;

	tool->skill = arena_str(a, s->name);
	tool->description = arena_str(a, s->description);
	enum rc rc = tool_object_schema(s->input_schema, a, &tool->schema);
	if (rc != RC_OK || tool->skill.p == NULL ||
	    (s->description.p != NULL && tool->description.p == NULL))
		return RC_TOOBIG;
	if (tool->schema.p == NULL) {
		tool->loose = true;
		tool->schema = STR(TOOL_SCHEMA_ANY);
	}
	tool_read_extensions(tool);
	if (tool_schema_shown(tool->schema, WIRE_SCHEMA_MAX, a, &tool->shown) !=
	    RC_OK)
		return RC_TOOBIG;
	do {
		tool->name = tool_make_name(tool->skill, seed++, a);
		if (tool->name.p == NULL)
			return RC_TOOBIG;
	} while (tool_catalog_by_name(t, tool->name) != NULL);
	tool->label = tool_clause(tool->description);
	if (tool->label.p == NULL)
		tool->label = tool->skill;
	t->n++;
	return RC_OK;
}

static void
tool_recall_init(struct tool *tool)
{
	*tool = (struct tool){
		.skill = STR(TOOL_NAME_RECALL),
		.name = STR(TOOL_NAME_RECALL),
		.label = STR("回忆"),
		.description =
		    STR("查找与用户有关的过去的记忆。只有回答需要以前"
			"说过或发生过的事情时才使用。"),
		.schema = STR(RECALL("\"x-clamp\":true,", "")),
		.shown = STR(RECALL("", ",\"required\":[\"query\"]")),
		.kind = TOOL_RECALL,
	};
}

static void
tool_forget_init(struct tool *tool)
{
	*tool = (struct tool){
		.skill = STR(TOOL_NAME_FORGET),
		.name = STR(TOOL_NAME_FORGET),
		.label = STR("忘掉记忆"),
		.description =
		    STR("忘掉与用户有关的一条记忆，不能恢复。只有用户"
			"要求忘掉时才使用。结果的 forgotten 是真正忘掉了的"
			"内容；空的表示没有相符的记忆，什么都没有忘掉。"),
		.schema = STR(FORGET("\"minLength\":1,\"maxLength\":500,")),
		.shown = STR(FORGET("")),
		.kind = TOOL_FORGET,
	};
}

static void
tool_more_init(struct tool *tool)
{
	*tool = (struct tool){
		.skill = STR(TOOL_NAME_MORE),
		.name = STR(TOOL_NAME_MORE),
		.label = STR("找工具"),
		.description =
		    STR("查找没有列出来的工具。需要的工具不在其中时才使用；"
			"找到的工具下一步就可以用。"),
		.schema = STR(MORE),
		.shown = STR(MORE),
		.kind = TOOL_MORE,
	};
}

/* ---- tools of providers ---- */

/* Longest label of a tool, in bytes. */
#define PROVIDED_LABEL_MAX 64

enum rc
tool_from_definition(
    const struct wire_tool_definition *d, struct arena *a, struct tool *out)
{
	*out = (struct tool){ .name = arena_str(a, d->name),
		.description = arena_str(a, d->description),
		.timeout_s = d->timeout_s,
		.needs_approval = d->policy == WIRE_TOOL_DEFINITION_POLICY_ASK,
		.kind = TOOL_PROVIDED };
	out->safety = d->read_only && !out->needs_approval;
	out->skill = out->name;
	out->label = tool_clause(d->title);
	if (out->label.p == NULL)
		out->label =
		    d->tool.n <= PROVIDED_LABEL_MAX ? d->tool : d->name;
	out->label = arena_str(a, out->label);
	enum rc rc = tool_object_schema(d->schema, a, &out->schema);
	if (rc != RC_OK || out->name.p == NULL || out->label.p == NULL ||
	    (d->description.p != NULL && out->description.p == NULL))
		return RC_TOOBIG;
	if (out->schema.p == NULL) {
		out->loose = true;
		out->schema = STR(TOOL_SCHEMA_ANY);
	}
	return tool_schema_shown(
	    out->schema, TOOL_SCHEMA_SHOWN_MAX, a, &out->shown);
}

void
tool_release(struct tool *tool)
{
	wire_schema_free(tool->compiled);
	tool->compiled = NULL;
}

/* Decoding needs several times the text's size, from a temporary arena. */
enum rc
tool_catalog_new(struct str skills, struct arena *a, struct tool_catalog **out)
{
	struct wire_skills_report rep = { 0 };
	struct arena *scratch = arena_new(WIRE_ARENA_MAX);
	struct tool_catalog *t = mem_zalloc(sizeof(*t));
	enum rc rc = RC_OK;

	t->refs = 1;
	tool_recall_init(&t->recall);
	tool_forget_init(&t->forget);
	tool_more_init(&t->more);
	if (skills.p != NULL)
		rc = wire_decode(
		    &wire_skills_report_desc, skills, scratch, &rep, NULL);
	t->list = mem_calloc(rep.n_skills + 1, sizeof(*t->list));
	for (size_t i = 0; rc == RC_OK && i < rep.n_skills; i++) {
		if (tool_catalog_by_skill(t, rep.skills[i].name) == NULL)
			rc = tool_read(t, &rep.skills[i], a);
	}
	arena_free(scratch);
	if (rc == RC_OK)
		*out = t;
	else
		tool_catalog_free(t);
	return rc;
}

void
tool_catalog_free(struct tool_catalog *t)
{
	if (t == NULL || --t->refs > 0)
		return;
	for (size_t i = 0; i < t->n; i++)
		tool_release(&t->list[i]);
	tool_release(&t->recall);
	tool_release(&t->forget);
	tool_release(&t->more);
	free(t->list);
	arena_free(t->texts);
	free(t);
}

struct tool_catalog *
tool_catalog_ref(struct tool_catalog *t)
{
	t->refs++;
	return t;
}

void
tool_catalog_own_texts(struct tool_catalog *t, struct arena *a)
{
	t->texts = a;
}

size_t
tool_catalog_n(const struct tool_catalog *t)
{
	return t->n;
}

struct tool *
tool_catalog_at(struct tool_catalog *t, size_t i)
{
	return i < t->n ? &t->list[i] : NULL;
}

struct tool *
tool_catalog_recall(struct tool_catalog *t)
{
	return &t->recall;
}

struct tool *
tool_catalog_forget(struct tool_catalog *t)
{
	return &t->forget;
}

struct tool *
tool_catalog_more(struct tool_catalog *t)
{
	return &t->more;
}

/* ---- arguments ---- */

void
tool_prepare(struct tool *tool)
{
	if (tool->loose || tool->compiled != NULL)
		return;
	if (wire_schema_new(tool->schema, &tool->compiled, NULL) == RC_OK)
		return;
	tool->loose = true;
	tool->schema = tool->shown = STR(TOOL_SCHEMA_ANY);
}

static bool
tool_is_object(struct str json)
{
	struct wire_tree *v;
	bool is;

	if (wire_tree_parse(json, &v) != RC_OK)
		return false;
	is = wire_tree_kind(v) == WIRE_TREE_OBJECT;
	wire_tree_free(v);
	return is;
}

static enum rc
tool_not_object(struct wire_err *err)
{
	err->path[0] = '\0';
	snprintf(err->why, sizeof(err->why), "must be a JSON object");
	return RC_INVALID;
}

static enum rc
tool_coerce(const struct tool *tool, struct str json, struct buf *out)
{
	struct wire_tree *schema;
	enum rc rc = wire_tree_parse(tool->schema, &schema);

	if (rc != RC_OK)
		return rc;
	rc = wire_coerce(schema, json, out);
	wire_tree_free(schema);
	return rc;
}

enum rc
tool_arguments(struct tool *tool, struct str json, struct arena *a,
    struct str *out, struct wire_err *err)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

	tool_prepare(tool);
	if (!tool_is_object(json))
		return tool_not_object(err);
	enum rc rc = RC_OK;
	if (!tool->loose)
		rc = wire_schema_check(tool->compiled, json, err);
	if (rc == RC_INVALID) {
		enum rc turned = tool_coerce(tool, json, &b);
		if (turned == RC_OK) {
			json = buf_str(&b);
			rc = wire_schema_check(tool->compiled, json, err);
		}
	}
	if (rc == RC_OK) {
		*out = arena_str(a, json);
		rc = out->p != NULL ? RC_OK : RC_TOOBIG;
	}
	buf_free(&b);
	return rc;
}

/* ---- cache ---- */

/* Memory of a compiled schema, as a multiple of its text. */
#define COMPILED_SHARE 4

struct tool_cache_entry {
	TAILQ_ENTRY(tool_cache_entry) link;
	struct str skills; /* the key; owned */
	size_t bytes;
	struct tool_catalog *tools;
};

struct tool_cache {
	TAILQ_HEAD(tool_cache_list, tool_cache_entry)
	used; /* most recent first */
	struct map *by_skills;
	size_t bytes, max_bytes;
	struct metric *read, *size; /* NULL: no metrics */
};

struct tool_cache *
tool_cache_new(size_t max_bytes, struct metric_set *set)
{
	struct tool_cache *c = mem_zalloc(sizeof(*c));

	TAILQ_INIT(&c->used);
	c->by_skills = map_new();
	c->max_bytes = max_bytes;
	c->read = metric_counter(set, "soul_turn_skills_read_total",
	    "Skill lists decoded; cached ones are not decoded again.", NULL);
	c->size = metric_gauge(
	    set, "soul_turn_skills_bytes", "Memory of cached skills.", NULL);
	return c;
}

static void
tool_cache_drop(struct tool_cache *c, struct tool_cache_entry *e)
{
	TAILQ_REMOVE(&c->used, e, link);
	map_del(c->by_skills, e->skills);
	c->bytes -= e->bytes;
	tool_catalog_free(e->tools);
	free((char *)(uintptr_t)e->skills.p);
	free(e);
}

void
tool_cache_free(struct tool_cache *c)
{
	struct tool_cache_entry *e;

	if (c == NULL)
		return;
	while ((e = TAILQ_FIRST(&c->used)) != NULL)
		tool_cache_drop(c, e);
	map_free(c->by_skills);
	free(c);
}

static void
tool_cache_put(struct tool_cache *c, struct str skills, size_t texts,
    struct tool_catalog *t)
{
	struct tool_cache_entry *e = mem_zalloc(sizeof(*e));

	e->skills = (struct str){ str_dup(skills), skills.n };
	e->tools = tool_catalog_ref(t);
	/* The map copies the key. */
	e->bytes = texts + (2 + COMPILED_SHARE) * skills.n;
	map_put(c->by_skills, e->skills, e);
	TAILQ_INSERT_HEAD(&c->used, e, link);
	c->bytes += e->bytes;
	while (c->bytes > c->max_bytes && TAILQ_NEXT(e, link) != NULL)
		tool_cache_drop(c, TAILQ_LAST(&c->used, tool_cache_list));
	metric_set(c->size, (int64_t)c->bytes);
}

enum rc
tool_cache_get(
    struct tool_cache *c, struct str skills, struct tool_catalog **out)
{
	struct tool_cache_entry *e = map_get(c->by_skills, skills);
	struct arena *a;
	enum rc rc;

	if (e != NULL) {
		TAILQ_REMOVE(&c->used, e, link);
		TAILQ_INSERT_HEAD(&c->used, e, link);
		*out = tool_catalog_ref(e->tools);
		return RC_OK;
	}
	a = arena_new(WIRE_ARENA_MAX);
	metric_add(c->read, 1);
	rc = tool_catalog_new(skills, a, out);
	if (rc != RC_OK) {
		arena_free(a);
		return rc;
	}
	tool_catalog_own_texts(*out, a);
	tool_cache_put(c, skills, arena_used(a), *out);
	return RC_OK;
}
