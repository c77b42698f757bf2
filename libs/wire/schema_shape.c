/*
 * The keywords of draft-07 as a table.
 */

#include <jansson.h>

#include "core/map.h"
#include "core/mem.h"
#include "wire/wire_internal.h"

enum shape {
	SHAPE_ANY,
	SHAPE_STRING,
	SHAPE_BOOL,
	SHAPE_NUMBER,
	SHAPE_POSITIVE, /* a number > 0 */
	SHAPE_COUNT,    /* an integer ≥ 0 */
	SHAPE_ARRAY,
	SHAPE_NAMES, /* strings, each once */
	SHAPE_TYPE,  /* a type or some, each once */
	SHAPE_SCHEMA,
	SHAPE_SCHEMAS,     /* in an array, at least one */
	SHAPE_ITEMS,       /* a schema or some */
	SHAPE_MEMBERS,     /* schemas in an object */
	SHAPE_DEPENDENCIES /* schemas or names in an object */
};

static const struct {
	struct str name;
	enum shape shape;
} shape_keywords[] = {
	{ STR_INIT("$comment"), SHAPE_STRING },
	{ STR_INIT("$id"), SHAPE_STRING },
	{ STR_INIT("$ref"), SHAPE_STRING },
	{ STR_INIT("$schema"), SHAPE_STRING },
	{ STR_INIT("additionalItems"), SHAPE_SCHEMA },
	{ STR_INIT("additionalProperties"), SHAPE_SCHEMA },
	{ STR_INIT("allOf"), SHAPE_SCHEMAS },
	{ STR_INIT("anyOf"), SHAPE_SCHEMAS },
	{ STR_INIT("contains"), SHAPE_SCHEMA },
	{ STR_INIT("contentEncoding"), SHAPE_STRING },
	{ STR_INIT("contentMediaType"), SHAPE_STRING },
	{ STR_INIT("definitions"), SHAPE_MEMBERS },
	{ STR_INIT("dependencies"), SHAPE_DEPENDENCIES },
	{ STR_INIT("description"), SHAPE_STRING },
	{ STR_INIT("else"), SHAPE_SCHEMA },
	{ STR_INIT("enum"), SHAPE_ARRAY },
	{ STR_INIT("examples"), SHAPE_ARRAY },
	{ STR_INIT("exclusiveMaximum"), SHAPE_NUMBER },
	{ STR_INIT("exclusiveMinimum"), SHAPE_NUMBER },
	{ STR_INIT("format"), SHAPE_STRING },
	{ STR_INIT("if"), SHAPE_SCHEMA },
	{ STR_INIT("items"), SHAPE_ITEMS },
	{ STR_INIT("maxItems"), SHAPE_COUNT },
	{ STR_INIT("maxLength"), SHAPE_COUNT },
	{ STR_INIT("maxProperties"), SHAPE_COUNT },
	{ STR_INIT("maximum"), SHAPE_NUMBER },
	{ STR_INIT("minItems"), SHAPE_COUNT },
	{ STR_INIT("minLength"), SHAPE_COUNT },
	{ STR_INIT("minProperties"), SHAPE_COUNT },
	{ STR_INIT("minimum"), SHAPE_NUMBER },
	{ STR_INIT("multipleOf"), SHAPE_POSITIVE },
	{ STR_INIT("not"), SHAPE_SCHEMA },
	{ STR_INIT("oneOf"), SHAPE_SCHEMAS },
	{ STR_INIT("pattern"), SHAPE_STRING },
	{ STR_INIT("patternProperties"), SHAPE_MEMBERS },
	{ STR_INIT("properties"), SHAPE_MEMBERS },
	{ STR_INIT("propertyNames"), SHAPE_SCHEMA },
	{ STR_INIT("readOnly"), SHAPE_BOOL },
	{ STR_INIT("required"), SHAPE_NAMES },
	{ STR_INIT("then"), SHAPE_SCHEMA },
	{ STR_INIT("title"), SHAPE_STRING },
	{ STR_INIT("type"), SHAPE_TYPE },
	{ STR_INIT("uniqueItems"), SHAPE_BOOL },
	{ STR_INIT("writeOnly"), SHAPE_BOOL },
};

static const struct {
	struct str name;
	enum wire_schema_type type;
} shape_types[] = {
	{ STR_INIT("null"), WIRE_TYPE_NULL },
	{ STR_INIT("boolean"), WIRE_TYPE_BOOLEAN },
	{ STR_INIT("integer"), WIRE_TYPE_INTEGER },
	{ STR_INIT("number"), WIRE_TYPE_NUMBER },
	{ STR_INIT("string"), WIRE_TYPE_STRING },
	{ STR_INIT("array"), WIRE_TYPE_ARRAY },
	{ STR_INIT("object"), WIRE_TYPE_OBJECT },
};

