/*
 * A JSON Schema compiled to nodes: one node for each subschema, references
 * resolved, references in a circle rejected.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "core/mem.h"
#include "rx/rx.h"
#include "wire/check.h"
#include "wire/wire_internal.h"

/* Values whose shape is checked, targets of references included. */
#define SHAPE_STEPS (256 * 1024)
/* Nesting of schemas that apply to one value; bounds the recursion here. */
#define HEIGHT_MAX 100
/* Different patterns of a schema, and their bytes. */
#define PATTERNS_MAX      100
#define PATTERN_BYTES_MAX (16 * 1024)

/* A schema being compiled. */
struct wire_compiler {
	struct wire_schema *s;
	struct wire_doc doc;
	struct map *nodes;       /* address of a JSON value to its node */
	struct wire_node *first; /* all nodes, in the order they were found */
	struct wire_node **last; /* where the next one goes */
	size_t steps;            /* left for checking shapes */
	size_t patterns;         /* so far, and their bytes */
	size_t pattern_bytes;
};

/* ---- keywords of one schema ---- */

/* A node being filled in, and the base URI inside its schema. */
struct filling {
	struct wire_compiler *c;
	struct wire_node *node;
	struct str base;
};

static enum rc
compile_fail_full(struct wire_compiler *c)
{
	return wire_doc_fail(
	    &c->doc, c->s->json, NULL, RC_TOOBIG, "is too complex");
}

/* n zeroed elements of size; NULL if the arena is full. */
static void *
compile_alloc(struct wire_compiler *c, size_t n, size_t size)
{
	return arena_alloc(c->s->a, n > 0 ? n * size : 1);
}

static enum rc
compile_node_later(struct wire_compiler *c, json_t *schema, struct str base,
    struct wire_node **out)
{
	struct str key = { (const char *)&schema, sizeof(schema) };
	struct wire_node *n = map_get(c->nodes, key);
	if (n == NULL) {
		n = compile_alloc(c, 1, sizeof(*n));
		if (n == NULL)
			return compile_fail_full(c);
		n->schema = schema;
		n->base = base;
		*c->last = n;
		c->last = &n->next;
		(void)map_put(c->nodes, key, n);
	}
	*out = n;
	return RC_OK;
}

static struct str
compile_text_of(const json_t *v)
{
	return (struct str){ json_string_value(v), json_string_length(v) };
}

static enum rc
compile_pattern_of(struct filling *f, const char *keyword, struct str text,
    const struct wire_pattern **out)
{
	struct wire_compiler *c = f->c;
	struct wire_pattern *p = c->s->patterns;
	while (p != NULL && !str_eq(p->text, text))
		p = p->next;
	*out = p;
	if (p != NULL)
		return RC_OK;
	c->patterns++;
	c->pattern_bytes += text.n;
	if (c->patterns > PATTERNS_MAX || c->pattern_bytes > PATTERN_BYTES_MAX)
		return wire_doc_fail(&c->doc, f->node->schema, keyword,
		    RC_TOOBIG, "is one pattern too many");
	p = compile_alloc(c, 1, sizeof(*p));
	if (p == NULL)
		return compile_fail_full(c);
	char why[200];
	enum rc rc = rx_new(text, RX_ECMA, &p->rx, why, sizeof(why));
	if (rc != RC_OK)
		return wire_doc_fail(&c->doc, f->node->schema, keyword, rc,
		    "has the pattern %.*s: %s", STR_ARG(text), why);
	p->text = text;
	p->next = c->s->patterns;
	c->s->patterns = p;
	*out = p;
	return RC_OK;
}

static enum rc
compile_fill_list(struct filling *f, json_t *v, struct wire_branches *b)
{
	enum rc rc = RC_OK;
	b->p = compile_alloc(f->c, json_array_size(v), sizeof(*b->p));
	if (b->p == NULL)
		return compile_fail_full(f->c);
	for (; rc == RC_OK && b->n < json_array_size(v); b->n++)
		rc = compile_node_later(
		    f->c, json_array_get(v, b->n), f->base, &b->p[b->n].node);
	return rc;
}

