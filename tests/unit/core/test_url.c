/* Server URLs, most of them invalid. */
#include "core/url.h"
#include "testkit/testkit.h"

TEST(valid_urls_are_parsed)
{
	static const struct {
		const char *text;
		struct url want;
	} t[] = {
		{ "redis://localhost",
		    { "redis", "", "", "localhost", 0, "" } },
		{ "MQTT://Host.Example:1883",
		    { "mqtt", "", "", "Host.Example", 1883, "" } },
		{ "redis://127.0.0.1:6379/2",
		    { "redis", "", "", "127.0.0.1", 6379, "/2" } },
		{ "redis://h/", { "redis", "", "", "h", 0, "/" } },
		{ "redis://:secret@h:1",
		    { "redis", "", "secret", "h", 1, "" } },
		{ "redis://user:secret@h:65535/0",
		    { "redis", "user", "secret", "h", 65535, "/0" } },
		{ "redis://user@h", { "redis", "user", "", "h", 0, "" } },
		{ "redis://@h", { "redis", "", "", "h", 0, "" } },
		{ "redis://u%40x:p%3A%2f%25@h",
		    { "redis", "u@x", "p:/%", "h", 0, "" } },
		/* Often not escaped. */
		{ "redis://u:p@ss:w@h:1",
		    { "redis", "u", "p@ss:w", "h", 1, "" } },
		{ "redis://u:%E5%B0%8F@h", { "redis", "u", "小", "h", 0, "" } },
		{ "tcp://[::1]", { "tcp", "", "", "::1", 0, "" } },
		{ "tcp://[fe80::1%eth0]:1883/a?b=c#d",
		    { "tcp", "", "", "fe80::1%eth0", 1883, "/a?b=c#d" } },
		{ "x://my_redis-1.ns.svc",
		    { "x", "", "", "my_redis-1.ns.svc", 0, "" } },
	};
	const char *why = "untouched";
	struct url u;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ck_assert_msg(url_parse(str_of(t[i].text), &u, &why) == RC_OK,
		    "%s: %s", t[i].text, why);
		ck_assert_ptr_null(why);
		ck_assert_str_eq(u.scheme, t[i].want.scheme);
		ck_assert_str_eq(u.user, t[i].want.user);
		ck_assert_str_eq(u.password, t[i].want.password);
		ck_assert_str_eq(u.host, t[i].want.host);
		ck_assert_int_eq(u.port, t[i].want.port);
		ck_assert_str_eq(u.path, t[i].want.path);
	}
}

TEST(invalid_urls_are_rejected)
{
	static const struct str t[] = { { NULL, 0 }, STR_INIT(""),
		STR_INIT("host"), STR_INIT("host:1"), STR_INIT("://h"),
		STR_INIT("redis:/h"), STR_INIT("redis//h"),
		STR_INIT("re dis://h"), STR_INIT("redis2://h"),
		STR_INIT("abcdefghijklmnop://h"), STR_INIT("redis://"),
		STR_INIT("redis:///1"), STR_INIT("redis://:1"),
		STR_INIT("redis://u:p@"), STR_INIT("redis://h:"),
		STR_INIT("redis://h:0"), STR_INIT("redis://h:65536"),
		STR_INIT("redis://h:-1"), STR_INIT("redis://h:+1"),
		STR_INIT("redis://h:1x"), STR_INIT("redis://h: 1"),
		STR_INIT("redis://h:99999999999999999999"),
		STR_INIT("redis://h h"), STR_INIT("redis://h\n"),
		STR_INIT("redis://h\0x"), STR_INIT("redis://ho$t"),
		STR_INIT("redis://::1"), STR_INIT("redis://[::1"),
		STR_INIT("redis://[]"), STR_INIT("redis://[::1]x"),
		STR_INIT("redis://[::1]:"), STR_INIT("redis://[::1 ]"),
		STR_INIT("redis://u:p%@h"), STR_INIT("redis://u:p%4@h"),
		STR_INIT("redis://u:%zz@h"), STR_INIT("redis://u:%00@h"),
		STR_INIT("redis://u:%0a@h"), STR_INIT("redis://u:a\tb@h"),
		STR_INIT("redis://u:p\0@h"), STR_INIT("redis://h/a b"),
		STR_INIT("redis://h/\x7f"), STR_INIT("redis://h?x=1") };
	const char *why;
	struct url u;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		why = NULL;
		ck_assert_msg(url_parse(t[i], &u, &why) == RC_INVALID, "%.*s",
		    STR_ARG(t[i]));
		ck_assert_ptr_nonnull(why);
		ck_assert_int_eq(url_parse(t[i], &u, NULL), RC_INVALID);
	}
}

