/* A turn's record says that the soul's state it has changed is stored. */
#include "state/soul.h"
#include "state/turn.h"
#include "testkit/state_fixture.h"

static const struct session_key key = { STR_INIT("u"), STR_INIT("s") };
static const struct str one[] = { STR_INIT("{}") };
static const struct session_new message = { .json = one, .n = 1 };

static struct turn_slot
enter(struct state_fixture *b, const char *turn)
{
	struct turn_slot p = { key, STR("i"), str_of(turn) };
	int64_t ahead;

	OK(turn_fixture_enter(b->s, &p, &ahead));
	ck_assert_int_eq(ahead, 0);
	return p;
}

static bool
finish(struct state_fixture *b, const struct turn_slot *p)
{
	struct turn_ending end = { .reply = STR("{}"), .soul_saved = true };

	OK(turn_finish(b->s, p, &message, &end, b->a));
	return end.soul_saved;
}

/* The soul of version n for a turn; whether the record says so. */
static bool
swap(struct state_fixture *b, int64_t n, const char *turn, bool wins)
{
	struct soul_state st = { .user_id = STR("u"),
		.soul_id = STR("soul"),
		.version = n,
		.bytes = STR("new"),
		.log = STR("why"),
		.turn_id = str_of(turn),
		.noted = true };
	bool won;

	OK(soul_state_swap(b->s, &st, b->a, &won));
	ck_assert_int_eq(won, wins);
	return st.noted;
}

static void
start(struct state_fixture *b)
{
	const struct soul soul = { .id = STR("soul"),
		.user_id = STR("u"),
		.name = STR("n"),
		.mbti_type = STR("INFJ"),
		.model = STR("m") };

	state_fixture_start(b);
	OK(soul_create(b->s, &soul, STR("old")));
}

TEST(a_turn_that_ends_later_knows_it)
{
	struct state_fixture b;
	struct turn_slot p;

	start(&b);
	p = enter(&b, "t1");
	ck_assert(swap(&b, 1, "t1", true));
	ck_assert(finish(&b, &p));
	/* The next one has a record of its own. */
	p = enter(&b, "t2");
	ck_assert(!finish(&b, &p));
	state_fixture_stop(&b);
}

TEST(a_turn_that_has_ended_is_not_marked)
{
	struct state_fixture b;
	struct turn_slot p;

	start(&b);
	p = enter(&b, "t1");
	ck_assert(!finish(&b, &p));
	ck_assert(!swap(&b, 1, "t1", true));
	/* Nor is one that nobody knows. */
	ck_assert(!swap(&b, 2, "t2", true));
	state_fixture_stop(&b);
}

TEST(a_state_that_is_not_stored_is_not_noted)
{
	struct state_fixture b;
	struct turn_slot p;

	start(&b);
	p = enter(&b, "t1");
	ck_assert(!swap(&b, 7, "t1", false));
	ck_assert(!finish(&b, &p));
	state_fixture_stop(&b);
}
