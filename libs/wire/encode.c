/*
 * Structs into JSON text, by the tables of wire/desc.h, with the checks that
 * decode makes.
 */
#include <jansson.h>
#include <string.h>

#include "wire/check.h"
#include "wire/desc.h"
#include "wire/out.h"
#include "wire/wire.h"
#include "wire/wire_internal.h"

static enum rc encode_put_object(struct wire_out *o, const struct wire_desc *d,
    const char *src, const struct wire_at *at);

static enum rc
encode_put_raw(struct wire_out *o, const struct wire_type *t, struct str s,
    const struct wire_at *at)
{
	/* Every step of the path is an object or array around this one. */
	size_t depth = WIRE_DEPTH_MAX;
	for (const struct wire_at *up = at->up; up != NULL; up = up->up)
		depth--;
	bool kind = t->json == WIRE_JSON_ANY ||
	    (s.n > 0 && s.p[0] == (t->json == WIRE_JSON_OBJECT ? '{' : '['));
	if (kind && wire_raw_plain(s, depth)) {
		wire_out_raw(o, s);
		return RC_OK;
	}
	json_t *v;
	enum rc rc = wire_raw_parse(s, depth, at, &v);
	if (rc != RC_OK)
		return rc;
	if (t->json == WIRE_JSON_OBJECT && !json_is_object(v))
		rc = wire_fail(at, RC_INVALID, "must be an object");
	else if (t->json == WIRE_JSON_ARRAY && !json_is_array(v))
		rc = wire_fail(at, RC_INVALID, "must be an array");
	else
		wire_raw_put(o, v);
	json_decref(v);
	return rc;
}

static enum rc
encode_put_str(struct wire_out *o, const struct wire_type *t, const char *src,
    const struct wire_at *at)
{
	struct str s;
	memcpy(&s, src, sizeof(s));
	if (s.p == NULL)
		return wire_fail(at, RC_INVALID, WIRE_WHY_MISSING);
	if (t->kind == WIRE_RAW)
		return encode_put_raw(o, t, s, at);
	unsigned class = wire_text_class(s);
	enum rc rc = class == 0 ? RC_OK : wire_check_utf8(s, at);
	if (rc == RC_OK)
		rc = wire_check_text(t, s, at);
	if (rc != RC_OK)
		return rc;
	if ((class & WIRE_TEXT_ESCAPED) == 0)
		wire_out_plain(o, s);
	else
		wire_out_utf8(o, s);
	return RC_OK;
}

static enum rc
encode_put_enum(struct wire_out *o, const struct wire_type *t, const char *src,
    const struct wire_at *at)
{
	unsigned int i;
	memcpy(&i, src, sizeof(i));
	enum rc rc = wire_check_enum(t, i, at);
	if (rc == RC_OK)
		wire_out_utf8(o, t->names[i]);
	return rc;
}

static enum rc
encode_put_scalar(struct wire_out *o, const struct wire_type *t,
    const char *src, const struct wire_at *at)
{
	enum rc rc;
	if (t->kind == WIRE_I64) {
		int64_t i;
		memcpy(&i, src, sizeof(i));
		rc = wire_check_i64(t, i, at);
		wire_out_i64(o, i);
	} else if (t->kind == WIRE_F64) {
		double f;
		memcpy(&f, src, sizeof(f));
		rc = wire_check_f64(t, f, at);
		wire_out_f64(o, f);
	} else {
		bool b;
		memcpy(&b, src, sizeof(b));
		rc = wire_check_bool(t, b, at);
		wire_out_bool(o, b);
	}
	return rc;
}

/* Any value but an array. */
static enum rc
encode_put_value(struct wire_out *o, const struct wire_type *t, const char *src,
    const struct wire_at *at)
{
	switch ((enum wire_kind)t->kind) {
	case WIRE_STR:
	case WIRE_RAW:
		return encode_put_str(o, t, src, at);
	case WIRE_ENUM:
		return encode_put_enum(o, t, src, at);
	case WIRE_I64:
	case WIRE_F64:
	case WIRE_BOOL:
		return encode_put_scalar(o, t, src, at);
	case WIRE_OBJECT:
		return encode_put_object(o, t->object, src, at);
	case WIRE_ARRAY:
		break;
	}
	return wire_fail(at, RC_BUG, "has no such type");
}

static enum rc
encode_put_array(struct wire_out *o, const struct wire_field *f,
    const char *src, const struct wire_at *at)
{
	const char *items;
	size_t n;
	memcpy(&items, src + f->off, sizeof(items));
	memcpy(&n, src + f->count, sizeof(n));
	enum rc rc = wire_check_count(&f->type, n, at);
	if (rc == RC_OK && n > 0 && items == NULL)
		rc = wire_fail(at, RC_INVALID, WIRE_WHY_MISSING);
	if (rc != RC_OK)
		return rc;
	struct wire_at item_at = { .up = at, .err = at->err };
	wire_out_array(o);
	for (size_t i = 0; i < n && rc == RC_OK; i++) {
		item_at.index = i;
		rc = encode_put_value(
		    o, f->type.elem, items + i * f->type.elem->size, &item_at);
	}
	wire_out_array_end(o);
	return rc;
}

