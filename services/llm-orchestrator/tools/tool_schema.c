/*
 * One pass over the schema, which expands references on its way: what it takes
 * is limited by what it writes and by the members that it visits.
 */
#include "tools/tool_schema.h"

#include "core/buf.h"
#include "core/mem.h"
#include "wire/out.h"
#include "wire/tree.h"

/* Schemas that stand for one: by $ref and allOf. */
#define CHAIN_MAX 8
/* Members visited; with more of them it is not shown at all. */
#define WORK_MAX 10000
/* Longest key of a reference's path, in bytes. */
#define KEY_MAX 256

struct schema_writer {
	const struct wire_tree *root;
	/* Being written: what refers to one of them is recursive. */
	const struct wire_tree *open[TOOL_SCHEMA_DEPTH_MAX * CHAIN_MAX];
	size_t n_open;
	size_t depth_max;
	size_t work;
	struct wire_out o;
};

/* What one schema stands for; the first one's members count. */
struct schema_chain {
	const struct wire_tree *list[CHAIN_MAX];
	size_t n;
};

static bool
schema_is_over(const struct schema_writer *w)
{
	return w->work > WORK_MAX || buf_rc(w->o.b) != RC_OK;
}

/* ---- keywords ---- */

/* The keyword that a model's API takes in its place; absent: none. */
static struct str
schema_keyword(struct str key, bool top)
{
	static const struct str same[] = { STR_INIT("type"), STR_INIT("title"),
		STR_INIT("description"), STR_INIT("properties"),
		STR_INIT("required"), STR_INIT("items"), STR_INIT("enum"),
		STR_INIT("default"), STR_INIT("format"), STR_INIT("minimum"),
		STR_INIT("maximum"), STR_INIT("exclusiveMinimum"),
		STR_INIT("exclusiveMaximum"), STR_INIT("multipleOf"),
		STR_INIT("minLength"), STR_INIT("maxLength"),
		STR_INIT("pattern"), STR_INIT("minItems"), STR_INIT("maxItems"),
		STR_INIT("uniqueItems"), STR_INIT("minProperties"),
		STR_INIT("maxProperties"), STR_INIT("additionalProperties"),
		STR_INIT("anyOf") };

	if (str_eq(key, STR("oneOf")))
		key = STR("anyOf");
	else if (str_eq(key, STR("const")))
		key = STR("enum");
	/* Not beside "type": "object" of all arguments. */
	if (top && (str_eq(key, STR("anyOf")) || str_eq(key, STR("enum"))))
		return (struct str){ 0 };
	for (size_t i = 0; i < NELEM(same); i++) {
		if (str_eq(key, same[i]))
			return key;
	}
	return (struct str){ 0 };
}

/* Whether v has the keyword, by the name that it is going to have or has. */
static bool
schema_has(const struct wire_tree *v, struct str keyword)
{
	return wire_tree_get(v, keyword) != NULL ||
	    (str_eq(keyword, STR("anyOf")) &&
		wire_tree_get(v, STR("oneOf")) != NULL) ||
	    (str_eq(keyword, STR("enum")) &&
		wire_tree_get(v, STR("const")) != NULL);
}

/* ---- references ---- */

/* A key of a JSON pointer: "~1" is "/", "~0" is "~". */
static struct str
schema_pointer_key(struct str s, char dst[KEY_MAX])
{
	size_t n = 0;

	if (s.n > KEY_MAX)
		return (struct str){ 0 };
	for (size_t i = 0; i < s.n; i++) {
		dst[n] = s.p[i];
		if (s.p[i] == '~' && i + 1 < s.n) {
			i++;
			dst[n] = s.p[i] == '1' ? '/' : '~';
		}
		n++;
	}
	return (struct str){ dst, n };
}

static const struct wire_tree *
schema_step(const struct wire_tree *v, struct str key)
{
	int64_t i;

	if (wire_tree_kind(v) != WIRE_TREE_ARRAY)
		return wire_tree_get(v, key);
	if (str_to_i64(key, 0, INT32_MAX, &i) != RC_OK)
		return NULL;
	return wire_tree_at(v, (size_t)i);
}

