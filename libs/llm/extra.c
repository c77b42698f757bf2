/*
 * Members in the order of the header.
 */
#include "llm/extra.h"

#include "core/buf.h"
#include "wire/out.h"

static void
put_text(struct wire_out *o, const char *key, struct str s)
{
	wire_out_key(o, str_of(key));
	wire_out_str(o, s);
}

static void
put_parts(struct buf *b, const struct extra *x)
{
	struct wire_out o = { .b = b };

	wire_out_object(&o);
	put_text(&o, "by", x->by);
	if (x->members.n > 0) {
		wire_out_key(&o, STR("call"));
		buf_putc(b, '{');
		buf_put_str(b, x->members);
		buf_putc(b, '}');
		o.comma = true;
	}
	if (x->name.n > 0) {
		put_text(&o, "name", x->name);
		put_text(&o, "reasoning", x->reasoning);
	}
	if (x->blocks.n > 0) {
		wire_out_key(&o, STR("blocks"));
		buf_putc(b, '[');
		buf_put_str(b, x->blocks);
		buf_putc(b, ']');
		o.comma = true;
	}
	wire_out_object_end(&o);
}

struct str
extra_write(const struct extra *x, struct arena *a)
{
	struct buf b = BUF_INIT(EXTRA_TEXT_MAX);
	struct str s = { NULL, 0 };

	if (x->by.n == 0 ||
	    (x->members.n == 0 && x->name.n == 0 && x->blocks.n == 0))
		return s;
	put_parts(&b, x);
	if (buf_rc(&b) == RC_OK) {
		s = arena_str(a, buf_str(&b));
	} else if (x->name.n > 0 || x->blocks.n > 0) {
		const struct extra less = { .by = x->by,
			.members = x->members };
		s = extra_write(&less, a);
	}
	buf_free(&b);
	return s;
}

struct wire_tree *
extra_open(struct str json, struct str by)
{
	struct wire_tree *v;

	if (json.n == 0 || by.n == 0 || wire_tree_parse(json, &v) != RC_OK)
		return NULL;
	if (str_eq(wire_tree_text(wire_tree_get(v, STR("by"))), by))
		return v;
	wire_tree_free(v);
	return NULL;
}
