/*
 * The table of rules.
 */
#include "rules.h"

#include "core/buf.h"
#include "core/mem.h"
#include "wire/out.h"

#define SUMMARY_CODE_POINTS 200
#define TEXT_MAX            65536

/* Said words, the tool they mean, and the arguments it gets. */
static const struct {
	struct str said;
	const char *tool;
	struct str arguments;
} table[] = {
	{ STR_INIT("摇"), "set_head_motion",
	    STR_INIT("{\"action\":\"摇头\"}") },
	{ STR_INIT("脑袋"), "set_head_motion",
	    STR_INIT("{\"action\":\"点头\"}") },
	{ STR_INIT("点头"), "set_head_motion",
	    STR_INIT("{\"action\":\"点头\"}") },
	{ STR_INIT("nod"), "set_head_motion",
	    STR_INIT("{\"action\":\"点头\"}") },
	{ STR_INIT("抬头"), "head_up",
	    STR_INIT("{\"angle\":15,\"duration_seconds\":3}") },
	{ STR_INIT("太暗"), "control_light", STR_INIT("{\"mode\":\"on\"}") },
	{ STR_INIT("太亮"), "control_light", STR_INIT("{\"mode\":\"off\"}") },
	{ STR_INIT("红"), "control_light",
	    STR_INIT("{\"mode\":\"set_color\",\"color\":\"red\"}") },
	{ STR_INIT("绿"), "control_light",
	    STR_INIT("{\"mode\":\"set_color\",\"color\":\"green\"}") },
	{ STR_INIT("light"), "control_light", STR_INIT("{\"mode\":\"on\"}") },
	{ STR_INIT("叫醒"), "create_alarm",
	    STR_INIT("{\"trigger_in_seconds\":60,\"label\":\"叫醒\"}") },
};
/* Said of "it", they mean what was called last, if it is the tool. */
static const struct {
	struct str said;
	const char *tool;
	struct str arguments;
} again[] = {
	{ STR_INIT("关"), "control_light", STR_INIT("{\"mode\":\"off\"}") },
	{ STR_INIT("开"), "control_light", STR_INIT("{\"mode\":\"on\"}") },
};
/* Words that ask for what was said before, and for its end. */
static const struct {
	struct str said;
	const char *tool;
} memory[] = {
	{ STR_INIT("忘掉"), "forget_memory" },
	{ STR_INIT("forget that"), "forget_memory" },
	{ STR_INIT("记得"), "recall_memory" },
	{ STR_INIT("上次"), "recall_memory" },
	{ STR_INIT("以前"), "recall_memory" },
	{ STR_INIT("remember"), "recall_memory" },
};

static bool
offers(const struct wire_llm_chat_request *req, const char *tool)
{
	size_t i;

	for (i = 0; i < req->n_tools; i++) {
		if (str_eq(req->tools[i].function.name, str_of(tool)))
			return true;
	}
	return false;
}

static const struct wire_llm_chat_request_messages *
last_of(const struct wire_llm_chat_request *req,
    enum wire_llm_chat_request_messages_role role)
{
	size_t i;

	for (i = req->n_messages; i > 0; i--) {
		if (req->messages[i - 1].role == role)
			return &req->messages[i - 1];
	}
	return NULL;
}

static bool
wants_summary(const struct wire_llm_chat_request *req)
{
	struct str s;

	if (req->n_messages == 0 ||
	    req->messages[0].role != WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_SYSTEM)
		return false;
	s = req->messages[0].content;
	return str_find(s, STR("摘要")) >= 0 || str_find(s, STR("总结")) >= 0 ||
	    str_find(s, STR("\"summary\"")) >= 0;
}

/* At most that many code points of s. */
static struct str
cut(struct str s, size_t code_points)
{
	size_t pos = 0;

	while (code_points-- > 0 && str_utf8_next(s, &pos) >= 0)
		continue;
	return (struct str){ s.p, pos };
}

static struct str
summary(const struct wire_llm_chat_request *req, struct arena *a)
{
	const struct wire_llm_chat_request_messages *m =
	    last_of(req, WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_USER);
	struct str s = m != NULL ? m->content : (struct str){ 0 };

	return arena_printf(a, "%.*s", STR_ARG(cut(s, SUMMARY_CODE_POINTS)));
}

/*
 * What it shall answer: the last user text, or only what the system text marks
 * of it.
 */
