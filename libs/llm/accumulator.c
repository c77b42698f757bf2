/*
 * accumulator: rules for reading what providers send, each of which exists
 * because some server does it so.  The chunks of a call may come with an index,
 * with an id, with both or with neither.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "llm/llm_internal.h"
#include "wire/out.h"
#include "wire/tree.h"

/* ---- reasoning filter ---- */

static bool
reasoning_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Append c to the partial tag if it matches; *whole: the tag is complete. */
static bool
reasoning_match(
    struct reasoning_filter *t, const char *mark, char c, bool *whole)
{
	if (mark[t->n_partial] != c)
		return false;
	t->partial[t->n_partial++] = c;
	*whole = mark[t->n_partial] == '\0';
	return true;
}

static void
reasoning_flush(struct reasoning_filter *t, struct buf *to)
{
	buf_put(to, t->partial, t->n_partial);
	t->n_partial = 0;
}

static void
reasoning_at_start(struct reasoning_filter *t, char c, struct buf *text)
{
	bool whole = false;

	if (t->n_partial == 0 && reasoning_is_space(c))
		return;
	if (reasoning_match(t, "<think>", c, &whole)) {
		if (whole) {
			t->n_partial = 0;
			t->state = REASONING_INSIDE;
		}
		return;
	}
	t->state = REASONING_TEXT;
	reasoning_flush(t, text);
	buf_putc(text, c);
}

static void
reasoning_inside(struct reasoning_filter *t, char c, struct buf *thoughts)
{
	bool whole = false;

	if (!reasoning_match(t, "</think>", c, &whole)) {
		reasoning_flush(t, thoughts);
		if (c == '<')
			t->partial[t->n_partial++] = c;
		else
			buf_putc(thoughts, c);
	} else if (whole) {
		t->n_partial = 0;
		t->state = REASONING_AFTER;
	}
}

void
reasoning_filter_feed(struct reasoning_filter *t, struct str chunk,
    struct buf *text, struct buf *thoughts)
{
	for (size_t i = 0; i < chunk.n; i++) {
		char c = chunk.p[i];
		if (t->state == REASONING_AFTER && !reasoning_is_space(c))
			t->state = REASONING_TEXT;
		switch (t->state) {
		case REASONING_START:
			reasoning_at_start(t, c, text);
			break;
		case REASONING_INSIDE:
			reasoning_inside(t, c, thoughts);
			break;
		case REASONING_AFTER:
			break;
		case REASONING_TEXT:
			buf_put(text, chunk.p + i, chunk.n - i);
			return;
		}
	}
}

void
reasoning_filter_end(
    struct reasoning_filter *t, struct buf *text, struct buf *thoughts)
{
	reasoning_flush(t, t->state == REASONING_INSIDE ? thoughts : text);
}

/* ---- extra of a call ---- */

static void
extra_put_text(struct wire_out *o, const char *key, struct str s)
{
	wire_out_key(o, str_of(key));
	wire_out_str(o, s);
}

static void
extra_put_members(struct buf *b, const struct call_extra *x)
{
	struct wire_out o = { .b = b };

	wire_out_object(&o);
	extra_put_text(&o, "by", x->by);
	if (x->members.n > 0) {
		wire_out_key(&o, STR("call"));
		buf_putc(b, '{');
		buf_put_str(b, x->members);
		buf_putc(b, '}');
		o.comma = true;
	}
	if (x->name.n > 0) {
		extra_put_text(&o, "name", x->name);
		extra_put_text(&o, "reasoning", x->reasoning);
	}
	if (x->blocks.n > 0) {
		wire_out_key(&o, STR("blocks"));
		buf_putc(b, '[');
		buf_put_str(b, x->blocks);
		buf_putc(b, ']');
		o.comma = true;
	}
	wire_out_object_end(&o);
}

struct str
call_extra_write(const struct call_extra *x, struct arena *a)
{
	struct buf b = BUF_INIT(CALL_EXTRA_MAX);
	struct str s = { NULL, 0 };

	if (x->by.n == 0 ||
	    (x->members.n == 0 && x->name.n == 0 && x->blocks.n == 0))
		return s;
	extra_put_members(&b, x);
	if (buf_rc(&b) == RC_OK) {
		s = arena_str(a, buf_str(&b));
	} else if (x->name.n > 0 || x->blocks.n > 0) {
		const struct call_extra less = { .by = x->by,
			.members = x->members };
		s = call_extra_write(&less, a);
	}
	buf_free(&b);
	return s;
}

struct wire_tree *
call_extra_open(struct str json, struct str by)
{
	struct wire_tree *v;

	if (json.n == 0 || by.n == 0 || wire_tree_parse(json, &v) != RC_OK)
		return NULL;
	if (str_eq(wire_tree_text(wire_tree_get(v, STR("by"))), by))
		return v;
	wire_tree_free(v);
	return NULL;
}

