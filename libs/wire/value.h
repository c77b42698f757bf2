/*
 * value: JSON values compared as JSON Schema does: 1 and 1.0 are equal, members
 * have no order.
 *
 * Work is paid for from *steps, about one step a value looked at; when they are
 * used up, the answer is RC_TOOBIG.
 */
#ifndef WIRE_VALUE_H
#define WIRE_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/rc.h"

struct json_t;

/* wire_value_pay(steps, n): Take n from *steps; RC_TOOBIG if there is less. */
enum rc wire_value_pay(size_t *steps, size_t n) RC_CHECK;

/* wire_value_equal(a, b, steps, equal): Whether a equals b. */
enum rc wire_value_equal(const struct json_t *a, const struct json_t *b,
    size_t *steps, bool *equal) RC_CHECK;

/*
 * wire_value_unique(array, steps, same):
 * Whether two elements of array are equal: same[0] < same[1] are their indices,
 * or both 0 if there are no two.
 */
enum rc wire_value_unique(
    const struct json_t *array, size_t *steps, size_t same[2]) RC_CHECK;

/* wire_value_compare(a, b): Two numbers, exactly: < 0, 0, > 0 as a is to b. */
int wire_value_compare(const struct json_t *a, const struct json_t *b);

/*
 * wire_value_multiple(a, b):
 * Whether the number a is b (> 0) times an integer.  Reals count as the
 * shortest decimal that reads back equal, so 0.3 is three times 0.1.
 */
bool wire_value_multiple(const struct json_t *a, const struct json_t *b);

/* wire_value_whole(v): Whether v is a number without a fraction. */
bool wire_value_whole(const struct json_t *v);

/* wire_value_unconst(v): v for jansson's iterators, which change nothing. */
struct json_t *wire_value_unconst(const struct json_t *v);

#endif /* !WIRE_VALUE_H */
