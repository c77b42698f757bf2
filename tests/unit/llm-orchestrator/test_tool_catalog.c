/*
 * Skills as tools.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "tools/tool_catalog.h"
#include "tools/tool_schema.h"

#define LIGHT                                                \
	"{\"name\":\"control_light\",\"description\":"       \
	"\"控制灯：开灯\",\"input_schema\":{\"type\":" \
	"\"object\",\"properties\":{\"mode\":{\"type\":"     \
	"\"string\",\"enum\":[\"on\",\"off\","               \
	"\"set_color\"]},\"color\":{\"type\":\"string\","    \
	"\"description\":\"灯的颜色，例如 red\"},"    \
	"\"level\":{\"type\":\"integer\",\"minimum\":1,"     \
	"\"maximum\":10}},\"required\":[\"mode\"]}}"

struct bench {
	struct arena *a;
	struct tool_catalog *t;
};

static void
bench_open(struct bench *b, const char *skills)
{
	b->a = arena_new(1024 * 1024);
	ck_assert_int_eq(tool_catalog_new(str_of(skills), b->a, &b->t), RC_OK);
}

static void
bench_close(struct bench *b)
{
	tool_catalog_free(b->t);
	arena_free(b->a);
}

#define is(s, text) ck_assert_msg(str_eq((s), str_of(text)), "%.*s", STR_ARG(s))

TEST(skills_are_in_order)
{
	struct bench b;

	bench_open(&b,
	    "[" LIGHT ",{\"name\":\"nod\"},{\"name\":\"nod\","
	    "\"description\":\"twice\"}]");
	ck_assert_uint_eq(tool_catalog_n(b.t), 2);
	is(tool_catalog_at(b.t, 0)->skill, "control_light");
	is(tool_catalog_at(b.t, 0)->name, "control_light");
	is(tool_catalog_at(b.t, 0)->label, "控制灯");
	is(tool_catalog_at(b.t, 1)->label, "nod");
	is(tool_catalog_at(b.t, 1)->schema,
	    "{\"type\":\"object\",\"properties\":{}}");
	ck_assert_ptr_null(tool_catalog_at(b.t, 2));
	ck_assert_ptr_eq(
	    tool_catalog_by_skill(b.t, STR("nod")), tool_catalog_at(b.t, 1));
	ck_assert_ptr_null(tool_catalog_by_skill(b.t, STR(TOOL_NAME_RECALL)));
	ck_assert_ptr_eq(tool_catalog_by_name(b.t, STR(TOOL_NAME_RECALL)),
	    tool_catalog_recall(b.t));
	ck_assert_ptr_eq(tool_catalog_by_name(b.t, STR(TOOL_NAME_FORGET)),
	    tool_catalog_forget(b.t));
	bench_close(&b);
	/* The object form of a report, and invalid reports. */
	bench_open(&b, "{\"skills\":[" LIGHT "]}");
	ck_assert_uint_eq(tool_catalog_n(b.t), 1);
	bench_close(&b);
	bench_open(&b, NULL);
	ck_assert_uint_eq(tool_catalog_n(b.t), 0);
	bench_close(&b);
}

TEST(invalid_skills_are_rejected)
{
	struct arena *a = arena_new(1024 * 1024), *small = arena_new(64);
	struct tool_catalog *t;

	ck_assert_int_eq(tool_catalog_new(STR("7"), a, &t), RC_INVALID);
	ck_assert_int_eq(tool_catalog_new(STR("[{}]"), a, &t), RC_INVALID);
	ck_assert_int_eq(
	    tool_catalog_new(STR("[" LIGHT "]"), small, &t), RC_TOOBIG);
	arena_free(a);
	arena_free(small);
	tool_catalog_free(NULL);
}

