/* Decoding: what is accepted, what is rejected, and the reported error. */
#include <math.h>

#include "codec.h"
#include "probe/msgs.h"

/* Members of probe_all that survive decoding and encoding unchanged. */
static const char *const same[] = {
	"{}",
	"{\"text\":\"ab\"}",
	"{\"text\":\"灯红绿蓝\"}",
	"{\"bytes\":\"灯灯\"}",
	"{\"bytes\":\"\"}",
	"{\"id\":\"a b/灯~\"}",
	"{\"terminal\":\"t-1 é\"}",
	"{\"snake\":\"a_9\"}",
	"{\"token\":\"A-_9z\"}",
	"{\"hex\":\"00112233445566778899aabbccddeeff\"}",
	"{\"secret\":\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\x7f/😀\"}",
	"{\"color\":\"red\"}",
	"{\"color\":\"蓝 blue\"}",
	"{\"only\":\"this\"}",
	"{\"whole\":9223372036854775807}",
	"{\"whole\":-9223372036854775808}",
	"{\"small\":-3}",
	"{\"small\":7}",
	"{\"seven\":7}",
	"{\"real\":0.1}",
	"{\"real\":-1.7976931348623157e308}",
	"{\"real\":5e-324}",
	"{\"unit\":0}",
	"{\"unit\":0.75}",
	"{\"flag\":true}",
	"{\"flag\":false}",
	"{\"yes\":true}",
	"{\"any\":[1,1.0,\"x\",{\"b\":null,\"a\":true}]}",
	"{\"any\":\"\"}",
	"{\"object\":{}}",
	"{\"object\":{\"z\":1,\"a\":{\"\":0}}}",
	"{\"array\":[]}",
	"{\"array\":[[],{}]}",
	"{\"point\":{\"x\":1,\"y\":1.5}}",
	"{\"point\":{\"x\":-0.5,\"y\":2,\"tag\":\"t\"}}",
	"{\"nested\":{\"mode\":\"on\"}}",
	"{\"nested\":{\"mode\":\"off\",\"deep\":{}}}",
	"{\"nested\":{\"mode\":\"off\",\"deep\":{\"a/b~c\":9}}}",
	"{\"texts\":[\"a\",\"b\",\"c\"]}",
	"{\"colors\":[]}",
	"{\"colors\":[\"dark-green\",\"red\"]}",
	"{\"wholes\":[0,-1,9007199254740993]}",
	"{\"reals\":[0,0.5,1e22,1e-7]}",
	"{\"flags\":[true,false]}",
	"{\"raws\":[null,{},[0],\"a\"]}",
	"{\"points\":[{\"x\":1,\"y\":1.5},{\"x\":2,\"y\":0,\"tag\":\"t\"}]}",
	"{\"default\":\"x\"}",
};

TEST(valid_messages_survive_a_round_trip)
{
	for (size_t i = 0; i < NELEM(same); i++) {
		struct codec c;
		codec_both(&c, &wire_probe_all_desc, str_of(same[i]));
		ck_assert_msg(c.rc == RC_OK, "%s: %s: %s", same[i], c.err.path,
		    c.err.why);
		ck_assert_str_eq(c.out.p, same[i]);
		codec_free(&c);
	}
}

/* Texts that are encoded differently than they were written. */
static const char *const other[][2] = {
	{ " {\n\t\"text\" : \"\\u706f\\/\" }\r\n", "{\"text\":\"灯/\"}" },
	{ "{\"secret\":\"\\ud83d\\ude00\"}", "{\"secret\":\"😀\"}" },
	{ "{\"zz\":1,\"small\":1,\"a\":[{}]}", "{\"small\":1}" },
	{ "{\"small\":3.0}", "{\"small\":3}" },
	{ "{\"whole\":-1e3}", "{\"whole\":-1000}" },
	{ "{\"whole\":9007199254740993.0}", "{\"whole\":9007199254740992}" },
	{ "{\"real\":3}", "{\"real\":3}" },
	{ "{\"real\":1.0}", "{\"real\":1}" },
	{ "{\"real\":1E2}", "{\"real\":100}" },
	{ "{\"real\":0.10000000000000001}", "{\"real\":0.1}" },
	{ "{\"any\":{\"b\" : [1.50, 2e2, 1e300]}}",
	    "{\"any\":{\"b\":[1.5,200.0,1e300]}}" },
	{ "{\"any\":null,\"text\":null,\"flag\":null,\"texts\":null,"
	  "\"point\":null,\"color\":null}",
	    "{}" },
	{ "{\"point\":{\"y\":null,\"x\":1}}",
	    "{\"point\":{\"x\":1,\"y\":1.5}}" },
	{ "{\"default\":\"x\",\"text\":\"ab\"}",
	    "{\"text\":\"ab\",\"default\":\"x\"}" },
};