/* What "#" or "#/a/b" refers to, or NULL. */
static const struct wire_tree *
schema_resolve(const struct schema_writer *w, struct str ref)
{
	const struct wire_tree *v = w->root;
	char text[KEY_MAX];

	if (ref.n == 0 || ref.p[0] != '#')
		return NULL;
	ref = (struct str){ ref.p + 1, ref.n - 1 };
	if (ref.n == 0)
		return v;
	if (ref.p[0] != '/')
		return NULL;
	ref = (struct str){ ref.p + 1, ref.n - 1 };
	while (v != NULL && ref.p != NULL)
		v = schema_step(
		    v, schema_pointer_key(str_split(&ref, '/'), text));
	return v;
}

static bool
schema_is_open(const struct schema_writer *w, const struct schema_chain *c,
    const struct wire_tree *v)
{
	for (size_t i = 0; i < w->n_open; i++) {
		if (w->open[i] == v)
			return true;
	}
	for (size_t i = 0; i < c->n; i++) {
		if (c->list[i] == v)
			return true;
	}
	return false;
}

/* False: v is within itself, or stands for too many. */
static bool
schema_chain_add(const struct schema_writer *w, struct schema_chain *c,
    const struct wire_tree *v)
{
	if (wire_tree_kind(v) != WIRE_TREE_OBJECT)
		return true;
	if (c->n == CHAIN_MAX || schema_is_open(w, c, v))
		return false;
	c->list[c->n++] = v;
	return true;
}

static bool
schema_chain_fill(const struct schema_writer *w, struct schema_chain *c,
    const struct wire_tree *v)
{
	bool ok = schema_chain_add(w, c, v);

	for (size_t i = 0; ok && i < c->n; i++) {
		const struct wire_tree *all =
		    wire_tree_get(c->list[i], STR("allOf"));
		struct str ref =
		    wire_tree_text(wire_tree_get(c->list[i], STR("$ref")));

		if (ref.n > 0)
			ok = schema_chain_add(w, c, schema_resolve(w, ref));
		for (size_t k = 0; ok && k < wire_tree_len(all); k++)
			ok = schema_chain_add(w, c, wire_tree_at(all, k));
	}
	return ok;
}

/* ---- writing ---- */

static void schema_put(
    struct schema_writer *w, const struct wire_tree *v, size_t depth);

/* The properties of all; of two with one name the first counts. */
static void
schema_put_properties(
    struct schema_writer *w, const struct schema_chain *c, size_t depth)
{
	wire_out_object(&w->o);
	for (size_t i = 0; i < c->n; i++) {
		const struct wire_tree *list =
		    wire_tree_get(c->list[i], STR("properties"));
		struct wire_tree_member m;

		for (bool more = wire_tree_first(list, &m);
		     more && !schema_is_over(w);
		     more = wire_tree_next(list, &m)) {
			bool before = false;

			w->work++;
			for (size_t k = 0; k < i; k++)
				before |=
				    wire_tree_get(wire_tree_get(c->list[k],
						      STR("properties")),
					m.key) != NULL;
			if (before)
				continue;
			wire_out_key(&w->o, m.key);
			schema_put(w, m.value, depth);
		}
	}
	wire_out_object_end(&w->o);
}

static void
schema_put_list(
    struct schema_writer *w, const struct wire_tree *list, size_t depth)
{
	wire_out_array(&w->o);
	for (size_t i = 0; i < wire_tree_len(list) && !schema_is_over(w); i++)
		schema_put(w, wire_tree_at(list, i), depth);
	wire_out_array_end(&w->o);
}

