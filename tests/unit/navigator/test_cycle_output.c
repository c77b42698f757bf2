/* Reading what a model has thought. */
#include <stdio.h>

#include "core/mem.h"
#include "cycle_output.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

static struct cycle_output out;
static char why[CYCLE_WHY_MAX];

static enum rc
read(const char *text)
{
	static struct arena *a;

	arena_free(a);
	a = arena_new(1UL << 20);
	return cycle_output_read(str_of(text), a, &out, why);
}

static void
ck_str(struct str s, const char *want)
{
	ck_assert_msg(str_eq(s, str_of(want)), "%.*s", STR_ARG(s));
}

#define OBJECT                                                            \
	"{\"suggestion\":\"少说多听\",\"intent\":\"comfort\","        \
	"\"psyche_delta\":{\"curiosity\":0.1,\"fear\":-2},"               \
	"\"memory_archival\":true,\"evolution_request\":\"need_python\"," \
	"\"memories\":[\"主人爱喝茶\",{\"text\":\"去了海边\","   \
	"\"type\":\"episode\"}],"                                         \
	"\"proactive\":{\"text\":\"问问睡得好吗\",\"urgency\":\"high\"}}"

static void
ck_object(void)
{
	struct buf b = BUF_INIT(65536);
	struct wire_err err;

	ck_str(out.o.suggestion, "少说多听");
	ck_str(out.o.intent, "comfort");
	ck_str(out.o.psyche_delta, "{\"curiosity\":0.1,\"fear\":-0.3}");
	ck_assert(out.o.memory_archival);
	ck_assert(out.o.has_evolution_request);
	ck_str(out.o.evolution_request.need, "need_python");
	ck_assert_uint_eq(out.o.n_memories, 2);
	ck_str(out.o.memories[0].text, "主人爱喝茶");
	ck_assert_int_eq(out.o.memories[0].type, WIRE_MEMORY_TYPE_FACT);
	ck_assert_int_eq(out.o.memories[1].type, WIRE_MEMORY_TYPE_EPISODE);
	ck_assert(out.o.has_proactive && out.o.proactive.urgent);
	ck_assert_int_eq(
	    wire_encode(&wire_navigator_output_desc, &out.o, &b, &err), RC_OK);
	buf_free(&b);
}

TEST(an_object_is_found_wherever_it_is)
{
	static const char *const texts[] = {
		OBJECT,
		"  \n" OBJECT "\n",
		"```json\n" OBJECT "\n```",
		"```\n" OBJECT "\n```\n希望有用。",
		"好的：\n" OBJECT "\n以上。",
		"<think>{\"suggestion\":\"不是这个\"}</think>" OBJECT,
		"想一想 <think>嗯</think>\n```json\n" OBJECT "```",
		"我想{了}想：\n```json\n" OBJECT "\n```",
	};

	for (size_t i = 0; i < NELEM(texts); i++) {
		ck_assert_msg(read(texts[i]) == RC_OK, "%s: %s", texts[i], why);
		ck_object();
	}
}

TEST(lines_of_old_prompts_are_read)
{
	ck_assert_int_eq(
	    read("suggestion: 少说多听\nintent: comfort\n"
		 "delta: curiosity +0.1, fear=-2\n"
		 "memory_archival: yes\nevolution: need_python\n"
		 "memory: 主人爱喝茶\n"
		 "- memory: {\"text\":\"去了海边\",\"type\":\"episode\"}\n"
		 "proactive: {\"text\":\"问问睡得好吗\",\"urgent\":true}\n"),
	    RC_OK);
	ck_object();
	ck_assert_int_eq(
	    read("**建议**：少说多听\n**意图**: comfort\n进化请求：无\n"),
	    RC_OK);
	ck_str(out.o.suggestion, "少说多听");
	ck_str(out.o.intent, "comfort");
	ck_assert(!out.o.has_evolution_request);
}

TEST(what_is_not_readable_has_a_reason)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "", "/: must be one JSON object" },
		{ "我觉得主人很难过。", "/: must be one JSON object" },
		{ "{\"suggestion\": \"a\"", "/: must be one JSON object" },
		{ "[1,2]", "/: must be one JSON object" },
		{ "{\"answer\":1}", "/: has none of the members" },
		{ "{\"suggestion\":7}", "/suggestion: must be a string" },
		{ "{\"psyche_delta\":[]}", "/psyche_delta: must be an object" },
		{ "{\"psyche_delta\":{\"fear\":\"much\"}}",
		    "/psyche_delta: must have numbers only" },
		{ "{\"memory_archival\":\"maybe\"}",
		    "/memory_archival: must be true or false" },
		{ "{\"evolution_request\":{\"need\":[]}}",
		    "/evolution_request/need: must be a string" },
		{ "{\"memories\":[3]}", "/memories: must be a string" },
		{ "{\"proactive\":{\"text\":{}}}",
		    "/proactive/text: must be a string" },
		{ "<think>{\"suggestion\":\"a\"}",
		    "/: must be one JSON object" },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		ck_assert_msg(
		    read(rows[i].text) == RC_INVALID, "%s", rows[i].text);
		ck_assert_str_eq(why, rows[i].why);
	}
}

TEST(nothing_is_absent)
{
	ck_assert_int_eq(
	    read("{\"suggestion\":\" \",\"intent\":null,\"psyche_delta\":{},"
		 "\"memory_archival\":null,\"evolution_request\":\"none\","
		 "\"memories\":[],\"proactive\":\"无\"}"),
	    RC_OK);
	ck_assert_uint_eq(out.o.suggestion.n, 0);
	ck_assert_uint_eq(out.o.psyche_delta.n, 0);
	ck_assert(!out.o.has_evolution_request && !out.o.has_proactive);
	ck_assert(!out.o.has_memories && !out.o.memory_archival);
}

TEST(names_that_are_no_drives_are_reported)
{
	ck_assert_int_eq(
	    read("{\"psyche_delta\":{\"hope\":0.1,\"joy\":\"+0.2\","
		 "\"greed\":1}}"),
	    RC_OK);
	ck_str(out.o.psyche_delta, "{\"joy\":0.2}");
	ck_str(out.unknown, "hope greed");
}

TEST(texts_are_limited)
{
	char text[8192];
	size_t n = 0;

	n += (size_t)snprintf(text, sizeof(text), "{\"suggestion\":\"");
	for (int i = 0; i < CYCLE_TEXT_MAX + 9; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "想");
	snprintf(text + n, sizeof(text) - n,
	    "\",\"memories\":[\"1a\",\"2\",\"3\",\"4\",\"5\"]}");
	ck_assert_int_eq(read(text), RC_OK);
	ck_assert_int_eq(str_utf8_count(out.o.suggestion), CYCLE_TEXT_MAX);
	ck_assert_uint_eq(out.o.n_memories, CYCLE_MEMORIES_MAX);
}
