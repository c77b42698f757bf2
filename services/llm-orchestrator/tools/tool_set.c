/*
 * Choosing within the limits, and the text about the rest.
 */
#include "tools/tool_set.h"

#include <string.h>

#include "tools/provided.h"

void
tool_set_add(struct tool_set *s, struct tool_list *l, bool found)
{
	size_t at = found ? 0 : s->n_lists;

	if (s->n_lists == TOOL_SET_LISTS_MAX)
		return;
	memmove(&s->lists[at + 1], &s->lists[at],
	    (s->n_lists - at) * sizeof(s->lists[0]));
	s->lists[at] = tool_list_ref(l);
	s->n_lists++;
	s->n_found += found;
}

void
tool_set_clear(struct tool_set *s)
{
	for (size_t i = 0; i < s->n_lists; i++)
		tool_list_free(s->lists[i]);
	*s = (struct tool_set){ .n = 0 };
}

/* ---- choosing ---- */

static struct tool *
set_find(const struct tool_set *s, struct str name)
{
	for (size_t i = 0; i < s->n; i++) {
		if (str_eq(s->tools[i]->name, name))
			return s->tools[i];
	}
	return NULL;
}

static size_t
set_bytes(const struct tool *t)
{
	return t->name.n + t->description.n + t->shown.n;
}

struct set_choice {
	struct tool_catalog *body;
	size_t bytes;
	bool rest; /* something is not shown */
};

static void
set_take(struct tool_set *s, struct tool_list *l, struct set_choice *c)
{
	size_t n;

	(void)tool_list_rests(l, &n);
	c->rest |= n > 0;
	for (size_t i = 0; i < tool_list_n(l); i++) {
		struct tool *t = tool_list_at(l, i);

		if (set_find(s, t->name) != NULL ||
		    tool_catalog_by_name(c->body, t->name) != NULL)
			continue;
		if (s->n == TOOL_SET_MAX ||
		    c->bytes + set_bytes(t) > TOOL_SET_BYTES_MAX) {
			c->rest = true;
			continue;
		}
		c->bytes += set_bytes(t);
		s->tools[s->n++] = t;
	}
}

static bool
set_is_complete(const struct tool_list *l)
{
	size_t n;

	(void)tool_list_rests(l, &n);
	return n == 0;
}

bool
tool_set_choose(struct tool_set *s, struct tool_catalog *body)
{
	struct set_choice c = { .body = body };

	s->n = 0;
	for (size_t i = 0; i < s->n_found; i++)
		set_take(s, s->lists[i], &c);
	for (int whole = 1; whole >= 0; whole--) {
		for (size_t i = s->n_found; i < s->n_lists; i++) {
			if (set_is_complete(s->lists[i]) == (whole == 1))
				set_take(s, s->lists[i], &c);
		}
	}
	return c.rest;
}

/* ---- names ---- */

/* Whether name is that of t at its server, or <server>_<that>. */
static bool
set_is_alias(const struct tool *t, struct str name)
{
	const struct turn_provided *p = t->provided;

	if (str_eq(name, p->tool))
		return true;
	return name.n == p->server.n + 1 + p->tool.n &&
	    memcmp(name.p, p->server.p, p->server.n) == 0 &&
	    name.p[p->server.n] == '_' &&
	    memcmp(name.p + p->server.n + 1, p->tool.p, p->tool.n) == 0;
}

struct tool *
tool_set_by_name(struct tool_set *s, struct tool_catalog *body, struct str name)
{
	struct tool *t = tool_catalog_by_name(body, name);

	if (t == NULL)
		t = set_find(s, name);
	if (t != NULL || name.n == 0)
		return t;
	for (size_t i = 0; i < s->n; i++) {
		if (!set_is_alias(s->tools[i], name))
			continue;
		if (t != NULL)
			return NULL;
		t = s->tools[i];
	}
	return t;
}

/* ---- the rest ---- */

static bool
set_has_room(const struct buf *b, size_t from, size_t n)
{
	return b->n - from + n + 64 <= TOOL_SET_REST_MAX;
}

/* "server：a、b……" and how many more. */
static void
set_put_server(const struct tool_set *s, const struct tool_list_rest *rest,
    struct buf *b, size_t from)
{
	size_t unnamed = rest->more, named = 0;

	if (!set_has_room(b, from, rest->server.n))
		return;
	buf_put_str(b, rest->server);
	buf_puts(b, "：");
	for (size_t i = 0; i < rest->n; i++) {
		if (set_find(s, rest->names[i]) != NULL)
			continue;
		if (!set_has_room(b, from, rest->names[i].n)) {
			unnamed++;
			continue;
		}
		if (named++ > 0)
			buf_puts(b, "、");
		buf_put_str(b, rest->names[i]);
	}
	if (unnamed > 0)
		buf_printf(b, "……还有 %zu 个", unnamed);
	buf_putc(b, '\n');
}

/* Listed, but over the limits of the set. */
static void
set_put_excess(
    const struct tool_set *s, struct tool_list *l, struct buf *b, size_t from)
{
	size_t named = 0;

	for (size_t i = 0; i < tool_list_n(l); i++) {
		struct str name = tool_list_at(l, i)->name;

		if (set_find(s, name) != NULL || !set_has_room(b, from, name.n))
			continue;
		if (named++ > 0)
			buf_puts(b, "、");
		buf_put_str(b, name);
	}
	if (named > 0)
		buf_putc(b, '\n');
}

void
tool_set_put_rest(const struct tool_set *s, struct buf *b)
{
	size_t from = b->n;

	for (size_t i = s->n_found; i < s->n_lists; i++) {
		const struct tool_list_rest *rests;
		const struct str *notes;
		size_t n;

		rests = tool_list_rests(s->lists[i], &n);
		for (size_t k = 0; k < n; k++)
			set_put_server(s, &rests[k], b, from);
		set_put_excess(s, s->lists[i], b, from);
		notes = tool_list_notes(s->lists[i], &n);
		for (size_t k = 0; k < n; k++) {
			if (!set_has_room(b, from, notes[k].n))
				continue;
			buf_put_str(b, notes[k]);
			buf_putc(b, '\n');
		}
	}
}
