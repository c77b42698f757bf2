/*
 * Choosing within the limits, and the text about the rest.
 */
#include "tools/tool_set.h"

#include <string.h>

#include "tools/provided.h"
#include "wire/out.h"

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

bool
tool_set_has_room(const struct tool_set *s, size_t n)
{
	return s->n_lists + n <= TOOL_SET_LISTS_MAX;
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

/* Whether it can be shown at all. */
static bool
set_can_show(struct tool_catalog *body, const struct tool *t)
{
	return set_bytes(t) <= TOOL_SET_BYTES_MAX &&
	    tool_catalog_by_name(body, t->name) == NULL;
}

static bool
set_is_named(const struct tool *t, struct str query)
{
	return str_find(query, t->name) >= 0;
}

struct set_choice {
	struct tool_catalog *body;
	struct str query; /* take those that it names; absent: all */
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

		if (set_find(s, t->name) != NULL || !set_can_show(c->body, t) ||
		    (c->query.p != NULL && !set_is_named(t, c->query)))
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
tool_set_choose(struct tool_set *s, struct tool_catalog *body, struct str query)
{
	struct set_choice c = { .body = body, .query = query };

	s->n = 0;
	for (size_t i = 0; query.n > 0 && i < s->n_lists; i++)
		set_take(s, s->lists[i], &c);
	c.query = (struct str){ 0 };
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

/* Listed, and not shown. */
static struct tool *
set_find_listed(
    const struct tool_set *s, struct tool_catalog *body, struct str name)
{
	for (size_t i = 0; i < s->n_lists; i++) {
		for (size_t k = 0; k < tool_list_n(s->lists[i]); k++) {
			struct tool *t = tool_list_at(s->lists[i], k);
			if (str_eq(t->name, name) && set_can_show(body, t))
				return t;
		}
	}
	return NULL;
}

struct tool *
tool_set_by_name(struct tool_set *s, struct tool_catalog *body, struct str name)
{
	struct tool *t = tool_catalog_by_name(body, name);

	if (t == NULL)
		t = set_find(s, name);
	if (t == NULL)
		t = set_find_listed(s, body, name);
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

/* A text with limited room. */
struct set_text {
	const struct tool_set *set;
	struct tool_catalog *body;
	struct buf *b;
	size_t from; /* where it begins in b */
	size_t named, unnamed;
};

static bool
set_has_room(const struct set_text *x, size_t n)
{
	return x->b->n - x->from + n + 64 <= TOOL_SET_REST_MAX;
}

/* Unless it is shown, or is never going to be. */
static void
set_put_name(struct set_text *x, struct str name)
{
	if (set_find(x->set, name) != NULL ||
	    tool_catalog_by_name(x->body, name) != NULL)
		return;
	if (!set_has_room(x, name.n)) {
		x->unnamed++;
		return;
	}
	if (x->named++ > 0)
		buf_puts(x->b, "、");
	buf_put_str(x->b, name);
}

/* How many more there are; without any tool nothing of the line is left. */
static void
set_end_line(struct set_text *x, size_t line)
{
	if (x->named + x->unnamed == 0) {
		x->b->n = line;
		return;
	}
	if (x->unnamed > 0)
		buf_printf(x->b, "……还有 %zu 个", x->unnamed);
	buf_putc(x->b, '\n');
}

/* "server：a、b……" and how many more. */
static void
set_put_server(struct set_text *x, const struct tool_list_rest *rest)
{
	size_t line = x->b->n;

	if (!set_has_room(x, rest->server.n))
		return;
	x->named = 0;
	x->unnamed = rest->more;
	buf_put_str(x->b, rest->server);
	buf_puts(x->b, "：");
	for (size_t i = 0; i < rest->n; i++)
		set_put_name(x, rest->names[i]);
	set_end_line(x, line);
}

/* Listed, but over the limits of the set. */
static void
set_put_excess(struct set_text *x, struct tool_list *l)
{
	size_t line = x->b->n;

	if (!set_has_room(x, 0))
		return;
	x->named = x->unnamed = 0;
	for (size_t i = 0; i < tool_list_n(l); i++) {
		const struct tool *t = tool_list_at(l, i);
		if (set_can_show(x->body, t))
			set_put_name(x, t->name);
	}
	set_end_line(x, line);
}

void
tool_set_put_rest(
    const struct tool_set *s, struct tool_catalog *body, struct buf *b)
{
	struct set_text x = { .set = s, .body = body, .b = b, .from = b->n };

	for (size_t i = s->n_found; i < s->n_lists; i++) {
		const struct tool_list_rest *rests;
		size_t n;

		rests = tool_list_rests(s->lists[i], &n);
		for (size_t k = 0; k < n; k++)
			set_put_server(&x, &rests[k]);
		set_put_excess(&x, s->lists[i]);
	}
}

void
tool_set_put_notes(const struct tool_set *s, struct buf *b)
{
	struct set_text x = { .set = s, .b = b, .from = b->n };

	for (size_t i = s->n_found; i < s->n_lists; i++) {
		const struct str *notes;
		size_t n;

		notes = tool_list_notes(s->lists[i], &n);
		for (size_t k = 0; k < n; k++) {
			if (!set_has_room(&x, notes[k].n))
				continue;
			buf_put_str(b, notes[k]);
			buf_putc(b, '\n');
		}
	}
}

/* ---- what was found ---- */

static bool
set_is_found(const struct tool_set *s, size_t n, const struct tool *t)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < tool_list_n(s->lists[i]); k++) {
			if (tool_list_at(s->lists[i], k) == t)
				return true;
		}
	}
	return false;
}

void
tool_set_put_found(
    const struct tool_set *s, size_t n, struct str query, struct buf *b)
{
	struct wire_out o = { .b = b };

	wire_out_array(&o);
	for (size_t i = 0; i < s->n; i++) {
		const struct tool *t = s->tools[i];
		if (set_is_found(s, n, t) || set_is_named(t, query))
			wire_out_str(&o, t->name);
	}
	wire_out_array_end(&o);
}
