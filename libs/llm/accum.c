/*
 * The rules for reading what providers send.  Each exists because some server
 * does it so; a call's pieces may come with an index, with an id, with both or
 * with neither.
 */
#include "llm/accum.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "llm/extra.h"
#include "wire/out.h"
#include "wire/tree.h"

#define FIELD_MAX 1024
/* What is used of a turn's id. */
#define TURN_MAX  128
#define EXTRA_MAX (256 * 1024)

void
accum_init(struct accum *m, const struct llm_provider *p)
{
	*m = (struct accum){ .cumulative = p != NULL && p->cumulative,
		.strip_think = p != NULL && p->strip_think,
		.forget = p != NULL && p->echo == LLM_ECHO_NEVER,
		.prompt_tokens = -1,
		.completion_tokens = -1 };
	buf_init(&m->text, LLM_TEXT_MAX);
	buf_init(&m->reasoning, LLM_TEXT_MAX);
	buf_init(&m->raw, 2 * LLM_TEXT_MAX);
	buf_init(&m->blocks, LLM_TEXT_MAX);
	buf_init(&m->signature, EXTRA_MAX);
}

void
accum_free(struct accum *m)
{
	for (size_t i = 0; i < m->nslots; i++) {
		buf_free(&m->slots[i].id);
		buf_free(&m->slots[i].name);
		buf_free(&m->slots[i].arguments);
		buf_free(&m->slots[i].members);
	}
	free(m->slots);
	buf_free(&m->raw);
	buf_free(&m->blocks);
	buf_free(&m->signature);
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
	buf_init(&s->members, EXTRA_MAX);
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
choose_indexed(struct accum *m, const struct accum_piece *p)
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
choose(struct accum *m, const struct accum_piece *p)
{
	struct accum_slot *s;

	if (p->index >= 0)
		return choose_indexed(m, p);
	if (p->id.n == 0)
		return choose_bare(m, p->name);
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
add_arguments(struct accum *m, struct accum_slot *s, const struct wire_tree *v)
{
	struct wire_out o = { .b = &s->arguments };

	switch (wire_tree_kind(v)) {
	case WIRE_TREE_NULL:
		return RC_OK;
	case WIRE_TREE_TEXT:
		if (m->cumulative && wire_tree_text(v).n > 0)
			buf_reset(&s->arguments);
		buf_put_str(&s->arguments, wire_tree_text(v));
		return buf_rc(&s->arguments);
	case WIRE_TREE_OBJECT:
	case WIRE_TREE_ARRAY:
		buf_reset(&s->arguments);
		wire_tree_put(v, &o);
		return buf_rc(&s->arguments);
	default:
		return RC_INVALID;
	}
}

static bool
is_known(struct str key)
{
	return str_eq(key, STR("index")) || str_eq(key, STR("id")) ||
	    str_eq(key, STR("type")) || str_eq(key, STR("function"));
}

/* Keep what only the provider understands; the last piece with any counts. */
static void
add_members(struct accum_slot *s, const struct wire_tree *v)
{
	struct wire_out o = { .b = &s->members };
	struct wire_tree_member m;
	bool first = true;

	for (bool more = wire_tree_first(v, &m); more;
	     more = wire_tree_next(v, &m)) {
		if (is_known(m.key) ||
		    wire_tree_kind(m.value) == WIRE_TREE_NULL)
			continue;
		if (first)
			buf_reset(&s->members);
		first = false;
		wire_out_key(&o, m.key);
		wire_tree_put(m.value, &o);
	}
}

enum rc
accum_call(struct accum *m, const struct accum_piece *p)
{
	struct accum_slot *s = choose(m, p);

	if (s == NULL)
		return RC_TOOBIG;
	set_once(&s->id, p->id);
	set_once(&s->name, p->name);
	add_members(s, p->members);
	if (s->id.over || s->name.over || s->members.over)
		return RC_TOOBIG;
	return add_arguments(m, s, p->arguments);
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

/* As add_text(), with the thoughts before the text taken out. */
static struct str
add_thinking_text(struct accum *m, struct str s)
{
	size_t from = m->text.n;

	if (m->cumulative) {
		bool more = str_starts(s, buf_str(&m->raw));
		s = add_text(m, &m->raw, s);
		if (!more && s.n > 0) {
			m->think = (struct think){ 0 };
			buf_reset(&m->text);
			buf_reset(&m->reasoning);
			from = 0;
		}
	}
	think_feed(&m->think, s, &m->text, &m->reasoning);
	if (m->text.n <= from)
		return (struct str){ "", 0 };
	return (struct str){ m->text.p + from, m->text.n - from };
}

static enum rc
texts_rc(const struct accum *m)
{
	return m->text.over || m->reasoning.over || m->raw.over ? RC_TOOBIG
								: RC_OK;
}

enum rc
accum_text(struct accum *m, struct str s, struct str *delta)
{
	if (m->strip_think)
		*delta = add_thinking_text(m, s);
	else
		*delta = add_text(m, &m->text, s);
	return texts_rc(m);
}

void
accum_flush(struct accum *m, struct str *delta)
{
	size_t from = m->text.n;

	*delta = (struct str){ "", 0 };
	if (!m->strip_think)
		return;
	think_end(&m->think, &m->text, &m->reasoning);
	if (m->text.n > from)
		*delta = (struct str){ m->text.p + from, m->text.n - from };
}

enum rc
accum_reasoning(struct accum *m, const char *name, struct str s)
{
	if (s.n > 0)
		m->reasoning_name = name;
	(void)add_text(m, &m->reasoning, s);
	return texts_rc(m);
}

void
accum_finish(struct accum *m, struct str s)
{
	if (s.n > 0)
		str_copy(s, m->finish, sizeof(m->finish));
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

/* Whether the i-th call has no id, or one that an earlier call has. */
static bool
lacks_id(const struct accum *m, size_t i)
{
	struct str id = buf_str(&m->slots[i].id);

	for (size_t k = 0; k < i; k++)
		if (str_eq(buf_str(&m->slots[k].id), id))
			return true;
	return id.n == 0;
}

static void
fix_id(struct accum *m, size_t i, struct str turn)
{
	struct buf *id = &m->slots[i].id;

	if (turn.n > TURN_MAX)
		turn.n = TURN_MAX;
	for (size_t n = i; lacks_id(m, i); n += LLM_CALLS_MAX) {
		buf_reset(id);
		buf_printf(id, "call_%.*s_%zu", STR_ARG(turn), n);
	}
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
		.valid = s->name.n > 0 && !(bare && cut) &&
		    wire_is_object(buf_str(&s->arguments)) };
}

/* What the provider wants back; its thoughts go with the first call. */
static struct str
extra_of(const struct accum *m, size_t i, struct str by, struct arena *a)
{
	struct extra x = { .by = by, .members = buf_str(&m->slots[i].members) };

	if (i == 0) {
		if (!m->forget)
			x.name = str_of(m->reasoning_name);
		x.reasoning = buf_str(&m->reasoning);
		x.blocks = buf_str(&m->blocks);
	}
	return extra_write(&x, a);
}

enum rc
accum_end(struct accum *m, struct str turn, struct str by, struct arena *a,
    struct llm_result *out)
{
	struct llm_tool_call *calls =
	    arena_alloc(a, m->nslots * sizeof(*calls));
	enum llm_finish finish = finish_of(m);
	bool cut = finish == LLM_FINISH_NONE || finish == LLM_FINISH_LENGTH;
	struct str rest;

	if (calls == NULL)
		return RC_TOOBIG;
	accum_flush(m, &rest);
	for (size_t i = 0; i < m->nslots; i++) {
		fix_id(m, i, turn);
		calls[i] = call_of(&m->slots[i], cut);
		calls[i].extra = extra_of(m, i, by, a);
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
