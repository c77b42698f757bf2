/*
 * The view of a soul that was just created.
 */
#include "core/arena.h"
#include "core/mem.h"
#include "souls/soul_view.h"
#include "state/soul.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

static struct soul
soul_of(const char *mbti)
{
	return (struct soul){ .id = STR("soul_1"),
		.user_id = STR("ann"),
		.name = STR("小灵"),
		.mbti_type = str_of(mbti),
		.model = STR("persona-pad-v2"),
		.created = { 1771755630000 } };
}

TEST(a_new_soul_has_its_types_traits_and_a_neutral_state)
{
	struct soul soul = soul_of("INTJ");
	struct arena *a = arena_new(4096);
	struct buf out = BUF_INIT(4096);
	struct wire_soul w;

	ck_assert_int_eq(soul_view_new(&soul, a, &w), RC_OK);
	ck_assert_int_eq(wire_encode(&wire_soul_desc, &w, &out, NULL), RC_OK);
	ck_assert_str_eq(out.p,
	    "{\"soul_id\":\"soul_1\",\"user_id\":\"ann\",\"name\":\"小灵\","
	    "\"mbti_type\":\"INTJ\",\"personality_vector\":{"
	    "\"empathy\":0.37,\"sensitivity\":0.37,\"stability\":0.67,"
	    "\"expressiveness\":0.26,\"dominance\":0.57},"
	    "\"emotion_state\":{\"p\":0,\"a\":0,\"d\":0,\"boredom\":0,"
	    "\"shock_load\":0,\"extreme_memory\":0,\"long_mu_p\":0,"
	    "\"long_mu_a\":0,\"long_mu_d\":0,\"long_volatility\":0,"
	    "\"drift\":{\"empathy\":0,\"sensitivity\":0,\"stability\":0,"
	    "\"expressiveness\":0,\"dominance\":0},"
	    "\"last_interaction_at\":\"2026-02-22T10:20:30Z\","
	    "\"last_updated_at\":\"2026-02-22T10:20:30Z\"},"
	    "\"model_version\":\"persona-pad-v2\","
	    "\"created_at\":\"2026-02-22T10:20:30Z\","
	    "\"updated_at\":\"2026-02-22T10:20:30Z\","
	    "\"proactive\":\"alarms\"}");
	buf_free(&out);
	arena_free(a);
}

TEST(an_invalid_type_is_an_error)
{
	struct soul soul = soul_of("XXXX");
	struct arena *a = arena_new(4096);
	struct wire_soul w;

	ck_assert_int_eq(soul_view_new(&soul, a, &w), RC_BUG);
	arena_free(a);
	a = arena_new(4);
	soul = soul_of("INTJ");
	ck_assert_int_eq(soul_view_new(&soul, a, &w), RC_TOOBIG);
	arena_free(a);
}
