/*
 * The table of rules, the script of faults, embeddings.
 */
#include "rules.h"

#include <math.h>

#include "core/buf.h"
#include "core/mem.h"
#include "wire/out.h"
#include "wire/wire.h"

#define RULES_SUMMARY_MAX 200
#define RULES_TEXT_MAX    65536
/* What a soul thinks between turns. */
#define RULES_SUGGESTION                                                  \
	"{\"suggestion\":\"先安慰主人，少讲道理，多听。\"," \
	"\"intent\":\"comfort\",\"psyche_delta\":{\"intimacy\":0.1}}"

/* Words of the user, the tool they call, and its arguments. */
static const struct {
	struct str words;
	const char *tool;
	struct str arguments;
} rules_table[] = {
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
/* With "it" (它): the last tool called, if it is this one. */
static const struct {
	struct str words;
	const char *tool;
	struct str arguments;
} rules_pronoun_table[] = {
	{ STR_INIT("关"), "control_light", STR_INIT("{\"mode\":\"off\"}") },
	{ STR_INIT("开"), "control_light", STR_INIT("{\"mode\":\"on\"}") },
};
/*
 * Words beside the name of a file, and the tool that they call, of any server:
 * its name ends so.
 */
static const struct {
	struct str words;
	const char *tool;
} rules_file_table[] = {
	{ STR_INIT("写"), "__write_file" },
	{ STR_INIT("write"), "__write_file" },
	{ STR_INIT("读"), "__read_text_file" },
	{ STR_INIT("read"), "__read_text_file" },
};
/* Words that give a coding engine a task. */
static const struct {
	struct str words;
	const char *tool;
} rules_task_table[] = {
	{ STR_INIT("交给"), "run_task" },
	{ STR_INIT("告诉它"), "answer_task" },
};
/* Words that call the memory tools. */
static const struct {
	struct str words;
	const char *tool;
} rules_memory_table[] = {
	{ STR_INIT("忘掉"), "forget_memory" },
	{ STR_INIT("forget that"), "forget_memory" },
	{ STR_INIT("记得"), "recall_memory" },
	{ STR_INIT("上次"), "recall_memory" },
	{ STR_INIT("以前"), "recall_memory" },
	{ STR_INIT("remember"), "recall_memory" },
};

static bool
rules_offers(const struct wire_llm_chat_request *req, const char *tool)
{
	size_t i;

	for (i = 0; i < req->n_tools; i++) {
		if (str_eq(req->tools[i].function.name, str_of(tool)))
			return true;
	}
	return false;
}

static const struct wire_llm_chat_request_messages *
rules_last_message(const struct wire_llm_chat_request *req,
    enum wire_llm_chat_request_messages_role role)
{
	size_t i;

	for (i = req->n_messages; i > 0; i--) {
		if (req->messages[i - 1].role == role)
			return &req->messages[i - 1];
	}
	return NULL;
}

/* Whether the system prompt contains text. */
static bool
rules_system_has(const struct wire_llm_chat_request *req, struct str text)
{
	const struct wire_llm_chat_request_messages *m =
	    rules_last_message(req, WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_SYSTEM);

	return m != NULL && str_find(m->content, text) >= 0;
}

static bool
rules_wants_summary(const struct wire_llm_chat_request *req)
{
	struct str s;

	if (req->n_messages == 0 ||
	    req->messages[0].role != WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_SYSTEM)
		return false;
	s = req->messages[0].content;
	return str_find(s, STR("摘要")) >= 0 || str_find(s, STR("总结")) >= 0 ||
	    str_find(s, STR("\"summary\"")) >= 0;
}

/* The first code points of s. */
static struct str
rules_truncate(struct str s, size_t code_points)
{
	size_t pos = 0;

	while (code_points-- > 0 && str_utf8_next(s, &pos) >= 0)
		continue;
	return (struct str){ s.p, pos };
}

static struct str
rules_summary(const struct wire_llm_chat_request *req, struct arena *a)
{
	const struct wire_llm_chat_request_messages *m =
	    rules_last_message(req, WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_USER);
	struct str s = m != NULL ? m->content : (struct str){ 0 };

	return arena_printf(
	    a, "%.*s", STR_ARG(rules_truncate(s, RULES_SUMMARY_MAX)));
}

/*
 * The text to reply to: the last user text, or only the part of it that the
 * system prompt quotes.
 */
static struct str
rules_user_text(const struct wire_llm_chat_request *req)
{
	static const struct str mark = STR_INIT("剩下的部分：「");
	const struct wire_llm_chat_request_messages *m =
	    rules_last_message(req, WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_SYSTEM);
	struct str s = m != NULL ? m->content : (struct str){ 0 };
	ptrdiff_t at = str_find(s, mark), end;

	if (at >= 0) {
		s.p += (size_t)at + mark.n;
		s.n -= (size_t)at + mark.n;
		end = str_find(s, STR("」"));
		if (end >= 0)
			return (struct str){ s.p, (size_t)end };
	}
	m = rules_last_message(req, WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_USER);
	return m != NULL ? m->content : (struct str){ 0 };
}

/* Of its own, or one that the user has approved since. */
static bool
rules_is_own_call(struct str id)
{
	return str_starts(id, STR(RULES_CALL_ID)) || str_starts(id, STR("ix_"));
}

/* The results of its own tool calls after the last user text. */
static struct str
rules_report_results(const struct wire_llm_chat_request *req, struct arena *a)
{
	struct buf out = BUF_INIT(RULES_TEXT_MAX);
	struct str s = { 0 };
	size_t i, from = req->n_messages;

	while (from > 0 &&
	    req->messages[from - 1].role ==
		WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_TOOL)
		from--;
	for (i = from; i < req->n_messages; i++) {
		struct str r = req->messages[i].content;

		if (rules_is_own_call(req->messages[i].tool_call_id))
			buf_printf(&out, "%s%.*s", out.n > 0 ? "；" : "结果：",
			    STR_ARG(r));
	}
	if (out.n > 0)
		s = arena_str(a, buf_str(&out));
	buf_free(&out);
	return s;
}

/* The name of an offered tool that ends so; absent: none. */
static struct str
rules_find_tool(const struct wire_llm_chat_request *req, const char *end)
{
	for (size_t i = 0; i < req->n_tools; i++) {
		struct str name = req->tools[i].function.name;
		if (str_ends(name, str_of(end)))
			return name;
	}
	return (struct str){ 0 };
}

static bool
rules_is_file_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

/* The first name with a dot within: "a.txt"; absent: none. */
static struct str
rules_file_name(struct str s)
{
	for (size_t from = 0, at; from < s.n; from = at + 1) {
		for (at = from; at < s.n && rules_is_file_char(s.p[at]); at++)
			continue;
		struct str name = { s.p + from, at - from };
		ptrdiff_t dot = str_find(name, STR("."));
		if (dot > 0 && (size_t)dot + 1 < name.n)
			return name;
	}
	return (struct str){ 0 };
}

/* What stands between 「 and 」; empty: nothing does. */
static struct str
rules_quoted(struct str s)
{
	static const struct str open = STR_INIT("「");
	ptrdiff_t at = str_find(s, open);

	if (at < 0)
		return STR("");
	s = (struct str){ s.p + at + open.n, s.n - (size_t)at - open.n };
	at = str_find(s, STR("」"));
	return at < 0 ? STR("") : (struct str){ s.p, (size_t)at };
}

static void
rules_call_file(const struct wire_llm_chat_request *req, struct str text,
    struct arena *a, struct rules_result *out)
{
	struct str file = rules_file_name(text), name = { 0 };
	struct buf b = BUF_INIT(RULES_TEXT_MAX);
	struct wire_out o = { .b = &b };
	size_t i;

	for (i = 0; file.n > 0 && i < NELEM(rules_file_table); i++) {
		if (str_find(text, rules_file_table[i].words) >= 0)
			name = rules_find_tool(req, rules_file_table[i].tool);
		if (name.n > 0)
			break;
	}
	if (name.n == 0)
		return;
	wire_out_object(&o);
	wire_out_key(&o, STR("path"));
	wire_out_str(&o, file);
	if (str_ends(name, STR("__write_file"))) {
		wire_out_key(&o, STR("content"));
		wire_out_str(&o, rules_quoted(text));
	}
	wire_out_object_end(&o);
	out->calls[out->n++] =
	    (struct rules_call){ arena_printf(a, "%.*s", STR_ARG(name)).p,
		    arena_str(a, buf_str(&b)) };
	buf_free(&b);
}

/* The text is the task, or the answer. */
static void
rules_call_task(const struct wire_llm_chat_request *req, struct str text,
    struct arena *a, struct rules_result *out)
{
	struct buf b = BUF_INIT(RULES_TEXT_MAX);
	struct wire_out o = { .b = &b };
	size_t i;

	for (i = 0; i < NELEM(rules_task_table); i++) {
		if (str_find(text, rules_task_table[i].words) >= 0 &&
		    rules_offers(req, rules_task_table[i].tool))
			break;
	}
	if (i == NELEM(rules_task_table))
		return;
	wire_out_object(&o);
	wire_out_key(&o, i == 0 ? STR("task") : STR("answer"));
	wire_out_str(&o, i == 0 ? text : rules_quoted(text));
	wire_out_object_end(&o);
	out->calls[out->n++] = (struct rules_call){ rules_task_table[i].tool,
		arena_str(a, buf_str(&b)) };
	buf_free(&b);
}

static bool
rules_call_memory(const struct wire_llm_chat_request *req, struct str text,
    struct arena *a, struct rules_result *out)
{
	struct buf b = BUF_INIT(RULES_TEXT_MAX);
	struct wire_out o = { .b = &b };
	size_t i;

	for (i = 0; i < NELEM(rules_memory_table); i++) {
		if (str_find(text, rules_memory_table[i].words) >= 0)
			break;
	}
	if (i == NELEM(rules_memory_table) ||
	    !rules_offers(req, rules_memory_table[i].tool))
		return false;
	wire_out_object(&o);
	wire_out_key(&o, STR("query"));
	wire_out_str(&o, text);
	wire_out_object_end(&o);
	out->calls[out->n++] = (struct rules_call){ rules_memory_table[i].tool,
		arena_str(a, buf_str(&b)) };
	buf_free(&b);
	return true;
}

static void
rules_call_tools(const struct wire_llm_chat_request *req, struct str text,
    struct rules_result *out)
{
	size_t i, j;

	for (i = 0; i < NELEM(rules_table) && out->n < RULES_CALLS_MAX; i++) {
		if (str_find(text, rules_table[i].words) < 0 ||
		    !rules_offers(req, rules_table[i].tool))
			continue;
		for (j = 0; j < out->n; j++) {
			if (strcmp(out->calls[j].name, rules_table[i].tool) ==
			    0)
				break;
		}
		if (j == out->n)
			out->calls[out->n++] =
			    (struct rules_call){ rules_table[i].tool,
				    rules_table[i].arguments };
	}
}

/* The last tool called in the conversation; absent: none. */
static struct str
rules_last_call(const struct wire_llm_chat_request *req)
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
rules_call_last_tool(const struct wire_llm_chat_request *req, struct str text,
    struct rules_result *out)
{
	struct str last = rules_last_call(req);
	size_t i;

	if (str_find(text, STR("它")) < 0)
		return;
	for (i = 0; i < NELEM(rules_pronoun_table) && out->n == 0; i++) {
		if (str_find(text, rules_pronoun_table[i].words) >= 0 &&
		    str_eq(last, str_of(rules_pronoun_table[i].tool)) &&
		    rules_offers(req, rules_pronoun_table[i].tool))
			out->calls[out->n++] =
			    (struct rules_call){ rules_pronoun_table[i].tool,
				    rules_pronoun_table[i].arguments };
	}
}

enum rc
rules_apply(const struct wire_llm_chat_request *req, struct arena *a,
    struct rules_result *out)
{
	struct str text = rules_user_text(req);

	*out = (struct rules_result){ 0 };
	if (rules_system_has(req, STR("潜意识"))) {
		out->text = STR(RULES_SUGGESTION);
		return RC_OK;
	}
	if (rules_wants_summary(req)) {
		out->text = rules_summary(req, a);
		return out->text.p != NULL ? RC_OK : RC_TOOBIG;
	}
	out->text = rules_report_results(req, a);
	if (out->text.p != NULL)
		return RC_OK;
	if (!rules_call_memory(req, text, a, out))
		rules_call_tools(req, text, out);
	if (out->n == 0)
		rules_call_file(req, text, a, out);
	if (out->n == 0)
		rules_call_task(req, text, a, out);
	if (out->n == 0)
		rules_call_last_tool(req, text, out);
	if (out->n > 0)
		return RC_OK;
	out->text = arena_printf(a, "%s：%.*s",
	    rules_system_has(req, STR("【建议】")) ? "我在听，你说"
						   : "我听到你说",
	    STR_ARG(text));
	return out->text.p != NULL ? RC_OK : RC_TOOBIG;
}

/* ---- script ---- */

enum rc
script_set(struct script *s, const struct wire_llm_sim_script *msg)
{
	struct buf json = BUF_INIT(WIRE_MESSAGE_MAX);
	enum rc rc;

	script_free(s);
	s->a = arena_new(WIRE_ARENA_MAX);
	rc = wire_encode(&wire_llm_sim_script_desc, msg, &json, NULL);
	if (rc == RC_OK)
		rc = wire_decode(&wire_llm_sim_script_desc, buf_str(&json),
		    s->a, &s->msg, NULL);
	if (rc != RC_OK)
		script_free(s);
	buf_free(&json);
	return rc;
}

void
script_free(struct script *s)
{
	arena_free(s->a);
	*s = (struct script){ 0 };
}

struct wire_llm_sim_script_faults
script_next(struct script *s, struct str last)
{
	const struct wire_llm_sim_script_faults *f;

	if (s->next < s->msg.n_faults) {
		f = &s->msg.faults[s->next];
		if (f->when.p == NULL || str_find(last, f->when) >= 0) {
			s->next++;
			return *f;
		}
	}
	return (struct wire_llm_sim_script_faults){
		.kind = WIRE_LLM_SIM_SCRIPT_FAULTS_KIND_NONE
	};
}

/* ---- embeddings ---- */

void
embed_text(struct str s, double v[EMBED_DIM])
{
	uint32_t before = 0;
	double square = 0;
	size_t i, pos = 0;
	int32_t c;

	for (i = 0; i < EMBED_DIM; i++)
		v[i] = 0;
	while ((c = str_utf8_next(s, &pos)) >= 0) {
		/* Knuth's multiplicative hash of the pair. */
		uint32_t h = (before * 31 + (uint32_t)c) * 2654435761u;

		if (before != 0)
			v[h >> 26] += 1;
		before = (uint32_t)c;
	}
	for (i = 0; i < EMBED_DIM; i++)
		square += v[i] * v[i];
	for (i = 0; square > 0 && i < EMBED_DIM; i++)
		v[i] /= sqrt(square);
}
