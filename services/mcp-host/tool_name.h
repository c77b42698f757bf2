/*
 * tool_name: the model-facing names of tools, and the way back to their
 * servers.
 *
 * A name is "<server>__<tool>" with every byte that language models do not
 * accept as '_'.  Where that is too long, or several tools would have it, each
 * of them has a digest at the end.  So names depend on the list, not on its
 * order, but for two tools with the same digest: the later one has no name.
 * A call is dispatched by the list alone, never by taking a name apart.
 *
 * Pure; one owner.
 */
#ifndef TOOL_NAME_H
#define TOOL_NAME_H

#include <stddef.h>

#include "core/str.h"

/* Longest model-facing name, without its NUL. */
#define TOOL_NAME_MAX 64

/* A tool as its server knows it. */
struct tool_origin {
	struct str server, tool;
};

struct tool_names;

/*
 * tool_names_new(list, n):
 * The names of n (< 2^31) tools.  The texts must outlive it.  A tool that is in
 * the list a second time has no name there.
 *
 * tool_names_free(t): NULL is allowed.
 */
struct tool_names *tool_names_new(const struct tool_origin *list, size_t n);
void tool_names_free(struct tool_names *t);

/* tool_names_at(t, i): The name of the i-th tool, in t; empty: it has none. */
struct str tool_names_at(const struct tool_names *t, size_t i);

/* What tool_names_find() returns if there is no tool, or several. */
#define TOOL_NAMES_NONE ((size_t)-1)

/*
 * tool_names_find(t, name):
 * The position of the tool with that name; or of the only one of which name is
 * its own name, or "<server>_<tool>", as models also write it.
 */
size_t tool_names_find(const struct tool_names *t, struct str name);

#endif /* !TOOL_NAME_H */
