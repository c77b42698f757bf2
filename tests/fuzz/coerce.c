/*
 * Arguments from a hostile model, coerced to the schema of a hostile device: a
 * schema, a NUL, a value. The result is JSON of the same kind, coercing it
 * again changes nothing, and it is valid where the value was.
 */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "must.h"
#include "wire/coerce.h"
#include "wire/schema.h"
#include "wire/tree.h"
#include "wire/wire.h"

/* Sanitized and instrumented code is an order of magnitude slower. */
#define MOST_S 3

static struct str
copy_of(const uint8_t *p, size_t n)
{
	char *copy = mem_alloc(n > 0 ? n : 1);
	memcpy(copy, p, n);
	return (struct str){ copy, n };
}

static void
free_copy(struct str s)
{
	free((char *)(uintptr_t)s.p);
}

/* RC_TOOBIG says nothing about validity. */
static enum rc
verdict(struct str schema, struct str value)
{
	struct wire_schema *s;
	enum rc rc = wire_schema_new(schema, &s, NULL);

	if (rc != RC_OK)
		return RC_TOOBIG;
	rc = wire_schema_check(s, value, NULL);
	wire_schema_free(s);
	return rc;
}

static enum rc
coerce(struct str schema, struct str value, struct buf *out)
{
	struct wire_tree *shape;
	enum rc rc = wire_tree_parse(schema, &shape);

	if (rc == RC_OK) {
		rc = wire_coerce(shape, value, out);
		wire_tree_free(shape);
	}
	return rc;
}

static void
check(struct str schema, struct str value, struct str out)
{
	struct buf second = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_tree *v;

	must(wire_tree_parse(out, &v) == RC_OK);
	wire_tree_free(v);
	if (verdict(schema, value) == RC_OK)
		must(verdict(schema, out) != RC_INVALID);
	enum rc rc = coerce(schema, out, &second);
	must(rc == RC_OK || rc == RC_TOOBIG);
	buf_free(&second);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const uint8_t *end = n > 0 ? memchr(data, '\0', n) : NULL;

	if (end == NULL)
		return 0;
	size_t split = (size_t)(end - data);
	struct str schema = copy_of(data, split);
	struct str value = copy_of(end + 1, n - split - 1);
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	double start = cpu_s();
	enum rc rc = coerce(schema, value, &out);
	must(cpu_s() - start < MOST_S);
	must(rc == RC_OK || rc == RC_INVALID || rc == RC_TOOBIG);
	if (rc == RC_OK)
		check(schema, value, buf_str(&out));
	buf_free(&out);
	free_copy(schema);
	free_copy(value);
	return 0;
}
