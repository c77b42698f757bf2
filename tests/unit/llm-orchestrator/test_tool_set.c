/*
 * Which tools of providers are shown, and by which names they are called.
 */
#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "tools/provided.h"
#include "tools/tool_schema.h"
#include "tools/tool_set.h"
#include "wire/tree.h"

#define BODY "[{\"name\":\"nod\"},{\"name\":\"fs__clash\"}]"

struct bench {
	struct arena *a;
	struct tool_catalog *body;
	struct tool_set set;
	const char *query; /* of the last search */
};

static void
begin(struct bench *b)
{
	*b = (struct bench){ .a = arena_new(1024 * 1024), .query = "" };
	ck_assert_int_eq(tool_catalog_new(STR(BODY), b->a, &b->body), RC_OK);
}

static void
finish(struct bench *b)
{
	tool_set_clear(&b->set);
	tool_catalog_free(b->body);
	arena_free(b->a);
}

static struct wire_tool_definition
tool(struct bench *b, const char *server, const char *name)
{
	return (struct wire_tool_definition){
		.name = arena_printf(b->a, "%s__%s", server, name),
		.server = arena_str(b->a, str_of(server)),
		.tool = arena_str(b->a, str_of(name)),
		.schema = STR("{\"type\":\"object\"}"),
		.timeout_s = 60,
		.definition = STR("00"),
	};
}

enum { REST = 1, FOUND = 2 };

/* A list of tools "server/name …"; REST: of hub, some are left out. */
static void
add(struct bench *b, const char *tools, unsigned flags)
{
	struct str names[] = { STR_INIT("hub__a"), STR_INIT("hub__b") };
	struct wire_tool_list_reply_left_out out = {
		.server = STR("hub"), .names = names, .n_names = 2, .more = 5
	};
	struct wire_tool_definition list[64];
	struct wire_tool_list_reply m = { .tools = list,
		.left_out = &out,
		.n_left_out = (flags & REST) != 0 };
	struct str all = str_of(tools);
	struct tool_list *l;

	while (all.n > 0) {
		char server[32], name[32];
		struct str one = str_split(&all, ' ');
		str_copy(str_split(&one, '/'), server, sizeof(server));
		str_copy(one, name, sizeof(name));
		list[m.n_tools++] = tool(b, server, name);
	}
	ck_assert_int_eq(tool_list_new(&m, STR("mcp-host"), &l), RC_OK);
	tool_set_add(&b->set, l, (flags & FOUND) != 0);
	tool_list_free(l);
}

static void
ck_shown(struct bench *b, bool more, const char *want)
{
	char text[1024] = "";
	size_t n = 0;

	ck_assert_int_eq(
	    tool_set_choose(&b->set, b->body, str_of(b->query)), more);
	for (size_t i = 0; i < b->set.n; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.*s",
		    i > 0 ? " " : "", STR_ARG(b->set.tools[i]->name));
	ck_assert_str_eq(text, want);
}

TEST(what_was_searched_for_comes_first_then_whole_lists)
{
	struct bench b;

	begin(&b);
	add(&b, "hub/x", REST);
	add(&b, "fs/read fs/read fs/clash", 0);
	ck_shown(&b, true, "fs__read hub__x");
	add(&b, "hub/a fs/read", FOUND);
	ck_shown(&b, true, "hub__a fs__read hub__x");
	finish(&b);
}

TEST(the_rest_is_named_in_a_line_per_server)
{
	struct buf out = BUF_INIT(65536);
	struct bench b;

	begin(&b);
	add(&b, "hub/x", REST);
	(void)tool_set_choose(&b.set, b.body, STR(""));
	tool_set_put_rest(&b.set, b.body, &out);
	ck_assert(
	    str_eq(buf_str(&out), STR("hub：hub__a、hub__b……还有 5 个\n")));
	/* Not those that were found. */
	add(&b, "hub/a", FOUND);
	(void)tool_set_choose(&b.set, b.body, STR(""));
	buf_reset(&out);
	tool_set_put_rest(&b.set, b.body, &out);
	ck_assert(str_eq(buf_str(&out), STR("hub：hub__b……还有 5 个\n")));
	buf_free(&out);
	finish(&b);
}

TEST(too_many_tools_are_left_out)
{
	struct bench b;
	char text[512] = "";
	size_t n = 0;

	begin(&b);
	for (int i = 0; i < 30; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%sfs/t%02d",
		    i > 0 ? " " : "", i);
	add(&b, text, 0);
	ck_assert(tool_set_choose(&b.set, b.body, STR("")));
	ck_assert_uint_eq(b.set.n, TOOL_SET_MAX);
	struct buf out = BUF_INIT(65536);
	tool_set_put_rest(&b.set, b.body, &out);
	ck_assert_int_ge(str_find(buf_str(&out), STR("fs__t29")), 0);
	ck_assert_int_lt(str_find(buf_str(&out), STR("fs__t00")), 0);
	buf_free(&out);
	finish(&b);
}

