/*
 * JSON text into structs without a tree between them.
 *
 * Whatever is wrong ends it: decode.c then finds the error and its place.  The
 * recursion is as deep as the schema.
 */
#include <float.h>
#include <jansson.h>
#include <string.h>

#include "core/buf.h"
#include "wire/check.h"
#include "wire/desc.h"
#include "wire/out.h"
#include "wire/slice.h"
#include "wire/wire.h"
#include "wire/wire_internal.h"

/* Digits that surely fit int64_t. */
#define I64_DIGITS 18

struct direct {
	struct wire_scan s;
	const struct wire_slice_handler *known; /* NULL: nothing is */
	enum rc rc;                             /* RC_NOENT, or why it ended */
	struct arena *a;
	size_t start;       /* arena_used() before */
	struct buf scratch; /* of one value */
};

/* No error is reported. */
static const struct wire_at direct_at;

static bool direct_object(
    struct direct *r, const struct wire_desc *d, char *dst);

static void *
direct_alloc(struct direct *r, size_t n)
{
	size_t used = arena_used(r->a) - r->start;

	if (used > WIRE_ARENA_MAX || n > WIRE_ARENA_MAX - used)
		return NULL;
	return arena_alloc(r->a, n);
}

static bool
direct_copy_text(struct direct *r, struct str s, char *dst)
{
	char *p = direct_alloc(r, s.n + 1);
	struct str copy = { p, s.n };

	if (p == NULL)
		return false;
	memcpy(p, s.p, s.n);
	memcpy(dst, &copy, sizeof(copy));
	return true;
}

static bool
direct_enum(const struct wire_type *t, struct str s, char *dst)
{
	unsigned int i = 0;

	while (i < t->n_names && !str_eq(t->names[i], s))
		i++;
	if (wire_check_enum(t, i, &direct_at) != RC_OK)
		return false;
	memcpy(dst, &i, sizeof(i));
	return true;
}

static bool
direct_text(struct direct *r, const struct wire_type *t, char *dst)
{
	struct wire_scan_text text;
	struct str s;

	if (*r->s.p != '"' || !wire_scan_string(&r->s, &text))
		return false;
	s = (struct str){ text.p, text.n };
	if (text.escaped) {
		buf_reset(&r->scratch);
		wire_scan_put_text(&text, &r->scratch);
		s = buf_str(&r->scratch);
	}
	if (t->kind == WIRE_ENUM)
		return direct_enum(t, s, dst);
	return wire_check_text(t, s, &direct_at) == RC_OK &&
	    direct_copy_text(r, s, dst);
}

/* Past a number; *i is its value if it is an integer. */
static bool
direct_number(struct direct *r, struct str *text, bool *integer, int64_t *i)
{
	const char *from = r->s.p;
	bool negative = *from == '-';
	uint64_t v = 0;

	if ((*from < '0' || *from > '9') && !negative)
		return false;
	if (!wire_scan_number(&r->s))
		return false;
	*text = (struct str){ from, (size_t)(r->s.p - from) };
	*integer = text->n <= (size_t)(I64_DIGITS + negative);
	for (size_t k = negative; k < text->n && *integer; k++) {
		*integer = from[k] >= '0' && from[k] <= '9';
		v = v * 10 + (uint64_t)(from[k] - '0');
	}
	*i = negative ? -(int64_t)v : (int64_t)v;
	return true;
}

static bool
direct_i64(struct direct *r, const struct wire_type *t, char *dst)
{
	struct str text;
	bool integer;
	int64_t i;

	if (!direct_number(r, &text, &integer, &i) || !integer ||
	    wire_check_i64(t, i, &direct_at) != RC_OK)
		return false;
	memcpy(dst, &i, sizeof(i));
	return true;
}

static bool
direct_f64(struct direct *r, const struct wire_type *t, char *dst)
{
	struct str text;
	bool integer;
	int64_t i;
	double f;

	if (!direct_number(r, &text, &integer, &i))
		return false;
	if (integer)
		f = (double)i;
	else if (str_to_f64(text, -DBL_MAX, DBL_MAX, &f) != RC_OK)
		return false;
	if (wire_check_f64(t, f, &direct_at) != RC_OK)
		return false;
	memcpy(dst, &f, sizeof(f));
	return true;
}

