/* Encoding: the checks of decoding, on structs filled in by a program. */
#include <math.h>

#include "codec.h"
#include "probe/msgs.h"

/* The encoding of *m, or the path and reason of its rejection. */
static void
check_all(const struct wire_probe_all *m, const char *text, const char *path,
    const char *why)
{
	struct buf out = BUF_INIT(4096);
	struct wire_err err;
	buf_puts(&out, "before");
	enum rc rc = wire_encode(&wire_probe_all_desc, m, &out, &err);
	if (path == NULL) {
		ck_assert_msg(rc == RC_OK, "%s: %s", err.path, err.why);
		ck_assert_str_eq(out.p + strlen("before"), text);
	} else {
		ck_assert_int_eq(rc, RC_INVALID);
		ck_assert_str_eq(err.path, path);
		ck_assert_msg(strstr(err.why, why) != NULL, "%s", err.why);
		ck_assert_str_eq(out.p, "before");
		ck_assert_uint_eq(out.n, strlen("before"));
	}
	buf_free(&out);
}

#define GOOD(text, ...) \
	check_all(&(struct wire_probe_all){ __VA_ARGS__ }, text, NULL, NULL)
#define BAD(path, why, ...) \
	check_all(&(struct wire_probe_all){ __VA_ARGS__ }, NULL, path, why)

TEST(only_present_members_are_written)
{
	GOOD("{}", .whole = 1);
	GOOD("{\"whole\":0}", .has_whole = true);
	GOOD("{\"color\":\"red\"}", .has_color = true);
	GOOD("{\"flag\":false}", .has_flag = true);
	GOOD("{\"bytes\":\"\"}", .bytes = STR_INIT(""));
	GOOD("{\"wholes\":[]}", .has_wholes = true);
	GOOD("{\"point\":{\"x\":0,\"y\":0}}", .has_point = true);
	GOOD("{\"any\":[1,2.0]}", .any = STR_INIT(" [ 1 , 2.0 ] "));
}

TEST(texts_are_checked)
{
	BAD("/text", "must not be empty", .text = STR_INIT(""));
	BAD("/text", "at least 2", .text = STR_INIT("灯"));
	BAD("/text", "at most 4", .text = STR_INIT("abcde"));
	BAD("/text", "is not UTF-8", .text = STR_INIT("a\xff"));
	BAD("/text", "is not UTF-8", .text = STR_INIT("a\xe7\x81"));
	BAD("/text", "U+0000", .text = STR_INIT("a\0b"));
	BAD("/bytes", "at most 6 bytes", .bytes = STR_INIT("灯灯a"));
	BAD("/id", "control", .id = STR_INIT("a\nb"));
	BAD("/hex", "32 of", .hex = STR_INIT("ab"));
}

TEST(numbers_are_checked)
{
	BAD("/small", "at most 7", .small = 8, .has_small = true);
	BAD("/small", "at least -3", .small = -4, .has_small = true);
	BAD("/real", "finite", .real = NAN, .has_real = true);
	BAD("/real", "finite", .real = -INFINITY, .has_real = true);
	BAD("/unit", "at most 0.75", .unit = 0.76, .has_unit = true);
	BAD("/yes", "must be true", .yes = false, .has_yes = true);
	BAD("/color", "must be one of red", .color = (enum wire_probe_color)3,
	    .has_color = true);
}

TEST(arrays_are_checked)
{
	struct str texts[] = { STR_INIT("a"), STR_INIT(""), STR_INIT("c"),
		STR_INIT("d") };
	BAD("/texts", "must not be empty", .has_texts = true);
	BAD("/texts", "at most 3", .texts = texts, .n_texts = 4,
	    .has_texts = true);
	BAD("/texts/1", "must not be empty", .texts = texts, .n_texts = 2,
	    .has_texts = true);
	BAD("/texts", "is missing", .n_texts = 1, .has_texts = true);
	BAD("/texts/0", "is missing", .texts = &(struct str){ 0 }, .n_texts = 1,
	    .has_texts = true);
	struct wire_probe_point points[] = { { .x = 1 }, { .x = INFINITY } };
	BAD("/points/1/x", "finite", .points = points, .n_points = 2,
	    .has_points = true);
	GOOD("{\"points\":[{\"x\":1,\"y\":0}]}", .points = points,
	    .n_points = 1, .has_points = true);
}

TEST(raw_values_must_be_json)
{
	BAD("/any", "ends too early", .any = STR_INIT(""));
	BAD("/any", "ends too early", .any = STR_INIT("{"));
	BAD("/any", "bytes behind", .any = STR_INIT("1,\"x\":2"));
	BAD("/any", "not JSON", .any = STR_INIT("nul"));
	BAD("/object", "must be an object", .object = STR_INIT("[]"));
	BAD("/array", "must be an array", .array = STR_INIT("{}"));
	BAD("/raws/1", "not JSON", .has_raws = true, .n_raws = 2,
	    .raws = (struct str[]){ STR_INIT("1"), STR_INIT("x") });
	GOOD("{\"raws\":[null]}", .has_raws = true, .n_raws = 1,
	    .raws = (struct str[]){ STR_INIT("null") });
}

