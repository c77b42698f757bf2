/*
 * What a schema says of arrays.
 */
#include <jansson.h>

#include "wire/schema_check.h"
#include "wire/value.h"

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
		struct wire_at below = { at, { NULL, 0 }, i, at->err };
		if (item == NULL) /* nor has any after it */
			break;
		rc = wire_valid_node(c, item, json_array_get(v, i), &below);
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
		struct wire_at below = { at, { NULL, 0 }, i, NULL };
		enum rc rc = wire_valid_node(
		    c, n->contains, json_array_get(v, i), &below);
		if (rc != RC_INVALID)
			return rc;
	}
	return wire_fail(
	    at, RC_INVALID, "has no item of the form that one must have");
}

enum rc
wire_valid_array(struct wire_checking *c, const struct wire_node *n,
    const json_t *v, const struct wire_at *at)
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