TEST(other_spellings_decode_to_the_same)
{
	for (size_t i = 0; i < NELEM(other); i++) {
		struct codec c;
		codec_both(&c, &wire_probe_all_desc, str_of(other[i][0]));
		ck_assert_msg(c.rc == RC_OK, "%s: %s: %s", other[i][0],
		    c.err.path, c.err.why);
		ck_assert_str_eq(c.out.p, other[i][1]);
		codec_free(&c);
	}
}

static const struct codec_bad bad[] = {
	{ "{\"text\":\"a\"}", "/text", "at least 2 characters" },
	{ "{\"text\":\"\"}", "/text", "must not be empty" },
	{ "{\"text\":\"灯红绿蓝白\"}", "/text", "at most 4 characters" },
	{ "{\"text\":1}", "/text", "must be a string" },
	{ "{\"text\":[\"ab\"]}", "/text", "must be a string" },
	{ "{\"bytes\":\"灯灯a\"}", "/bytes", "at most 6 bytes" },
	{ "{\"id\":\"\"}", "/id", "must not be empty" },
	{ "{\"id\":\"a\\u001f\"}", "/id", "control characters" },
	{ "{\"id\":\"a\\u007f\"}", "/id", "control characters" },
	{ "{\"terminal\":\"a/b\"}", "/terminal", "control characters, /" },
	{ "{\"terminal\":\"a+\"}", "/terminal", "control characters, /" },
	{ "{\"terminal\":\"#\"}", "/terminal", "control characters, /" },
	{ "{\"terminal\":\"\\n\"}", "/terminal", "control characters, /" },
	{ "{\"snake\":\"aB\"}", "/snake", "a-z, 0-9 and _" },
	{ "{\"snake\":\"a-b\"}", "/snake", "a-z, 0-9 and _" },
	{ "{\"token\":\"a.b\"}", "/token", "letters, digits, _ and -" },
	{ "{\"token\":\"é\"}", "/token", "letters, digits, _ and -" },
	{ "{\"token\":\"\"}", "/token", "must not be empty" },
	{ "{\"hex\":\"00112233445566778899aabbccddeef\"}", "/hex", "32 of" },
	{ "{\"hex\":\"00112233445566778899aabbccddeefg\"}", "/hex", "32 of" },
	{ "{\"hex\":\"00112233445566778899AABBCCDDEEFF\"}", "/hex", "32 of" },
	{ "{\"color\":\"Red\"}", "/color",
	    "must be one of red, dark-green, 蓝 blue" },
	{ "{\"color\":0}", "/color", "must be a string" },
	{ "{\"only\":\"that\"}", "/only", "must be this" },
	{ "{\"whole\":3.5}", "/whole", "must be an integer" },
	{ "{\"whole\":\"3\"}", "/whole", "must be an integer" },
	{ "{\"whole\":9223372036854775808.0}", "/whole", "fit 64 bits" },
	{ "{\"whole\":-9.3e18}", "/whole", "fit 64 bits" },
	{ "{\"whole\":true}", "/whole", "must be an integer" },
	{ "{\"small\":-4}", "/small", "at least -3" },
	{ "{\"small\":8}", "/small", "at most 7" },
	{ "{\"seven\":6}", "/seven", "at least 7" },
	{ "{\"real\":\"1\"}", "/real", "must be a number" },
	{ "{\"unit\":-0.1}", "/unit", "at least 0" },
	{ "{\"unit\":0.7500001}", "/unit", "at most 0.75" },
	{ "{\"unit\":1}", "/unit", "at most 0.75" },
	{ "{\"flag\":0}", "/flag", "true or false" },
	{ "{\"flag\":\"true\"}", "/flag", "true or false" },
	{ "{\"yes\":false}", "/yes", "must be true" },
	{ "{\"object\":[]}", "/object", "must be an object" },
	{ "{\"array\":{}}", "/array", "must be an array" },
	{ "{\"point\":{}}", "/point/x", "is missing" },
	{ "{\"point\":{\"x\":null}}", "/point/x", "must be a number" },
	{ "{\"point\":[]}", "/point", "must be an object" },
	{ "{\"point\":{\"x\":1,\"tag\":\"\"}}", "/point/tag", "empty" },
	{ "{\"nested\":{\"mode\":\"x\"}}", "/nested/mode", "off, on" },
	{ "{\"nested\":{\"deep\":{\"a/b~c\":10}}}", "/nested/deep/a~1b~0c",
	    "at most 9" },
	{ "{\"texts\":[]}", "/texts", "must not be empty" },
	{ "{\"texts\":[\"a\",\"b\",\"c\",\"d\"]}", "/texts",
	    "at most 3 items" },
	{ "{\"texts\":{}}", "/texts", "must be an array" },
	{ "{\"texts\":[\"a\",\"\"]}", "/texts/1", "must not be empty" },
	{ "{\"texts\":[\"a\",null]}", "/texts/1", "must be a string" },
	{ "{\"colors\":[\"red\",\"x\"]}", "/colors/1", "must be one of" },
	{ "{\"points\":[{\"x\":1},{\"x\":1},{\"y\":1}]}", "/points/2/x",
	    "is missing" },
	{ "{\"reals\":[1,{}]}", "/reals/1", "must be a number" },
	{ "", "", "ends too early" },
	{ " ", "", "ends too early" },
	{ "{", "", "ends too early" },
	{ "{\"text\":\"ab", "", "ends too early" },
	{ "{}x", "", "bytes behind its end" },
	{ "{} {}", "", "bytes behind its end" },
	{ "{'a':1}", "", "is not JSON" },
	{ "{\"a\":01}", "", "is not JSON" },
	{ "{\"a\":1,}", "", "is not JSON" },
	{ "{\"a\":NaN}", "", "is not JSON" },
	{ "{\"a\":\"\\x\"}", "", "is not JSON" },
	{ "{\"a\":\"\xff\"}", "", "is not UTF-8" },
	{ "{\"a\":\"\xc0\x80\"}", "", "is not UTF-8" },
	{ "{\"a\":\"\xed\xa0\x80\"}", "", "is not UTF-8" },
	{ "{\"a\":\"\\u0000\"}", "", "U+0000" },
	{ "{\"a\":1,\"a\":1}", "", "the same member twice" },
	{ "{\"point\":{\"x\":1,\"x\":2}}", "", "the same member twice" },
	{ "{\"a\":9223372036854775808}", "", "out of range" },
	{ "{\"a\":1e400}", "", "out of range" },
	{ "[]", "", "must be an object" },
	{ "null", "", "must be an object" },
	{ "\"text\"", "", "must be an object" },
	{ "7", "", "must be an object" },
};

