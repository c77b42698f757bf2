/*
 * What a schema says of objects.
 */
#include <jansson.h>
#include <stdlib.h>

#include "core/buf.h"
#include "wire/schema_check.h"
#include "wire/value.h"

static struct wire_at
below(const struct wire_at *at, struct str key)
{
	return (struct wire_at){ at, key, 0, at->err };
}

static bool
has(const json_t *v, struct str name)
{
	return json_object_getn(v, name.p, name.n) != NULL;
}

static enum rc
valid_size(const struct wire_range *r, size_t n, const struct wire_at *at)
{
	if (n < r->least)
		return wire_fail(
		    at, RC_INVALID, "must have at least %zu members", r->least);
	if (n > r->most)
		return wire_fail(
		    at, RC_INVALID, "must have at most %zu members", r->most);
	return RC_OK;
}

static enum rc
valid_required(struct wire_checking *c, const struct wire_node *n,
    const json_t *v, const struct wire_at *at)
{
	enum rc rc = wire_value_pay(&c->steps, n->n_required / 4);
	for (size_t i = 0; rc == RC_OK && i < n->n_required; i++) {
		struct wire_at missing = below(at, n->required[i]);
		if (!has(v, n->required[i]))
			rc = wire_fail(&missing, RC_INVALID, "is required");
	}
	return rc;
}

static enum rc
valid_dependency(struct wire_checking *c, const struct wire_dependency *d,
    const json_t *v, const struct wire_at *at)
{
	enum rc rc = wire_value_pay(&c->steps, d->n / 4);
	for (size_t i = 0; rc == RC_OK && i < d->n; i++) {
		struct wire_at missing = below(at, d->names[i]);
		if (!has(v, d->names[i]))
			rc = wire_fail(&missing, RC_INVALID,
			    "is required beside %.*s", STR_ARG(d->name));
	}
	if (rc == RC_OK && d->node != NULL)
		rc = wire_valid_node(c, d->node, v, at);
	return rc;
}

static enum rc
valid_dependencies(struct wire_checking *c, const struct wire_node *n,
    const json_t *v, const struct wire_at *at)
{
	enum rc rc = wire_value_pay(&c->steps, n->n_deps / 4);
	for (size_t i = 0; rc == RC_OK && i < n->n_deps; i++) {
		if (has(v, n->deps[i].name))
			rc = valid_dependency(c, &n->deps[i], v, at);
	}
	return rc;
}

static enum rc
valid_name(struct wire_checking *c, const struct wire_node *n, struct str name,
    const struct wire_at *at)
{
	struct wire_err err = { "", "" };
	struct wire_at as_value = { NULL, { NULL, 0 }, 0,
		at->err != NULL ? &err : NULL };
	json_t *v = json_stringn_nocheck(name.p, name.n);
	enum rc rc = wire_valid_node(c, n->names, v, &as_value);
	json_decref(v);
	if (rc == RC_INVALID)
		return wire_fail(
		    at, rc, "has a name that is not allowed: it %s", err.why);
	return rc;
}

static int
compare_name(const void *key, const void *branch)
{
	const struct str *name = key;
	const struct wire_branch *b = branch;
	return str_cmp(*name, b->name);
}

/* A member that no schema is for, where there must be none such. */
static enum rc
refuse_member(const struct wire_node *n, const struct wire_at *at)
{
	if (at->err == NULL)
		return RC_INVALID;
	struct buf b = BUF_INIT(1024);
	for (size_t i = 0; i < n->props.n; i++) {
		buf_puts(&b, i > 0 ? ", " : "; known are ");
		buf_put_str(&b, n->props.p[i].name);
	}
	(void)wire_fail(
	    at, RC_INVALID, "is not known%.*s", STR_ARG(buf_str(&b)));
	buf_free(&b);
	return RC_INVALID;
}

static bool
is_never(const struct wire_node *n)
{
	return n->kind == WIRE_NODE_NEVER ||
	    (n->kind == WIRE_NODE_REF && n->ref->kind == WIRE_NODE_NEVER);
}

static enum rc
valid_member(struct wire_checking *c, const struct wire_node *n,
    struct str name, const json_t *v, const struct wire_at *at)
{
	bool known = false;
	enum rc rc = wire_value_pay(&c->steps, 1);
	if (rc == RC_OK && n->names != NULL)
		rc = valid_name(c, n, name, at);
	if (rc == RC_OK && n->props.n > 0) {
		const struct wire_branch *b = bsearch(
		    &name, n->props.p, n->props.n, sizeof(*b), compare_name);
		known = b != NULL;
		if (known)
			rc = wire_valid_node(c, b->node, v, at);
	}
	for (size_t i = 0; rc == RC_OK && i < n->patterns.n; i++) {
		bool found;
		const struct wire_branch *b = &n->patterns.p[i];
		rc = wire_valid_pattern(c, b->pattern, name, &found);
		if (rc != RC_OK || !found)
			continue;
		known = true;
		rc = wire_valid_node(c, b->node, v, at);
	}
	if (rc != RC_OK || known || n->more_members == NULL)
		return rc;
	return is_never(n->more_members)
	    ? refuse_member(n, at)
	    : wire_valid_node(c, n->more_members, v, at);
}

enum rc
wire_valid_object(struct wire_checking *c, const struct wire_node *n,
    const json_t *v, const struct wire_at *at)
{
	enum rc rc = valid_required(c, n, v, at);
	if (rc == RC_OK)
		rc = valid_size(&n->size, json_object_size(v), at);
	if (rc == RC_OK && n->n_deps > 0)
		rc = valid_dependencies(c, n, v, at);
	if (n->props.n == 0 && n->patterns.n == 0 && n->names == NULL &&
	    n->more_members == NULL)
		return rc;
	json_t *o = wire_value_unconst(v);
	for (void *it = json_object_iter(o); rc == RC_OK && it != NULL;
	     it = json_object_iter_next(o, it)) {
		struct str name = { json_object_iter_key(it),
			json_object_iter_key_len(it) };
		struct wire_at member = below(at, name);
		rc = valid_member(
		    c, n, name, json_object_iter_value(it), &member);
	}
	return rc;
}
