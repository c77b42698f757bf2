/*
 * JSON Schemas that come from outside: text in, verdict out.
 */
#include "wire/schema.h"

#include <jansson.h>
#include <stdlib.h>

#include "core/mem.h"
#include "rx/rx.h"
#include "wire/check.h"
#include "wire/raw.h"
#include "wire/schema_check.h"
#include "wire/schema_node.h"

/* Nodes and texts of a compiled schema. */
#define ARENA_MAX (4 * 1024 * 1024)

/* A place for err's whole document; err may be NULL. */
static struct wire_at
top(struct wire_err *err)
{
	if (err != NULL)
		*err = (struct wire_err){ "", "" };
	return (struct wire_at){ NULL, { NULL, 0 }, 0, err };
}

enum rc
wire_schema_new(struct str json, struct wire_schema **out, struct wire_err *err)
{
	struct wire_at at = top(err);
	if (json.n > WIRE_SCHEMA_MAX)
		return wire_fail(
		    &at, RC_TOOBIG, "has more than %d bytes", WIRE_SCHEMA_MAX);
	json_t *root;
	enum rc rc = wire_raw_parse_any(json, WIRE_DEPTH_MAX, &at, &root);
	if (rc != RC_OK)
		return rc;
	struct wire_schema *s = mem_zalloc(sizeof(*s));
	s->json = root;
	s->a = arena_new(ARENA_MAX);
	rc = wire_schema_compile(s, err);
	if (rc != RC_OK) {
		wire_schema_free(s);
		return rc;
	}
	if (s->patterns != NULL)
		s->scratch = rx_scratch_new();
	*out = s;
	return RC_OK;
}

void
wire_schema_free(struct wire_schema *s)
{
	if (s == NULL)
		return;
	for (struct wire_pattern *p = s->patterns; p != NULL; p = p->next)
		rx_free(p->rx);
	rx_scratch_free(s->scratch);
	arena_free(s->a);
	json_decref(s->json);
	free(s);
}

enum rc
wire_schema_check(struct wire_schema *s, struct str json, struct wire_err *err)
{
	struct wire_at at = top(err);
	json_t *v;
	enum rc rc = wire_raw_parse_any(json, WIRE_DEPTH_MAX, &at, &v);
	if (rc != RC_OK)
		return rc;
	rc = wire_valid(s, v, json.n, &at);
	json_decref(v);
	return rc;
}
