/* Leases: one owner at a time, epochs that only rise. */
#include "state/state.h"
#include "state/system.h"
#include "state/terminal.h"
#include "testkit/state_fixture.h"
#include "testkit/terminal_fixture.h"

static const struct str name = STR_INIT("bridge/main");

TEST(one_owner_at_a_time)
{
	struct state_fixture r;
	int64_t a, b;

	state_fixture_start(&r);
	OK(lease_acquire(r.s, name, STR("a"), 60000, &a));
	ck_assert_int_eq(a, 1);
	OK(lease_acquire(r.s, name, STR("b"), 60000, &b));
	ck_assert_int_eq(b, 0);
	OK(lease_acquire(r.s, name, STR("a"), 60000, &a));
	ck_assert_int_eq(a, 1);

	OK(lease_release(r.s, name, STR("b"))); /* not held by b */
	OK(lease_acquire(r.s, name, STR("b"), 60000, &b));
	ck_assert_int_eq(b, 0);
	OK(lease_release(r.s, name, STR("a")));
	OK(lease_acquire(r.s, name, STR("b"), 60000, &b));
	ck_assert_int_eq(b, 2);

	OK(lease_acquire(r.s, STR("another"), STR("a"), 60000, &a));
	ck_assert_int_eq(a, 1);
	state_fixture_stop(&r);
}

struct taker {
	struct state_fixture *r;
	int64_t epoch;
};

static bool
taken(void *arg)
{
	struct taker *t = arg;

	OK(lease_acquire(t->r->s, name, STR("b"), 60000, &t->epoch));
	return t->epoch > 0;
}

TEST(an_owner_that_stops_loses_the_lease)
{
	struct taker t = { 0 };
	struct state_fixture r;
	int64_t a;

	state_fixture_start(&r);
	t.r = &r;
	OK(lease_acquire(r.s, name, STR("a"), 100, &a));
	ck_assert(!taken(&t));
	ck_assert(tk_until(taken, &t, STATE_FIXTURE_WAIT_MS));
	ck_assert_int_eq(t.epoch, a + 1);
	OK(lease_acquire(r.s, name, STR("a"), 100, &a));
	ck_assert_int_eq(a, 0);
	state_fixture_stop(&r);
}

/* Each owner once, however often it says so, and in their order. */
TEST(starts_are_counted_by_epochs)
{
	struct arena *arena = arena_new(1 << 20);
	struct system_state system;
	struct state_fixture r;

	state_fixture_start(&r);
	IS(RC_NOENT, system_read(r.s, arena, &system));
	IS(RC_INVALID, system_boot(r.s, 0, STR("1.0")));
	OK(system_boot(r.s, 1, STR("1.0")));
	OK(system_boot(r.s, 1, STR("1.0")));
	OK(system_boot(r.s, 7, STR("1.1")));
	OK(system_boot(r.s, 1, STR("1.0")));
	OK(system_read(r.s, arena, &system));
	ck_assert_int_eq(system.boot_count, 2);
	ck_text(system.version, "1.1");
	arena_free(arena);
	state_fixture_stop(&r);
}

