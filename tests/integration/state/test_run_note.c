/* What a session is to report of its runs. */
#include <stdio.h>

#include "core/mem.h"
#include "state/keys.h"
#include "state/run.h"
#include "testkit/run_fixture.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

#define ANN STR("ann")

static struct run_record
begin_run(struct state_fixture *b, struct str session)
{
	struct run_new n = run_fixture_new();
	struct run_record rec;

	n.session_id = session;
	OK(run_create(b->s, &n));
	OK(run_claim(b->s, str_of(n.run_id), STR("r1"), b->a, &rec));
	return rec;
}

/* The notes of a session: "<state> …". */
static void
check_notes(struct state_fixture *b, struct str session, const char *states)
{
	const struct session_key k = { ANN, session };
	struct buf got = BUF_INIT(4096);
	struct session_notes notes;
	struct session s;
	size_t i;

	OK(run_notes_read(b->s, &k, b->a, &notes));
	for (i = 0; i < notes.n; i++) {
		ptrdiff_t at = str_find(notes.json[i], STR("\"state\":\""));
		struct str state = { notes.json[i].p + at + 9, 4 };

		ck_assert_int_ge(at, 0);
		if (i > 0)
			buf_putc(&got, ' ');
		buf_put_str(&got, state);
	}
	ck_assert_str_eq(got.n > 0 ? got.p : "", states);
	buf_free(&got);
	OK(session_read(b->s, &k, b->a, &s));
	ck_assert_uint_eq(s.notes.n, notes.n);
	for (i = 0; i < notes.n; i++)
		ck_assert(str_eq(s.notes.json[i], notes.json[i]));
}

TEST(a_question_and_an_end_are_noted_for_the_session)
{
	struct state_fixture b;
	struct run_user_reply reply = { .user_id = ANN,
		.question_id = STR("ix_1"),
		.content = STR("yes") };
	struct run_record rec;

	state_fixture_start(&b);
	rec = begin_run(&b, STR("s1"));
	OK(run_fixture_publish(b.s, &rec, RUN_IS_RUNNING, 1, 1));
	check_notes(&b, STR("s1"), "");
	OK(run_fixture_publish(b.s, &rec, RUN_IS_WAITING, 1, 1));
	check_notes(&b, STR("s1"), "wait");
	check_notes(&b, STR("s2"), "");

	/* Its user knows the question, and has replied. */
	reply.run_id = rec.run_id;
	OK(run_reply(b.s, &reply, b.a, &rec));
	check_notes(&b, STR("s1"), "");
	OK(run_claim(b.s, rec.run_id, STR("r1"), b.a, &rec));
	ck_assert(str_eq(rec.session_id, STR("s1")));
	OK(run_fixture_publish(b.s, &rec, RUN_IS_SUCCEEDED, 1, 1));
	check_notes(&b, STR("s1"), "succ");
	state_fixture_stop(&b);
}

TEST(a_run_of_no_session_is_not_noted)
{
	struct state_fixture b;
	struct run_record rec;

	state_fixture_start(&b);
	rec = begin_run(&b, (struct str){ NULL, 0 });
	ck_assert_ptr_null(rec.session_id.p);
	OK(run_fixture_publish(b.s, &rec, RUN_IS_FAILED, 1, 1));
	check_notes(&b, STR("s1"), "");
	state_fixture_stop(&b);
}

TEST(what_was_reported_is_noted_no_more)
{
	struct state_fixture b;
	const struct session_key k = { ANN, STR("s1") },
				 other = { ANN, STR("s2") };
	struct run_record waits, ends;
	struct session_notes notes;

	state_fixture_start(&b);
	waits = begin_run(&b, STR("s1"));
	ends = begin_run(&b, STR("s1"));
	OK(run_fixture_publish(b.s, &waits, RUN_IS_WAITING, 1, 1));
	OK(run_fixture_publish(b.s, &ends, RUN_IS_CANCELED, 1, 1));
	OK(run_notes_read(b.s, &k, b.a, &notes));
	ck_assert_uint_eq(notes.n, 2);
	/* One of them has changed since it was read. */
	OK(run_fixture_publish(b.s, &waits, RUN_IS_FAILED, 1, 1));
	OK(run_notes_done(b.s, &k, &notes));
	check_notes(&b, STR("s1"), "fail");
	OK(run_notes_done(b.s, &k, &notes));
	check_notes(&b, STR("s1"), "fail");

	OK(run_notes_read(b.s, &k, b.a, &notes));
	OK(run_notes_done(b.s, &other, &notes));
	check_notes(&b, STR("s1"), "fail");
	OK(run_notes_done(b.s, &k, &notes));
	check_notes(&b, STR("s1"), "");
	state_fixture_stop(&b);
}

TEST(a_deleted_run_is_not_reported)
{
	struct state_fixture b;
	struct run_record rec;

	state_fixture_start(&b);
	rec = begin_run(&b, STR("s1"));
	OK(run_fixture_publish(b.s, &rec, RUN_IS_SUCCEEDED, 1, 1));
	OK(run_delete(b.s, rec.run_id, ANN, false));
	check_notes(&b, STR("s1"), "");
	state_fixture_stop(&b);
}

TEST_T(the_oldest_notes_are_removed, 60)
{
	struct state_fixture b;
	const struct session_key k = { ANN, STR("s1") };
	struct session_notes notes;
	struct run_record rec;
	struct str first;
	int i;

	state_fixture_start(&b);
	for (i = 0; i <= RUN_NOTES_MAX; i++) {
		struct run_new new = run_fixture_new();

		new.session_id = STR("s1");
		new.at.ms += 1000 * i;
		OK(run_create(b.s, &new));
		OK(run_claim(b.s, str_of(new.run_id), STR("r1"), b.a, &rec));
		OK(run_fixture_publish(b.s, &rec, RUN_IS_SUCCEEDED, 1, 1));
		if (i == 1)
			first = rec.run_id;
	}
	OK(run_notes_read(b.s, &k, b.a, &notes));
	ck_assert_uint_eq(notes.n, RUN_NOTES_MAX);
	ck_assert_int_ge(str_find(notes.json[0], first), 0);
	state_fixture_stop(&b);
}
