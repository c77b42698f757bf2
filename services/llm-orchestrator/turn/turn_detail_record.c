/*
 * The phases of the timeline, with what r has of each when the turn ends.
 */
#include "turn/turn_detail_record.h"

#include <stdlib.h>

#include "context.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "llm/llm.h"
#include "model/model.h"
#include "state/turn_detail.h"
#include "turn/turn_runner.h"
#include "turn/turn_timeline.h"
#include "wire/wire.h"

#define HOUR_MS          ((int64_t)3600 * 1000)
#define SUMMARY_TEXT_MAX 120 /* characters */
/* What a turn's details are composed in. */
#define SCRATCH_MAX (4 * (size_t)1024 * 1024)

static bool
turn_detail_wanted(const struct turn_run *r)
{
	return r->o->conf->detail_hours > 0;
}

static struct str
turn_detail_copy(struct arena *a, struct str s)
{
	return arena_str(a, str_clip(s, TURN_DETAIL_TEXT_MAX));
}

/* ---- calls of the model ---- */

/* Users may read it, so that it is without the line of the inner voice. */
static void
turn_detail_put_system(struct str text, struct buf *b)
{
	struct str line;

	while (text.n > 0) {
		line = str_split(&text, '\n');
		if (!str_starts(line, STR(PROMPT_VOICE)))
			buf_printf(b, "%.*s\n", STR_ARG(line));
	}
}

void
turn_detail_prompt(struct turn_run *r, const struct llm_chat *chat)
{
	static const char *const roles[] = { [LLM_SYSTEM] = "system",
		[LLM_USER] = "user",
		[LLM_ASSISTANT] = "assistant",
		[LLM_TOOL] = "tool" };
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	size_t i;

	if (!turn_detail_wanted(r) || r->n_completions == TURN_COMPLETIONS_MAX)
		return;
	for (i = 0; i < chat->nmessages && b.n < TURN_DETAIL_TEXT_MAX; i++) {
		const struct llm_message *m = &chat->messages[i];

		buf_printf(&b, "[%s] ", roles[m->role]);
		if (m->role == LLM_SYSTEM)
			turn_detail_put_system(m->text, &b);
		else
			buf_printf(&b, "%.*s\n", STR_ARG(m->text));
	}
	r->completions[r->n_completions++] =
	    (struct turn_completion){ .prompt =
					  turn_detail_copy(r->a, buf_str(&b)),
		    .tokens_in = -1,
		    .tokens_out = -1 };
	buf_free(&b);
}

void
turn_detail_completion(
    struct turn_run *r, const struct llm_result *res, struct str text)
{
	struct turn_completion *c;
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	size_t i;

	if (r->n_completions == 0)
		return;
	c = &r->completions[r->n_completions - 1];
	buf_put_str(&b, text);
	for (i = 0; i < res->ncalls && b.n < TURN_DETAIL_TEXT_MAX; i++) {
		buf_printf(&b, "\n[call] ");
		buf_put_str(&b, res->calls[i].name);
		buf_putc(&b, ' ');
		buf_put_str(&b, res->calls[i].arguments);
	}
	c->text = turn_detail_copy(r->a, buf_str(&b));
	c->provider = arena_str(r->a, str_of(res->provider));
	c->tokens_in = res->prompt_tokens;
	c->tokens_out = res->completion_tokens;
	c->attempts = res->attempts;
	buf_free(&b);
}

/* ---- phases ---- */

/* msg as JSON, the first part of it; absent: there is no room. */
static struct str
turn_detail_json(struct arena *a, const struct wire_desc *d, const void *msg)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct str s = { NULL, 0 };

	if (wire_encode(d, msg, &b, NULL) == RC_OK)
		s = turn_detail_copy(a, buf_str(&b));
	buf_free(&b);
	return s;
}

static void
turn_detail_put_call(const struct turn_run *r, const struct timeline_phase *p,
    struct arena *a, struct wire_turn_record_timeline *out)
{
	const struct turn_call *call;

	if (p->key >= r->turn.n_calls)
		return;
	call = &r->turn.calls[p->key];
	out->in = turn_detail_copy(a, call->args);
	out->out = turn_detail_copy(
	    a, call->output.p != NULL ? call->output : call->why);
}

