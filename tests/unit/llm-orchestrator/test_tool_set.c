/*
 * Which tools of providers are shown, and by which names they are called.
 */
#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "tools/provided.h"
#include "tools/tool_set.h"

#define BODY "[{\"name\":\"nod\"},{\"name\":\"fs__clash\"}]"

struct bench {
	struct arena *a;
	struct tool_catalog *body;
	struct tool_set set;
};

static void
begin(struct bench *b)
{
	*b = (struct bench){ .a = arena_new(1024 * 1024) };
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

	ck_assert_int_eq(tool_set_choose(&b->set, b->body), more);
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
	(void)tool_set_choose(&b.set, b.body);
	tool_set_put_rest(&b.set, &out);
	ck_assert(
	    str_eq(buf_str(&out), STR("hub：hub__a、hub__b……还有 5 个\n")));
	/* Not those that were found. */
	add(&b, "hub/a", FOUND);
	(void)tool_set_choose(&b.set, b.body);
	buf_reset(&out);
	tool_set_put_rest(&b.set, &out);
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
	ck_assert(tool_set_choose(&b.set, b.body));
	ck_assert_uint_eq(b.set.n, TOOL_SET_MAX);
	struct buf out = BUF_INIT(65536);
	tool_set_put_rest(&b.set, &out);
	ck_assert_int_ge(str_find(buf_str(&out), STR("fs__t29")), 0);
	ck_assert_int_lt(str_find(buf_str(&out), STR("fs__t00")), 0);
	buf_free(&out);
	finish(&b);
}

TEST(a_large_tool_is_left_out)
{
	struct wire_tool_list_reply m = { .n_tools = 2 };
	struct wire_tool_definition list[2];
	struct buf schema = BUF_INIT(65536);
	struct tool_list *l;
	struct bench b;

	begin(&b);
	buf_puts(&schema, "{\"type\":\"object\",\"description\":\"");
	for (size_t i = 0; i < TOOL_SET_BYTES_MAX; i++)
		buf_putc(&schema, 'x');
	buf_puts(&schema, "\"}");
	list[0] = tool(&b, "fs", "large");
	list[0].schema = buf_str(&schema);
	list[1] = tool(&b, "fs", "small");
	m.tools = list;
	ck_assert_int_eq(tool_list_new(&m, STR("mcp-host"), &l), RC_OK);
	tool_set_add(&b.set, l, false);
	tool_list_free(l);
	ck_shown(&b, true, "fs__small");
	buf_free(&schema);
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

TEST(a_name_is_accepted_if_it_is_one_tool)
{
	struct bench b;

	begin(&b);
	add(&b, "puppeteer/navigate fs/open hub/open fs/nod", 0);
	(void)tool_set_choose(&b.set, b.body);
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
