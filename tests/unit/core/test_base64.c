/* base64 as nats-server writes it. */
#include <string.h>

#include "core/base64.h"
#include "core/mem.h"
#include "testkit/testkit.h"

TEST(valid_base64_is_decoded)
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

		ck_assert_int_eq(base64_decode(str_of(rows[i].in), &b), RC_OK);
		ck_assert_uint_eq(b.n, i == 7 ? 3 : strlen(rows[i].out));
		ck_assert_int_eq(memcmp(buf_str(&b).p, rows[i].out, b.n), 0);
		buf_free(&b);
	}
}

TEST(invalid_base64_is_rejected)
{
	static const char *const rows[] = { "Z", "Zg",
		"Zg=", "Z===", "====", "Zm9\n", "Zm 9", "Zg==Zg==", "Zm9-",
		"Zm9_", "=Zm9" };
	struct buf b = BUF_INIT(64), small = BUF_INIT(2);
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		ck_assert_int_eq(
		    base64_decode(str_of(rows[i]), &b), RC_INVALID);
	ck_assert_int_eq(base64_decode(STR("Zm9v"), &small), RC_TOOBIG);
	buf_free(&b);
	buf_free(&small);
}

TEST(base64url_has_one_form)
{
	static const struct {
		const char *text, *bytes;
		enum rc rc;
	} rows[] = {
		{ "", "", RC_OK },
		{ "Zg", "f", RC_OK },
		{ "Zm8", "fo", RC_OK },
		{ "Zm9v", "foo", RC_OK },
		{ "_-8", "\xff\xef", RC_OK },
		{ "Zh", NULL, RC_INVALID },
		{ "Zm9", NULL, RC_INVALID },
		{ "Z", NULL, RC_INVALID },
		{ "Zg==", NULL, RC_INVALID },
		{ "Z g", NULL, RC_INVALID },
		{ "/+8", NULL, RC_INVALID },
		{ "Zm9vYmE", NULL, RC_TOOBIG },
	};
	unsigned char out[4];
	size_t i, n;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		ck_assert_int_eq(base64url_decode(str_of(rows[i].text), out,
				     sizeof(out), &n),
		    rows[i].rc);
		if (rows[i].rc == RC_OK)
			ck_assert(str_eq(str_of(rows[i].bytes),
			    (struct str){ (const char *)out, n }));
	}
}

TEST(base64url_is_encoded_without_padding)
{
	static const struct {
		struct str bytes;
		const char *text;
	} rows[] = {
		{ STR_INIT(""), "" },
		{ STR_INIT("f"), "Zg" },
		{ STR_INIT("fo"), "Zm8" },
		{ STR_INIT("foo"), "Zm9v" },
		{ STR_INIT("\xff\xfe\xfb"), "__77" },
		{ STR_INIT("\0\0"), "AAA" },
	};
	char text[BASE64URL_CHARS(3)];

	for (size_t i = 0; i < NELEM(rows); i++) {
		base64url_encode(rows[i].bytes.p, rows[i].bytes.n, text);
		ck_assert_str_eq(text, rows[i].text);
		ck_assert_uint_le(
		    strlen(text) + 1, BASE64URL_CHARS(rows[i].bytes.n));
	}
}