/* The skills of the intents, which are sent in one command. */
static struct str
turn_detail_actions(const struct turn_run *r, struct arena *a)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct str s;
	size_t i;

	for (i = 0; i < r->turn.n_calls && b.n < TURN_DETAIL_TEXT_MAX; i++) {
		if (r->turn.calls[i].round > 0)
			continue;
		buf_put_str(&b, r->turn.calls[i].skill);
		buf_putc(&b, ' ');
		buf_put_str(&b, r->turn.calls[i].args);
		buf_putc(&b, '\n');
	}
	s = turn_detail_copy(a, buf_str(&b));
	buf_free(&b);
	return s;
}

static void
turn_detail_put_completion(
    const struct turn_completion *c, struct wire_turn_record_timeline *out)
{
	out->in = c->prompt;
	out->out = c->text;
	if (c->provider.n > 0)
		out->provider = c->provider;
	out->has_tokens_in = c->tokens_in >= 0;
	out->tokens_in = c->tokens_in;
	out->has_tokens_out = c->tokens_out >= 0;
	out->tokens_out = c->tokens_out;
	out->has_attempts = c->attempts > 0;
	out->attempts = c->attempts;
}

/* completion: how many calls of the model came before. */
static void
turn_detail_put_phase(const struct turn_run *r, const struct timeline_phase *p,
    size_t completion, struct arena *a, struct wire_turn_record_timeline *out)
{
	switch (p->kind) {
	case TIMELINE_EMOTION:
		out->in = turn_detail_copy(a, r->facts.user_text);
		if (r->emotion_known)
			out->out = turn_detail_json(
			    a, &wire_emotion_observe_reply_desc, &r->emotion);
		break;
	case TIMELINE_INTENT:
		out->in = turn_detail_copy(a, r->facts.user_text);
		if (r->intents != NULL)
			out->out = turn_detail_json(
			    a, &wire_intent_filter_response_desc, r->intents);
		break;
	case TIMELINE_COMPLETION:
		if (completion < r->n_completions)
			turn_detail_put_completion(
			    &r->completions[completion], out);
		break;
	case TIMELINE_ACT:
		out->in = turn_detail_actions(r, a);
		break;
	case TIMELINE_INVOKE:
	case TIMELINE_RECALL:
	case TIMELINE_FORGET:
		turn_detail_put_call(r, p, a, out);
		break;
	case TIMELINE_BEGIN:
	case TIMELINE_QUEUE:
	case TIMELINE_LOAD:
	case TIMELINE_MEMORY:
	case TIMELINE_TOOLS:
	case TIMELINE_COMMIT:
		break;
	}
}

/* NULL: a is full. */
static struct wire_turn_record_timeline *
turn_detail_phases(const struct turn_run *r, struct arena *a)
{
	const struct turn_timeline *t = r->timeline;
	struct wire_turn_record_timeline *list = timeline_items(t, a);
	size_t i, completion = 0;

	for (i = 0; list != NULL && i < t->n; i++) {
		turn_detail_put_phase(r, &t->list[i], completion, a, &list[i]);
		completion += t->list[i].kind == TIMELINE_COMPLETION;
	}
	return list;
}

/* ---- the whole ---- */

static enum wire_turn_record_state
turn_detail_state(const struct wire_turn_reply *rep)
{
	if (rep->state == WIRE_TURN_REPLY_STATE_COMPLETED)
		return WIRE_TURN_RECORD_STATE_COMPLETED;
	return rep->state == WIRE_TURN_REPLY_STATE_CANCELED
	    ? WIRE_TURN_RECORD_STATE_CANCELED
	    : WIRE_TURN_RECORD_STATE_FAILED;
}

static enum wire_turn_summary_state
turn_detail_summary_state(const struct wire_turn_reply *rep)
{
	if (rep->state == WIRE_TURN_REPLY_STATE_COMPLETED)
		return WIRE_TURN_SUMMARY_STATE_COMPLETED;
	return rep->state == WIRE_TURN_REPLY_STATE_CANCELED
	    ? WIRE_TURN_SUMMARY_STATE_CANCELED
	    : WIRE_TURN_SUMMARY_STATE_FAILED;
}

/* The first characters of s. */
static struct str
turn_detail_head(struct str s, size_t n)
{
	size_t at = 0;

	while (n-- > 0 && at < s.n && str_utf8_next(s, &at) >= 0)
		;
	s.n = at < s.n ? at : s.n;
	return s;
}

