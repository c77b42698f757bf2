#include "tool_name.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "core/mem.h"
#include "tool/tool_digest.h"

/* Of a name with a digest: what precedes it, and the digits of it. */
#define NAME_HEAD   55
#define NAME_DIGITS 8

_Static_assert(NAME_HEAD + 1 + NAME_DIGITS == TOOL_NAME_MAX, "a name's parts");

struct tool_name {
	char text[TOOL_NAME_MAX + 1];
	unsigned char n;
};

struct tool_names {
	struct tool_origin *list;
	struct tool_name *name;
	size_t n;
	struct map *by_name; /* position + 1 */
	/* Names without a digest and other forms: position + 1, or several. */
	struct map *by_alias;
};

/* The value of a form that several tools have. */
#define NAME_AMBIGUOUS UINTPTR_MAX

/* ---- the forms of a name ---- */

/* As much of s as a name can have, in the alphabet of names. */
static size_t
name_put(char dst[TOOL_NAME_MAX + 1], size_t at, struct str s)
{
	size_t i;
	char c;

	for (i = 0; i < s.n && at + i < TOOL_NAME_MAX; i++) {
		c = s.p[i];
		dst[at + i] = (c >= 'a' && c <= 'z') ||
			(c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			c == '-'
		    ? c
		    : '_';
	}
	dst[at + i] = '\0';
	return at + i;
}

/* "<server><sep><tool>", cut; whether it was too long. */
static bool
name_join(const struct tool_origin *o, struct str sep, struct tool_name *out)
{
	size_t n = name_put(out->text, 0, o->server);

	n = name_put(out->text, n, sep);
	n = name_put(out->text, n, o->tool);
	out->n = (unsigned char)n;
	return o->server.n + sep.n + o->tool.n > TOOL_NAME_MAX;
}

static void
name_add_digest(const struct tool_origin *o, struct tool_name *name)
{
	const struct str parts[] = { o->server, o->tool };
	char digest[TOOL_DIGEST_MAX];
	size_t n = name->n < NAME_HEAD ? name->n : NAME_HEAD;

	tool_digest(parts, NELEM(parts), digest);
	name->text[n] = '_';
	memcpy(name->text + n + 1, digest, NAME_DIGITS);
	name->text[n + 1 + NAME_DIGITS] = '\0';
	name->n = (unsigned char)(n + 1 + NAME_DIGITS);
}

static struct str
name_str(const struct tool_name *name)
{
	return (struct str){ name->text, name->n };
}

/* ---- the list ---- */

static uintptr_t
names_get(const struct map *m, struct str name)
{
	return (uintptr_t)map_get(m, name);
}

/* The form stands for the i-th tool, unless it does for another. */
static void
names_add_form(struct map *m, struct str form, size_t i)
{
	uintptr_t v = names_get(m, form);

	if (form.n == 0 || v == i + 1)
		return;
	(void)map_put(m, form,
	    v == 0 ? (void *)(uintptr_t)(i + 1) : (void *)NAME_AMBIGUOUS);
}

static void
names_add_forms(struct tool_names *t, size_t i)
{
	const struct tool_origin *o = &t->list[i];
	struct tool_name form;

	names_add_form(t->by_alias, o->tool, i);
	form.n = (unsigned char)name_put(form.text, 0, o->tool);
	if (o->tool.n <= TOOL_NAME_MAX)
		names_add_form(t->by_alias, name_str(&form), i);
	if (!name_join(o, STR("_"), &form))
		names_add_form(t->by_alias, name_str(&form), i);
}

/* Of names that are too long, and those that several tools have. */
static void
names_add_digests(struct tool_names *t)
{
	struct map *plain = map_new();
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->name[i].n > 0)
			names_add_form(plain, name_str(&t->name[i]), i);
	for (i = 0; i < t->n; i++) {
		struct str name = name_str(&t->name[i]);
		bool clash = names_get(plain, name) == NAME_AMBIGUOUS;

		if (name.n == 0)
			continue;
		/* No other form may stand for what several tools have. */
		if (clash)
			(void)map_put(
			    t->by_alias, name, (void *)NAME_AMBIGUOUS);
		if (clash ||
		    t->list[i].server.n + 2 + t->list[i].tool.n > TOOL_NAME_MAX)
			name_add_digest(&t->list[i], &t->name[i]);
	}
	map_free(plain);
}

/* Names of tools that are in the list for the second time are emptied. */
static void
names_drop_repeated(struct tool_names *t)
{
	struct map *seen = map_new();
	char digest[TOOL_DIGEST_MAX];
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct str parts[] = { t->list[i].server,
			t->list[i].tool };

		tool_digest(parts, NELEM(parts), digest);
		if (map_put(seen, str_of(digest), t) != NULL)
			t->name[i].n = 0;
	}
	map_free(seen);
}

struct tool_names *
tool_names_new(const struct tool_origin *list, size_t n)
{
	struct tool_names *t = mem_zalloc(sizeof(*t));
	size_t i;

	t->n = n;
	t->list = mem_calloc(n + 1, sizeof(*t->list));
	if (n > 0)
		memcpy(t->list, list, n * sizeof(*list));
	t->name = mem_calloc(n + 1, sizeof(*t->name));
	t->by_name = map_new();
	t->by_alias = map_new();
	for (i = 0; i < n; i++)
		(void)name_join(&list[i], STR("__"), &t->name[i]);
	names_drop_repeated(t);
	names_add_digests(t);
	for (i = 0; i < n; i++) {
		if (t->name[i].n == 0)
			continue;
		if (names_get(t->by_name, name_str(&t->name[i])) != 0) {
			t->name[i].n = 0;
			continue;
		}
		(void)map_put(t->by_name, name_str(&t->name[i]),
		    (void *)(uintptr_t)(i + 1));
		names_add_forms(t, i);
	}
	return t;
}

void
tool_names_free(struct tool_names *t)
{
	if (t == NULL)
		return;
	map_free(t->by_name);
	map_free(t->by_alias);
	free(t->list);
	free(t->name);
	free(t);
}

struct str
tool_names_at(const struct tool_names *t, size_t i)
{
	return name_str(&t->name[i]);
}

size_t
tool_names_find(const struct tool_names *t, struct str name)
{
	uintptr_t v = names_get(t->by_name, name);

	if (v == 0)
		v = names_get(t->by_alias, name);
	return v == 0 || v == NAME_AMBIGUOUS ? TOOL_NAMES_NONE : v - 1;
}
