/*
 * raw: values that have no schema, and the look at a text before it is parsed.
 */
#ifndef WIRE_RAW_H
#define WIRE_RAW_H

#include <stdbool.h>
#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"
#include "wire/check.h"
#include "wire/out.h"

struct json_t;

/*
 * wire_raw_plain(in, depth):
 * Whether in is surely compact JSON that is nested no deeper than depth and
 * that wire_raw_parse() would take.  False says nothing.
 */
bool wire_raw_plain(struct str in, size_t depth);

/*
 * wire_raw_parse(in, depth, at, out):
 * Parse JSON text that is nested no deeper than depth and whose size and number
 * of objects and arrays are within their ceilings.  RC_INVALID or RC_TOOBIG
 * through wire_fail(at), which never quotes the text.  *out is the caller's to
 * json_decref().
 */
enum rc wire_raw_parse(struct str in, size_t depth, const struct wire_at *at,
    struct json_t **out) RC_CHECK;

/* wire_out_utf8(o, s): As wire_out_str(), of what is known to be UTF-8. */
void wire_out_utf8(struct wire_out *o, struct str s);

/*
 * wire_raw_parse_any(in, depth, at, out):
 * As wire_raw_parse(), but where an integer is beyond int64_t all numbers of
 * the text become reals.
 */
enum rc wire_raw_parse_any(struct str in, size_t depth,
    const struct wire_at *at, struct json_t **out) RC_CHECK;

/*
 * wire_raw_put(o, v): Write v as compact JSON: members in the order they came,
 * real numbers told apart from integers.  Recurses WIRE_DEPTH_MAX deep at most.
 */
void wire_raw_put(struct wire_out *o, const struct json_t *v);

#endif /* !WIRE_RAW_H */
