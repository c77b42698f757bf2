/*
 * A value checked against the nodes of a compiled schema.  Where a wire_at has
 * no err only the verdict is wanted, and no reason is written.
 */
#include "wire/schema.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/mem.h"
#include "rx/rx.h"
#include "wire/check.h"
#include "wire/wire_internal.h"

/* Nodes and texts of a compiled schema. */
#define ARENA_MAX (4 * 1024 * 1024)
/* Steps of a check, at some 20 ns each: a base, some per byte, a limit. */
#define STEPS_BASE     (100 * 1000)
#define STEPS_PER_BYTE 4
#define STEPS_MAX      (1000 * 1000)
/* Deepest recursion. */
#define DEPTH_MAX 500
/* CPU time once patterns took a millisecond: a base, and some per byte. */
#define TIME_NS          (5 * 1000 * 1000)
#define TIME_NS_PER_BYTE 32

/* A check in progress. */
struct wire_checking {
	struct wire_schema *s;
	size_t steps; /* left */
	size_t depth; /* of recursion */
	/* Patterns are limited by time, since steps say little of them. */
	int64_t time_ns;
	struct mono began;
	struct rx_scratch *scratch; /* NULL: no patterns */
	bool timed;                 /* the budget below is running */
	struct budget time;
};

static enum rc valid_node(struct wire_checking *c, const struct wire_node *n,
    const json_t *v, const struct wire_at *at) RC_CHECK;

/* The same position for a verdict without a reason. */
static struct wire_at
valid_without_error(const struct wire_at *at)
{
	struct wire_at quiet = *at;
	quiet.err = NULL;
	return quiet;
}

static unsigned
valid_type_of(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return WIRE_TYPE_OBJECT;
	case JSON_ARRAY:
		return WIRE_TYPE_ARRAY;
	case JSON_STRING:
		return WIRE_TYPE_STRING;
	case JSON_INTEGER:
		return WIRE_TYPE_INTEGER | WIRE_TYPE_NUMBER;
	case JSON_REAL:
		return wire_value_whole(v)
		    ? WIRE_TYPE_INTEGER | WIRE_TYPE_NUMBER
		    : WIRE_TYPE_NUMBER;
	case JSON_TRUE:
	case JSON_FALSE:
		return WIRE_TYPE_BOOLEAN;
	case JSON_NULL:
		return WIRE_TYPE_NULL;
	}
	return 0;
}

/*
 * Whether patterns took too long.  The first millisecond costs one reading of
 * the clock per pattern; then the budget starts.
 */
static bool
valid_time_is_up(struct wire_checking *c)
{
	if (c->timed)
		return budget_over(&c->time);
	if (mono_diff_ms(clock_mono(), c->began) == 0)
		return false;
	budget_start(&c->time, c->time_ns);
	c->timed = true;
	return false;
}

static enum rc
valid_pattern(struct wire_checking *c, const struct wire_pattern *p,
    struct str text, bool *found)
{
	enum rc rc = wire_value_pay(&c->steps, 1 + text.n / 64);
	if (rc != RC_OK)
		return rc;
	rc = rx_find(p->rx, c->scratch, text, 0, NULL);
	*found = rc == RC_OK;
	if (rc == RC_NOENT)
		rc = RC_OK;
	if (rc == RC_OK && valid_time_is_up(c))
		rc = RC_TOOBIG;
	return rc;
}

/* ---- reasons, for people and language models ---- */

/* Steps for finding the most helpful reason. */
#define REJECT_STEPS_MAX (20 * 1000)

