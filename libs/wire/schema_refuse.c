/*
 * Words for what is wrong with a value.
 */
#include <jansson.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "wire/raw.h"
#include "wire/schema_check.h"
#include "wire/schema_shape.h"

/* Steps for finding the best words. */
#define STEPS_MAX (20 * 1000)

enum rc
wire_refuse_type(unsigned types, const struct wire_at *at)
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
put_value(struct buf *b, const json_t *v)
{
	struct wire_out o = { b, false };
	if (json_is_string(v))
		buf_put(b, json_string_value(v), json_string_length(v));
	else
		wire_raw_put(&o, v);
}

enum rc
wire_refuse_value(
    const json_t *enums, const json_t *fixed, const struct wire_at *at)
{
	if (at->err == NULL)
		return RC_INVALID;
	struct buf b = BUF_INIT(WIRE_SCHEMA_MAX * 8);
	size_t n = json_array_size(enums);
	if (fixed != NULL)
		put_value(&b, fixed);
	for (size_t i = 0; i < n && b.n < sizeof(at->err->why); i++) {
		buf_puts(&b, i > 0 ? ", " : "");
		put_value(&b, json_array_get(enums, i));
	}
	if (fixed == NULL && n == 0)
		(void)wire_fail(at, RC_INVALID, "can have no value");
	else
		(void)wire_fail(at, RC_INVALID, "must be %s%.*s",
		    n > 1 ? "one of " : "", STR_ARG(buf_str(&b)));
	buf_free(&b);
	return RC_INVALID;
}

/* What one branch says of v; false if it takes too long to say. */
static bool
ask(struct wire_checking *c, const struct wire_node *n, const json_t *v,
    const struct wire_at *at, struct wire_err *err)
{
	struct wire_at here = *at;
	here.err = err;
	return wire_valid_node(c, n, v, &here) == RC_INVALID;
}

/*
 * The branch that was meant is most likely the one that v went furthest into.
 * If v went into none, all reasons are about v itself and are told together.
 */
enum rc
wire_refuse_all(struct wire_checking *c, const struct wire_branches *b,
    const json_t *v, const struct wire_at *at)
{
	struct wire_err best = { "", "" };
	struct wire_err err;
	size_t furthest = 0;
	if (at->err == NULL)
		return RC_INVALID;
	if (c->steps > STEPS_MAX)
		c->steps = STEPS_MAX;
	struct buf all = BUF_INIT(64 * 1024);
	(void)wire_fail(at, RC_INVALID, "fits none of the allowed forms");
	size_t here = strlen(at->err->path);
	for (size_t i = 0; i < b->n; i++) {
		size_t before = c->steps;
		if (!ask(c, b->p[i].node, v, at, &err))
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
