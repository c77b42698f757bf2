/*
 * Packed messages: equal bytes for equal contents, different bytes otherwise.
 */
#include "codec.h"
#include "probe/msgs.h"

static struct str
packed(struct codec *c, const struct wire_desc *d, const char *text)
{
	codec_read(c, d, str_of(text));
	ck_assert_msg(c->rc == RC_OK, "%s: %s", text, c->err.why);
	ck_assert_int_eq(wire_pack(d, c->msg, &c->out), RC_OK);
	return buf_str(&c->out);
}

static bool
is_same(const struct wire_desc *d, const char *x, const char *y)
{
	struct codec a, b;
	bool same = str_eq(packed(&a, d, x), packed(&b, d, y));

	codec_free(&a);
	codec_free(&b);
	return same;
}

/* Any two rows differ; both texts of a row have the same content. */
static const struct {
	const char *one, *other;
} rows[] = {
	{ "{}", "{\"text\":null,\"unknown\":1}" },
	{ "{\"bytes\":\"\"}", "{ \"bytes\" : \"\" }" },
	{ "{\"bytes\":\"a\"}", "{\"bytes\":\"\\u0061\"}" },
	{ "{\"default\":\"a\"}", NULL },
	{ "{\"bytes\":\"a\",\"default\":\"b\"}",
	    "{\"default\":\"b\",\"bytes\":\"a\"}" },
	{ "{\"bytes\":\"b\",\"default\":\"a\"}", NULL },
	{ "{\"bytes\":\"ab\",\"default\":\"\"}", NULL },
	{ "{\"whole\":0}", "{\"whole\":0.0}" },
	{ "{\"whole\":1}", "{\"whole\":1e0}" },
	{ "{\"real\":1}", "{\"real\":1.0}" },
	{ "{\"real\":0.1}", NULL },
	{ "{\"flag\":false}", NULL },
	{ "{\"flag\":true}", NULL },
	{ "{\"any\":{\"x\":1}}", "{\"any\":{ \"x\" : 1 }}" },
	{ "{\"any\":{\"x\":2}}", NULL },
	{ "{\"any\":\"{\\\"x\\\":1}\"}", NULL },
	{ "{\"object\":{\"x\":1}}", NULL },
	{ "{\"nested\":{}}", "{\"nested\":{\"mode\":\"on\"}}" },
	{ "{\"nested\":{\"mode\":\"off\"}}", NULL },
	{ "{\"nested\":{\"deep\":{}}}", NULL },
	{ "{\"nested\":{\"deep\":{\"a/b~c\":0}}}", NULL },
	{ "{\"texts\":[\"a\"]}", NULL },
	{ "{\"texts\":[\"a\",\"b\"]}", "{\"texts\":[ \"a\", \"b\" ]}" },
	{ "{\"texts\":[\"ab\"]}", NULL },
	{ "{\"texts\":[\"b\",\"a\"]}", NULL },
	{ "{\"wholes\":[]}", NULL },
	{ "{\"wholes\":[0]}", NULL },
	{ "{\"wholes\":[0,0]}", NULL },
	{ "{\"flags\":[false]}", NULL },
	{ "{\"raws\":[1,2]}", NULL },
	{ "{\"raws\":[12]}", NULL },
	{ "{\"raws\":[[1,2]]}", NULL },
	{ "{\"wide\":[{\"a\":\"x\"},{}]}", NULL },
	{ "{\"wide\":[{},{\"a\":\"x\"}]}", NULL },
	{ "{\"wide\":[{\"b\":\"x\"},{}]}", NULL },
};

TEST(different_contents_pack_differently)
{
	const struct wire_desc *d = &wire_probe_all_desc;
	size_t i, j;

	for (i = 0; i < NELEM(rows); i++)
		for (j = 0; j <= i; j++)
			ck_assert_msg(
			    is_same(d, rows[i].one, rows[j].one) == (i == j),
			    "%s and %s", rows[i].one, rows[j].one);
}

TEST(spelling_does_not_matter)
{
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		ck_assert_msg(rows[i].other == NULL ||
			is_same(
			    &wire_probe_all_desc, rows[i].one, rows[i].other),
		    "%s", rows[i].other);
}

TEST(packing_is_limited_by_the_buffer)
{
	struct buf small = BUF_INIT(64);
	struct codec c;
	struct str s = packed(&c, &wire_probe_all_desc, "{\"texts\":[\"a\"]}");
	size_t n = s.n;

	ck_assert_int_eq(wire_pack(&wire_probe_all_desc, c.msg, &c.out), RC_OK);
	ck_assert_uint_eq(c.out.n, 2 * n);
	ck_assert_mem_eq(c.out.p, c.out.p + n, n);
	buf_puts(&small, "0123456789012345678901234567890123456789");
	ck_assert_uint_gt(n, 24);
	ck_assert_int_eq(
	    wire_pack(&wire_probe_all_desc, c.msg, &small), RC_TOOBIG);
	buf_free(&small);
	codec_free(&c);
}
