/*
 * The rules for reading what providers send.  Each exists because some server
 * does it so; a call's pieces may come with an index, with an id, with both or
 * with neither.
 */
#include "llm/accum.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "wire/text.h"

#define FIELD_MAX 1024
#define EXTRA_MAX (256 * 1024)

void
accum_init(struct accum *m, bool cumulative)
{
	*m = (struct accum){ .cumulative = cumulative,
		.prompt_tokens = -1,
		.completion_tokens = -1 };
	buf_init(&m->text, LLM_TEXT_MAX);
	buf_init(&m->reasoning, LLM_TEXT_MAX);
}

void
accum_free(struct accum *m)
{
	for (size_t i = 0; i < m->nslots; i++) {
		buf_free(&m->slots[i].id);
		buf_free(&m->slots[i].name);
		buf_free(&m->slots[i].arguments);
		buf_free(&m->slots[i].extra);
	}
	free(m->slots);
	buf_free(&m->text);
	buf_free(&m->reasoning);
}

static struct accum_slot *
new_slot(struct accum *m, int64_t index)
{
	if (m->nslots == LLM_CALLS_MAX)
		return NULL;
	if (m->slots == NULL)
		m->slots = mem_calloc(LLM_CALLS_MAX, sizeof(*m->slots));
	struct accum_slot *s = &m->slots[m->nslots++];
	s->index = index;
	buf_init(&s->id, FIELD_MAX);
	buf_init(&s->name, FIELD_MAX);
	buf_init(&s->arguments, LLM_ARGS_MAX);
	buf_init(&s->extra, EXTRA_MAX);
	return s;
}

static struct accum_slot *
slot_by_id(struct accum *m, struct str id)
{
	for (size_t i = m->nslots; i > 0; i--)
		if (str_eq(buf_str(&m->slots[i - 1].id), id))
			return &m->slots[i - 1];
	return NULL;
}

static struct accum_slot *
slot_by_index(struct accum *m, int64_t index)
{
	for (size_t i = m->nslots; i > 0; i--)
		if (m->slots[i - 1].index == index)
			return &m->slots[i - 1];
	return NULL;
}

/*
 * With an index: the last slot of that index, unless the piece has an id and
 * the slot another one; some send all parallel calls as index 0.
 */
static struct accum_slot *
choose_indexed(struct accum *m, const struct wire_llm_tool_call *p)
{
	struct accum_slot *s = slot_by_index(m, p->index);

	if (s == NULL)
		return new_slot(m, p->index);
	if (p->id.n == 0 || s->id.n == 0 || str_eq(buf_str(&s->id), p->id))
		return s;
	s = slot_by_id(m, p->id);
	if (s != NULL && s->index == p->index)
		return s;
	return new_slot(m, p->index);
}

/*
 * With neither index nor id: more of the last call, or the next one if the
 * piece names a function and the last call is whole or another function's.
 */
static struct accum_slot *
choose_bare(struct accum *m, struct str name)
{
	if (m->nslots == 0)
		return new_slot(m, -1);
	struct accum_slot *s = &m->slots[m->nslots - 1];
	if (name.n == 0 || s->name.n == 0)
		return s;
	if (!str_eq(buf_str(&s->name), name) ||
	    wire_is_object(buf_str(&s->arguments)))
		return new_slot(m, -1);
	return s;
}

static struct accum_slot *
choose(struct accum *m, const struct wire_llm_tool_call *p)
{
	struct accum_slot *s;

	if (p->has_index)
		return choose_indexed(m, p);
	if (p->id.n == 0)
		return choose_bare(m, p->function.name);
	s = slot_by_id(m, p->id);
	return s != NULL ? s : new_slot(m, -1);
}

/* What is empty never overwrites; what is there already stays. */
static void
set_once(struct buf *b, struct str s)
{
	if (b->n == 0 && s.n > 0)
		buf_put_str(b, s);
}

/* Text is appended; an object or array is the whole at once. */
static enum rc
add_arguments(
    struct accum *m, struct accum_slot *s, struct str raw, struct arena *a)
{
	struct str text = raw;
	bool whole = m->cumulative;

	if (raw.p == NULL)
		return RC_OK;
	if (raw.n > 0 && raw.p[0] == '"') {
		enum rc rc = wire_text(raw, a, &text);
		if (rc != RC_OK)
			return rc;
	} else if (raw.n > 0 && (raw.p[0] == '{' || raw.p[0] == '[')) {
		whole = true;
	} else {
		return RC_INVALID;
	}
	if (whole && text.n > 0)
		buf_reset(&s->arguments);
	buf_put_str(&s->arguments, text);
	return buf_rc(&s->arguments);
}

static enum rc
add_calls(struct accum *m, const struct wire_llm_tool_call *p, size_t n,
    struct arena *a)
{
	for (size_t i = 0; i < n; i++) {
		struct accum_slot *s = choose(m, &p[i]);
		if (s == NULL)
			return RC_TOOBIG;
		set_once(&s->id, p[i].id);
		set_once(&s->name, p[i].function.name);
		if (p[i].extra_content.p != NULL) {
			buf_reset(&s->extra);
			buf_put_str(&s->extra, p[i].extra_content);
		}
		enum rc rc = add_arguments(m, s, p[i].function.arguments, a);
		if (rc != RC_OK)
			return rc;
		if (s->id.over || s->name.over || s->extra.over)
			return RC_TOOBIG;
	}
	return RC_OK;
}