static enum rc
reject_type(unsigned types, const struct wire_at *at)
{
	static const struct {
		unsigned type;
		const char *name;
	} names[] = {
		{ WIRE_TYPE_OBJECT, "an object" },
		{ WIRE_TYPE_ARRAY, "an array" },
		{ WIRE_TYPE_STRING, "a string" },
		{ WIRE_TYPE_NUMBER, "a number" },
		{ WIRE_TYPE_INTEGER, "an integer" },
		{ WIRE_TYPE_BOOLEAN, "true or false" },
		{ WIRE_TYPE_NULL, "null" },
	};
	if (at->err == NULL)
		return RC_INVALID;
	struct buf b = BUF_INIT(200);
	for (size_t i = 0; i < NELEM(names); i++) {
		if ((types & names[i].type) == 0)
			continue;
		buf_puts(&b, b.n > 0 ? " or " : "");
		buf_puts(&b, names[i].name);
	}
	(void)wire_fail(at, RC_INVALID, "must be %s", b.p);
	buf_free(&b);
	return RC_INVALID;
}

/* Strings bare, as in running text; all else as JSON. */
static void
schema_put_value(struct buf *b, const json_t *v)
{
	struct wire_out o = { b, false };
	if (json_is_string(v))
		buf_put(b, json_string_value(v), json_string_length(v));
	else
		wire_raw_put(&o, v);
}

static enum rc
reject_value(const json_t *enums, const json_t *fixed, const struct wire_at *at)
{
	if (at->err == NULL)
		return RC_INVALID;
	struct buf b = BUF_INIT(WIRE_SCHEMA_MAX * 8);
	size_t n = json_array_size(enums);
	if (fixed != NULL)
		schema_put_value(&b, fixed);
	for (size_t i = 0; i < n && b.n < sizeof(at->err->why); i++) {
		buf_puts(&b, i > 0 ? ", " : "");
		schema_put_value(&b, json_array_get(enums, i));
	}
	if (fixed == NULL && n == 0)
		(void)wire_fail(at, RC_INVALID, "can have no value");
	else
		(void)wire_fail(at, RC_INVALID, "must be %s%.*s",
		    n > 1 ? "one of " : "", STR_ARG(buf_str(&b)));
	buf_free(&b);
	return RC_INVALID;
}

/* Whether one branch rejects v, with its reason; false if time is up. */
static bool
reject_branch(struct wire_checking *c, const struct wire_node *n,
    const json_t *v, const struct wire_at *at, struct wire_err *err)
{
	struct wire_at here = *at;
	here.err = err;
	return valid_node(c, n, v, &here) == RC_INVALID;
}

/*
 * The branch that was meant is most likely the one in which v got furthest.
 * If v got into none, all reasons are about v itself and are listed.
 */
static enum rc
reject_all(struct wire_checking *c, const struct wire_branches *b,
    const json_t *v, const struct wire_at *at)
{
	struct wire_err best = { "", "" };
	struct wire_err err;
	size_t furthest = 0;
	if (at->err == NULL)
		return RC_INVALID;
	if (c->steps > REJECT_STEPS_MAX)
		c->steps = REJECT_STEPS_MAX;
	struct buf all = BUF_INIT(64 * 1024);
	(void)wire_fail(at, RC_INVALID, "fits none of the allowed forms");
	size_t here = strlen(at->err->path);
	for (size_t i = 0; i < b->n; i++) {
		size_t before = c->steps;
		if (!reject_branch(c, b->p[i].node, v, at, &err))
			break;
		size_t went = before - c->steps;
		if (all.n < sizeof(err.why)) {
			buf_puts(&all, i > 0 ? "; or " : "");
			buf_puts(&all, err.why);
		}
		if (strlen(err.path) > here && went > furthest) {
			furthest = went;
			best = err;
		}
	}
	if (furthest > 0) {
		*at->err = best;
	} else if (all.n > 0) {
		(void)wire_fail(at, RC_INVALID, "%.*s", STR_ARG(buf_str(&all)));
	}
	buf_free(&all);
	return RC_INVALID;
}

/* ---- numbers and strings ---- */