unsigned
wire_type_of(struct str name)
{
	for (size_t i = 0; i < NELEM(shape_types); i++) {
		if (str_eq(name, shape_types[i].name))
			return (unsigned)shape_types[i].type;
	}
	return 0;
}

/* The table is in byte order. */
static enum shape
shape_of(struct str name)
{
	size_t from = 0;
	size_t to = NELEM(shape_keywords);
	while (from < to) {
		size_t mid = from + (to - from) / 2;
		int c = str_cmp(name, shape_keywords[mid].name);
		if (c == 0)
			return shape_keywords[mid].shape;
		if (c < 0)
			to = mid;
		else
			from = mid + 1;
	}
	return SHAPE_ANY;
}

static struct str
shape_text_of(const json_t *v)
{
	return (struct str){ json_string_value(v), json_string_length(v) };
}

static struct wire_at
shape_at_item(const struct wire_at *up, size_t i)
{
	return (struct wire_at){ up, { NULL, 0 }, i, up->err };
}

static struct wire_at
shape_at_member(const struct wire_at *up, void *it)
{
	struct str key = { json_object_iter_key(it),
		json_object_iter_key_len(it) };
	return (struct wire_at){ up, key, 0, up->err };
}

static enum rc
shape_fail_if(bool bad, const struct wire_at *at, const char *why)
{
	return bad ? wire_fail(at, RC_INVALID, "%s", why) : RC_OK;
}

static enum rc
shape_check_count(const json_t *v, const struct wire_at *at)
{
	bool negative = json_is_integer(v) ? json_integer_value(v) < 0
					   : json_number_value(v) < 0;
	return shape_fail_if(!wire_value_whole(v) || negative, at,
	    "must be an integer of at least 0");
}

/* The names in v, each of them once. */
static enum rc
shape_check_names(const json_t *v, const struct wire_at *at, size_t *steps)
{
	if (!json_is_array(v))
		return wire_fail(at, RC_INVALID, "must be an array of names");
	struct map *seen = map_new();
	enum rc rc = wire_value_pay(steps, json_array_size(v));
	for (size_t i = 0; rc == RC_OK && i < json_array_size(v); i++) {
		const json_t *name = json_array_get(v, i);
		struct wire_at item = shape_at_item(at, i);
		rc = shape_fail_if(
		    !json_is_string(name), &item, "must be a string");
		if (rc != RC_OK)
			break;
		if (map_put(seen, shape_text_of(name), seen) != NULL)
			rc = wire_fail(&item, RC_INVALID, "stands there twice");
	}
	map_free(seen);
	return rc;
}

static enum rc
shape_check_type(const json_t *v, const struct wire_at *at)
{
	static const char why[] = "must be one of null, boolean, integer, "
				  "number, string, array, object";
	unsigned seen = 0;
	if (json_is_string(v))
		return shape_fail_if(
		    wire_type_of(shape_text_of(v)) == 0, at, why);
	if (!json_is_array(v) || json_array_size(v) == 0)
		return wire_fail(
		    at, RC_INVALID, "must be a type or an array of types");
	for (size_t i = 0; i < json_array_size(v); i++) {
		const json_t *name = json_array_get(v, i);
		struct wire_at item = shape_at_item(at, i);
		unsigned bit = wire_type_of(shape_text_of(name));
		if (!json_is_string(name) || bit == 0)
			return wire_fail(&item, RC_INVALID, "%s", why);
		if ((seen & bit) != 0)
			return wire_fail(
			    &item, RC_INVALID, "stands there twice");
		seen |= bit;
	}
	return RC_OK;
}

static enum rc
shape_check_schemas(const json_t *v, const struct wire_at *at, size_t *steps)
{
	if (!json_is_array(v) || json_array_size(v) == 0)
		return wire_fail(
		    at, RC_INVALID, "must be an array of at least one schema");
	for (size_t i = 0; i < json_array_size(v); i++) {
		struct wire_at item = shape_at_item(at, i);
		enum rc rc =
		    wire_shape_check(json_array_get(v, i), &item, steps);
		if (rc != RC_OK)
			return rc;
	}
	return RC_OK;
}

