/* The writes of the head of the queue, each in one step. */
#include "state/keys.h"
#include "state/session.h"
#include "state/soul.h"
#include "state/turn.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

static const struct session_key key = { STR_INIT("u"), STR_INIT("s 1") };

static struct turn_slot
slot(const char *instance, const char *turn)
{
	return (struct turn_slot){ key, str_of(instance), str_of(turn) };
}

static const struct str two[] = { STR_INIT("1"), STR_INIT("2") };
static const struct session_new two_new = { .json = two, .n = 2 };
static const struct turn_input input = { STR_INIT("灵魂"), STR_INIT("t1"),
	60000 };

static void
add_souls(struct state_fixture *b)
{
	turn_fixture_soul(b->s, "u", "灵魂");
	turn_fixture_soul(b->s, "u", "x");
	turn_fixture_soul(b->s, "u", "soul");
}

static void
start(struct state_fixture *b)
{
	state_fixture_start(b);
	add_souls(b);
}

/* With nothing but the souls. */
static void
restart(struct state_fixture *b)
{
	state_fixture_flush(b);
	add_souls(b);
}

static void
count_is(struct state_fixture *b, size_t n)
{
	struct session_page all = { .after = 0, .max = 100 };
	struct session_list l;

	OK(session_messages(b->s, &key, all, b->a, &l));
	ck_assert_uint_eq(l.n, n);
}

/* Messages and activity, as written by the two separate functions. */
TEST(the_head_appends_an_input)
{
	struct turn_slot a = slot("i", "a"), w = slot("i", "b");
	struct session_idle_list idle;
	struct session s;
	int64_t ahead, now;
	struct state_fixture b;

	start(&b);
	OK(turn_fixture_enter(b.s, &a, &ahead));
	OK(turn_fixture_enter(b.s, &w, &ahead));
	IS(RC_CONFLICT, turn_fixture_input(b.s, &w, &two_new, &input));
	OK(session_read(b.s, &key, b.a, &s));
	ck_assert(!s.known);
	now = state_fixture_now(&b);
	OK(turn_fixture_input(b.s, &a, &two_new, &input));
	count_is(&b, 2);
	OK(session_read(b.s, &key, b.a, &s));
	ck_assert(s.known);
	ck_text(s.soul_id, "灵魂");
	ck_text(s.terminal_id, "t1");
	ck_assert_int_ge(s.active.ms, now);
	ck_assert_int_le(s.active.ms, state_fixture_now(&b));
	/* It becomes idle at the given time. */
	OK(session_fixture_claim(&b, "u", 1000, 10, &idle));
	ck_assert_uint_eq(idle.n, 0);
	OK(turn_fixture_input(
	    b.s, &a, &two_new, &(struct turn_input){ STR("x"), STR("t2"), 0 }));
	OK(session_fixture_claim(&b, "u", 1000, 10, &idle));
	ck_assert_uint_eq(idle.n, 1);
	ck_text(idle.idle[0].key.session_id, "s 1");
	count_is(&b, 4);
	state_fixture_stop(&b);
}

/* The last messages, and leaving the queue. */
TEST(the_head_finishes)
{
	struct turn_slot a = slot("i1", "a"), w = slot("i2", "b");
	struct str next;
	int64_t ahead;
	struct state_fixture b;

	start(&b);
	OK(turn_fixture_enter(b.s, &a, &ahead));
	OK(turn_fixture_enter(b.s, &w, &ahead));
	IS(RC_CONFLICT, turn_fixture_finish(b.s, &w, &two_new, b.a, &next));
	count_is(&b, 0);
	OK(turn_check_head(b.s, &a));
	OK(turn_fixture_finish(b.s, &a, &two_new, b.a, &next));
	ck_text(next, "i2");
	count_is(&b, 2);
	IS(RC_CONFLICT, turn_fixture_finish(b.s, &a, &two_new, b.a, &next));
	ck_text(next, NULL);
	IS(RC_NOENT, turn_fixture_leave(b.s, &a, b.a, &next));
	OK(turn_fixture_finish(b.s, &w, &two_new, b.a, &next));
	ck_text(next, NULL);
	count_is(&b, 4);
	state_fixture_stop(&b);
}