/* Each part at its limit and over it. */
TEST(parts_are_limited)
{
	static const struct {
		const char *before, *after;
		size_t max;
	} t[] = {
		{ "", "://h", URL_SCHEME_MAX },
		{ "x://", "@h", URL_USER_MAX },
		{ "x://u:", "@h", URL_PASSWORD_MAX },
		{ "x://", "", URL_HOST_MAX },
		{ "x://[", "]:1", URL_HOST_MAX },
		{ "x://h/", "", URL_PATH_MAX - 1 },
	};
	char text[2048];
	struct url u;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		for (size_t n = t[i].max - 1; n <= t[i].max; n++) {
			memset(text, 0, sizeof(text));
			memcpy(text, t[i].before, strlen(t[i].before));
			memset(text + strlen(text), 'a', n);
			memcpy(text + strlen(text), t[i].after,
			    strlen(t[i].after));
			ck_assert_int_eq(url_parse(str_of(text), &u, NULL),
			    n < t[i].max ? RC_OK : RC_INVALID);
		}
}

/* A password must not get into logs by an error text. */
TEST(errors_do_not_quote_the_url)
{
	const char *why;
	struct url u;

	ck_assert_int_eq(
	    url_parse(STR("redis://u:hunter2@h:port"), &u, &why), RC_INVALID);
	ck_assert_ptr_null(strstr(why, "hunter2"));
}

TEST(percent_encoding_is_decoded)
{
	static const char *const wrong[] = { "%", "%4", "%4g", "%0a", "a\x7f",
		"abcdefgh" };
	char dst[8];

	ck_assert_int_eq(
	    url_unescape(STR("a%2C %E7+"), dst, sizeof(dst)), RC_OK);
	ck_assert_str_eq(dst, "a, \xe7+");
	ck_assert_int_eq(url_unescape(STR(""), dst, sizeof(dst)), RC_OK);
	ck_assert_str_eq(dst, "");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_int_eq(
		    url_unescape(str_of(wrong[i]), dst, sizeof(dst)),
		    RC_INVALID);
}

TEST(redacted_urls_have_no_credentials)
{
	static const struct {
		const char *text, *shown;
	} t[] = {
		{ "", "" },
		{ "nats://h:1", "nats://h:1" },
		{ "nats://u:p@h:1", "nats://***@h:1" },
		{ "redis://:p@h/3", "redis://***@h/3" },
		{ "nats://token@h", "nats://***@h" },
		{ "nats://u:p@ss@h,nats://i,tls://v:q@[::1]:2",
		    "nats://***@h,nats://i,tls://***@[::1]:2" },
		/* A password with invalid escapes is redacted, too. */
		{ "nats://u:p/q@h", "nats://***@h" },
		{ "nats://u:p,q@h", "***" },
		{ "nats://u:p,,q@h", "***" },
		{ "u:p@h", "***" },
		{ "nats://u:p@h,", "***" },
	};
	struct buf out = BUF_INIT(1000);
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		buf_reset(&out);
		url_redact(str_of(t[i].text), &out);
		ck_assert_msg(str_eq(buf_str(&out), str_of(t[i].shown)),
		    "%s: %.*s", t[i].text, STR_ARG(buf_str(&out)));
	}
	buf_free(&out);
}