/* The schemas of an object, in the order of the text. */
static enum rc
compile_fill_named(struct filling *f, json_t *v, struct wire_branches *b)
{
	enum rc rc = RC_OK;
	b->p = compile_alloc(f->c, json_object_size(v), sizeof(*b->p));
	if (b->p == NULL)
		return compile_fail_full(f->c);
	for (void *it = json_object_iter(v); rc == RC_OK && it != NULL;
	     it = json_object_iter_next(v, it)) {
		struct wire_branch *one = &b->p[b->n++];
		one->name.p = json_object_iter_key(it);
		one->name.n = json_object_iter_key_len(it);
		rc = compile_node_later(
		    f->c, json_object_iter_value(it), f->base, &one->node);
	}
	return rc;
}

static int
compile_compare_branches(const void *a, const void *b)
{
	const struct wire_branch *x = a;
	const struct wire_branch *y = b;
	return str_cmp(x->name, y->name);
}

static enum rc
compile_fill_names(
    struct filling *f, const json_t *v, struct str **names, size_t *n)
{
	*names = compile_alloc(f->c, json_array_size(v), sizeof(**names));
	if (*names == NULL)
		return compile_fail_full(f->c);
	for (*n = 0; *n < json_array_size(v); (*n)++)
		(*names)[*n] = compile_text_of(json_array_get(v, *n));
	return RC_OK;
}

static enum rc
compile_fill_dependencies(struct filling *f, json_t *v)
{
	struct wire_node *node = f->node;
	enum rc rc = RC_OK;
	node->deps =
	    compile_alloc(f->c, json_object_size(v), sizeof(*node->deps));
	if (node->deps == NULL)
		return compile_fail_full(f->c);
	for (void *it = json_object_iter(v); rc == RC_OK && it != NULL;
	     it = json_object_iter_next(v, it)) {
		struct wire_dependency *d = &node->deps[node->n_deps++];
		json_t *sub = json_object_iter_value(it);
		d->name.p = json_object_iter_key(it);
		d->name.n = json_object_iter_key_len(it);
		if (json_is_array(sub))
			rc = compile_fill_names(f, sub, &d->names, &d->n);
		else
			rc = compile_node_later(f->c, sub, f->base, &d->node);
	}
	return rc;
}

static unsigned
compile_types_of(const json_t *v)
{
	unsigned types = 0;
	if (json_is_string(v))
		return wire_type_of(compile_text_of(v));
	for (size_t i = 0; i < json_array_size(v); i++)
		types |= wire_type_of(compile_text_of(json_array_get(v, i)));
	return types;
}

/* A count, which may be written as 2.0 or exceed size_t. */
static size_t
compile_count_of(const json_t *v)
{
	double f = json_number_value(v);
	return f < 0x1p53 ? (size_t)f : SIZE_MAX;
}

static enum rc
compile_fill_patterns(struct filling *f, json_t *v)
{
	struct wire_branches *b = &f->node->patterns;
	enum rc rc = compile_fill_named(f, v, b);
	for (size_t i = 0; rc == RC_OK && i < b->n; i++)
		rc = compile_pattern_of(
		    f, "patternProperties", b->p[i].name, &b->p[i].pattern);
	return rc;
}

/* Keywords that the table below cannot express. */
static enum rc
compile_fill_special(struct filling *f, const char *keyword, json_t *v)
{
	struct wire_node *n = f->node;
	struct wire_branches none = { NULL, 0 };
	switch (keyword[0]) {
	case 't': /* type */
		n->types = compile_types_of(v);
		return RC_OK;
	case 'u': /* uniqueItems */
		n->unique = json_is_true(v);
		return RC_OK;
	case 'i': /* items */
		if (json_is_array(v))
			return compile_fill_list(f, v, &n->items);
		return compile_node_later(f->c, v, f->base, &n->item);
	case 'r': /* required */
		return compile_fill_names(f, v, &n->required, &n->n_required);
	case 'd': /* definitions, dependencies */
		return strcmp(keyword, "definitions") == 0
		    ? compile_fill_named(f, v, &none)
		    : compile_fill_dependencies(f, v);
	default:
		if (strcmp(keyword, "pattern") == 0)
			return compile_pattern_of(
			    f, keyword, compile_text_of(v), &n->pattern);
		return compile_fill_patterns(f, v);
	}
}

