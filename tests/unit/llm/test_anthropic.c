/*
 * Anthropic Messages: requests and responses.
 */
#include <string.h>

#include "core/mem.h"
#include "llm/llm_internal.h"
#include "testkit/testkit.h"

static struct buf out = BUF_INIT(LLM_REQUEST_MAX);

static const char *
written(const struct llm_chat *chat, struct llm_provider o)
{
	struct provider p;

	o.kind = LLM_ANTHROPIC;
	o.base_url = "http://a";
	o.model = "m1";
	ck_assert_int_eq(provider_init(&p, &o, NULL), RC_OK);
	ck_assert_str_eq(p.url, "http://a/v1/messages");
	buf_reset(&out);
	ck_assert_int_eq(anthropic_dialect.write(&p, chat, &out), RC_OK);
	provider_free(&p);
	return out.p;
}

#define HEAD  "{\"model\":\"m1\",\"max_tokens\":1024,"
#define T(s)  "{\"type\":\"text\",\"text\":\"" s "\"}"
#define USER  "{\"role\":\"user\",\"content\":["
#define MODEL "{\"role\":\"assistant\",\"content\":["

static const struct llm_tool_call calls[] = {
	{ .id = STR_INIT("a:1"),
	    .name = STR_INIT("f"),
	    .arguments = STR_INIT("{\"x\":1}"),
	    .extra = STR_INIT("{\"by\":\"llm/m1\",\"blocks\":[{\"type\":"
			      "\"thinking\",\"thinking\":\"t\","
			      "\"signature\":\"s\"}]}") },
	{ .id = STR_INIT("b"),
	    .name = STR_INIT("g"),
	    .arguments = STR_INIT("broken") },
	{ .id = STR_INIT("c"),
	    .name = STR_INIT("f"),
	    .arguments = STR_INIT("{}"),
	    .extra = STR_INIT("{\"by\":\"other/m1\",\"blocks\":[1]}") },
};

#define USE(id, name, input)                                        \
	"{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"" name \
	"\",\"input\":" input "}"
#define RESULT(id, text)                                        \
	"{\"type\":\"tool_result\",\"tool_use_id\":\"" id "\"," \
	"\"content\":\"" text "\"}"
#define OPEN(name) \
	"{\"name\":\"" name "\",\"input_schema\":{\"type\":\"object\"}}"
#define NO_CHOICE "\"tool_choice\":{\"type\":\"none\"}"
#define SIGNED                                         \
	"{\"type\":\"thinking\",\"thinking\":\"t\",\"" \
	"signature\":\"s\"}"

struct row {
	struct llm_message list[5];
	size_t n;
	const char *want;
};

static void
check(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct llm_chat chat = { .messages = rows[i].list,
			.nmessages = rows[i].n,
			.temperature = -1 };
		ck_assert_str_eq(
		    written(&chat, (struct llm_provider){ 0 }), rows[i].want);
	}
}

TEST(roles_alternate)
{
	static const struct row rows[] = {
		{ { { .role = LLM_USER, .text = STR_INIT("hi") } }, 1,
		    HEAD "\"messages\":[" USER T("hi") "]}]}" },
		{ { { .role = LLM_SYSTEM, .text = STR_INIT("be") },
		      { .role = LLM_USER, .text = STR_INIT("a") },
		      { .role = LLM_SYSTEM, .text = STR_INIT("good") },
		      { .role = LLM_USER, .text = STR_INIT("b") } },
		    4,
		    HEAD "\"system\":\"be\\n\\ngood\",\"messages\":[" USER T(
			"a") "," T("b") "]}]}" },
		/* The assistant cannot begin, and no text may be empty. */
		{ { { .role = LLM_ASSISTANT, .text = STR_INIT("hi") },
		      { .role = LLM_USER, .text = STR_INIT(" \n") },
		      { .role = LLM_ASSISTANT, .text = STR_INIT("there") },
		      { .role = LLM_USER, .text = STR_INIT("yes") } },
		    4,
		    HEAD "\"messages\":[" USER T("…") "]}," MODEL T("hi") "," T(
			"there") "]}," USER T("yes") "]}]}" },
		{ { { .role = LLM_SYSTEM, .text = STR_INIT("be") } }, 1,
		    HEAD
		    "\"system\":\"be\",\"messages\":[" USER T("…") "]}]}" },
	};

	check(rows, NELEM(rows));
}

