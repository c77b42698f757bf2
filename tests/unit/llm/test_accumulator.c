/*
 * Responses from their chunks: one row for each quirk of a provider.
 */
#include <string.h>

#include "core/mem.h"
#include "llm/llm_internal.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

static const char *const finishes[] = {
	[LLM_FINISH_NONE] = "none",
	[LLM_FINISH_STOP] = "stop",
	[LLM_FINISH_LENGTH] = "length",
	[LLM_FINISH_TOOL_CALLS] = "calls",
	[LLM_FINISH_FILTER] = "filter",
	[LLM_FINISH_OTHER] = "other",
};

/* "text|finish|id name arguments;…" with '!' before calls that are not valid.
 */
static void
describe(struct accum *m, struct buf *out)
{
	struct arena *a = arena_new(65536);
	struct llm_result r = { 0 };

	ck_assert_int_eq(accum_end(m, STR("t1"), STR("p/m"), a, &r), RC_OK);
	buf_reset(out);
	buf_printf(out, "%.*s|%s|", STR_ARG(r.text), finishes[r.finish]);
	for (size_t i = 0; i < r.ncalls; i++)
		buf_printf(out, "%s%.*s %.*s %.*s;",
		    r.calls[i].valid ? "" : "!", STR_ARG(r.calls[i].id),
		    STR_ARG(r.calls[i].name), STR_ARG(r.calls[i].arguments));
	ck_assert_int_eq(r.incomplete, r.finish == LLM_FINISH_NONE);
	arena_free(a);
}

static enum rc
add_chunk(struct accum *m, const char *json, struct buf *deltas)
{
	const char *why = NULL;
	struct wire_tree *v;
	struct str delta;

	ck_assert_msg(wire_tree_parse(str_of(json), &v) == RC_OK, "%s", json);
	enum rc rc = openai_dialect.event(m, v, &delta, &why);
	if (rc == RC_OK && deltas != NULL)
		buf_put_str(deltas, delta);
	wire_tree_free(v);
	return rc;
}

/* A chunk with a delta, a chunk with a tool call, the end. */
#define DELTA(d) "{\"choices\":[{\"index\":0,\"delta\":{" d "}}]}"
#define CALL(c)  DELTA("\"tool_calls\":[{" c "}]")
#define FN(n, a) "\"function\":{\"name\":\"" n "\",\"arguments\":" a "}"
#define ARGS(a)  "\"function\":{\"arguments\":" a "}"
#define FINISH(f)                                  \
	"{\"choices\":[{\"index\":0,\"delta\":{}," \
	"\"finish_reason\":\"" f "\"}]}"
#define DONE   "[DONE]"
#define CHUNKS 12

