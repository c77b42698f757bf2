/*
 * The scanner of slices beside jansson: both accept the same texts, and find
 * the same members in them; and the end of a value is where the value ends.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "must.h"
#include "wire/slice.h"
#include "wire/wire.h"
#include "wire/wire_internal.h"

struct slice_check {
	const json_t *whole; /* NULL: the text is not valid */
	void *member;        /* the next one of an object */
	size_t n, containers;
};

static json_t *
slice_parse(struct str text)
{
	const struct wire_at top = { 0 };
	json_t *v;

	return wire_raw_parse(text, WIRE_DEPTH_MAX, &top, &v) == RC_OK ? v
								       : NULL;
}

/* The key of a member means what jansson makes of it. */
static void
slice_check_key(const struct wire_slice *s, struct str key)
{
	json_t *meant;

	must(s->escaped == (memchr(s->key.p, '\\', s->key.n) != NULL));
	if (!s->escaped) {
		must(str_eq(s->key, key));
		return;
	}
	meant = slice_parse((struct str){ s->key.p - 1, s->key.n + 2 });
	must(meant != NULL &&
	    str_eq((struct str){ json_string_value(meant),
		       json_string_length(meant) },
		key));
	json_decref(meant);
}

static void
slice_check_each(void *arg, const struct wire_slice *s)
{
	struct slice_check *c = arg;
	const json_t *expected;
	json_t *v;

	if (c->whole == NULL)
		return;
	if (json_is_array(c->whole)) {
		must(s->key.p == NULL);
		expected = json_array_get(c->whole, c->n);
	} else {
		must(c->member != NULL);
		slice_check_key(s,
		    (struct str){ json_object_iter_key(c->member),
			json_object_iter_key_len(c->member) });
		expected = json_object_iter_value(c->member);
		c->member = json_object_iter_next(
		    wire_value_unconst(c->whole), c->member);
	}
	c->n++;
	v = slice_parse(s->value);
	must(v != NULL && json_equal(v, expected));
	json_decref(v);
}

/* Objects and arrays are skipped without being scanned. */
static enum rc
slice_check_known(
    void *arg, const struct wire_slice *s, struct wire_slice_extent *x)
{
	struct slice_check *c = arg;

	if (wire_slice_extent(s->value, x) != RC_OK)
		return RC_NOENT;
	must(x->n <= s->value.n && x->n >= 2 && x->containers >= 1);
	c->containers += x->containers;
	return RC_OK;
}

static void
slice_check_extent(struct str text)
{
	struct wire_slice_extent x;
	struct slice_check c = { .containers = 1 };
	const struct wire_slice_handler h = { .known = slice_check_known,
		.arg = &c };

	must(wire_slice_each(text, &h) == RC_OK);
	must(wire_slice_extent(str_trim(text), &x) == RC_OK);
	must(x.n == str_trim(text).n && x.containers == c.containers);
}

/* The texts are alike if what differs is not scanned. */
static void
slice_check_max(struct str text, size_t max, enum rc whole)
{
	const struct wire_slice_handler h = { .max = max };
	enum rc rc = wire_slice_each(text, &h);

	must(max >= text.n ? rc == whole : rc != RC_OK);
	must(rc == RC_OK || rc == RC_INVALID || rc == RC_TOOBIG);
	must(rc != RC_INVALID || whole != RC_OK);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	/* A separate copy, so that a sanitizer sees a read past its end. */
	char *copy = mem_alloc(n + 1);
	struct str text = { copy, n };
	struct wire_slice_extent x;
	struct slice_check c = { 0 };
	const struct wire_slice_handler h = { .each = slice_check_each,
		.arg = &c };
	enum rc rc;

	copy = mem_realloc(copy, n > 0 ? n : 1);
	memcpy(copy, data, n);
	text.p = copy;
	json_t *v = slice_parse(text);
	bool container = json_is_object(v) || json_is_array(v);

	c.whole = container ? v : NULL;
	if (json_is_object(v))
		c.member = json_object_iter(v);
	rc = wire_slice_each(text, &h);
	must((rc == RC_OK) == container);
	must(rc == RC_OK || rc == RC_INVALID || rc == RC_TOOBIG);
	if (container) {
		must(c.member == NULL);
		must(c.n ==
		    (json_is_array(v) ? json_array_size(v)
				      : json_object_size(v)));
		slice_check_extent(text);
	} else if (wire_slice_extent(text, &x) == RC_OK) {
		must(x.n <= n && x.containers >= 1);
	}
	slice_check_max(text, n / 2, rc);
	slice_check_max(text, n, rc);
	json_decref(v);
	free(copy);
	return 0;
}
