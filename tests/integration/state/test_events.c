/* The events that a turn logs, and its record. */
#include "core/mem.h"
#include "state/events.h"
#include "state/keys.h"
#include "state/turn.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

static const struct session_key key = { STR_INIT("u 1"), STR_INIT("s") };
static const struct events_key log_key = { EVENTS_SESSION, STR_INIT("u 1"),
	STR_INIT("s") };
static const struct str one[] = { STR_INIT("{}") };
static const struct session_new message = { .json = one, .n = 1 };
static const struct turn_input input = { STR_INIT("soul"), STR_INIT("t1"),
	60000 };
static void
start(struct state_fixture *b)
{
	state_fixture_start(b);
	turn_fixture_soul(b->s, "u 1", "soul");
}

static const struct str abc[] = { STR_INIT("a"), STR_INIT("b"), STR_INIT("c") };

static struct turn_slot
slot_of(const char *instance, const char *turn)
{
	return (struct turn_slot){ key, str_of(instance), str_of(turn) };
}

static void
enter(struct state_fixture *b, const struct turn_slot *p)
{
	int64_t ahead;

	OK(turn_fixture_enter(b->s, p, &ahead));
}

/* Append a turn's input with n events; returns the last one's seq. */
static int64_t
begin(struct state_fixture *b, const struct turn_slot *p, size_t n)
{
	struct turn_events events = { abc, n, -1, false };

	enter(b, p);
	OK(turn_append_input(b->s, p, &message, &input, &events));
	return events.seq;
}

static struct events
read_after(struct state_fixture *b, int64_t after)
{
	struct events page;

	OK(events_read(b->s, &log_key, after, false, b->a, &page));
	return page;
}

static struct turn_record
record_of(struct state_fixture *b, const char *turn)
{
	struct turn_record t;

	OK(turn_record_read(b->s, key.user_id, str_of(turn), b->a, &t));
	return t;
}

static void
run(struct state_fixture *b, const char *command)
{
	struct state_reply *r;
	struct str arg[8];
	size_t n = 0;

	for (struct str rest = str_of(command); rest.n > 0;)
		arg[n++] = str_split(&rest, ' ');
	OK(state_cmd(b->s, arg, n, &r));
	state_reply_free(r);
}

TEST(events_are_numbered_across_turns)
{
	struct turn_slot a = slot_of("i", "a"), c = slot_of("i", "c");
	struct turn_ending end = { .events = { abc, 2, -1, false } };
	struct events page;
	int64_t newest;
	struct state_fixture b;

	start(&b);
	ck_assert_int_eq(begin(&b, &a, 1), 1);
	OK(turn_finish(b.s, &a, &message, &end, b.a));
	ck_assert_int_eq(end.events.seq, 3);
	ck_assert_int_eq(begin(&b, &c, 3), 6);
	page = read_after(&b, 0);
	ck_assert_uint_eq(page.n, 6);
	ck_assert_int_eq(page.newest, 6);
	ck_assert(!page.more);
	for (size_t i = 0; i < page.n; i++)
		ck_assert_int_eq(page.item[i].seq, (int64_t)i + 1);
	ck_text(page.item[2].json, "b");
	ck_text(page.item[5].json, "c");
	page = read_after(&b, 4);
	ck_assert_uint_eq(page.n, 2);
	ck_assert_int_eq(page.item[0].seq, 5);
	ck_assert_uint_eq(read_after(&b, 6).n, 0);
	ck_assert_uint_eq(read_after(&b, 99).n, 0);
	OK(events_newest(b.s, &log_key, &newest));
	ck_assert_int_eq(newest, 6);
	state_fixture_stop(&b);
}