TEST(calls_and_results_are_written)
{
	static const struct row rows[] = {
		/* All results in one message, directly behind the calls. */
		{ { { .role = LLM_USER, .text = STR_INIT("do") },
		      { .role = LLM_ASSISTANT,
			  .text = STR_INIT("well"),
			  .calls = calls,
			  .ncalls = 2 },
		      { .role = LLM_TOOL,
			  .text = STR_INIT("1"),
			  .tool_call_id = STR_INIT("a:1") },
		      { .role = LLM_TOOL, .tool_call_id = STR_INIT("b") },
		      { .role = LLM_USER, .text = STR_INIT("go on") } },
		    5,
		    HEAD "\"messages\":[" USER T("do") "]}," MODEL SIGNED "," T(
			"well") "," USE("a_1", "f", "{\"x\":1}") "," USE("b",
			"g", "{}") "]}," USER RESULT("a_1", "1") "," RESULT("b",
			"") "," T("go on") "]}],"
					   "\"tools\":[" OPEN("f") "," OPEN(
					       "g") "]," NO_CHOICE "}" },
		/* Another provider's reasoning is not sent. */
		{ { { .role = LLM_USER, .text = STR_INIT("do") },
		      { .role = LLM_ASSISTANT,
			  .calls = &calls[2],
			  .ncalls = 1 },
		      { .role = LLM_TOOL,
			  .text = STR_INIT("1"),
			  .tool_call_id = STR_INIT("c") } },
		    3,
		    HEAD "\"messages\":[" USER T("do") "]}," MODEL USE(
			"c", "f", "{}") "]}," USER RESULT("c",
			"1") "]}],"
			     "\"tools\":[" OPEN("f") "]," NO_CHOICE "}" },
	};

	check(rows, NELEM(rows));
}

TEST(options_are_written)
{
	static const struct llm_message hello = { .role = LLM_USER,
		.text = STR_INIT("hi") };
	static const struct llm_tool tools[] = {
		{ .name = STR_INIT("f"),
		    .description = STR_INIT("does"),
		    .parameters = STR_INIT("{\"type\":\"object\",\"a\":1}") },
		{ .name = STR_INIT("g") },
	};
	struct llm_chat chat = { .messages = &hello,
		.nmessages = 1,
		.tools = tools,
		.ntools = 2,
		.choice = LLM_CHOICE_REQUIRED,
		.temperature = 1.5,
		.stream = true };

	ck_assert_str_eq(written(&chat, (struct llm_provider){ 0 }),
	    HEAD "\"messages\":[" USER T(
		"hi") "]}],"
		      "\"tools\":[{\"name\":\"f\",\"description\":\"does\","
		      "\"input_schema\":{\"type\":\"object\",\"a\":1}},"
		      "{\"name\":\"g\",\"input_schema\":{\"type\":\"object\"}}"
		      "],\"tool_choice\":{\"type\":\"any\"},\"stream\":true,"
		      "\"temperature\":1}");
	chat.choice = LLM_CHOICE_NONE;
	chat.max_tokens = 7;
	written(&chat, (struct llm_provider){ 0 });
	ck_assert_ptr_nonnull(
	    strstr(out.p, "\"tool_choice\":{\"type\":\"none\"}"));
	ck_assert_ptr_nonnull(strstr(out.p, "\"max_tokens\":7,"));
	chat.max_tokens = 0;
	chat.choice = LLM_CHOICE_AUTO;
	written(&chat,
	    (struct llm_provider){ .max_tokens = 9,
		.body = STR("{\"temperature\":null,\"thinking\":{\"type\":"
			    "\"enabled\"}}") });
	ck_assert_ptr_nonnull(strstr(out.p, "\"max_tokens\":9,"));
	ck_assert_ptr_null(strstr(out.p, "temperature"));
	ck_assert_ptr_null(strstr(out.p, "tool_choice"));
	ck_assert_ptr_nonnull(
	    strstr(out.p, ",\"thinking\":{\"type\":\"enabled\"}}"));
}

/* ---- responses ---- */

#define EVENTS 10
#define START(i, block)                                   \
	"{\"type\":\"content_block_start\",\"index\":" #i \
	",\"content_block\":" block "}"
#define DELTA(i, d) \
	"{\"type\":\"content_block_delta\",\"index\":" #i ",\"delta\":" d "}"
#define STOP(i) "{\"type\":\"content_block_stop\",\"index\":" #i "}"
#define TOOL(id, name)                                              \
	"{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"" name \
	"\",\"input\":{}}"
#define JSON(s) "{\"type\":\"input_json_delta\",\"partial_json\":\"" s "\"}"
#define END(r) \
	"{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" r "\"}}"
#define OVER "{\"type\":\"message_stop\"}"