/* The value of a keyword other than properties. */
static void
schema_put_value(struct schema_writer *w, struct str keyword,
    const struct wire_tree_member *m, size_t depth)
{
	bool is_bool = wire_tree_kind(m->value) == WIRE_TREE_BOOL;

	if (str_eq(keyword, STR("items")) ||
	    (str_eq(keyword, STR("additionalProperties")) && !is_bool)) {
		schema_put(w, m->value, depth);
	} else if (str_eq(keyword, STR("anyOf"))) {
		schema_put_list(w, m->value, depth);
	} else if (str_eq(m->key, STR("const"))) {
		wire_out_array(&w->o);
		wire_tree_put(m->value, &w->o);
		wire_out_array_end(&w->o);
	} else {
		wire_tree_put(m->value, &w->o);
	}
}

/* The members of c->list[i] that those before it have not. */
static void
schema_put_members(struct schema_writer *w, const struct schema_chain *c,
    size_t i, size_t depth)
{
	struct wire_tree_member m;

	for (bool more = wire_tree_first(c->list[i], &m);
	     more && !schema_is_over(w);
	     more = wire_tree_next(c->list[i], &m)) {
		struct str keyword = schema_keyword(m.key, depth == 0);
		bool before = keyword.p == NULL ||
		    (!str_eq(keyword, m.key) &&
			wire_tree_get(c->list[i], keyword) != NULL);

		w->work++;
		for (size_t k = 0; !before && k < i; k++)
			before = schema_has(c->list[k], keyword);
		if (before)
			continue;
		wire_out_key(&w->o, keyword);
		if (str_eq(keyword, STR("properties")))
			schema_put_properties(w, c, depth + 1);
		else
			schema_put_value(w, keyword, &m, depth + 1);
	}
}

/* A boolean is a schema, too, and no API's. */
static void
schema_put(struct schema_writer *w, const struct wire_tree *v, size_t depth)
{
	struct schema_chain c = { .n = 0 };
	bool properties = depth > 0;

	wire_out_object(&w->o);
	if (depth < w->depth_max && schema_chain_fill(w, &c, v)) {
		size_t n_open = w->n_open;

		for (size_t i = 0; i < c.n; i++)
			w->open[w->n_open++] = c.list[i];
		for (size_t i = 0; i < c.n; i++) {
			schema_put_members(w, &c, i, depth);
			properties |=
			    wire_tree_get(c.list[i], STR("properties")) != NULL;
		}
		w->n_open = n_open;
		if (!properties) {
			wire_out_name(&w->o, "properties");
			wire_out_object(&w->o);
			wire_out_object_end(&w->o);
		}
	} else if (depth == 0) {
		w->work = WORK_MAX + 1;
	}
	wire_out_object_end(&w->o);
}

/* RC_TOOBIG: over the room of b; RC_INVALID: it is not to be shown. */
static enum rc
schema_try(const struct wire_tree *root, size_t depth, struct buf *b)
{
	struct schema_writer w = {
		.root = root, .depth_max = depth, .o = { .b = b }
	};

	schema_put(&w, root, 0);
	return w.work > WORK_MAX ? RC_INVALID : buf_rc(b);
}

static enum rc
schema_write(const struct wire_tree *root, struct buf *b)
{
	enum rc rc = RC_TOOBIG;

	for (size_t depth = TOOL_SCHEMA_DEPTH_MAX; rc == RC_TOOBIG && depth > 0;
	     depth /= 2) {
		buf_reset(b);
		rc = schema_try(root, depth, b);
	}
	return rc;
}

enum rc
tool_schema_shown(
    struct str schema, size_t max, struct arena *a, struct str *out)
{
	struct buf b = BUF_INIT(max);
	struct wire_tree *root;

	*out = STR(TOOL_SCHEMA_ANY);
	if (wire_tree_parse(schema, &root) != RC_OK)
		return RC_OK;
	if (wire_tree_kind(root) == WIRE_TREE_OBJECT &&
	    schema_write(root, &b) == RC_OK)
		*out = arena_str(a, buf_str(&b));
	wire_tree_free(root);
	buf_free(&b);
	return out->p != NULL ? RC_OK : RC_TOOBIG;
}
