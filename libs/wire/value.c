/*
 * Equality and its hash, order of numbers, divisibility.
 */

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "wire/wire_internal.h"

enum rc
wire_value_pay(size_t *steps, size_t n)
{
	if (*steps < n) {
		*steps = 0;
		return RC_TOOBIG;
	}
	*steps -= n;
	return RC_OK;
}

static int
value_compare_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int
value_compare_f64(double a, double b)
{
	return (a > b) - (a < b);
}

/* i beside d, where turning i into a double could round it. */
static int
value_compare_mixed(int64_t i, double d)
{
	if (d >= 0x1p63)
		return -1;
	if (d < -0x1p63)
		return 1;
	double whole = trunc(d);
	int c = value_compare_i64(i, (int64_t)whole);
	return c != 0 ? c : value_compare_f64(whole, d);
}

int
wire_value_compare(const json_t *a, const json_t *b)
{
	if (json_is_integer(a) && json_is_integer(b))
		return value_compare_i64(
		    json_integer_value(a), json_integer_value(b));
	if (json_is_integer(a))
		return value_compare_mixed(
		    json_integer_value(a), json_real_value(b));
	if (json_is_integer(b))
		return -value_compare_mixed(
		    json_integer_value(b), json_real_value(a));
	return value_compare_f64(json_real_value(a), json_real_value(b));
}

bool
wire_value_whole(const json_t *v)
{
	if (json_is_integer(v))
		return true;
	return json_is_real(v) &&
	    json_real_value(v) == trunc(json_real_value(v));
}

/* A number as digits × 10^exp, digits not divisible by 10. */
struct decimal {
	uint64_t digits;
	int exp;
};

static struct decimal
value_decimal_of(const json_t *v)
{
	struct decimal d = { 0, 0 };
	if (json_is_integer(v)) {
		int64_t i = json_integer_value(v);
		d.digits = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
	} else {
		char text[40];
		double f = fabs(json_real_value(v));
		for (int digits = 15; digits <= 17; digits++) {
			(void)snprintf(
			    text, sizeof(text), "%.*e", digits - 1, f);
			if (strtod(text, NULL) == f)
				break;
		}
		/* d.ddde±xx */
		char *e = strchr(text, 'e');
		d.exp = (int)strtol(e + 1, NULL, 10);
		for (const char *p = text; p < e; p++) {
			if (*p == '.')
				continue;
			d.digits = d.digits * 10 + (uint64_t)(*p - '0');
			d.exp -= p > text;
		}
	}
	while (d.digits != 0 && d.digits % 10 == 0) {
		d.digits /= 10;
		d.exp++;
	}
	return d;
}

/* (a + b) mod m for a, b < m ≤ 2^63. */
static uint64_t
value_add_mod(uint64_t a, uint64_t b, uint64_t m)
{
	return (a + b) % m;
}

static uint64_t
value_times_ten_mod(uint64_t a, uint64_t m)
{
	uint64_t two = value_add_mod(a, a, m);
	uint64_t four = value_add_mod(two, two, m);
	return value_add_mod(value_add_mod(four, four, m), two, m);
}

bool
wire_value_multiple(const json_t *a, const json_t *b)
{
	struct decimal x = value_decimal_of(a);
	struct decimal y = value_decimal_of(b);
	if (x.digits == 0)
		return true;
	/* x.digits is no multiple of 10, so it cannot make up for this. */
	if (x.exp < y.exp)
		return false;
	uint64_t rest = x.digits % y.digits;
	for (; x.exp > y.exp && rest != 0; x.exp--)
		rest = value_times_ten_mod(rest, y.digits);
	return rest == 0;
}

static enum rc
value_equal_arrays(const json_t *a, const json_t *b, size_t *steps, bool *equal)
{
	size_t n = json_array_size(a);
	*equal = n == json_array_size(b);
	for (size_t i = 0; *equal && i < n; i++) {
		enum rc rc = wire_value_equal(
		    json_array_get(a, i), json_array_get(b, i), steps, equal);
		if (rc != RC_OK)
			return rc;
	}
	return RC_OK;
}

json_t *
wire_value_unconst(const json_t *v)
{
	union {
		const json_t *c;
		json_t *m;
	} u = { .c = v };
	return u.m;
}

static enum rc
value_equal_objects(
    const json_t *a, const json_t *b, size_t *steps, bool *equal)
{
	*equal = json_object_size(a) == json_object_size(b);
	if (!*equal)
		return RC_OK;
	json_t *o = wire_value_unconst(a);
	for (void *it = json_object_iter(o); it != NULL;
	     it = json_object_iter_next(o, it)) {
		const json_t *other = json_object_getn(
		    b, json_object_iter_key(it), json_object_iter_key_len(it));
		*equal = false;
		if (other == NULL)
			return RC_OK;
		enum rc rc = wire_value_equal(
		    json_object_iter_value(it), other, steps, equal);
		if (rc != RC_OK || !*equal)
			return rc;
	}
	return RC_OK;
}

