/*
 * The type that a schema describes.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gen.h"
#include "wire/check.h"

/* Keywords that may stand anywhere; the types' own follow. */
#define ANNOTATIONS                                                            \
	"description", "title", "examples", "x-unit", "x-secret", "x-section", \
	    "default"

static const char *const type_allow_ref[] = { "$ref", ANNOTATIONS, NULL };
static const char *const type_allow_any[] = { ANNOTATIONS, NULL };
static const char *const type_allow_enum[] = { "type", "enum", "const",
	ANNOTATIONS, NULL };
static const char *const type_allow_string[] = { "type", "minLength",
	"maxLength", "x-max-bytes", "pattern", "format", ANNOTATIONS, NULL };
static const char *const type_allow_number[] = { "type", "minimum", "maximum",
	"const", "format", ANNOTATIONS, NULL };
static const char *const type_allow_boolean[] = { "type", "const", ANNOTATIONS,
	NULL };
static const char *const type_allow_array[] = { "type", "items", "minItems",
	"maxItems", ANNOTATIONS, NULL };
static const char *const type_allow_raw[] = { "type", ANNOTATIONS, NULL };

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
type_read_count(struct where w, const json_t *schema, const char *key)
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
type_read_counts(struct where w, const json_t *schema, struct wire_type *t,
    const char *min, const char *max)
{
	int64_t lo = type_read_count(w, schema, min);
	int64_t hi = type_read_count(w, schema, max);
	if (hi < 0)
		gen_fail(w, "%s is missing", max);
	if (lo > hi)
		gen_fail(w, "%s is more than %s", min, max);
	t->min.i = lo < 0 ? 0 : lo;
	t->max.i = hi;
}

static void
type_add_constant(struct gen *g, struct where w, struct gen_enum *e, size_t i)
{
	char *value = gen_ident(e->names[i].p, true);
	if (value == NULL)
		gen_fail(w, "has no letter or digit to make a constant of");
	/* "-x" and "x" must not both become _X unnoticed. */
	e->constants[i] = gen_printf(
	    "WIRE_%s_%s", gen_ident(e->name + strlen("wire_"), true), value);
	gen_claim(g, e->constants[i], w);
}

