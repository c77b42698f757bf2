/*
 * A JSON Schema from hostile bytes, a NUL, a value from hostile bytes. What
 * compiles is valid against the meta-schema; a check ends soon and has a
 * verdict with a reason, the same each time.
 */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "must.h"
#include "wire/schema.h"

/* Sanitized and instrumented code is an order of magnitude slower. */
#define MOST_S 3

/* A separate copy, so that a sanitizer sees a read past its end. */
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

static void
check_reason(enum rc rc, const struct wire_err *err)
{
	if (rc == RC_OK)
		return;
	must(rc == RC_INVALID || rc == RC_TOOBIG);
	must(memchr(err->why, '\0', sizeof(err->why)) != NULL);
	must(memchr(err->path, '\0', sizeof(err->path)) != NULL);
	must(err->why[0] != '\0');
	must(err->path[0] == '\0' || err->path[0] == '/');
}

static void
check_value(struct wire_schema *s, struct str value)
{
	struct wire_err err = { "", "" };
	double start = cpu_s();
	enum rc rc = wire_schema_check(s, value, &err);
	must(cpu_s() - start < MOST_S);
	check_reason(rc, &err);
	enum rc second = wire_schema_check(s, value, NULL);
	/* Only a check close to its time limit may end either way. */
	must(second == rc || second == RC_TOOBIG || rc == RC_TOOBIG);
}

static void
check_against_meta(struct str schema)
{
	static const struct str meta =
	    STR_INIT("{\"$ref\":\"http://json-schema.org/draft-07/schema#\"}");
	struct wire_schema *s = NULL;
	struct wire_err err;
	must(wire_schema_new(meta, &s, &err) == RC_OK);
	enum rc rc = wire_schema_check(s, schema, &err);
	must(rc == RC_OK || rc == RC_TOOBIG);
	wire_schema_free(s);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const uint8_t *end = n > 0 ? memchr(data, '\0', n) : NULL;
	size_t split = end != NULL ? (size_t)(end - data) : n;
	struct str schema = copy_of(data, split);
	struct str value =
	    split < n ? copy_of(end + 1, n - split - 1) : copy_of(data, split);
	struct wire_schema *s = NULL;
	struct wire_err err = { "", "" };
	double start = cpu_s();
	enum rc rc = wire_schema_new(schema, &s, &err);
	must(cpu_s() - start < MOST_S);
	check_reason(rc, &err);
	if (rc == RC_OK) {
		check_against_meta(schema);
		check_value(s, value);
	}
	wire_schema_free(s);
	free_copy(schema);
	free_copy(value);
	return 0;
}