/* "must be at least 0.2" */
static enum rc
reject_number(const char *what, const json_t *bound, const struct wire_at *at)
{
	if (at->err == NULL)
		return RC_INVALID;
	struct buf b = BUF_INIT(64);
	struct wire_out o = { &b, false };
	wire_raw_put(&o, bound);
	(void)wire_fail(at, RC_INVALID, "must be %s %s", what, b.p);
	buf_free(&b);
	return RC_INVALID;
}

static enum rc
valid_number(
    const struct wire_node *n, const json_t *v, const struct wire_at *at)
{
	if (n->min != NULL && wire_value_compare(v, n->min) < 0)
		return reject_number("at least", n->min, at);
	if (n->above != NULL && wire_value_compare(v, n->above) <= 0)
		return reject_number("more than", n->above, at);
	if (n->max != NULL && wire_value_compare(v, n->max) > 0)
		return reject_number("at most", n->max, at);
	if (n->below != NULL && wire_value_compare(v, n->below) >= 0)
		return reject_number("less than", n->below, at);
	if (n->multiple != NULL && !wire_value_multiple(v, n->multiple))
		return reject_number("a multiple of", n->multiple, at);
	return RC_OK;
}

static enum rc
valid_string(struct wire_checking *c, const struct wire_node *n,
    const json_t *v, const struct wire_at *at)
{
	struct str s = { json_string_value(v), json_string_length(v) };
	size_t most = n->length.most;
	enum rc rc = wire_value_pay(&c->steps, s.n / 64);
	if (rc != RC_OK)
		return rc;
	if (n->length.least > 0 || most != SIZE_MAX) {
		size_t count = (size_t)str_utf8_count(s);
		if (count == 0 && n->length.least > 0)
			return wire_fail(at, RC_INVALID, "must not be empty");
		if (count < n->length.least)
			return wire_fail(at, RC_INVALID,
			    "must have at least %zu characters",
			    n->length.least);
		if (count > most)
			return wire_fail(at, RC_INVALID,
			    "must have at most %zu characters", most);
	}
	if (n->pattern == NULL)
		return RC_OK;
	bool found;
	rc = valid_pattern(c, n->pattern, s, &found);
	if (rc == RC_OK && !found)
		return wire_fail(at, RC_INVALID, "must match the pattern %.*s",
		    STR_ARG(n->pattern->text));
	return rc;
}

static enum rc
valid_scalar(struct wire_checking *c, const struct wire_node *n,
    const json_t *v, const struct wire_at *at)
{
	if (json_is_number(v))
		return valid_number(n, v, at);
	if (json_is_string(v))
		return valid_string(c, n, v, at);
	return RC_OK;
}

/* ---- arrays ---- */

static enum rc
valid_count(const struct wire_range *r, size_t n, const struct wire_at *at)
{
	if (n == 0 && r->least > 0)
		return wire_fail(at, RC_INVALID, "must not be empty");
	if (n < r->least)
		return wire_fail(
		    at, RC_INVALID, "must have at least %zu items", r->least);
	if (n > r->most)
		return wire_fail(
		    at, RC_INVALID, "must have at most %zu items", r->most);
	return RC_OK;
}

/* The schema of item i, or NULL. */
static const struct wire_node *
schema_of(const struct wire_node *n, size_t i)
{
	if (n->items.n == 0)
		return n->item;
	return i < n->items.n ? n->items.p[i].node : n->more_items;
}

static enum rc
valid_items(struct wire_checking *c, const struct wire_node *n, const json_t *v,
    const struct wire_at *at)
{
	enum rc rc = RC_OK;
	for (size_t i = 0; rc == RC_OK && i < json_array_size(v); i++) {
		const struct wire_node *item = schema_of(n, i);
		struct wire_at child = { at, { NULL, 0 }, i, at->err };
		if (item == NULL) /* nor has any after it */
			break;
		rc = valid_node(c, item, json_array_get(v, i), &child);
	}
	return rc;
}

