/*
 * toolbox: bodies' skills that were read once, found again by their content.
 *
 * A body's skills are the same in turn after turn: only the first turn reads
 * them.  Those that were used least recently make room.  One owner, one thread.
 */
#ifndef LLM_ORCHESTRATOR_TOOLBOX_H
#define LLM_ORCHESTRATOR_TOOLBOX_H

#include <stddef.h>

#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "tools.h"

struct toolbox;

/*
 * toolbox_new(max_bytes, set):
 * Keep about max_bytes of skills, but always the newest; set may be NULL.
 */
struct toolbox *toolbox_new(size_t max_bytes, struct metric_set *set);

/* toolbox_free(b): What is still held lives on.  NULL is allowed. */
void toolbox_free(struct toolbox *b);

/*
 * toolbox_get(b, skills, out):
 * The tools of a body's skills, as tools_new() reads them; the same for all who
 * ask for the same text.  Held until tools_free(); so are their texts.
 */
enum rc toolbox_get(
    struct toolbox *b, struct str skills, struct tools **out) RC_CHECK;

#endif /* !LLM_ORCHESTRATOR_TOOLBOX_H */
