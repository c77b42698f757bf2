/*
 * toolbox: the tools of several servers together, as a model gets them: their
 * names, texts and definitions, and an index to search them.
 *
 * Built once for servers and their lists, and shared by all turns that have the
 * same ones.
 */
#ifndef TOOLBOX_H
#define TOOLBOX_H

#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "tool/tool_digest.h"
#include "tool_name.h"
#include "tool_rank.h"

struct catalogue;
struct catalogue_tool;
struct tool_server;

/* Bytes of a description and of a title for a model. */
#define TOOLBOX_DESCRIPTION_MAX 1024
#define TOOLBOX_TITLE_MAX       256
/* Servers of a toolbox, and tools of all. */
#define TOOLBOX_SERVERS_MAX 320
#define TOOLBOX_TOOLS_MAX   20000

struct toolbox_tool {
	struct tool_server *server;
	const struct catalogue_tool *tool;
	struct str name;  /* model-facing; empty: it cannot be offered */
	struct str title; /* absent: none */
	struct str description;
	char definition[TOOL_DIGEST_MAX];
};

struct toolbox {
	size_t refs;
	struct toolbox_tool *tools; /* sorted by server, then name */
	size_t n;
	struct tool_names *names;
	struct tool_rank *rank;
	struct tool_server *servers[TOOLBOX_SERVERS_MAX];
	struct catalogue *catalogues[TOOLBOX_SERVERS_MAX];
	size_t n_servers;
	struct arena *arena;
};

/* The servers of a user, and their tools. */
struct user_tools {
	struct tool_server *servers[TOOLBOX_SERVERS_MAX];
	size_t n;
	struct toolbox *box;
};

/*
 * toolbox_new(servers, n): Of those that have a list; with one reference.
 * toolbox_ref(b), toolbox_unref(b): NULL is allowed.
 */
struct toolbox *toolbox_new(struct tool_server *const *servers, size_t n);
struct toolbox *toolbox_ref(struct toolbox *b);
void toolbox_unref(struct toolbox *b);

/*
 * toolbox_key(servers, n, dst): What identifies a toolbox of these, now.
 * toolbox_find(b, name): The tool that a model means; NULL: there is none.
 * toolbox_tool_is_in(t, c): Whether c lists it with the same definition.
 */
void toolbox_key(
    struct tool_server *const *servers, size_t n, char dst[TOOL_DIGEST_MAX]);
const struct toolbox_tool *toolbox_find(
    const struct toolbox *b, struct str name);
bool toolbox_tool_is_in(
    const struct toolbox_tool *t, const struct catalogue *c);

#endif /* !TOOLBOX_H */