/* Each write of an owner is fenced by its epoch. */
TEST(a_previous_owner_changes_nothing)
{
	struct terminal_writer old = { STR("main"), 0, 60000, false };
	struct terminal_writer new = { STR("main"), 0, 60000, false };
	struct terminal_snapshot snap = { .version = 1, .json = STR("[1]") };
	struct arena *arena = arena_new(1 << 20);
	struct terminal term;
	int64_t current;
	struct state_fixture r;

	state_fixture_start(&r);
	OK(lease_acquire(r.s, name, STR("a"), 60000, &old.epoch));
	OK(terminal_fixture_put_skills(r.s, &old, STR("t"), &snap, &current));
	OK(lease_release(r.s, name, STR("a")));
	OK(lease_acquire(r.s, name, STR("b"), 60000, &new.epoch));

	/* The new owner has not written the record yet. */
	snap = (struct terminal_snapshot){ .version = 2, .json = STR("[2]") };
	OK(terminal_fixture_put_skills(r.s, &old, STR("t"), &snap, &current));
	OK(terminal_fixture_heartbeats(r.s, &new, &STR("t"), 1, NULL));

	snap.version = 3;
	IS(RC_DENIED,
	    terminal_fixture_put_skills(r.s, &old, STR("t"), &snap, &current));
	IS(RC_DENIED,
	    terminal_fixture_put_catalog(r.s, &old, STR("t"), &snap, &current));
	IS(RC_DENIED,
	    terminal_fixture_put_online(r.s, &old, STR("t"), false, NULL));
	IS(RC_DENIED,
	    terminal_fixture_put_rejection(r.s, &old, STR("t"),
		&(struct terminal_rejection){
		    TERMINAL_REJECTED_SKILLS, STR("{}") }));
	IS(RC_DENIED,
	    terminal_fixture_heartbeats(r.s, &old, &STR("t"), 1, NULL));
	OK(terminal_read(r.s, STR("t"), 60000, arena, &term));
	ck_assert(term.present);
	ck_assert_int_eq(term.skill_version, 2);
	ck_text(term.skills, "[2]");
	ck_text(term.catalog, NULL);
	ck_text(term.rejected[TERMINAL_REJECTED_SKILLS], NULL);

	/* The epochs of another broker's lease are separate. */
	old.broker = STR("second");
	OK(terminal_fixture_put_skills(r.s, &old, STR("t"), &snap, &current));
	ck_assert_int_eq(current, 3);
	arena_free(arena);
	state_fixture_stop(&r);
}

#define RACERS    4
#define RACE_WINS 25

/* Acquire it when it is free, count, release it; so many times. */
static void
grab(struct state_fixture *r, int who)
{
	char me[16], num[STR_NUM_MAX];
	int64_t epoch;
	int wins = 0;

	snprintf(me, sizeof(me), "p%d", who);
	while (wins < RACE_WINS) {
		OK(lease_acquire(r->s, name, str_of(me), 60000, &epoch));
		if (epoch == 0)
			continue;
		wins++;
		/* No other process holds it. */
		ck_assert_int_eq(INT_OF(r, STR("INCR"), STR("inside")), 1);
		ck_assert_int_eq(
		    INT_OF(r, STR("SADD"), STR("epochs"), str_num(epoch, num)),
		    1);
		ck_assert_int_eq(INT_OF(r, STR("DECR"), STR("inside")), 0);
		OK(lease_release(r->s, name, str_of(me)));
	}
}

TEST(many_processes_share_a_lease)
{
	struct tk_server redis;
	struct state_fixture r;
	int64_t n;

	tk_server_start(&redis, TK_REDIS);
	state_fixture_run_peers(redis.url, RACERS, grab);
	state_fixture_join(&r, &redis);
	n = INT_OF(&r, STR("SCARD"), STR("epochs"));
	ck_assert_int_eq(n, RACERS * RACE_WINS);
	state_fixture_stop(&r);
}

TEST(wrong_arguments_and_records_are_rejected)
{
	struct state_fixture r;
	int64_t e;

	state_fixture_start(&r);
	IS(RC_INVALID, lease_acquire(r.s, STR(""), STR("a"), 1000, &e));
	IS(RC_INVALID, lease_acquire(r.s, name, STR("a"), 0, &e));
	IS(RC_INVALID, lease_acquire(r.s, name, STR("a"), -1, &e));
	IS(RC_INVALID, lease_acquire(r.s, name, STR(""), 1000, &e));
	IS(RC_INVALID, lease_release(r.s, STR("\n"), STR("a")));

	DO(&r, STR("SET"), STR("soul:lease:{g}:epoch:2"), STR("garbage"));
	IS(RC_INVALID, lease_acquire(r.s, STR("g"), STR("a"), 1000, &e));
	ck_assert_int_eq(e, 0);
	DO(&r, STR("SET"), STR("soul:lease:{g}:2"), STR("a"));
	IS(RC_BUG, lease_acquire(r.s, STR("g"), STR("a"), 1000, &e));
	ck_assert_int_eq(e, 0);
	DO(&r, STR("LPUSH"), STR("soul:lease:{l}:2"), STR("x"));
	IS(RC_INVALID, lease_acquire(r.s, STR("l"), STR("a"), 1000, &e));
	IS(RC_INVALID, lease_release(r.s, STR("l"), STR("a")));
	state_fixture_stop(&r);
}
