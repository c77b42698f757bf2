/*
 * Values without a schema.
 */
#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/out.h"
#include "wire/tree.h"

TEST(values_have_their_kind)
{
	static const struct {
		const char *json;
		enum wire_tree_kind kind;
		size_t len;
	} rows[] = {
		{ "null", WIRE_TREE_NULL, 0 },
		{ "true", WIRE_TREE_BOOL, 0 },
		{ "-1.5", WIRE_TREE_NUMBER, 0 },
		{ "\"灯\"", WIRE_TREE_TEXT, 0 },
		{ "[1,2]", WIRE_TREE_ARRAY, 2 },
		{ "{\"a\":1}", WIRE_TREE_OBJECT, 1 },
	};
	struct wire_tree *v;
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		ck_assert_int_eq(
		    wire_tree_parse(str_of(rows[i].json), &v), RC_OK);
		ck_assert_int_eq(wire_tree_kind(v), rows[i].kind);
		ck_assert_uint_eq(wire_tree_len(v), rows[i].len);
		wire_tree_free(v);
	}
	ck_assert_int_eq(wire_tree_kind(NULL), WIRE_TREE_NULL);
	wire_tree_free(NULL);
}

TEST(members_and_elements_are_found)
{
	struct wire_tree *v;
	const struct wire_tree *list;

	ck_assert_int_eq(
	    wire_tree_parse(
		STR("{\"t\":\"x\\u0041\",\"n\":2.5,\"b\":true,\"l\":[7]}"), &v),
	    RC_OK);
	ck_assert(
	    str_eq(wire_tree_text(wire_tree_get(v, STR("t"))), STR("xA")));
	ck_assert_double_eq(wire_tree_number(wire_tree_get(v, STR("n"))), 2.5);
	ck_assert(wire_tree_bool(wire_tree_get(v, STR("b"))));
	list = wire_tree_get(v, STR("l"));
	ck_assert_double_eq(wire_tree_number(wire_tree_at(list, 0)), 7);
	ck_assert_ptr_null(wire_tree_at(list, 1));
	ck_assert_ptr_null(wire_tree_get(v, STR("none")));
	ck_assert_ptr_null(wire_tree_get(list, STR("t")));
	/* A value of another kind has no text. */
	ck_assert_ptr_null(wire_tree_text(list).p);
	ck_assert_double_eq(wire_tree_number(v), 0);
	wire_tree_free(v);
}

TEST(only_strings_have_a_text)
{
	struct arena *a = arena_new(64);
	struct wire_tree *v;
	struct str s;

	ck_assert_int_eq(wire_tree_string(STR("\"a\\\"b\""), a, &s), RC_OK);
	ck_assert(str_eq(s, STR("a\"b")));
	ck_assert_int_eq(wire_tree_string(STR("1"), a, &s), RC_INVALID);
	ck_assert_int_eq(wire_tree_string(STR("\"a"), a, &s), RC_INVALID);
	ck_assert_int_eq(wire_tree_parse(STR("{"), &v), RC_INVALID);
	ck_assert_int_eq(wire_tree_parse(STR("{} x"), &v), RC_INVALID);
	arena_free(a);
}

TEST(members_in_their_order)
{
	static const char json[] = "{ \"b\": 1.0, \"a\": [null, \"灯\"], "
				   "\"c\": {\"n\": 9007199254740993} }";
	static const char *const keys[] = { "b", "a", "c" };
	struct buf b = BUF_INIT(1024);
	struct wire_out o = { .b = &b };
	struct wire_tree_member m;
	struct wire_tree *v;
	size_t n = 0;
	bool more;

	ck_assert_int_eq(wire_tree_parse(STR(json), &v), RC_OK);
	for (more = wire_tree_first(v, &m); more;
	     more = wire_tree_next(v, &m)) {
		ck_assert_uint_lt(n, NELEM(keys));
		ck_assert(str_eq(m.key, str_of(keys[n])));
		ck_assert_ptr_eq(m.value, wire_tree_get(v, m.key));
		n++;
	}
	ck_assert_uint_eq(n, NELEM(keys));
	wire_out_array(&o);
	wire_tree_put(v, &o);
	wire_tree_put(NULL, &o);
	wire_out_array_end(&o);
	ck_assert_str_eq(buf_str(&b).p,
	    "[{\"b\":1.0,\"a\":[null,\"灯\"],"
	    "\"c\":{\"n\":9007199254740993}},null]");
	ck_assert(!wire_tree_first(wire_tree_get(v, STR("a")), &m));
	ck_assert(!wire_tree_first(NULL, &m));
	wire_tree_free(v);
	buf_free(&b);
}
