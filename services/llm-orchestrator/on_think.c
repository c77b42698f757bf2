/*
 * System text, history, what was said, what was done: one call of the model.
 */
#include "on_think.h"

#include "budget.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "history.h"
#include "llm/llm.h"
#include "orch.h"
#include "prompt.h"
#include "run.h"
#include "state/session.h"
#include "state/soul.h"
#include "stream.h"
#include "tools.h"
#include "wire/wire.h"

#define SYSTEM_MAX ((size_t)64 * 1024)
/* Larger arguments are no arguments of a skill. */
#define ARGS_MAX ((size_t)16 * 1024)
/*
 * What is read of the history for each token that may be shown: long messages
 * are shortened, but one that is not shown is not worth being read.
 */
#define TOKEN_BYTES_MAX 8

/* One call in the making; all of it lies in the scratch arena. */
struct thought {
	struct llm_message *messages;
	size_t n;
	struct llm_tool *tools;
	size_t ntools;
};

/* ---- the answer -------------------------------------------------------- */

static const char away[] = "the language model is unavailable";
static const char slow[] = "the language model did not answer in time";
static const char busy[] = "the language model is overloaded";

static struct turn_fault
fault_of(const struct llm_result *res)
{
	switch (res->rc) {
	case RC_OK:
		return (struct turn_fault){ 0 };
	case RC_TIMEOUT:
		return (struct turn_fault){ 504, "deadline_exceeded", slow };
	case RC_RETRY:
		return (struct turn_fault){ 503, "overloaded", busy };
	default:
		return (struct turn_fault){ 502, "llm_unavailable", away };
	}
}

const char *
think_reason(const struct run *r, const struct turn_fault *f)
{
	bool mine = f->text == away || f->text == slow || f->text == busy;

	return mine ? llm_reason_name(r->no_answer) : NULL;
}

static void
invalid(struct turn_deed *d, struct str why)
{
	d->outcome = TURN_INVALID;
	d->why = why;
}

static void
check_args(struct run *r, struct tool *tool, const struct llm_tool_call *c,
    struct turn_deed *d)
{
	char text[WIRE_ERR_TEXT_MAX];
	struct wire_err err;
	struct str args;

	if (!c->valid || c->arguments.n > ARGS_MAX) {
		invalid(d, STR("the arguments are not one whole JSON object"));
		return;
	}
	d->args = arena_str(r->a, c->arguments);
	enum rc rc = tools_arguments(tool, c->arguments, r->a, &args, &err);
	if (rc == RC_OK) {
		d->args = args;
	} else if (tool->kind == TOOL_RECALL) {
		d->args = STR("{}");
	} else if (rc == RC_INVALID) {
		wire_err_text(&err, text, sizeof(text));
		invalid(d, arena_str(r->a, str_of(text)));
	} else {
		invalid(d, STR("the arguments are too large to be checked"));
	}
}

static void
deed_of(struct run *r, const struct llm_tool_call *c, struct turn_deed *d)
{
	struct tool *tool = tools_named(r->facts.tools, c->name);

	*d = (struct turn_deed){ .kind = TURN_INVOKE,
		.call_id = arena_str(r->a, c->id),
		.args = STR("{}"),
		.extra = arena_str(r->a, c->extra) };
	if (tool == NULL) {
		d->outcome = TURN_UNKNOWN;
		d->tool = arena_str(r->a, tools_legal(c->name, r->a));
		d->skill = d->label = d->tool;
		return;
	}
	d->tool = tool->name;
	d->skill = tool->skill;
	d->label = tool->label;
	d->safety = tool->safety;
	if (tool->kind == TOOL_RECALL)
		d->kind = TURN_RECALL;
	else if (tool->kind == TOOL_FORGET)
		d->kind = TURN_FORGET;
	check_args(r, tool, c, d);
}

static void
on_done(void *arg, const struct llm_result *res)
{
	struct turn_deed deeds[TURN_CALLS_MAX + 1];
	struct run *r = arg;
	struct turn_event e = {
		.kind = TURN_ANSWERED, .fault = fault_of(res), .deeds = deeds
	};

	r->llm = NULL;
	r->no_answer = res->reason;
	log_trace_set(run_trace(r)->trace_id);
	if (res->rc != RC_OK) {
		/* Why, the provider's own line has told. */
		log_warn("turn.no_answer", LOG_RC(res->rc),
		    LOG_S("provider", res->provider),
		    LOG_I("attempts", res->attempts));
	} else if (res->text.n > 0) {
		e.text = reply_clean(res->text, REPLY_MAX, r->a);
	}
	for (size_t i = 0;
	     res->rc == RC_OK && i < res->ncalls && e.n_deeds < NELEM(deeds);
	     i++)
		deed_of(r, &res->calls[i], &deeds[e.n_deeds++]);
	run_feed(r, &e);
}