static enum rc
turn_detail_put_summary(const struct turn_run *r,
    const struct wire_turn_record *rec, const struct wire_turn_reply *rep,
    struct buf *out)
{
	const struct wire_turn_summary m = { .turn_id = rec->turn_id,
		.session_id = rec->session_id,
		.terminal_id = rec->terminal_id,
		.soul_id = rec->soul_id,
		.state = turn_detail_summary_state(rep),
		.code = rec->code,
		.started_at = rec->started_at,
		.total_ms = rec->total_ms,
		.user_text =
		    turn_detail_head(r->facts.user_text, SUMMARY_TEXT_MAX),
		.confirmed = (int64_t)r->skills.n_executed,
		.unconfirmed = (int64_t)r->skills.n_failed };

	return wire_encode(&wire_turn_summary_desc, &m, out, NULL);
}

/* The details of a turn that has ended, which need it no more. */
struct turn_detail_record {
	struct orch *o;
	char user_id[ID_MAX + 1], turn_id[ID_MAX + 1];
	struct wall started;
	struct buf summary, detail;
};

static void
turn_detail_free(struct turn_detail_record *d)
{
	buf_free(&d->summary);
	buf_free(&d->detail);
	free(d);
}

static enum rc
turn_detail_write(const struct turn_run *r, const struct wire_turn_reply *rep,
    struct arena *a, struct turn_detail_record *out)
{
	char at[WALL_FORMAT_MAX];
	struct wire_turn_record m = { .turn_id = r->slot.turn_id,
		.user_id = r->slot.key.user_id,
		.session_id = r->slot.key.session_id,
		.terminal_id = turn_chat(r)->terminal_id,
		.soul_id = r->facts.soul_id,
		.user_text = str_clip(r->facts.user_text, TURN_DETAIL_TEXT_MAX),
		.reply = str_clip(r->reply, TURN_DETAIL_TEXT_MAX),
		.trace_id = str_of(r->trace.trace_id),
		.instance = r->slot.instance,
		.state = turn_detail_state(rep),
		.total_ms = timeline_ms(r->start, clock_mono()),
		.has_total_ms = true,
		.timeline = turn_detail_phases(r, a),
		.n_timeline = r->timeline->n,
		.has_timeline = true };
	enum rc rc;

	if (m.timeline == NULL)
		return RC_TOOBIG;
	if (rep->has_error)
		m.code = rep->error.code;
	wall_format(r->started, 0, at);
	m.started_at = str_of(at);
	rc = wire_encode(&wire_turn_record_desc, &m, &out->detail, NULL);
	if (rc == RC_OK)
		rc = turn_detail_put_summary(r, &m, rep, &out->summary);
	return rc;
}

struct turn_detail_record *
turn_detail_take(const struct turn_run *r, const struct wire_turn_reply *rep)
{
	struct turn_detail_record *d;
	struct arena *a;
	enum rc rc;

	if (!turn_detail_wanted(r) || r->timeline == NULL)
		return NULL;
	d = mem_zalloc(sizeof(*d));
	buf_init(&d->summary, TURN_SUMMARY_MAX);
	buf_init(&d->detail, TURN_DETAIL_MAX);
	d->o = r->o;
	str_copy(r->slot.key.user_id, d->user_id, sizeof(d->user_id));
	str_copy(r->slot.turn_id, d->turn_id, sizeof(d->turn_id));
	d->started = r->started;
	a = arena_new(SCRATCH_MAX);
	rc = turn_detail_write(r, rep, a, d);
	arena_free(a);
	if (rc == RC_OK)
		return d;
	log_warn("turn.detail_too_large", LOG_S("turn", d->turn_id));
	turn_detail_free(d);
	return NULL;
}

static void
turn_detail_store_now(void *arg)
{
	struct turn_detail_record *d = arg;
	const struct orch *o = d->o;
	enum rc rc = turn_detail_put(o->state,
	    &(struct turn_detail){ .user_id = str_of(d->user_id),
		.turn_id = str_of(d->turn_id),
		.started = d->started,
		.ttl_ms = o->conf->detail_hours * HOUR_MS,
		.summary = buf_str(&d->summary),
		.detail = buf_str(&d->detail) });

	if (rc != RC_OK)
		log_debug(
		    "turn.detail_lost", LOG_S("turn", d->turn_id), LOG_RC(rc));
	turn_detail_free(d);
}

void
turn_detail_store(struct turn_detail_record *d)
{
	if (d != NULL)
		fiber_start(turn_detail_store_now, d);
}
