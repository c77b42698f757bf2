/*
 * check: the bounds of values, checked by decode and encode alike, and errors
 * with their path.
 */
#ifndef WIRE_CHECK_H
#define WIRE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"
#include "wire/desc.h"
#include "wire/wire.h"

/* A path in a message: a chain on the stack, from the value to the top. */
struct wire_at {
	const struct wire_at *up; /* NULL: the whole message */
	struct str key;           /* absent: an array's element */
	size_t index;
	struct wire_err *err; /* of the whole chain; may be NULL */
};

/*
 * wire_fail(at, rc, fmt, ...):
 * Set the chain's err to at's JSON Pointer and the text, truncated at a code
 * point.  Returns rc.
 */
enum rc wire_fail(const struct wire_at *at, enum rc rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * wire_check_utf8(s, at):
 * Whether s is UTF-8 without U+0000; RC_INVALID through wire_fail() if not.
 */
enum rc wire_check_utf8(struct str s, const struct wire_at *at) RC_CHECK;

/*
 * Whether a value is within its type's bounds; RC_INVALID through wire_fail()
 * if not.  wire_check_text() takes UTF-8, wire_check_enum() an index into
 * t->names.
 */
enum rc wire_check_text(
    const struct wire_type *t, struct str s, const struct wire_at *at) RC_CHECK;
enum rc wire_check_enum(
    const struct wire_type *t, size_t i, const struct wire_at *at);
enum rc wire_check_i64(
    const struct wire_type *t, int64_t i, const struct wire_at *at);
enum rc wire_check_f64(
    const struct wire_type *t, double f, const struct wire_at *at);
enum rc wire_check_bool(
    const struct wire_type *t, bool v, const struct wire_at *at);
enum rc wire_check_count(
    const struct wire_type *t, size_t n, const struct wire_at *at);

/*
 * wire_check_choice(d, seen, at):
 * Whether exactly one of the members that exclude each other is among those
 * seen (bit i: fields[i]); RC_INVALID through wire_fail() if not.
 */
enum rc wire_check_choice(const struct wire_desc *d, uint64_t seen,
    const struct wire_at *at) RC_CHECK;

#endif /* !WIRE_CHECK_H */
