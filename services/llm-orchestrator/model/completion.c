/*
 * completion: one call of the language model: system prompt, history, the
 * user's text, what was done so far.
 */
#include "context.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/zone.h"
#include "handlers.h"
#include "llm/llm.h"
#include "model/model.h"
#include "reply/reply_stream.h"
#include "state/session.h"
#include "state/soul.h"
#include "tools/approval.h"
#include "tools/tool_catalog.h"
#include "tools/tool_set.h"
#include "turn/turn_detail_record.h"
#include "turn/turn_runner.h"
#include "turn/turn_timeline.h"
#include "turn/unasked.h"
#include "wire/wire.h"

#define SYSTEM_MAX ((size_t)64 * 1024)
/* Longest arguments of a tool call, in bytes. */
#define ARGS_MAX ((size_t)16 * 1024)
/* Bytes of an earlier message that the model may quote. */
#define KNOWN_TEXT_MAX ((size_t)1024)
/*
 * Bytes of history read per token that may be shown: long messages are
 * shortened, but a message that is not shown need not be read.
 */
#define TOKEN_BYTES_MAX 8

/* The last message to a model that is to phrase what nobody asked for. */
#define UNASKED_INPUT "（现在没有人在说话。请你主动开口。）"

/* A request under construction, in the scratch arena. */
struct completion_request {
	struct llm_message *messages;
	size_t n;
	struct llm_tool *tools;
	size_t ntools;
};

/* ---- the result ---- */

static const char completion_unavailable[] =
    "the language model is unavailable";
static const char completion_timeout[] =
    "the language model did not answer in time";
static const char completion_overloaded[] = "the language model is overloaded";

static struct turn_error
completion_error(const struct llm_result *res)
{
	switch (res->rc) {
	case RC_OK:
		return (struct turn_error){ 0 };
	case RC_TIMEOUT:
		return (struct turn_error){ 504, "deadline_exceeded",
			completion_timeout };
	case RC_RETRY:
		return (struct turn_error){ 503, "overloaded",
			completion_overloaded };
	default:
		return (struct turn_error){ 502, "llm_unavailable",
			completion_unavailable };
	}
}

const char *
completion_error_reason(const struct turn_run *r, const struct turn_error *f)
{
	bool mine = f->text == completion_unavailable ||
	    f->text == completion_timeout || f->text == completion_overloaded;

	return mine ? llm_reason_name(r->llm_reason) : NULL;
}

static void
completion_reject_args(struct turn_call *d, struct str why)
{
	d->outcome = TURN_INVALID;
	d->why = why;
}

static void
completion_check_args(struct turn_run *r, struct tool *tool,
    const struct llm_tool_call *c, struct turn_call *d)
{
	char text[WIRE_ERR_TEXT_MAX];
	struct wire_err err;
	struct str args;

	if (!c->valid || c->arguments.n > ARGS_MAX) {
		completion_reject_args(
		    d, STR("the arguments are not one whole JSON object"));
		return;
	}
	d->args = arena_str(r->a, c->arguments);
	enum rc rc = tool_arguments(tool, c->arguments, r->a, &args, &err);
	if (rc == RC_OK) {
		d->args = args;
	} else if (tool->kind == TOOL_RECALL) {
		d->args = STR("{}");
	} else if (rc == RC_INVALID) {
		wire_err_text(&err, text, sizeof(text));
		completion_reject_args(d, arena_str(r->a, str_of(text)));
	} else {
		completion_reject_args(
		    d, STR("the arguments are too large to be checked"));
	}
	if (tool->needs_approval && d->outcome == TURN_UNSENT &&
	    !approval_is_showable(tool->provided, d->args))
		completion_reject_args(d, STR(APPROVAL_NOT_SHOWABLE));
}