static struct str
asked(const struct wire_llm_chat_request *req)
{
	static const struct str mark = STR_INIT("剩下的部分：「");
	const struct wire_llm_chat_request_messages *m =
	    last_of(req, WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_SYSTEM);
	struct str s = m != NULL ? m->content : (struct str){ 0 };
	ptrdiff_t at = str_find(s, mark), end;

	if (at >= 0) {
		s.p += (size_t)at + mark.n;
		s.n -= (size_t)at + mark.n;
		end = str_find(s, STR("」"));
		if (end >= 0)
			return (struct str){ s.p, (size_t)end };
	}
	m = last_of(req, WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_USER);
	return m != NULL ? m->content : (struct str){ 0 };
}

/*
 * What the tools that it called itself gave, after the last user text, in one
 * sentence each.
 */
static struct str
told_results(const struct wire_llm_chat_request *req, struct arena *a)
{
	struct buf out = BUF_INIT(TEXT_MAX);
	struct str s = { 0 };
	size_t i, from = req->n_messages;

	while (from > 0 &&
	    req->messages[from - 1].role ==
		WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_TOOL)
		from--;
	for (i = from; i < req->n_messages; i++) {
		struct str r = req->messages[i].content;

		if (str_starts(
			req->messages[i].tool_call_id, STR(RULES_CALL_ID)))
			buf_printf(&out, "%s%.*s", out.n > 0 ? "；" : "结果：",
			    STR_ARG(r));
	}
	if (out.n > 0)
		s = arena_str(a, buf_str(&out));
	buf_free(&out);
	return s;
}

static bool
call_memory(const struct wire_llm_chat_request *req, struct str said,
    struct arena *a, struct rules_answer *out)
{
	struct buf b = BUF_INIT(TEXT_MAX);
	struct wire_out o = { .b = &b };
	size_t i;

	for (i = 0; i < NELEM(memory); i++) {
		if (str_find(said, memory[i].said) >= 0)
			break;
	}
	if (i == NELEM(memory) || !offers(req, memory[i].tool))
		return false;
	wire_out_object(&o);
	wire_out_key(&o, STR("query"));
	wire_out_str(&o, said);
	wire_out_object_end(&o);
	out->calls[out->n++] =
	    (struct rules_call){ memory[i].tool, arena_str(a, buf_str(&b)) };
	buf_free(&b);
	return true;
}

static void
call_tools(const struct wire_llm_chat_request *req, struct str said,
    struct rules_answer *out)
{
	size_t i, j;

	for (i = 0; i < NELEM(table) && out->n < RULES_CALLS_MAX; i++) {
		if (str_find(said, table[i].said) < 0 ||
		    !offers(req, table[i].tool))
			continue;
		for (j = 0; j < out->n; j++) {
			if (strcmp(out->calls[j].name, table[i].tool) == 0)
				break;
		}
		if (j == out->n)
			out->calls[out->n++] =
			    (struct rules_call){ table[i].tool,
				    table[i].arguments };
	}
}

/* The tool that was called last, by whomever; absent: none was. */
static struct str
called_last(const struct wire_llm_chat_request *req)
{
	size_t i;

	for (i = req->n_messages; i > 0; i--) {
		const struct wire_llm_chat_request_messages *m =
		    &req->messages[i - 1];
		if (m->n_tool_calls > 0)
			return m->tool_calls[m->n_tool_calls - 1].function.name;
	}
	return (struct str){ 0 };
}

static void
call_again(const struct wire_llm_chat_request *req, struct str said,
    struct rules_answer *out)
{
	struct str last = called_last(req);
	size_t i;

	if (str_find(said, STR("它")) < 0)
		return;
	for (i = 0; i < NELEM(again) && out->n == 0; i++) {
		if (str_find(said, again[i].said) >= 0 &&
		    str_eq(last, str_of(again[i].tool)) &&
		    offers(req, again[i].tool))
			out->calls[out->n++] =
			    (struct rules_call){ again[i].tool,
				    again[i].arguments };
	}
}

enum rc
rules_answer(const struct wire_llm_chat_request *req, struct arena *a,
    struct rules_answer *out)
{
	struct str said = asked(req);

	*out = (struct rules_answer){ 0 };
	if (wants_summary(req)) {
		out->text = summary(req, a);
		return out->text.p != NULL ? RC_OK : RC_TOOBIG;
	}
	out->text = told_results(req, a);
	if (out->text.p != NULL)
		return RC_OK;
	if (!call_memory(req, said, a, out))
		call_tools(req, said, out);
	if (out->n == 0)
		call_again(req, said, out);
	if (out->n > 0)
		return RC_OK;
	out->text = arena_printf(a, "我听到你说：%.*s", STR_ARG(said));
	return out->text.p != NULL ? RC_OK : RC_TOOBIG;
}
