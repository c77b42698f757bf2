/* Pins of definitions and seals of calls. */
#include "core/mem.h"
#include "testkit/testkit.h"
#include "tool/tool_digest.h"

static const char *
canonical(const char *json)
{
	static char out[512];
	struct buf b = BUF_INIT(sizeof(out) - 1);

	ck_assert_int_eq(tool_canonical_put(str_of(json), &b), RC_OK);
	str_copy(buf_str(&b), out, sizeof(out));
	buf_free(&b);
	return out;
}

TEST(keys_are_sorted_at_every_level)
{
	ck_assert_str_eq(canonical(" { \"b\" : [ { \"z\":1, \"a\":null } ] ,"
				   " \"a\":{\"y\":true,\"x\":\"é\\n\"} } "),
	    "{\"a\":{\"x\":\"é\\n\",\"y\":true},\"b\":[{\"a\":null,\"z\":1}]}");
	ck_assert_str_eq(canonical("{}"), "{}");
	ck_assert_str_eq(canonical("1.0"), canonical("1.00"));
}

TEST(what_is_no_json_has_no_digest)
{
	struct tool_definition d = { STR("n"), STR("d"), STR("{\"a\":1") };
	char dst[TOOL_DIGEST_MAX];

	ck_assert_int_eq(tool_definition_digest(&d, dst), RC_INVALID);
	d.schema = STR("{\"a\":1,\"a\":2}");
	ck_assert_int_eq(tool_definition_digest(&d, dst), RC_INVALID);
}

/* As sha256sum computes it of "n\0d\0{\"a\":1,\"b\":2}\0". */
#define KNOWN "eadaab4cacf84ce53de66db4b298be239448da42f8b4e996c6dd035cdec1627c"

TEST(a_definition_has_a_known_digest_whatever_the_order_of_keys)
{
	struct tool_definition d = { STR("n"), STR("d"),
		STR("{\"b\":2,\"a\":1}") };
	char one[TOOL_DIGEST_MAX], two[TOOL_DIGEST_MAX];

	ck_assert_int_eq(tool_definition_digest(&d, one), RC_OK);
	ck_assert_str_eq(one, KNOWN);
	d.schema = STR("{ \"a\" : 1, \"b\" : 2 }");
	ck_assert_int_eq(tool_definition_digest(&d, two), RC_OK);
	ck_assert_str_eq(one, two);
	d.description = STR("d2");
	ck_assert_int_eq(tool_definition_digest(&d, two), RC_OK);
	ck_assert_str_ne(one, two);
}

TEST(bytes_cannot_move_from_one_part_to_the_next)
{
	const struct str a[] = { STR("ab"), STR("c") },
			 b[] = { STR("a"), STR("bc") };
	char one[TOOL_DIGEST_MAX], two[TOOL_DIGEST_MAX];

	tool_digest(a, NELEM(a), one);
	tool_digest(b, NELEM(b), two);
	ck_assert_str_ne(one, two);
}

TEST(a_seal_depends_on_every_part_of_the_call)
{
	const struct tool_sealed_call c = { STR("p"), STR("s"), STR("t"),
		STR("d"), STR("{\"a\":1}") };
	char known[TOOL_DIGEST_MAX], seal[TOOL_DIGEST_MAX];
	struct tool_sealed_call other;

	ck_assert_int_eq(tool_seal(&c, known), RC_OK);
#define DIFFERS(member, text)                             \
	other = c;                                        \
	other.member = STR(text);                         \
	ck_assert_int_eq(tool_seal(&other, seal), RC_OK); \
	ck_assert_str_ne(seal, known)
	DIFFERS(provider, "q");
	DIFFERS(server, "q");
	DIFFERS(tool, "q");
	DIFFERS(definition, "q");
	DIFFERS(arguments, "{\"a\":2}");
	other = c;
	other.arguments = STR("{ \"a\": 1 }");
	ck_assert_int_eq(tool_seal(&other, seal), RC_OK);
	ck_assert_str_eq(seal, known);
}
