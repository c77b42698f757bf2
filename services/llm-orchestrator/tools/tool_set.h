/*
 * tool_set: the providers' tools that one turn shows the model, chosen from
 * their lists, and the names of the others.
 *
 * Pure.  A set has references to its lists.  Owned by the turn.
 */
#ifndef LLM_ORCHESTRATOR_TOOL_SET_H
#define LLM_ORCHESTRATOR_TOOL_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/str.h"
#include "tools/tool_catalog.h"
#include "tools/tool_list.h"

/* Tools that are shown at once. */
#define TOOL_SET_MAX 24
/* Bytes of their names, descriptions and schemas in all. */
#define TOOL_SET_BYTES_MAX ((size_t)16 * 1024)
/* Lists of a turn: of each provider, and of each search for more. */
#define TOOL_SET_LISTS_MAX 64
/* Longest text about tools that are not shown, in bytes. */
#define TOOL_SET_REST_MAX ((size_t)8 * 1024)

struct tool_set {
	struct tool *tools[TOOL_SET_MAX];
	size_t n;
	struct tool_list *lists[TOOL_SET_LISTS_MAX];
	size_t n_lists;
	size_t n_found; /* the first so many lists are what was searched for */
};

/*
 * tool_set_add(s, l, found):
 * Add a list, of which the set takes a reference; found: the model searched for
 * it, so its tools come first.  Of too many lists the last ones are ignored.
 * tool_set_has_room(s, n): Whether there is room for n more lists.
 * tool_set_clear(s):       Drop all references.
 */
void tool_set_add(struct tool_set *s, struct tool_list *l, bool found);
bool tool_set_has_room(const struct tool_set *s, size_t n);
void tool_set_clear(struct tool_set *s);

/*
 * tool_set_choose(s, body, query):
 * Choose from the lists: the tools that the last search names, what was
 * searched for, then lists that are complete, then the others, each in its
 * order.  A tool with a name of the body's or of one chosen before is left out.
 * Whether some tools are not shown.
 */
bool tool_set_choose(
    struct tool_set *s, struct tool_catalog *body, struct str query);

/*
 * tool_set_by_name(s, body, name):
 * The tool that the model means, or NULL: that of this name, the body's first,
 * whether it is shown or listed only; else the only one that is shown whose
 * name at its server is name, or <server>_<name>.
 */
struct tool *tool_set_by_name(
    struct tool_set *s, struct tool_catalog *body, struct str name);

/*
 * tool_set_put_rest(s, body, b):
 * Append a line for each server with the names of tools that are not shown and
 * can be searched for.
 * tool_set_put_notes(s, b): Append the lists' notes, one a line.
 * Each TOOL_SET_REST_MAX bytes at most; nothing if there are none.
 */
void tool_set_put_rest(
    const struct tool_set *s, struct tool_catalog *body, struct buf *b);
void tool_set_put_notes(const struct tool_set *s, struct buf *b);

/*
 * tool_set_put_found(s, n, query, b):
 * Append the names, as a JSON array, of those tools of the last search, which
 * found the first n lists, that are shown.
 */
void tool_set_put_found(
    const struct tool_set *s, size_t n, struct str query, struct buf *b);

#endif /* !LLM_ORCHESTRATOR_TOOL_SET_H */