TEST(required_texts_must_be_present)
{
	struct wire_probe_must m;
	struct buf out = BUF_INIT(4096);
	struct wire_err err;
	wire_init(&wire_probe_must_desc, &m);
	ck_assert_int_eq(
	    wire_encode(&wire_probe_must_desc, &m, &out, &err), RC_INVALID);
	ck_assert_str_eq(err.path, "/text");
	ck_assert_str_eq(err.why, "is missing");
	m.text = STR("");
	ck_assert_int_eq(
	    wire_encode(&wire_probe_must_desc, &m, &out, &err), RC_INVALID);
	ck_assert_str_eq(err.path, "/any");
	m.any = STR("1");
	ck_assert_int_eq(
	    wire_encode(&wire_probe_must_desc, &m, &out, &err), RC_OK);
	ck_assert_str_eq(out.p,
	    "{\"text\":\"\",\"color\":\"red\",\"whole\":0,\"any\":1,"
	    "\"texts\":[],\"point\":{\"x\":0,\"y\":1.5},"
	    "\"d_text\":\"喂 \\\"x\\\"\",\"d_color\":\"green\","
	    "\"d_whole\":-9223372036854775808,\"d_real\":0.1,"
	    "\"d_flag\":true}");
	buf_free(&out);
}

TEST(an_absent_text_with_a_default_is_the_default)
{
	struct wire_probe_must m = { .text = STR_INIT(""),
		.any = STR_INIT("1") };
	struct buf out = BUF_INIT(4096);
	ck_assert_int_eq(
	    wire_encode(&wire_probe_must_desc, &m, &out, NULL), RC_OK);
	ck_assert_ptr_nonnull(strstr(out.p,
	    "\"d_text\":\"喂 \\\"x\\\"\",\"d_color\":\"red\","
	    "\"d_whole\":0,"));
	buf_free(&out);
}

TEST(bare_text_is_checked)
{
	struct buf out = BUF_INIT(64);
	struct wire_err err;
	struct wire_probe_beat heartbeat = { .value = STR_INIT("12345") };
	ck_assert_int_eq(
	    wire_encode(&wire_probe_beat_desc, &heartbeat, &out, &err),
	    RC_INVALID);
	ck_assert_str_eq(err.path, "");
	heartbeat.value = (struct str){ 0 };
	ck_assert_int_eq(
	    wire_encode(&wire_probe_beat_desc, &heartbeat, &out, &err),
	    RC_INVALID);
	heartbeat.value = STR("1");
	ck_assert_int_eq(
	    wire_encode(&wire_probe_beat_desc, &heartbeat, &out, &err), RC_OK);
	struct wire_probe_switch sw = { (enum wire_probe_switch_value)3 };
	ck_assert_int_eq(
	    wire_encode(&wire_probe_switch_desc, &sw, &out, &err), RC_INVALID);
	ck_assert_str_eq(out.p, "1");
	buf_free(&out);
}

TEST(a_full_buffer_is_too_big)
{
	struct wire_probe_all m = { .text = STR_INIT("abcd") };
	struct wire_err err;
	for (size_t max = 0; max <= strlen("{\"text\":\"abcd\"}"); max++) {
		struct buf out = BUF_INIT(max);
		enum rc rc = wire_encode(&wire_probe_all_desc, &m, &out, &err);
		if (max == strlen("{\"text\":\"abcd\"}")) {
			ck_assert_int_eq(rc, RC_OK);
		} else {
			ck_assert_int_eq(rc, RC_TOOBIG);
			ck_assert_uint_eq(out.n, 0);
			ck_assert_str_ne(err.why, "");
		}
		buf_free(&out);
	}
}

/* ---- a message in another ---- */

TEST(errors_in_a_message_in_another_have_its_path)
{
	struct wire_probe_all outer = { .whole = 1 }, all = { 0 };
	struct wire_inner inner = { STR("object"), &wire_probe_all_desc, &all };
	struct buf out = BUF_INIT(4096);
	char deep[2 * WIRE_DEPTH_MAX + 1];
	struct wire_err err;

	buf_puts(&out, "before");
	all.text = STR("x");
	ck_assert_int_eq(wire_encode_around(
			     &wire_probe_all_desc, &outer, &inner, &out, &err),
	    RC_INVALID);
	ck_assert_str_eq(err.path, "/object/text");
	all = (struct wire_probe_all){ 0 };
	/* Both together are not nested deeper than one message. */
	for (size_t n = WIRE_DEPTH_MAX - 2; n <= WIRE_DEPTH_MAX - 1; n++) {
		memset(deep, '[', n);
		memset(deep + n, ']', n);
		all.any = (struct str){ deep, 2 * n };
		ck_assert_int_eq(wire_encode_around(&wire_probe_all_desc,
				     &outer, &inner, &out, &err),
		    n == WIRE_DEPTH_MAX - 2 ? RC_OK : RC_INVALID);
	}
	ck_assert_str_eq(err.path, "/object/any");
	/* Members that are no object, or are not there. */
	inner.name = STR("array");
	ck_assert_int_eq(wire_encode_around(
			     &wire_probe_all_desc, &outer, &inner, &out, &err),
	    RC_BUG);
	inner.name = STR("text");
	ck_assert_int_eq(wire_encode_around(
			     &wire_probe_all_desc, &outer, &inner, &out, &err),
	    RC_BUG);
	inner.name = STR("unknown");
	ck_assert_int_eq(wire_encode_around(
			     &wire_probe_all_desc, &outer, &inner, &out, &err),
	    RC_BUG);
	buf_free(&out);
	/* Over the limit of out. */
	out = (struct buf)BUF_INIT(8);
	inner.name = STR("object");
	all = (struct wire_probe_all){ 0 };
	ck_assert_int_eq(wire_encode_around(
			     &wire_probe_all_desc, &outer, &inner, &out, &err),
	    RC_TOOBIG);
	buf_free(&out);
}
