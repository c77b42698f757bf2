/* Turns: one at a time, in order, also if processes die. */
#include "state/turn.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

static const struct session_key key = { STR_INIT("u"), STR_INIT("s 1") };

static struct turn_slot
slot(const char *instance, const char *turn)
{
	return (struct turn_slot){ key, str_of(instance), str_of(turn) };
}

TEST(one_at_a_time_in_order)
{
	struct turn_slot p[] = { slot("i1", "t1"), slot("i2", "t2"),
		slot("i1", "t3"), slot("实例", "回合") };
	struct str next;
	int64_t ahead;
	struct state_fixture b;
	size_t i;

	state_fixture_start(&b);
	for (i = 0; i < NELEM(p); i++) {
		OK(turn_fixture_enter(b.s, &p[i], &ahead));
		ck_assert_int_eq(ahead, (int64_t)i);
	}
	for (i = 0; i < NELEM(p); i++) {
		OK(turn_fixture_poll(b.s, &p[i], &ahead));
		ck_assert_int_eq(ahead, (int64_t)i);
		IS(i == 0 ? RC_OK : RC_CONFLICT, turn_check_head(b.s, &p[i]));
	}
	OK(turn_fixture_leave(b.s, &p[0], b.a, &next));
	ck_text(next, "i2");
	IS(RC_CONFLICT, turn_check_head(b.s, &p[0]));
	OK(turn_check_head(b.s, &p[1]));
	/* A waiting turn leaves: none is to be woken. */
	OK(turn_fixture_leave(b.s, &p[2], b.a, &next));
	ck_text(next, NULL);
	OK(turn_check_head(b.s, &p[1]));
	OK(turn_fixture_poll(b.s, &p[3], &ahead));
	ck_assert_int_eq(ahead, 1);
	OK(turn_fixture_leave(b.s, &p[1], b.a, &next));
	ck_text(next, "实例");
	OK(turn_fixture_leave(b.s, &p[3], b.a, &next));
	ck_text(next, NULL);
	for (i = 0; i < NELEM(p); i++) {
		IS(RC_NOENT, turn_fixture_leave(b.s, &p[i], b.a, &next));
		IS(RC_NOENT, turn_fixture_poll(b.s, &p[i], &ahead));
		IS(RC_CONFLICT, turn_check_head(b.s, &p[i]));
	}
	state_fixture_stop(&b);
}

TEST(sessions_do_not_wait_for_each_other)
{
	struct turn_slot a = slot("i", "t1"), c = slot("i", "t1");
	int64_t ahead;
	struct state_fixture b;

	state_fixture_start(&b);
	c.key.user_id = STR("another");
	OK(turn_fixture_enter(b.s, &a, &ahead));
	OK(turn_fixture_enter(b.s, &c, &ahead));
	ck_assert_int_eq(ahead, 0);
	OK(turn_check_head(b.s, &a));
	OK(turn_check_head(b.s, &c));
	state_fixture_stop(&b);
}

TEST(a_full_queue_and_a_duplicate_are_rejected)
{
	struct turn_slot p;
	struct str next;
	int64_t ahead;
	struct state_fixture b;
	char turn[16];
	int i;

	state_fixture_start(&b);
	for (i = 0; i <= TURN_QUEUE_MAX; i++) {
		snprintf(turn, sizeof(turn), "t%d", i);
		p = slot("i1", turn);
		OK(turn_fixture_enter(b.s, &p, &ahead));
		ck_assert_int_eq(ahead, i);
	}
	p = slot("i1", "more");
	IS(RC_RETRY, turn_fixture_enter(b.s, &p, &ahead));
	IS(RC_NOENT, turn_fixture_poll(b.s, &p, &ahead));
	p = slot("i1", "t3");
	IS(RC_CONFLICT, turn_fixture_enter(b.s, &p, &ahead));
	p = slot("i2", "t0"); /* also of another process */
	IS(RC_CONFLICT, turn_fixture_enter(b.s, &p, &ahead));
	p = slot("i1", "t3");
	OK(turn_fixture_leave(b.s, &p, b.a, &next));
	p = slot("i2", "more");
	OK(turn_fixture_enter(b.s, &p, &ahead));
	ck_assert_int_eq(ahead, TURN_QUEUE_MAX);
	state_fixture_stop(&b);
}

