/*
 * Copying a provider's reply.
 */
#include "tools/tool_list.h"

#include <stdlib.h>

#include "core/arena.h"
#include "core/mem.h"
#include "tools/provided.h"

struct tool_list {
	struct arena *a; /* of all strings and arrays */
	struct tool *tools;
	struct turn_provided *provided; /* one a tool */
	size_t n;
	struct tool_list_rest *rests;
	size_t n_rests;
	struct str *notes;
	size_t n_notes;
	size_t refs;
};

static bool
list_copy(struct arena *a, struct str from, struct str *to)
{
	*to = from.p != NULL ? arena_str(a, from) : (struct str){ 0 };
	return from.p == NULL || to->p != NULL;
}

static bool
list_has(const struct tool_list *l, struct str name)
{
	for (size_t i = 0; i < l->n; i++) {
		if (str_eq(l->tools[i].name, name))
			return true;
	}
	return false;
}

static enum rc
list_add_tool(struct tool_list *l, const struct wire_tool_definition *d,
    struct str provider)
{
	struct turn_provided *p = &l->provided[l->n];
	struct tool *t = &l->tools[l->n];

	*p = (struct turn_provided){ .provider = provider,
		.timeout_s = d->timeout_s };
	if (!list_copy(l->a, d->server, &p->server) ||
	    !list_copy(l->a, d->tool, &p->tool) ||
	    !list_copy(l->a, d->definition, &p->definition))
		return RC_TOOBIG;
	enum rc rc = tool_from_definition(d, l->a, t);
	if (rc != RC_OK)
		return rc;
	t->provided = p;
	l->n++;
	return RC_OK;
}

static enum rc
list_add_rest(
    struct tool_list *l, const struct wire_tool_list_reply_left_out *from)
{
	struct tool_list_rest *to = &l->rests[l->n_rests];
	struct str *names =
	    arena_alloc(l->a, (from->n_names + 1) * sizeof(*names));

	if (names == NULL || !list_copy(l->a, from->server, &to->server))
		return RC_TOOBIG;
	for (size_t i = 0; i < from->n_names; i++) {
		if (!list_copy(l->a, from->names[i], &names[i]))
			return RC_TOOBIG;
	}
	to->names = names;
	to->n = from->n_names;
	to->more = (size_t)from->more;
	if (to->n + to->more > 0)
		l->n_rests++;
	return RC_OK;
}

static enum rc
list_fill(struct tool_list *l, const struct wire_tool_list_reply *m,
    struct str provider)
{
	enum rc rc = RC_OK;

	l->tools = arena_alloc(l->a, (m->n_tools + 1) * sizeof(*l->tools));
	l->provided =
	    arena_alloc(l->a, (m->n_tools + 1) * sizeof(*l->provided));
	l->rests = arena_alloc(l->a, (m->n_left_out + 1) * sizeof(*l->rests));
	l->notes = arena_alloc(l->a, (m->n_notes + 1) * sizeof(*l->notes));
	if (l->tools == NULL || l->provided == NULL || l->rests == NULL ||
	    l->notes == NULL || !list_copy(l->a, provider, &provider))
		return RC_TOOBIG;
	for (size_t i = 0; rc == RC_OK && i < m->n_tools; i++) {
		if (!list_has(l, m->tools[i].name))
			rc = list_add_tool(l, &m->tools[i], provider);
	}
	for (size_t i = 0; rc == RC_OK && i < m->n_left_out; i++)
		rc = list_add_rest(l, &m->left_out[i]);
	for (size_t i = 0; rc == RC_OK && i < m->n_notes; i++) {
		if (!list_copy(l->a, m->notes[i], &l->notes[l->n_notes++]))
			rc = RC_TOOBIG;
	}
	return rc;
}

enum rc
tool_list_new(const struct wire_tool_list_reply *m, struct str provider,
    struct tool_list **out)
{
	struct tool_list *l = mem_zalloc(sizeof(*l));

	l->refs = 1;
	l->a = arena_new(TOOL_LIST_BYTES_MAX);
	enum rc rc = list_fill(l, m, provider);
	if (rc == RC_OK)
		*out = l;
	else
		tool_list_free(l);
	return rc;
}

struct tool_list *
tool_list_ref(struct tool_list *l)
{
	l->refs++;
	return l;
}

void
tool_list_free(struct tool_list *l)
{
	if (l == NULL || --l->refs > 0)
		return;
	for (size_t i = 0; i < l->n; i++)
		tool_release(&l->tools[i]);
	arena_free(l->a);
	free(l);
}

size_t
tool_list_bytes(const struct tool_list *l)
{
	return arena_used(l->a) + sizeof(*l);
}

size_t
tool_list_n(const struct tool_list *l)
{
	return l->n;
}

struct tool *
tool_list_at(struct tool_list *l, size_t i)
{
	return i < l->n ? &l->tools[i] : NULL;
}

const struct tool_list_rest *
tool_list_rests(const struct tool_list *l, size_t *n)
{
	*n = l->n_rests;
	return l->rests;
}

const struct str *
tool_list_notes(const struct tool_list *l, size_t *n)
{
	*n = l->n_notes;
	return l->notes;
}
