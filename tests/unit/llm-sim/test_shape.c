/*
 * Responses without quirks satisfy the schemas.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "rules.h"
#include "shape.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

static void
fill(struct shape *s)
{
	*s = (struct shape){ .stream = true,
		.id = STR_INIT("x"),
		.text = STR_INIT("Hello, 世界。"),
		.reasoning = STR_INIT("hm"),
		.ncalls = 1 };
	s->calls[0] = (struct shape_call){ .id = STR_INIT("c"),
		.name = STR_INIT("f"),
		.arguments = STR_INIT("{\"on\":true}") };
}

TEST(chat_completions_have_their_quirks)
{
	static struct shape_out o;
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct wire_llm_chat_response whole;
	struct wire_llm_chat_chunk chunk;
	struct wire_err err;
	struct shape s;
	size_t from = 0, n = 0;

	fill(&s);
	shape_out_init(&o);
	shape_openai(&s, &o);
	for (size_t i = 0; i < o.n; from = o.ends[i++]) {
		struct str e = { o.b.p + from, o.ends[i] - from };
		ck_assert(str_starts(e, STR("data: ")));
		ck_assert(str_ends(e, STR("\n\n")));
		e = (struct str){ e.p + 6, e.n - 8 };
		if (str_eq(e, STR("[DONE]")))
			break;
		ck_assert_msg(wire_decode(&wire_llm_chat_chunk_desc, e, a,
				  &chunk, &err) == RC_OK,
		    "%.*s: %s %s", STR_ARG(e), err.path, err.why);
		n++;
	}
	/* Role, reasoning, text, the call and its arguments, end, usage. */
	ck_assert_uint_eq(n, 1 + 1 + 3 + 1 + 3 + 1 + 1);
	shape_out_free(&o);
	shape_out_init(&o);
	s.stream = false;
	shape_openai(&s, &o);
	ck_assert_int_eq(wire_decode(&wire_llm_chat_response_desc,
			     buf_str(&o.b), a, &whole, &err),
	    RC_OK);
	ck_assert(str_eq(whole.choices[0].message.content, s.text));
	shape_out_free(&o);
	arena_free(a);
}

/* What Anthropic would reject is rejected. */
TEST(anthropic_messages_have_their_quirks)
{
	static const struct {
		const char *list;
		enum rc rc;
	} rows[] = {
#define U(c) "{\"role\":\"user\",\"content\":" c "}"
#define A(c) "{\"role\":\"assistant\",\"content\":" c "}"
#define USE                                     \
	"[{\"type\":\"tool_use\",\"id\":\"c\"," \
	"\"name\":\"f\",\"input\":{}}]"
#define RESULT                                             \
	"{\"type\":\"tool_result\",\"tool_use_id\":\"c\"," \
	"\"content\":\"ok\"}"
		{ U("\"hi\""), RC_OK },
		{ U("\"hi\"") "," A("\"ho\"") "," U("\"hi\""), RC_OK },
		{ U("\"hi\"") "," A(USE) "," U("[" RESULT "]"), RC_OK },
		{ A("\"hi\""), RC_INVALID },
		{ U("\"hi\"") "," U("\"hi\""), RC_INVALID },
		{ U("\" \""), RC_INVALID },
		{ U("[]"), RC_INVALID },
		{ U("\"hi\"") "," A(USE) "," U("\"hi\""), RC_INVALID },
		{ U("[" RESULT "]"), RC_INVALID },
		{ U("\"hi\"") "," A(USE) "," U("[" RESULT "," RESULT "]"),
		    RC_INVALID },
	};
	struct arena *a = arena_new(WIRE_ARENA_MAX);

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct wire_llm_messages_request in;
		struct wire_llm_chat_request out;
		const char *why = NULL;
		char json[1024];
		snprintf(json, sizeof(json),
		    "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[%s]}",
		    rows[i].list);
		ck_assert_int_eq(wire_decode(&wire_llm_messages_request_desc,
				     str_of(json), a, &in, NULL),
		    RC_OK);
		ck_assert_msg(messages_read(&in, a, &out, &why) == rows[i].rc,
		    "row %zu: %s", i, why);
		ck_assert_int_eq(why == NULL, rows[i].rc == RC_OK);
		arena_reset(a);
	}
	arena_free(a);
}