/* What is pending stays until it is replaced. */
TEST(pending_calls_stay_until_replaced)
{
	static const struct session_new some = { two, 2, STR_INIT("[\"x\"]"),
		0 },
					none = { two, 2, STR_INIT(""), 0 };
	struct turn_slot a = slot("i1", "a"), w = slot("i2", "b");
	struct session s;
	struct str next;
	int64_t ahead;
	struct state_fixture b;

	start(&b);
	OK(turn_fixture_enter(b.s, &a, &ahead));
	OK(turn_fixture_enter(b.s, &w, &ahead));
	OK(turn_fixture_input(b.s, &a, &two_new, &input));
	OK(session_read(b.s, &key, b.a, &s));
	ck_text(s.pending, NULL);
	OK(turn_append_messages(b.s, &a, &some));
	OK(turn_fixture_append(b.s, &a, two, 2));
	IS(RC_CONFLICT, turn_append_messages(b.s, &w, &none));
	OK(session_read(b.s, &key, b.a, &s));
	ck_text(s.pending, "[\"x\"]");
	OK(turn_fixture_finish(b.s, &a, &none, b.a, &next));
	OK(session_read(b.s, &key, b.a, &s));
	ck_text(s.pending, NULL);
	OK(turn_fixture_finish(b.s, &w, &some, b.a, &next));
	OK(session_append(b.s, &key, two, 2, NULL));
	OK(session_read(b.s, &key, b.a, &s));
	ck_text(s.pending, "[\"x\"]");
	state_fixture_stop(&b);
}

/* The turn of a deleted session does not recreate it. */
TEST(a_deleted_session_is_not_recreated)
{
	struct turn_slot a = slot("i", "a");
	struct session s;
	struct str next;
	int64_t ahead;
	struct state_fixture b;

	start(&b);
	OK(turn_fixture_enter(b.s, &a, &ahead));
	OK(turn_fixture_input(b.s, &a, &two_new, &input));
	OK(session_delete(b.s, &key));
	IS(RC_CONFLICT, turn_fixture_input(b.s, &a, &two_new, &input));
	IS(RC_CONFLICT, turn_fixture_finish(b.s, &a, &two_new, b.a, &next));
	OK(session_read(b.s, &key, b.a, &s));
	ck_assert(!s.known);
	state_fixture_stop(&b);
}

TEST(wrong_arguments_are_rejected)
{
	static const struct str many[SESSION_APPEND_MAX + 1];
	struct turn_slot a = slot("i", "a"), bad = slot("", "a");
	struct session_new none = { .json = two },
			   over = { .json = many, .n = SESSION_APPEND_MAX + 1 };
	struct turn_input no_soul = { STR(""), STR("t"), 0 },
			  no_body = { STR("s"), STR(""), 0 },
			  superseded = { STR("s"), STR("t"), -1 };
	struct str next;
	int64_t ahead;
	struct state_fixture b;

	start(&b);
	OK(turn_fixture_enter(b.s, &a, &ahead));
	IS(RC_INVALID, turn_fixture_input(b.s, &a, &none, &input));
	IS(RC_INVALID, turn_fixture_input(b.s, &a, &over, &input));
	IS(RC_INVALID, turn_fixture_input(b.s, &a, &two_new, &no_soul));
	IS(RC_INVALID, turn_fixture_input(b.s, &a, &two_new, &no_body));
	IS(RC_INVALID, turn_fixture_input(b.s, &a, &two_new, &superseded));
	IS(RC_INVALID, turn_fixture_input(b.s, &bad, &two_new, &input));
	IS(RC_INVALID, turn_fixture_finish(b.s, &a, &none, b.a, &next));
	IS(RC_INVALID, turn_fixture_finish(b.s, &a, &over, b.a, &next));
	count_is(&b, 0);
	OK(turn_check_head(b.s, &a));
	state_fixture_stop(&b);
}