TEST(errors_are_reported_at_their_path)
{
	for (size_t i = 0; i < NELEM(bad); i++)
		codec_reject(&wire_probe_all_desc, &bad[i]);
}

static const struct codec_bad must_bad[] = {
	{ "{}", "/text", "is missing" },
	{ "{\"text\":\"\",\"color\":\"red\",\"whole\":1,\"any\":null,"
	  "\"point\":{\"x\":1}}",
	    "/texts", "is missing" },
	{ "{\"text\":\"\",\"color\":\"red\",\"whole\":1,\"any\":null,"
	  "\"texts\":[]}",
	    "/point", "is missing" },
	{ "{\"text\":null}", "/text", "must be a string" },
	{ "{\"text\":\"\",\"color\":\"red\",\"whole\":1,\"any\":null,"
	  "\"texts\":null,\"point\":{\"x\":1}}",
	    "/texts", "must be an array" },
	{ "{\"text\":\"\",\"color\":\"red\",\"whole\":1,\"any\":null,"
	  "\"texts\":[],\"point\":{\"x\":1},\"d_whole\":1.5}",
	    "/d_whole", "must be an integer" },
};

/* Several errors: the schema has text, color, whole, any, texts, point. */
static const struct codec_bad order_bad[] = {
	{ "{\"texts\":null}", "/text", "is missing" },
	{ "{\"texts\":7,\"text\":\"\"}", "/color", "is missing" },
	{ "{\"whole\":\"x\",\"color\":\"x\",\"text\":5}", "/text", "string" },
	{ "{\"whole\":\"x\",\"color\":\"x\",\"text\":\"\"}", "/color",
	    "one of" },
	{ "{\"whole\":\"x\",\"text\":\"\"}", "/color", "is missing" },
	{ "{\"point\":{},\"whole\":\"x\",\"color\":\"red\",\"text\":\"\"}",
	    "/whole", "must be an integer" },
	/* Nested further, the first error in text order is reported. */
	{ "{\"text\":\"\",\"color\":\"red\",\"whole\":1,\"any\":null,"
	  "\"texts\":[\"a\"],\"point\":{\"tag\":\"\",\"x\":\"\"}}",
	    "/point/tag", "empty" },
};