/* ---- the question ------------------------------------------------------ */

static void
add(struct thought *t, enum llm_role role, struct str text)
{
	t->messages[t->n++] =
	    (struct llm_message){ .role = role, .text = text };
}

static void
add_list(struct thought *t, const struct history_list *l)
{
	memcpy(t->messages + t->n, l->list, l->n * sizeof(*l->list));
	t->n += l->n;
}

static enum rc
read_history(struct run *r, struct history_list *out)
{
	struct arena *a = r->o->scratch;
	size_t own = run_chat(r)->n_inputs + 1;
	struct session_page page = { .after = -1,
		.max = (size_t)r->o->conf->history + own,
		.bytes = r->facts.said.n +
		    (size_t)r->o->conf->context_tokens * TOKEN_BYTES_MAX };
	struct session_list list;
	struct history_stored s = { .n = 0 };

	enum rc rc =
	    session_messages(r->o->state, &r->place.key, page, a, &list);
	if (rc != RC_OK)
		return rc;
	s.list = arena_alloc(a, (list.n + 1) * sizeof(*s.list));
	if (s.list == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < list.n; i++)
		s.list[s.n++] = list.message[i].json;
	/* What is said now comes after it, whoever stored it. */
	return history_read(
	    &s, r->input.p != NULL ? r->input : r->place.turn_id, a, out);
}

/* A soul that is gone has no name; the turn goes on. */
static enum rc
read_soul(struct run *r, struct soul *out)
{
	*out = (struct soul){ 0 };
	enum rc rc =
	    soul_read(r->o->state, r->facts.soul_id, r->o->scratch, out);
	return rc == RC_NOENT ? RC_OK : rc;
}

static enum prompt_body
body_of(const struct run *r)
{
	if (r->facts.present)
		return PROMPT_BODY_HERE;
	return r->facts.known ? PROMPT_BODY_ABSENT : PROMPT_BODY_NONE;
}

/* The tools that the gate does not hold back: "a、b". */
static struct str
safe_tools(const struct run *r)
{
	struct buf b = BUF_INIT(SYSTEM_MAX);

	for (size_t i = 0; i < tools_n(r->facts.tools); i++) {
		const struct tool *tool = tools_at(r->facts.tools, i);
		if (!tool->safety)
			continue;
		if (b.n > 0)
			buf_puts(&b, "、");
		buf_put_str(&b, tool->name);
	}
	struct str s = arena_str(r->o->scratch, buf_str(&b));
	buf_free(&b);
	return s;
}

static struct str
system_text(struct run *r, const struct soul *soul, const struct turn_action *a)
{
	char now[WALL_FORMAT_MAX];
	struct prompt p = { .name = soul->name,
		.mbti = soul->mbti_type,
		.now = orch_local(r->o, now),
		.feeling = r->felt ? &r->feeling : NULL,
		.body = body_of(r),
		.skills = tools_n(r->facts.tools),
		.safe = safe_tools(r),
		.said = r->facts.said,
		.late = r->turn.late,
		.recall = a->offer == TURN_OFFER_ALL,
		.forget = a->offer >= TURN_OFFER_FORGET,
		.summary = r->facts.summary,
		.silent = a->offer == TURN_OFFER_NONE,
		.rest = r->turn.route.rest };
	struct buf b = BUF_INIT(SYSTEM_MAX);

	prompt_write(&p, &b);
	struct str s = arena_str(r->o->scratch, buf_str(&b));
	buf_free(&b);
	return s;
}

static void
add_tool(struct thought *t, struct tool *tool)
{
	tools_prepare(tool);
	t->tools[t->ntools++] = (struct llm_tool){ .name = tool->name,
		.description = tool->description,
		.parameters = tool->shown };
}

static enum rc
offer_tools(struct run *r, enum turn_offer offer, struct thought *t)
{
	struct tools *tools = r->facts.tools;
	size_t n = tools_n(tools);

	if (offer == TURN_OFFER_NONE)
		return RC_OK;
	t->tools = arena_alloc(r->o->scratch, (n + 2) * sizeof(*t->tools));
	if (t->tools == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < n; i++)
		add_tool(t, tools_at(tools, i));
	if (offer == TURN_OFFER_ALL)
		add_tool(t, tools_recall(tools));
	if (offer >= TURN_OFFER_FORGET)
		add_tool(t, tools_forget(tools));
	return RC_OK;
}

