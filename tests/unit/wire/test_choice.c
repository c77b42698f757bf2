/*
 * Mutually exclusive members: exactly one must be present, in both directions.
 */
#include "codec.h"
#include "probe/msgs.h"

TEST(exactly_one_of_the_choice_is_decoded)
{
	static const char *const good[] = {
		"{\"a\":[1]}",
		"{\"b\":\"\"}",
		"{\"a\":null,\"b\":\"x\",\"c\":null,\"last\":1}",
		"{\"c\":{\"x\":0}}",
		"{\"first\":\"f\",\"c\":{\"y\":false,\"x\":null}}",
	};
	struct codec c;
	size_t i;

	for (i = 0; i < NELEM(good); i++) {
		codec_both(&c, &wire_probe_choice_desc, str_of(good[i]));
		ck_assert_msg(c.rc == RC_OK, "%s: %s", good[i], c.err.why);
		codec_free(&c);
	}
}

TEST(none_or_several_are_rejected)
{
	static const struct codec_bad bad[] = {
		{ "{}", "/a", "is missing" },
		{ "{\"a\":null}", "/a", "is missing" },
		{ "{\"a\":[1],\"b\":\"\"}", "/b", "must not stand beside a" },
		{ "{\"c\":{\"x\":1},\"b\":\"\"}", "/c",
		    "must not stand beside b" },
		{ "{\"a\":[1],\"b\":\"\",\"c\":{\"x\":1}}", "/b", "beside a" },
		{ "{\"c\":{}}", "/c/x", "is missing" },
		{ "{\"c\":{\"x\":1,\"y\":true}}", "/c/y", "beside x" },
		/* The first error in schema order is reported. */
		{ "{\"last\":\"\"}", "/a", "is missing" },
		{ "{\"last\":\"\",\"b\":\"\"}", "/last", "" },
		{ "{\"first\":1}", "/first", "" },
		{ "{\"b\":1}", "/b", "must be a string" },
	};
	struct codec c;
	size_t i;

	for (i = 0; i < NELEM(bad); i++) {
		codec_read(&c, &wire_probe_choice_desc, str_of(bad[i].text));
		ck_assert_msg(c.rc == RC_INVALID, "%s", bad[i].text);
		ck_assert_msg(strcmp(c.err.path, bad[i].path) == 0, "%s: %s",
		    bad[i].text, c.err.path);
		ck_assert_msg(strstr(c.err.why, bad[i].why) != NULL, "%s: %s",
		    bad[i].text, c.err.why);
		codec_free(&c);
	}
}

TEST(exactly_one_of_the_choice_is_encoded)
{
	struct buf out = BUF_INIT(1024);
	struct wire_probe_choice m;
	struct wire_err err;

	wire_init(&wire_probe_choice_desc, &m);
	ck_assert_int_eq(
	    wire_encode(&wire_probe_choice_desc, &m, &out, &err), RC_INVALID);
	ck_assert_str_eq(err.path, "/a");
	m.b = STR("x");
	ck_assert_int_eq(
	    wire_encode(&wire_probe_choice_desc, &m, &out, &err), RC_OK);
	ck_assert_str_eq(out.p, "{\"b\":\"x\"}");
	m.has_c = true;
	m.c.has_x = true;
	ck_assert_int_eq(
	    wire_encode(&wire_probe_choice_desc, &m, &out, &err), RC_INVALID);
	ck_assert_str_eq(err.path, "/c");
	ck_assert_str_eq(out.p, "{\"b\":\"x\"}");
	buf_free(&out);
}
