/*
 * What providers of tools send, and what users reply to questions: the first
 * byte says which.
 */
#include "tools/provided.h"
#include "must.h"
#include "reply/reply_compose.h"
#include "tools/approval.h"
#include "tools/tool_result.h"
#include "tools/tool_schema.h"
#include "tools/tool_set.h"
#include "wire/tree.h"
#include "wire/wire.h"

static void
fuzz_list(struct str text, struct arena *a)
{
	struct buf rest = BUF_INIT(4 * TOOL_SET_REST_MAX);
	struct buf notes = BUF_INIT(4 * TOOL_SET_REST_MAX);
	struct buf found = BUF_INIT(4 * TOOL_SET_REST_MAX);
	struct wire_tree *names;
	struct wire_tool_list_reply m;
	struct tool_set set = { .n = 0 };
	struct tool_catalog *body;
	struct tool_list *l;
	struct wire_err err;
	struct str args = { text.p, text.n < 512 ? text.n : 512 };
	size_t bytes = 0;

	if (wire_decode(&wire_tool_list_reply_desc, text, a, &m, NULL) !=
		RC_OK ||
	    tool_list_new(&m, STR("p"), &l) != RC_OK)
		return;
	must(tool_catalog_new(STR("[{\"name\":\"nod\"}]"), a, &body) == RC_OK);
	tool_set_add(&set, l, false);
	tool_set_add(&set, l, true);
	tool_list_free(l);
	(void)tool_set_choose(&set, body, args);
	must(set.n <= TOOL_SET_MAX);
	for (size_t i = 0; i < set.n; i++) {
		struct tool *t = set.tools[i];
		bytes += t->name.n + t->description.n + t->shown.n;
		must(tool_set_by_name(&set, body, t->name) == t);
		must(t->label.n > 0 && !(t->safety && t->needs_approval));
		(void)!tool_arguments(t, STR("{\"a\":\"1\"}"), a, &args, &err);
	}
	must(bytes <= TOOL_SET_BYTES_MAX);
	tool_set_put_rest(&set, body, &rest);
	must(rest.n <= TOOL_SET_REST_MAX);
	tool_set_put_notes(&set, &notes);
	must(notes.n <= TOOL_SET_REST_MAX);
	tool_set_put_found(&set, 1, STR(""), &found);
	must(wire_tree_parse(buf_str(&found), &names) == RC_OK);
	must(wire_tree_len(names) <= set.n);
	for (size_t i = 0; i < wire_tree_len(names); i++)
		must(tool_set_by_name(&set, body,
			 wire_tree_text(wire_tree_at(names, i))) != NULL);
	wire_tree_free(names);
	buf_free(&rest);
	buf_free(&notes);
	buf_free(&found);
	tool_set_clear(&set);
	tool_catalog_free(body);
}

static void
fuzz_reply(struct str text, struct arena *a)
{
	struct wire_tool_call_reply m;
	struct tool_result res;
	struct wire_tree *v;

	if (wire_decode(&wire_tool_call_reply_desc, text, a, &m, NULL) !=
		RC_OK ||
	    tool_result_read(&m, a, &res) != RC_OK)
		return;
	must((res.outcome == TURN_OK) == (m.has_ok && m.ok));
	must(res.outcome >= TURN_OK && res.outcome < TURN_OUTCOMES);
	if (res.output.p == NULL)
		return;
	must(wire_tree_parse(res.output, &v) == RC_OK);
	must(wire_tree_text(v).n <= TOOL_RESULT_MAX);
	wire_tree_free(v);
}

static void
fuzz_record(struct str text, struct arena *a)
{
	struct wire_session_approval m;
	struct fcmp_question q;

	if (wire_decode(&wire_session_approval_desc, text, a, &m, NULL) !=
	    RC_OK)
		return;
	if (approval_is_intact(&m))
		must(fcmp_truncate(m.prompt, FCMP_PROMPT_MAX).n == m.prompt.n);
	approval_question(&m, &q);
	must(q.n_options == 3);
}

static void
fuzz_schema(struct str text, struct arena *a)
{
	struct wire_tree *v;
	struct str s;

	must(tool_schema_shown(text, 1024, a, &s) == RC_OK && s.n <= 1024);
	must(wire_tree_parse(s, &v) == RC_OK);
	must(wire_tree_kind(v) == WIRE_TREE_OBJECT);
	must(wire_tree_get(v, STR("$ref")) == NULL);
	must(wire_tree_get(v, STR("properties")) != NULL);
	wire_tree_free(v);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str text = { (const char *)data + 1, n - 1 };
	struct arena *a;

	if (n == 0)
		return 0;
	a = arena_new(WIRE_ARENA_MAX);
	switch (data[0]) {
	case 'l':
		fuzz_list(text, a);
		break;
	case 's':
		fuzz_schema(text, a);
		break;
	case 'r':
		fuzz_reply(text, a);
		break;
	case 'a':
		fuzz_record(text, a);
		break;
	default:
		must(approval_read_reply(text) <= APPROVAL_NO);
		(void)approval_is_showable(
		    &(struct turn_provided){ .server = STR("s"), .tool = text },
		    text);
		break;
	}
	arena_free(a);
	return 0;
}
