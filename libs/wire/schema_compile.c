/*
 * From a JSON Schema to nodes: each subschema once, references resolved, no
 * way to go round without end.
 */
#include <jansson.h>

#include "core/map.h"
#include "core/mem.h"
#include "wire/check.h"
#include "wire/schema_fill.h"
#include "wire/schema_node.h"
#include "wire/schema_ref.h"
#include "wire/schema_shape.h"

/* Values looked at for their shape, in a schema that refers here and there. */
#define SHAPE_STEPS (256 * 1024)
/* Schemas for one value inside each other; recursion here is no deeper. */
#define HEIGHT_MAX 100

/* What a reference led to may stand where no schema was looked for. */
static enum rc
check_target(
    struct wire_compiler *c, const struct wire_node *from, const json_t *schema)
{
	struct str key = { (const char *)&schema, sizeof(schema) };
	struct wire_err err = { "", "is too complex" };
	struct wire_at at = { NULL, { NULL, 0 }, 0, &err };
	if (map_get(c->nodes, key) != NULL)
		return RC_OK;
	enum rc rc = wire_shape_check(schema, &at, &c->steps);
	if (rc == RC_OK)
		return RC_OK;
	char text[sizeof(err.path) + sizeof(err.why) + 2];
	wire_err_text(&err, text, sizeof(text));
	return wire_doc_fail(&c->doc, from->schema, "$ref", rc,
	    "refers to what is no schema: %s", text);
}

/* Find what n refers to. */
static enum rc
resolve(struct wire_compiler *c, struct wire_node *n)
{
	struct wire_target from = { n->schema, n->base };
	struct wire_target to;
	enum rc rc = wire_doc_find(&c->doc, &from, &to);
	if (rc != RC_OK)
		return rc;
	if (to.schema == NULL) {
		n->kind = WIRE_NODE_META;
		return RC_OK;
	}
	rc = check_target(c, n, to.schema);
	if (rc != RC_OK)
		return rc;
	return wire_fill_later(c, to.schema, to.base, &n->ref);
}

/* Fill in all nodes there are and those that they lead to. */
static enum rc
fill_all(struct wire_compiler *c)
{
	struct wire_node **fill = &c->first;
	struct wire_node **ref = &c->first;
	enum rc rc = RC_OK;
	while (rc == RC_OK && *ref != NULL) {
		/* All others first: what a reference leads to is known by then
		   if it stands where schemas do. */
		while (rc == RC_OK && *fill != NULL) {
			rc = wire_fill(c, *fill);
			fill = &(*fill)->next;
		}
		if (rc == RC_OK && (*ref)->kind == WIRE_NODE_REF)
			rc = resolve(c, *ref);
		ref = &(*ref)->next;
	}
	return rc;
}

/* Let references lead to what is no reference itself. */
static enum rc
shorten_references(struct wire_compiler *c)
{
	size_t nodes = 0;
	for (struct wire_node *n = c->first; n != NULL; n = n->next)
		nodes++;
	for (struct wire_node *n = c->first; n != NULL; n = n->next) {
		size_t hops = 0;
		if (n->kind != WIRE_NODE_REF)
			continue;
		while (n->ref->kind == WIRE_NODE_REF && hops++ < nodes)
			n->ref = n->ref->ref;
		if (n->ref->kind == WIRE_NODE_REF)
			return wire_doc_fail(&c->doc, n->schema, "$ref",
			    RC_INVALID,
			    "leads only to other references, in a circle");
	}
	return RC_OK;
}

static enum rc find_height(
    struct wire_compiler *c, struct wire_node *n, unsigned depth);

/* n is applied to the value that above is applied to. */
static enum rc
find_height_below(struct wire_compiler *c, struct wire_node *above,
    struct wire_node *n, unsigned depth)
{
	if (n == NULL)
		return RC_OK;
	if (n->kind == WIRE_NODE_REF)
		n = n->ref;
	enum rc rc = find_height(c, n, depth + 1);
	if (rc == RC_OK && above->height < n->height + 1)
		above->height = n->height + 1;
	return rc;
}

static enum rc
find_heights_below(struct wire_compiler *c, struct wire_node *above,
    const struct wire_branches *b, unsigned depth)
{
	enum rc rc = RC_OK;
	for (size_t i = 0; rc == RC_OK && i < b->n; i++)
		rc = find_height_below(c, above, b->p[i].node, depth);
	return rc;
}

/* How high n is; an end of the ways that lead round without going into a
   value, and of recursion in checking. */
static enum rc
find_height(struct wire_compiler *c, struct wire_node *n, unsigned depth)
{
	struct wire_node *const next[] = { n->no, n->cond, n->then,
		n->otherwise };
	enum rc rc = RC_OK;
	if (n->open)
		return wire_doc_fail(&c->doc, n->schema, NULL, RC_INVALID,
		    "refers to itself for the same value");
	if (n->height > 0)
		return RC_OK;
	if (depth > HEIGHT_MAX)
		return wire_doc_fail(&c->doc, n->schema, NULL, RC_TOOBIG,
		    "has more than %d schemas for one value inside each other",
		    HEIGHT_MAX);
	n->open = true;
	n->height = 1;
	for (size_t i = 0; rc == RC_OK && i < NELEM(next); i++)
		rc = find_height_below(c, n, next[i], depth);
	for (size_t i = 0; rc == RC_OK && i < n->n_deps; i++)
		rc = find_height_below(c, n, n->deps[i].node, depth);
	if (rc == RC_OK)
		rc = find_heights_below(c, n, &n->all, depth);
	if (rc == RC_OK)
		rc = find_heights_below(c, n, &n->any, depth);
	if (rc == RC_OK)
		rc = find_heights_below(c, n, &n->one, depth);
	n->open = false;
	return rc;
}

enum rc
wire_schema_compile(struct wire_schema *s, struct wire_err *err)
{
	struct wire_compiler c = { .s = s, .steps = SHAPE_STEPS };
	struct wire_at root = { NULL, { NULL, 0 }, 0, err };
	c.doc = (struct wire_doc){ .root = s->json, .a = s->a, .err = err };
	c.last = &c.first;
	c.nodes = map_new();
	enum rc rc = wire_shape_check(s->json, &root, &c.steps);
	if (rc == RC_TOOBIG)
		(void)wire_fail(&root, rc, "is too complex");
	if (rc == RC_OK)
		rc = wire_doc_index(&c.doc);
	if (rc == RC_OK)
		rc = wire_fill_later(&c, s->json, STR(""), &s->root);
	if (rc == RC_OK)
		rc = fill_all(&c);
	if (rc == RC_OK)
		rc = shorten_references(&c);
	for (struct wire_node *n = c.first; rc == RC_OK && n != NULL;
	     n = n->next)
		rc = find_height(&c, n, 0);
	wire_doc_free(&c.doc);
	map_free(c.nodes);
	return rc;
}