enum fill {
	FILL_VALUE, /* const struct json_t * */
	FILL_LEAST, /* struct wire_range */
	FILL_MOST,
	FILL_NODE,  /* struct wire_node * */
	FILL_LIST,  /* struct wire_branches */
	FILL_NAMED, /* the same, in byte order of the names */
	FILL_SPECIAL
};

#define AT(m) offsetof(struct wire_node, m)
/* In byte order of the names. */
static const struct row {
	const char *name;
	enum fill fill;
	size_t off;
} compile_keywords[] = {
	{ "additionalItems", FILL_NODE, AT(more_items) },
	{ "additionalProperties", FILL_NODE, AT(more_members) },
	{ "allOf", FILL_LIST, AT(all) },
	{ "anyOf", FILL_LIST, AT(any) },
	{ "const", FILL_VALUE, AT(fixed) },
	{ "contains", FILL_NODE, AT(contains) },
	{ "definitions", FILL_SPECIAL, 0 },
	{ "dependencies", FILL_SPECIAL, 0 },
	{ "else", FILL_NODE, AT(otherwise) },
	{ "enum", FILL_VALUE, AT(enums) },
	{ "exclusiveMaximum", FILL_VALUE, AT(below) },
	{ "exclusiveMinimum", FILL_VALUE, AT(above) },
	{ "if", FILL_NODE, AT(cond) },
	{ "items", FILL_SPECIAL, 0 },
	{ "maxItems", FILL_MOST, AT(count) },
	{ "maxLength", FILL_MOST, AT(length) },
	{ "maxProperties", FILL_MOST, AT(size) },
	{ "maximum", FILL_VALUE, AT(max) },
	{ "minItems", FILL_LEAST, AT(count) },
	{ "minLength", FILL_LEAST, AT(length) },
	{ "minProperties", FILL_LEAST, AT(size) },
	{ "minimum", FILL_VALUE, AT(min) },
	{ "multipleOf", FILL_VALUE, AT(multiple) },
	{ "not", FILL_NODE, AT(no) },
	{ "oneOf", FILL_LIST, AT(one) },
	{ "pattern", FILL_SPECIAL, 0 },
	{ "patternProperties", FILL_SPECIAL, 0 },
	{ "properties", FILL_NAMED, AT(props) },
	{ "propertyNames", FILL_NODE, AT(names) },
	{ "required", FILL_SPECIAL, 0 },
	{ "then", FILL_NODE, AT(then) },
	{ "type", FILL_SPECIAL, 0 },
	{ "uniqueItems", FILL_SPECIAL, 0 },
};

static enum rc
compile_fill_keyword(struct filling *f, const struct row *row, json_t *v)
{
	void *p = (char *)f->node + row->off;
	struct wire_branches *b = p;
	enum rc rc;
	switch (row->fill) {
	case FILL_VALUE:
		*(const json_t **)p = v;
		return RC_OK;
	case FILL_LEAST:
		((struct wire_range *)p)->least = compile_count_of(v);
		return RC_OK;
	case FILL_MOST:
		((struct wire_range *)p)->most = compile_count_of(v);
		return RC_OK;
	case FILL_NODE:
		return compile_node_later(f->c, v, f->base, p);
	case FILL_LIST:
		return compile_fill_list(f, v, b);
	case FILL_NAMED:
		rc = compile_fill_named(f, v, b);
		if (rc == RC_OK)
			qsort(b->p, b->n, sizeof(*b->p),
			    compile_compare_branches);
		return rc;
	case FILL_SPECIAL:
		return compile_fill_special(f, row->name, v);
	}
	return RC_BUG;
}

static int
compile_compare_row(const void *keyword, const void *row)
{
	return strcmp(keyword, ((const struct row *)row)->name);
}

