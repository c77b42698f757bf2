/* Limits: bytes, nesting, containers, memory, and the error texts. */
#include <inttypes.h>
#include <stdio.h>

#include "codec.h"
#include "probe/msgs.h"

/* s repeated n times. */
static void
repeat(struct buf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_puts(b, s);
}

static enum rc
read_all(struct str text, struct wire_err *err)
{
	struct codec c;
	codec_read(&c, &wire_probe_all_desc, text);
	*err = c.err;
	codec_free(&c);
	return c.rc;
}

/* {"any": [[…]]} with n levels in total. */
static enum rc
read_nested(size_t n, const char *before, struct wire_err *err)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	buf_puts(&b, before);
	repeat(&b, "[", n - 1);
	repeat(&b, "]", n - 1);
	buf_puts(&b, "}");
	enum rc rc = read_all(buf_str(&b), err);
	buf_free(&b);
	return rc;
}

TEST(nesting_is_capped)
{
	struct wire_err err;
	ck_assert_int_eq(read_nested(WIRE_DEPTH_MAX, "{\"any\":", &err), RC_OK);
	ck_assert_int_eq(
	    read_nested(WIRE_DEPTH_MAX + 1, "{\"any\":", &err), RC_INVALID);
	ck_assert_str_eq(err.path, "");
	ck_assert_ptr_nonnull(strstr(err.why, "nested deeper than 64"));
	/* In an ignored member, and in text that is not even JSON. */
	ck_assert_int_eq(
	    read_nested(WIRE_DEPTH_MAX + 1, "{\"zz\":", &err), RC_INVALID);
	ck_assert_int_eq(read_nested(100000, "", &err), RC_INVALID);
	/* Brackets in strings do not count. */
	ck_assert_int_eq(
	    read_nested(WIRE_DEPTH_MAX, "{\"zz\":\"[[{{\\\"[\",\"any\":", &err),
	    RC_OK);
}

TEST(nesting_is_capped_on_writing)
{
	struct buf any = BUF_INIT(4096);
	struct buf out = BUF_INIT(4096);
	struct wire_err err;
	repeat(&any, "[", WIRE_DEPTH_MAX + 1);
	repeat(&any, "]", WIRE_DEPTH_MAX + 1);
	struct wire_probe_all m = { .any = buf_str(&any) };
	ck_assert_int_eq(
	    wire_encode(&wire_probe_all_desc, &m, &out, &err), RC_INVALID);
	ck_assert_str_eq(err.path, "/any");
	/* One level is the message itself. */
	m.any = (struct str){ any.p + 1, any.n - 2 };
	ck_assert_int_eq(
	    wire_encode(&wire_probe_all_desc, &m, &out, &err), RC_INVALID);
	m.any = (struct str){ any.p + 2, any.n - 4 };
	ck_assert_int_eq(
	    wire_encode(&wire_probe_all_desc, &m, &out, &err), RC_OK);
	ck_assert_int_eq(read_all(buf_str(&out), &err), RC_OK);
	buf_free(&any);
	buf_free(&out);
}

TEST(size_is_capped)
{
	struct buf b = BUF_INIT(2 * WIRE_MESSAGE_MAX);
	struct wire_err err;
	buf_puts(&b, "{}");
	repeat(&b, " ", WIRE_MESSAGE_MAX - 2);
	ck_assert_int_eq(read_all(buf_str(&b), &err), RC_OK);
	buf_puts(&b, " ");
	ck_assert_int_eq(read_all(buf_str(&b), &err), RC_TOOBIG);
	ck_assert_str_eq(err.path, "");
	ck_assert_ptr_nonnull(strstr(err.why, "1048576 bytes"));
	buf_free(&b);
}

TEST(bare_text_is_capped)
{
	struct buf b = BUF_INIT(2 * WIRE_MESSAGE_MAX);
	struct codec c;
	repeat(&b, " ", WIRE_MESSAGE_MAX);
	codec_read(&c, &wire_probe_beat_desc, buf_str(&b));
	ck_assert_int_eq(c.rc, RC_OK);
	codec_free(&c);
	buf_puts(&b, " ");
	codec_read(&c, &wire_probe_beat_desc, buf_str(&b));
	ck_assert_int_eq(c.rc, RC_TOOBIG);
	codec_free(&c);
	buf_free(&b);
}

TEST(containers_are_capped)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_err err;
	buf_puts(&b, "{\"zz\":[");
	repeat(&b, "{},", 65533);
	buf_puts(&b, "[]]}");
	ck_assert_int_eq(read_all(buf_str(&b), &err), RC_OK);
	buf_reset(&b);
	buf_puts(&b, "{\"zz\":[");
	repeat(&b, "{},", 65534);
	buf_puts(&b, "[]]}");
	ck_assert_int_eq(read_all(buf_str(&b), &err), RC_TOOBIG);
	ck_assert_ptr_nonnull(strstr(err.why, "too many objects"));
	buf_free(&b);
}

