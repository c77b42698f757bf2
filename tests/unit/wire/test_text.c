/* Raw values as separate documents. */
#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/tree.h"
#include "wire/wire.h"

TEST(json_strings_are_decoded)
{
	static const struct {
		const char *json;
		enum rc rc;
		const char *text;
	} rows[] = {
		{ "\"\"", RC_OK, "" },
		{ "\"a\"", RC_OK, "a" },
		{ " \"a\\n\\\"\\u4f60\" ", RC_OK, "a\n\"\xe4\xbd\xa0" },
		{ "\"{\\\"on\\\":\"", RC_OK, "{\"on\":" },
		{ "\"a", RC_INVALID, NULL },
		{ "\"a\" x", RC_INVALID, NULL },
		{ "\"\\u0000\"", RC_INVALID, NULL },
		{ "\"\xff\"", RC_INVALID, NULL },
		{ "", RC_INVALID, NULL },
		{ "a", RC_INVALID, NULL },
		{ "1", RC_INVALID, NULL },
		{ "null", RC_INVALID, NULL },
		{ "{}", RC_INVALID, NULL },
		{ "[\"a\"]", RC_INVALID, NULL },
	};
	struct arena *a = arena_new(4096);

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct str out;
		enum rc rc = wire_text(str_of(rows[i].json), a, &out);
		ck_assert_msg(rc == rows[i].rc, "%s", rows[i].json);
		if (rc == RC_OK)
			ck_assert(str_eq(out, str_of(rows[i].text)));
	}
	struct str out;
	ck_assert_int_eq(
	    wire_text((struct str){ NULL, 0 }, a, &out), RC_INVALID);
	arena_free(a);
}

TEST(a_string_over_the_arena_is_too_big)
{
	struct arena *a = arena_new(8);
	struct str out;

	ck_assert_int_eq(wire_text(STR("\"0123456\""), a, &out), RC_OK);
	ck_assert_int_eq(wire_text(STR("\"0123456\""), a, &out), RC_TOOBIG);
	arena_free(a);
}

TEST(objects_are_recognised)
{
	static const struct {
		const char *json;
		bool is;
	} rows[] = {
		{ "{}", true },
		{ " {\"a\":[1,{\"b\":null}]} ", true },
		{ "{\"a\":1", false },
		{ "{\"a\":}", false },
		{ "{}{}", false },
		{ "{\"a\":1,\"a\":2}", false },
		{ "[]", false },
		{ "\"{}\"", false },
		{ "1", false },
		{ "", false },
	};

	for (size_t i = 0; i < NELEM(rows); i++)
		ck_assert_msg(
		    wire_is_object(str_of(rows[i].json)) == rows[i].is, "%s",
		    rows[i].json);
	char deep[3 * WIRE_DEPTH_MAX];
	size_t n = 0;
	for (size_t i = 0; i <= WIRE_DEPTH_MAX; i++)
		deep[n++] = '[';
	ck_assert(!wire_is_object((struct str){ deep, n }));
	ck_assert(!wire_is_object((struct str){ NULL, 0 }));
}
