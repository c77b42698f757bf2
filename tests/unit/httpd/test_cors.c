/* CORS: allowed origins and response fields. */
#include "core/mem.h"
#include "httpd/cors.h"
#include "testkit/testkit.h"

static struct cors c;

TEST(origin_lists_are_parsed)
{
	static const char *const bad[] = { "a.example", "https://",
		"https://a.example/", "https://a.example/x",
		"https://A.example", "https://a.example:0",
		"https://a.example:65536",
		"https://a.example:", "https://a b.example",
		"https://*.example", "https://a.example,",
		"*,https://a.example", "https://u@a", "null", "://a",
		"https://a.example\r\nX: y", "https://[::1", "https://[::1]x",
		"https://[]", "https://[::1]:" };
	struct buf b = BUF_INIT(16384);

	ck_assert_int_eq(cors_parse((struct str){ 0 }, &c), RC_OK);
	ck_assert(!c.on);
	ck_assert_int_eq(cors_parse(STR(" "), &c), RC_OK);
	ck_assert(!c.on);
	for (size_t i = 0; i < NELEM(bad); i++)
		ck_assert_msg(
		    cors_parse(str_of(bad[i]), &c) == RC_INVALID, "%s", bad[i]);
	ck_assert_int_eq(
	    cors_parse((struct str){ "https://a\0b", 11 }, &c), RC_INVALID);
	for (int i = 0; i < CORS_MAX; i++)
		buf_printf(&b, "%shttps://a%d.example", i > 0 ? "," : "", i);
	ck_assert_int_eq(cors_parse(buf_str(&b), &c), RC_OK);
	buf_puts(&b, ",https://b.example");
	ck_assert_int_eq(cors_parse(buf_str(&b), &c), RC_TOOBIG);
	buf_reset(&b);
	buf_puts(&b, "https://");
	while (b.n <= CORS_ORIGIN_MAX)
		buf_putc(&b, 'a');
	ck_assert_int_eq(cors_parse(buf_str(&b), &c), RC_INVALID);
	buf_free(&b);
}

static bool
cors_allows(const char *origin, const char *want)
{
	return str_eq(cors_allow(&c, str_of(origin)), str_of(want)) &&
	    (want != NULL) == (cors_allow(&c, str_of(origin)).p != NULL);
}

TEST(origins_match_only_as_a_whole)
{
	ck_assert_int_eq(
	    cors_parse(STR("https://a.example, http://localhost:5173,"
			   "http://[::1]:80,capacitor://localhost"),
		&c),
	    RC_OK);
	ck_assert(cors_allows("https://a.example", "https://a.example"));
	ck_assert(
	    cors_allows("http://localhost:5173", "http://localhost:5173"));
	ck_assert(cors_allows("http://[::1]:80", "http://[::1]:80"));
	ck_assert(
	    cors_allows("capacitor://localhost", "capacitor://localhost"));
	ck_assert(cors_allows("http://a.example", NULL));
	ck_assert(cors_allows("https://a.example.evil", NULL));
	ck_assert(cors_allows("https://evil.a.example", NULL));
	ck_assert(cors_allows("https://A.example", NULL));
	ck_assert(cors_allows("https://a.exampl", NULL));
	ck_assert(
	    cors_allows("https://a.example, http://localhost:5173", NULL));
	ck_assert(cors_allows("null", NULL));
	ck_assert(cors_allows("", NULL));
	ck_assert(cors_allows(NULL, NULL));
	ck_assert_int_eq(cors_parse(STR("*"), &c), RC_OK);
	ck_assert(cors_allows("https://any.example", "*"));
	ck_assert(cors_allows(NULL, "*"));
}

TEST(response_fields_depend_on_the_origin)
{
	struct buf b = BUF_INIT(1024);

	ck_assert_int_eq(cors_parse(STR(""), &c), RC_OK);
	cors_write(&c, cors_allow(&c, STR("https://a")), &b);
	ck_assert_uint_eq(b.n, 0);
	ck_assert_int_eq(cors_parse(STR("https://a"), &c), RC_OK);
	cors_write(&c, cors_allow(&c, STR("https://b")), &b);
	ck_assert(str_eq(buf_str(&b), STR("Vary: Origin\r\n")));
	buf_reset(&b);
	cors_write(&c, cors_allow(&c, STR("https://a")), &b);
	ck_assert(str_starts(buf_str(&b),
	    STR("Vary: Origin\r\nAccess-Control-Allow-Origin: https://a\r\n"
		"Access-Control-Expose-Headers: retry-after, traceparent")));
	buf_reset(&b);
	ck_assert_int_eq(cors_parse(STR("*"), &c), RC_OK);
	cors_write(&c, cors_allow(&c, STR("https://b")), &b);
	ck_assert(
	    str_starts(buf_str(&b), STR("Access-Control-Allow-Origin: *\r\n")));
	buf_free(&b);
}
