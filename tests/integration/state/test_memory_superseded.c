/* Superseded memories: stored apart from the current ones. */
#include "state/memory.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

static const struct memory_scope scope = { STR_INIT("用户"),
	STR_INIT("soul_1") };
static const struct wall later = { INT64_C(4102444800000) };

static void
put(struct state_fixture *b, const char *id)
{
	struct memory_item item = { .id = str_of(id), .json = STR("{}") };

	OK(memory_put(b->s, &scope, &item, later));
}

static struct memory_superseded
old_of(const char *id, int64_t until)
{
	return (struct memory_superseded){ str_of(id), later, { until },
		STR("{\"old\":1}") };
}

static struct memory_list
superseded(struct state_fixture *b)
{
	struct memory_list l;

	arena_reset(b->a);
	OK(memory_superseded_all(b->s, &scope, b->a, &l));
	return l;
}

static size_t
here(struct state_fixture *b)
{
	struct memory_list l;

	arena_reset(b->a);
	OK(memory_all(b->s, &scope, -1, b->a, &l));
	return l.n;
}

TEST(a_superseded_memory_is_not_current)
{
	struct memory_item repeated = { .id = STR("a"), .json = STR("{}") };
	struct memory_superseded a, b_old, none;
	struct memory_list l;
	struct state_fixture b;

	state_fixture_start(&b);
	a = old_of("a", 2000);
	b_old = old_of("b", 1000);
	none = old_of("none", 1);
	ck_assert_uint_eq(superseded(&b).n, 0);
	put(&b, "a");
	put(&b, "b");
	put(&b, "c");
	OK(memory_supersede(b.s, &scope, &a, true));
	OK(memory_supersede(b.s, &scope, &b_old, true));
	IS(RC_NOENT, memory_supersede(b.s, &scope, &none, true));
	/* A second time changes nothing. */
	IS(RC_CONFLICT, memory_supersede(b.s, &scope, &a, true));
	IS(RC_CONFLICT, memory_put(b.s, &scope, &repeated, (struct wall){ 1 }));
	ck_assert_uint_eq(here(&b), 1);
	l = superseded(&b);
	ck_assert_uint_eq(l.n, 2);
	ck_text(l.item[0].id, "b");
	ck_text(l.item[0].json, "{\"old\":1}");
	ck_text(l.item[1].id, "a");
	/* A superseded memory can be forgotten. */
	OK(memory_forget(b.s, &scope, STR("a")));
	IS(RC_NOENT, memory_forget(b.s, &scope, STR("a")));
	ck_assert_uint_eq(superseded(&b).n, 1);
	OK(memory_clear(b.s, &scope, NULL));
	ck_assert_uint_eq(superseded(&b).n, 0);
	state_fixture_stop(&b);
}

TEST(memories_stored_elsewhere_can_be_superseded)
{
	struct memory_superseded a;
	struct state_fixture b;

	state_fixture_start(&b);
	a = old_of("a", 2000);
	OK(memory_supersede(b.s, &scope, &a, false));
	IS(RC_CONFLICT, memory_supersede(b.s, &scope, &a, false));
	ck_assert_uint_eq(superseded(&b).n, 1);
	IS(RC_CONFLICT, memory_check_tombstone(b.s, &scope, STR("a"), later));
	/* A forgotten memory cannot be superseded. */
	OK(memory_add_tombstone(b.s, &scope, STR("x")));
	a.id = STR("x");
	IS(RC_CONFLICT, memory_supersede(b.s, &scope, &a, false));
	ck_assert_uint_eq(superseded(&b).n, 1);
	state_fixture_stop(&b);
}

TEST(only_the_newest_are_stored)
{
	struct memory_list l;
	struct memory_superseded old;
	struct state_fixture b;
	char id[16];
	int i;

	state_fixture_start(&b);
	for (i = 0; i < MEMORY_SUPERSEDED_MAX + 3; i++) {
		snprintf(id, sizeof(id), "m%d", i);
		old = old_of(id, 1000 + i);
		OK(memory_supersede(b.s, &scope, &old, false));
	}
	l = superseded(&b);
	ck_assert_uint_eq(l.n, MEMORY_SUPERSEDED_MAX);
	ck_text(l.item[0].id, "m3");
	state_fixture_stop(&b);
}

TEST(the_time_of_the_last_clear_is_stored)
{
	struct wall when, before;
	struct state_fixture b;

	state_fixture_start(&b);
	OK(memory_cleared(b.s, &scope, &when));
	ck_assert_int_eq(when.ms, 0);
	before = clock_wall();
	OK(memory_clear(b.s, &scope, NULL));
	OK(memory_cleared(b.s, &scope, &when));
	ck_assert_int_ge(when.ms, before.ms - 1000);
	ck_assert_int_le(when.ms, clock_wall().ms + 1000);
	state_fixture_stop(&b);
}