static enum rc
compile_node(struct wire_compiler *c, struct wire_node *n)
{
	static const struct wire_range any = { 0, SIZE_MAX };
	struct filling f = { c, n, n->base };
	struct wire_target t = { n->schema, n->base };
	enum rc rc = RC_OK;
	n->length = any;
	n->count = any;
	n->size = any;
	if (json_is_false(n->schema))
		n->kind = WIRE_NODE_NEVER;
	if (!json_is_object(n->schema))
		return RC_OK;
	if (json_object_get(n->schema, "$ref") != NULL) {
		n->kind = WIRE_NODE_REF;
		json_t *defs = json_object_get(n->schema, "definitions");
		return defs != NULL
		    ? compile_fill_special(&f, "definitions", defs)
		    : RC_OK;
	}
	rc = wire_doc_base(&c->doc, &t, &f.base);
	for (void *it = json_object_iter(n->schema); rc == RC_OK && it != NULL;
	     it = json_object_iter_next(n->schema, it)) {
		const struct row *row = bsearch(json_object_iter_key(it),
		    compile_keywords, NELEM(compile_keywords),
		    sizeof(compile_keywords[0]), compile_compare_row);
		if (row != NULL)
			rc = compile_fill_keyword(
			    &f, row, json_object_iter_value(it));
	}
	return rc;
}

/* ---- the graph ---- */

/* A reference may lead to a value that was not checked as a schema yet. */
static enum rc
compile_check_target(
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
	    "refers to something that is not a schema: %s", text);
}

/* Find what n refers to. */
static enum rc
compile_resolve(struct wire_compiler *c, struct wire_node *n)
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
	rc = compile_check_target(c, n, to.schema);
	if (rc != RC_OK)
		return rc;
	return compile_node_later(c, to.schema, to.base, &n->ref);
}

/* Fill in all nodes, those found on the way included. */
static enum rc
compile_fill_all(struct wire_compiler *c)
{
	struct wire_node **fill = &c->first;
	struct wire_node **ref = &c->first;
	enum rc rc = RC_OK;
	while (rc == RC_OK && *ref != NULL) {
		/* References last: most targets are known by then. */
		while (rc == RC_OK && *fill != NULL) {
			rc = compile_node(c, *fill);
			fill = &(*fill)->next;
		}
		if (rc == RC_OK && (*ref)->kind == WIRE_NODE_REF)
			rc = compile_resolve(c, *ref);
		ref = &(*ref)->next;
	}
	return rc;
}

/* Make references point to a node that is not itself a reference. */
static enum rc
compile_shorten_references(struct wire_compiler *c)
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

static enum rc compile_find_height(
    struct wire_compiler *c, struct wire_node *n, unsigned depth);

/* n applies to the same value as above. */
static enum rc
compile_find_height_below(struct wire_compiler *c, struct wire_node *above,
    struct wire_node *n, unsigned depth)
{
	if (n == NULL)
		return RC_OK;
	if (n->kind == WIRE_NODE_REF)
		n = n->ref;
	enum rc rc = compile_find_height(c, n, depth + 1);
	if (rc == RC_OK && above->height < n->height + 1)
		above->height = n->height + 1;
	return rc;
}

static enum rc
compile_find_heights_below(struct wire_compiler *c, struct wire_node *above,
    const struct wire_branches *b, unsigned depth)
{
	enum rc rc = RC_OK;
	for (size_t i = 0; rc == RC_OK && i < b->n; i++)
		rc = compile_find_height_below(c, above, b->p[i].node, depth);
	return rc;
}

/*
 * The height of n.  It rejects schemas that refer to themselves for the same
 * value, and bounds the recursion of a check.
 */
static enum rc
compile_find_height(
    struct wire_compiler *c, struct wire_node *n, unsigned depth)
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
		rc = compile_find_height_below(c, n, next[i], depth);
	for (size_t i = 0; rc == RC_OK && i < n->n_deps; i++)
		rc = compile_find_height_below(c, n, n->deps[i].node, depth);
	if (rc == RC_OK)
		rc = compile_find_heights_below(c, n, &n->all, depth);
	if (rc == RC_OK)
		rc = compile_find_heights_below(c, n, &n->any, depth);
	if (rc == RC_OK)
		rc = compile_find_heights_below(c, n, &n->one, depth);
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
		rc = compile_node_later(&c, s->json, STR(""), &s->root);
	if (rc == RC_OK)
		rc = compile_fill_all(&c);
	if (rc == RC_OK)
		rc = compile_shorten_references(&c);
	for (struct wire_node *n = c.first; rc == RC_OK && n != NULL;
	     n = n->next)
		rc = compile_find_height(&c, n, 0);
	wire_doc_free(&c.doc);
	map_free(c.nodes);
	return rc;
}