/* An object of schemas, or where names is set of schemas and lists of names. */
static enum rc
shape_check_members(
    const json_t *v, const struct wire_at *at, bool names, size_t *steps)
{
	if (!json_is_object(v))
		return wire_fail(
		    at, RC_INVALID, "must be an object of schemas");
	json_t *o = wire_value_unconst(v);
	for (void *it = json_object_iter(o); it != NULL;
	     it = json_object_iter_next(o, it)) {
		struct wire_at member = shape_at_member(at, it);
		const json_t *sub = json_object_iter_value(it);
		enum rc rc = names && json_is_array(sub)
		    ? shape_check_names(sub, &member, steps)
		    : wire_shape_check(sub, &member, steps);
		if (rc != RC_OK)
			return rc;
	}
	return RC_OK;
}

static enum rc
shape_check_keyword(
    enum shape shape, const json_t *v, const struct wire_at *at, size_t *steps)
{
	switch (shape) {
	case SHAPE_ANY:
		return RC_OK;
	case SHAPE_STRING:
		return shape_fail_if(
		    !json_is_string(v), at, "must be a string");
	case SHAPE_BOOL:
		return shape_fail_if(
		    !json_is_boolean(v), at, "must be true or false");
	case SHAPE_NUMBER:
		return shape_fail_if(
		    !json_is_number(v), at, "must be a number");
	case SHAPE_POSITIVE:
		return shape_fail_if(
		    !json_is_number(v) || !(json_number_value(v) > 0), at,
		    "must be a number above 0");
	case SHAPE_COUNT:
		return shape_check_count(v, at);
	case SHAPE_ARRAY:
		return shape_fail_if(!json_is_array(v), at, "must be an array");
	case SHAPE_NAMES:
		return shape_check_names(v, at, steps);
	case SHAPE_TYPE:
		return shape_check_type(v, at);
	case SHAPE_SCHEMA:
		return wire_shape_check(v, at, steps);
	case SHAPE_SCHEMAS:
		return shape_check_schemas(v, at, steps);
	case SHAPE_ITEMS:
		if (json_is_array(v))
			return shape_check_schemas(v, at, steps);
		return wire_shape_check(v, at, steps);
	case SHAPE_MEMBERS:
		return shape_check_members(v, at, false, steps);
	case SHAPE_DEPENDENCIES:
		return shape_check_members(v, at, true, steps);
	}
	return RC_BUG;
}

enum rc
wire_shape_check(const json_t *v, const struct wire_at *at, size_t *steps)
{
	if (json_is_boolean(v))
		return wire_value_pay(steps, 1);
	if (!json_is_object(v))
		return wire_fail(at, RC_INVALID,
		    "must be a schema: an object, true or false");
	enum rc rc = wire_value_pay(steps, 1 + json_object_size(v));
	json_t *o = wire_value_unconst(v);
	for (void *it = json_object_iter(o); rc == RC_OK && it != NULL;
	     it = json_object_iter_next(o, it)) {
		struct wire_at member = shape_at_member(at, it);
		rc = shape_check_keyword(shape_of(member.key),
		    json_object_iter_value(it), &member, steps);
	}
	return rc;
}

static enum rc
shape_each_in(enum shape shape, json_t *v, const struct wire_at *at,
    wire_shape_fn fn, void *arg)
{
	enum rc rc = RC_OK;
	if (shape == SHAPE_SCHEMA ||
	    (shape == SHAPE_ITEMS && !json_is_array(v)))
		return fn(arg, v, at);
	if (shape == SHAPE_SCHEMAS || shape == SHAPE_ITEMS) {
		for (size_t i = 0; rc == RC_OK && i < json_array_size(v); i++) {
			struct wire_at item = shape_at_item(at, i);
			rc = fn(arg, json_array_get(v, i), &item);
		}
		return rc;
	}
	if (shape != SHAPE_MEMBERS && shape != SHAPE_DEPENDENCIES)
		return RC_OK;
	for (void *it = json_object_iter(v); rc == RC_OK && it != NULL;
	     it = json_object_iter_next(v, it)) {
		struct wire_at member = shape_at_member(at, it);
		json_t *sub = json_object_iter_value(it);
		if (!json_is_array(sub))
			rc = fn(arg, sub, &member);
	}
	return rc;
}

enum rc
wire_shape_each(
    const json_t *v, const struct wire_at *at, wire_shape_fn fn, void *arg)
{
	enum rc rc = RC_OK;
	json_t *o = wire_value_unconst(v);
	for (void *it = json_object_iter(o); rc == RC_OK && it != NULL;
	     it = json_object_iter_next(o, it)) {
		struct wire_at member = shape_at_member(at, it);
		rc = shape_each_in(shape_of(member.key),
		    json_object_iter_value(it), &member, fn, arg);
	}
	return rc;
}
