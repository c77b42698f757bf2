/* Sentences about tasks that earlier turns gave engines. */
#include "core/mem.h"
#include "testkit/testkit.h"
#include "tools/run_report.h"

#define RUN \
	"\"run_id\":\"20260221T091252-codex-0e67f51a\",\"engine\":\"codex\","

#define ALARM "\"run_id\":\"al_1\",\"engine\":\"alarm_clock\","

static void
is(const char *note, const char *before, const char *text)
{
	struct arena *a = arena_new(1024 * 1024);
	struct str json = str_of(note);
	const struct session_notes notes = { &json, 1 };
	struct str s = run_report_sentences(
	    &notes, before != NULL ? str_of(before) : (struct str){ 0 }, a);

	if (text == NULL)
		ck_assert_ptr_null(s.p);
	else
		ck_assert_msg(str_eq(s, str_of(text)), "%.*s", STR_ARG(s));
	arena_free(a);
}

TEST(each_state_has_its_sentence)
{
	is("{" RUN "\"title\":\"修复测试\",\"state\":\"succeeded\",\"text\":"
	   "\"改好了。\"}",
	    "", "之前交给codex的任务“修复测试”已经完成：改好了。");
	is("{" RUN "\"title\":\"demo\",\"state\":\"succeeded\"}", "好。",
	    "好。之前交给codex的任务“demo”已经完成。");
	is("{" RUN "\"title\":\"demo\",\"state\":\"waiting_user\",\"text\":"
	   "\"Which one?\"}",
	    "", "之前交给codex的任务“demo”在等你回答：Which one?");
	is("{" RUN "\"title\":\"demo\",\"state\":\"failed\",\"error\":{"
	   "\"code\":\"NETWORK\",\"message\":\"reset by peer\"}}",
	    "", "之前交给codex的任务“demo”没有完成：reset by peer。");
	is("{" RUN "\"title\":\"demo\",\"state\":\"failed\",\"error\":{"
	   "\"code\":\"RUN_LOST\"}}",
	    "", "之前交给codex的任务“demo”没有完成：RUN_LOST。");
	is("{" RUN "\"title\":\"demo\",\"state\":\"canceled\",\"text\":\"x\"}",
	    "", "之前交给codex的任务“demo”已经取消。");
	/* Of alarm-clock. */
	is("{" ALARM "\"title\":\"喝水\",\"state\":\"missed\"}", "好。",
	    "好。之前的提醒“喝水”错过了，没有送达。");
	is("{" ALARM "\"title\":\"\",\"state\":\"missed\"}", "",
	    "之前有一个闹钟错过了，没有送达。");
}

TEST(what_is_no_note_is_left_out)
{
	is("{}", "好。", "好。");
	is("[", "", "");
	is("{" RUN "\"title\":\"demo\",\"state\":\"canceled\"}", NULL, NULL);
}

TEST(words_of_an_engine_are_shortened)
{
	struct arena *a = arena_new(1024 * 1024);
	struct buf b = BUF_INIT(8192);
	struct session_notes notes = { .n = 1 };
	struct str json, s;

	buf_puts(&b,
	    "{" RUN "\"title\":\"demo\",\"state\":\"succeeded\",\"text\":\"");
	for (int i = 0; i < 600; i++)
		buf_puts(&b, "灯");
	buf_puts(&b, "\"}");
	json = buf_str(&b);
	notes.json = &json;
	s = run_report_sentences(&notes, STR(""), a);
	ck_assert_uint_lt(s.n, 800);
	ck_assert(str_ends(s, STR("灯……")));
	buf_free(&b);
	arena_free(a);
}
