/*
 * "$id" and "$ref" of one document.
 */

#include <jansson.h>
#include <stdarg.h>
#include <string.h>

#include "core/buf.h"
#include "core/map.h"
#include "core/mem.h"
#include "wire/check.h"
#include "wire/wire_internal.h"

/* Longest URI and longest fragment. */
#define URI_MAX 2048

/*
 * The chain from the document to the value v, which is found by its address,
 * so that nothing is stored for errors that do not occur.
 */
static bool
ref_put_location(const json_t *in, const json_t *v, const struct wire_at *at,
    const char *keyword, const char *why)
{
	struct wire_at below = { at, { NULL, 0 }, 0, at->err };
	if (in == v) {
		below.key = str_of(keyword);
		(void)wire_fail(
		    keyword != NULL ? &below : at, RC_INVALID, "%s", why);
		return true;
	}
	for (size_t i = 0; i < json_array_size(in); i++) {
		below.index = i;
		if (ref_put_location(
			json_array_get(in, i), v, &below, keyword, why))
			return true;
	}
	json_t *o = wire_value_unconst(in);
	for (void *it = json_object_iter(o); it != NULL;
	     it = json_object_iter_next(o, it)) {
		below.key.p = json_object_iter_key(it);
		below.key.n = json_object_iter_key_len(it);
		if (ref_put_location(
			json_object_iter_value(it), v, &below, keyword, why))
			return true;
	}
	return false;
}

enum rc
wire_doc_fail(struct wire_doc *d, const json_t *schema, const char *keyword,
    enum rc rc, const char *fmt, ...)
{
	if (d->err == NULL)
		return rc;
	struct buf why = BUF_INIT(sizeof(d->err->why) * 4);
	struct wire_at root = { NULL, { NULL, 0 }, 0, d->err };
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&why, fmt, ap);
	va_end(ap);
	(void)ref_put_location(d->root, schema, &root, keyword,
	    why.p != NULL && why.n > 0 ? why.p : "is too long");
	buf_free(&why);
	return rc;
}

/* A string member of a schema; absent if there is none. */
static struct str
ref_string_of(const json_t *schema, const char *keyword)
{
	const json_t *v = json_object_get(schema, keyword);
	return (struct str){ json_string_value(v), json_string_length(v) };
}

/* ref resolved against base, without fragment; taken from the arena. */
static enum rc
ref_resolve(
    struct wire_doc *d, struct str base, struct str ref, struct str *out)
{
	struct buf b = BUF_INIT(URI_MAX);
	wire_uri_resolve(base, ref, &b);
	enum rc rc = buf_rc(&b);
	if (rc == RC_OK) {
		*out = arena_str(d->a, buf_str(&b));
		if (out->p == NULL)
			rc = RC_TOOBIG;
	}
	buf_free(&b);
	return rc;
}

enum rc
wire_doc_base(struct wire_doc *d, const struct wire_target *t, struct str *base)
{
	struct str id = ref_string_of(t->schema, "$id");
	*base = t->base;
	/* Members beside $ref are ignored. */
	if (id.p == NULL || id.n == 0 || id.p[0] == '#' ||
	    ref_string_of(t->schema, "$ref").p != NULL)
		return RC_OK;
	enum rc rc = ref_resolve(d, t->base, id, base);
	if (rc != RC_OK)
		return wire_doc_fail(d, t->schema, "$id", rc, "is too long");
	return RC_OK;
}

/* The key of the fragment in the document uri. */
static void
ref_put_anchor(struct buf *b, struct str uri, struct str fragment)
{
	buf_put_str(b, uri);
	buf_putc(b, '#');
	buf_put_str(b, fragment);
}

/* Store t under uri, and under its fragment where that is not empty. */
static enum rc
ref_add_id(struct wire_doc *d, struct str uri, struct str fragment,
    const struct wire_target *t)
{
	struct buf b = BUF_INIT(2 * URI_MAX);
	struct wire_target *copy = arena_alloc(d->a, sizeof(*copy));
	if (copy == NULL)
		return RC_TOOBIG;
	*copy = *t;
	if (fragment.n > 0)
		ref_put_anchor(&b, uri, fragment);
	else
		buf_put_str(&b, uri);
	enum rc rc = buf_rc(&b);
	/* The first definition of an id counts. */
	if (rc == RC_OK && map_get(d->ids, buf_str(&b)) == NULL)
		(void)map_put(d->ids, buf_str(&b), copy);
	buf_free(&b);
	return rc;
}

struct ref_index_ids {
	struct wire_doc *d;
	struct str base;
};