TEST(turns_know_who_follows_the_session)
{
	struct turn_slot a = slot_of("i", "a"), c = slot_of("i", "c"),
			 d = slot_of("i", "d");
	struct turn_ending end = { .events = { abc, 2, -1, true } };
	const struct str ids[] = { key.user_id, key.session_id };
	char text[STATE_KEY_MAX];
	struct state_fixture b;
	struct str hash;
	int64_t newest;

	start(&b);
	/* A session that does not exist is not made by that. */
	OK(events_follow(b.s, &log_key, 60000, &newest));
	ck_assert_int_eq(newest, 0);
	begin(&b, &a, 1);
	OK(turn_finish(b.s, &a, &message, &end, b.a));
	ck_assert(!end.events.followed);
	OK(events_follow(b.s, &log_key, 60000, &newest));
	ck_assert_int_eq(newest, 3);
	begin(&b, &c, 1);
	OK(turn_finish(b.s, &c, &message, &end, b.a));
	ck_assert(end.events.followed);
	/* For the time that is given. */
	OK(state_key(text, KEY_SESSION, ids, NELEM(ids), &hash));
	OK(state_cmd(
	    b.s, STATE_ARGS(STR("HSET"), hash, STR("follow"), STR("1")), NULL));
	begin(&b, &d, 1);
	OK(turn_finish(b.s, &d, &message, &end, b.a));
	ck_assert(!end.events.followed);
	state_fixture_stop(&b);
}

TEST(only_the_head_logs_events)
{
	struct turn_slot a = slot_of("i", "a"), w = slot_of("i", "w");
	struct turn_events events = { abc, 2, -1, false };
	struct state_pipe *p;
	int64_t seq;
	struct state_fixture b;

	start(&b);
	begin(&b, &a, 1);
	enter(&b, &w);
	p = state_pipe_new(b.s, 8);
	OK(turn_log_events(p, &a, &events));
	OK(turn_log_events(p, &w, &events));
	OK(turn_log_events(p, &a, &events));
	IS(RC_INVALID,
	    turn_log_events(p, &a, &(struct turn_events){ abc, 0, 0, false }));
	OK(state_pipe_run(p));
	OK(turn_log_events_reply(p, 0, &seq));
	ck_assert_int_eq(seq, 3);
	IS(RC_CONFLICT, turn_log_events_reply(p, 1, &seq));
	ck_assert_int_eq(seq, 0);
	OK(turn_log_events_reply(p, 2, &seq));
	ck_assert_int_eq(seq, 5);
	state_pipe_free(p);
	ck_assert_uint_eq(read_after(&b, 0).n, 5);
	state_fixture_stop(&b);
}

/* The count continues where the log ended. */
TEST(no_seq_twice_after_the_log_has_expired)
{
	struct turn_slot a = slot_of("i", "a");
	struct turn_events events = { abc, 1, -1, false };
	struct state_fixture b;

	start(&b);
	begin(&b, &a, 3);
	run(&b, "DEL soul:events:{b1009}:~dSAx:s:1");
	ck_assert_uint_eq(read_after(&b, 0).n, 0);
	ck_assert_int_eq(read_after(&b, 0).newest, 3);
	OK(turn_append_input(b.s, &a, &message, &input, &events));
	ck_assert_int_eq(events.seq, 4);
	ck_assert_uint_eq(read_after(&b, 0).n, 1);
	ck_assert_int_eq(read_after(&b, 0).item[0].seq, 4);
	state_fixture_stop(&b);
}

TEST(the_log_is_bounded_and_read_in_pages)
{
	struct turn_slot a = slot_of("i", "a");
	struct turn_events events = { abc, 3, -1, false };
	struct events page;
	struct state_pipe *p;
	int64_t after = 0;
	size_t pages = 0, n = 0;
	struct state_fixture b;

	start(&b);
	begin(&b, &a, 1);
	p = state_pipe_new(b.s, 1000);
	for (int i = 0; i < 1000; i++)
		OK(turn_log_events(p, &a, &events));
	OK(state_pipe_run(p));
	state_pipe_free(p);
	do {
		page = read_after(&b, after);
		for (size_t i = 0; i < page.n; i++, n++) {
			if (after > 0)
				ck_assert_int_eq(page.item[i].seq, after + 1);
			after = page.item[i].seq;
		}
		pages++;
	} while (page.more);
	ck_assert_int_eq(after, 3001);
	ck_assert_uint_ge(n, 1000);
	ck_assert_uint_lt(n, 1200);
	ck_assert_uint_ge(pages, 2);
	state_fixture_stop(&b);
}