static bool
direct_bool(struct direct *r, const struct wire_type *t, char *dst)
{
	bool b = *r->s.p == 't';

	if (!wire_scan_word(&r->s, b ? STR("true") : STR("false")) ||
	    wire_check_bool(t, b, &direct_at) != RC_OK)
		return false;
	memcpy(dst, &b, sizeof(b));
	return true;
}

/* A value as wire_raw_put() writes it. */
static bool
direct_raw(struct direct *r, const struct wire_type *t, char *dst)
{
	const char *from = r->s.p;
	unsigned traits = r->s.traits;
	struct wire_out o = { &r->scratch, false };
	json_t *v;
	struct str s;

	if ((t->json == WIRE_JSON_OBJECT && *from != '{') ||
	    (t->json == WIRE_JSON_ARRAY && *from != '['))
		return false;
	r->s.traits = 0;
	if (wire_scan_value(&r->s) != RC_OK)
		return false;
	s = (struct str){ from, (size_t)(r->s.p - from) };
	if (r->s.traits != 0) {
		if (wire_raw_parse(s, WIRE_DEPTH_MAX, &direct_at, &v) != RC_OK)
			return false;
		buf_reset(&r->scratch);
		wire_raw_put(&o, v);
		json_decref(v);
		if (buf_rc(&r->scratch) != RC_OK)
			return false;
		s = buf_str(&r->scratch);
	}
	r->s.traits = traits;
	return direct_copy_text(r, s, dst);
}

/* Any value but an array; r->s.p is at it. */
static bool
direct_value(struct direct *r, const struct wire_type *t, char *dst)
{
	if (r->s.p == r->s.end)
		return false;
	switch ((enum wire_kind)t->kind) {
	case WIRE_STR:
	case WIRE_ENUM:
		return direct_text(r, t, dst);
	case WIRE_I64:
		return direct_i64(r, t, dst);
	case WIRE_F64:
		return direct_f64(r, t, dst);
	case WIRE_BOOL:
		return direct_bool(r, t, dst);
	case WIRE_OBJECT:
		return direct_object(r, t->object, dst);
	case WIRE_RAW:
		return direct_raw(r, t, dst);
	case WIRE_ARRAY:
		break;
	}
	return false;
}

/* The number of elements behind an open bracket; the scan stays there. */
static bool
direct_count(struct direct *r, size_t *n)
{
	const char *from = r->s.p;
	size_t containers = r->s.containers;

	*n = 0;
	if (!wire_scan_take(&r->s, ']')) {
		do {
			wire_scan_space(&r->s);
			if (wire_scan_value(&r->s) != RC_OK)
				return false;
			++*n;
		} while (wire_scan_take(&r->s, ','));
	}
	r->s.p = from;
	r->s.containers = containers;
	return true;
}

static bool
direct_array(struct direct *r, const struct wire_field *f, char *dst)
{
	const struct wire_type *elem = f->type.elem;
	char *items;
	size_t n;

	if (r->s.p == r->s.end || *r->s.p != '[' ||
	    wire_scan_open(&r->s) != RC_OK || !direct_count(r, &n) ||
	    wire_check_count(&f->type, n, &direct_at) != RC_OK)
		return false;
	items = direct_alloc(r, n * elem->size);
	if (items == NULL)
		return false;
	for (size_t i = 0; i < n; i++) {
		char *item = items + i * elem->size;

		if (i > 0 && !wire_scan_take(&r->s, ','))
			return false;
		wire_scan_space(&r->s);
		if (elem->kind == WIRE_OBJECT)
			wire_set_defaults(elem->object, item);
		if (!direct_value(r, elem, item))
			return false;
	}
	memcpy(dst + f->off, &items, sizeof(items));
	memcpy(dst + f->count, &n, sizeof(n));
	return wire_scan_take(&r->s, ']') && wire_scan_close(&r->s);
}

/* Past a value that is known; false: it is not, or the scan is over. */
static bool
direct_known(struct direct *r, struct str key)
{
	struct wire_slice m = { .key = key,
		.value = { r->s.p, (size_t)(r->s.text_end - r->s.p) } };
	struct wire_slice_extent x;

	r->rc = r->known->known(r->known->arg, &m, &x);
	if (r->rc != RC_OK)
		return false;
	r->rc = RC_NOENT;
	if (!wire_scan_skip(&r->s, &x)) {
		r->rc = RC_TOOBIG;
		return false;
	}
	return true;
}

