/*
 * The cache drops lists one by one: those of a provider whose revision has
 * changed when they are next read, those of a user at once.
 */
#include "tools/provider_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/buf.h"
#include "core/id.h"
#include "core/map.h"
#include "core/mem.h"
#include "tools/tool_list.h"

/* Longest key of the cache, in bytes. */
#define KEY_MAX (2 * (ID_MAX + 1) + STR_NUM_MAX)

struct provider_entry {
	TAILQ_ENTRY(provider_entry) link;
	struct str key; /* owned */
	char user[ID_MAX + 1];
	uint64_t mark;
	struct mono until;
	struct tool_list *list;
	size_t bytes;
};

struct provider {
	char name[PROVIDER_NAME_MAX + 1];
	char revision[ID_MAX + 1]; /* "": it never was present */
	struct mono until;         /* it is present */
	uint64_t mark;
};

struct provider_table {
	struct provider list[PROVIDERS_MAX];
	size_t n;
	TAILQ_HEAD(provider_entries, provider_entry)
	used; /* most recent first */
	struct map *by_key;
	size_t bytes, max_bytes;
	uint64_t user_mark;
};

/* ---- names ---- */

static bool
provider_name_valid(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-')
			return false;
	}
	/* soul.tool.present.<provider> has the form of another subject. */
	return s.n > 0 && s.n <= PROVIDER_NAME_MAX &&
	    !str_eq(s, STR("present"));
}

const char *
provider_names_error(struct str names)
{
	struct str seen[PROVIDERS_MAX];
	size_t n = 0;

	while (names.n > 0) {
		struct str one = str_trim(str_split(&names, ','));
		if (!provider_name_valid(one))
			return "expected names of a-z, 0-9 and -, separated "
			       "by commas";
		for (size_t i = 0; i < n; i++) {
			if (str_eq(seen[i], one))
				return "names a provider twice";
		}
		if (n == PROVIDERS_MAX)
			return "names more than 8 providers";
		seen[n++] = one;
	}
	return NULL;
}

struct provider_table *
provider_table_new(struct str names, size_t max_bytes)
{
	struct provider_table *t = mem_zalloc(sizeof(*t));

	TAILQ_INIT(&t->used);
	t->by_key = map_new();
	t->max_bytes = max_bytes;
	while (names.n > 0 && t->n < PROVIDERS_MAX)
		str_copy(str_trim(str_split(&names, ',')), t->list[t->n++].name,
		    sizeof(t->list[0].name));
	return t;
}

size_t
provider_table_n(const struct provider_table *t)
{
	return t->n;
}

struct str
provider_table_name(const struct provider_table *t, size_t i)
{
	return str_of(t->list[i].name);
}

/* ---- presence ---- */

bool
provider_table_is_present(
    const struct provider_table *t, size_t i, struct mono now)
{
	return t->list[i].revision[0] != '\0' &&
	    mono_diff_ns(t->list[i].until, now) > 0;
}

bool
provider_table_any(const struct provider_table *t, struct mono now)
{
	for (size_t i = 0; i < t->n; i++) {
		if (provider_table_is_present(t, i, now))
			return true;
	}
	return false;
}

uint64_t
provider_table_mark(const struct provider_table *t, size_t i)
{
	return t->list[i].mark + t->user_mark;
}

/* ---- cache ---- */

/* Ids have no control characters; absent: one is no id. */
static struct str
provider_key(const struct provider_user *k, char dst[KEY_MAX])
{
	size_t n;

	if (k->user_id.n > ID_MAX || k->soul_id.n > ID_MAX)
		return (struct str){ 0 };
	n = (size_t)snprintf(dst, KEY_MAX, "%zu\n%.*s\n%.*s", k->provider,
	    STR_ARG(k->user_id), STR_ARG(k->soul_id));
	return (struct str){ dst, n };
}