TEST(the_first_error_in_schema_order_is_reported)
{
	for (size_t i = 0; i < NELEM(order_bad); i++)
		codec_reject(&wire_probe_must_desc, &order_bad[i]);
}

TEST(required_members_must_be_present)
{
	for (size_t i = 0; i < NELEM(must_bad); i++)
		codec_reject(&wire_probe_must_desc, &must_bad[i]);
}

TEST(defaults_are_filled_in)
{
	struct codec c;
	codec_both(&c, &wire_probe_must_desc,
	    STR("{\"text\":\"\",\"color\":\"green\",\"whole\":1,\"any\":null,"
		"\"texts\":[],\"point\":{\"x\":1}}"));
	const struct wire_probe_must *m = c.msg;
	ck_assert_msg(c.rc == RC_OK, "%s: %s", c.err.path, c.err.why);
	ck_assert(m->text.p != NULL && m->text.n == 0);
	ck_assert_int_eq(m->color, WIRE_PROBE_MUST_COLOR_GREEN);
	ck_assert(str_eq(m->any, STR("null")));
	ck_assert_uint_eq(m->n_texts, 0);
	ck_assert(m->point.y == 1.5);
	ck_assert(m->point.tag.p == NULL);
	ck_assert(str_eq(m->d_text, STR("喂 \"x\"")));
	ck_assert_int_eq(m->d_color, WIRE_PROBE_MUST_D_COLOR_GREEN);
	ck_assert_int_eq(m->d_whole, INT64_MIN);
	ck_assert(m->d_real == 0.1);
	ck_assert(m->d_flag);
	ck_assert_str_eq(c.out.p,
	    "{\"text\":\"\",\"color\":\"green\",\"whole\":1,\"any\":null,"
	    "\"texts\":[],\"point\":{\"x\":1,\"y\":1.5},"
	    "\"d_text\":\"喂 \\\"x\\\"\",\"d_color\":\"green\","
	    "\"d_whole\":-9223372036854775808,\"d_real\":0.1,"
	    "\"d_flag\":true}");
	codec_free(&c);
}

TEST(defaults_of_an_absent_object_are_filled_in_too)
{
	struct codec c;
	codec_read(&c, &wire_probe_all_desc, STR("{\"points\":[{\"x\":1}]}"));
	const struct wire_probe_all *m = c.msg;
	ck_assert_int_eq(c.rc, RC_OK);
	ck_assert(!m->has_nested);
	ck_assert_int_eq(m->nested.mode, WIRE_PROBE_ALL_NESTED_MODE_ON);
	ck_assert(!m->has_point && m->point.y == 1.5);
	ck_assert(m->points[0].y == 1.5);
	codec_free(&c);
}