static enum rc
ref_index_ids(void *arg, json_t *schema, const struct wire_at *at)
{
	struct ref_index_ids *w = arg;
	struct wire_target t = { schema, w->base };
	struct ref_index_ids inside = { w->d, w->base };
	struct str id = ref_string_of(schema, "$id");
	if (id.p != NULL && ref_string_of(schema, "$ref").p == NULL) {
		struct wire_uri u;
		wire_uri_split(id, &u);
		enum rc rc = wire_doc_base(w->d, &t, &inside.base);
		if (rc == RC_OK)
			rc = ref_add_id(w->d, inside.base, u.fragment, &t);
		if (rc != RC_OK)
			return wire_doc_fail(
			    w->d, schema, "$id", rc, "is too long");
	}
	return wire_shape_each(schema, at, ref_index_ids, &inside);
}

enum rc
wire_doc_index(struct wire_doc *d)
{
	struct wire_at at = { NULL, { NULL, 0 }, 0, NULL };
	struct ref_index_ids w = { d, STR("") };
	struct wire_target root = { d->root, STR("") };
	d->ids = map_new();
	enum rc rc = ref_add_id(d, root.base, root.base, &root);
	return rc != RC_OK ? rc : ref_index_ids(&w, d->root, &at);
}

void
wire_doc_free(struct wire_doc *d)
{
	map_free(d->ids);
	d->ids = NULL;
}

/* Append s with its %xx decoded. */
static void
ref_put_decoded(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		int high = i + 2 < s.n ? str_hex_value(s.p[i + 1]) : -1;
		int low = i + 2 < s.n ? str_hex_value(s.p[i + 2]) : -1;
		if (s.p[i] == '%' && high >= 0 && low >= 0) {
			buf_putc(b, (char)(high * 16 + low));
			i += 2;
		} else {
			buf_putc(b, s.p[i]);
		}
	}
}

/* The element that a pointer's token names, or NULL. */
static json_t *
ref_element(const json_t *array, struct str token)
{
	int64_t i;
	if ((token.n > 1 && token.p[0] == '0') ||
	    str_to_i64(token, 0, INT32_MAX, &i) != RC_OK)
		return NULL;
	return json_array_get(array, (size_t)i);
}

/* Follow a pointer's tokens from t->schema on. */
static enum rc
ref_follow_pointer(
    struct wire_doc *d, struct str pointer, struct wire_target *t)
{
	char key[URI_MAX];
	struct str rest = { pointer.p + 1, pointer.n - 1 };
	while (rest.p != NULL) {
		struct str token = str_split(&rest, '/');
		size_t n = 0;
		for (size_t i = 0; i < token.n; i++) {
			char c = token.p[i];
			if (c == '~' && i + 1 < token.n)
				c = token.p[++i] == '0' ? '~' : '/';
			key[n++] = c;
		}
		enum rc rc = wire_doc_base(d, t, &t->base);
		if (rc != RC_OK)
			return rc;
		struct str name = { key, n };
		t->schema = json_is_array(t->schema)
		    ? ref_element(t->schema, name)
		    : json_object_getn(t->schema, key, n);
		if (t->schema == NULL)
			return RC_NOENT;
	}
	return RC_OK;
}

static bool
ref_is_meta_schema(struct str uri)
{
	return str_eq(uri, STR("http://json-schema.org/draft-07/schema")) ||
	    str_eq(uri, STR("https://json-schema.org/draft-07/schema"));
}

/* What the decoded fragment names in the document uri. */
static enum rc
ref_find_in(struct wire_doc *d, struct str uri, struct str fragment,
    struct wire_target *out)
{
	const struct wire_target *t = map_get(d->ids, uri);
	if (t == NULL && ref_is_meta_schema(uri) && fragment.n == 0) {
		*out = (struct wire_target){ NULL, uri };
		return RC_OK;
	}
	if (fragment.n > 0 && fragment.p[0] != '/') {
		struct buf b = BUF_INIT(2 * URI_MAX);
		ref_put_anchor(&b, uri, fragment);
		t = map_get(d->ids, buf_str(&b));
		buf_free(&b);
	}
	if (t == NULL)
		return RC_NOENT;
	*out = *t;
	if (fragment.n > 0 && fragment.p[0] == '/')
		return ref_follow_pointer(d, fragment, out);
	return RC_OK;
}

enum rc
wire_doc_find(
    struct wire_doc *d, const struct wire_target *from, struct wire_target *out)
{
	struct str ref = ref_string_of(from->schema, "$ref");
	struct wire_uri u;
	struct str uri;
	struct buf fragment = BUF_INIT(URI_MAX);
	wire_uri_split(ref, &u);
	ref_put_decoded(&fragment, u.fragment);
	enum rc rc = ref_resolve(d, from->base, ref, &uri);
	if (rc == RC_OK)
		rc = buf_rc(&fragment);
	if (rc == RC_OK)
		rc = ref_find_in(d, uri, buf_str(&fragment), out);
	buf_free(&fragment);
	if (rc == RC_TOOBIG)
		return wire_doc_fail(
		    d, from->schema, "$ref", rc, "is too long");
	if (rc == RC_NOENT)
		return wire_doc_fail(d, from->schema, "$ref", RC_INVALID,
		    "refers to %.*s, which is not in this schema",
		    STR_ARG(ref));
	return rc;
}
