/*
 * The responses of the simulated language model.
 */
#include "core/mem.h"
#include "rules.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

#define TOOL(name)                                              \
	"{\"type\":\"function\",\"function\":{\"name\":\"" name \
	"\",\"parameters\":{\"type\":\"object\"}}}"
#define BODY_TOOLS   TOOL("control_light") "," TOOL("set_head_motion")
#define MEMORY_TOOLS TOOL("recall_memory") "," TOOL("forget_memory")
#define TOOLS        "\"tools\":[" BODY_TOOLS "," MEMORY_TOOLS "],"
#define FILE_TOOLS                                     \
	"\"tools\":[" TOOL("fs__write_file") "," TOOL( \
	    "fs__read_text_file") "," TASK_TOOLS "],"
#define TASK_TOOLS TOOL("run_task") "," TOOL("answer_task")
#define USER(text) "{\"role\":\"user\",\"content\":\"" text "\"}"

#define LIT                                                                 \
	"{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":" \
	"\"ia_1_0\",\"type\":\"function\",\"function\":{\"name\":"          \
	"\"control_light\",\"arguments\":\"{}\"}}]},"                       \
	"{\"role\":\"tool\",\"tool_call_id\":\"ia_1_0\",\"content\":"       \
	"\"{}\"},{\"role\":\"assistant\",\"content\":\"好\"}"

/* A request; the text of the response, or the calls as "name arguments|". */
static const struct {
	const char *request, *text, *calls;
} rows[] = {
	{ "{\"model\":\"m\",\"messages\":[" USER("你好") "]}",
	    "我听到你说：你好", "" },
	{ "{\"model\":\"m\"," TOOLS "\"messages\":[" USER("你好") "]}",
	    "我听到你说：你好", "" },
	{ "{\"model\":\"m\"," TOOLS "\"messages\":[" USER("点一下脑袋") "]}",
	    NULL, "set_head_motion {\"action\":\"点头\"}|" },
	/* A tool that is not offered is not called. */
	{ "{\"model\":\"m\",\"messages\":[" USER("点一下脑袋") "]}",
	    "我听到你说：点一下脑袋", "" },
	{ "{\"model\":\"m\"," TOOLS
	  "\"messages\":[" USER("nod, and light") "]}",
	    NULL,
	    "set_head_motion {\"action\":\"点头\"}|control_light "
	    "{\"mode\":\"on\"}|" },
	{ "{\"model\":\"m\"," TOOLS "\"messages\":[" USER("你还记得我吗") "]}",
	    NULL, "recall_memory {\"query\":\"你还记得我吗\"}|" },
	{ "{\"model\":\"m\"," TOOLS "\"messages\":[" USER("忘掉以前的事") "]}",
	    NULL, "forget_memory {\"query\":\"忘掉以前的事\"}|" },
	{ "{\"model\":\"m\",\"messages\":[" USER("忘掉以前的事") "]}",
	    "我听到你说：忘掉以前的事", "" },
	/* A soul that thinks, and one that has a suggestion. */
	{ "{\"model\":\"m\",\"messages\":[{\"role\":\"system\","
	  "\"content\":\"你是潜意识\"}," USER("你好") "]}",
	    "{\"suggestion\":\"先安慰主人，少讲道理，多听。\","
	    "\"intent\":\"comfort\",\"psyche_delta\":{\"intimacy\":0.1}}",
	    "" },
	{ "{\"model\":\"m\",\"messages\":[{\"role\":\"system\","
	  "\"content\":\"【建议】多听\"}," USER("你好") "]}",
	    "我在听，你说：你好", "" },
	/* Results are repeated; the calls are not made again. */
	{ "{\"model\":\"m\"," TOOLS "\"messages\":[" USER(
	      "点头") ",{\"role\":\"assistant\",\"content\":null},"
		      "{\"role\":\"tool\","
		      "\"tool_call_id\":\"call_1_0\",\"content\":\"好了\"}]}",
	    "结果：好了", "" },
	/* Results of other calls are not. */
	{ "{\"model\":\"m\"," TOOLS "\"messages\":[" USER(
	      "甲") ",{\"role\":\"assistant\",\"content\":null},"
		    "{\"role\":\"tool\","
		    "\"tool_call_id\":\"c\",\"content\":\"好了\"}]}",
	    "我听到你说：甲", "" },
	/* "It" is the last tool called. */
	{ "{\"model\":\"m\"," TOOLS
	  "\"messages\":[" USER("变绿") "," LIT "," USER("再关掉它") "]}",
	    NULL, "control_light {\"mode\":\"off\"}|" },
	{ "{\"model\":\"m\"," TOOLS "\"messages\":[" USER("再关掉它") "]}",
	    "我听到你说：再关掉它", "" },
	{ "{\"model\":\"m\",\"messages\":[" USER("变绿") "," LIT "," USER(
	      "再关掉它") "]}",
	    "我听到你说：再关掉它", "" },
	/* Files, of any server. */
	{ "{\"model\":\"m\"," FILE_TOOLS
	  "\"messages\":[" USER("把 a.txt 里的内容读给我听") "]}",
	    NULL, "fs__read_text_file {\"path\":\"a.txt\"}|" },
	{ "{\"model\":\"m\"," FILE_TOOLS
	  "\"messages\":[" USER("把「你好」写到b-1.md里") "]}",
	    NULL,
	    "fs__write_file {\"path\":\"b-1.md\",\"content\":\"你好\"}|" },
	{ "{\"model\":\"m\"," FILE_TOOLS
	  "\"messages\":[" USER("读一读. 3.") "]}",
	    "我听到你说：读一读. 3.", "" },
	{ "{\"model\":\"m\"," TOOLS "\"messages\":[" USER("读 a.txt") "]}",
	    "我听到你说：读 a.txt", "" },
	/* Tasks. */
	{ "{\"model\":\"m\"," FILE_TOOLS
	  "\"messages\":[" USER("交给 codex 去做") "]}",
	    NULL, "run_task {\"task\":\"交给 codex 去做\"}|" },
	{ "{\"model\":\"m\"," FILE_TOOLS
	  "\"messages\":[" USER("告诉它「Ann」") "]}",
	    NULL, "answer_task {\"answer\":\"Ann\"}|" },
	/* The part that the system prompt quotes. */
	{ "{\"model\":\"m\"," TOOLS "\"messages\":[{\"role\":\"system\","
	  "\"content\":\"只回应还剩下的部分：「点一下脑袋」。\"}," USER(
	      "开灯，点一下脑袋") "]}",
	    NULL, "set_head_motion {\"action\":\"点头\"}|" },
	{ "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":"
	  "\"写一个摘要\"}," USER("甲乙丙") "]}",
	    "甲乙丙", "" },
};