static enum turn_call_kind
completion_call_kind(const struct tool *tool)
{
	switch (tool->kind) {
	case TOOL_RECALL:
		return TURN_RECALL;
	case TOOL_FORGET:
		return TURN_FORGET;
	case TOOL_PROVIDED:
		return TURN_PROVIDED;
	case TOOL_MORE:
		return TURN_MORE;
	case TOOL_SKILL:
		break;
	}
	return TURN_INVOKE;
}

static void
completion_take_call(
    struct turn_run *r, const struct llm_tool_call *c, struct turn_call *d)
{
	struct tool *tool =
	    tool_set_by_name(&r->tools, r->facts.tools, c->name);

	*d = (struct turn_call){ .kind = TURN_INVOKE,
		.call_id = arena_str(r->a, c->id),
		.args = STR("{}"),
		.extra = arena_str(r->a, c->extra) };
	if (tool == NULL) {
		d->outcome = TURN_UNKNOWN;
		d->tool = arena_str(r->a, tool_legal_name(c->name, r->a));
		d->skill = d->label = d->tool;
		return;
	}
	d->tool = tool->name;
	d->skill = tool->skill;
	d->label = tool->label;
	d->safety = tool->safety;
	d->needs_approval = tool->needs_approval;
	d->provided = tool->provided;
	d->kind = completion_call_kind(tool);
	completion_check_args(r, tool, c, d);
}

/* What is said of a completion. */
static struct str
completion_take_text(struct turn_run *r, struct str text)
{
	struct spoken s;

	spoken_text_read(text, &r->spoken, r->a, &s);
	if (s.quoted) {
		metric_add(r->o->metrics.quotes, 1);
		log_warn("turn.quote_withheld", LOG_V("turn", r->slot.turn_id));
	}
	/* Of the rounds of a turn, the last that has one. */
	if (s.inner_voice.n > 0)
		r->inner_voice = s.inner_voice;
	if (s.emotion.n > 0)
		r->emotion_name = s.emotion;
	return reply_clean(s.text, REPLY_MAX, r->a);
}

static void
completion_on_done(void *arg, const struct llm_result *res)
{
	struct turn_call calls[TURN_ROUND_CALLS_MAX + 1];
	struct turn_run *r = arg;
	bool silent;
	struct turn_event e = { .kind = TURN_COMPLETION,
		.error = completion_error(res),
		.calls = calls };

	r->llm = NULL;
	r->llm_reason = res->reason;
	log_trace_set(r->trace.trace_id);
	if (res->rc != RC_OK) {
		/* libs/llm has logged the cause. */
		log_warn("turn.no_completion", LOG_RC(res->rc),
		    LOG_S("provider", res->provider),
		    LOG_I("attempts", res->attempts));
	} else if (res->text.n > 0) {
		e.text = completion_take_text(r, res->text);
		if (r->turn.unasked)
			e.text = reply_text(e.text, &silent);
	}
	turn_detail_completion(r, res, e.text);
	for (size_t i = 0;
	     res->rc == RC_OK && i < res->ncalls && e.n_calls < NELEM(calls);
	     i++)
		completion_take_call(r, &res->calls[i], &calls[e.n_calls++]);
	turn_feed(r, &e);
}

/* ---- the request ---- */

static void
completion_add(
    struct completion_request *t, enum llm_role role, struct str text)
{
	t->messages[t->n++] =
	    (struct llm_message){ .role = role, .text = text };
}

static void
completion_add_list(struct completion_request *t, const struct history_list *l)
{
	memcpy(t->messages + t->n, l->list, l->n * sizeof(*l->list));
	t->n += l->n;
}