static const struct {
	const char *chunks[CHUNKS];
	const char *want;
} rows[] = {
	/* Text. */
	{ { DELTA("\"role\":\"assistant\",\"content\":\"\""),
	      DELTA("\"content\":\"a\""), DELTA("\"content\":\"b\""),
	      FINISH("stop"), DONE },
	    "ab|stop|" },
	{ { DELTA("\"content\":\"a\""), DELTA("\"content\":null"), DONE },
	    "a|stop|" },
	{ { DELTA("\"content\":\"a\""), FINISH("stop") }, "a|stop|" },
	{ { DELTA("\"content\":\"a\"") }, "a|none|" },
	{ { DELTA("\"content\":\"a\""), FINISH("length") }, "a|length|" },
	{ { FINISH("content_filter"), DONE }, "|filter|" },
	{ { FINISH("insufficient_system_resource") }, "|other|" },
	/* Nothing to see: no choices, another choice, padding. */
	{ { "{\"choices\":[],\"usage\":{\"prompt_tokens\":1}}",
	      "{\"prompt_filter_results\":[]}", DELTA("\"content\":\"a\""),
	      "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"x\"}}]}",
	      "{\"choices\":[{\"delta\":{\"content\":\"b\"}}]}",
	      FINISH("stop") },
	    "ab|stop|" },
	/* A standard call. */
	{ { CALL("\"index\":0,\"id\":\"c1\",\"type\":\"function\"," FN(
		"f", "\"\"")),
	      CALL("\"index\":0," ARGS("\"{\\\"on\\\":\"")),
	      CALL("\"index\":0," ARGS("\"true}\"")), FINISH("tool_calls"),
	      DONE },
	    "|calls|c1 f {\"on\":true};" },
	/* Two calls, by index, interleaved. */
	{ { CALL("\"index\":0,\"id\":\"a\"," FN("f", "\"{\"")),
	      CALL("\"index\":1,\"id\":\"b\"," FN("g", "\"{\"")),
	      CALL("\"index\":0," ARGS("\"}\"")),
	      CALL("\"index\":1," ARGS("\"}\"")), FINISH("tool_calls") },
	    "|calls|a f {};b g {};" },
	/* Later chunks with an empty id and no name. */
	{ { CALL("\"index\":0,\"id\":\"c1\"," FN("f", "\"{\"")),
	      CALL("\"index\":0,\"id\":\"\",\"type\":\"\","
		   "\"function\":{\"name\":null,\"arguments\":\"}\"}"),
	      CALL("\"index\":0,\"id\":null,\"function\":{\"name\":\"\"}"),
	      FINISH("tool_calls") },
	    "|calls|c1 f {};" },
	/* No index: whole calls, distinguished by id. */
	{ { CALL("\"id\":\"a\"," FN("f", "\"{}\"")),
	      CALL("\"id\":\"b\"," FN("f", "\"{}\"")), FINISH("stop") },
	    "|calls|a f {};b f {};" },
	/* No index, the id in each chunk. */
	{ { CALL("\"id\":\"a\"," FN("f", "\"{\"")),
	      CALL("\"id\":\"b\"," FN("g", "\"{\"")),
	      CALL("\"id\":\"a\"," ARGS("\"}\"")),
	      CALL("\"id\":\"b\"," ARGS("\"}\"")), FINISH("tool_calls") },
	    "|calls|a f {};b g {};" },
	/*
	 * Neither index nor id: the last call continues until it is complete.
	 */
	{ { CALL(FN("f", "\"{\\\"x\\\":\"")), CALL(ARGS("\"1}\"")),
	      CALL(FN("f", "\"{}\"")), CALL(FN("g", "\"{}\"")),
	      FINISH("tool_calls") },
	    "|calls|call_t1_0 f {\"x\":1};call_t1_1 f {};call_t1_2 g {};" },
	{ { CALL(FN("f", "null")), CALL(FN("g", "null")),
	      FINISH("tool_calls") },
	    "|calls|call_t1_0 f {};call_t1_1 g {};" },
	/* The name in each chunk. */
	{ { CALL("\"index\":0,\"id\":\"a\"," FN("f", "\"{\"")),
	      CALL("\"index\":0,\"id\":\"a\"," FN("f", "\"}\"")),
	      FINISH("tool_calls") },
	    "|calls|a f {};" },
	/* All parallel calls as index 0, distinguished by a new id. */
	{ { CALL("\"index\":0,\"id\":\"a\"," FN("f", "\"{\"")),
	      CALL("\"index\":0," ARGS("\"}\"")),
	      CALL("\"index\":0,\"id\":\"b\"," FN("g", "\"{\"")),
	      CALL("\"index\":0," ARGS("\"}\"")), FINISH("tool_calls") },
	    "|calls|a f {};b g {};" },
	{ { CALL("\"index\":0,\"id\":\"a\"," FN("f", "\"{\"")),
	      CALL("\"index\":0,\"id\":\"b\"," FN("g", "\"{\"")),
	      CALL("\"index\":0,\"id\":\"a\"," ARGS("\"}\"")),
	      CALL("\"index\":0,\"id\":\"b\"," ARGS("\"}\"")), DONE },
	    "|calls|a f {};b g {};" },
	/* The id comes late, or never, or twice. */
	{ { CALL("\"index\":0," FN("f", "\"{}\"")),
	      CALL("\"index\":0,\"id\":\"a\""), FINISH("tool_calls") },
	    "|calls|a f {};" },
	{ { CALL("\"index\":0," FN("f", "\"{}\"")),
	      CALL("\"index\":1," FN("g", "\"{}\"")), FINISH("tool_calls") },
	    "|calls|call_t1_0 f {};call_t1_1 g {};" },
	{ { CALL("\"index\":0,\"id\":\"0\"," FN("f", "\"{}\"")),
	      CALL("\"index\":1,\"id\":\"0\"," FN("g", "\"{}\"")),
	      FINISH("tool_calls") },
	    "|calls|0 f {};call_t1_1 g {};" },
	/* Arguments: an object, an array, empty, absent. */
	{ { CALL("\"index\":0,\"id\":\"a\"," FN("f", "{\"x\":[1]}")),
	      CALL("\"index\":1,\"id\":\"b\"," FN("f", "[1]")),
	      CALL("\"index\":2,\"id\":\"c\"," FN("f", "null")),
	      CALL("\"index\":3,\"id\":\"d\"," FN("f", "\"\"")),
	      CALL("\"index\":4,\"id\":\"e\",\"function\":{\"name\":\"f\"}"),
	      FINISH("tool_calls") },
	    "|calls|a f {\"x\":[1]};!b f [1];c f {};d f {};e f {};" },
	/* Several calls in one chunk. */
	{ { DELTA("\"tool_calls\":[{\"index\":0,\"id\":\"a\"," FN(
		"f", "\"{}\"") "},{\"index\":1,\"id\":\"b\"," FN("g",
		"\"{}\"") "}]"),
	      FINISH("tool_calls") },
	    "|calls|a f {};b g {};" },
	/* Wrong finish reasons. */
	{ { CALL("\"index\":0,\"id\":\"a\"," FN("f", "\"{}\"")),
	      FINISH("stop") },
	    "|calls|a f {};" },
	{ { DELTA("\"content\":\"a\""), FINISH("tool_calls") }, "a|stop|" },
	{ { CALL("\"index\":0,\"id\":\"a\"," FN("f", "\"{}\"")),
	      FINISH("function_call") },
	    "|calls|a f {};" },
	{ { CALL("\"index\":0,\"id\":\"a\"," FN("f", "\"{}\"")), DONE },
	    "|calls|a f {};" },
	/* Truncated: calls that parse are valid, others not. */
	{ { CALL("\"index\":0,\"id\":\"a\"," FN("f", "\"{}\"")),
	      CALL("\"index\":1,\"id\":\"b\"," FN("g", "\"{\\\"x\\\"\"")),
	      CALL("\"index\":2,\"id\":\"c\"," FN("h", "\"\"")) },
	    "|none|a f {};!b g {\"x\";!c h {};" },
	{ { DELTA("\"content\":\"a\""),
	      CALL("\"index\":0,\"id\":\"b\"," FN("g", "\"{\\\"x\\\"\"")),
	      FINISH("length"), DONE },
	    "a|length|!b g {\"x\";" },
	/* A call without a name. */
	{ { CALL("\"index\":0,\"id\":\"a\"," ARGS("\"{}\"")),
	      FINISH("tool_calls") },
	    "|calls|!a  {};" },
};

