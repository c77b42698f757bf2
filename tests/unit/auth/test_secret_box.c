/* Encrypted texts, and their keys. */
#include "auth/secret_box.h"
#include "core/mem.h"
#include "testkit/testkit.h"

#define K1 "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
#define K2                                    \
	"k2:000102030405060708090a0b0c0d0e0f" \
	"101112131415161718191a1b1c1d1e20"

static struct secret_box *
box(const char *keys)
{
	struct secret_box *b;
	const char *why;

	ck_assert_int_eq(secret_box_new(str_of(keys), &b, &why), RC_OK);
	ck_assert_ptr_null(why);
	return b;
}

static enum rc
open_box(const char *keys, const char *of, const struct buf *sealed,
    struct buf *text)
{
	struct secret_box *b = box(keys);
	enum rc rc;

	buf_reset(text);
	rc = secret_box_open(b, str_of(of), buf_str(sealed), text);
	secret_box_free(b);
	return rc;
}

TEST(a_text_is_opened_by_its_key_for_what_it_belongs_to)
{
	struct buf sealed = BUF_INIT(4096), twice = BUF_INIT(4096),
		   text = BUF_INIT(4096);
	struct secret_box *b = box(K1);

	ck_assert_int_eq(
	    secret_box_seal(b, STR("u/s"), STR("Bearer x"), &sealed), RC_OK);
	ck_assert(str_starts(buf_str(&sealed), STR("k1.")));
	ck_assert_int_lt(str_find(buf_str(&sealed), STR("Bearer")), 0);
	ck_assert_uint_le(sealed.n, (8 * 4 + 2) / 3 + SECRET_OVERHEAD);
	ck_assert_int_eq(open_box(K1, "u/s", &sealed, &text), RC_OK);
	ck_assert(str_eq(buf_str(&text), STR("Bearer x")));
	ck_assert_int_eq(open_box(K1, "u/t", &sealed, &text), RC_INVALID);
	ck_assert_int_eq(open_box(K2, "u/s", &sealed, &text), RC_NOENT);
	ck_assert_int_eq(
	    secret_box_open(NULL, STR("u/s"), buf_str(&sealed), &text),
	    RC_NOENT);
	ck_assert_int_eq(
	    secret_box_seal(b, STR("u/s"), STR("Bearer x"), &twice), RC_OK);
	ck_assert(!str_eq(buf_str(&sealed), buf_str(&twice)));
	secret_box_free(b);
	buf_free(&sealed);
	buf_free(&twice);
	buf_free(&text);
}

TEST(the_key_is_changed_by_putting_another_one_before_it)
{
	struct buf old = BUF_INIT(4096), sealed = BUF_INIT(4096),
		   text = BUF_INIT(4096);
	struct secret_box *b = box(K1);

	ck_assert_int_eq(secret_box_seal(b, STR("o"), STR("t"), &old), RC_OK);
	secret_box_free(b);
	b = box(K2 "," K1);
	ck_assert_int_eq(
	    secret_box_seal(b, STR("o"), STR("t"), &sealed), RC_OK);
	ck_assert(str_starts(buf_str(&sealed), STR("k2.")));
	secret_box_free(b);
	ck_assert_int_eq(open_box(K2 "," K1, "o", &old, &text), RC_OK);
	ck_assert_int_eq(open_box(K2, "o", &sealed, &text), RC_OK);
	ck_assert_int_eq(open_box(K2, "o", &old, &text), RC_NOENT);
	buf_free(&old);
	buf_free(&sealed);
	buf_free(&text);
}

TEST(whatever_is_changed_is_found)
{
	struct buf sealed = BUF_INIT(4096), text = BUF_INIT(4096);
	struct secret_box *b = box(K1);
	size_t i;
	char was;

	ck_assert_int_eq(
	    secret_box_seal(b, STR("o"), STR("text"), &sealed), RC_OK);
	for (i = 3; i < sealed.n; i++) {
		was = sealed.p[i];
		sealed.p[i] = was == 'A' ? 'B' : 'A';
		ck_assert_int_eq(
		    secret_box_open(b, STR("o"), buf_str(&sealed), &text),
		    RC_INVALID);
		sealed.p[i] = was;
	}
	while (sealed.n-- > 4)
		ck_assert_int_eq(
		    secret_box_open(b, STR("o"), buf_str(&sealed), &text),
		    RC_INVALID);
	ck_assert_uint_eq(text.n, 0);
	secret_box_free(b);
	buf_free(&sealed);
}

TEST(keys_are_checked)
{
	static const char *const bad[] = { "x", "k1", ":AAEC", "k1:AAEC",
		"k 1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", K1 ",",
		K1 "," K1, K1 "x" };
	struct secret_box *b;
	const char *why;
	size_t i;

	ck_assert_int_eq(secret_box_new(STR(""), &b, &why), RC_OK);
	ck_assert_ptr_null(b);
	for (i = 0; i < NELEM(bad); i++) {
		ck_assert_msg(
		    secret_box_new(str_of(bad[i]), &b, &why) == RC_INVALID,
		    "%s", bad[i]);
		ck_assert_ptr_nonnull(why);
		ck_assert_ptr_null(b);
	}
}