static enum rc
completion_read_history(struct turn_run *r, struct history_list *out)
{
	struct arena *a = r->scratch;
	size_t own = turn_chat(r)->n_inputs + 1;
	struct session_page page = { .after = -1,
		.max = (size_t)r->o->conf->history + own,
		.bytes = r->facts.user_text.n +
		    (size_t)r->o->conf->context_tokens * TOKEN_BYTES_MAX };
	struct session_list list;
	struct history_stored s = { .n = 0 };

	enum rc rc =
	    session_messages(r->o->state, &r->slot.key, page, a, &list);
	if (rc != RC_OK)
		return rc;
	s.list = arena_alloc(a, (list.n + 1) * sizeof(*s.list));
	if (s.list == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < list.n; i++)
		s.list[s.n++] = list.message[i].json;
	/* This turn's input follows separately, whichever turn stored it. */
	return history_read(
	    &s, r->input.p != NULL ? r->input : r->slot.turn_id, a, out);
}

/* A soul that was deleted has no name; the turn goes on. */
static enum rc
completion_read_soul(struct turn_run *r, struct soul *out)
{
	*out = (struct soul){ 0 };
	enum rc rc = soul_read(
	    r->o->state, r->req->user_id, r->facts.soul_id, r->scratch, out);
	return rc == RC_NOENT ? RC_OK : rc;
}

static struct str
completion_local_time(const struct orch *o, char dst[WALL_FORMAT_MAX])
{
	struct wall now = clock_wall();

	now.ms -= now.ms % 1000;
	wall_format(now, zone_offset_min(o->zone, now), dst);
	return str_of(dst);
}

static enum prompt_body
completion_body(const struct turn_run *r)
{
	if (r->facts.present)
		return PROMPT_BODY_HERE;
	return r->facts.known ? PROMPT_BODY_ABSENT : PROMPT_BODY_NONE;
}

/* The names of safety tools: "a、b". */
static struct str
completion_safe_tools(const struct turn_run *r)
{
	struct buf b = BUF_INIT(SYSTEM_MAX);

	for (size_t i = 0; i < tool_catalog_n(r->facts.tools); i++) {
		const struct tool *tool = tool_catalog_at(r->facts.tools, i);
		if (!tool->safety)
			continue;
		if (b.n > 0)
			buf_puts(&b, "、");
		buf_put_str(&b, tool->name);
	}
	struct str s = arena_str(r->scratch, buf_str(&b));
	buf_free(&b);
	return s;
}

static bool
completion_offers_more(const struct turn_run *r, const struct turn_action *a)
{
	return a->offer != TURN_OFFER_NONE && a->may_call &&
	    turn_may_search(&r->turn);
}

static struct str
completion_system_text(
    struct turn_run *r, const struct soul *soul, const struct turn_action *a)
{
	char now[WALL_FORMAT_MAX];
	struct prompt p = { .name = soul->name,
		.mbti = soul->mbti_type,
		.now = completion_local_time(r->o, now),
		.emotion = r->emotion_known ? &r->emotion : NULL,
		.body = completion_body(r),
		.skills = tool_catalog_n(r->facts.tools),
		.safe = completion_safe_tools(r),
		.user_text = r->facts.user_text,
		.unasked = r->turn.unasked ? r->turn.text : (struct str){ 0 },
		.earlier = r->turn.earlier,
		.recall = a->offer == TURN_OFFER_ALL,
		.forget = a->offer >= TURN_OFFER_FORGET,
		.summary = r->facts.summary,
		.suggestion = r->suggestion,
		.voice = r->facts.inner_voice,
		.write_voice = r->o->conf->inner_voice,
		.silent = a->offer == TURN_OFFER_NONE,
		.rest = r->turn.route.rest };
	struct buf b = BUF_INIT(SYSTEM_MAX), more = BUF_INIT(SYSTEM_MAX),
		   notes = BUF_INIT(SYSTEM_MAX);

	if (a->offer != TURN_OFFER_NONE) {
		p.provided = r->tools.n > 0 || r->turn.more;
		tool_set_put_notes(&r->tools, &notes);
		p.notes = buf_str(&notes);
	}
	if (completion_offers_more(r, a)) {
		tool_set_put_rest(&r->tools, r->facts.tools, &more);
		p.more = buf_str(&more);
	}
	prompt_write(&p, &b);
	struct str s = arena_str(r->scratch, buf_str(&b));
	buf_free(&b);
	buf_free(&more);
	buf_free(&notes);
	return s;
}