TEST(only_the_head_may_write)
{
	struct turn_slot a = slot("i", "a"), w = slot("i", "b");
	struct session_page all = { .after = 0, .max = 10 };
	struct session_list l;
	struct str next;
	int64_t ahead;
	struct state_fixture b;

	state_fixture_start(&b);
	OK(turn_fixture_enter(b.s, &a, &ahead));
	OK(turn_fixture_enter(b.s, &w, &ahead));
	OK(turn_fixture_append(b.s, &a, STATE_ARGS(STR("1"), STR("2"))));
	IS(RC_CONFLICT, turn_fixture_append(b.s, &w, &STR("3"), 1));
	OK(turn_fixture_leave(b.s, &a, b.a, &next));
	IS(RC_CONFLICT, turn_fixture_append(b.s, &a, &STR("4"), 1));
	OK(turn_fixture_append(b.s, &w, &STR("5"), 1));
	OK(session_messages(b.s, &key, all, b.a, &l));
	ck_assert_uint_eq(l.n, 3);
	ck_text(l.message[1].json, "2");
	ck_text(l.message[2].json, "5");
	ck_assert_int_eq(l.message[2].number, 3);
	state_fixture_stop(&b);
}

/* Delete the key that marks a process as alive. */
static void
die(struct state_fixture *b, const char *instance)
{
	char text[64];

	snprintf(text, sizeof(text), "soul:instance:{b0562}:%s:1", instance);
	ck_assert_int_eq(INT_OF(b, STR("DEL"), str_of(text)), 1);
}

/*
 * A turn that has left is in the queue again, as after a failover that lost
 * that, and its process lives: who waits names it.
 */
TEST(a_turn_that_nobody_runs_is_evicted)
{
	struct turn_slot back = slot("i1", "回合"), next = slot("i2", "b"),
			 last = slot("i1", "c");
	struct turn_position at;
	struct turn_record rec;
	struct state_fixture b;
	int64_t ahead;

	state_fixture_start(&b);
	OK(turn_fixture_enter(b.s, &back, &ahead));
	OK(turn_fixture_enter(b.s, &next, &ahead));
	OK(turn_fixture_enter(b.s, &last, &ahead));
	OK(turn_poll(b.s, &next, NULL, b.a, &at));
	ck_assert_int_eq(at.ahead, 1);
	ck_text(at.head.instance, "i1");
	ck_text(at.head.turn_id, "回合");
	OK(turn_poll(b.s, &next, &at.head, b.a, &at));
	ck_assert_int_eq(at.ahead, 0);
	ck_text(at.head.turn_id, "b");
	OK(turn_check_head(b.s, &next));
	IS(RC_CONFLICT, turn_check_head(b.s, &back));
	OK(turn_record_read(b.s, key.user_id, back.turn_id, b.a, &rec));
	ck_assert_int_eq(rec.state, TURN_STATE_LOST);
	/* Another turn of that process stays, and one that is gone is none. */
	OK(turn_poll(b.s, &last,
	    &(struct turn_named){ back.instance, back.turn_id }, b.a, &at));
	ck_assert_int_eq(at.ahead, 1);
	state_fixture_stop(&b);
}