static enum rc
valid_unique(struct wire_checking *c, const json_t *v, const struct wire_at *at)
{
	size_t same[2];
	enum rc rc = wire_value_unique(v, &c->steps, same);
	if (rc == RC_OK && same[1] > 0)
		rc = wire_fail(at, RC_INVALID,
		    "must not have the same item twice (items %zu and %zu)",
		    same[0], same[1]);
	return rc;
}

static enum rc
valid_contains(struct wire_checking *c, const struct wire_node *n,
    const json_t *v, const struct wire_at *at)
{
	for (size_t i = 0; i < json_array_size(v); i++) {
		struct wire_at child = { at, { NULL, 0 }, i, NULL };
		enum rc rc =
		    valid_node(c, n->contains, json_array_get(v, i), &child);
		if (rc != RC_INVALID)
			return rc;
	}
	return wire_fail(
	    at, RC_INVALID, "has no item of the form that one must have");
}

static enum rc
valid_array(struct wire_checking *c, const struct wire_node *n, const json_t *v,
    const struct wire_at *at)
{
	enum rc rc = valid_count(&n->count, json_array_size(v), at);
	if (rc == RC_OK)
		rc = valid_items(c, n, v, at);
	if (rc == RC_OK && n->unique)
		rc = valid_unique(c, v, at);
	if (rc == RC_OK && n->contains != NULL)
		rc = valid_contains(c, n, v, at);
	return rc;
}

/* ---- objects ---- */

static struct wire_at
valid_below(const struct wire_at *at, struct str key)
{
	return (struct wire_at){ at, key, 0, at->err };
}

static bool
valid_has(const json_t *v, struct str name)
{
	return json_object_getn(v, name.p, name.n) != NULL;
}

static enum rc
valid_size(const struct wire_range *r, size_t n, const struct wire_at *at)
{
	if (n < r->least)
		return wire_fail(
		    at, RC_INVALID, "must have at least %zu members", r->least);
	if (n > r->most)
		return wire_fail(
		    at, RC_INVALID, "must have at most %zu members", r->most);
	return RC_OK;
}

static enum rc
valid_required(struct wire_checking *c, const struct wire_node *n,
    const json_t *v, const struct wire_at *at)
{
	enum rc rc = wire_value_pay(&c->steps, n->n_required / 4);
	for (size_t i = 0; rc == RC_OK && i < n->n_required; i++) {
		struct wire_at missing = valid_below(at, n->required[i]);
		if (!valid_has(v, n->required[i]))
			rc = wire_fail(&missing, RC_INVALID, "is required");
	}
	return rc;
}

static enum rc
valid_dependency(struct wire_checking *c, const struct wire_dependency *d,
    const json_t *v, const struct wire_at *at)
{
	enum rc rc = wire_value_pay(&c->steps, d->n / 4);
	for (size_t i = 0; rc == RC_OK && i < d->n; i++) {
		struct wire_at missing = valid_below(at, d->names[i]);
		if (!valid_has(v, d->names[i]))
			rc = wire_fail(&missing, RC_INVALID,
			    "is required beside %.*s", STR_ARG(d->name));
	}
	if (rc == RC_OK && d->node != NULL)
		rc = valid_node(c, d->node, v, at);
	return rc;
}

static enum rc
valid_dependencies(struct wire_checking *c, const struct wire_node *n,
    const json_t *v, const struct wire_at *at)
{
	enum rc rc = wire_value_pay(&c->steps, n->n_deps / 4);
	for (size_t i = 0; rc == RC_OK && i < n->n_deps; i++) {
		if (valid_has(v, n->deps[i].name))
			rc = valid_dependency(c, &n->deps[i], v, at);
	}
	return rc;
}

static enum rc
valid_name(struct wire_checking *c, const struct wire_node *n, struct str name,
    const struct wire_at *at)
{
	struct wire_err err = { "", "" };
	struct wire_at as_value = { NULL, { NULL, 0 }, 0,
		at->err != NULL ? &err : NULL };
	json_t *v = json_stringn_nocheck(name.p, name.n);
	enum rc rc = valid_node(c, n->names, v, &as_value);
	json_decref(v);
	if (rc == RC_INVALID)
		return wire_fail(
		    at, rc, "has a name that is not allowed: it %s", err.why);
	return rc;
}