/* Redis without memory is down; that is not a full queue. */
TEST(out_of_memory_is_not_a_full_queue)
{
	struct turn_slot p = slot("i", "t");
	int64_t ahead;
	struct state_fixture b;

	start(&b);
	state_fixture_command(&b, "CONFIG SET maxmemory 1");
	IS(RC_DOWN, turn_fixture_enter(b.s, &p, &ahead));
	state_fixture_command(&b, "CONFIG SET maxmemory 0");
	OK(turn_fixture_enter(b.s, &p, &ahead));
	state_fixture_stop(&b);
}

static enum rc
enter_as(
    struct state_fixture *b, const struct turn_slot *p, struct turn_entered *in)
{
	struct turn_entry e = { .fingerprint = STR("said") };

	return turn_enter(b->s, p, &e, b->a, in);
}

/* ---- entering with the input ---- */

static const struct str started[] = { STR_INIT("{\"e\":1}") };

/* The turn with two messages and an event, and what becomes of them. */
static enum rc
enter_with(
    struct state_fixture *b, const struct turn_slot *p, struct turn_entered *in)
{
	struct turn_events events = { .json = started, .n = 1 };
	const struct turn_entry e = { .fingerprint = STR("said"),
		.input = &input,
		.messages = &two_new,
		.events = &events,
		.acting = true };
	enum rc rc = turn_enter(b->s, p, &e, b->a, in);

	ck_assert_int_eq(events.seq > 0, rc == RC_OK && in->begun);
	return rc;
}

static bool
may_have_acted(struct state_fixture *b, const struct turn_slot *p)
{
	const struct turn_abandoning e = { .reply = STR("lost"),
		.acted = STR("acted") };
	struct turn_abandoned was;

	OK(turn_abandon(b->s, p, &e, b->a, &was));
	return was.acting;
}

TEST(the_head_enters_with_its_input)
{
	struct turn_slot a = slot("i", "a"), w = slot("i", "b");
	struct turn_ending end = { .reply = STR("failed"), .forget = true };
	struct turn_entry other = { .fingerprint = STR("other") };
	struct turn_entered in;
	struct state_fixture b;
	struct session s;

	start(&b);
	OK(enter_with(&b, &a, &in));
	ck_assert(in.begun && in.ahead == 0);
	count_is(&b, 2);
	OK(session_read(b.s, &key, b.a, &s));
	ck_text(s.soul_id, "灵魂");
	ck_text(s.terminal_id, "t1");
	/* One that waits, and one that repeats it, store nothing. */
	OK(turn_enter(b.s, &w, &other, b.a, &in));
	ck_assert(!in.begun && in.ahead == 1);
	a.turn_id = STR("c");
	IS(RC_CONFLICT, enter_with(&b, &a, &in));
	ck_text(in.first, "a");
	count_is(&b, 2);
	OK(turn_leave(b.s, &w, &end, b.a));
	/* It ends without effect: its retry has the input already. */
	a.turn_id = STR("a");
	OK(turn_leave(b.s, &a, &end, b.a));
	a.turn_id = STR("d");
	OK(enter_with(&b, &a, &in));
	ck_assert(in.begun && in.ahead == 0);
	ck_text(in.input, "a");
	count_is(&b, 2);
	state_fixture_stop(&b);
}

