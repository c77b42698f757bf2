/*
 * The type that a schema describes.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gen.h"

/* Keywords that may stand anywhere; the types' own follow. */
#define ANNOTATIONS                                                            \
	"description", "title", "examples", "x-unit", "x-secret", "x-section", \
	    "default"

static const char *const allow_ref[] = { "$ref", ANNOTATIONS, NULL };
static const char *const allow_any[] = { ANNOTATIONS, NULL };
static const char *const allow_enum[] = { "type", "enum", "const", ANNOTATIONS,
	NULL };
static const char *const allow_string[] = { "type", "minLength", "maxLength",
	"x-max-bytes", "pattern", "format", ANNOTATIONS, NULL };
static const char *const allow_number[] = { "type", "minimum", "maximum",
	"const", "format", ANNOTATIONS, NULL };
static const char *const allow_boolean[] = { "type", "const", ANNOTATIONS,
	NULL };
static const char *const allow_array[] = { "type", "items", "minItems",
	"maxItems", ANNOTATIONS, NULL };
static const char *const allow_raw[] = { "type", ANNOTATIONS, NULL };

static const struct {
	const char *pattern;
	enum wire_chars chars;
} patterns[] = {
	{ "^[^\\u0000-\\u001f\\u007f]+$", WIRE_CHARS_ID },
	{ "^[^\\u0000-\\u001f\\u007f/+#]+$", WIRE_CHARS_TERMINAL },
	{ "^[a-z0-9_]+$", WIRE_CHARS_SNAKE },
	{ "^[A-Za-z0-9_-]+$", WIRE_CHARS_TOKEN },
	{ "^[0-9a-f]{32}$", WIRE_CHARS_HEX32 },
	{ "^[0-9a-f]{64}$", WIRE_CHARS_HEX64 },
};

void
gen_only(struct where w, const json_t *schema, const char *const allowed[])
{
	const char *key;
	json_t *v;
	/* The macro's functions take no const; they change nothing. */
	json_object_foreach ((json_t *)(uintptr_t)schema, key, v) {
		size_t i = 0;
		while (allowed[i] != NULL && strcmp(allowed[i], key) != 0)
			i++;
		if (allowed[i] == NULL)
			gen_fail(
			    gen_down(w, key, NULL), "is not supported here");
	}
}

const char *
gen_text(struct where w, const json_t *schema, const char *key)
{
	const json_t *v = json_object_get(schema, key);
	if (v == NULL)
		return NULL;
	w = gen_down(w, key, NULL);
	if (!json_is_string(v) || json_string_length(v) == 0)
		gen_fail(w, "must be a text that is not empty");
	const char *s = json_string_value(v);
	/* It ends up in comments, one paragraph each. */
	if (strstr(s, "*/") != NULL || strpbrk(s, "\t\r\n\\") != NULL)
		gen_fail(w, "must not have */, \\ or control characters");
	return s;
}

const char *
gen_string(struct where w, const json_t *schema, const char *key)
{
	const char *s = gen_text(w, schema, key);
	if (s == NULL)
		gen_fail(gen_down(w, key, NULL), "is missing");
	return s;
}

bool
gen_flag(struct where w, const json_t *schema, const char *key)
{
	const json_t *v = json_object_get(schema, key);
	if (v != NULL && !json_is_boolean(v))
		gen_fail(gen_down(w, key, NULL), "must be true or false");
	return json_is_true(v);
}

/* An integer bound from 0 up; -1 if it is not given. */
static int64_t
read_count(struct where w, const json_t *schema, const char *key)
{
	const json_t *v = json_object_get(schema, key);
	if (v == NULL)
		return -1;
	if (!json_is_integer(v) || json_integer_value(v) < 0 ||
	    json_integer_value(v) > UINT32_MAX)
		gen_fail(gen_down(w, key, NULL),
		    "must be an integer from 0 to 4294967295");
	return json_integer_value(v);
}

/* min and max of texts and arrays; the upper one must be given. */
static void
read_counts(struct where w, const json_t *schema, struct wire_type *t,
    const char *min, const char *max)
{
	int64_t lo = read_count(w, schema, min);
	int64_t hi = read_count(w, schema, max);
	if (hi < 0)
		gen_fail(w, "%s is missing", max);
	if (lo > hi)
		gen_fail(w, "%s is more than %s", min, max);
	t->min.i = lo < 0 ? 0 : lo;
	t->max.i = hi;
}

