/*
 * One schema object's keywords into its node.
 */
#include "wire/schema_fill.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "core/mem.h"
#include "rx/rx.h"
#include "wire/schema_shape.h"

/* Different patterns of a schema, and their bytes. */
#define PATTERNS_MAX      100
#define PATTERN_BYTES_MAX (16 * 1024)

/* A node being filled in, and the base URI inside its schema. */
struct filling {
	struct wire_compiler *c;
	struct wire_node *node;
	struct str base;
};

static enum rc
fail_full(struct wire_compiler *c)
{
	return wire_doc_fail(
	    &c->doc, c->s->json, NULL, RC_TOOBIG, "is too complex");
}

/* n zeroed pieces; NULL only if there is no room. */
static void *
take(struct wire_compiler *c, size_t n, size_t size)
{
	return arena_alloc(c->s->a, n > 0 ? n * size : 1);
}

enum rc
wire_fill_later(struct wire_compiler *c, json_t *schema, struct str base,
    struct wire_node **out)
{
	struct str key = { (const char *)&schema, sizeof(schema) };
	struct wire_node *n = map_get(c->nodes, key);
	if (n == NULL) {
		n = take(c, 1, sizeof(*n));
		if (n == NULL)
			return fail_full(c);
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
text_of(const json_t *v)
{
	return (struct str){ json_string_value(v), json_string_length(v) };
}

static enum rc
pattern_of(struct filling *f, const char *keyword, struct str text,
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
	p = take(c, 1, sizeof(*p));
	if (p == NULL)
		return fail_full(c);
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
fill_list(struct filling *f, json_t *v, struct wire_branches *b)
{
	enum rc rc = RC_OK;
	b->p = take(f->c, json_array_size(v), sizeof(*b->p));
	if (b->p == NULL)
		return fail_full(f->c);
	for (; rc == RC_OK && b->n < json_array_size(v); b->n++)
		rc = wire_fill_later(
		    f->c, json_array_get(v, b->n), f->base, &b->p[b->n].node);
	return rc;
}

/* The schemas of an object in the order they came. */
static enum rc
fill_named(struct filling *f, json_t *v, struct wire_branches *b)
{
	enum rc rc = RC_OK;
	b->p = take(f->c, json_object_size(v), sizeof(*b->p));
	if (b->p == NULL)
		return fail_full(f->c);
	for (void *it = json_object_iter(v); rc == RC_OK && it != NULL;
	     it = json_object_iter_next(v, it)) {
		struct wire_branch *one = &b->p[b->n++];
		one->name.p = json_object_iter_key(it);
		one->name.n = json_object_iter_key_len(it);
		rc = wire_fill_later(
		    f->c, json_object_iter_value(it), f->base, &one->node);
	}
	return rc;
}

static int
compare_branches(const void *a, const void *b)
{
	const struct wire_branch *x = a;
	const struct wire_branch *y = b;
	return str_cmp(x->name, y->name);
}

static enum rc
fill_names(struct filling *f, const json_t *v, struct str **names, size_t *n)
{
	*names = take(f->c, json_array_size(v), sizeof(**names));
	if (*names == NULL)
		return fail_full(f->c);
	for (*n = 0; *n < json_array_size(v); (*n)++)
		(*names)[*n] = text_of(json_array_get(v, *n));
	return RC_OK;
}

static enum rc
fill_dependencies(struct filling *f, json_t *v)
{
	struct wire_node *node = f->node;
	enum rc rc = RC_OK;
	node->deps = take(f->c, json_object_size(v), sizeof(*node->deps));
	if (node->deps == NULL)
		return fail_full(f->c);
	for (void *it = json_object_iter(v); rc == RC_OK && it != NULL;
	     it = json_object_iter_next(v, it)) {
		struct wire_dependency *d = &node->deps[node->n_deps++];
		json_t *sub = json_object_iter_value(it);
		d->name.p = json_object_iter_key(it);
		d->name.n = json_object_iter_key_len(it);
		if (json_is_array(sub))
			rc = fill_names(f, sub, &d->names, &d->n);
		else
			rc = wire_fill_later(f->c, sub, f->base, &d->node);
	}
	return rc;
}

static unsigned
types_of(const json_t *v)
{
	unsigned types = 0;
	if (json_is_string(v))
		return wire_type_of(text_of(v));
	for (size_t i = 0; i < json_array_size(v); i++)
		types |= wire_type_of(text_of(json_array_get(v, i)));
	return types;
}

/* A count, which may be written as 2.0 or be larger than anything. */
static size_t
count_of(const json_t *v)
{
	double f = json_number_value(v);
	return f < 0x1p53 ? (size_t)f : SIZE_MAX;
}

static enum rc
fill_patterns(struct filling *f, json_t *v)
{
	struct wire_branches *b = &f->node->patterns;
	enum rc rc = fill_named(f, v, b);
	for (size_t i = 0; rc == RC_OK && i < b->n; i++)
		rc = pattern_of(
		    f, "patternProperties", b->p[i].name, &b->p[i].pattern);
	return rc;
}

/* Keywords that fit in no row of the table below. */
static enum rc
fill_special(struct filling *f, const char *keyword, json_t *v)
{
	struct wire_node *n = f->node;
	struct wire_branches none = { NULL, 0 };
	switch (keyword[0]) {
	case 't': /* type */
		n->types = types_of(v);
		return RC_OK;
	case 'u': /* uniqueItems */
		n->unique = json_is_true(v);
		return RC_OK;
	case 'i': /* items */
		if (json_is_array(v))
			return fill_list(f, v, &n->items);
		return wire_fill_later(f->c, v, f->base, &n->item);
	case 'r': /* required */
		return fill_names(f, v, &n->required, &n->n_required);
	case 'd': /* definitions, dependencies */
		return strcmp(keyword, "definitions") == 0
		    ? fill_named(f, v, &none)
		    : fill_dependencies(f, v);
	default:
		if (strcmp(keyword, "pattern") == 0)
			return pattern_of(f, keyword, text_of(v), &n->pattern);
		return fill_patterns(f, v);
	}
}

enum fill {
	FILL_VALUE, /* const struct json_t * */
	FILL_LEAST, /* struct wire_range */
	FILL_MOST,
	FILL_NODE,  /* struct wire_node * */
	FILL_LIST,  /* struct wire_branches */
	FILL_NAMED, /* the same, in order of name */
	FILL_SPECIAL
};

#define AT(m) offsetof(struct wire_node, m)
/* In byte order of the names. */
static const struct row {
	const char *name;
	enum fill fill;
	size_t off;
} fills[] = {
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
fill_keyword(struct filling *f, const struct row *row, json_t *v)
{
	void *p = (char *)f->node + row->off;
	struct wire_branches *b = p;
	enum rc rc;
	switch (row->fill) {
	case FILL_VALUE:
		*(const json_t **)p = v;
		return RC_OK;
	case FILL_LEAST:
		((struct wire_range *)p)->least = count_of(v);
		return RC_OK;
	case FILL_MOST:
		((struct wire_range *)p)->most = count_of(v);
		return RC_OK;
	case FILL_NODE:
		return wire_fill_later(f->c, v, f->base, p);
	case FILL_LIST:
		return fill_list(f, v, b);
	case FILL_NAMED:
		rc = fill_named(f, v, b);
		if (rc == RC_OK)
			qsort(b->p, b->n, sizeof(*b->p), compare_branches);
		return rc;
	case FILL_SPECIAL:
		return fill_special(f, row->name, v);
	}
	return RC_BUG;
}

static int
compare_row(const void *keyword, const void *row)
{
	return strcmp(keyword, ((const struct row *)row)->name);
}

enum rc
wire_fill(struct wire_compiler *c, struct wire_node *n)
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
		return defs != NULL ? fill_special(&f, "definitions", defs)
				    : RC_OK;
	}
	rc = wire_doc_base(&c->doc, &t, &f.base);
	for (void *it = json_object_iter(n->schema); rc == RC_OK && it != NULL;
	     it = json_object_iter_next(n->schema, it)) {
		const struct row *row = bsearch(json_object_iter_key(it), fills,
		    NELEM(fills), sizeof(fills[0]), compare_row);
		if (row != NULL)
			rc = fill_keyword(&f, row, json_object_iter_value(it));
	}
	return rc;
}