static void
ck_name(struct bench *b, const char *name, const char *want)
{
	struct tool *t = tool_set_by_name(&b->set, b->body, str_of(name));

	if (want == NULL)
		ck_assert_msg(t == NULL, "%s is a tool", name);
	else
		ck_assert_msg(t != NULL && str_eq(t->name, str_of(want)),
		    "%s is not %s", name, want);
}

/* "server/t00 server/t01 …" */
static const char *
many(char *text, size_t size, const char *server, int n)
{
	size_t at = 0;

	for (int i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%s/t%02d",
		    i > 0 ? " " : "", server, i);
	return text;
}

static void
ck_rest(struct bench *b, const char *want)
{
	struct buf out = BUF_INIT(65536);

	tool_set_put_rest(&b->set, b->body, &out);
	ck_assert_msg(
	    str_eq(buf_str(&out), str_of(want)), "\"%.*s\"", (int)out.n, out.p);
	buf_free(&out);
}

/* The names of the last n lists; each of them can be called. */
static void
ck_found(struct bench *b, size_t n, const char *want)
{
	struct buf out = BUF_INIT(65536);
	struct wire_tree *names;

	tool_set_put_found(&b->set, n, str_of(b->query), &out);
	ck_assert_msg(
	    str_eq(buf_str(&out), str_of(want)), "%.*s", (int)out.n, out.p);
	ck_assert_int_eq(wire_tree_parse(buf_str(&out), &names), RC_OK);
	for (size_t i = 0; i < wire_tree_len(names); i++)
		ck_assert_ptr_nonnull(tool_set_by_name(
		    &b->set, b->body, wire_tree_text(wire_tree_at(names, i))));
	wire_tree_free(names);
	buf_free(&out);
}

/* Neither a name of the body's nor a server without any other. */
TEST(what_can_never_be_called_is_not_named)
{
	struct str clash = STR_INIT("fs__clash");
	struct wire_tool_list_reply_left_out out = {
		.server = STR("fs"), .names = &clash, .n_names = 1
	};
	struct wire_tool_list_reply m = { .left_out = &out, .n_left_out = 1 };
	struct tool_list *l;
	struct bench b;

	begin(&b);
	ck_assert_int_eq(tool_list_new(&m, STR("mcp-host"), &l), RC_OK);
	tool_set_add(&b.set, l, false);
	tool_list_free(l);
	add(&b, "fs/clash fs/a", 0);
	ck_shown(&b, true, "fs__a");
	ck_rest(&b, "");
	finish(&b);
}

TEST(what_was_found_is_named_if_it_is_shown)
{
	char text[1024];
	struct bench b;

	begin(&b);
	add(&b, many(text, sizeof(text), "fs", 20), 0);
	ck_assert(!tool_set_choose(&b.set, b.body, STR("")));
	/* Two providers reply: together they have too many. */
	add(&b, "hub/x fs/clash hub/y", FOUND);
	add(&b, many(text, sizeof(text), "git", 23), FOUND);
	ck_assert(tool_set_choose(&b.set, b.body, STR("")));
	ck_found(&b, 2,
	    "[\"git__t00\",\"git__t01\",\"git__t02\",\"git__t03\","
	    "\"git__t04\",\"git__t05\",\"git__t06\",\"git__t07\","
	    "\"git__t08\",\"git__t09\",\"git__t10\",\"git__t11\","
	    "\"git__t12\",\"git__t13\",\"git__t14\",\"git__t15\","
	    "\"git__t16\",\"git__t17\",\"git__t18\",\"git__t19\","
	    "\"git__t20\",\"git__t21\",\"git__t22\",\"hub__x\"]");
	finish(&b);
}

/* Whatever the order of the list. */
TEST(a_search_by_name_shows_that_tool)
{
	char text[1024];
	struct bench b;

	begin(&b);
	add(&b, many(text, sizeof(text), "fs", 30), 0);
	ck_assert(tool_set_choose(&b.set, b.body, STR("")));
	ck_rest(&b, "fs__t24、fs__t25、fs__t26、fs__t27、fs__t28、fs__t29\n");
	/* It can even be called at once. */
	ck_name(&b, "fs__t29", "fs__t29");
	ck_name(&b, "fs__clash", "fs__clash");
	b.query = "fs__t29";
	add(&b, many(text, sizeof(text), "fs", 30), FOUND);
	ck_assert(tool_set_choose(&b.set, b.body, str_of(b.query)));
	ck_assert(str_eq(b.set.tools[0]->name, STR("fs__t29")));
	ck_name(&b, "t29", "fs__t29");
	finish(&b);
}

