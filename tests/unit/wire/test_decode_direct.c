/*
 * Decoding without a tree: it gives what a tree gives, and is not left to one
 * for messages as programs send them.
 */
#include "codec.h"
#include "testkit/cases.h"
#include "wire/desc.h"
#include "wire/wire_internal.h"

struct direct_test {
	size_t direct, tree; /* valid messages, by how they were decoded */
};

static void
direct_test_case(
    struct direct_test *t, const struct wire_desc *d, struct str text)
{
	struct buf first = BUF_INIT(2 * WIRE_MESSAGE_MAX);
	struct buf second = BUF_INIT(2 * WIRE_MESSAGE_MAX);
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct arena *b = arena_new(WIRE_ARENA_MAX);
	void *direct = mem_alloc(wire_desc_size(d));
	void *tree = mem_alloc(wire_desc_size(d));
	struct wire_err err;
	bool is;
	enum rc rc;

	wire_init(d, direct);
	is = wire_decode_direct(d, text, a, direct);
	rc = wire_decode_tree(d, text, b, tree, &err);
	if (is) {
		ck_assert_msg(rc == RC_OK, "%s: %s", wire_desc_name(d), text.p);
		ck_assert_uint_eq(arena_used(a), arena_used(b));
		ck_assert_int_eq(wire_encode(d, direct, &first, &err), RC_OK);
		ck_assert_int_eq(wire_encode(d, tree, &second, &err), RC_OK);
		ck_assert_str_eq(first.p, second.p);
		t->direct++;
	} else if (rc == RC_OK) {
		t->tree++;
	}
	free(direct);
	free(tree);
	buf_free(&first);
	buf_free(&second);
	arena_free(a);
	arena_free(b);
}

TEST(messages_are_decoded_without_a_tree)
{
	struct direct_test t = { 0, 0 };
	const struct wire_desc *d;

	for (size_t i = 0; (d = wire_desc_at(i)) != NULL; i++) {
		struct tk_cases cases;

		if ((d->flags & WIRE_TEXT) != 0)
			continue;
		tk_cases_load(&cases, wire_desc_name(d));
		for (size_t k = 0; k < cases.n; k++)
			direct_test_case(&t, d, cases.v[k].bytes);
		tk_cases_free(&cases);
	}
	/* Those left to a tree are cases of rare numbers. */
	ck_assert_msg(t.direct > 100 && t.tree * 50 <= t.direct,
	    "%zu without, %zu with a tree", t.direct, t.tree);
}
