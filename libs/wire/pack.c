/*
 * Structs as bytes to compare: every value has its length or a fixed size, and
 * what may be absent says whether it is there, so no two contents of one schema
 * have the same bytes.
 */
#include <string.h>

#include "wire/desc.h"
#include "wire/wire.h"

static void pack_object(
    const struct wire_desc *d, const char *src, struct buf *out);

/* Most fit what is there; the NUL comes at the end. */
static inline void
put(struct buf *out, const void *p, size_t n)
{
	if (out->over || out->n + n >= out->cap) {
		buf_put(out, p, n);
		return;
	}
	memcpy(out->p + out->n, p, n);
	out->n += n;
}

static void
pack_num(struct buf *out, size_t n)
{
	uint32_t v = (uint32_t)n;

	put(out, &v, sizeof(v));
}

/* Absent is 0, so that it is not the empty text. */
static void
pack_text(struct str s, struct buf *out)
{
	pack_num(out, s.p != NULL ? s.n + 1 : 0);
	if (s.n > 0)
		put(out, s.p, s.n);
}

/* Any value but an array. */
static void
pack_value(const struct wire_type *t, const char *src, struct buf *out)
{
	struct str s;

	switch ((enum wire_kind)t->kind) {
	case WIRE_STR:
	case WIRE_RAW:
		memcpy(&s, src, sizeof(s));
		pack_text(s, out);
		break;
	case WIRE_OBJECT:
		pack_object(t->object, src, out);
		break;
	case WIRE_ENUM:
	case WIRE_I64:
	case WIRE_F64:
	case WIRE_BOOL:
		put(out, src, t->size);
		break;
	case WIRE_ARRAY:
		break;
	}
}

static void
pack_array(const struct wire_field *f, const char *src, struct buf *out)
{
	const char *items;
	size_t i, n;

	memcpy(&items, src + f->off, sizeof(items));
	memcpy(&n, src + f->count, sizeof(n));
	pack_num(out, n);
	for (i = 0; i < n; i++)
		pack_value(f->type.elem, items + i * f->type.elem->size, out);
}

static void
pack_object(const struct wire_desc *d, const char *src, struct buf *out)
{
	uint32_t i;
	bool has;

	for (i = 0; i < d->n; i++) {
		const struct wire_field *f = &d->fields[i];

		if (f->has != WIRE_NONE) {
			memcpy(&has, src + f->has, sizeof(has));
			put(out, &has, sizeof(has));
			if (!has)
				continue;
		}
		if (f->type.kind == WIRE_ARRAY)
			pack_array(f, src, out);
		else
			pack_value(&f->type, src + f->off, out);
	}
}

enum rc
wire_pack(const struct wire_desc *d, const void *msg, struct buf *out)
{
	pack_object(d, msg, out);
	buf_puts(out, "");
	return buf_rc(out);
}