TEST(dead_processes_are_evicted)
{
	struct turn_slot d1 = slot("dead1", "a"), d2 = slot("dead2", "b");
	struct turn_slot live = slot("live", "c"), d3 = slot("dead1", "d");
	struct turn_slot last = slot("other", "e");
	struct str next;
	int64_t ahead;
	struct state_fixture b;

	state_fixture_start(&b);
	OK(turn_fixture_enter(b.s, &d1, &ahead));
	OK(turn_fixture_enter(b.s, &d2, &ahead));
	OK(turn_fixture_enter(b.s, &live, &ahead));
	OK(turn_fixture_enter(b.s, &d3, &ahead));
	OK(turn_fixture_enter(b.s, &last, &ahead));
	ck_assert_int_eq(ahead, 4);
	OK(turn_fixture_poll(b.s, &live, &ahead));
	ck_assert_int_eq(ahead, 2);
	die(&b, "dead1");
	die(&b, "dead2");
	/* All at a time, whether head or waiting. */
	OK(turn_fixture_poll(b.s, &last, &ahead));
	ck_assert_int_eq(ahead, 1);
	OK(turn_fixture_poll(b.s, &live, &ahead));
	ck_assert_int_eq(ahead, 0);
	OK(turn_check_head(b.s, &live));
	/* It was only slow: it cannot write any more. */
	IS(RC_CONFLICT, turn_check_head(b.s, &d1));
	IS(RC_CONFLICT, turn_fixture_append(b.s, &d1, &STR("1"), 1));
	IS(RC_NOENT, turn_fixture_poll(b.s, &d1, &ahead));
	IS(RC_NOENT, turn_fixture_leave(b.s, &d1, b.a, &next));
	OK(turn_check_head(b.s, &live));
	state_fixture_stop(&b);
}

TEST(leaving_wakes_the_first_live_turn)
{
	struct turn_slot a = slot("i1", "a"), d = slot("dead", "b");
	struct turn_slot w = slot("i2", "c"), dead_head = slot("dead", "e");
	struct str next;
	int64_t ahead;
	struct state_fixture b;

	state_fixture_start(&b);
	OK(turn_fixture_enter(b.s, &a, &ahead));
	OK(turn_fixture_enter(b.s, &d, &ahead));
	OK(turn_fixture_enter(b.s, &w, &ahead));
	die(&b, "dead");
	OK(turn_fixture_leave(b.s, &a, b.a, &next));
	ck_text(next, "i2");
	OK(turn_check_head(b.s, &w));
	OK(turn_fixture_leave(b.s, &w, b.a, &next));
	ck_text(next, NULL);

	/* A turn in the middle that leaves may find a dead head. */
	OK(turn_fixture_enter(b.s, &dead_head, &ahead));
	OK(turn_fixture_enter(b.s, &a, &ahead));
	OK(turn_fixture_enter(b.s, &w, &ahead));
	die(&b, "dead");
	OK(turn_fixture_leave(b.s, &a, b.a, &next));
	ck_text(next, "i2");
	OK(turn_check_head(b.s, &w));
	state_fixture_stop(&b);
}

TEST(a_queue_full_of_dead_turns_is_emptied)
{
	struct turn_slot p;
	int64_t ahead;
	struct state_fixture b;
	char turn[16];
	int i;

	state_fixture_start(&b);
	for (i = 0; i <= TURN_QUEUE_MAX; i++) {
		snprintf(turn, sizeof(turn), "t%d", i);
		p = slot("dead", turn);
		OK(turn_fixture_enter(b.s, &p, &ahead));
	}
	die(&b, "dead");
	p = slot("i1", "new");
	OK(turn_fixture_enter(b.s, &p, &ahead));
	ck_assert_int_eq(ahead, 0);
	state_fixture_stop(&b);
}

struct waiting_turn {
	struct state_fixture *b;
	struct turn_slot p;
};

static bool
is_head(void *arg)
{
	struct waiting_turn *w = arg;
	int64_t ahead;

	OK(turn_fixture_poll(w->b->s, &w->p, &ahead));
	return ahead == 0;
}