/* A turn has a record while it runs, and after its end. */
TEST(a_record_has_the_first_end)
{
	struct turn_slot a = slot_of("i", "a");
	struct turn_ending end = { .reply = STR("{1}"),
		.timeline = STR("[]"),
		.events = { abc, 1, -1, false } };
	struct turn_ending late = { .reply = STR("{2}") };
	struct turn_record t;
	struct state_fixture b;

	start(&b);
	ck_assert(!record_of(&b, "a").known);
	begin(&b, &a, 1);
	t = record_of(&b, "a");
	ck_assert(t.known);
	ck_assert_int_eq(t.state, TURN_STATE_OPEN);
	ck_text(t.user_id, "u 1");
	ck_text(t.session_id, "s");
	ck_text(t.instance, "i");
	ck_assert_int_le(t.started.ms, state_fixture_now(&b));
	ck_assert(t.reply.p == NULL);
	OK(turn_finish(b.s, &a, &message, &end, b.a));
	IS(RC_NOENT, turn_leave(b.s, &a, &late, b.a));
	t = record_of(&b, "a");
	ck_assert_int_eq(t.state, TURN_STATE_ENDED);
	ck_text(t.reply, "{1}");
	ck_text(t.timeline, "[]");
	state_fixture_stop(&b);
}

/* Canceled while it waits: its end is logged, although it never was head. */
TEST(a_waiting_turn_may_end)
{
	struct turn_slot a = slot_of("i", "a"), w = slot_of("i", "w");
	struct turn_ending end = { .reply = STR("{}"),
		.events = { abc, 1, -1, false } };
	struct state_fixture b;

	start(&b);
	begin(&b, &a, 1);
	enter(&b, &w);
	OK(turn_leave(b.s, &w, &end, b.a));
	ck_assert_int_eq(end.events.seq, 2);
	ck_assert(end.next.p == NULL);
	ck_assert_int_eq(record_of(&b, "w").state, TURN_STATE_ENDED);
	state_fixture_stop(&b);
}

/* It has no end, so its eviction logs that it is lost, a single time. */
TEST(a_dead_turn_is_logged_as_lost)
{
	struct turn_slot dead = slot_of("gone", "d"), a = slot_of("i", "a");
	struct turn_slot never = slot_of("gone", "n");
	struct events page;
	int64_t ahead;
	struct state_fixture b;

	start(&b);
	begin(&b, &dead, 1);
	enter(&b, &never);
	run(&b, "DEL soul:instance:{b1009}:gone:1");
	ck_assert_int_eq(record_of(&b, "d").state, TURN_STATE_LOST);
	enter(&b, &a);
	OK(turn_fixture_poll(b.s, &a, &ahead));
	ck_assert_int_eq(ahead, 0);
	page = read_after(&b, 1);
	ck_assert_uint_eq(page.n, 1);
	ck_assert(page.item[0].json.p == NULL);
	ck_text(page.item[0].lost_turn, "d");
	ck_assert(!page.item[0].lost_acted);
	ck_assert_int_le(page.item[0].lost_at.ms, state_fixture_now(&b));
	ck_assert_int_gt(
	    page.item[0].lost_at.ms, state_fixture_now(&b) - 60000);
	ck_assert_int_eq(record_of(&b, "d").state, TURN_STATE_LOST);
	ck_assert_int_eq(record_of(&b, "n").state, TURN_STATE_LOST);
	state_fixture_stop(&b);
}

/* The same by a waiting turn that ends before it has polled. */
TEST(a_dead_turn_is_logged_as_lost_by_one_that_leaves)
{
	struct turn_slot dead = slot_of("gone", "d"), a = slot_of("i", "a");
	struct turn_ending end = { .reply = STR("{}"),
		.events = { abc, 1, -1, false } };
	struct events page;
	struct state_fixture b;

	start(&b);
	begin(&b, &dead, 1);
	OK(turn_mark_acting(b.s, &dead));
	enter(&b, &a);
	run(&b, "DEL soul:instance:{b1009}:gone:1");
	OK(turn_leave(b.s, &a, &end, b.a));
	ck_assert_int_eq(end.events.seq, 3);
	page = read_after(&b, 1);
	ck_assert_uint_eq(page.n, 2);
	ck_text(page.item[0].lost_turn, "d");
	ck_assert(page.item[0].lost_acted);
	ck_assert_int_eq(page.item[1].seq, 3);
	ck_assert_int_eq(record_of(&b, "d").state, TURN_STATE_LOST);
	state_fixture_stop(&b);
}