TEST(streams_are_assembled)
{
	struct buf out = BUF_INIT(65536), deltas = BUF_INIT(65536);

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct accum m;
		accum_init(&m, NULL);
		buf_reset(&deltas);
		for (size_t k = 0; k < CHUNKS && rows[i].chunks[k]; k++) {
			const char *chunk = rows[i].chunks[k];
			if (strcmp(chunk, DONE) == 0)
				m.done = true;
			else
				ck_assert_int_eq(
				    add_chunk(&m, chunk, &deltas), RC_OK);
		}
		ck_assert(str_eq(buf_str(&deltas), buf_str(&m.text)));
		describe(&m, &out);
		ck_assert_msg(str_eq(buf_str(&out), str_of(rows[i].want)),
		    "row %zu: %s, not %s", i, out.p, rows[i].want);
		accum_free(&m);
	}
	buf_free(&out);
	buf_free(&deltas);
}

TEST(cumulative_streams_are_assembled)
{
	struct buf out = BUF_INIT(1024), deltas = BUF_INIT(1024);
	struct accum m;

	accum_init(&m, &(struct llm_provider){ .cumulative = true });
	ck_assert_int_eq(
	    add_chunk(&m, DELTA("\"content\":\"a\""), &deltas), RC_OK);
	ck_assert_int_eq(
	    add_chunk(&m, DELTA("\"content\":\"ab\""), &deltas), RC_OK);
	ck_assert_int_eq(
	    add_chunk(&m, DELTA("\"content\":\"ab\""), &deltas), RC_OK);
	ck_assert_int_eq(
	    add_chunk(&m, DELTA("\"content\":\"\""), &deltas), RC_OK);
	ck_assert_int_eq(
	    add_chunk(&m,
		CALL("\"index\":0,\"id\":\"a\"," FN("f", "\"{\\\"x\\\"\"")),
		&deltas),
	    RC_OK);
	ck_assert_int_eq(
	    add_chunk(&m,
		CALL("\"index\":0,\"id\":\"a\"," FN("f", "\"{\\\"x\\\":1}\"")),
		&deltas),
	    RC_OK);
	ck_assert_int_eq(add_chunk(&m, FINISH("tool_calls"), &deltas), RC_OK);
	ck_assert(str_eq(buf_str(&deltas), STR("ab")));
	describe(&m, &out);
	ck_assert_str_eq(out.p, "ab|calls|a f {\"x\":1};");
	accum_free(&m);
	buf_free(&out);
	buf_free(&deltas);
}