static void
completion_add_tool(struct completion_request *t, struct tool *tool)
{
	tool_prepare(tool);
	t->tools[t->ntools++] = (struct llm_tool){ .name = tool->name,
		.description = tool->description,
		.parameters = tool->shown };
}

static enum rc
completion_add_tools(struct turn_run *r, const struct turn_action *a,
    struct completion_request *t)
{
	struct tool_catalog *tools = r->facts.tools;
	enum turn_offer offer = a->offer;
	size_t n = tool_catalog_n(tools);

	if (offer == TURN_OFFER_NONE)
		return RC_OK;
	t->tools =
	    arena_alloc(r->scratch, (n + r->tools.n + 3) * sizeof(*t->tools));
	if (t->tools == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < n; i++)
		completion_add_tool(t, tool_catalog_at(tools, i));
	if (offer == TURN_OFFER_ALL)
		completion_add_tool(t, tool_catalog_recall(tools));
	if (offer >= TURN_OFFER_FORGET)
		completion_add_tool(t, tool_catalog_forget(tools));
	for (size_t i = 0; i < r->tools.n; i++)
		completion_add_tool(t, r->tools.tools[i]);
	/* Providers may reject calls in the messages without any tool. */
	if (completion_offers_more(r, a) || (r->turn.more && t->ntools == 0))
		completion_add_tool(t, tool_catalog_more(tools));
	return RC_OK;
}

/* Observations and the user's text of this turn. */
static enum rc
completion_add_input(struct turn_run *r, struct completion_request *t)
{
	const struct wire_chat_request *chat = turn_chat(r);

	if (r->turn.unasked) {
		completion_add(t, LLM_USER, STR(UNASKED_INPUT));
		return RC_OK;
	}
	for (size_t i = 0; i < chat->n_inputs; i++) {
		const struct wire_chat_request_inputs *in = &chat->inputs[i];
		if (history_is_user_text(in))
			continue;
		struct str line = history_observation(in, r->scratch);
		if (line.p == NULL)
			return RC_TOOBIG;
		completion_add(t, LLM_USER, line);
	}
	completion_add(t, LLM_USER, r->facts.user_text);
	return RC_OK;
}

/* Tokens of everything but the earlier messages. */
static size_t
completion_fixed_tokens(const struct turn_run *r,
    const struct completion_request *t, struct str system,
    const struct history_list *done)
{
	const struct wire_chat_request *chat = turn_chat(r);
	size_t n = history_tokens(system) + history_tokens(r->facts.user_text);

	for (size_t i = 0; i < t->ntools; i++)
		n += history_tokens(t->tools[i].description) +
		    history_tokens(t->tools[i].parameters);
	for (size_t i = 0; i < done->n; i++)
		n += history_message_tokens(&done->list[i]);
	for (size_t i = 0; i < chat->n_inputs; i++) {
		if (!history_is_user_text(&chat->inputs[i]))
			n += history_tokens(chat->inputs[i].text) +
			    history_tokens(chat->inputs[i].data);
	}
	return n;
}

/* What its reply must not quote, and may. */
static void
completion_set_rule(struct turn_run *r, const struct history_list *before)
{
	struct spoken_rule *rule = &r->spoken;

	if (r->turn.unasked)
		return;
	r->suggestion = suggestion_read(r->facts.mind_link, clock_wall(), r->a);
	*rule = (struct spoken_rule){
		.secret = { r->suggestion.text, r->facts.inner_voice },
		.known = { r->facts.user_text },
		.n_known = 1,
	};
	if (rule->secret[0].n == 0 && rule->secret[1].n == 0)
		return;
	for (size_t i = before->n;
	     i-- > 0 && rule->n_known < SPOKEN_KNOWN_MAX;) {
		struct str text = before->list[i].text;
		if (before->list[i].role != LLM_USER)
			continue;
		if (text.n > KNOWN_TEXT_MAX)
			text.n = KNOWN_TEXT_MAX;
		rule->known[rule->n_known++] = arena_str(r->a, text);
	}
}