TEST(a_turn_that_enters_may_act_until_it_is_unmarked)
{
	struct turn_slot a = slot("i", "a");
	struct turn_entered in;
	struct state_fixture b;

	start(&b);
	OK(enter_with(&b, &a, &in));
	ck_assert(may_have_acted(&b, &a));
	restart(&b);
	OK(enter_with(&b, &a, &in));
	OK(turn_unmark_acting(b.s, &a));
	OK(turn_mark_acting(b.s, &a));
	ck_assert(may_have_acted(&b, &a));
	restart(&b);
	OK(enter_with(&b, &a, &in));
	OK(turn_unmark_acting(b.s, &a));
	ck_assert(!may_have_acted(&b, &a));
	IS(RC_CONFLICT, turn_unmark_acting(b.s, &a));
	state_fixture_stop(&b);
}

/* A soul that was deleted meanwhile: no turn, no input. */
TEST(a_turn_needs_a_soul)
{
	struct turn_slot a = slot("i", "a"), w = slot("i", "w");
	struct turn_input missing = { STR("missing"), STR("t1"), 60000 };
	struct turn_entered in;
	struct state_fixture b;
	int64_t ahead;

	start(&b);
	OK(soul_delete(b.s, key.user_id, STR("灵魂"), NULL));
	IS(RC_NOENT, enter_with(&b, &a, &in));
	IS(RC_NOENT, turn_fixture_poll(b.s, &a, &ahead));
	OK(turn_fixture_enter(b.s, &w, &ahead));
	ck_assert_int_eq(ahead, 0);
	IS(RC_NOENT, turn_fixture_input(b.s, &w, &two_new, &input));
	IS(RC_NOENT, turn_fixture_input(b.s, &w, &two_new, &missing));
	count_is(&b, 0);
	state_fixture_stop(&b);
}

/* What is of another type is found before the first write. */
TEST(a_turn_whose_input_cannot_be_stored_does_not_enter)
{
	static const struct str wrong[] = { STR_INIT("soul:idle:{b0562}:1"),
		STR_INIT("soul:session:{b0562}:u:~cyAx"),
		STR_INIT("soul:messages:{b0562}:u:~cyAx") };
	struct turn_slot a = slot("i", "a");
	struct turn_entered in;
	struct state_fixture b;
	int64_t ahead;

	start(&b);
	for (size_t i = 0; i < NELEM(wrong); i++) {
		DO(&b, STR("SET"), wrong[i], STR("text"));
		IS(RC_INVALID, enter_with(&b, &a, &in));
		DO(&b, STR("DEL"), wrong[i]);
		OK(turn_fixture_enter(b.s, &a, &ahead));
		ck_assert_int_eq(ahead, 0);
		OK(turn_fixture_leave(b.s, &a, b.a, &(struct str){ 0 }));
		count_is(&b, 0);
		restart(&b);
	}
	state_fixture_stop(&b);
}

/* Abandoned before its start arrived, in its queue, and after its end. */
TEST(abandoning_ends_a_turn)
{
	struct turn_slot p = slot("i", "t"), by = slot("g", "t");
	struct turn_abandoning e = { .reply = STR("lost"),
		.acted = STR("acted") };
	struct turn_ending end = { .reply = STR("done") };
	struct turn_entered in;
	struct turn_abandoned was;
	struct state_fixture b;

	start(&b);
	OK(turn_abandon(b.s, &by, &e, b.a, &was));
	ck_assert(was.reply.n == 0 && !was.acting);
	IS(RC_CONFLICT, enter_as(&b, &p, &in));
	ck_text(in.first, NULL);

	p.turn_id = by.turn_id = STR("t2");
	OK(enter_as(&b, &p, &in));
	OK(turn_check_head(b.s, &p));
	OK(turn_abandon(b.s, &by, &e, b.a, &was));
	ck_assert(was.reply.n == 0 && !was.acting);
	IS(RC_CONFLICT, turn_check_head(b.s, &p));
	IS(RC_CONFLICT, turn_mark_acting(b.s, &p));
	OK(turn_abandon(b.s, &by, &e, b.a, &was));
	ck_text(was.reply, "lost");

	/* It had no effect, so this is no retry; after an action it is. */
	p.turn_id = by.turn_id = STR("t3");
	OK(enter_as(&b, &p, &in));
	OK(turn_mark_acting(b.s, &p));
	OK(turn_abandon(b.s, &by, &e, b.a, &was));
	ck_assert(was.reply.n == 0 && was.acting);
	OK(turn_abandon(b.s, &by, &e, b.a, &was));
	ck_text(was.reply, "acted");
	p.turn_id = STR("t4");
	IS(RC_CONFLICT, enter_as(&b, &p, &in));
	ck_text(in.first, "t3");

	p.turn_id = by.turn_id = STR("t5");
	OK(turn_enter(b.s, &p,
	    &(struct turn_entry){ .fingerprint = { NULL, 0 } }, b.a, &in));
	OK(turn_leave(b.s, &p, &end, b.a));
	OK(turn_abandon(b.s, &by, &e, b.a, &was));
	ck_text(was.reply, "done");
	state_fixture_stop(&b);
}

