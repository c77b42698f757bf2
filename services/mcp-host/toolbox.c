#include "toolbox.h"

#include <stdlib.h>
#include <string.h>

#include "catalogue.h"
#include "clean_text.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "mcp_config.h"
#include "tool_server.h"

#define ARENA_MAX (64UL * 1024 * 1024)

/* By its bare name, as the operator has listed it. */
static bool
toolbox_has(const char *const *list, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(name, str_of(list[i])))
			return true;
	return false;
}

static bool
toolbox_wants(const struct mcp_server *s, struct str name)
{
	if (s->n_include > 0 && !toolbox_has(s->include, s->n_include, name))
		return false;
	return !toolbox_has(s->exclude, s->n_exclude, name);
}

static struct str
toolbox_text(struct toolbox *b, struct str s, size_t max)
{
	struct buf line = BUF_INIT(max);
	struct str copy = { NULL, 0 };

	clean_text_line(s, max, &line);
	if (line.n > 0)
		copy = arena_str(b->arena, buf_str(&line));
	buf_free(&line);
	return copy;
}

static void
toolbox_add(
    struct toolbox *b, struct tool_server *s, const struct catalogue_tool *t)
{
	struct toolbox_tool *out = &b->tools[b->n];
	const struct tool_definition d = { t->name, t->description, t->schema };

	*out = (struct toolbox_tool){ .server = s, .tool = t };
	if (tool_definition_digest(&d, out->definition) != RC_OK)
		return;
	out->title = toolbox_text(b, t->title, TOOLBOX_TITLE_MAX);
	out->description =
	    toolbox_text(b, t->description, TOOLBOX_DESCRIPTION_MAX);
	b->n++;
}

static void
toolbox_collect(struct toolbox *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_servers; i++)
		n += catalogue_n(b->catalogues[i]);
	if (n > TOOLBOX_TOOLS_MAX)
		n = TOOLBOX_TOOLS_MAX;
	b->tools = mem_calloc(n + 1, sizeof(*b->tools));
	for (size_t i = 0; i < b->n_servers; i++)
		for (size_t k = 0; k < catalogue_n(b->catalogues[i]); k++) {
			const struct catalogue_tool *t =
			    catalogue_at(b->catalogues[i], k);

			if (b->n < n &&
			    toolbox_wants(b->servers[i]->conf, t->name))
				toolbox_add(b, b->servers[i], t);
		}
}

static void
toolbox_index(struct toolbox *b)
{
	struct tool_origin *origins = mem_calloc(b->n + 1, sizeof(*origins));
	struct tool_rank_text *texts = mem_calloc(b->n + 1, sizeof(*texts));

	for (size_t i = 0; i < b->n; i++) {
		origins[i] = (struct tool_origin){
			arena_str(
			    b->arena, str_of(b->tools[i].server->conf->name)),
			b->tools[i].tool->name
		};
		texts[i] = (struct tool_rank_text){ b->tools[i].tool->name,
			b->tools[i].title, b->tools[i].description };
	}
	b->names = tool_names_new(origins, b->n);
	b->rank = tool_rank_new(texts, b->n);
	for (size_t i = 0; i < b->n; i++)
		b->tools[i].name = tool_names_at(b->names, i);
	free(origins);
	free(texts);
}

struct toolbox *
toolbox_new(struct tool_server *const *servers, size_t n)
{
	struct toolbox *b = mem_zalloc(sizeof(*b));

	b->refs = 1;
	b->arena = arena_new(ARENA_MAX);
	for (size_t i = 0; i < n && b->n_servers < TOOLBOX_SERVERS_MAX; i++) {
		if (servers[i]->tools == NULL)
			continue;
		b->servers[b->n_servers] = tool_server_ref(servers[i]);
		b->catalogues[b->n_servers++] =
		    catalogue_ref(servers[i]->tools);
	}
	toolbox_collect(b);
	toolbox_index(b);
	return b;
}

struct toolbox *
toolbox_ref(struct toolbox *b)
{
	if (b != NULL)
		b->refs++;
	return b;
}

void
toolbox_unref(struct toolbox *b)
{
	if (b == NULL || --b->refs > 0)
		return;
	tool_names_free(b->names);
	tool_rank_free(b->rank);
	for (size_t i = 0; i < b->n_servers; i++) {
		tool_server_unref(b->servers[i]);
		catalogue_unref(b->catalogues[i]);
	}
	arena_free(b->arena);
	free(b->tools);
	free(b);
}

void
toolbox_key(
    struct tool_server *const *servers, size_t n, char dst[TOOL_DIGEST_MAX])
{
	struct str *parts = mem_calloc(2 * n + 1, sizeof(*parts));
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (servers[i]->tools == NULL)
			continue;
		parts[k++] = str_of(servers[i]->key);
		parts[k++] = str_of(catalogue_digest(servers[i]->tools));
	}
	tool_digest(parts, k, dst);
	free(parts);
}

const struct toolbox_tool *
toolbox_find(const struct toolbox *b, struct str name)
{
	size_t at = tool_names_find(b->names, name);

	return at != TOOL_NAMES_NONE ? &b->tools[at] : NULL;
}

bool
toolbox_tool_is_in(const struct toolbox_tool *t, const struct catalogue *c)
{
	const struct catalogue_tool *now = catalogue_find(c, t->tool->name);
	struct tool_definition d;
	char definition[TOOL_DIGEST_MAX];

	if (now == NULL)
		return false;
	/* Most lists are the same text. */
	if (str_eq(now->description, t->tool->description) &&
	    str_eq(now->schema, t->tool->schema))
		return true;
	d = (struct tool_definition){ now->name, now->description,
		now->schema };
	return tool_definition_digest(&d, definition) == RC_OK &&
	    strcmp(definition, t->definition) == 0;
}
