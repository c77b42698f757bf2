/*
 * tool_list: the tools that a provider has listed.
 *
 * Pure.  A list is reference-counted and owns its strings.  One thread.
 */
#ifndef LLM_ORCHESTRATOR_TOOL_LIST_H
#define LLM_ORCHESTRATOR_TOOL_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"
#include "tools/tool_catalog.h"
#include "wire/msgs.h"

struct tool_list;

/* The tools of a server that are not listed. */
struct tool_list_rest {
	struct str server;
	const struct str *names;
	size_t n;
	size_t more; /* without a name here */
};

/*
 * tool_list_new(m, provider, out):
 * The tools of a reply, which is copied.  Of two tools with one name the first
 * counts; a schema that is of no object is replaced by that of any.  RC_TOOBIG
 * over TOOL_LIST_BYTES_MAX.
 */
#define TOOL_LIST_BYTES_MAX ((size_t)2 * 1024 * 1024)
enum rc tool_list_new(const struct wire_tool_list_reply *m, struct str provider,
    struct tool_list **out) RC_CHECK;

/* tool_list_ref(l), tool_list_free(l): As tool_catalog_ref(). */
struct tool_list *tool_list_ref(struct tool_list *l);
void tool_list_free(struct tool_list *l);

/* tool_list_bytes(l): What it takes of memory, about. */
size_t tool_list_bytes(const struct tool_list *l);

/* tool_list_n(l), tool_list_at(l, i): The tools, in order. */
size_t tool_list_n(const struct tool_list *l);
struct tool *tool_list_at(struct tool_list *l, size_t i);

/* tool_list_rests(l, n): What is not listed; *n is 0 if nothing is. */
const struct tool_list_rest *tool_list_rests(
    const struct tool_list *l, size_t *n);

/* tool_list_notes(l, n): Lines for the model. */
const struct str *tool_list_notes(const struct tool_list *l, size_t *n);

#endif /* !LLM_ORCHESTRATOR_TOOL_LIST_H */