TEST(rules_select_the_response)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct wire_llm_chat_request req;
	struct rules_result ans;
	struct wire_err err;
	size_t i, j;

	for (i = 0; i < NELEM(rows); i++) {
		struct buf calls = BUF_INIT(4096);

		ck_assert_msg(
		    wire_decode(&wire_llm_chat_request_desc,
			str_of(rows[i].request), a, &req, &err) == RC_OK,
		    "row %zu: %s %s", i, err.path, err.why);
		ck_assert_int_eq(rules_apply(&req, a, &ans), RC_OK);
		for (j = 0; j < ans.n; j++)
			buf_printf(&calls, "%s %.*s|", ans.calls[j].name,
			    STR_ARG(ans.calls[j].arguments));
		ck_assert_msg(str_eq(ans.text, str_of(rows[i].text)),
		    "row %zu: %.*s", i, STR_ARG(ans.text));
		ck_assert_msg(str_eq(buf_str(&calls), str_of(rows[i].calls)),
		    "row %zu: %s", i, buf_str(&calls).p);
		buf_free(&calls);
	}
	arena_free(a);
}

TEST(a_script_applies_in_order)
{
	struct wire_llm_sim_script_faults faults[2] = {
		{ .kind = WIRE_LLM_SIM_SCRIPT_FAULTS_KIND_ERROR,
		    .status = 500 },
		{ .kind = WIRE_LLM_SIM_SCRIPT_FAULTS_KIND_SLOW,
		    .status = 500,
		    .delay_ms = 7 }
	};
	struct wire_llm_sim_script msg = { .faults = faults, .n_faults = 2 };
	struct script s = { .next = 0 };

	ck_assert_int_eq(script_next(&s, STR("hi")).kind,
	    WIRE_LLM_SIM_SCRIPT_FAULTS_KIND_NONE);
	ck_assert_int_eq(script_set(&s, &msg), RC_OK);
	ck_assert_int_eq(script_next(&s, STR("hi")).kind,
	    WIRE_LLM_SIM_SCRIPT_FAULTS_KIND_ERROR);
	ck_assert_int_eq(script_next(&s, STR("hi")).delay_ms, 7);
	ck_assert_int_eq(script_next(&s, STR("hi")).kind,
	    WIRE_LLM_SIM_SCRIPT_FAULTS_KIND_NONE);
	/* A fault that waits for its request. */
	faults[0].when = STR("tea");
	ck_assert_int_eq(script_set(&s, &msg), RC_OK);
	ck_assert_int_eq(script_next(&s, STR("hi")).kind,
	    WIRE_LLM_SIM_SCRIPT_FAULTS_KIND_NONE);
	ck_assert_int_eq(script_next(&s, STR("green tea")).kind,
	    WIRE_LLM_SIM_SCRIPT_FAULTS_KIND_ERROR);
	ck_assert_int_eq(script_next(&s, STR("hi")).delay_ms, 7);
	script_free(&s);
}

static double
likeness(const char *x, const char *y)
{
	double a[EMBED_DIM], b[EMBED_DIM], dot = 0;
	size_t i;

	embed_text(str_of(x), a);
	embed_text(str_of(y), b);
	for (i = 0; i < EMBED_DIM; i++)
		dot += a[i] * b[i];
	return dot;
}

TEST(similar_texts_have_similar_vectors)
{
	ck_assert_double_eq_tol(likeness("我喜欢喝茶", "我喜欢喝茶"), 1, 1e-9);
	ck_assert(likeness("我喜欢喝茶", "我喜欢喝咖啡") >
	    likeness("我喜欢喝茶", "今天下雨了"));
	ck_assert_double_eq(likeness("", "x"), 0);
}
