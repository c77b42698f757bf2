/*
 * JSON text into structs, by the tables of wire/desc.h.
 *
 * What decode_direct.c does not read, because it is wrong or unusual, is parsed
 * by jansson; what that makes of it is visited in the order of the text, and
 * checked while it is copied.  No recursion here is deeper than the schema, or
 * than WIRE_DEPTH_MAX for values without one.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "core/buf.h"
#include "wire/check.h"
#include "wire/desc.h"
#include "wire/wire.h"
#include "wire/wire_internal.h"

struct reader {
	struct arena *a;
	size_t start;   /* arena_used() before */
	struct buf raw; /* scratch */
};

static enum rc decode_get_object(struct reader *r, const struct wire_desc *d,
    json_t *v, char *dst, const struct wire_at *at);

static void *
decode_alloc(struct reader *r, size_t n)
{
	size_t used = arena_used(r->a) - r->start;
	if (used > WIRE_ARENA_MAX || n > WIRE_ARENA_MAX - used)
		return NULL;
	return arena_alloc(r->a, n);
}

static enum rc
decode_no_memory(const struct wire_at *at)
{
	return wire_fail(at, RC_TOOBIG, "takes too much memory");
}

static enum rc
decode_copy_text(
    struct reader *r, struct str s, char *dst, const struct wire_at *at)
{
	char *p = decode_alloc(r, s.n + 1);
	if (p == NULL)
		return decode_no_memory(at);
	if (s.n > 0) /* an absent text has no place */
		memcpy(p, s.p, s.n);
	struct str copy = { p, s.n };
	memcpy(dst, &copy, sizeof(copy));
	return RC_OK;
}

static enum rc
decode_get_raw(struct reader *r, const struct wire_type *t, json_t *v,
    char *dst, const struct wire_at *at)
{
	if (t->json == WIRE_JSON_OBJECT && !json_is_object(v))
		return wire_fail(at, RC_INVALID, "must be an object");
	if (t->json == WIRE_JSON_ARRAY && !json_is_array(v))
		return wire_fail(at, RC_INVALID, "must be an array");
	buf_reset(&r->raw);
	struct wire_out o = { &r->raw, false };
	wire_raw_put(&o, v);
	if (buf_rc(&r->raw) != RC_OK)
		return decode_no_memory(at);
	return decode_copy_text(r, buf_str(&r->raw), dst, at);
}

static enum rc
decode_get_enum(const struct wire_type *t, struct str s, bool nocase, char *dst,
    const struct wire_at *at)
{
	unsigned int i = 0;
	while (i < t->n_names &&
	    !(nocase ? str_eq_nocase(t->names[i], s) : str_eq(t->names[i], s)))
		i++;
	enum rc rc = wire_check_enum(t, i, at);
	if (rc == RC_OK)
		memcpy(dst, &i, sizeof(i));
	return rc;
}

static enum rc
decode_get_text(struct reader *r, const struct wire_type *t, json_t *v,
    char *dst, const struct wire_at *at)
{
	if (!json_is_string(v))
		return wire_fail(at, RC_INVALID, "must be a string");
	struct str s = { json_string_value(v), json_string_length(v) };
	if (t->kind == WIRE_ENUM)
		return decode_get_enum(t, s, false, dst, at);
	enum rc rc = wire_check_text(t, s, at);
	return rc == RC_OK ? decode_copy_text(r, s, dst, at) : rc;
}

static enum rc
decode_get_i64(
    const struct wire_type *t, json_t *v, char *dst, const struct wire_at *at)
{
	int64_t i;
	if (json_is_integer(v)) {
		i = json_integer_value(v);
	} else {
		double f = json_real_value(v);
		if (!json_is_real(v) || f != trunc(f))
			return wire_fail(at, RC_INVALID, "must be an integer");
		/* 2^63 itself is the first double that does not fit. */
		if (!(f >= -0x1p63 && f < 0x1p63))
			return wire_fail(at, RC_INVALID, "must fit 64 bits");
		i = (int64_t)f;
	}
	enum rc rc = wire_check_i64(t, i, at);
	if (rc == RC_OK)
		memcpy(dst, &i, sizeof(i));
	return rc;
}

static enum rc
decode_get_f64(
    const struct wire_type *t, json_t *v, char *dst, const struct wire_at *at)
{
	if (!json_is_number(v))
		return wire_fail(at, RC_INVALID, "must be a number");
	double f = json_number_value(v);
	enum rc rc = wire_check_f64(t, f, at);
	if (rc == RC_OK)
		memcpy(dst, &f, sizeof(f));
	return rc;
}

static enum rc
decode_get_bool(
    const struct wire_type *t, json_t *v, char *dst, const struct wire_at *at)
{
	if (!json_is_boolean(v))
		return wire_fail(at, RC_INVALID, "must be true or false");
	bool b = json_is_true(v);
	enum rc rc = wire_check_bool(t, b, at);
	if (rc == RC_OK)
		memcpy(dst, &b, sizeof(b));
	return rc;
}

