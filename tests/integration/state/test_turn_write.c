/* What the head of the queue writes in one step. */
#include "integration/state/bed.h"
#include "integration/state/queue.h"
#include "state/session.h"
#include "state/turn.h"

static const struct session_key key = { STR_INIT("u"), STR_INIT("s 1") };

static struct turn_place
place(const char *instance, const char *turn)
{
	return (struct turn_place){ key, str_of(instance), str_of(turn) };
}

static const struct str two[] = { STR_INIT("1"), STR_INIT("2") };
static const struct session_new two_new = { .json = two, .n = 2 };
static const struct turn_input input = { STR_INIT("灵魂"), STR_INIT("t1"),
	60000 };

static void
count_is(struct bed *b, size_t n)
{
	struct session_page all = { 0, 100 };
	struct session_list l;

	OK(session_messages(b->s, &key, all, b->a, &l));
	ck_assert_uint_eq(l.n, n);
}

/* Messages and activity, as the two functions make them one by one. */
KIT_TEST(input_of_the_head)
{
	struct turn_place a = place("i", "a"), w = place("i", "b");
	struct session_idle_list idle;
	struct session s;
	int64_t ahead, now;
	struct bed b;

	bed_start(&b);
	OK(queue_enter(b.s, &a, &ahead));
	OK(queue_enter(b.s, &w, &ahead));
	IS(RC_CONFLICT, queue_input(b.s, &w, &two_new, &input));
	OK(session_read(b.s, &key, b.a, &s));
	ck_assert(!s.known);
	now = redis_now(&b);
	OK(queue_input(b.s, &a, &two_new, &input));
	count_is(&b, 2);
	OK(session_read(b.s, &key, b.a, &s));
	ck_assert(s.known);
	ck_text(s.soul_id, "灵魂");
	ck_text(s.terminal_id, "t1");
	ck_assert_int_ge(s.active.ms, now);
	ck_assert_int_le(s.active.ms, redis_now(&b));
	/* It falls idle when it was told to. */
	OK(session_idle_claim(b.s, 1000, 10, b.a, &idle));
	ck_assert_uint_eq(idle.n, 0);
	OK(queue_input(
	    b.s, &a, &two_new, &(struct turn_input){ STR("x"), STR("t2"), 0 }));
	OK(session_idle_claim(b.s, 1000, 10, b.a, &idle));
	ck_assert_uint_eq(idle.n, 1);
	ck_text(idle.idle[0].key.session_id, "s 1");
	count_is(&b, 4);
	bed_end(&b);
}

/* The last messages and the place given up. */
KIT_TEST(finish_of_the_head)
{
	struct turn_place a = place("i1", "a"), w = place("i2", "b");
	struct str next;
	int64_t ahead;
	struct bed b;

	bed_start(&b);
	OK(queue_enter(b.s, &a, &ahead));
	OK(queue_enter(b.s, &w, &ahead));
	IS(RC_CONFLICT, queue_finish(b.s, &w, &two_new, b.a, &next));
	count_is(&b, 0);
	OK(turn_hold(b.s, &a));
	OK(queue_finish(b.s, &a, &two_new, b.a, &next));
	ck_text(next, "i2");
	count_is(&b, 2);
	IS(RC_CONFLICT, queue_finish(b.s, &a, &two_new, b.a, &next));
	ck_text(next, NULL);
	IS(RC_NOENT, queue_leave(b.s, &a, b.a, &next));
	OK(queue_finish(b.s, &w, &two_new, b.a, &next));
	ck_text(next, NULL);
	count_is(&b, 4);
	bed_end(&b);
}

/* What is left open stays until another says what is. */
KIT_TEST(what_is_left_open)
{
	static const struct session_new some = { two, 2, STR_INIT("[\"x\"]"),
		0 },
					none = { two, 2, STR_INIT(""), 0 };
	struct turn_place a = place("i1", "a"), w = place("i2", "b");
	struct session s;
	struct str next;
	int64_t ahead;
	struct bed b;

	bed_start(&b);
	OK(queue_enter(b.s, &a, &ahead));
	OK(queue_enter(b.s, &w, &ahead));
	OK(queue_input(b.s, &a, &two_new, &input));
	OK(session_read(b.s, &key, b.a, &s));
	ck_text(s.late, NULL);
	OK(turn_keep(b.s, &a, &some));
	OK(turn_append(b.s, &a, two, 2));
	IS(RC_CONFLICT, turn_keep(b.s, &w, &none));
	OK(session_read(b.s, &key, b.a, &s));
	ck_text(s.late, "[\"x\"]");
	OK(queue_finish(b.s, &a, &none, b.a, &next));
	OK(session_read(b.s, &key, b.a, &s));
	ck_text(s.late, NULL);
	OK(queue_finish(b.s, &w, &some, b.a, &next));
	OK(session_append(b.s, &key, two, 2, NULL));
	OK(session_read(b.s, &key, b.a, &s));
	ck_text(s.late, "[\"x\"]");
	bed_end(&b);
}

/* A deleted session is not made again by the turn it had. */
KIT_TEST(deleted_is_deleted)
{
	struct turn_place a = place("i", "a");
	struct session s;
	struct str next;
	int64_t ahead;
	struct bed b;

	bed_start(&b);
	OK(queue_enter(b.s, &a, &ahead));
	OK(queue_input(b.s, &a, &two_new, &input));
	OK(session_delete(b.s, &key));
	IS(RC_CONFLICT, queue_input(b.s, &a, &two_new, &input));
	IS(RC_CONFLICT, queue_finish(b.s, &a, &two_new, b.a, &next));
	OK(session_read(b.s, &key, b.a, &s));
	ck_assert(!s.known);
	bed_end(&b);
}

KIT_TEST(wrong_arguments)
{
	static const struct str many[SESSION_APPEND_MAX + 1];
	struct turn_place a = place("i", "a"), bad = place("", "a");
	struct session_new none = { .json = two },
			   over = { .json = many, .n = SESSION_APPEND_MAX + 1 };
	struct turn_input no_soul = { STR(""), STR("t"), 0 },
			  no_body = { STR("s"), STR(""), 0 },
			  past = { STR("s"), STR("t"), -1 };
	struct str next;
	int64_t ahead;
	struct bed b;

	bed_start(&b);
	OK(queue_enter(b.s, &a, &ahead));
	IS(RC_INVALID, queue_input(b.s, &a, &none, &input));
	IS(RC_INVALID, queue_input(b.s, &a, &over, &input));
	IS(RC_INVALID, queue_input(b.s, &a, &two_new, &no_soul));
	IS(RC_INVALID, queue_input(b.s, &a, &two_new, &no_body));
	IS(RC_INVALID, queue_input(b.s, &a, &two_new, &past));
	IS(RC_INVALID, queue_input(b.s, &bad, &two_new, &input));
	IS(RC_INVALID, queue_finish(b.s, &a, &none, b.a, &next));
	IS(RC_INVALID, queue_finish(b.s, &a, &over, b.a, &next));
	count_is(&b, 0);
	OK(turn_hold(b.s, &a));
	bed_end(&b);
}