static bool
encode_is_present(const struct wire_field *f, const char *src)
{
	if (f->has != WIRE_NONE) {
		bool has;
		memcpy(&has, src + f->has, sizeof(has));
		return has;
	}
	if ((f->flags & (WIRE_REQUIRED | WIRE_DEFAULT)) != 0)
		return true;
	/* An optional text says by itself whether it is there. */
	struct str s;
	memcpy(&s, src + f->off, sizeof(s));
	return s.p != NULL;
}

/* The member, or its default where that is a text that is not there. */
static const char *
encode_value_of(const struct wire_field *f, const char *src)
{
	struct str s;
	if ((f->flags & WIRE_DEFAULT) == 0 || f->type.kind != WIRE_STR)
		return src + f->off;
	memcpy(&s, src + f->off, sizeof(s));
	return s.p != NULL ? src + f->off : (const char *)&f->dflt_s;
}

/* inner: stands for the member of its name; NULL: none does. */
static enum rc
encode_put_members(struct wire_out *o, const struct wire_desc *d,
    const char *src, const struct wire_at *at, const struct wire_inner *inner)
{
	struct wire_at child = { .up = at, .err = at->err };
	uint64_t seen = 0;
	wire_out_object(o);
	for (uint32_t i = 0; i < d->n; i++) {
		const struct wire_field *f = &d->fields[i];
		bool is_inner = inner != NULL && str_eq(f->name, inner->name);
		if (!is_inner && !encode_is_present(f, src))
			continue;
		seen |= UINT64_C(1) << i;
		child.key = f->name;
		size_t skip = o->comma ? 0 : 1;
		buf_put(o->b, f->key.p + skip, f->key.n - skip);
		o->comma = false;
		enum rc rc;
		if (is_inner)
			rc = encode_put_object(o, inner->d, inner->msg, &child);
		else if (f->type.kind == WIRE_ARRAY)
			rc = encode_put_array(o, f, src, &child);
		else
			rc = encode_put_value(
			    o, &f->type, encode_value_of(f, src), &child);
		if (rc != RC_OK)
			return rc;
	}
	wire_out_object_end(o);
	return wire_check_choice(d, seen, at);
}

static enum rc
encode_put_object(struct wire_out *o, const struct wire_desc *d,
    const char *src, const struct wire_at *at)
{
	return encode_put_members(o, d, src, at, NULL);
}

/* Bare text; an enum in the schema's own spelling. */
static enum rc
encode_text(struct buf *out, const struct wire_desc *d, const char *src,
    const struct wire_at *at)
{
	const struct wire_type *t = &d->fields[0].type;
	enum rc rc;
	if (t->kind == WIRE_ENUM) {
		unsigned int i;
		memcpy(&i, src + d->fields[0].off, sizeof(i));
		rc = wire_check_enum(t, i, at);
		if (rc == RC_OK)
			buf_put_str(out, t->names[i]);
		return rc;
	}
	struct str s;
	memcpy(&s, src + d->fields[0].off, sizeof(s));
	if (s.p == NULL)
		return wire_fail(at, RC_INVALID, WIRE_WHY_MISSING);
	rc = wire_check_utf8(s, at);
	if (rc == RC_OK)
		rc = wire_check_text(t, s, at);
	if (rc == RC_OK)
		buf_put_str(out, s);
	return rc;
}

/* Whether a message of d's can have an object as that member. */
static bool
encode_is_open(const struct wire_desc *d, struct str name)
{
	for (uint32_t i = 0; i < d->n; i++) {
		const struct wire_type *t = &d->fields[i].type;
		if (str_eq(d->fields[i].name, name))
			return t->kind == WIRE_RAW &&
			    t->json != WIRE_JSON_ARRAY;
	}
	return false;
}

/* Undoes what was written, unless all of it was. */
static enum rc
encode_end(struct buf *out, size_t before, enum rc rc, const struct wire_at *at)
{
	if (rc == RC_OK && buf_rc(out) != RC_OK)
		rc = wire_fail(at, RC_TOOBIG, "takes too many bytes");
	if (rc != RC_OK && out->p != NULL) {
		out->n = before;
		out->p[before] = '\0';
	}
	return rc;
}

enum rc
wire_encode(const struct wire_desc *d, const void *msg, struct buf *out,
    struct wire_err *err)
{
	const struct wire_at top = { .err = err };
	size_t before = out->n;
	struct wire_out o = { out, false };
	enum rc rc;
	if ((d->flags & WIRE_TEXT) != 0)
		rc = encode_text(out, d, msg, &top);
	else
		rc = encode_put_object(&o, d, msg, &top);
	return encode_end(out, before, rc, &top);
}

enum rc
wire_encode_around(const struct wire_desc *d, const void *msg,
    const struct wire_inner *inner, struct buf *out, struct wire_err *err)
{
	const struct wire_at top = { .err = err };
	size_t before = out->n;
	struct wire_out o = { out, false };
	if (((d->flags | inner->d->flags) & WIRE_TEXT) != 0 ||
	    !encode_is_open(d, inner->name))
		return wire_fail(&top, RC_BUG, "has no such open member");
	enum rc rc = encode_put_members(&o, d, msg, &top, inner);
	return encode_end(out, before, rc, &top);
}