static enum rc
completion_compose(struct turn_run *r, const struct turn_action *a,
    struct completion_request *t)
{
	struct history_list before, done;
	struct soul soul;

	enum rc rc = completion_read_soul(r, &soul);
	if (rc == RC_OK)
		rc = completion_read_history(r, &before);
	if (rc == RC_OK)
		rc = history_turn(&r->turn, r->scratch, &done);
	if (rc == RC_OK)
		rc = completion_add_tools(r, a, t);
	if (rc != RC_OK)
		return rc;
	completion_set_rule(r, &before);
	struct str text = completion_system_text(r, &soul, a);
	size_t all = (size_t)r->o->conf->context_tokens;
	size_t fixed = completion_fixed_tokens(r, t, text, &done);
	rc = history_trim(&before, fixed < all ? all - fixed : 0,
	    all / HISTORY_MESSAGE_SHARE, r->scratch);
	t->messages = arena_alloc(r->scratch,
	    (before.n + done.n + turn_chat(r)->n_inputs + 2) *
		sizeof(*t->messages));
	if (rc != RC_OK || t->messages == NULL || text.p == NULL)
		return RC_TOOBIG;
	completion_add(t, LLM_SYSTEM, text);
	completion_add_list(t, &before);
	rc = completion_add_input(r, t);
	completion_add_list(t, &done);
	return rc;
}

/* The request was not sent. */
static void
completion_feed_error(struct turn_run *r, enum rc rc)
{
	struct llm_result res = { .rc = rc };
	struct turn_event e = { .kind = TURN_COMPLETION,
		.error = completion_error(&res) };

	r->llm_reason = LLM_REASON_NONE;
	log_error("llm.not_called", LOG_RC(rc));
	turn_feed(r, &e);
}

static void
completion_on_text(void *arg, struct str chunk)
{
	struct turn_run *r = arg;

	turn_trace_first_token(r);
	reply_stream_append(r, chunk);
}

enum rc
completion_start(struct turn_run *r, const struct turn_action *a)
{
	int64_t timeout_ms = r->o->conf->llm_timeout_ms;
	struct completion_request t = { 0 };

	if (r->turn.unasked && timeout_ms > r->o->conf->unasked_llm_timeout_ms)
		timeout_ms = r->o->conf->unasked_llm_timeout_ms;
	arena_reset(r->scratch);
	dispatch_none(r);
	enum rc rc = completion_compose(r, a, &t);
	if (rc == RC_DOWN || rc == RC_RETRY || state_may_be_done(rc))
		return rc;
	/* It was ended while the records were read. */
	if (r->turn.phase != TURN_COMPLETING)
		return RC_OK;
	struct llm_chat chat = { .messages = t.messages,
		.nmessages = t.n,
		.tools = t.tools,
		.ntools = t.ntools,
		.choice = a->may_call ? LLM_CHOICE_AUTO : LLM_CHOICE_NONE,
		.temperature = -1,
		.turn = r->slot.turn_id,
		.trace = &r->trace,
		.deadline = turn_deadline(r, timeout_ms),
		.stream = turn_chat(r)->stream,
		.on_text = completion_on_text,
		.on_done = completion_on_done,
		.arg = r };
	reply_stream_start(r);
	reply_stream_restart(r, a->may_call && t.ntools > 0);
	metric_add(r->o->metrics.completions, 1);
	turn_detail_prompt(r, &chat);
	if (rc == RC_OK)
		rc = llm_chat(r->o->llm, &chat, &r->llm);
	if (rc != RC_OK)
		completion_feed_error(r, rc);
	return RC_OK;
}

void
completion_cancel(struct turn_run *r)
{
	if (r->llm != NULL)
		llm_cancel(r->llm);
	r->llm = NULL;
}
