/*
 * Names, schemas and words of skills.
 */
#include "tools.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/buf.h"
#include "core/mem.h"
#include "wire/coerce.h"
#include "wire/msgs.h"
#include "wire/out.h"
#include "wire/schema.h"
#include "wire/tree.h"

#define ANY_OBJECT "{\"type\":\"object\",\"properties\":{}}"
/* The arguments of a search; nothing of them is needed. */
#define QUERY_HELP "要查找的内容；没有就是用户刚说的话"
#define RECALL(of_number, of_all)                         \
	"{\"type\":\"object\",\"properties\":{"           \
	"\"query\":{\"type\":\"string\",\"description\":" \
	"\"" QUERY_HELP "\"},"                            \
	"\"top_k\":{" of_number "\"type\":\"integer\","   \
	"\"minimum\":1,\"maximum\":10,\"default\":5,"     \
	"\"description\":\"最多几条\"}}" of_all "}"
/* What is to be forgotten; without it nothing is. */
#define FORGET_HELP                                  \
	"要忘掉的内容，一句完整的话；" \
	"尽量用记忆的原话，"                \
	"把“这个”换成所指的事"
#define FORGET(of_query)                                              \
	"{\"type\":\"object\",\"properties\":{"                       \
	"\"query\":{\"type\":\"string\"," of_query "\"description\":" \
	"\"" FORGET_HELP "\"}},\"required\":[\"query\"]}"
/* Longest word for people, in code points. */
#define LABEL_MAX 12
/* A name made legal: what is left of it, '_', 8 digits. */
#define NAME_KEEP 48

struct tools {
	struct tool *list;
	size_t n;
	struct tool recall, forget;
	struct arena *texts; /* NULL: somebody else's */
	size_t holders;
};

/* ---- words for people -------------------------------------------------- */