static int
schema_compare_name(const void *key, const void *branch)
{
	const struct str *name = key;
	const struct wire_branch *b = branch;
	return str_cmp(*name, b->name);
}

/* A member without a schema where additional members are not allowed. */
static enum rc
reject_member(const struct wire_node *n, const struct wire_at *at)
{
	if (at->err == NULL)
		return RC_INVALID;
	struct buf b = BUF_INIT(1024);
	for (size_t i = 0; i < n->props.n; i++) {
		buf_puts(&b, i > 0 ? ", " : "; known are ");
		buf_put_str(&b, n->props.p[i].name);
	}
	(void)wire_fail(
	    at, RC_INVALID, "is not known%.*s", STR_ARG(buf_str(&b)));
	buf_free(&b);
	return RC_INVALID;
}

static bool
schema_is_never(const struct wire_node *n)
{
	return n->kind == WIRE_NODE_NEVER ||
	    (n->kind == WIRE_NODE_REF && n->ref->kind == WIRE_NODE_NEVER);
}

static enum rc
valid_member(struct wire_checking *c, const struct wire_node *n,
    struct str name, const json_t *v, const struct wire_at *at)
{
	bool known = false;
	enum rc rc = wire_value_pay(&c->steps, 1);
	if (rc == RC_OK && n->names != NULL)
		rc = valid_name(c, n, name, at);
	if (rc == RC_OK && n->props.n > 0) {
		const struct wire_branch *b = bsearch(&name, n->props.p,
		    n->props.n, sizeof(*b), schema_compare_name);
		known = b != NULL;
		if (known)
			rc = valid_node(c, b->node, v, at);
	}
	for (size_t i = 0; rc == RC_OK && i < n->patterns.n; i++) {
		bool found;
		const struct wire_branch *b = &n->patterns.p[i];
		rc = valid_pattern(c, b->pattern, name, &found);
		if (rc != RC_OK || !found)
			continue;
		known = true;
		rc = valid_node(c, b->node, v, at);
	}
	if (rc != RC_OK || known || n->more_members == NULL)
		return rc;
	return schema_is_never(n->more_members)
	    ? reject_member(n, at)
	    : valid_node(c, n->more_members, v, at);
}

static enum rc
valid_object(struct wire_checking *c, const struct wire_node *n,
    const json_t *v, const struct wire_at *at)
{
	enum rc rc = valid_required(c, n, v, at);
	if (rc == RC_OK)
		rc = valid_size(&n->size, json_object_size(v), at);
	if (rc == RC_OK && n->n_deps > 0)
		rc = valid_dependencies(c, n, v, at);
	if (n->props.n == 0 && n->patterns.n == 0 && n->names == NULL &&
	    n->more_members == NULL)
		return rc;
	json_t *o = wire_value_unconst(v);
	for (void *it = json_object_iter(o); rc == RC_OK && it != NULL;
	     it = json_object_iter_next(o, it)) {
		struct str name = { json_object_iter_key(it),
			json_object_iter_key_len(it) };
		struct wire_at member = valid_below(at, name);
		rc = valid_member(
		    c, n, name, json_object_iter_value(it), &member);
	}
	return rc;
}

/* ---- a value of any type ---- */

/* "enum" and "const". */
static enum rc
valid_value(struct wire_checking *c, const struct wire_node *n, const json_t *v,
    const struct wire_at *at)
{
	bool equal = n->enums == NULL;
	for (size_t i = 0; !equal && i < json_array_size(n->enums); i++) {
		enum rc rc = wire_value_equal(
		    v, json_array_get(n->enums, i), &c->steps, &equal);
		if (rc != RC_OK)
			return rc;
	}
	if (!equal)
		return reject_value(n->enums, NULL, at);
	if (n->fixed == NULL)
		return RC_OK;
	enum rc rc = wire_value_equal(v, n->fixed, &c->steps, &equal);
	if (rc == RC_OK && !equal)
		rc = reject_value(NULL, n->fixed, at);
	return rc;
}