/* Any value but an array. */
static enum rc
decode_get_value(struct reader *r, const struct wire_type *t, json_t *v,
    char *dst, const struct wire_at *at)
{
	switch ((enum wire_kind)t->kind) {
	case WIRE_STR:
	case WIRE_ENUM:
		return decode_get_text(r, t, v, dst, at);
	case WIRE_I64:
		return decode_get_i64(t, v, dst, at);
	case WIRE_F64:
		return decode_get_f64(t, v, dst, at);
	case WIRE_BOOL:
		return decode_get_bool(t, v, dst, at);
	case WIRE_OBJECT:
		return decode_get_object(r, t->object, v, dst, at);
	case WIRE_RAW:
		return decode_get_raw(r, t, v, dst, at);
	case WIRE_ARRAY:
		break;
	}
	return wire_fail(at, RC_BUG, "has no such type");
}

/* Before anything is read over them. */
void
wire_set_defaults(const struct wire_desc *d, char *dst)
{
	if ((d->flags & WIRE_DEFAULTS) == 0)
		return;
	for (uint32_t i = 0; i < d->n; i++) {
		const struct wire_field *f = &d->fields[i];
		if (f->type.kind == WIRE_OBJECT)
			wire_set_defaults(f->type.object, dst + f->off);
		if ((f->flags & WIRE_DEFAULT) == 0)
			continue;
		if (f->type.kind == WIRE_STR) {
			memcpy(dst + f->off, &f->dflt_s, sizeof(f->dflt_s));
		} else if (f->type.kind == WIRE_ENUM) {
			unsigned int e = (unsigned int)f->dflt.i;
			memcpy(dst + f->off, &e, sizeof(e));
		} else if (f->type.kind == WIRE_BOOL) {
			bool b = f->dflt.i != 0;
			memcpy(dst + f->off, &b, sizeof(b));
		} else {
			memcpy(dst + f->off, &f->dflt, sizeof(f->dflt));
		}
	}
}

static enum rc
decode_get_array(struct reader *r, const struct wire_field *f, json_t *v,
    char *dst, const struct wire_at *at)
{
	const struct wire_type *elem = f->type.elem;
	if (!json_is_array(v))
		return wire_fail(at, RC_INVALID, "must be an array");
	size_t n = json_array_size(v);
	enum rc rc = wire_check_count(&f->type, n, at);
	if (rc != RC_OK)
		return rc;
	char *items = decode_alloc(r, n * elem->size);
	if (items == NULL)
		return decode_no_memory(at);
	struct wire_at item_at = { .up = at, .err = at->err };
	for (size_t i = 0; i < n && rc == RC_OK; i++) {
		item_at.index = i;
		if (elem->kind == WIRE_OBJECT)
			wire_set_defaults(elem->object, items + i * elem->size);
		rc = decode_get_value(r, elem, json_array_get(v, i),
		    items + i * elem->size, &item_at);
	}
	memcpy(dst + f->off, &items, sizeof(items));
	memcpy(dst + f->count, &n, sizeof(n));
	return rc;
}

static enum rc
decode_get_field(struct reader *r, const struct wire_field *f, json_t *v,
    char *dst, const struct wire_at *at)
{
	enum rc rc;
	if (f->type.kind == WIRE_ARRAY)
		rc = decode_get_array(r, f, v, dst, at);
	else
		rc = decode_get_value(r, &f->type, v, dst + f->off, at);
	bool yes = true;
	if (f->has != WIRE_NONE)
		memcpy(dst + f->has, &yes, sizeof(yes));
	return rc;
}

uint32_t
wire_find_field(const struct wire_desc *d, struct str name, uint32_t from)
{
	for (uint32_t k = 0; k < d->n; k++) {
		uint32_t i = from + k < d->n ? from + k : from + k - d->n;
		const struct str *have = &d->fields[i].name;
		if (have->n == name.n && memcmp(have->p, name.p, name.n) == 0)
			return i;
	}
	return d->n;
}

/* Whether v has the i-th member. */
static bool
decode_is_present(const struct wire_desc *d, const json_t *v, uint32_t i)
{
	const struct str *name = &d->fields[i].name;
	const json_t *value = json_object_getn(v, name->p, name->n);
	return value != NULL && !json_is_null(value);
}

/*
 * Reports the first invalid member in the order of the schema, whatever the
 * order of the text.  One of the first n members is invalid.
 */