/*
 * Whether the turn's input was stored is not known when Redis did not reply:
 * what ends a turn that has not begun is not logged then.
 */
TEST(an_end_may_be_logged_only_after_a_start)
{
	struct turn_slot a = slot_of("i", "a"), c = slot_of("i", "c");
	struct turn_ending end = { .reply = STR("{}"),
		.if_begun = true,
		.events = { abc, 1, -1, false } };
	struct state_fixture b;

	start(&b);
	begin(&b, &a, 1);
	enter(&b, &c);
	OK(turn_leave(b.s, &c, &end, b.a));
	ck_assert_int_eq(end.events.seq, 0);
	ck_assert_int_eq(record_of(&b, "c").state, TURN_STATE_ENDED);
	OK(turn_leave(b.s, &a, &end, b.a));
	ck_assert_int_eq(end.events.seq, 2);
	ck_assert_uint_eq(read_after(&b, 0).n, 2);
	state_fixture_stop(&b);
}

static enum rc
enter_input(struct state_fixture *b, const char *turn, const char *fingerprint,
    struct turn_entered *in)
{
	struct turn_slot p = slot_of("i", turn);
	struct turn_entry e = { .fingerprint = str_of(fingerprint),
		.trace_id = STR("0123") };

	return turn_enter(b->s, &p, &e, b->a, in);
}

TEST(the_same_input_is_a_retry)
{
	struct turn_slot a = slot_of("i", "a");
	struct turn_ending end = { .reply = STR("{}") };
	struct turn_entered in;
	struct state_fixture b;

	start(&b);
	OK(enter_input(&b, "a", "x", &in));
	ck_assert_int_eq(in.ahead, 0);
	ck_assert(in.first.p == NULL);
	ck_text(record_of(&b, "a").trace_id, "0123");
	/* While it runs, and after its end. */
	IS(RC_CONFLICT, enter_input(&b, "b", "x", &in));
	ck_text(in.first, "a");
	OK(turn_leave(b.s, &a, &end, b.a));
	IS(RC_CONFLICT, enter_input(&b, "b", "x", &in));
	ck_text(in.first, "a");
	ck_assert(!record_of(&b, "b").known);
	OK(enter_input(&b, "c", "y", &in));
	/* The same turn is no retry of itself. */
	IS(RC_CONFLICT, enter_input(&b, "c", "z", &in));
	ck_assert(in.first.p == NULL);
	state_fixture_stop(&b);
}

TEST(the_input_of_a_turn_without_effect_may_be_sent_twice)
{
	struct turn_slot a = slot_of("i", "a");
	struct turn_ending end = { .reply = STR("{}"), .forget = true };
	struct turn_entered in;
	struct state_fixture b;

	start(&b);
	OK(enter_input(&b, "a", "x", &in));
	OK(turn_leave(b.s, &a, &end, b.a));
	OK(enter_input(&b, "b", "x", &in));
	IS(RC_CONFLICT, enter_input(&b, "c", "x", &in));
	ck_text(in.first, "b");
	state_fixture_stop(&b);
}

/* The log is deleted with the session, and the count begins anew. */
TEST(a_deleted_session_has_no_events)
{
	struct turn_slot a = slot_of("i", "a"), c = slot_of("i", "c");
	struct turn_ending end = { .reply = STR("{}"),
		.events = { abc, 1, -1, false } };
	struct state_fixture b;

	start(&b);
	begin(&b, &a, 3);
	OK(session_delete(b.s, &key));
	ck_assert_uint_eq(read_after(&b, 0).n, 0);
	IS(RC_NOENT, turn_leave(b.s, &a, &end, b.a));
	ck_assert_int_eq(record_of(&b, "a").state, TURN_STATE_ENDED);
	ck_assert_uint_eq(read_after(&b, 0).n, 0);
	ck_assert_int_eq(begin(&b, &c, 1), 1);
	state_fixture_stop(&b);
}
