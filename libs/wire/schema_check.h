/*
 * schema_check: a value against the nodes of a schema.
 *
 * A place without err is only asked whether: nothing is written then.
 */
#ifndef WIRE_SCHEMA_CHECK_H
#define WIRE_SCHEMA_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/rc.h"
#include "wire/check.h"
#include "wire/schema_node.h"

struct json_t;

/*
 * wire_valid(s, v, n, at):
 * Whether v, n bytes of JSON, is valid.  RC_INVALID through wire_fail() if not;
 * RC_TOOBIG, too, if finding out takes too long.
 */
enum rc wire_valid(struct wire_schema *s, const struct json_t *v, size_t n,
    const struct wire_at *at) RC_CHECK;

/* A check that runs. */
struct wire_checking {
	struct wire_schema *s;
	size_t steps; /* left */
	size_t depth; /* of recursion */
	/* For patterns, which steps say little of. */
	int64_t time_ns;
	struct mono began;
	bool timed; /* time is running */
	struct budget time;
};

/*
 * Parts of a check, each in a file of its own: all of a node; what it says of
 * numbers and strings, of arrays, of objects.  RC_TOOBIG ends the whole check.
 */
enum rc wire_valid_node(struct wire_checking *c, const struct wire_node *n,
    const struct json_t *v, const struct wire_at *at) RC_CHECK;
enum rc wire_valid_scalar(struct wire_checking *c, const struct wire_node *n,
    const struct json_t *v, const struct wire_at *at) RC_CHECK;
enum rc wire_valid_array(struct wire_checking *c, const struct wire_node *n,
    const struct json_t *v, const struct wire_at *at) RC_CHECK;
enum rc wire_valid_object(struct wire_checking *c, const struct wire_node *n,
    const struct json_t *v, const struct wire_at *at) RC_CHECK;

/* wire_valid_pattern(c, p, text, found): Whether p is found in text. */
enum rc wire_valid_pattern(struct wire_checking *c,
    const struct wire_pattern *p, struct str text, bool *found) RC_CHECK;

/*
 * Why a value is not valid, for reading by people and language models; each
 * returns RC_INVALID: the type is not one of types; the value is not in the
 * array enums (or not fixed); none of the branches b fits v.
 */
enum rc wire_refuse_type(unsigned types, const struct wire_at *at);
enum rc wire_refuse_value(const struct json_t *enums,
    const struct json_t *fixed, const struct wire_at *at);
enum rc wire_refuse_all(struct wire_checking *c, const struct wire_branches *b,
    const struct json_t *v, const struct wire_at *at);

#endif /* !WIRE_SCHEMA_CHECK_H */
