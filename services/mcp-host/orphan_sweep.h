/*
 * orphan_sweep: ends the processes of MCP servers whose mcp-host was killed
 * together with their shim: nothing else would.
 *
 * Processes are found by their mark, which names the process that started them,
 * in its namespace of process ids.  Those of an mcp-host that runs are left
 * alone, whatever its configuration.
 */
#ifndef ORPHAN_SWEEP_H
#define ORPHAN_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

struct loop;
struct orphan_sweep;

/* Bytes of what marks begin with, and a NUL. */
#define ORPHAN_MARK_MAX 96

/* orphan_mark(dst): What the marks of this process' servers begin with. */
void orphan_mark(char dst[ORPHAN_MARK_MAX]);

/*
 * orphan_mark_is_dead(mark): Whether it is the mark of a server whose mcp-host,
 * of this namespace, does not run any more.
 */
bool orphan_mark_is_dead(struct str mark);

/*
 * orphan_sweep_new(l, done, arg):
 * Find orphans; those that a shim is about to end get the time for it, then
 * they are killed.  done(arg) comes when none is left, or after 20 s at most;
 * the sweep is freed on return.
 * orphan_sweep_has_found(s): Whether there are any, as far as is known.
 * orphan_sweep_free(s): Without a callback.  NULL is allowed.
 */
struct orphan_sweep *orphan_sweep_new(
    struct loop *l, void (*done)(void *arg), void *arg);
bool orphan_sweep_has_found(const struct orphan_sweep *s);
void orphan_sweep_free(struct orphan_sweep *s);

#endif /* !ORPHAN_SWEEP_H */
