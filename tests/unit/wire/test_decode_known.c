/* Messages with members that are known, and so not decoded. */
#include <stdio.h>

#include "core/arena.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/msgs.h"
#include "wire/slice.h"
#include "wire/wire.h"

#define CATALOG "[{\"id\":\"a\",\"name\":\"]}\\\"\"},{\"id\":\"b\"}]"

struct known_test {
	struct arena *a;
	struct wire_intent_filter_request msg;
	struct str value; /* of the member, as it was given */
	size_t seen;      /* members that were asked for */
	enum rc rc;       /* for intent_catalog */
	size_t containers;
};

static enum rc
known_find(void *arg, const struct wire_slice *s, struct wire_slice_extent *x)
{
	struct known_test *t = arg;

	t->seen++;
	if (!str_eq(s->key, STR("intent_catalog")) || t->rc != RC_OK)
		return str_eq(s->key, STR("intent_catalog")) ? t->rc : RC_NOENT;
	t->value = s->value;
	ck_assert_int_eq(wire_slice_extent(s->value, x), RC_OK);
	if (t->containers > 0)
		x->containers = t->containers;
	return RC_OK;
}

static enum rc
known_decode(struct known_test *t, const char *text, size_t max)
{
	struct wire_slice_handler h = {
		.known = known_find, .arg = t, .max = max
	};
	enum rc rc;

	t->seen = 0;
	arena_reset(t->a);
	rc = wire_decode_known(
	    &wire_intent_filter_request_desc, str_of(text), t->a, &t->msg, &h);
	if (rc != RC_OK)
		ck_assert_uint_eq(arena_used(t->a), 0);
	return rc;
}

TEST(a_known_member_is_left_out_and_counts_as_present)
{
	struct known_test t = { .a = arena_new(WIRE_ARENA_MAX) };
	struct wire_intent_filter_request all;

	ck_assert_int_eq(
	    known_decode(&t,
		" {\"command\":\"x\", \"intent_catalog\" : " CATALOG
		" ,\"options\":{\"max_intents\":3},\"z\":[{}]} ",
		0),
	    RC_OK);
	ck_assert(str_eq(t.msg.command, STR("x")));
	ck_assert_int_eq(t.msg.options.max_intents, 3);
	ck_assert_uint_eq(t.msg.n_intent_catalog, 0);
	ck_assert(str_starts(t.value, STR(CATALOG)));
	/* The message's own members that it has, and none inside them. */
	ck_assert_uint_eq(t.seen, 3);
	wire_init(&wire_intent_filter_request_desc, &all);
	ck_assert_int_eq(t.msg.options.max_intents_per_segment,
	    all.options.max_intents_per_segment);
	arena_free(t.a);
}

TEST(what_is_wrong_or_unusual_is_for_the_decoder)
{
	static const char *const left[] = {
		"",
		"[]",
		"{}",
		"{\"command\":\"x\"}",
		"{\"command\":1,\"intent_catalog\":" CATALOG "}",
		"{\"command\":\"x\",\"intent_catalog\":" CATALOG,
		"{\"command\":\"x\",\"intent_catalog\":" CATALOG "}}",
		"{\"command\":\"x\",\"intent_catalog\":" CATALOG
		",\"intent_catalog\":" CATALOG "}",
		"{\"command\":\"x\",\"intent\\u005fcatalog\":" CATALOG "}",
		"{\"command\":\"x\",\"intent_catalog\":" CATALOG
		",\"catalog_ref\":{\"terminal_id\":\"t\",\"hash\":\"h\"}}",
	};
	struct known_test t = { .a = arena_new(WIRE_ARENA_MAX) };

	for (size_t i = 0; i < NELEM(left); i++)
		ck_assert_msg(
		    known_decode(&t, left[i], 0) == RC_NOENT, "%s", left[i]);
	arena_free(t.a);
}

TEST(the_code_of_known_ends_it)
{
	static const char text[] =
	    "{\"command\":\"x\",\"intent_catalog\":" CATALOG ",\"now\":1}";
	struct known_test t = { .a = arena_new(WIRE_ARENA_MAX),
		.rc = RC_CONFLICT };

	ck_assert_int_eq(known_decode(&t, text, 0), RC_CONFLICT);
	ck_assert_uint_eq(t.seen, 2);
	t.rc = RC_OK;
	t.containers = 100000;
	ck_assert_int_eq(known_decode(&t, text, 0), RC_TOOBIG);
	/* Unknown, it is decoded. */
	t.rc = RC_NOENT;
	ck_assert_int_eq(
	    known_decode(
		&t, "{\"command\":\"x\",\"intent_catalog\":" CATALOG "}", 0),
	    RC_OK);
	ck_assert_uint_eq(t.msg.n_intent_catalog, 2);
	arena_free(t.a);
}

TEST(only_the_rest_counts_for_the_limit)
{
	static const char text[] =
	    "{\"command\":\"x\",\"intent_catalog\":" CATALOG "}";
	size_t rest = strlen(text) - strlen(CATALOG);
	struct known_test t = { .a = arena_new(WIRE_ARENA_MAX) };

	ck_assert_int_eq(known_decode(&t, text, rest), RC_OK);
	ck_assert_int_eq(known_decode(&t, text, rest - 1), RC_NOENT);
	ck_assert_int_eq(known_decode(&t, text, 4), RC_NOENT);
	arena_free(t.a);
}
