/*
 * The question whether a tool may be used, and the replies to it.
 */
#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "tools/approval.h"
#include "tools/provided.h"

#define ROOM ((size_t)1024 * 1024)

TEST(replies_are_on_a_closed_list)
{
	static const struct {
		const char *text;
		enum approval_reply reply;
	} rows[] = {
		{ "可以", APPROVAL_THIS_TIME },
		{ "  可以。 ", APPROVAL_THIS_TIME },
		{ "好的！", APPROVAL_THIS_TIME },
		{ "YES", APPROVAL_THIS_TIME },
		{ "Ok.", APPROVAL_THIS_TIME },
		{ "once", APPROVAL_THIS_TIME },
		{ "这次可以", APPROVAL_THIS_TIME },
		{ "一直可以", APPROVAL_ALWAYS },
		{ "always", APPROVAL_ALWAYS },
		{ "Yes, always", APPROVAL_ALWAYS },
		{ "不要", APPROVAL_NO },
		{ "不要。", APPROVAL_NO },
		{ "No!", APPROVAL_NO },
		{ "别", APPROVAL_NO },
		{ "", APPROVAL_OTHER },
		{ "。", APPROVAL_OTHER },
		{ "可以吗", APPROVAL_OTHER },
		{ "不可以不", APPROVAL_OTHER },
		{ "可以，不过先等一下", APPROVAL_OTHER },
		{ "yes but not now", APPROVAL_OTHER },
		{ "|", APPROVAL_OTHER },
		{ "yes|y", APPROVAL_OTHER },
	};

	for (size_t i = 0; i < NELEM(rows); i++)
		ck_assert_msg(
		    approval_read_reply(str_of(rows[i].text)) == rows[i].reply,
		    "%s", rows[i].text);
}

static const struct turn_provided provided = { .provider = STR_INIT("mcp-host"),
	.server = STR_INIT("fs"),
	.tool = STR_INIT("write_file"),
	.definition = STR_INIT("0f1e2d3c4b5a69788796a5b4c3d2e1f0"
			       "0f1e2d3c4b5a69788796a5b4c3d2e1f0"),
	.timeout_s = 60 };

static struct wire_session_approval
make(struct arena *a, const char *args, const char *user_text)
{
	struct turn_call call = { .kind = TURN_PROVIDED,
		.outcome = TURN_UNAPPROVED,
		.skill = STR("fs__write_file"),
		.label = STR("write_file"),
		.args = arena_str(a, str_of(args)),
		.provided = &provided };
	struct approval_input in = { .call = &call,
		.turn_id = STR("turn_1"),
		.soul_id = STR("soul_1"),
		.terminal_id = STR("t1"),
		.user_text = str_of(user_text),
		.now = 1000 };
	struct wire_session_approval m;

	ck_assert_int_eq(approval_make(&in, a, &m), RC_OK);
	return m;
}

TEST(the_question_has_everything_in_full)
{
	struct arena *a = arena_new(ROOM);
	struct fcmp_question q;

	struct wire_session_approval m =
	    make(a, "{\"path\":\"a.txt\"}", "写到 a.txt");
	ck_assert(str_eq(m.prompt,
	    STR("要用 fs 的工具「write_file」，参数是 {\"path\":\"a.txt\"}。"
		"可以吗？（这次可以 / 一直可以 / 不要）")));
	approval_question(&m, &q);
	ck_assert_uint_eq(q.n_options, 3);
	ck_assert(str_eq(q.options[1].label, STR("一直可以")));
	ck_assert_int_eq(m.expires_ms, 1000 + APPROVAL_MS);
	m = make(a, "{\"path\":\"a.txt\"}", "write a.txt");
	ck_assert(str_eq(m.prompt,
	    STR("May I use the tool \"write_file\" of fs with the arguments "
		"{\"path\":\"a.txt\"}? (this time / always / no)")));
	approval_question(&m, &q);
	ck_assert(str_eq(q.options[1].label, STR("always")));
	/* Nothing hides in it. */
	m = make(a, "{\"path\":\"a\u202etxt.exe\u200b\"}", "x");
	ck_assert_int_gt(str_find(m.prompt, STR("a\\u202etxt.exe\\u200b")), 0);
	arena_free(a);
}

