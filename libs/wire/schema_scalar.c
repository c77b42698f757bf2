/*
 * What a schema says of numbers and strings.
 */
#include <jansson.h>

#include "core/buf.h"
#include "wire/raw.h"
#include "wire/schema_check.h"
#include "wire/value.h"

/* "must be at least 0.2" */
static enum rc
refuse_number(const char *what, const json_t *bound, const struct wire_at *at)
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
		return refuse_number("at least", n->min, at);
	if (n->above != NULL && wire_value_compare(v, n->above) <= 0)
		return refuse_number("more than", n->above, at);
	if (n->max != NULL && wire_value_compare(v, n->max) > 0)
		return refuse_number("at most", n->max, at);
	if (n->below != NULL && wire_value_compare(v, n->below) >= 0)
		return refuse_number("less than", n->below, at);
	if (n->multiple != NULL && !wire_value_multiple(v, n->multiple))
		return refuse_number("a multiple of", n->multiple, at);
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
	rc = wire_valid_pattern(c, n->pattern, s, &found);
	if (rc == RC_OK && !found)
		return wire_fail(at, RC_INVALID, "must match the pattern %.*s",
		    STR_ARG(n->pattern->text));
	return rc;
}

enum rc
wire_valid_scalar(struct wire_checking *c, const struct wire_node *n,
    const json_t *v, const struct wire_at *at)
{
	if (json_is_number(v))
		return valid_number(n, v, at);
	if (json_is_string(v))
		return valid_string(c, n, v, at);
	return RC_OK;
}