TEST(reasoning_usage_and_extra)
{
	struct arena *a = arena_new(65536);
	struct llm_result r = { 0 };
	struct accum m;

	accum_init(&m, NULL);
	ck_assert_int_eq(
	    add_chunk(&m, DELTA("\"reasoning_content\":\"a\""), NULL), RC_OK);
	ck_assert_int_eq(add_chunk(&m,
			     DELTA("\"reasoning_content\":\"\","
				   "\"reasoning\":\"b\""),
			     NULL),
	    RC_OK);
	ck_assert_int_eq(add_chunk(&m,
			     CALL("\"id\":\"a\"," FN("f",
				 "\"{}\"") ","
					   "\"extra_content\":{\"google\":"
					   "{\"thought_signature\":\"s\"}}"),
			     NULL),
	    RC_OK);
	ck_assert_int_eq(add_chunk(&m,
			     "{\"choices\":[],\"usage\":"
			     "{\"prompt_tokens\":40,\"completion_tokens\":9,"
			     "\"total_tokens\":49}}",
			     NULL),
	    RC_OK);
	ck_assert_int_eq(add_chunk(&m, FINISH("stop"), NULL), RC_OK);
	ck_assert_int_eq(accum_end(&m, STR("t"), STR("p/m"), a, &r), RC_OK);
	ck_assert(str_eq(r.reasoning, STR("ab")));
	ck_assert_uint_eq(r.text.n, 0);
	ck_assert_int_eq(r.prompt_tokens, 40);
	ck_assert_int_eq(r.completion_tokens, 9);
	ck_assert(str_eq(r.calls[0].extra,
	    STR("{\"by\":\"p/m\",\"call\":{\"extra_content\":{\"google\":"
		"{\"thought_signature\":\"s\"}}},\"name\":\"reasoning\","
		"\"reasoning\":\"ab\"}")));
	accum_free(&m);
	arena_free(a);
}

/* Adds reasoning of n bytes and a call with a member; extra has these. */
static void
check_extra(enum llm_echo echo, size_t n, bool thoughts)
{
	const struct llm_provider p = { .echo = echo };
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct buf b = BUF_INIT(1024 * 1024);
	struct llm_result r = { 0 };
	struct accum m;

	accum_init(&m, &p);
	buf_puts(&b, "{\"choices\":[{\"delta\":{\"reasoning\":\"");
	for (size_t i = 0; i < n; i++)
		buf_putc(&b, 'x');
	buf_puts(&b, "\"}}]}");
	ck_assert_int_eq(add_chunk(&m, b.p, NULL), RC_OK);
	ck_assert_int_eq(
	    add_chunk(
		&m, CALL("\"id\":\"a\",\"x\":1," FN("f", "\"{}\"")), NULL),
	    RC_OK);
	ck_assert_int_eq(accum_end(&m, STR("t"), STR("p/m"), a, &r), RC_OK);
	ck_assert_uint_eq(r.reasoning.n, n);
	ck_assert(str_starts(
	    r.calls[0].extra, STR("{\"by\":\"p/m\",\"call\":{\"x\":1}")));
	ck_assert_int_eq(
	    str_find(r.calls[0].extra, STR("\"reasoning\"")) >= 0, thoughts);
	accum_free(&m);
	buf_free(&b);
	arena_free(a);
}

TEST(reasoning_is_sent_back_within_limits)
{
	check_extra(LLM_ECHO_OWN, 1000, true);
	check_extra(LLM_ECHO_WITH_TOOL_CALLS, 1000, true);
	check_extra(LLM_ECHO_NEVER, 1000, false);
	check_extra(LLM_ECHO_OWN, CALL_EXTRA_MAX, false);
}

