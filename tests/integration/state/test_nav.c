/*
 * Triggers, cycles and mind links, on a real Redis.
 */
#include "core/clock.h"
#include "state/nav.h"
#include "state/soul.h"
#include "testkit/state_fixture.h"

#define LEASE_MS 60000

static const struct nav_key key = { STR_INIT("ann"), STR_INIT("s1") };

static void
put_soul(struct state_fixture *f)
{
	const struct soul soul = { .id = key.soul_id,
		.user_id = key.user_id,
		.name = STR("Lili"),
		.mbti_type = STR("INFP"),
		.model = STR("m") };

	OK(soul_create(f->s, &soul, STR("state")));
}

static void
start(struct state_fixture *f)
{
	state_fixture_start(f);
	put_soul(f);
}

static struct nav_rule
rule(int64_t idle_ms, int64_t gap_ms)
{
	return (struct nav_rule){ 5, idle_ms, gap_ms };
}

static int64_t
note(struct state_fixture *f, const char *id, bool turn, enum nav_trigger t,
    const struct nav_rule *r)
{
	const struct nav_event e = { .key = key,
		.id = str_of(id),
		.session_id = STR("c1"),
		.terminal_id = STR("t1"),
		.turn = turn,
		.trigger = t };
	struct wall due;

	OK(nav_note(f->s, &e, r, &due));
	return due.ms;
}

static struct nav_cycle_list
claim_for(struct state_fixture *f, int64_t lease_ms, int64_t per_day)
{
	struct nav_claim c = {
		.lease_ms = lease_ms, .max = 8, .per_day = per_day
	};
	struct nav_cycle_list list;

	OK(state_bucket(key.user_id, &c.bucket));
	OK(nav_claim(f->s, &c, f->a, &list));
	return list;
}

static struct nav_cycle_list
claim(struct state_fixture *f)
{
	return claim_for(f, LEASE_MS, 100);
}

static void
put_body(struct state_fixture *f, int64_t until)
{
	const struct str ids[] = { key.user_id, key.soul_id };
	char text[STATE_KEY_MAX], value[64];
	struct str k;

	snprintf(value, sizeof(value), "%lld 1 main", (long long)until);
	OK(state_key(text, KEY_BODIES, ids, 2, &k));
	OK(state_cmd(
	    f->s, STATE_ARGS(STR("HSET"), k, STR("t1"), str_of(value)), NULL));
}

TEST(five_turns_are_one_cycle)
{
	const struct nav_rule r = rule(0, 0);
	struct state_fixture f;
	struct nav_cycle_list list;
	char id[8];

	start(&f);
	for (int i = 1; i <= 5; i++) {
		snprintf(id, sizeof(id), "e%d", i);
		ck_assert_int_eq(note(&f, id, true, NAV_NONE, &r) != 0, i == 5);
		(void)note(&f, id, true, NAV_NONE, &r);
		ck_assert(i == 5 || claim(&f).n == 0);
	}
	list = claim(&f);
	ck_assert_uint_eq(list.n, 1);
	ck_assert_int_eq(list.cycle[0].trigger, NAV_COUNT);
	ck_assert_int_eq(list.cycle[0].tries, 1);
	ck_assert_str_eq(list.cycle[0].key.user_id.p, "ann");
	ck_assert_str_eq(list.cycle[0].key.soul_id.p, "s1");
	ck_assert_str_eq(list.cycle[0].session_id.p, "c1");
	ck_assert_ptr_null(list.cycle[0].output.p);
	ck_assert_uint_eq(claim(&f).n, 0);
	state_fixture_stop(&f);
}

TEST(triggers_of_a_running_cycle_become_one)
{
	const struct nav_rule r = rule(0, 100);
	struct state_fixture f;
	struct nav_cycle_list list;
	struct nav_cycle c;
	struct wall due;

	start(&f);
	(void)note(&f, "e1", false, NAV_RESULT, &r);
	c = claim(&f).cycle[0];
	ck_assert_int_eq(c.trigger, NAV_RESULT);
	(void)note(&f, "e2", true, NAV_EMOTION, &r);
	(void)note(&f, "e3", false, NAV_RESULT, &r);
	ck_assert_uint_eq(claim(&f).n, 0);
	OK(nav_end(f.s, &c, &r, &due));
	ck_assert_int_gt(due.ms, 0);
	do
		list = claim(&f);
	while (list.n == 0);
	ck_assert_int_ge(list.now.ms, due.ms);
	ck_assert_int_eq(list.cycle[0].trigger, NAV_EMOTION);
	ck_assert_str_ne(list.cycle[0].id.p, c.id.p);
	OK(nav_end(f.s, &list.cycle[0], &r, &due));
	ck_assert_int_eq(due.ms, 0);
	/* Repeated it says the same. */
	OK(nav_end(f.s, &list.cycle[0], &r, &due));
	ck_assert_int_eq(due.ms, 0);
	state_fixture_stop(&f);
}

