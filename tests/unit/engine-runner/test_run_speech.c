/* What is said of a run that has ended. */
#include "core/mem.h"
#include "run_speech.h"
#include "state/run.h"
#include "testkit/testkit.h"

static const struct run_record ended = { .run_id = STR_INIT("run_1"),
	.user_id = STR_INIT("ann"),
	.session_id = STR_INIT("s1"),
	.engine = STR_INIT("codex"),
	.title = STR_INIT("demo"),
	.status = RUN_IS_SUCCEEDED,
	.attempt = 2 };

TEST(a_run_of_a_conversation_is_spoken_about)
{
	struct arena *a = arena_new(65536);
	struct run_record rec = ended;
	struct wire_speak_request m, other;

	ck_assert_int_eq(
	    run_speech_make(&rec, STR(" 写好了。\n"), a, &m), RC_OK);
	ck_assert(str_eq(m.user_id, STR("ann")));
	ck_assert(str_eq(m.session_id, STR("s1")));
	ck_assert(str_eq(m.title, STR("demo")));
	ck_assert(
	    str_eq(m.text, STR("之前交给codex的任务“demo”已经完成：写好了。")));
	ck_assert(!m.verbatim);
	ck_assert_int_eq(m.reason, WIRE_SPEAK_REQUEST_REASON_RUN);
	/* The same request, however often it is made. */
	ck_assert_int_eq(
	    run_speech_make(&rec, (struct str){ NULL, 0 }, a, &other), RC_OK);
	ck_assert(str_eq(m.request_id, other.request_id));
	ck_assert(
	    str_eq(other.text, STR("之前交给codex的任务“demo”已经完成。")));
	rec.attempt = 3;
	rec.status = RUN_IS_FAILED;
	ck_assert_int_eq(
	    run_speech_make(&rec, (struct str){ NULL, 0 }, a, &other), RC_OK);
	ck_assert(!str_eq(m.request_id, other.request_id));
	ck_assert(str_ends(other.text, STR("没有完成。")));
	arena_free(a);
}

TEST(other_runs_are_not_spoken_about)
{
	struct arena *a = arena_new(65536), *full = arena_new(16);
	struct run_record rec = ended;
	struct wire_speak_request m;

	rec.status = RUN_IS_CANCELED;
	ck_assert_int_eq(run_speech_make(&rec, STR("x"), a, &m), RC_NOENT);
	rec = ended;
	rec.session_id = (struct str){ NULL, 0 };
	ck_assert_int_eq(run_speech_make(&rec, STR("x"), a, &m), RC_NOENT);
	ck_assert_int_eq(
	    run_speech_make(&ended, STR("x"), full, &m), RC_TOOBIG);
	arena_free(full);
	arena_free(a);
}