static enum rc
decode_first_error(struct reader *r, const struct wire_desc *d, uint32_t n,
    json_t *v, char *dst, const struct wire_at *at)
{
	struct wire_at child = { .up = at, .err = at->err };
	uint64_t choice = 0;
	enum rc rc = RC_OK;
	for (uint32_t i = 0; i < d->n; i++)
		if (decode_is_present(d, v, i))
			choice |= d->choice & UINT64_C(1) << i;
	for (uint32_t i = 0; i < n && rc == RC_OK; i++) {
		const struct wire_field *f = &d->fields[i];
		json_t *value = json_object_getn(v, f->name.p, f->name.n);
		bool required = (f->flags & WIRE_REQUIRED) != 0;
		child.key = f->name;
		if (choice == 0 && (d->choice & UINT64_C(1) << i) != 0)
			return wire_check_choice(d, 0, at);
		if (value == NULL && required)
			rc = wire_fail(&child, RC_INVALID, WIRE_WHY_MISSING);
		else if (value != NULL && (!json_is_null(value) || required))
			rc = decode_get_field(r, f, value, dst, &child);
	}
	return rc;
}

static enum rc
decode_get_object(struct reader *r, const struct wire_desc *d, json_t *v,
    char *dst, const struct wire_at *at)
{
	if (!json_is_object(v))
		return wire_fail(at, RC_INVALID, "must be an object");
	uint64_t seen = 0;
	uint32_t next = 0;
	struct wire_at child = { .up = at, .err = at->err };
	for (void *it = json_object_iter(v); it != NULL;
	     it = json_object_iter_next(v, it)) {
		struct str name = { json_object_iter_key(it),
			json_object_iter_key_len(it) };
		uint32_t i = wire_find_field(d, name, next);
		if (i == d->n)
			continue;
		next = i + 1;
		const struct wire_field *f = &d->fields[i];
		json_t *value = json_object_iter_value(it);
		if (json_is_null(value) && (f->flags & WIRE_REQUIRED) == 0)
			continue;
		child.key = f->name;
		enum rc rc = decode_get_field(r, f, value, dst, &child);
		/* Not further in, where it would be done again and again. */
		if (rc == RC_INVALID && at->up == NULL)
			return decode_first_error(r, d, i + 1, v, dst, at);
		if (rc != RC_OK)
			return rc;
		seen |= UINT64_C(1) << i;
	}
	uint64_t missing = d->required & ~seen;
	if (missing == 0)
		return wire_check_choice(d, seen, at);
	child.key = d->fields[__builtin_ctzll(missing)].name;
	return wire_fail(&child, RC_INVALID, WIRE_WHY_MISSING);
}

void
wire_init(const struct wire_desc *d, void *msg)
{
	memset(msg, 0, d->size);
	wire_set_defaults(d, msg);
}

static enum rc
decode_text(struct reader *r, const struct wire_desc *d, struct str in,
    char *dst, const struct wire_at *at)
{
	const struct wire_field *f = &d->fields[0];
	if (in.n > WIRE_MESSAGE_MAX)
		return wire_fail(
		    at, RC_TOOBIG, "has more than %d bytes", WIRE_MESSAGE_MAX);
	struct str s = str_trim(in);
	if (f->type.kind == WIRE_ENUM)
		return decode_get_enum(&f->type, s, true, dst + f->off, at);
	enum rc rc = wire_check_utf8(s, at);
	if (rc == RC_OK)
		rc = wire_check_text(&f->type, s, at);
	return rc == RC_OK ? decode_copy_text(r, s, dst + f->off, at) : rc;
}

static enum rc
decode_json(struct reader *r, const struct wire_desc *d, struct str in,
    char *dst, const struct wire_at *at)
{
	json_t *v;
	enum rc rc = wire_raw_parse(in, WIRE_DEPTH_MAX, at, &v);
	if (rc != RC_OK)
		return rc;
	if ((d->flags & WIRE_LIST) != 0 && json_is_array(v))
		rc = decode_get_field(r, &d->fields[d->list], v, dst, at);
	else
		rc = decode_get_object(r, d, v, dst, at);
	json_decref(v);
	return rc;
}

enum rc
wire_decode_tree(const struct wire_desc *d, struct str in, struct arena *a,
    void *msg, struct wire_err *err)
{
	struct reader r = {
		.a = a, .start = arena_used(a), .raw = BUF_INIT(WIRE_ARENA_MAX)
	};
	const struct wire_at top = { .err = err };
	wire_init(d, msg);
	enum rc rc;
	if ((d->flags & WIRE_TEXT) != 0)
		rc = decode_text(&r, d, in, msg, &top);
	else
		rc = decode_json(&r, d, in, msg, &top);
	buf_free(&r.raw);
	return rc;
}

enum rc
wire_decode(const struct wire_desc *d, struct str in, struct arena *a,
    void *msg, struct wire_err *err)
{
	struct arena_mark mark = arena_mark(a);
	if ((d->flags & WIRE_TEXT) == 0) {
		wire_init(d, msg);
		if (wire_decode_direct(d, in, a, msg))
			return RC_OK;
		arena_rewind(a, mark);
	}
	return wire_decode_tree(d, in, a, msg, err);
}