static enum rc
valid_any(struct wire_checking *c, const struct wire_node *n, const json_t *v,
    const struct wire_at *at)
{
	struct wire_at quiet = valid_without_error(at);
	for (size_t i = 0; i < n->any.n; i++) {
		enum rc rc = valid_node(c, n->any.p[i].node, v, &quiet);
		if (rc != RC_INVALID)
			return rc;
	}
	return n->any.n == 0 ? RC_OK : reject_all(c, &n->any, v, at);
}

static enum rc
valid_one(struct wire_checking *c, const struct wire_node *n, const json_t *v,
    const struct wire_at *at)
{
	struct wire_at quiet = valid_without_error(at);
	size_t n_valid = 0;
	size_t first = 0;
	for (size_t i = 0; i < n->one.n; i++) {
		enum rc rc = valid_node(c, n->one.p[i].node, v, &quiet);
		if (rc == RC_INVALID)
			continue;
		if (rc != RC_OK)
			return rc;
		if (n_valid++ == 0)
			first = i;
		else
			return wire_fail(at, RC_INVALID,
			    "must fit only one of the %zu allowed forms, and "
			    "fits number %zu and number %zu",
			    n->one.n, first + 1, i + 1);
	}
	return n_valid > 0 || n->one.n == 0 ? RC_OK
					    : reject_all(c, &n->one, v, at);
}

static enum rc
valid_not(struct wire_checking *c, const struct wire_node *n, const json_t *v,
    const struct wire_at *at)
{
	struct wire_at quiet = valid_without_error(at);
	enum rc rc = valid_node(c, n->no, v, &quiet);
	if (rc == RC_OK)
		return wire_fail(
		    at, RC_INVALID, "must not fit the form that is ruled out");
	return rc == RC_INVALID ? RC_OK : rc;
}

static enum rc
valid_if(struct wire_checking *c, const struct wire_node *n, const json_t *v,
    const struct wire_at *at)
{
	struct wire_at quiet = valid_without_error(at);
	enum rc rc = valid_node(c, n->cond, v, &quiet);
	if (rc == RC_OK && n->then != NULL)
		return valid_node(c, n->then, v, at);
	if (rc != RC_INVALID)
		return rc;
	return n->otherwise != NULL ? valid_node(c, n->otherwise, v, at)
				    : RC_OK;
}

/* The schemas that are applied to v as it is. */
static enum rc
valid_applicators(struct wire_checking *c, const struct wire_node *n,
    const json_t *v, const struct wire_at *at)
{
	enum rc rc = RC_OK;
	for (size_t i = 0; rc == RC_OK && i < n->all.n; i++)
		rc = valid_node(c, n->all.p[i].node, v, at);
	if (rc == RC_OK && n->any.n > 0)
		rc = valid_any(c, n, v, at);
	if (rc == RC_OK && n->one.n > 0)
		rc = valid_one(c, n, v, at);
	if (rc == RC_OK && n->no != NULL)
		rc = valid_not(c, n, v, at);
	if (rc == RC_OK && n->cond != NULL)
		rc = valid_if(c, n, v, at);
	return rc;
}

static enum rc
valid_rules(struct wire_checking *c, const struct wire_node *n, const json_t *v,
    const struct wire_at *at)
{
	if (n->types != 0 && (n->types & valid_type_of(v)) == 0)
		return reject_type(n->types, at);
	enum rc rc = RC_OK;
	if (n->enums != NULL || n->fixed != NULL)
		rc = valid_value(c, n, v, at);
	if (rc != RC_OK)
		return rc;
	if (json_is_object(v))
		rc = valid_object(c, n, v, at);
	else if (json_is_array(v))
		rc = valid_array(c, n, v, at);
	else
		rc = valid_scalar(c, n, v, at);
	return rc != RC_OK ? rc : valid_applicators(c, n, v, at);
}

