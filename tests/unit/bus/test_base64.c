/* base64 as nats-server writes it. */
#include <string.h>

#include "bus/base64.h"
#include "core/mem.h"
#include "kit/kit.h"

KIT_TEST(what_is_base64)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "", "" },
		{ "Zg==", "f" },
		{ "Zm8=", "fo" },
		{ "Zm9v", "foo" },
		{ "Zm9vYg==", "foob" },
		{ "Zm9vYmE=", "fooba" },
		{ "Zm9vYmFy", "foobar" },
		{ "/+8A", "\377\357" },
	};
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		struct buf b = BUF_INIT(64);

		ck_assert_int_eq(base64_read(str_of(rows[i].in), &b), RC_OK);
		ck_assert_uint_eq(b.n, i == 7 ? 3 : strlen(rows[i].out));
		ck_assert_int_eq(memcmp(buf_str(&b).p, rows[i].out, b.n), 0);
		buf_free(&b);
	}
}

KIT_TEST(what_is_none)
{
	static const char *const rows[] = { "Z", "Zg",
		"Zg=", "Z===", "====", "Zm9\n", "Zm 9", "Zg==Zg==", "Zm9-",
		"Zm9_", "=Zm9" };
	struct buf b = BUF_INIT(64), small = BUF_INIT(2);
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		ck_assert_int_eq(base64_read(str_of(rows[i]), &b), RC_INVALID);
	ck_assert_int_eq(base64_read(STR("Zm9v"), &small), RC_TOOBIG);
	buf_free(&b);
	buf_free(&small);
}