static struct gen_type *
type_read_enum(
    struct gen *g, struct where w, const json_t *schema, const char *name)
{
	const json_t *values = json_object_get(schema, "enum");
	const json_t *only = json_object_get(schema, "const");
	gen_only(w, schema, type_allow_enum);
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
		type_add_constant(g, at, e, i);
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
type_read_string(struct where w, const json_t *schema)
{
	struct gen_type *t = mem_zalloc(sizeof(*t));
	t->t.kind = WIRE_STR;
	gen_only(w, schema, type_allow_string);
	type_read_counts(w, schema, &t->t, "minLength", "maxLength");
	int64_t bytes = type_read_count(w, schema, "x-max-bytes");
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
type_read_i64(struct where w, const json_t *schema, const char *key, int64_t *i)
{
	const json_t *v = json_object_get(schema, key);
	if (v == NULL)
		return;
	if (!json_is_integer(v))
		gen_fail(gen_down(w, key, NULL), "must be an integer");
	*i = json_integer_value(v);
}

static void
type_read_f64(struct where w, const json_t *schema, const char *key, double *f)
{
	const json_t *v = json_object_get(schema, key);
	if (v == NULL)
		return;
	if (!json_is_number(v))
		gen_fail(gen_down(w, key, NULL), "must be a number");
	*f = json_number_value(v);
}

static struct gen_type *
type_read_number(struct where w, const json_t *schema, bool integer)
{
	struct gen_type *t = mem_zalloc(sizeof(*t));
	gen_only(w, schema, type_allow_number);
	if (integer) {
		t->t.kind = WIRE_I64;
		t->t.min.i = INT64_MIN;
		t->t.max.i = INT64_MAX;
		type_read_i64(w, schema, "minimum", &t->t.min.i);
		type_read_i64(w, schema, "maximum", &t->t.max.i);
		type_read_i64(w, schema, "const", &t->t.min.i);
		type_read_i64(w, schema, "const", &t->t.max.i);
	} else {
		t->t.kind = WIRE_F64;
		t->t.min.f = -DBL_MAX;
		t->t.max.f = DBL_MAX;
		type_read_f64(w, schema, "minimum", &t->t.min.f);
		type_read_f64(w, schema, "maximum", &t->t.max.f);
		type_read_f64(w, schema, "const", &t->t.min.f);
		type_read_f64(w, schema, "const", &t->t.max.f);
	}
	if (integer ? t->t.min.i > t->t.max.i : t->t.min.f > t->t.max.f)
		gen_fail(w, "minimum is more than maximum");
	return t;
}

static struct gen_type *
type_read_boolean(struct where w, const json_t *schema)
{
	struct gen_type *t = mem_zalloc(sizeof(*t));
	gen_only(w, schema, type_allow_boolean);
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
type_read_array(
    struct gen *g, struct where w, const json_t *schema, const char *name)
{
	struct gen_type *t = mem_zalloc(sizeof(*t));
	gen_only(w, schema, type_allow_array);
	t->t.kind = WIRE_ARRAY;
	type_read_counts(w, schema, &t->t, "minItems", "maxItems");
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
type_new_raw(struct where w, const json_t *schema, enum wire_json json)
{
	struct gen_type *t = mem_zalloc(sizeof(*t));
	gen_only(
	    w, schema, json == WIRE_JSON_ANY ? type_allow_any : type_allow_raw);
	t->t.kind = WIRE_RAW;
	t->t.json = (uint8_t)json;
	return t;
}

static struct gen_type *
type_read_object(
    struct gen *g, struct where w, const json_t *schema, const char *name)
{
	if (json_object_get(schema, "properties") == NULL)
		return type_new_raw(w, schema, WIRE_JSON_OBJECT);
	struct gen_type *t = mem_zalloc(sizeof(*t));
	t->t.kind = WIRE_OBJECT;
	t->object = gen_record_read(g, w, schema, name);
	return t;
}

/* By "type"; a schema without one is any value. */
static struct gen_type *
type_read_typed(
    struct gen *g, struct where w, const json_t *schema, const char *name)
{
	const json_t *v = json_object_get(schema, "type");
	if (v == NULL)
		return type_new_raw(w, schema, WIRE_JSON_ANY);
	const char *type = json_is_string(v) ? json_string_value(v) : "";
	if (strcmp(type, "object") == 0)
		return type_read_object(g, w, schema, name);
	if (strcmp(type, "array") == 0)
		return json_object_get(schema, "items") == NULL
		    ? type_new_raw(w, schema, WIRE_JSON_ARRAY)
		    : type_read_array(g, w, schema, name);
	if (strcmp(type, "string") == 0)
		return json_object_get(schema, "enum") != NULL ||
			json_object_get(schema, "const") != NULL
		    ? type_read_enum(g, w, schema, name)
		    : type_read_string(w, schema);
	if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)
		return type_read_number(w, schema, type[0] == 'i');
	if (strcmp(type, "boolean") == 0)
		return type_read_boolean(w, schema);
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
		gen_only(w, schema, type_allow_ref);
		ref = gen_text(w, schema, "$ref");
	}
	struct gen_type *t = mem_alloc(sizeof(*t));
	*t = ref != NULL ? *gen_type_ref(g, gen_down(w, "$ref", NULL), ref)
			 : *type_read_typed(g, w, schema, name);
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

/* ---- ref ---- */

/*
 * "$ref": types that have a name of their own.
 */

#define SUFFIX ".schema.json"

/* The file that a reference in w is about, and the part behind "#". */
static struct gen_file *
ref_file(
    const struct gen *g, struct where w, const char *ref, const char **pointer)
{
	const char *hash = strchr(ref, '#');
	*pointer = hash != NULL ? hash + 1 : "";
	if (ref == hash) {
		for (size_t i = 0; i < g->n_files; i++)
			if (strcmp(g->files[i].path, w.file) == 0)
				return &g->files[i];
	}
	struct str file = { ref,
		hash != NULL ? (size_t)(hash - ref) : strlen(ref) };
	struct gen_file *f = NULL;
	if (str_ends(file, STR(SUFFIX))) {
		file.n -= strlen(SUFFIX);
		f = gen_file_find(g, str_dup(file));
	}
	if (f == NULL)
		gen_fail(w, "%s: there is no such file", ref);
	return f;
}

static struct gen_type *
ref_read_target(struct gen *g, struct where w, const char *ref,
    struct gen_file *f, const char *pointer)
{
	if (pointer[0] == '\0') {
		if (!f->message)
			gen_fail(w, "%s: has definitions only", ref);
		gen_message_read(g, w, f);
		if ((f->record->flags & (WIRE_TEXT | WIRE_LIST)) != 0)
			gen_fail(w, "%s: is not only an object", ref);
		struct gen_type *t = mem_zalloc(sizeof(*t));
		t->t.kind = WIRE_OBJECT;
		t->object = f->record;
		t->desc = f->record->desc;
		return t;
	}
	const char *def = pointer + strlen("/$defs/");
	const json_t *schema = NULL;
	if (strncmp(pointer, "/$defs/", strlen("/$defs/")) == 0)
		schema =
		    json_object_get(json_object_get(f->json, "$defs"), def);
	if (schema == NULL)
		gen_fail(w, "%s: there is no such definition", ref);
	struct where at = { f->path, "" };
	at = gen_down(at, "$defs", def);
	char *member = gen_member(def);
	if (member == NULL || strcmp(member, def) != 0)
		gen_fail(at, "must be snake_case and no keyword");
	/* In the documents messages and definitions are in one list. */
	gen_claim(g, gen_printf("#/components/schemas/%s", def), at);
	if (json_object_get(schema, "default") != NULL)
		gen_fail(gen_down(at, "default", NULL),
		    "is only supported at a member");
	return gen_type_read(g, at, schema, def);
}

struct gen_type *
gen_type_ref(struct gen *g, struct where w, const char *ref)
{
	const char *pointer;
	struct gen_file *f = ref_file(g, w, ref, &pointer);
	char *key = gen_printf("%s#%s", f->path, pointer);
	for (size_t i = 0; i < g->n_named; i++) {
		if (strcmp(g->named[i].key, key) != 0)
			continue;
		if (g->named[i].type == NULL)
			gen_fail(w, "%s: refers to itself", ref);
		return g->named[i].type;
	}
	size_t i = g->n_named++;
	g->named = mem_realloc(g->named, g->n_named * sizeof(*g->named));
	g->named[i] = (struct gen_named){ key, NULL };
	struct gen_type *t = ref_read_target(g, w, ref, f, pointer);
	g->named[i].type = t;
	return t;
}

/* ---- dflt ---- */

/*
 * Defaults: what a member is when it is absent.
 */

static enum rc
default_read(const struct wire_type *t, const json_t *v, struct gen_field *f,
    const struct wire_at *at)
{
	if (t->kind == WIRE_I64 && json_is_integer(v)) {
		f->dflt.i = json_integer_value(v);
		return wire_check_i64(t, f->dflt.i, at);
	}
	if (t->kind == WIRE_F64 && json_is_number(v)) {
		f->dflt.f = json_number_value(v);
		return wire_check_f64(t, f->dflt.f, at);
	}
	if (t->kind == WIRE_BOOL && json_is_boolean(v)) {
		f->dflt.i = json_is_true(v);
		return wire_check_bool(t, json_is_true(v), at);
	}
	struct str s = { json_string_value(v), json_string_length(v) };
	if (t->kind == WIRE_STR && s.p != NULL) {
		f->dflt_s = s;
		return wire_check_text(t, s, at);
	}
	if (t->kind == WIRE_ENUM && s.p != NULL) {
		while (
		    f->dflt.i < t->n_names && !str_eq(t->names[f->dflt.i], s))
			f->dflt.i++;
		return wire_check_enum(t, (size_t)f->dflt.i, at);
	}
	return wire_fail(at, RC_INVALID, "is not of the member's type");
}

void
gen_default(struct where w, struct gen_field *f, const json_t *value)
{
	struct wire_err err;
	struct wire_at at = { .err = &err };
	if ((f->flags & WIRE_REQUIRED) != 0)
		gen_fail(w, "belongs to a member that is required");
	if (f->type->t.kind == WIRE_OBJECT || f->type->t.kind == WIRE_ARRAY ||
	    f->type->t.kind == WIRE_RAW)
		gen_fail(w, "is only supported for single values");
	if (default_read(&f->type->t, value, f, &at) != RC_OK)
		gen_fail(w, "%s", err.why);
	f->flags |= WIRE_DEFAULT;
}