static void
check_response(const char *json, const char *want)
{
	struct buf out = BUF_INIT(65536);
	const char *why = NULL;
	struct wire_tree *v;
	struct accum m;

	ck_assert_int_eq(wire_tree_parse(str_of(json), &v), RC_OK);
	accum_init(&m, NULL);
	ck_assert_int_eq(openai_dialect.response(&m, v, &why), RC_OK);
	describe(&m, &out);
	ck_assert_msg(str_eq(buf_str(&out), str_of(want)), "%s", out.p);
	accum_free(&m);
	wire_tree_free(v);
	buf_free(&out);
}

TEST(whole_responses_are_read)
{
	check_response("{\"choices\":[{\"index\":0,\"message\":{\"role\":"
		       "\"assistant\",\"content\":\"hi\"},"
		       "\"finish_reason\":\"stop\"}]}",
	    "hi|stop|");
	check_response("{\"choices\":[{\"message\":{\"content\":null,"
		       "\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":"
		       "\"f\",\"arguments\":\"{}\"}},{\"function\":{\"name\":"
		       "\"g\",\"arguments\":{\"x\":1}}}]},"
		       "\"finish_reason\":\"stop\"}]}",
	    "|calls|a f {};call_t1_1 g {\"x\":1};");
	check_response("{\"choices\":[{\"index\":1,\"message\":{\"content\":"
		       "\"x\"}},{\"index\":0,\"message\":{\"content\":\"y\"},"
		       "\"finish_reason\":null}]}",
	    "y|stop|");
	check_response("{\"choices\":[]}", "|stop|");
}

TEST(responses_are_limited)
{
	struct buf b = BUF_INIT(4 * 1024 * 1024);
	struct accum m;
	enum rc rc = RC_OK;
	size_t n = 0;

	/* More calls than the limit. */
	accum_init(&m, NULL);
	while (rc == RC_OK && n <= 2 * LLM_CALLS_MAX) {
		buf_reset(&b);
		buf_printf(&b,
		    CALL("\"index\":%zu,\"id\":\"c%zu\"," FN("f", "\"{}\"")), n,
		    n);
		rc = add_chunk(&m, b.p, NULL);
		n += rc == RC_OK;
	}
	ck_assert_int_eq(rc, RC_TOOBIG);
	ck_assert_uint_eq(n, LLM_CALLS_MAX);
	accum_free(&m);

	/* Arguments beyond the limit. */
	accum_init(&m, NULL);
	buf_reset(&b);
	buf_puts(&b,
	    "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,"
	    "\"function\":{\"arguments\":\"");
	for (size_t i = 0; i < LLM_ARGS_MAX / 2 - 1; i++)
		buf_putc(&b, 'x');
	buf_puts(&b, "\"}}]}}]}");
	ck_assert_int_eq(add_chunk(&m, b.p, NULL), RC_OK);
	ck_assert_int_eq(add_chunk(&m, b.p, NULL), RC_OK);
	ck_assert_int_eq(add_chunk(&m, b.p, NULL), RC_TOOBIG);
	accum_free(&m);

	/* Text and reasoning beyond the limit. */
	for (size_t k = 0; k < 2; k++) {
		accum_init(&m, NULL);
		buf_reset(&b);
		buf_printf(&b, "{\"choices\":[{\"delta\":{\"%s\":\"",
		    k == 0 ? "content" : "reasoning_content");
		for (size_t i = 0; i < LLM_TEXT_MAX / 2 - 1; i++)
			buf_putc(&b, 'x');
		buf_puts(&b, "\"}}]}");
		ck_assert_int_eq(add_chunk(&m, b.p, NULL), RC_OK);
		ck_assert_int_eq(add_chunk(&m, b.p, NULL), RC_OK);
		ck_assert_int_eq(add_chunk(&m, b.p, NULL), RC_TOOBIG);
		accum_free(&m);
	}

	/* Arguments of another kind. */
	accum_init(&m, NULL);
	ck_assert_int_eq(
	    add_chunk(&m, CALL("\"index\":0," ARGS("1")), NULL), RC_INVALID);
	accum_free(&m);
	buf_free(&b);
}