enum rc
wire_value_equal(const json_t *a, const json_t *b, size_t *steps, bool *equal)
{
	enum rc rc = wire_value_pay(steps, 1);
	if (rc != RC_OK)
		return rc;
	if (json_is_number(a) && json_is_number(b)) {
		*equal = wire_value_compare(a, b) == 0;
		return RC_OK;
	}
	*equal = json_typeof(a) == json_typeof(b);
	if (!*equal)
		return RC_OK;
	switch (json_typeof(a)) {
	case JSON_STRING:
		*equal = json_string_length(a) == json_string_length(b) &&
		    memcmp(json_string_value(a), json_string_value(b),
			json_string_length(a)) == 0;
		return wire_value_pay(steps, json_string_length(a) / 64);
	case JSON_ARRAY:
		return value_equal_arrays(a, b, steps, equal);
	case JSON_OBJECT:
		return value_equal_objects(a, b, steps, equal);
	default:
		return RC_OK;
	}
}

static uint64_t
value_mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93ULL;
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93ULL;
	return h ^ h >> 32;
}

static uint64_t
value_hash_bytes(const char *p, size_t n)
{
	uint64_t h = 0x9e3779b97f4a7c15ULL ^ n;
	for (; n >= 8; n -= 8, p += 8) {
		uint64_t w;
		memcpy(&w, p, 8);
		h = value_mix(h ^ w);
	}
	uint64_t w = 0;
	memcpy(&w, p, n);
	return value_mix(h ^ w);
}

/* Equal numbers have equal bits here. */
static uint64_t
value_hash_number(const json_t *v)
{
	double f = json_number_value(v);
	uint64_t bits;
	if (f == 0)
		f = 0; /* -0.0 */
	memcpy(&bits, &f, sizeof(bits));
	return value_mix(bits ^ 3);
}

/* Equal values have equal hashes; chosen ones can too, which *steps bounds. */
static uint64_t
value_hash(const json_t *v, size_t *steps)
{
	uint64_t h = value_mix((uint64_t)json_typeof(v) + 1);
	if (wire_value_pay(steps, 1) != RC_OK)
		return 0;
	switch (json_typeof(v)) {
	case JSON_INTEGER:
	case JSON_REAL:
		return value_hash_number(v);
	case JSON_STRING:
		if (wire_value_pay(steps, json_string_length(v) / 64) != RC_OK)
			return 0;
		return value_mix(h ^
		    value_hash_bytes(
			json_string_value(v), json_string_length(v)));
	case JSON_ARRAY:
		for (size_t i = 0; i < json_array_size(v); i++)
			h = value_mix(
				h ^ value_hash(json_array_get(v, i), steps)) +
			    i;
		return h;
	case JSON_OBJECT: {
		json_t *o = wire_value_unconst(v);
		for (void *it = json_object_iter(o); it != NULL;
		     it = json_object_iter_next(o, it))
			h += value_mix(
			    value_hash_bytes(json_object_iter_key(it),
				json_object_iter_key_len(it)) ^
			    value_mix(
				value_hash(json_object_iter_value(it), steps)));
		return h;
	}
	default:
		return h;
	}
}

struct hashed {
	uint64_t value_hash;
	size_t index;
};

static int
value_compare_hashed(const void *a, const void *b)
{
	const struct hashed *x = a;
	const struct hashed *y = b;
	if (x->value_hash != y->value_hash)
		return x->value_hash < y->value_hash ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* The first equal pair among the neighbours that have one hash. */
static enum rc
value_find_equal(const json_t *array, const struct hashed *h, size_t n,
    size_t *steps, size_t same[2])
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = i + 1;
		     k < n && h[k].value_hash == h[i].value_hash; k++) {
			bool equal;
			enum rc rc = wire_value_equal(
			    json_array_get(array, h[i].index),
			    json_array_get(array, h[k].index), steps, &equal);
			if (rc != RC_OK)
				return rc;
			if (equal) {
				same[0] = h[i].index;
				same[1] = h[k].index;
				return RC_OK;
			}
		}
	}
	return RC_OK;
}

enum rc
wire_value_unique(const json_t *array, size_t *steps, size_t same[2])
{
	size_t n = json_array_size(array);
	same[0] = 0;
	same[1] = 0;
	if (n < 2)
		return RC_OK;
	struct hashed *h = mem_calloc(n, sizeof(*h));
	for (size_t i = 0; i < n; i++) {
		h[i].value_hash = value_hash(json_array_get(array, i), steps);
		h[i].index = i;
	}
	enum rc rc = wire_value_pay(steps, n);
	if (rc == RC_OK) {
		qsort(h, n, sizeof(*h), value_compare_hashed);
		rc = value_find_equal(array, h, n, steps, same);
	}
	free(h);
	return rc;
}