/* The new end of b, which s continues or, from some senders, repeats. */
static struct str
add_text(struct accum *m, struct buf *b, struct str s)
{
	size_t from = b->n;

	if (m->cumulative && s.n > 0) {
		if (!str_starts(s, buf_str(b)))
			from = 0;
		buf_reset(b);
	}
	buf_put_str(b, s);
	if (b->n <= from)
		return (struct str){ "", 0 };
	return (struct str){ b->p + from, b->n - from };
}

static void
add_finish(struct accum *m, struct str finish)
{
	if (finish.n > 0)
		str_copy(finish, m->finish, sizeof(m->finish));
}

static void
add_usage(struct accum *m, const struct wire_llm_usage *u)
{
	if (u->has_prompt_tokens)
		m->prompt_tokens = u->prompt_tokens;
	if (u->has_completion_tokens)
		m->completion_tokens = u->completion_tokens;
}

static enum rc
texts_rc(const struct accum *m)
{
	return m->text.over || m->reasoning.over ? RC_TOOBIG : RC_OK;
}

enum rc
accum_chunk(struct accum *m, const struct wire_llm_chat_chunk *c,
    struct arena *a, struct str *delta)
{
	*delta = (struct str){ "", 0 };
	if (c->has_usage)
		add_usage(m, &c->usage);
	for (size_t i = 0; i < c->n_choices; i++) {
		const struct wire_llm_chat_chunk_choices *choice =
		    &c->choices[i];
		const struct wire_llm_chat_chunk_choices_delta *d =
		    &choice->delta;
		if (choice->has_index && choice->index != 0)
			continue;
		add_finish(m, choice->finish_reason);
		*delta = add_text(m, &m->text, d->content);
		(void)add_text(m, &m->reasoning,
		    d->reasoning_content.n > 0 ? d->reasoning_content
					       : d->reasoning);
		if (texts_rc(m) != RC_OK)
			return RC_TOOBIG;
		return add_calls(m, d->tool_calls, d->n_tool_calls, a);
	}
	return RC_OK;
}

enum rc
accum_answer(
    struct accum *m, const struct wire_llm_chat_response *r, struct arena *a)
{
	if (r->has_usage)
		add_usage(m, &r->usage);
	m->done = true;
	for (size_t i = 0; i < r->n_choices; i++) {
		const struct wire_llm_chat_response_choices *choice =
		    &r->choices[i];
		const struct wire_llm_chat_response_choices_message *d =
		    &choice->message;
		if (choice->has_index && choice->index != 0)
			continue;
		add_finish(m, choice->finish_reason);
		buf_put_str(&m->text, d->content);
		buf_put_str(&m->reasoning,
		    d->reasoning_content.n > 0 ? d->reasoning_content
					       : d->reasoning);
		if (texts_rc(m) != RC_OK)
			return RC_TOOBIG;
		return add_calls(m, d->tool_calls, d->n_tool_calls, a);
	}
	return RC_OK;
}

/* "stop" with calls is a call, and calls without one are a stop. */
static enum llm_finish
finish_of(const struct accum *m)
{
	struct str f = str_of(m->finish);

	if (f.n == 0 && !m->done)
		return LLM_FINISH_NONE;
	if (f.n == 0 || str_eq(f, STR("stop")) ||
	    str_eq(f, STR("tool_calls")) || str_eq(f, STR("function_call")))
		return m->nslots > 0 ? LLM_FINISH_TOOL_CALLS : LLM_FINISH_STOP;
	if (str_eq(f, STR("length")))
		return LLM_FINISH_LENGTH;
	if (str_eq(f, STR("content_filter")))
		return LLM_FINISH_FILTER;
	return LLM_FINISH_OTHER;
}

/* Give an id to a call that has none, or one that an earlier call has. */
static void
fix_id(struct accum *m, size_t i, struct str turn)
{
	struct accum_slot *s = &m->slots[i];
	bool bad = s->id.n == 0;

	for (size_t k = 0; k < i && !bad; k++)
		bad = str_eq(buf_str(&m->slots[k].id), buf_str(&s->id));
	if (!bad)
		return;
	buf_reset(&s->id);
	buf_printf(&s->id, "call_%.*s_%zu", STR_ARG(turn), i);
}

/* A call without arguments, unless they were still to come. */
static struct llm_tool_call
call_of(struct accum_slot *s, bool cut)
{
	bool bare = s->arguments.n == 0;

	if (bare)
		buf_puts(&s->arguments, "{}");
	return (struct llm_tool_call){ .id = buf_str(&s->id),
		.name = buf_str(&s->name),
		.arguments = buf_str(&s->arguments),
		.extra = s->extra.n > 0 ? buf_str(&s->extra)
					: (struct str){ NULL, 0 },
		.valid = s->name.n > 0 && !(bare && cut) &&
		    wire_is_object(buf_str(&s->arguments)) };
}

enum rc
accum_end(
    struct accum *m, struct str turn, struct arena *a, struct llm_result *out)
{
	struct llm_tool_call *calls =
	    arena_alloc(a, m->nslots * sizeof(*calls));
	enum llm_finish finish = finish_of(m);
	bool cut = finish == LLM_FINISH_NONE || finish == LLM_FINISH_LENGTH;

	if (calls == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < m->nslots; i++) {
		fix_id(m, i, turn);
		calls[i] = call_of(&m->slots[i], cut);
	}
	out->text = buf_str(&m->text);
	out->reasoning = buf_str(&m->reasoning);
	out->calls = calls;
	out->ncalls = m->nslots;
	out->finish = finish;
	out->incomplete = finish == LLM_FINISH_NONE;
	out->prompt_tokens = m->prompt_tokens;
	out->completion_tokens = m->completion_tokens;
	return RC_OK;
}