/* Illegal names get a legal substitute, always the same. */
TEST(names_are_legal_for_providers)
{
	static const char longer[] =
	    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
	    "abcdefghijklmnopqrstuvwxyz";
	/* Names that differ only at the end, and the substitute of 点头. */
	static const char longest[] =
	    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
	    "abcdefghijklmnopqrstuvwxyzz";
	static const char taken[] = "skill_24ddc06e";
	static const char *const names[] = { "点头", "灯.开", "a b", "a/b",
		"ab", "recall_memory", "forget_memory", "é", longer, longest,
		taken, "skill" };
	char skills[2048] = "[";
	struct bench b, second;

	for (size_t i = 0; i < NELEM(names); i++)
		snprintf(skills + strlen(skills),
		    sizeof(skills) - strlen(skills), "%s{\"name\":\"%s\"}",
		    i > 0 ? "," : "", names[i]);
	snprintf(skills + strlen(skills), sizeof(skills) - strlen(skills), "]");
	bench_open(&b, skills);
	bench_open(&second, skills);
	ck_assert_uint_eq(tool_catalog_n(b.t), NELEM(names));
	for (size_t i = 0; i < NELEM(names); i++) {
		struct tool *tool = tool_catalog_at(b.t, i);
		ck_assert_uint_ge(tool->name.n, 1);
		ck_assert_uint_le(tool->name.n, TOOL_NAME_MAX);
		for (size_t k = 0; k < tool->name.n; k++)
			ck_assert_ptr_nonnull(
			    strchr("abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-",
				tool->name.p[k]));
		ck_assert(str_eq(tool->skill, str_of(names[i])));
		ck_assert_ptr_eq(tool_catalog_by_name(b.t, tool->name), tool);
		ck_assert_int_eq(tool->kind, TOOL_SKILL);
		ck_assert(
		    str_eq(tool->name, tool_catalog_at(second.t, i)->name));
		for (size_t k = 0; k < i; k++)
			ck_assert(
			    !str_eq(tool->name, tool_catalog_at(b.t, k)->name));
	}
	ck_assert_int_eq(tool_catalog_by_name(b.t, STR(TOOL_NAME_RECALL))->kind,
	    TOOL_RECALL);
	ck_assert_int_eq(tool_catalog_by_name(b.t, STR(TOOL_NAME_FORGET))->kind,
	    TOOL_FORGET);
	bench_close(&b);
	bench_close(&second);
}

TEST(arguments_are_checked_and_coerced)
{
	static const struct {
		const char *json, *want, *why; /* want or why */
	} rows[] = {
		{ "{\"mode\":\"on\"}", "{\"mode\":\"on\"}", NULL },
		{ "{\"mode\":\"ON\",\"level\":\"3\"}",
		    "{\"mode\":\"on\",\"level\":3}", NULL },
		{ "{}", NULL, "/mode: is required" },
		{ "{\"mode\":\"blink\"}", NULL,
		    "/mode: must be one of on, off, set_color" },
		{ "{\"mode\":\"on\",\"level\":\"30\"}", NULL, "/level: " },
		{ "[]", NULL, "must be a JSON object" },
		{ "{\"mode\":", NULL, "must be a JSON object" },
		{ "", NULL, "must be a JSON object" },
	};
	char text[WIRE_ERR_TEXT_MAX];
	struct wire_err err;
	struct bench b;
	struct str out;

	bench_open(&b, "[" LIGHT "]");
	for (size_t i = 0; i < NELEM(rows); i++) {
		enum rc rc = tool_arguments(tool_catalog_at(b.t, 0),
		    str_of(rows[i].json), b.a, &out, &err);
		if (rows[i].want != NULL) {
			ck_assert_int_eq(rc, RC_OK);
			ck_assert(str_eq(out, str_of(rows[i].want)));
			continue;
		}
		ck_assert_int_eq(rc, RC_INVALID);
		wire_err_text(&err, text, sizeof(text));
		ck_assert_msg(strstr(text, rows[i].why) != NULL, "%s", text);
	}
	bench_close(&b);
}

/* No schema, one without a type, invalid ones. */
TEST(invalid_schemas_accept_any_object)
{
	static const struct {
		const char *schema, *shown;
		bool strict;
	} rows[] = {
		{ "{}", "{\"type\":\"object\",\"properties\":{}}", false },
		{ "{\"required\":[\"x\"]}",
		    "{\"type\":\"object\",\"required\":[\"x\"]}", true },
		{ "{\"type\":\"object\",\"required\":[\"x\"]}",
		    "{\"type\":\"object\",\"required\":[\"x\"]}", true },
		{ "{\"type\":\"array\"}",
		    "{\"type\":\"object\",\"properties\":{}}", false },
		{ "{\"type\":\"object\",\"required\":true}",
		    "{\"type\":\"object\",\"properties\":{}}", false },
		{ "{\"$ref\":\"http://x/y\"}",
		    "{\"type\":\"object\",\"properties\":{}}", false },
	};
	char skills[512];

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct wire_err err;
		struct bench b;
		struct str out;
		snprintf(skills, sizeof(skills),
		    "[{\"name\":\"x\",\"input_schema\":%s}]", rows[i].schema);
		bench_open(&b, skills);
		struct tool *tool = tool_catalog_at(b.t, 0);
		tool_prepare(tool);
		tool_prepare(tool);
		ck_assert_msg(str_eq(tool->schema, str_of(rows[i].shown)),
		    "%.*s", STR_ARG(tool->schema));
		ck_assert_int_eq(
		    tool_arguments(tool, STR("{\"a\":1}"), b.a, &out, &err),
		    rows[i].strict ? RC_INVALID : RC_OK);
		bench_close(&b);
	}
}

