/*
 * JSON without a schema.
 */

#include "wire/wire_internal.h"

#include <jansson.h>
#include <string.h>

/* The offset behind the string that opens at i; in.n if it does not end. */
static size_t
raw_skip_string(struct str in, size_t i)
{
	for (i++; i < in.n; i++) {
		if (in.p[i] == '"')
			return i + 1;
		if (in.p[i] == '\\')
			i++;
	}
	return in.n;
}

/*
 * Whether nesting and containers are within bounds.  Says nothing of a text
 * that is not JSON; jansson does.
 */
static enum rc
raw_check_shape(struct str in, size_t max, const struct wire_at *at)
{
	size_t depth = 0;
	size_t containers = 0;
	size_t i = 0;
	while (i < in.n) {
		char c = in.p[i];
		if (c == '"') {
			i = raw_skip_string(in, i);
			continue;
		}
		if (c == '{' || c == '[') {
			depth++;
			containers++;
		} else if ((c == '}' || c == ']') && depth > 0) {
			depth--;
		}
		if (depth > max)
			return wire_fail(
			    at, RC_INVALID, "is nested deeper than %zu", max);
		i++;
	}
	if (containers > WIRE_CONTAINERS_MAX)
		return wire_fail(
		    at, RC_TOOBIG, "has too many objects and arrays");
	return RC_OK;
}

/* jansson's own texts quote the input, which may be a user's words. */
static const char *
raw_parse_why(const json_error_t *e)
{
	switch (json_error_code(e)) {
	case json_error_premature_end_of_input:
		return "ends too early";
	case json_error_end_of_input_expected:
		return "has bytes behind its end";
	case json_error_invalid_utf8:
		return "is not UTF-8";
	case json_error_null_character:
	case json_error_null_byte_in_key:
		return "must not have U+0000";
	case json_error_duplicate_key:
		return "has the same member twice";
	case json_error_numeric_overflow:
		return "has a number out of range";
	default:
		return "is not JSON";
	}
}

/* flags are for where an integer is beyond int64_t; 0: that is an error. */
static enum rc
raw_parse(struct str in, size_t depth, const struct wire_at *at, size_t flags,
    json_t **out)
{
	if (in.n > WIRE_MESSAGE_MAX)
		return wire_fail(
		    at, RC_TOOBIG, "has more than %d bytes", WIRE_MESSAGE_MAX);
	enum rc rc = raw_check_shape(in, depth, at);
	if (rc != RC_OK)
		return rc;
	json_error_t e;
	const char *text = in.p != NULL ? in.p : "";
	size_t always = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
	*out = json_loadb(text, in.n, always, &e);
	if (*out == NULL && flags != 0 &&
	    json_error_code(&e) == json_error_numeric_overflow)
		*out = json_loadb(text, in.n, always | flags, &e);
	if (*out == NULL)
		return wire_fail(at, RC_INVALID, "%s (byte %d)",
		    raw_parse_why(&e), e.position);
	/* jansson skips a NUL behind a number or a word. */
	const char *nul = memchr(text, '\0', in.n);
	if (nul != NULL) {
		json_decref(*out);
		return wire_fail(at, RC_INVALID, "is not JSON (byte %zu)",
		    (size_t)(nul - text) + 1);
	}
	return RC_OK;
}

enum rc
wire_raw_parse(
    struct str in, size_t depth, const struct wire_at *at, json_t **out)
{
	return raw_parse(in, depth, at, 0, out);
}

enum rc
wire_raw_parse_any(
    struct str in, size_t depth, const struct wire_at *at, json_t **out)
{
	return raw_parse(in, depth, at, JSON_DECODE_INT_AS_REAL, out);
}

static void
raw_put_real(struct wire_out *o, double f)
{
	size_t from = o->b->n;
	wire_out_f64(o, f);
	/* "1.0" must not come back as an integer. */
	if (o->b->n > from &&
	    memchr(o->b->p + from, '.', o->b->n - from) == NULL &&
	    memchr(o->b->p + from, 'e', o->b->n - from) == NULL)
		buf_puts(o->b, ".0");
}

static void
raw_put_object(struct wire_out *o, const json_t *v)
{
	/* jansson's iterators take no const, and change nothing. */
	union {
		const json_t *c;
		json_t *m;
	} u = { .c = v };
	wire_out_object(o);
	for (void *it = json_object_iter(u.m); it != NULL;
	     it = json_object_iter_next(u.m, it)) {
		wire_out_key(o,
		    (struct str){ json_object_iter_key(it),
			json_object_iter_key_len(it) });
		wire_raw_put(o, json_object_iter_value(it));
	}
	wire_out_object_end(o);
}

void
wire_raw_put(struct wire_out *o, const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		raw_put_object(o, v);
		break;
	case JSON_ARRAY:
		wire_out_array(o);
		for (size_t i = 0; i < json_array_size(v); i++)
			wire_raw_put(o, json_array_get(v, i));
		wire_out_array_end(o);
		break;
	case JSON_STRING:
		wire_out_str(o,
		    (struct str){
			json_string_value(v), json_string_length(v) });
		break;
	case JSON_INTEGER:
		wire_out_i64(o, json_integer_value(v));
		break;
	case JSON_REAL:
		raw_put_real(o, json_real_value(v));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		wire_out_bool(o, json_is_true(v));
		break;
	case JSON_NULL:
		wire_out_null(o);
		break;
	}
}

bool
wire_raw_plain(struct str in, size_t depth)
{
	const unsigned rewritten =
	    WIRE_SCAN_SPACE | WIRE_SCAN_EXPONENT | WIRE_SCAN_UNICODE;
	struct wire_scan s;
	bool plain;

	if (depth > WIRE_DEPTH_MAX || in.n > WIRE_MESSAGE_MAX)
		return false;
	wire_scan_begin(&s, in);
	s.max_depth = depth;
	plain = wire_scan_value(&s) == RC_OK && s.p == s.end &&
	    (s.traits & rewritten) == 0;
	wire_scan_end(&s);
	return plain;
}