TEST(a_process_without_a_sign_of_life_is_dead)
{
	struct turn_slot slow = slot("slow", "a");
	struct waiting_turn w = { NULL, slot("live", "b") };
	unsigned bucket = state_fixture_bucket("u");
	int64_t ahead, ttl;
	struct state_fixture b;

	state_fixture_start(&b);
	w.b = &b;
	OK(turn_fixture_alive(b.s, &slow, 200));
	OK(turn_fixture_enter(b.s, &slow, &ahead));
	OK(turn_fixture_enter(b.s, &w.p, &ahead));
	ck_assert(!is_head(&w));
	ck_assert(tk_until(is_head, &w, STATE_FIXTURE_WAIT_MS));
	IS(RC_CONFLICT, turn_check_head(b.s, &slow));

	/* Polling marks a process as alive, without turn_alive() too. */
	DO(&b, STR("PEXPIRE"), STR("soul:instance:{b0562}:live:1"), STR("500"));
	OK(turn_fixture_poll(b.s, &w.p, &ahead));
	ttl = INT_OF(&b, STR("PTTL"), STR("soul:instance:{b0562}:live:1"));
	ck_assert_int_gt(ttl, TURN_ALIVE_MS - 500);
	ck_assert_int_le(ttl, TURN_ALIVE_MS);
	/* Entering and polling do not shorten the time. */
	OK(turn_fixture_alive(b.s, &w.p, 60000));
	OK(turn_fixture_poll(b.s, &w.p, &ahead));
	ttl = INT_OF(&b, STR("PTTL"), STR("soul:instance:{b0562}:live:1"));
	ck_assert_int_gt(ttl, TURN_ALIVE_MS);
	IS(RC_INVALID, turn_alive(b.s, STR(""), &bucket, 1, 1000));
	IS(RC_INVALID, turn_alive(b.s, STR("x"), &bucket, 1, 0));
	OK(turn_alive(b.s, STR("x"), NULL, 0, 1000));
	bucket = STATE_BUCKETS;
	IS(RC_INVALID, turn_alive(b.s, STR("x"), &bucket, 1, 1000));
	state_fixture_stop(&b);
}

TEST(garbage_in_the_queue_is_evicted)
{
	const struct str q = STR("soul:turns:{b0562}:u:~cyAx:2");
	struct turn_slot p = slot("i1", "a");
	struct str next;
	int64_t ahead;
	struct state_fixture b;

	state_fixture_start(&b);
	DO(&b, STR("SET"), q, STR("  x : :x gone:x no%token:y"));
	OK(turn_fixture_enter(b.s, &p, &ahead));
	ck_assert_int_eq(ahead, 0);
	DO(&b, STR("APPEND"), q, STR("x"));
	OK(turn_fixture_leave(b.s, &p, b.a, &next));
	ck_text(next, NULL);

	/* An instance that is alive and has no name. */
	OK(turn_fixture_enter(b.s, &p, &ahead));
	DO(&b, STR("APPEND"), q, STR("no%token:y "));
	DO(&b, STR("SET"), STR("soul:instance:{b0562}:no%token:1"), STR("1"));
	IS(RC_INVALID, turn_fixture_leave(b.s, &p, b.a, &next));
	ck_text(next, NULL);

	DO(&b, STR("DEL"), q);
	DO(&b, STR("RPUSH"), q, STR("x"));
	IS(RC_INVALID, turn_fixture_enter(b.s, &p, &ahead));
	IS(RC_INVALID, turn_fixture_poll(b.s, &p, &ahead));
	IS(RC_INVALID, turn_check_head(b.s, &p));
	IS(RC_INVALID, turn_fixture_append(b.s, &p, &STR("1"), 1));
	IS(RC_INVALID, turn_fixture_leave(b.s, &p, b.a, &next));
	p.turn_id = STR("");
	IS(RC_INVALID, turn_fixture_enter(b.s, &p, &ahead));
	state_fixture_stop(&b);
}
