/*
 * schema_ref: what "$id" and "$ref" mean inside one schema document.
 *
 * Base URIs follow "$id"; a reference finds the document itself, a subschema by
 * its "$id", either of them with a JSON Pointer behind it, or the draft-07
 * meta-schema.  Nothing is fetched.
 */
#ifndef WIRE_SCHEMA_REF_H
#define WIRE_SCHEMA_REF_H

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/wire.h"

struct json_t;
struct map;

/* A schema document; its owner sets root, a and err. */
struct wire_doc {
	struct json_t *root; /* of the right shape */
	struct arena *a;
	struct wire_err *err; /* may be NULL */
	struct map *ids;      /* URI to struct wire_target */
};

/* A schema and the base URI of the place where it stands. */
struct wire_target {
	struct json_t *schema; /* NULL: the meta-schema */
	struct str base;
};

/*
 * wire_doc_index(d): Find all "$id"s.  wire_doc_free(d) frees what that took;
 * call it in either case.
 */
enum rc wire_doc_index(struct wire_doc *d) RC_CHECK;
void wire_doc_free(struct wire_doc *d);

/*
 * wire_doc_base(d, t, base):
 * The base URI of references inside the schema t->schema.
 */
enum rc wire_doc_base(
    struct wire_doc *d, const struct wire_target *t, struct str *base) RC_CHECK;

/*
 * wire_doc_find(d, from, out):
 * What the "$ref" of the schema from->schema means; it may be no schema.
 * RC_INVALID, with d->err set, if it is not in the document.
 */
enum rc wire_doc_find(struct wire_doc *d, const struct wire_target *from,
    struct wire_target *out) RC_CHECK;

/*
 * wire_doc_fail(d, schema, keyword, rc, fmt, ...):
 * Set d->err to the place of keyword (NULL: of schema itself) and the text.
 * Returns rc.
 */
enum rc wire_doc_fail(struct wire_doc *d, const struct json_t *schema,
    const char *keyword, enum rc rc, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

#endif /* !WIRE_SCHEMA_REF_H */