#define ACCUM_FIELD_MAX 1024
/* Bytes of the turn id in generated ids. */
#define ACCUM_TURN_MAX  128
#define ACCUM_EXTRA_MAX (256 * 1024)

void
accum_init(struct accum *m, const struct llm_provider *p)
{
	*m = (struct accum){ .cumulative = p != NULL && p->cumulative,
		.strip_think = p != NULL && p->strip_think,
		.no_echo = p != NULL && p->echo == LLM_ECHO_NEVER,
		.prompt_tokens = -1,
		.completion_tokens = -1 };
	buf_init(&m->text, LLM_TEXT_MAX);
	buf_init(&m->reasoning, LLM_TEXT_MAX);
	buf_init(&m->raw, 2 * LLM_TEXT_MAX);
	buf_init(&m->blocks, LLM_TEXT_MAX);
	buf_init(&m->signature, ACCUM_EXTRA_MAX);
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
accum_new_slot(struct accum *m, int64_t index)
{
	if (m->nslots == LLM_CALLS_MAX)
		return NULL;
	if (m->slots == NULL)
		m->slots = mem_calloc(LLM_CALLS_MAX, sizeof(*m->slots));
	struct accum_slot *s = &m->slots[m->nslots++];
	s->index = index;
	buf_init(&s->id, ACCUM_FIELD_MAX);
	buf_init(&s->name, ACCUM_FIELD_MAX);
	buf_init(&s->arguments, LLM_ARGS_MAX);
	buf_init(&s->members, ACCUM_EXTRA_MAX);
	return s;
}

static struct accum_slot *
accum_slot_by_id(struct accum *m, struct str id)
{
	for (size_t i = m->nslots; i > 0; i--)
		if (str_eq(buf_str(&m->slots[i - 1].id), id))
			return &m->slots[i - 1];
	return NULL;
}

static struct accum_slot *
accum_slot_by_index(struct accum *m, int64_t index)
{
	for (size_t i = m->nslots; i > 0; i--)
		if (m->slots[i - 1].index == index)
			return &m->slots[i - 1];
	return NULL;
}

/*
 * With an index: the last slot of that index, unless the chunk has another id;
 * some send all parallel calls as index 0.
 */
static struct accum_slot *
accum_choose_indexed(struct accum *m, const struct accum_chunk *p)
{
	struct accum_slot *s = accum_slot_by_index(m, p->index);

	if (s == NULL)
		return accum_new_slot(m, p->index);
	if (p->id.n == 0 || s->id.n == 0 || str_eq(buf_str(&s->id), p->id))
		return s;
	s = accum_slot_by_id(m, p->id);
	if (s != NULL && s->index == p->index)
		return s;
	return accum_new_slot(m, p->index);
}

/*
 * With neither index nor id: more of the last call, or the next one if the
 * chunk names a function and the last call is complete or another function's.
 */
static struct accum_slot *
accum_choose_bare(struct accum *m, struct str name)
{
	if (m->nslots == 0)
		return accum_new_slot(m, -1);
	struct accum_slot *s = &m->slots[m->nslots - 1];
	if (name.n == 0 || s->name.n == 0)
		return s;
	if (!str_eq(buf_str(&s->name), name) ||
	    wire_is_object(buf_str(&s->arguments)))
		return accum_new_slot(m, -1);
	return s;
}

static struct accum_slot *
accum_choose(struct accum *m, const struct accum_chunk *p)
{
	struct accum_slot *s;

	if (p->index >= 0)
		return accum_choose_indexed(m, p);
	if (p->id.n == 0)
		return accum_choose_bare(m, p->name);
	s = accum_slot_by_id(m, p->id);
	return s != NULL ? s : accum_new_slot(m, -1);
}

/* The first non-empty value counts. */
static void
accum_set_empty(struct buf *b, struct str s)
{
	if (b->n == 0 && s.n > 0)
		buf_put_str(b, s);
}

/* Text is appended; an object or array is the whole at once. */
static enum rc
accum_add_arguments(
    struct accum *m, struct accum_slot *s, const struct wire_tree *v)
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
accum_is_known(struct str key)
{
	return str_eq(key, STR("index")) || str_eq(key, STR("id")) ||
	    str_eq(key, STR("type")) || str_eq(key, STR("function"));
}

/* Provider-specific members; the last chunk with any counts. */
static void
accum_add_members(struct accum_slot *s, const struct wire_tree *v)
{
	struct wire_out o = { .b = &s->members };
	struct wire_tree_member m;
	bool first = true;

	for (bool more = wire_tree_first(v, &m); more;
	     more = wire_tree_next(v, &m)) {
		if (accum_is_known(m.key) ||
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
accum_call(struct accum *m, const struct accum_chunk *p)
{
	struct accum_slot *s = accum_choose(m, p);

	if (s == NULL)
		return RC_TOOBIG;
	accum_set_empty(&s->id, p->id);
	accum_set_empty(&s->name, p->name);
	accum_add_members(s, p->members);
	if (s->id.over || s->name.over || s->members.over)
		return RC_TOOBIG;
	return accum_add_arguments(m, s, p->arguments);
}

/* The new end of b; s continues it or, from some senders, repeats it. */
static struct str
accum_add_text(struct accum *m, struct buf *b, struct str s)
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

/* As accum_add_text(), without the reasoning before the text. */
static struct str
accum_add_filtered(struct accum *m, struct str s)
{
	size_t from = m->text.n;

	if (m->cumulative) {
		bool more = str_starts(s, buf_str(&m->raw));
		s = accum_add_text(m, &m->raw, s);
		if (!more && s.n > 0) {
			m->filter = (struct reasoning_filter){ 0 };
			buf_reset(&m->text);
			buf_reset(&m->reasoning);
			from = 0;
		}
	}
	reasoning_filter_feed(&m->filter, s, &m->text, &m->reasoning);
	if (m->text.n <= from)
		return (struct str){ "", 0 };
	return (struct str){ m->text.p + from, m->text.n - from };
}

static enum rc
accum_texts_rc(const struct accum *m)
{
	return m->text.over || m->reasoning.over || m->raw.over ? RC_TOOBIG
								: RC_OK;
}

enum rc
accum_text(struct accum *m, struct str s, struct str *delta)
{
	if (m->strip_think)
		*delta = accum_add_filtered(m, s);
	else
		*delta = accum_add_text(m, &m->text, s);
	return accum_texts_rc(m);
}

void
accum_flush(struct accum *m, struct str *delta)
{
	size_t from = m->text.n;

	*delta = (struct str){ "", 0 };
	if (!m->strip_think)
		return;
	reasoning_filter_end(&m->filter, &m->text, &m->reasoning);
	if (m->text.n > from)
		*delta = (struct str){ m->text.p + from, m->text.n - from };
}

enum rc
accum_reasoning(struct accum *m, const char *name, struct str s)
{
	if (s.n > 0)
		m->reasoning_name = name;
	(void)accum_add_text(m, &m->reasoning, s);
	return accum_texts_rc(m);
}

void
accum_finish(struct accum *m, struct str s)
{
	if (s.n > 0)
		str_copy(s, m->finish, sizeof(m->finish));
}

/* Some say "stop" with calls, or "tool_calls" without any. */
static enum llm_finish
accum_finish_reason(const struct accum *m)
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

/* Whether the i-th call has no unique id. */
static bool
accum_lacks_id(const struct accum *m, size_t i)
{
	struct str id = buf_str(&m->slots[i].id);

	for (size_t k = 0; k < i; k++)
		if (str_eq(buf_str(&m->slots[k].id), id))
			return true;
	return id.n == 0;
}

static void
accum_fix_id(struct accum *m, size_t i, struct str turn)
{
	struct buf *id = &m->slots[i].id;

	if (turn.n > ACCUM_TURN_MAX)
		turn.n = ACCUM_TURN_MAX;
	for (size_t n = i; accum_lacks_id(m, i); n += LLM_CALLS_MAX) {
		buf_reset(id);
		buf_printf(id, "call_%.*s_%zu", STR_ARG(turn), n);
	}
}

/* A call without arguments is valid unless the response was truncated. */
static struct llm_tool_call
accum_call_result(struct accum_slot *s, bool truncated)
{
	bool bare = s->arguments.n == 0;

	if (bare)
		buf_puts(&s->arguments, "{}");
	return (struct llm_tool_call){ .id = buf_str(&s->id),
		.name = buf_str(&s->name),
		.arguments = buf_str(&s->arguments),
		.valid = s->name.n > 0 && !(bare && truncated) &&
		    wire_is_object(buf_str(&s->arguments)) };
}

/* The reasoning is stored with the first call. */
static struct str
accum_call_extra(
    const struct accum *m, size_t i, struct str by, struct arena *a)
{
	struct call_extra x = { .by = by,
		.members = buf_str(&m->slots[i].members) };

	if (i == 0) {
		if (!m->no_echo)
			x.name = str_of(m->reasoning_name);
		x.reasoning = buf_str(&m->reasoning);
		x.blocks = buf_str(&m->blocks);
	}
	return call_extra_write(&x, a);
}

enum rc
accum_end(struct accum *m, struct str turn, struct str by, struct arena *a,
    struct llm_result *out)
{
	struct llm_tool_call *calls =
	    arena_alloc(a, m->nslots * sizeof(*calls));
	enum llm_finish finish = accum_finish_reason(m);
	bool truncated =
	    finish == LLM_FINISH_NONE || finish == LLM_FINISH_LENGTH;
	struct str rest;

	if (calls == NULL)
		return RC_TOOBIG;
	accum_flush(m, &rest);
	for (size_t i = 0; i < m->nslots; i++) {
		accum_fix_id(m, i, turn);
		calls[i] = accum_call_result(&m->slots[i], truncated);
		calls[i].extra = accum_call_extra(m, i, by, a);
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
