/* Compiled schemas of skills: what is compiled when, and the memory limit. */
#include <stdio.h>

#include "core/mem.h"
#include "slots/skill_cache.h"
#include "testkit/testkit.h"
#include "wire/schema.h"
#include "wire/tree.h"

static const struct skill_shape *
shape_of(struct skill_cache *c, const char *schema)
{
	const struct skill_shape *shape;

	ck_assert_int_eq(skill_cache_get(c, str_of(schema), &shape), RC_OK);
	ck_assert_int_eq(wire_tree_kind(shape->tree), WIRE_TREE_OBJECT);
	return shape;
}

TEST(a_schema_is_compiled_with_its_first_use)
{
	struct skill_cache *c = skill_cache_new(1 << 20);
	const struct skill_shape *shape = shape_of(c, "{\"type\":\"object\"}");

	ck_assert_int_eq(
	    wire_schema_check(shape->compiled, STR("{}"), NULL), RC_OK);
	ck_assert_int_eq(
	    wire_schema_check(shape->compiled, STR("1"), NULL), RC_INVALID);
	ck_assert_ptr_eq(shape_of(c, "{\"type\":\"object\"}"), shape);
	ck_assert_ptr_ne(shape_of(c, "{\"type\": \"object\"}"), shape);
	ck_assert_uint_eq(skill_cache_len(c), 2);
	skill_cache_free(c);
}

TEST(an_invalid_schema_is_remembered)
{
	static const char *const invalid[] = { "{", "{\"type\":1}",
		"{\"pattern\":\"(\"}" };
	struct skill_cache *c = skill_cache_new(1 << 20);
	const struct skill_shape *shape;

	for (size_t i = 0; i < 2 * NELEM(invalid); i++) {
		ck_assert_int_eq(
		    skill_cache_get(
			c, str_of(invalid[i % NELEM(invalid)]), &shape),
		    RC_INVALID);
		ck_assert_ptr_null(shape);
	}
	ck_assert_uint_eq(skill_cache_len(c), NELEM(invalid));
	skill_cache_free(c);
}

TEST(the_least_recently_used_leave_first)
{
	struct skill_cache *c = skill_cache_new(8192);
	const struct skill_shape *first = shape_of(c, "{\"title\":\"0\"}");
	char schema[32];
	size_t n;
	int i;

	for (i = 1; i < 100; i++) {
		snprintf(schema, sizeof(schema), "{\"title\":\"%d\"}", i);
		shape_of(c, schema);
		ck_assert_ptr_eq(shape_of(c, "{\"title\":\"0\"}"), first);
	}
	n = skill_cache_len(c);
	ck_assert_uint_gt(n, 1);
	ck_assert_uint_lt(n, 10);
	/* The newest stays, however large it is. */
	skill_cache_free(c);
	c = skill_cache_new(1);
	shape_of(c, "{}");
	ck_assert_uint_eq(skill_cache_len(c), 1);
	shape_of(c, "{\"title\":\"\"}");
	ck_assert_uint_eq(skill_cache_len(c), 1);
	skill_cache_free(c);
}

TEST(a_schema_that_is_in_use_outlives_its_eviction)
{
	struct skill_cache *c = skill_cache_new(1);
	const struct skill_shape *first = shape_of(c, "{\"type\":\"object\"}");

	shape_of(c, "{\"type\":\"array\"}");
	ck_assert_uint_eq(skill_cache_len(c), 1);
	ck_assert_int_eq(
	    wire_schema_check(first->compiled, STR("{}"), NULL), RC_OK);
	skill_cache_return(c, first);
	/* It is compiled anew. */
	first = shape_of(c, "{\"type\":\"object\"}");
	ck_assert_int_eq(
	    wire_schema_check(first->compiled, STR("[]"), NULL), RC_INVALID);
	skill_cache_return(c, first);
	ck_assert_uint_eq(skill_cache_len(c), 1);
	skill_cache_free(c);
}
