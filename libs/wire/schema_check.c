/*
 * A value against a node: its type and value, and the schemas that are applied
 * to the same value.
 */
#include "wire/schema_check.h"

#include <jansson.h>

#include "rx/rx.h"
#include "wire/schema_shape.h"
#include "wire/value.h"

/* Steps of a check, at some 20 ns each: a base, some per byte, a ceiling. */
#define STEPS_BASE     (100 * 1000)
#define STEPS_PER_BYTE 4
#define STEPS_MAX      (1000 * 1000)
/* Deepest recursion. */
#define DEPTH_MAX 500
/* CPU time once patterns took a millisecond: a base, and some per byte. */
#define TIME_NS          (5 * 1000 * 1000)
#define TIME_NS_PER_BYTE 32

/* The same place, only asked whether. */
static struct wire_at
quietly(const struct wire_at *at)
{
	struct wire_at quiet = *at;
	quiet.err = NULL;
	return quiet;
}

static unsigned
type_of(const json_t *v)
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
 * Whether patterns took too long.  The first millisecond costs only a look at
 * the clock each time; then the budget starts.
 */
static bool
time_is_up(struct wire_checking *c)
{
	if (c->timed)
		return budget_over(&c->time);
	if (mono_diff_ms(clock_mono(), c->began) == 0)
		return false;
	budget_start(&c->time, c->time_ns);
	c->timed = true;
	return false;
}

enum rc
wire_valid_pattern(struct wire_checking *c, const struct wire_pattern *p,
    struct str text, bool *found)
{
	enum rc rc = wire_value_pay(&c->steps, 1 + text.n / 64);
	if (rc != RC_OK)
		return rc;
	rc = rx_find(p->rx, c->s->scratch, text, 0, NULL);
	*found = rc == RC_OK;
	if (rc == RC_NOENT)
		rc = RC_OK;
	if (rc == RC_OK && time_is_up(c))
		rc = RC_TOOBIG;
	return rc;
}

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
		return wire_refuse_value(n->enums, NULL, at);
	if (n->fixed == NULL)
		return RC_OK;
	enum rc rc = wire_value_equal(v, n->fixed, &c->steps, &equal);
	if (rc == RC_OK && !equal)
		rc = wire_refuse_value(NULL, n->fixed, at);
	return rc;
}

static enum rc
valid_any(struct wire_checking *c, const struct wire_node *n, const json_t *v,
    const struct wire_at *at)
{
	struct wire_at quiet = quietly(at);
	for (size_t i = 0; i < n->any.n; i++) {
		enum rc rc = wire_valid_node(c, n->any.p[i].node, v, &quiet);
		if (rc != RC_INVALID)
			return rc;
	}
	return n->any.n == 0 ? RC_OK : wire_refuse_all(c, &n->any, v, at);
}

static enum rc
valid_one(struct wire_checking *c, const struct wire_node *n, const json_t *v,
    const struct wire_at *at)
{
	struct wire_at quiet = quietly(at);
	size_t fits = 0;
	size_t first = 0;
	for (size_t i = 0; i < n->one.n; i++) {
		enum rc rc = wire_valid_node(c, n->one.p[i].node, v, &quiet);
		if (rc == RC_INVALID)
			continue;
		if (rc != RC_OK)
			return rc;
		if (fits++ == 0)
			first = i;
		else
			return wire_fail(at, RC_INVALID,
			    "must fit only one of the %zu allowed forms, and "
			    "fits number %zu and number %zu",
			    n->one.n, first + 1, i + 1);
	}
	return fits > 0 || n->one.n == 0 ? RC_OK
					 : wire_refuse_all(c, &n->one, v, at);
}

static enum rc
valid_not(struct wire_checking *c, const struct wire_node *n, const json_t *v,
    const struct wire_at *at)
{
	struct wire_at quiet = quietly(at);
	enum rc rc = wire_valid_node(c, n->no, v, &quiet);
	if (rc == RC_OK)
		return wire_fail(
		    at, RC_INVALID, "must not fit the form that is ruled out");
	return rc == RC_INVALID ? RC_OK : rc;
}

static enum rc
valid_if(struct wire_checking *c, const struct wire_node *n, const json_t *v,
    const struct wire_at *at)
{
	struct wire_at quiet = quietly(at);
	enum rc rc = wire_valid_node(c, n->cond, v, &quiet);
	if (rc == RC_OK && n->then != NULL)
		return wire_valid_node(c, n->then, v, at);
	if (rc != RC_INVALID)
		return rc;
	return n->otherwise != NULL ? wire_valid_node(c, n->otherwise, v, at)
				    : RC_OK;
}

/* The schemas that are applied to v as it is. */
static enum rc
valid_in_place(struct wire_checking *c, const struct wire_node *n,
    const json_t *v, const struct wire_at *at)
{
	enum rc rc = RC_OK;
	for (size_t i = 0; rc == RC_OK && i < n->all.n; i++)
		rc = wire_valid_node(c, n->all.p[i].node, v, at);
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
	if (n->types != 0 && (n->types & type_of(v)) == 0)
		return wire_refuse_type(n->types, at);
	enum rc rc = RC_OK;
	if (n->enums != NULL || n->fixed != NULL)
		rc = valid_value(c, n, v, at);
	if (rc != RC_OK)
		return rc;
	if (json_is_object(v))
		rc = wire_valid_object(c, n, v, at);
	else if (json_is_array(v))
		rc = wire_valid_array(c, n, v, at);
	else
		rc = wire_valid_scalar(c, n, v, at);
	return rc != RC_OK ? rc : valid_in_place(c, n, v, at);
}

enum rc
wire_valid_node(struct wire_checking *c, const struct wire_node *n,
    const json_t *v, const struct wire_at *at)
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

enum rc
wire_valid(
    struct wire_schema *s, const json_t *v, size_t n, const struct wire_at *at)
{
	struct wire_checking c = { .s = s };
	c.steps = STEPS_BASE + n * STEPS_PER_BYTE;
	if (c.steps > STEPS_MAX)
		c.steps = STEPS_MAX;
	c.time_ns = TIME_NS + (int64_t)n * TIME_NS_PER_BYTE;
	if (s->patterns != NULL)
		c.began = clock_mono();
	enum rc rc = wire_valid_node(&c, s->root, v, at);
	if (rc == RC_TOOBIG)
		return wire_fail(at, rc, "takes too long to check");
	return rc;
}