/* Many small objects in the text become many large structs. */
TEST(memory_is_capped)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	buf_puts(&b, "{\"points\":[{\"x\":1}");
	repeat(&b, ",{\"x\":1}", 9999);
	buf_puts(&b, "]}");
	struct wire_probe_all m;
	struct wire_err err;
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	ck_assert_int_eq(
	    wire_decode(&wire_probe_all_desc, buf_str(&b), a, &m, &err), RC_OK);
	ck_assert_uint_eq(m.n_points, 10000);
	size_t used = arena_used(a);
	ck_assert_uint_ge(used, 10000 * sizeof(*m.points));
	arena_free(a);

	/* One byte too few, and the exact size. */
	a = arena_new(used - 1);
	ck_assert_int_eq(
	    wire_decode(&wire_probe_all_desc, buf_str(&b), a, &m, &err),
	    RC_TOOBIG);
	ck_assert_str_eq(err.path, "/points");
	ck_assert_str_eq(err.why, "takes too much memory");
	arena_free(a);
	a = arena_new(used);
	ck_assert_int_eq(
	    wire_decode(&wire_probe_all_desc, buf_str(&b), a, &m, NULL), RC_OK);
	arena_free(a);
	buf_free(&b);
}

/*
 * {"<member>":[<item>,…]}, decoded into an arena that is more than large
 * enough.
 */
static enum rc
read_many(const char *member, const char *item, size_t n, struct wire_err *err)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_probe_all m;
	struct arena *a = arena_new(64 * WIRE_ARENA_MAX);
	buf_printf(&b, "{\"%s\":[%s", member, item + 1);
	repeat(&b, item, n - 1);
	buf_puts(&b, "]}");
	ck_assert_int_eq(buf_rc(&b), RC_OK);
	enum rc rc = wire_decode(&wire_probe_all_desc, buf_str(&b), a, &m, err);
	/* Earlier allocations from the arena do not count. */
	enum rc second =
	    wire_decode(&wire_probe_all_desc, buf_str(&b), a, &m, NULL);
	ck_assert_int_eq(second, rc);
	if (rc == RC_OK)
		ck_assert_uint_le(arena_used(a), 2 * WIRE_ARENA_MAX);
	arena_free(a);
	buf_free(&b);
	return rc;
}

TEST(memory_of_one_message_is_capped)
{
	struct wire_err err;
	ck_assert_uint_eq(sizeof(struct wire_probe_all_wide), 144);
	/* In one allocation. */
	ck_assert_int_eq(read_many("wide", ",{}", 50000, &err), RC_OK);
	ck_assert_uint_gt(
	    65000 * sizeof(struct wire_probe_all_wide), WIRE_ARENA_MAX);
	ck_assert_int_eq(read_many("wide", ",{}", 65000, &err), RC_TOOBIG);
	ck_assert_str_eq(err.path, "/wide");
	ck_assert_str_eq(err.why, "takes too much memory");
	/* In small allocations. */
	ck_assert_int_eq(read_many("wide", ",{}", 58200, &err), RC_OK);
	ck_assert_int_eq(
	    read_many("wide", ",{\"a\":\"\"}", 58200, &err), RC_TOOBIG);
	ck_assert_ptr_eq(strstr(err.path, "/wide/"), err.path);
	ck_assert_str_eq(err.why, "takes too much memory");
}

/* Numbers whose encoding is longer than the text. */
TEST(raw_values_may_grow)
{
	struct buf any = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_err err;
	buf_puts(&any, "{\"any\":[1E14");
	repeat(&any, ",1E14", 150000);
	buf_puts(&any, "]}");
	ck_assert_int_eq(read_all(buf_str(&any), &err), RC_OK);
	buf_free(&any);
}

TEST(long_reasons_are_truncated_between_code_points)
{
	struct wire_err err;
	char text[sizeof(err.path) + sizeof(err.why) + 2];
	memset(err.path, 'p', sizeof(err.path));
	err.path[sizeof(err.path) - 1] = '\0';
	memset(err.why, 'w', sizeof(err.why));
	err.why[sizeof(err.why) - 1] = '\0';
	wire_err_text(&err, text, sizeof(text));
	ck_assert_uint_eq(strlen(text), sizeof(text) - 2);
	wire_err_text(&err, text, 1);
	ck_assert_str_eq(text, "");
	(void)snprintf(err.path, sizeof(err.path), "/a");
	(void)snprintf(err.why, sizeof(err.why), "蓝");
	wire_err_text(&err, text, sizeof("/a: 蓝"));
	ck_assert_str_eq(text, "/a: 蓝");
	wire_err_text(&err, text, sizeof("/a: 蓝") - 1);
	ck_assert_str_eq(text, "/a: ");
	err.path[0] = '\0';
	wire_err_text(&err, text, sizeof(text));
	ck_assert_str_eq(text, "蓝");
}

TEST(messages_are_found_by_name)
{
	size_t n = 0;
	const struct wire_desc *d;
	while ((d = wire_desc_at(n)) != NULL) {
		ck_assert_ptr_eq(wire_desc_find(str_of(wire_desc_name(d))), d);
		if (n > 0)
			ck_assert_int_lt(
			    strcmp(wire_desc_name(wire_desc_at(n - 1)),
				wire_desc_name(d)),
			    0);
		n++;
	}
	ck_assert_uint_gt(n, 40);
	ck_assert_ptr_null(wire_desc_find(STR("")));
	ck_assert_ptr_null(wire_desc_find(STR("invok")));
	ck_assert_ptr_null(wire_desc_find(STR("zzz")));
	ck_assert_str_eq(wire_desc_name(&wire_probe_all_desc), "probe_all");
	ck_assert_uint_eq(wire_desc_size(&wire_probe_all_desc),
	    sizeof(struct wire_probe_all));
}