/* What the body noticed, and what the user said, in this turn. */
static enum rc
add_input(struct run *r, struct thought *t)
{
	const struct wire_chat_request *chat = run_chat(r);

	for (size_t i = 0; i < chat->n_inputs; i++) {
		const struct wire_chat_request_inputs *in = &chat->inputs[i];
		if (history_is_said(in))
			continue;
		struct str line = history_observed(in, r->o->scratch);
		if (line.p == NULL)
			return RC_TOOBIG;
		add(t, LLM_USER, line);
	}
	add(t, LLM_USER, r->facts.said);
	return RC_OK;
}

/* What the call takes besides what was said before. */
static size_t
fixed_tokens(const struct run *r, const struct thought *t, struct str system,
    const struct history_list *done)
{
	const struct wire_chat_request *chat = run_chat(r);
	size_t n = budget_tokens(system) + budget_tokens(r->facts.said);

	for (size_t i = 0; i < t->ntools; i++)
		n += budget_tokens(t->tools[i].description) +
		    budget_tokens(t->tools[i].parameters);
	for (size_t i = 0; i < done->n; i++)
		n += budget_message(&done->list[i]);
	for (size_t i = 0; i < chat->n_inputs; i++) {
		if (!history_is_said(&chat->inputs[i]))
			n += budget_tokens(chat->inputs[i].text) +
			    budget_tokens(chat->inputs[i].data);
	}
	return n;
}

static enum rc
compose(struct run *r, const struct turn_action *a, struct thought *t)
{
	struct history_list before, done;
	struct soul soul;

	enum rc rc = read_soul(r, &soul);
	if (rc == RC_OK)
		rc = read_history(r, &before);
	if (rc == RC_OK)
		rc = history_turn(&r->turn, r->o->scratch, &done);
	if (rc == RC_OK)
		rc = offer_tools(r, a->offer, t);
	if (rc != RC_OK)
		return rc;
	struct str text = system_text(r, &soul, a);
	size_t all = (size_t)r->o->conf->context_tokens;
	size_t fixed = fixed_tokens(r, t, text, &done);
	rc = budget_fit(&before, fixed < all ? all - fixed : 0,
	    all / BUDGET_SHARE, r->o->scratch);
	t->messages = arena_alloc(r->o->scratch,
	    (before.n + done.n + run_chat(r)->n_inputs + 2) *
		sizeof(*t->messages));
	if (rc != RC_OK || t->messages == NULL || text.p == NULL)
		return RC_TOOBIG;
	add(t, LLM_SYSTEM, text);
	add_list(t, &before);
	rc = add_input(r, t);
	add_list(t, &done);
	return rc;
}

/* The model was not even asked. */
static void
feed_unasked(struct run *r, enum rc rc)
{
	struct llm_result res = { .rc = rc };
	struct turn_event e = { .kind = TURN_ANSWERED,
		.fault = fault_of(&res) };

	r->no_answer = LLM_REASON_NONE;
	log_error("llm.not_asked", LOG_RC(rc));
	run_feed(r, &e);
}

enum rc
on_think(struct run *r, const struct turn_action *a)
{
	struct thought t = { 0 };

	arena_reset(r->o->scratch);
	enum rc rc = compose(r, a, &t);
	if (rc == RC_DOWN || rc == RC_TIMEOUT || rc == RC_RETRY)
		return rc;
	struct llm_chat chat = { .messages = t.messages,
		.nmessages = t.n,
		.tools = t.tools,
		.ntools = t.ntools,
		.choice = a->may_call ? LLM_CHOICE_AUTO : LLM_CHOICE_NONE,
		.temperature = -1,
		.turn = r->place.turn_id,
		.trace = run_trace(r),
		.deadline = run_by(r, r->o->conf->llm_timeout_ms),
		.stream = run_chat(r)->stream,
		.on_text = stream_text,
		.on_done = on_done,
		.arg = r };
	stream_think(r, a->may_call && t.ntools > 0);
	metric_add(r->o->metrics.thoughts, 1);
	if (rc == RC_OK)
		rc = llm_chat(r->o->llm, &chat, &r->llm);
	if (rc != RC_OK)
		feed_unasked(r, rc);
	return RC_OK;
}

void
think_cancel(struct run *r)
{
	if (r->llm != NULL)
		llm_cancel(r->llm);
	r->llm = NULL;
}
