/*
 * schema_fill: the keywords of a schema become its node.
 */
#ifndef WIRE_SCHEMA_FILL_H
#define WIRE_SCHEMA_FILL_H

#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"
#include "wire/schema_node.h"
#include "wire/schema_ref.h"

/* A schema being compiled. */
struct wire_compiler {
	struct wire_schema *s;
	struct wire_doc doc;
	struct map *nodes;       /* address of a JSON value to its node */
	struct wire_node *first; /* all nodes, in the order they were found */
	struct wire_node **last; /* where the next one goes */
	size_t steps;            /* left for looking at shapes */
	size_t patterns;         /* so far, and their bytes */
	size_t pattern_bytes;
};

/*
 * wire_fill_later(c, schema, base, out):
 * The node of a schema that stands where base is the base URI; a new one at the
 * end of the list if it has none.  RC_TOOBIG, with c->doc.err set.
 */
enum rc wire_fill_later(struct wire_compiler *c, struct json_t *schema,
    struct str base, struct wire_node **out) RC_CHECK;

/*
 * wire_fill(c, n):
 * Fill n in from its schema; the nodes it leads to are only made.  A reference
 * is not looked up.  RC_INVALID or RC_TOOBIG, with c->doc.err set.
 */
enum rc wire_fill(struct wire_compiler *c, struct wire_node *n) RC_CHECK;

#endif /* !WIRE_SCHEMA_FILL_H */
