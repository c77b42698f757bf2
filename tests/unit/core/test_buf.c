/*
 * Buffers: the limit and sticky overflow.
 */
#include <stdint.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"

TEST(an_empty_buffer_is_not_absent)
{
	struct buf b = BUF_INIT(10);

	ck_assert_ptr_nonnull(buf_str(&b).p);
	ck_assert_uint_eq(buf_str(&b).n, 0);
	ck_assert_ptr_null(b.p);
	buf_drop(&b, 5);
	buf_reset(&b);
	buf_free(&b);
	buf_put(&b, NULL, 0);
	ck_assert_str_eq(buf_str(&b).p, "");
	ck_assert_int_eq(buf_rc(&b), RC_OK);
	buf_free(&b);
}

TEST(all_append_functions)
{
	struct buf b = BUF_INIT(1000);

	buf_put(&b, "a\0b", 3);
	buf_puts(&b, "cd");
	buf_putc(&b, 'e');
	buf_put_str(&b, STR("fg"));
	buf_put_str(&b, (struct str){ NULL, 0 });
	buf_printf(&b, "%d%s", 42, "!");
	ck_assert(str_eq(buf_str(&b), STR("a\0bcdefg42!")));
	ck_assert_int_eq(b.p[b.n], '\0');
	buf_free(&b);
}

TEST(a_buffer_grows_exactly_to_its_limit)
{
	struct buf b;

	buf_init(&b, 1000);
	for (int i = 0; i < 1000; i++)
		buf_putc(&b, (char)('a' + i % 26));
	ck_assert_int_eq(buf_rc(&b), RC_OK);
	ck_assert_uint_eq(b.n, 1000);
	ck_assert_uint_le(b.cap, 1001);
	ck_assert_uint_eq(strlen(b.p), 1000);
	buf_putc(&b, 'x');
	ck_assert_int_eq(buf_rc(&b), RC_TOOBIG);
	ck_assert_uint_eq(b.n, 1000);
	buf_free(&b);
	ck_assert_uint_eq(b.max, 1000);
	ck_assert_int_eq(buf_rc(&b), RC_OK);
}

TEST(overflow_is_sticky)
{
	struct buf b = BUF_INIT(8);

	buf_puts(&b, "12345");
	buf_puts(&b, "6789");
	ck_assert_int_eq(buf_rc(&b), RC_TOOBIG);
	/* These would be within the limit. */
	buf_putc(&b, 'x');
	buf_puts(&b, "");
	buf_printf(&b, "y");
	ck_assert_str_eq(buf_str(&b).p, "12345");
	buf_drop(&b, 5);
	buf_putc(&b, 'x');
	ck_assert_uint_eq(b.n, 0);
	ck_assert_int_eq(buf_rc(&b), RC_TOOBIG);
	buf_reset(&b);
	ck_assert_int_eq(buf_rc(&b), RC_OK);
	buf_puts(&b, "12345678");
	ck_assert_int_eq(buf_rc(&b), RC_OK);
	buf_free(&b);
}

TEST(formatting_over_the_limit_changes_nothing)
{
	struct buf b = BUF_INIT(10);

	buf_puts(&b, "12345");
	buf_printf(&b, "%s", "abcdef");
	ck_assert_int_eq(buf_rc(&b), RC_TOOBIG);
	ck_assert_uint_eq(b.n, 5);
	ck_assert_str_eq(b.p, "12345");
	buf_reset(&b);
	buf_printf(&b, "%s", "1234567890");
	ck_assert_int_eq(buf_rc(&b), RC_OK);
	ck_assert_str_eq(b.p, "1234567890");
	buf_free(&b);
}

TEST(formatting_of_every_length)
{
	for (int len = 0; len < 300; len++) {
		struct buf b = BUF_INIT(400);

		buf_puts(&b, "<");
		buf_printf(&b, "%.*s", len,
		    "                                                  "
		    "                                                  "
		    "                                                  "
		    "                                                  "
		    "                                                  "
		    "                                                  ");
		buf_puts(&b, ">");
		ck_assert_int_eq(buf_rc(&b), RC_OK);
		ck_assert_uint_eq(b.n, (size_t)len + 2);
		ck_assert_uint_eq(strlen(b.p), b.n);
		ck_assert_int_eq(b.p[b.n - 1], '>');
		buf_free(&b);
	}
}

TEST(bytes_are_removed_from_the_front)
{
	struct buf b = BUF_INIT(100);

	buf_puts(&b, "abcdef");
	buf_drop(&b, 0);
	ck_assert_str_eq(b.p, "abcdef");
	buf_drop(&b, 2);
	ck_assert_str_eq(b.p, "cdef");
	buf_puts(&b, "gh");
	ck_assert_str_eq(b.p, "cdefgh");
	buf_drop(&b, 1000);
	ck_assert_uint_eq(b.n, 0);
	ck_assert_str_eq(b.p, "");
	buf_free(&b);
}

TEST(limits_at_the_ends_of_the_range)
{
	struct buf none = BUF_INIT(0), all = BUF_INIT(SIZE_MAX);

	buf_puts(&none, "");
	ck_assert_int_eq(buf_rc(&none), RC_OK);
	buf_putc(&none, 'x');
	ck_assert_int_eq(buf_rc(&none), RC_TOOBIG);
	buf_free(&none);
	buf_puts(&all, "text");
	ck_assert_int_eq(buf_rc(&all), RC_OK);
	/* The sum with the content and NUL would overflow. */
	buf_put(&all, "x", SIZE_MAX - 4);
	ck_assert_int_eq(buf_rc(&all), RC_TOOBIG);
	ck_assert_str_eq(all.p, "text");
	buf_free(&all);
}

TEST(reserved_room_needs_no_allocation)
{
	struct buf b = BUF_INIT(100);
	const char *p;

	ck_assert(buf_reserve(&b, 100));
	p = b.p;
	for (int i = 0; i < 50; i++)
		buf_puts(&b, "ab");
	ck_assert_ptr_eq(b.p, p);
	ck_assert_uint_eq(b.n, 100);
	ck_assert(buf_reserve(&b, 0));
	ck_assert(!buf_reserve(&b, 1));
	ck_assert_int_eq(buf_rc(&b), RC_TOOBIG);
	buf_free(&b);
}