/* The stored input of a failed turn is the retry's, however often. */
TEST(a_retry_finds_its_input_stored)
{
	struct str fingerprint = STR("{\"m\":1}"), event = STR("{\"e\":1}");
	struct turn_input from = { STR("soul"), STR("term"), 1000 };
	struct turn_ending end = { .reply = STR("failed"), .forget = true };
	const char *ids[] = { "t1", "t2", "t3" };
	struct session_page page = { .after = -1, .max = 9 };
	struct session_list list;
	struct turn_entered in;
	struct state_fixture b;

	start(&b);
	for (size_t i = 0; i < NELEM(ids); i++) {
		struct turn_slot p = slot("i", ids[i]);
		struct turn_events events = { &event, 1, 0, false };
		OK(enter_as(&b, &p, &in));
		ck_text(in.input, i == 0 ? NULL : "t1");
		if (i == 0)
			OK(turn_append_input(b.s, &p,
			    &(struct session_new){
				.json = &fingerprint, .n = 1 },
			    &from, &events));
		else
			OK(turn_resume_input(b.s, &p, &from, &events));
		OK(turn_leave(b.s, &p, &end, b.a));
	}
	OK(session_messages(b.s, &key, page, b.a, &list));
	ck_assert_uint_eq(list.n, 1);
	state_fixture_stop(&b);
}

/* It is written after the turn has ended, and only then. */
TEST(the_time_of_the_commit_is_added_to_the_record)
{
	struct turn_slot a = slot("i1", "a"), w = slot("i1", "b");
	struct turn_ending end = { .reply = STR("{}") };
	const struct str turns[] = { a.turn_id, w.turn_id, STR("none") };
	struct turn_record rec;
	struct state_fixture b;
	struct state_pipe *p;
	int64_t ahead;
	size_t i;

	state_fixture_start(&b);
	OK(turn_fixture_enter(b.s, &a, &ahead));
	OK(turn_fixture_enter(b.s, &w, &ahead));
	OK(turn_finish(b.s, &a, &two_new, &end, b.a));
	p = state_pipe_new(b.s, 4);
	for (i = 0; i < NELEM(turns); i++)
		OK(turn_put_commit_time(p, key.user_id, turns[i], 1250));
	IS(RC_INVALID, turn_put_commit_time(p, key.user_id, a.turn_id, -1));
	OK(state_pipe_run(p));
	state_pipe_free(p);
	OK(turn_record_read(b.s, key.user_id, a.turn_id, b.a, &rec));
	ck_assert_int_eq(rec.commit_us, 1250);
	OK(turn_record_read(b.s, key.user_id, w.turn_id, b.a, &rec));
	ck_assert(rec.known);
	ck_assert_int_eq(rec.commit_us, 0);
	OK(turn_record_read(b.s, key.user_id, STR("none"), b.a, &rec));
	ck_assert(!rec.known);
	state_fixture_stop(&b);
}