TEST(absent_and_empty_texts_differ)
{
	struct codec c;
	codec_read(&c, &wire_probe_all_desc,
	    STR("{\"colors\":[],\"bytes\":\"\",\"array\":[],\"whole\":0}"));
	const struct wire_probe_all *m = c.msg;
	ck_assert_int_eq(c.rc, RC_OK);
	ck_assert(m->has_colors && m->n_colors == 0);
	ck_assert(!m->has_wholes);
	ck_assert(m->bytes.p != NULL && m->text.p == NULL);
	ck_assert(str_eq(m->array, STR("[]")) && m->object.p == NULL);
	ck_assert(m->has_whole && !m->has_small);
	codec_free(&c);
}

TEST(texts_have_a_nul_behind_them)
{
	struct codec c;
	codec_read(&c, &wire_probe_all_desc, STR("{\"text\":\"abc\"}"));
	const struct wire_probe_all *m = c.msg;
	ck_assert_str_eq(m->text.p, "abc");
	codec_free(&c);
}

TEST(a_bare_array_is_the_object_with_it)
{
	struct codec c;
	codec_both(&c, &wire_probe_list_desc, STR(" [{\"x\":1,\"y\":2}]"));
	ck_assert_msg(c.rc == RC_OK, "%s: %s", c.err.path, c.err.why);
	ck_assert_str_eq(
	    c.out.p, "{\"version\":0,\"points\":[{\"x\":1,\"y\":2}]}");
	codec_free(&c);
	codec_both(
	    &c, &wire_probe_list_desc, STR("{\"version\":3,\"points\":[]}"));
	ck_assert_int_eq(c.rc, RC_OK);
	ck_assert_str_eq(c.out.p, "{\"version\":3,\"points\":[]}");
	codec_free(&c);

	static const struct codec_bad list_bad[] = {
		{ "{}", "/points", "is missing" },
		{ "[1]", "/0", "must be an object" },
		{ "[{\"x\":1},{}]", "/1/x", "is missing" },
		{ "[{},{},{}]", "", "at most 2 items" },
		{ "{\"points\":[{}]}", "/points/0/x", "is missing" },
		{ "3", "", "must be an object" },
	};
	for (size_t i = 0; i < NELEM(list_bad); i++)
		codec_reject(&wire_probe_list_desc, &list_bad[i]);
}

TEST(bare_text_is_trimmed_and_enums_ignore_case)
{
	static const struct {
		const char *text;
		int value; /* -1: rejected */
		const char *second;
	} list[] = {
		{ "On", WIRE_PROBE_SWITCH_VALUE_ON, "On" },
		{ " oN\r\n", WIRE_PROBE_SWITCH_VALUE_ON, "On" },
		{ "OFF", WIRE_PROBE_SWITCH_VALUE_OFF, "off" },
		{ "1", WIRE_PROBE_SWITCH_VALUE_1, "1" },
		{ "", -1, NULL },
		{ "\"on\"", -1, NULL },
		{ "o n", -1, NULL },
		{ "\xff", -1, NULL },
	};
	for (size_t i = 0; i < NELEM(list); i++) {
		struct codec c;
		codec_both(&c, &wire_probe_switch_desc, str_of(list[i].text));
		const struct wire_probe_switch *m = c.msg;
		ck_assert_int_eq(c.rc, list[i].value < 0 ? RC_INVALID : RC_OK);
		if (c.rc == RC_OK) {
			ck_assert_int_eq((int)m->value, list[i].value);
			ck_assert_str_eq(c.out.p, list[i].second);
		}
		codec_free(&c);
	}
	static const struct codec_bad heartbeat_bad[] = {
		{ "12345", "", "at most 4 characters" },
		{ "\xe7\x81", "", "is not UTF-8" },
	};
	for (size_t i = 0; i < NELEM(heartbeat_bad); i++)
		codec_reject(&wire_probe_beat_desc, &heartbeat_bad[i]);
	struct codec c;
	codec_both(&c, &wire_probe_beat_desc, STR("\t灯 1 \n"));
	ck_assert_int_eq(c.rc, RC_OK);
	ck_assert_str_eq(c.out.p, "灯 1");
	codec_free(&c);
}