static void
add_constant(struct gen *g, struct where w, struct gen_enum *e, size_t i)
{
	char *value = gen_ident(e->names[i].p, true);
	if (value == NULL)
		gen_fail(w, "has no letter or digit to make a constant of");
	/* "-x" and "x" must not both become _X without anybody noticing. */
	e->constants[i] = gen_printf(
	    "WIRE_%s_%s", gen_ident(e->name + strlen("wire_"), true), value);
	gen_claim(g, e->constants[i], w);
}

static struct gen_type *
read_enum(struct gen *g, struct where w, const json_t *schema, const char *name)
{
	const json_t *values = json_object_get(schema, "enum");
	const json_t *only = json_object_get(schema, "const");
	gen_only(w, schema, allow_enum);
	if (values != NULL && only != NULL)
		gen_fail(w, "has both enum and const");
	size_t n = only != NULL ? 1 : json_array_size(values);
	if (n == 0 || n > 1024)
		gen_fail(gen_down(w, "enum", NULL),
		    "must be an array of 1 to 1024 texts");

	struct gen_enum *e = mem_zalloc(sizeof(*e));
	e->name = gen_printf("wire_%s", name);
	gen_claim(g, e->name, w);
	gen_claim(g, gen_printf("%s_names", e->name), w);
	e->desc = gen_text(w, schema, "description");
	e->n = n;
	e->names = mem_calloc(n, sizeof(*e->names));
	e->constants = mem_calloc(n, sizeof(*e->constants));
	for (size_t i = 0; i < n; i++) {
		const json_t *v =
		    only != NULL ? only : json_array_get(values, i);
		struct where at = only != NULL
		    ? gen_down(w, "const", NULL)
		    : gen_item(gen_down(w, "enum", NULL), i);
		if (!json_is_string(v))
			gen_fail(at, "must be a text");
		e->names[i].p = json_string_value(v);
		e->names[i].n = json_string_length(v);
		add_constant(g, at, e, i);
	}
	g->enums =
	    mem_realloc(g->enums, (g->n_enums + 1) * sizeof(struct gen_enum *));
	g->enums[g->n_enums++] = e;

	struct gen_type *t = mem_zalloc(sizeof(*t));
	t->t.kind = WIRE_ENUM;
	t->t.n_names = (uint16_t)n;
	t->t.names = e->names;
	t->names = e;
	return t;
}

static struct gen_type *
read_string(struct where w, const json_t *schema)
{
	struct gen_type *t = mem_zalloc(sizeof(*t));
	t->t.kind = WIRE_STR;
	gen_only(w, schema, allow_string);
	read_counts(w, schema, &t->t, "minLength", "maxLength");
	int64_t bytes = read_count(w, schema, "x-max-bytes");
	if (bytes == 0)
		gen_fail(gen_down(w, "x-max-bytes", NULL), "must not be 0");
	t->t.max_bytes = bytes < 0 ? 0 : (uint32_t)bytes;
	(void)gen_text(w, schema, "format");
	const json_t *p = json_object_get(schema, "pattern");
	if (p == NULL)
		return t;
	for (size_t i = 0; i < NELEM(patterns) && json_is_string(p); i++)
		if (strcmp(json_string_value(p), patterns[i].pattern) == 0)
			t->t.chars = (uint8_t)patterns[i].chars;
	if (t->t.chars == WIRE_CHARS_ANY)
		gen_fail(gen_down(w, "pattern", NULL),
		    "is not one of the supported patterns");
	return t;
}

static void
read_i64(struct where w, const json_t *schema, const char *key, int64_t *i)
{
	const json_t *v = json_object_get(schema, key);
	if (v == NULL)
		return;
	if (!json_is_integer(v))
		gen_fail(gen_down(w, key, NULL), "must be an integer");
	*i = json_integer_value(v);
}

static void
read_f64(struct where w, const json_t *schema, const char *key, double *f)
{
	const json_t *v = json_object_get(schema, key);
	if (v == NULL)
		return;
	if (!json_is_number(v))
		gen_fail(gen_down(w, key, NULL), "must be a number");
	*f = json_number_value(v);
}

static struct gen_type *
read_number(struct where w, const json_t *schema, bool integer)
{
	struct gen_type *t = mem_zalloc(sizeof(*t));
	gen_only(w, schema, allow_number);
	if (integer) {
		t->t.kind = WIRE_I64;
		t->t.min.i = INT64_MIN;
		t->t.max.i = INT64_MAX;
		read_i64(w, schema, "minimum", &t->t.min.i);
		read_i64(w, schema, "maximum", &t->t.max.i);
		read_i64(w, schema, "const", &t->t.min.i);
		read_i64(w, schema, "const", &t->t.max.i);
	} else {
		t->t.kind = WIRE_F64;
		t->t.min.f = -DBL_MAX;
		t->t.max.f = DBL_MAX;
		read_f64(w, schema, "minimum", &t->t.min.f);
		read_f64(w, schema, "maximum", &t->t.max.f);
		read_f64(w, schema, "const", &t->t.min.f);
		read_f64(w, schema, "const", &t->t.max.f);
	}
	if (integer ? t->t.min.i > t->t.max.i : t->t.min.f > t->t.max.f)
		gen_fail(w, "minimum is more than maximum");
	return t;
}

