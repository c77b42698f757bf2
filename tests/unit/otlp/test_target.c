/* Endpoints and headers of OpenTelemetry's variables. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "otlp/otlp_internal.h"
#include "testkit/testkit.h"

struct url_row {
	const char *endpoint, *traces, *url;
};

TEST(the_endpoint_becomes_a_url)
{
	static const struct url_row rows[] = {
		{ "http://c:4318", "", "http://c:4318/v1/traces" },
		{ "http://c:4318/", "", "http://c:4318/v1/traces" },
		{ "https://c/otlp//", NULL, "https://c/otlp/v1/traces" },
		{ "http://c:4318", "http://d/x", "http://d/x" },
		{ NULL, "http://d:1/", "http://d:1/" },
		{ "", "", NULL },
		{ NULL, NULL, NULL },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct otlp_conf conf = { .endpoint = rows[i].endpoint,
			.traces_endpoint = rows[i].traces };
		const char *why = NULL;
		char *url;

		ck_assert_int_eq(otlp_target_url(&conf, &url, &why), RC_OK);
		ck_assert_pstr_eq(url, rows[i].url);
		free(url);
	}
}

TEST(invalid_endpoints_are_rejected)
{
	static const char *const bad[] = { "collector:4318", "/", "ftp://c",
		"http://", "http://c:0", "http://a b" };
	char longest[2048];

	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "http://", 7);
	longest[sizeof(longest) - 1] = '\0';
	for (size_t i = 0; i <= NELEM(bad); i++) {
		struct otlp_conf conf = {
			.endpoint = i < NELEM(bad) ? bad[i] : longest
		};
		const char *why = NULL;
		char *url;

		ck_assert_int_eq(
		    otlp_target_url(&conf, &url, &why), RC_INVALID);
		ck_assert_ptr_null(url);
		ck_assert_ptr_nonnull(why);
	}
}

TEST(headers_are_decoded)
{
	struct otlp_headers h = { .n = 0 };
	const char *why = NULL;

	ck_assert_int_eq(
	    otlp_target_headers(
		" api-key = a%20b%2C%3d ,, X-T=Basic YQ==,", &h, &why),
	    RC_OK);
	ck_assert_uint_eq(h.n, 2);
	ck_assert_str_eq(h.line[0], "api-key: a b,=");
	ck_assert_str_eq(h.line[1], "X-T: Basic YQ==");
	otlp_headers_free(&h);
	ck_assert_int_eq(otlp_target_headers("", &h, &why), RC_OK);
	ck_assert_int_eq(otlp_target_headers(NULL, &h, &why), RC_OK);
	ck_assert_uint_eq(h.n, 0);
}

TEST(invalid_headers_are_rejected)
{
	static const char *const bad[] = { "a", "a=", "=b", "a b=c", "a:=b",
		"a=%2", "a=%zz", "a=%0d%0aX: y", "a=\x01", "\xe7=1" };
	struct buf many = BUF_INIT(1024);

	for (size_t i = 0; i < NELEM(bad); i++) {
		struct otlp_headers h = { .n = 0 };
		const char *why = NULL;

		ck_assert_msg(
		    otlp_target_headers(bad[i], &h, &why) == RC_INVALID, "%s",
		    bad[i]);
		ck_assert_ptr_nonnull(why);
		otlp_headers_free(&h);
	}
	for (size_t i = 0; i <= OTLP_HEADERS_MAX; i++) {
		struct otlp_headers h = { .n = 0 };
		const char *why = NULL;

		buf_puts(&many, "a=b,");
		ck_assert_int_eq(otlp_target_headers(many.p, &h, &why),
		    i < OTLP_HEADERS_MAX ? RC_OK : RC_INVALID);
		ck_assert_uint_eq(
		    h.n, i < OTLP_HEADERS_MAX ? i + 1 : OTLP_HEADERS_MAX);
		otlp_headers_free(&h);
	}
	buf_free(&many);
}

struct own_conf {
	int64_t before;
	struct otlp_conf otlp;
};

static const struct conf_opt opts[] = {
	{ "BEFORE", CONF_INT, CONF_AT(own_conf, before), "1", 0, 0, "x" },
	OTLP_CONF_ROWS(own_conf, otlp, "mind"),
};

TEST(the_option_rows_fill_the_configuration)
{
	struct buf errors = BUF_INIT(1024), shown = BUF_INIT(1024);
	struct own_conf conf;

	ck_assert_uint_eq(NELEM(opts), 1 + OTLP_CONF_ROWS_N);
	ck_assert_int_eq(
	    setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c", 1), 0);
	ck_assert_int_eq(setenv("OTEL_EXPORTER_OTLP_HEADERS", "a=b", 1), 0);
	ck_assert_int_eq(conf_load(opts, NELEM(opts), &conf, &errors), RC_OK);
	ck_assert_str_eq(conf.otlp.endpoint, "http://c");
	ck_assert_str_eq(conf.otlp.traces_endpoint, "");
	ck_assert_str_eq(conf.otlp.headers, "a=b");
	ck_assert_str_eq(conf.otlp.service_name, "mind");
	conf_print(opts, NELEM(opts), &conf, &shown);
	ck_assert_ptr_nonnull(
	    strstr(shown.p, "OTEL_EXPORTER_OTLP_HEADERS=***\n"));
	buf_free(&shown);
	conf_free(opts, NELEM(opts), &conf);
}