/* Extensions are read, and not shown to the model. */
TEST(extensions_are_read_and_hidden)
{
	static const struct {
		const char *schema, *shown;
		int64_t timeout_s;
		bool safety;
	} rows[] = {
		{ "{\"type\":\"object\",\"x-timeout-seconds\":30,"
		  "\"x-safety\":true}",
		    TOOL_SCHEMA_ANY, 30, true },
		{ "{\"x-safety\":false,\"x-timeout-seconds\":120,"
		  "\"properties\":{\"x-safety\":{\"type\":\"integer\","
		  "\"x-clamp\":true,\"maximum\":3}}}",
		    "{\"type\":\"object\",\"properties\":{\"x-safety\":{"
		    "\"type\":\"integer\",\"maximum\":3}}}",
		    120, false },
		{ "{\"type\":\"object\",\"x-timeout-seconds\":121,"
		  "\"x-safety\":\"yes\"}",
		    TOOL_SCHEMA_ANY, 0, false },
		{ "{\"type\":\"object\",\"x-timeout-seconds\":0.5}",
		    TOOL_SCHEMA_ANY, 0, false },
		{ "{\"type\":\"object\",\"x-maker\":1}", TOOL_SCHEMA_ANY, 0,
		    false },
	};
	char skills[512];

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct bench b;
		snprintf(skills, sizeof(skills),
		    "[{\"name\":\"x\",\"input_schema\":%s}]", rows[i].schema);
		bench_open(&b, skills);
		struct tool *tool = tool_catalog_at(b.t, 0);
		tool_prepare(tool);
		is(tool->shown, rows[i].shown);
		ck_assert_int_eq(tool->timeout_s, rows[i].timeout_s);
		ck_assert(tool->safety == rows[i].safety);
		bench_close(&b);
	}
}

/* Out of range is invalid unless the schema has x-clamp. */
TEST(arguments_are_clamped)
{
	struct wire_err err;
	struct bench b;
	struct str out;

	bench_open(&b,
	    "[{\"name\":\"x\",\"input_schema\":{\"properties\":{"
	    "\"soft\":{\"type\":\"integer\",\"maximum\":10,"
	    "\"x-clamp\":true},"
	    "\"hard\":{\"type\":\"integer\",\"maximum\":10}}}}]");
	struct tool *tool = tool_catalog_at(b.t, 0);
	ck_assert_int_eq(
	    tool_arguments(tool, STR("{\"soft\":99}"), b.a, &out, &err), RC_OK);
	is(out, "{\"soft\":10}");
	ck_assert_int_eq(
	    tool_arguments(tool, STR("{\"hard\":99}"), b.a, &out, &err),
	    RC_INVALID);
	ck_assert_str_eq(err.path, "/hard");
	bench_close(&b);
}

TEST(labels_are_derived)
{
	struct bench b;

	bench_open(&b,
	    "[" LIGHT ",{\"name\":\"nod\",\"description\":\"  头部动作（点"
	    "头）\"},{\"name\":\"long\",\"description\":\"Nod or shake the "
	    "head\"},{\"name\":\"none\",\"description\":\"：\"}]");
	is(tool_catalog_at(b.t, 1)->label, "头部动作");
	is(tool_catalog_at(b.t, 2)->label, "long");
	is(tool_catalog_at(b.t, 3)->label, "none");
	is(tool_catalog_recall(b.t)->label, "回忆");
	is(tool_member_label(tool_catalog_at(b.t, 0), STR("color"), b.a),
	    "灯的颜色");
	is(tool_member_label(tool_catalog_at(b.t, 0), STR("mode"), b.a),
	    "模式");
	is(tool_member_label(tool_catalog_at(b.t, 0), STR("x"), b.a), "x");
	is(tool_member_label(NULL, STR("trigger_at"), b.a), "时间");
	bench_close(&b);
}