TEST(a_cycle_whose_process_died_goes_on)
{
	const struct nav_rule r = rule(0, 0);
	struct state_fixture f;
	struct nav_cycle_list list;
	struct nav_cycle dead, c;
	struct wall due;

	start(&f);
	(void)note(&f, "e1", true, NAV_EMOTION, &r);
	dead = claim_for(&f, 1, 100).cycle[0];
	OK(nav_decide(f.s, &dead, 1, STR("{\"a\":1}"), f.a));
	do
		list = claim(&f);
	while (list.n == 0);
	c = list.cycle[0];
	ck_assert_str_eq(c.id.p, dead.id.p);
	ck_assert_int_eq(c.tries, 2);
	ck_assert_str_eq(c.output.p, "{\"a\":1}");
	/* The first output counts. */
	OK(nav_decide(f.s, &dead, LEASE_MS, STR("{\"a\":2}"), f.a));
	ck_assert_str_eq(dead.output.p, "{\"a\":1}");
	OK(nav_decide(f.s, &c, LEASE_MS, STR(""), f.a));
	ck_assert_str_eq(c.output.p, "{\"a\":1}");
	OK(nav_end(f.s, &c, &r, &due));
	IS(RC_CONFLICT, nav_decide(f.s, &dead, LEASE_MS, STR("{}"), f.a));
	IS(RC_CONFLICT, mind_link_put(f.s, &dead, STR("{}")));
	state_fixture_stop(&f);
}

TEST(a_day_has_so_many_cycles)
{
	const struct nav_rule r = rule(0, 0);
	struct state_fixture f;
	struct nav_cycle_list list;
	struct wall due;

	start(&f);
	(void)note(&f, "e1", true, NAV_EMOTION, &r);
	list = claim_for(&f, LEASE_MS, 1);
	ck_assert_uint_eq(list.n, 1);
	OK(nav_end(f.s, &list.cycle[0], &r, &due));
	(void)note(&f, "e2", true, NAV_EMOTION, &r);
	list = claim_for(&f, LEASE_MS, 1);
	ck_assert_uint_eq(list.n, 0);
	ck_assert_int_gt(list.next.ms, list.now.ms);
	ck_assert_int_eq(list.next.ms % NAV_DAY_MS, 0);
	state_fixture_stop(&f);
}

TEST(only_a_soul_with_a_present_body_is_idle)
{
	const struct nav_rule r = rule(1, 0);
	struct state_fixture f;
	struct nav_cycle_list list;

	start(&f);
	(void)note(&f, "e1", true, NAV_NONE, &r);
	do
		list = claim(&f);
	while (list.next.ms != 0);
	ck_assert_uint_eq(list.n, 0);
	put_body(&f, list.now.ms + LEASE_MS);
	ck_assert_uint_eq(claim(&f).n, 0);
	(void)note(&f, "e2", true, NAV_NONE, &r);
	do
		list = claim(&f);
	while (list.n == 0);
	ck_assert_int_eq(list.cycle[0].trigger, NAV_IDLE);
	state_fixture_stop(&f);
}

TEST(a_mind_link_counts_for_three_turns)
{
	const struct nav_rule r = rule(0, 60000);
	struct state_fixture f;
	struct nav_cycle c;
	struct str json;

	start(&f);
	(void)note(&f, "e1", true, NAV_EMOTION, &r);
	c = claim(&f).cycle[0];
	OK(mind_link_read(f.s, &key, f.a, &json));
	ck_assert_ptr_null(json.p);
	OK(mind_link_put(f.s, &c, STR("{\"b\":1}")));
	OK(mind_link_put(f.s, &c, STR("{\"b\":2}")));
	(void)note(&f, "e2", true, NAV_NONE, &r);
	(void)note(&f, "e3", true, NAV_NONE, &r);
	OK(mind_link_read(f.s, &key, f.a, &json));
	ck_assert_str_eq(json.p, "{\"b\":2}");
	(void)note(&f, "e4", true, NAV_NONE, &r);
	OK(mind_link_read(f.s, &key, f.a, &json));
	ck_assert_ptr_null(json.p);
	state_fixture_stop(&f);
}

TEST(a_deleted_soul_has_no_cycles)
{
	const struct nav_rule r = rule(0, 0);
	const struct nav_event e = { .key = key, .id = STR("e2") };
	struct state_fixture f;
	struct nav_cycle_list list;
	struct nav_cycle c;
	struct str json;
	struct wall due;

	start(&f);
	(void)note(&f, "e1", true, NAV_EMOTION, &r);
	c = claim(&f).cycle[0];
	OK(mind_link_put(f.s, &c, STR("{}")));
	OK(soul_delete(f.s, key.user_id, key.soul_id, NULL));
	list = claim(&f);
	ck_assert_uint_eq(list.n, 0);
	ck_assert_int_eq(list.next.ms, 0);
	OK(mind_link_read(f.s, &key, f.a, &json));
	ck_assert_ptr_null(json.p);
	IS(RC_CONFLICT, nav_decide(f.s, &c, LEASE_MS, STR("{}"), f.a));
	IS(RC_CONFLICT, mind_link_put(f.s, &c, STR("{}")));
	IS(RC_NOENT, nav_note(f.s, &e, &r, &due));
	state_fixture_stop(&f);
}