static const struct {
	const char *events[EVENTS];
	/* text|reasoning|calls|finish|extra of the first call */
	const char *want;
} streams[] = {
	{ { START(0, T("")),
	      DELTA(0, "{\"type\":\"text_delta\",\"text\":\"a\"}"),
	      "{\"type\":\"ping\"}", STOP(0), END("end_turn"), OVER },
	    "a|||1|" },
	{ { START(0, TOOL("x", "f")), DELTA(0, JSON("")),
	      DELTA(0, JSON("{\\\"a\\\"")), DELTA(0, JSON(":1}")), STOP(0),
	      START(1, TOOL("y", "g")), STOP(1), END("tool_use"), OVER },
	    "||x f {\"a\":1};y g {};|3|" },
	/* Truncated: only complete calls are valid. */
	{ { START(0, TOOL("x", "f")), DELTA(0, JSON("{\\\"a\\\"")) },
	    "||!x f {\"a\";|0|" },
	{ { START(0, TOOL("x", "f")), DELTA(0, JSON("{\\\"a\\\"")),
	      END("max_tokens"), OVER },
	    "||!x f {\"a\";|2|" },
	/* Signed and redacted reasoning. */
	{ { START(0, "{\"type\":\"thinking\",\"thinking\":\"\"}"),
	      DELTA(0, "{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}"),
	      DELTA(0, "{\"type\":\"signature_delta\",\"signature\":\"s\"}"),
	      STOP(0),
	      START(1, "{\"type\":\"redacted_thinking\",\"data\":\"z\"}"),
	      STOP(1), START(2, TOOL("x", "f")), STOP(2), END("tool_use"),
	      OVER },
	    "|hm|x f {};|3|{\"by\":\"p/m\",\"blocks\":[{\"type\":\"thinking\","
	    "\"thinking\":\"hm\",\"signature\":\"s\"},{\"type\":"
	    "\"redacted_thinking\",\"data\":\"z\"}]}" },
	{ { END("refusal"), OVER }, "|||4|" },
	{ { END("pause_turn"), OVER }, "|||5|" },
	/* Unknown events and blocks are ignored. */
	{ { START(0, "{\"type\":\"server_tool_use\",\"id\":\"x\"}"),
	      DELTA(0, "{\"type\":\"citations_delta\"}"), STOP(0),
	      "{\"type\":\"something_new\"}", END("end_turn"), OVER },
	    "|||1|" },
};

static void
describe(struct accum *m, struct buf *b)
{
	struct arena *a = arena_new(65536);
	struct llm_result r = { 0 };

	ck_assert_int_eq(accum_end(m, STR("t"), STR("p/m"), a, &r), RC_OK);
	buf_reset(b);
	buf_printf(b, "%.*s|%.*s|", STR_ARG(r.text), STR_ARG(r.reasoning));
	for (size_t i = 0; i < r.ncalls; i++)
		buf_printf(b, "%s%.*s %.*s %.*s;", r.calls[i].valid ? "" : "!",
		    STR_ARG(r.calls[i].id), STR_ARG(r.calls[i].name),
		    STR_ARG(r.calls[i].arguments));
	buf_printf(b, "|%d|", (int)r.finish);
	if (r.ncalls > 0)
		buf_put_str(b, r.calls[0].extra);
	arena_free(a);
}

TEST(streams_are_read)
{
	struct buf b = BUF_INIT(65536);

	for (size_t i = 0; i < NELEM(streams); i++) {
		struct accum m;
		accum_init(&m, NULL);
		for (size_t k = 0; k < EVENTS && streams[i].events[k]; k++) {
			const char *why = "";
			struct wire_tree *v;
			struct str delta;
			ck_assert_int_eq(
			    wire_tree_parse(str_of(streams[i].events[k]), &v),
			    RC_OK);
			ck_assert_int_eq(
			    anthropic_dialect.event(&m, v, &delta, &why),
			    RC_OK);
			wire_tree_free(v);
		}
		describe(&m, &b);
		ck_assert_msg(str_eq(buf_str(&b), str_of(streams[i].want)),
		    "stream %zu: %s", i, b.p);
		accum_free(&m);
	}
	buf_free(&b);
}

TEST(responses_are_read)
{
	static const struct {
		const char *json, *want;
		enum rc rc;
	} rows[] = {
		{ "{\"content\":[{\"type\":\"thinking\",\"thinking\":\"t\","
		  "\"signature\":\"s\"}," T(
		      "a") ",{\"type\":\"tool_use\",\"id\":\"x\",\"name\":"
			   "\"f\",\"input\":{\"a\":1}}],\"stop_reason\":"
			   "\"tool_use\",\"usage\":{\"input_tokens\":3,"
			   "\"cache_read_input_tokens\":4,"
			   "\"output_tokens\":5}}",
		    "a|t|x f {\"a\":1};|3|{\"by\":\"p/m\",\"blocks\":[{"
		    "\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":"
		    "\"s\"}]}",
		    RC_OK },
		{ "{\"content\":[],\"stop_reason\":\"end_turn\"}", "|||1|",
		    RC_OK },
		{ "{\"content\":\"a\"}", NULL, RC_INVALID },
		{ "[]", NULL, RC_INVALID },
	};
	struct buf b = BUF_INIT(65536);

	for (size_t i = 0; i < NELEM(rows); i++) {
		const char *why = NULL;
		struct wire_tree *v;
		struct accum m;
		accum_init(&m, NULL);
		ck_assert_int_eq(
		    wire_tree_parse(str_of(rows[i].json), &v), RC_OK);
		ck_assert_int_eq(
		    anthropic_dialect.response(&m, v, &why), rows[i].rc);
		if (rows[i].want != NULL) {
			describe(&m, &b);
			ck_assert_str_eq(b.p, rows[i].want);
		} else {
			ck_assert_ptr_nonnull(why);
		}
		if (i == 0) {
			ck_assert_int_eq(m.prompt_tokens, 7);
			ck_assert_int_eq(m.completion_tokens, 5);
		}
		wire_tree_free(v);
		accum_free(&m);
	}
	buf_free(&b);
}
