/*
 * schema_node: a schema as a graph of nodes, ready for checking.
 */
#ifndef WIRE_SCHEMA_NODE_H
#define WIRE_SCHEMA_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/str.h"
#include "wire/schema.h"

struct json_t;
struct rx;
struct rx_scratch;
struct wire_node;

/* A compiled regular expression; each text once. */
struct wire_pattern {
	struct wire_pattern *next;
	struct rx *rx;
	struct str text;
};

/* Nodes in the order of the schema; names are absent where they have none. */
struct wire_branch {
	struct str name;
	struct wire_node *node;
	const struct wire_pattern *pattern; /* of patternProperties */
};
struct wire_branches {
	struct wire_branch *p;
	size_t n;
};

/* "dependencies": what must be there beside name, or what must hold. */
struct wire_dependency {
	struct str name;
	struct str *names;
	size_t n;
	struct wire_node *node;
};

/* Both inclusive; SIZE_MAX: no most. */
struct wire_range {
	size_t least, most;
};

enum wire_node_kind {
	WIRE_NODE_RULES, /* all members below */
	WIRE_NODE_NEVER, /* false */
	WIRE_NODE_META,  /* the value must be a schema itself */
	WIRE_NODE_REF    /* ref, which is no WIRE_NODE_REF, instead */
};

/* Pointers are NULL where the schema has no such keyword. */
struct wire_node {
	enum wire_node_kind kind;
	unsigned types; /* bits of enum wire_schema_type; 0: all */
	struct wire_node *ref;
	const struct json_t *enums, *fixed; /* "enum", "const" */

	const struct json_t *min, *max, *above, *below, *multiple;

	struct wire_range length;
	const struct wire_pattern *pattern;

	struct wire_range count; /* of items */
	struct wire_node *item;  /* of each */
	struct wire_branches items;
	struct wire_node *more_items; /* of each beyond items */
	struct wire_node *contains;
	bool unique;

	struct wire_range size;     /* in members */
	struct wire_branches props; /* in order of name */
	struct wire_branches patterns;
	struct wire_node *more_members;
	struct wire_node *names;
	struct str *required;
	size_t n_required;
	struct wire_dependency *deps;
	size_t n_deps;

	struct wire_branches all, any, one;
	struct wire_node *no, *cond, *then, *otherwise;

	/* Only for compiling. */
	struct json_t *schema;
	struct str base; /* URI of where it stands */
	unsigned height; /* schemas for one value inside each other; 0: new */
	bool open;       /* height is being found out */
	struct wire_node *next;
};

struct wire_schema {
	struct json_t *json;
	struct arena *a;
	struct wire_node *root;
	struct wire_pattern *patterns;
	struct rx_scratch *scratch;
};

/*
 * wire_schema_compile(s, err):
 * Fill s->root and s->patterns from s->json.  RC_INVALID, RC_TOOBIG.
 */
enum rc wire_schema_compile(
    struct wire_schema *s, struct wire_err *err) RC_CHECK;

#endif /* !WIRE_SCHEMA_NODE_H */