TEST(searches_are_limited)
{
	struct bench b;

	begin(&b);
	for (size_t i = 0; i + 8 < TOOL_SET_LISTS_MAX; i++)
		add(&b, "fs/a", i > 0 ? FOUND : 0);
	ck_assert(tool_set_has_room(&b.set, 8));
	add(&b, "fs/a", FOUND);
	add(&b, "fs/a", FOUND);
	ck_assert(!tool_set_has_room(&b.set, 8));
	finish(&b);
}

TEST(notes_are_lines)
{
	struct str notes[] = { STR_INIT("a is down"), STR_INIT("b too") };
	struct wire_tool_list_reply m = { .notes = notes, .n_notes = 2 };
	struct buf out = BUF_INIT(65536);
	struct tool_list *l;
	struct bench b;

	begin(&b);
	ck_assert_int_eq(tool_list_new(&m, STR("mcp-host"), &l), RC_OK);
	tool_set_add(&b.set, l, false);
	tool_list_free(l);
	ck_shown(&b, false, "");
	ck_rest(&b, "");
	tool_set_put_notes(&b.set, &out);
	ck_assert(str_eq(buf_str(&out), STR("a is down\nb too\n")));
	buf_free(&out);
	finish(&b);
}

/* Tools whose schemas have n bytes of description. */
static void
add_large(struct bench *b, size_t n, size_t tools)
{
	struct wire_tool_definition list[4];
	struct wire_tool_list_reply m = { .tools = list, .n_tools = tools };
	struct buf schema = BUF_INIT(65536);
	struct tool_list *l;

	buf_puts(&schema, "{\"type\":\"object\",\"description\":\"");
	for (size_t i = 0; i < n; i++)
		buf_putc(&schema, 'x');
	buf_puts(&schema, "\"}");
	for (size_t i = 0; i < tools; i++) {
		char name[8];

		snprintf(name, sizeof(name), "l%zu", i);
		list[i] = tool(b, "fs", name);
		list[i].schema = buf_str(&schema);
	}
	ck_assert_int_eq(tool_list_new(&m, STR("mcp-host"), &l), RC_OK);
	tool_set_add(&b->set, l, false);
	tool_list_free(l);
	buf_free(&schema);
}

TEST(a_large_tool_is_shown_with_any_arguments)
{
	struct bench b;

	begin(&b);
	add_large(&b, TOOL_SCHEMA_SHOWN_MAX, 1);
	add(&b, "fs/small", 0);
	ck_shown(&b, false, "fs__l0 fs__small");
	ck_assert(str_eq(b.set.tools[0]->shown, STR(TOOL_SCHEMA_ANY)));
	finish(&b);
}

TEST(tools_over_the_limit_of_bytes_are_left_out)
{
	struct bench b;

	begin(&b);
	add_large(&b, 7000, 4);
	add(&b, "fs/small", 0);
	ck_shown(&b, true, "fs__l0 fs__l1 fs__small");
	ck_rest(&b, "fs__l2、fs__l3\n");
	finish(&b);
}

TEST(a_name_is_accepted_if_it_is_one_tool)
{
	struct bench b;

	begin(&b);
	add(&b, "puppeteer/navigate fs/open hub/open fs/nod", 0);
	(void)tool_set_choose(&b.set, b.body, STR(""));
	ck_name(&b, "puppeteer__navigate", "puppeteer__navigate");
	ck_name(&b, "puppeteer_navigate", "puppeteer__navigate");
	ck_name(&b, "navigate", "puppeteer__navigate");
	ck_name(&b, "fs_open", "fs__open");
	ck_name(&b, "open", NULL);
	ck_name(&b, "", NULL);
	/* The body's skill wins. */
	ck_name(&b, "nod", "nod");
	ck_name(&b, "fs_nod", "fs__nod");
	finish(&b);
}

TEST(a_tool_is_exempt_from_the_gate_if_it_only_reads)
{
	struct wire_tool_definition d;
	struct bench b;
	struct tool t;

	begin(&b);
	d = tool(&b, "fs", "read");
	ck_assert_int_eq(tool_from_definition(&d, b.a, &t), RC_OK);
	ck_assert(!t.safety && !t.needs_approval);
	d.read_only = true;
	ck_assert_int_eq(tool_from_definition(&d, b.a, &t), RC_OK);
	ck_assert(t.safety && !t.needs_approval);
	d.policy = WIRE_TOOL_DEFINITION_POLICY_ASK;
	ck_assert_int_eq(tool_from_definition(&d, b.a, &t), RC_OK);
	ck_assert(!t.safety && t.needs_approval);
	ck_assert(str_eq(t.label, STR("read")));
	d.title = STR("读文件：一个很长的说明");
	ck_assert_int_eq(tool_from_definition(&d, b.a, &t), RC_OK);
	ck_assert(str_eq(t.label, STR("读文件")));
	finish(&b);
}