static struct gen_type *
read_boolean(struct where w, const json_t *schema)
{
	struct gen_type *t = mem_zalloc(sizeof(*t));
	gen_only(w, schema, allow_boolean);
	t->t.kind = WIRE_BOOL;
	t->t.max.i = 1;
	const json_t *only = json_object_get(schema, "const");
	if (only != NULL && !json_is_boolean(only))
		gen_fail(gen_down(w, "const", NULL), "must be true or false");
	if (only != NULL)
		t->t.min.i = t->t.max.i = json_is_true(only);
	return t;
}

static struct gen_type *
read_array(
    struct gen *g, struct where w, const json_t *schema, const char *name)
{
	struct gen_type *t = mem_zalloc(sizeof(*t));
	gen_only(w, schema, allow_array);
	t->t.kind = WIRE_ARRAY;
	read_counts(w, schema, &t->t, "minItems", "maxItems");
	w = gen_down(w, "items", NULL);
	const json_t *items = json_object_get(schema, "items");
	t->elem = gen_type_read(g, w, items, name);
	if (t->elem->t.kind == WIRE_ARRAY)
		gen_fail(w, "is an array in an array, which is not supported");
	if (json_object_get(items, "default") != NULL)
		gen_fail(gen_down(w, "default", NULL),
		    "is only supported at a member");
	return t;
}

static struct gen_type *
new_raw(struct where w, const json_t *schema, enum wire_json json)
{
	struct gen_type *t = mem_zalloc(sizeof(*t));
	gen_only(w, schema, json == WIRE_JSON_ANY ? allow_any : allow_raw);
	t->t.kind = WIRE_RAW;
	t->t.json = (uint8_t)json;
	return t;
}

static struct gen_type *
read_object(
    struct gen *g, struct where w, const json_t *schema, const char *name)
{
	if (json_object_get(schema, "properties") == NULL)
		return new_raw(w, schema, WIRE_JSON_OBJECT);
	struct gen_type *t = mem_zalloc(sizeof(*t));
	t->t.kind = WIRE_OBJECT;
	t->object = gen_record_read(g, w, schema, name);
	return t;
}

/* By "type"; a schema without one is any value. */
static struct gen_type *
read_typed(
    struct gen *g, struct where w, const json_t *schema, const char *name)
{
	const json_t *v = json_object_get(schema, "type");
	if (v == NULL)
		return new_raw(w, schema, WIRE_JSON_ANY);
	const char *type = json_is_string(v) ? json_string_value(v) : "";
	if (strcmp(type, "object") == 0)
		return read_object(g, w, schema, name);
	if (strcmp(type, "array") == 0)
		return json_object_get(schema, "items") == NULL
		    ? new_raw(w, schema, WIRE_JSON_ARRAY)
		    : read_array(g, w, schema, name);
	if (strcmp(type, "string") == 0)
		return json_object_get(schema, "enum") != NULL ||
			json_object_get(schema, "const") != NULL
		    ? read_enum(g, w, schema, name)
		    : read_string(w, schema);
	if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)
		return read_number(w, schema, type[0] == 'i');
	if (strcmp(type, "boolean") == 0)
		return read_boolean(w, schema);
	gen_fail(gen_down(w, "type", NULL),
	    "must be object, array, string, integer, number or boolean");
}

struct gen_type *
gen_type_read(
    struct gen *g, struct where w, const json_t *schema, const char *name)
{
	if (!json_is_object(schema))
		gen_fail(w, "must be a schema object");
	const char *ref = NULL;
	if (json_object_get(schema, "$ref") != NULL) {
		gen_only(w, schema, allow_ref);
		ref = gen_text(w, schema, "$ref");
	}
	struct gen_type *t = mem_alloc(sizeof(*t));
	*t = ref != NULL ? *gen_type_ref(g, gen_down(w, "$ref", NULL), ref)
			 : *read_typed(g, w, schema, name);
	const char *desc = gen_text(w, schema, "description");
	const char *unit = gen_text(w, schema, "x-unit");
	if (desc != NULL)
		t->desc = desc;
	if (unit != NULL)
		t->unit = unit;
	if (gen_flag(w, schema, "x-secret"))
		t->secret = true;
	t->schema = schema;
	return t;
}