TEST(characters_that_are_not_seen_are_written_out)
{
	static const struct {
		const char *text, *shown;
	} rows[] = {
		{ "a\u00adb", "a\\u00adb" },
		{ "\u061c", "\\u061c" },
		{ "\u180e", "\\u180e" },
		{ "\u2029", "\\u2029" },
		{ "\ufe00\ufe0f", "\\ufe00\\ufe0f" },
		{ "\U000e0000", "\\udb40\\udc00" },
		{ "\U000e0041", "\\udb40\\udc41" },
		{ "\U000e007f", "\\udb40\\udc7f" },
		{ "\U000e0100\U000e01ef", "\\udb40\\udd00\\udb40\\uddef" },
		{ "é中\U0001f600", "é中\U0001f600" },
	};
	struct arena *a = arena_new(ROOM);
	char args[64];

	for (size_t i = 0; i < NELEM(rows); i++) {
		snprintf(args, sizeof(args), "{\"a\":\"%s\"}", rows[i].text);
		struct wire_session_approval m = make(a, args, "x");
		snprintf(args, sizeof(args), "{\"a\":\"%s\"}", rows[i].shown);
		ck_assert_msg(str_find(m.prompt, str_of(args)) > 0, "%zu", i);
		ck_assert(approval_is_intact(&m));
	}
	arena_free(a);
}

/* {"text":"<n times each>"} */
static struct str
args_of(struct buf *b, const char *each, size_t n)
{
	buf_reset(b);
	buf_puts(b, "{\"text\":\"");
	for (size_t i = 0; i < n; i++)
		buf_puts(b, each);
	buf_puts(b, "\"}");
	return buf_str(b);
}

TEST(what_cannot_be_shown_is_not_approved)
{
	static const struct {
		const char *each;
		size_t n;
		bool shown;
	} rows[] = {
		{ "x", 15 * 1024, true },
		{ "x", FCMP_PROMPT_MAX, false },
		/* A quote with its backslash takes four bytes. */
		{ "\\\"", 4000, true },
		{ "\\\"", 4100, false },
		/* Two bytes become six characters, four become twelve. */
		{ "\u00ad", 2000, true },
		{ "\u00ad", 2500, false },
		{ "\U000e0041", 1000, true },
		{ "\U000e0041", 1300, false },
		/* Not UTF-8. */
		{ "a\x80", 1, false },
		{ "\xf0\x9f", 1, false },
	};
	struct arena *a = arena_new(ROOM);
	struct buf b = BUF_INIT(ROOM);
	struct wire_session_approval m;

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct turn_call call = { .kind = TURN_PROVIDED,
			.args = args_of(&b, rows[i].each, rows[i].n),
			.provided = &provided };
		struct approval_input in = { .call = &call,
			.user_text = STR("x") };
		ck_assert_msg(
		    approval_is_showable(&provided, call.args) == rows[i].shown,
		    "%zu", i);
		enum rc rc = approval_make(&in, a, &m);
		ck_assert_msg((rc == RC_OK) == rows[i].shown, "%zu", i);
	}
	buf_free(&b);
	arena_free(a);
}

TEST(whatever_is_altered_is_noticed)
{
	struct arena *a = arena_new(ROOM);
	const struct wire_session_approval m = make(a, "{\"n\":1}", "x");
	struct wire_session_approval t;

	ck_assert(approval_is_intact(&m));
	/* The order of keys, and white space, are not what is called. */
	t = m;
	t.arguments = STR("{ \"n\": 1 }");
	ck_assert(approval_is_intact(&t));
	t.arguments = STR("{\"n\":2}");
	ck_assert(!approval_is_intact(&t));
#define ALTERED(member)                             \
	do {                                        \
		t = m;                              \
		t.member = STR("other");            \
		ck_assert(!approval_is_intact(&t)); \
	} while (0)
	ALTERED(provider);
	ALTERED(server);
	ALTERED(tool);
	ALTERED(name);
	ALTERED(definition);
	ALTERED(seal);
	ALTERED(prompt);
	ALTERED(turn_id);
	ALTERED(interaction_id);
	arena_free(a);
}