static bool
direct_field(struct direct *r, const struct wire_field *f, char *dst)
{
	bool yes = true, known = false;

	if (r->known != NULL && r->s.depth == 1 && r->s.p < r->s.end) {
		known = direct_known(r, f->name);
		if (!known && r->rc != RC_NOENT)
			return false;
	}
	if (!known &&
	    (f->type.kind == WIRE_ARRAY
		    ? !direct_array(r, f, dst)
		    : !direct_value(r, &f->type, dst + f->off)))
		return false;
	if (f->has != WIRE_NONE)
		memcpy(dst + f->has, &yes, sizeof(yes));
	return true;
}

/* One member; *next: where its field is expected, then the one behind it. */
static bool
direct_member(struct direct *r, const struct wire_desc *d, char *dst,
    uint32_t *next, uint64_t *seen)
{
	struct wire_scan_text key;
	const struct wire_field *f;
	uint32_t i;

	if (!wire_scan_key(&r->s, &key) || key.escaped)
		return false;
	i = wire_find_field(d, (struct str){ key.p, key.n }, *next);
	if (i == d->n)
		return wire_scan_value(&r->s) == RC_OK;
	*next = i + 1;
	f = &d->fields[i];
	if (r->s.p < r->s.end && *r->s.p == 'n' &&
	    (f->flags & WIRE_REQUIRED) == 0)
		return wire_scan_word(&r->s, STR("null"));
	*seen |= UINT64_C(1) << i;
	return direct_field(r, f, dst);
}

static bool
direct_object(struct direct *r, const struct wire_desc *d, char *dst)
{
	uint64_t seen = 0;
	uint32_t next = 0;

	if (*r->s.p != '{' || wire_scan_open(&r->s) != RC_OK)
		return false;
	if (!wire_scan_take(&r->s, '}')) {
		do {
			if (!direct_member(r, d, dst, &next, &seen))
				return false;
		} while (wire_scan_take(&r->s, ','));
		if (!wire_scan_take(&r->s, '}'))
			return false;
	}
	return wire_scan_close(&r->s) && (d->required & ~seen) == 0 &&
	    wire_check_choice(d, seen, &direct_at) == RC_OK;
}

static bool
direct_message(
    struct direct *r, const struct wire_desc *d, struct arena *a, void *msg)
{
	bool done;

	r->a = a;
	r->start = arena_used(a);
	r->rc = RC_NOENT;
	buf_init(&r->scratch, WIRE_ARENA_MAX);
	wire_scan_space(&r->s);
	if (r->s.p == r->s.end)
		done = false;
	else if ((d->flags & WIRE_LIST) != 0 && *r->s.p == '[')
		done = direct_field(r, &d->fields[d->list], msg);
	else
		done = direct_object(r, d, msg);
	wire_scan_space(&r->s);
	done = done && r->s.p == r->s.end;
	wire_scan_end(&r->s);
	buf_free(&r->scratch);
	return done;
}

bool
wire_decode_direct(
    const struct wire_desc *d, struct str in, struct arena *a, void *msg)
{
	struct direct r; /* large, and set by wire_scan_begin() */

	if (in.n > WIRE_MESSAGE_MAX)
		return false;
	r.known = NULL;
	wire_scan_begin(&r.s, in);
	return direct_message(&r, d, a, msg);
}

enum rc
wire_decode_known(const struct wire_desc *d, struct str in, struct arena *a,
    void *msg, const struct wire_slice_handler *h)
{
	struct arena_mark mark = arena_mark(a);
	struct direct r;

	if (in.n > WIRE_MESSAGE_MAX || (d->flags & WIRE_TEXT) != 0)
		return RC_NOENT;
	r.known = h;
	wire_scan_begin(&r.s, in);
	if (h->max > 0 && h->max < in.n)
		r.s.end = in.p + h->max;
	wire_init(d, msg);
	if (direct_message(&r, d, a, msg) && r.s.end == r.s.text_end)
		return RC_OK;
	arena_rewind(a, mark);
	return r.rc;
}