/* The first clause of a description, if it is short; else absent. */
static struct str
clause(struct str s)
{
	static const struct str ends = STR_INIT("：:，,。.；;（(、/！!？?\r\n");
	size_t pos = 0, n = 0, at = 0;
	int32_t c;

	s = str_trim(s);
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
usual_label(struct str member)
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
tools_member_label(const struct tool *tool, struct str member, struct arena *a)
{
	struct wire_tree *v;

	if (tool == NULL || wire_tree_parse(tool->schema, &v) != RC_OK)
		return usual_label(member);
	const struct wire_tree *p =
	    wire_tree_get(wire_tree_get(v, STR("properties")), member);
	struct str label =
	    clause(wire_tree_text(wire_tree_get(p, STR("title"))));
	if (label.p == NULL)
		label = clause(
		    wire_tree_text(wire_tree_get(p, STR("description"))));
	label = label.p != NULL ? arena_str(a, label) : usual_label(member);
	wire_tree_free(v);
	return label;
}

/* ---- names ------------------------------------------------------------- */

static bool
is_legal(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* FNV-1a; the same name has the same tool in every turn. */
static uint32_t
hash(struct str s, uint32_t seed)
{
	uint32_t h = 2166136261U ^ seed;

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 16777619U;
	return h;
}

static bool
is_built_in(struct str name)
{
	return str_eq(name, STR(TOOLS_RECALL)) ||
	    str_eq(name, STR(TOOLS_FORGET));
}

static struct str
legal_name(struct str skill, uint32_t seed, struct arena *a)
{
	char kept[NAME_KEEP + 1];
	size_t n = 0;
	bool whole =
	    seed == 0 && skill.n <= TOOLS_NAME_MAX && !is_built_in(skill);

	for (size_t i = 0; i < skill.n; i++) {
		if (!is_legal(skill.p[i]))
			whole = false;
		else if (n < NAME_KEEP)
			kept[n++] = skill.p[i];
	}
	if (whole)
		return skill;
	kept[n] = '\0';
	return arena_printf(
	    a, "%s_%08x", n > 0 ? kept : "skill", hash(skill, seed));
}

struct str
tools_legal(struct str name, struct arena *a)
{
	return is_built_in(name) ? name : legal_name(name, 0, a);
}

struct tool *
tools_named(struct tools *t, struct str name)
{
	for (size_t i = 0; i < t->n; i++) {
		if (str_eq(t->list[i].name, name))
			return &t->list[i];
	}
	if (str_eq(name, t->forget.name))
		return &t->forget;
	return str_eq(name, t->recall.name) ? &t->recall : NULL;
}

struct tool *
tools_skill(struct tools *t, struct str skill)
{
	for (size_t i = 0; i < t->n; i++) {
		if (str_eq(t->list[i].skill, skill))
			return &t->list[i];
	}
	return NULL;
}

/* ---- reading ----------------------------------------------------------- */

/*
 * The schema as every provider takes it: of an object, and saying so; absent if
 * it is of something else.
 */
static enum rc
object_schema(struct str schema, struct arena *a, struct str *out)
{
	struct wire_tree *v;

	*out = STR(ANY_OBJECT);
	if (schema.p == NULL)
		return RC_OK;
	*out = (struct str){ 0 };
	if (wire_tree_parse(schema, &v) != RC_OK)
		return RC_OK;
	bool is = wire_tree_kind(v) == WIRE_TREE_OBJECT;
	const struct wire_tree *type = wire_tree_get(v, STR("type"));
	bool says = str_eq(wire_tree_text(type), STR("object"));
	if (is && wire_tree_len(v) == 0)
		*out = STR(ANY_OBJECT);
	else if (is && says)
		*out = arena_str(a, schema);
	else if (is && type == NULL)
		*out = arena_printf(a, "{\"type\":\"object\",%.*s",
		    (int)schema.n - 1, schema.p + 1);
	wire_tree_free(v);
	return is && (says || type == NULL) && out->p == NULL ? RC_TOOBIG
							      : RC_OK;
}

/* Whether a member of a schema is for us alone. */
static bool
is_ours(struct str key)
{
	return str_eq(key, STR("x-timeout-seconds")) ||
	    str_eq(key, STR("x-safety")) || str_eq(key, STR("x-clamp"));
}

/*
 * v without what is ours; names: its keys are those of arguments, which may be
 * anything.  Recurses as deep as JSON is nested, WIRE_DEPTH_MAX at most.
 */
static void
put_shown(const struct wire_tree *v, bool names, struct wire_out *o)
{
	struct wire_tree_member m;

	if (wire_tree_kind(v) == WIRE_TREE_ARRAY) {
		wire_out_array(o);
		for (size_t i = 0; i < wire_tree_len(v); i++)
			put_shown(wire_tree_at(v, i), false, o);
		wire_out_array_end(o);
		return;
	}
	if (wire_tree_kind(v) != WIRE_TREE_OBJECT) {
		wire_tree_put(v, o);
		return;
	}
	wire_out_object(o);
	for (bool more = wire_tree_first(v, &m); more;
	     more = wire_tree_next(v, &m)) {
		if (!names && is_ours(m.key))
			continue;
		wire_out_key(o, m.key);
		put_shown(
		    m.value, !names && str_eq(m.key, STR("properties")), o);
	}
	wire_out_object_end(o);
}

/* Providers may refuse what they do not know. */
static enum rc
read_marks(struct tool *tool, struct arena *a)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_out o = { .b = &b };
	struct wire_tree *v;

	tool->shown = tool->schema;
	if (str_find(tool->schema, STR("\"x-")) < 0 ||
	    wire_tree_parse(tool->schema, &v) != RC_OK)
		return RC_OK;
	double s = wire_tree_number(wire_tree_get(v, STR("x-timeout-seconds")));
	if (s >= 1 && s <= TOOLS_TIMEOUT_MAX)
		tool->timeout_s = (int64_t)s;
	tool->safety = wire_tree_bool(wire_tree_get(v, STR("x-safety")));
	put_shown(v, false, &o);
	wire_tree_free(v);
	tool->shown = arena_str(a, buf_str(&b));
	buf_free(&b);
	return tool->shown.p != NULL ? RC_OK : RC_TOOBIG;
}

static enum rc
tool_read(struct tools *t, const struct wire_skill *s, struct arena *a)
{
	struct tool *tool = &t->list[t->n];
	uint32_t seed = 0;

	tool->skill = arena_str(a, s->name);
	tool->description = arena_str(a, s->description);
	enum rc rc = object_schema(s->input_schema, a, &tool->schema);
	if (rc != RC_OK || tool->skill.p == NULL ||
	    (s->description.p != NULL && tool->description.p == NULL))
		return RC_TOOBIG;
	if (tool->schema.p == NULL) {
		tool->loose = true;
		tool->schema = STR(ANY_OBJECT);
	}
	if (read_marks(tool, a) != RC_OK)
		return RC_TOOBIG;
	do {
		tool->name = legal_name(tool->skill, seed++, a);
		if (tool->name.p == NULL)
			return RC_TOOBIG;
	} while (tools_named(t, tool->name) != NULL);
	tool->label = clause(tool->description);
	if (tool->label.p == NULL)
		tool->label = tool->skill;
	t->n++;
	return RC_OK;
}

static void
recall_init(struct tool *tool)
{
	*tool = (struct tool){
		.skill = STR(TOOLS_RECALL),
		.name = STR(TOOLS_RECALL),
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
forget_init(struct tool *tool)
{
	*tool = (struct tool){
		.skill = STR(TOOLS_FORGET),
		.name = STR(TOOLS_FORGET),
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

/*
 * Decoding takes several times the text's size, all of it to be dropped again;
 * only what is kept is taken from the arena.
 */
enum rc
tools_new(struct str skills, struct arena *a, struct tools **out)
{
	struct wire_skills_report rep = { 0 };
	struct arena *scratch = arena_new(WIRE_ARENA_MAX);
	struct tools *t = mem_zalloc(sizeof(*t));
	enum rc rc = RC_OK;

	t->holders = 1;
	recall_init(&t->recall);
	forget_init(&t->forget);
	if (skills.p != NULL)
		rc = wire_decode(
		    &wire_skills_report_desc, skills, scratch, &rep, NULL);
	t->list = mem_calloc(rep.n_skills + 1, sizeof(*t->list));
	for (size_t i = 0; rc == RC_OK && i < rep.n_skills; i++) {
		if (tools_skill(t, rep.skills[i].name) == NULL)
			rc = tool_read(t, &rep.skills[i], a);
	}
	arena_free(scratch);
	if (rc == RC_OK)
		*out = t;
	else
		tools_free(t);
	return rc;
}

void
tools_free(struct tools *t)
{
	if (t == NULL || --t->holders > 0)
		return;
	for (size_t i = 0; i < t->n; i++)
		wire_schema_free(t->list[i].compiled);
	wire_schema_free(t->recall.compiled);
	wire_schema_free(t->forget.compiled);
	free(t->list);
	arena_free(t->texts);
	free(t);
}

struct tools *
tools_hold(struct tools *t)
{
	t->holders++;
	return t;
}

void
tools_take(struct tools *t, struct arena *a)
{
	t->texts = a;
}

size_t
tools_n(const struct tools *t)
{
	return t->n;
}

struct tool *
tools_at(struct tools *t, size_t i)
{
	return i < t->n ? &t->list[i] : NULL;
}

struct tool *
tools_recall(struct tools *t)
{
	return &t->recall;
}

struct tool *
tools_forget(struct tools *t)
{
	return &t->forget;
}

/* ---- arguments --------------------------------------------------------- */

void
tools_prepare(struct tool *tool)
{
	if (tool->loose || tool->compiled != NULL)
		return;
	if (wire_schema_new(tool->schema, &tool->compiled, NULL) == RC_OK)
		return;
	tool->loose = true;
	tool->schema = tool->shown = STR(ANY_OBJECT);
}

static bool
is_object(struct str json)
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
no_object(struct wire_err *err)
{
	err->path[0] = '\0';
	snprintf(err->why, sizeof(err->why), "must be a JSON object");
	return RC_INVALID;
}

enum rc
tools_arguments(struct tool *tool, struct str json, struct arena *a,
    struct str *out, struct wire_err *err)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

	tools_prepare(tool);
	if (!is_object(json))
		return no_object(err);
	enum rc rc = RC_OK;
	if (!tool->loose)
		rc = wire_schema_check(tool->compiled, json, err);
	if (rc == RC_INVALID) {
		enum rc turned = wire_coerce(tool->schema, json, &b);
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