static void
provider_entry_drop(struct provider_table *t, struct provider_entry *e)
{
	TAILQ_REMOVE(&t->used, e, link);
	map_del(t->by_key, e->key);
	t->bytes -= e->bytes;
	tool_list_free(e->list);
	free((char *)(uintptr_t)e->key.p);
	free(e);
}

void
provider_table_free(struct provider_table *t)
{
	struct provider_entry *e;

	if (t == NULL)
		return;
	while ((e = TAILQ_FIRST(&t->used)) != NULL)
		provider_entry_drop(t, e);
	map_free(t->by_key);
	free(t);
}

/* A user decides of tools of all providers by way of one. */
static void
provider_drop_user(struct provider_table *t, struct str user)
{
	struct provider_entry *e, *next;

	for (e = TAILQ_FIRST(&t->used); e != NULL; e = next) {
		next = TAILQ_NEXT(e, link);
		if (str_eq(str_of(e->user), user))
			provider_entry_drop(t, e);
	}
}

void
provider_table_announce(struct provider_table *t,
    const struct wire_tool_present *m, struct mono now)
{
	size_t i = 0;

	while (i < t->n && !str_eq(str_of(t->list[i].name), m->provider))
		i++;
	if (i == t->n)
		return;
	struct provider *p = &t->list[i];
	if (!str_eq(str_of(p->revision), m->revision)) {
		str_copy(m->revision, p->revision, sizeof(p->revision));
		p->mark++;
	}
	p->until = mono_add_ms(now, PROVIDER_PRESENT_MS);
	if (m->user_id.n > 0) {
		t->user_mark++;
		provider_drop_user(t, m->user_id);
	}
}

struct tool_list *
provider_table_get(
    struct provider_table *t, const struct provider_user *k, struct mono now)
{
	char text[KEY_MAX];
	struct str key = provider_key(k, text);
	struct provider_entry *e =
	    key.p != NULL ? map_get(t->by_key, key) : NULL;

	if (e == NULL)
		return NULL;
	if (e->mark != t->list[k->provider].mark ||
	    mono_diff_ns(e->until, now) <= 0) {
		provider_entry_drop(t, e);
		return NULL;
	}
	TAILQ_REMOVE(&t->used, e, link);
	TAILQ_INSERT_HEAD(&t->used, e, link);
	return tool_list_ref(e->list);
}

void
provider_table_drop(struct provider_table *t, const struct provider_user *k)
{
	char text[KEY_MAX];
	struct str key = provider_key(k, text);
	struct provider_entry *e =
	    key.p != NULL ? map_get(t->by_key, key) : NULL;

	if (e != NULL)
		provider_entry_drop(t, e);
}

void
provider_table_put(struct provider_table *t, const struct provider_user *k,
    struct tool_list *l, uint64_t mark, struct mono now)
{
	char text[KEY_MAX];
	struct str key = provider_key(k, text);
	struct provider_entry *e;
	size_t rests;

	(void)tool_list_rests(l, &rests);
	if (key.p == NULL || rests > 0 ||
	    mark != provider_table_mark(t, k->provider))
		return;
	provider_table_drop(t, k);
	e = mem_zalloc(sizeof(*e));
	e->key = (struct str){ str_dup(key), key.n };
	str_copy(k->user_id, e->user, sizeof(e->user));
	e->mark = t->list[k->provider].mark;
	e->until = mono_add_ms(now, PROVIDER_LIST_MS);
	e->list = tool_list_ref(l);
	e->bytes = tool_list_bytes(l) + sizeof(*e) + key.n;
	/* The map copies the key. */
	map_put(t->by_key, e->key, e);
	TAILQ_INSERT_HEAD(&t->used, e, link);
	t->bytes += e->bytes;
	while (t->bytes > t->max_bytes && TAILQ_NEXT(e, link) != NULL)
		provider_entry_drop(t, TAILQ_LAST(&t->used, provider_entries));
}