static enum rc
valid_node(struct wire_checking *c, const struct wire_node *n, const json_t *v,
    const struct wire_at *at)
{
	enum rc rc = wire_value_pay(&c->steps, 1);
	if (n->kind == WIRE_NODE_REF)
		n = n->ref;
	if (rc != RC_OK || c->depth == DEPTH_MAX)
		return RC_TOOBIG;
	c->depth++;
	if (n->kind == WIRE_NODE_RULES)
		rc = valid_rules(c, n, v, at);
	else if (n->kind == WIRE_NODE_META)
		rc = wire_shape_check(v, at, &c->steps);
	else
		rc = wire_fail(at, RC_INVALID, "is not allowed");
	c->depth--;
	return rc;
}

static enum rc
valid_root_value(
    struct wire_schema *s, const json_t *v, size_t n, const struct wire_at *at)
{
	struct wire_checking c = { .s = s };
	c.steps = STEPS_BASE + n * STEPS_PER_BYTE;
	if (c.steps > STEPS_MAX)
		c.steps = STEPS_MAX;
	c.time_ns = TIME_NS + (int64_t)n * TIME_NS_PER_BYTE;
	if (s->patterns != NULL) {
		c.began = clock_mono();
		c.scratch = atomic_exchange(&s->scratch, NULL);
		/* Another thread uses it. */
		if (c.scratch == NULL)
			c.scratch = rx_scratch_new();
	}
	enum rc rc = valid_node(&c, s->root, v, at);
	if (c.scratch != NULL)
		rx_scratch_free(atomic_exchange(&s->scratch, c.scratch));
	if (rc == RC_TOOBIG)
		return wire_fail(at, rc, "takes too long to check");
	return rc;
}

/* ---- the interface ---- */

/* The root of a document whose errors go to err, which may be NULL. */
static struct wire_at
valid_root(struct wire_err *err)
{
	if (err != NULL)
		*err = (struct wire_err){ "", "" };
	return (struct wire_at){ NULL, { NULL, 0 }, 0, err };
}

enum rc
wire_schema_new(struct str json, struct wire_schema **out, struct wire_err *err)
{
	struct wire_at at = valid_root(err);
	if (json.n > WIRE_SCHEMA_MAX)
		return wire_fail(
		    &at, RC_TOOBIG, "has more than %d bytes", WIRE_SCHEMA_MAX);
	json_t *root;
	enum rc rc = wire_raw_parse_any(json, WIRE_DEPTH_MAX, &at, &root);
	if (rc != RC_OK)
		return rc;
	struct wire_schema *s = mem_zalloc(sizeof(*s));
	s->json = root;
	s->a = arena_new(ARENA_MAX);
	rc = wire_schema_compile(s, err);
	if (rc != RC_OK) {
		wire_schema_free(s);
		return rc;
	}
	if (s->patterns != NULL)
		atomic_store(&s->scratch, rx_scratch_new());
	*out = s;
	return RC_OK;
}

void
wire_schema_free(struct wire_schema *s)
{
	if (s == NULL)
		return;
	for (struct wire_pattern *p = s->patterns; p != NULL; p = p->next)
		rx_free(p->rx);
	rx_scratch_free(atomic_load(&s->scratch));
	arena_free(s->a);
	json_decref(s->json);
	free(s);
}

enum rc
wire_schema_check(struct wire_schema *s, struct str json, struct wire_err *err)
{
	struct wire_at at = valid_root(err);
	json_t *v;
	enum rc rc = wire_raw_parse_any(json, WIRE_DEPTH_MAX, &at, &v);
	if (rc != RC_OK)
		return rc;
	rc = valid_root_value(s, v, json.n, &at);
	json_decref(v);
	return rc;
}
