/* Topics and subjects. */
#include <string.h>

#include "address.h"
#include "core/mem.h"
#include "testkit/testkit.h"

#define LONG                                                               \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

TEST(prefix_validation)
{
	static const char *const good[] = { "soul", "a/b/c", "灯/1", "a b" };
	static const char *const bad[] = { "", "/a", "a/", "a//b", "a/+", "#",
		"a\x01", "$share", "\xff", "$SYS/x" };
	char longest[ADDRESS_PREFIX_MAX + 2];
	size_t i;

	for (i = 0; i < NELEM(good); i++)
		ck_assert_msg(
		    address_prefix_valid(str_of(good[i])), "%s", good[i]);
	for (i = 0; i < NELEM(bad); i++)
		ck_assert_msg(
		    !address_prefix_valid(str_of(bad[i])), "%s", bad[i]);
	ck_assert(!address_prefix_valid((struct str){ NULL, 0 }));
	for (i = 0; i < sizeof(longest) - 1; i++)
		longest[i] = i % 100 == 99 ? '/' : 'a';
	longest[i] = '\0';
	ck_assert(!address_prefix_valid(str_of(longest)));
	longest[ADDRESS_PREFIX_MAX] = '\0';
	ck_assert(address_prefix_valid(str_of(longest)));
}

static const struct {
	const char *prefix, *topic;
	enum rc rc;
	size_t row;
	const char *terminal, *request;
} parses[] = {
	{ "soul", "soul/terminal/t1/online", RC_OK, WIRE_TOPIC_ONLINE, "t1",
	    NULL },
	{ "soul", "soul/terminal/t1/heartbeat", RC_OK, WIRE_TOPIC_HEARTBEAT,
	    "t1", NULL },
	{ "soul", "soul/terminal/t1/skills", RC_OK, WIRE_TOPIC_SKILLS, "t1",
	    NULL },
	{ "a/b", "a/b/terminal/灯/intent_catalog", RC_OK,
	    WIRE_TOPIC_INTENT_CATALOG, "灯", NULL },
	{ "soul", "soul/terminal/t1/result/r1", RC_OK, WIRE_TOPIC_RESULT, "t1",
	    "r1" },
	{ "soul", "soul/terminal/" LONG "/result/" LONG, RC_OK,
	    WIRE_TOPIC_RESULT, LONG, LONG },
	/* A prefix that contains the fixed level itself. */
	{ "a/terminal/b", "a/terminal/b/terminal/t/skills", RC_OK,
	    WIRE_TOPIC_SKILLS, "t", NULL },
	{ "soul", "soul/terminal/terminal/skills", RC_OK, WIRE_TOPIC_SKILLS,
	    "terminal", NULL },
	/* Not a topic that terminals publish. */
	{ "soul", "soul/terminal/t1/invoke/r1", RC_NOENT, 0, "", NULL },
	{ "soul", "soul/terminal/t1/status", RC_NOENT, 0, "", NULL },
	{ "soul", "soul/terminal/t1/result", RC_NOENT, 0, "", NULL },
	{ "soul", "soul/terminal/t1/skills/x", RC_NOENT, 0, "", NULL },
	{ "soul", "soul/terminal/t1", RC_NOENT, 0, "", NULL },
	{ "soul", "soul/terminal/", RC_NOENT, 0, "", NULL },
	{ "soul", "soul/terminals/t1/skills", RC_NOENT, 0, "", NULL },
	{ "soul", "soulx/terminal/t1/skills", RC_NOENT, 0, "", NULL },
	{ "soul", "x/soul/terminal/t1/skills", RC_NOENT, 0, "", NULL },
	{ "soul/x", "soul/terminal/t1/skills", RC_NOENT, 0, "", NULL },
	{ "soul", "", RC_NOENT, 0, "", NULL },
	/* Invalid ids. */
	{ "soul", "soul/terminal//skills", RC_INVALID, 0, "", NULL },
	{ "soul", "soul/terminal/a\x01/skills", RC_INVALID, 0, "", NULL },
	{ "soul", "soul/terminal/a\x7f/online", RC_INVALID, 0, "", NULL },
	{ "soul", "soul/terminal/\xff/online", RC_INVALID, 0, "", NULL },
	{ "soul", "soul/terminal/" LONG "c/online", RC_INVALID, 0, "", NULL },
	{ "soul", "soul/terminal/t+/online", RC_INVALID, 0, "", NULL },
	{ "soul", "soul/terminal/t1/result/", RC_INVALID, 0, "", NULL },
	{ "soul", "soul/terminal/t1/result/a/b", RC_INVALID, 0, "", NULL },
	{ "soul", "soul/terminal/t1/result/a\n", RC_INVALID, 0, "", NULL },
	{ "soul", "soul/terminal/t1/result/" LONG "c", RC_INVALID, 0, "",
	    NULL },
};

TEST(topics_are_parsed)
{
	struct address a;
	enum rc rc;
	size_t i;

	for (i = 0; i < NELEM(parses); i++) {
		rc = address_parse(
		    str_of(parses[i].prefix), str_of(parses[i].topic), &a);
		ck_assert_msg(
		    rc == parses[i].rc, "%s: %s", parses[i].topic, rc_name(rc));
		if (rc != RC_OK)
			continue;
		ck_assert_uint_eq(a.row, parses[i].row);
		ck_assert(str_eq(a.terminal, str_of(parses[i].terminal)));
		ck_assert(str_eq(a.request_id, str_of(parses[i].request)));
		ck_assert_int_eq(
		    a.request_id.p == NULL, parses[i].request == NULL);
	}
}

TEST(formatted_topics_parse_back)
{
	static const char *const prefix_validation[] = { "soul", "a/b/c" };
	static const char *const bad[] = { "", "a/b", "a+", "#", "\x01" };
	struct address a, got;
	char text[ADDRESS_TOPIC_MAX];
	struct str t;
	size_t i, p;

	for (p = 0; p < NELEM(prefix_validation); p++) {
		for (i = 0; i < wire_topics_n; i++) {
			a = (struct address){ i, STR(LONG), STR("r 1") };
			ck_assert_int_eq(
			    address_topic(
				str_of(prefix_validation[p]), &a, text, &t),
			    RC_OK);
			ck_assert(str_starts(t, str_of(prefix_validation[p])));
			if (!wire_topics[i].from_body)
				continue;
			ck_assert_int_eq(
			    address_parse(
				str_of(prefix_validation[p]), t, &got),
			    RC_OK);
			ck_assert_uint_eq(got.row, i);
			ck_assert(str_eq(got.terminal, a.terminal));
		}
	}
	a = (struct address){ WIRE_TOPIC_INVOKE, STR("t1"), STR("r1") };
	ck_assert_int_eq(address_topic(STR("soul"), &a, text, &t), RC_OK);
	ck_assert_str_eq(text, "soul/terminal/t1/invoke/r1");
	a.row = WIRE_TOPIC_EMOTION_UPDATE;
	ck_assert_int_eq(address_topic(STR("soul"), &a, text, &t), RC_OK);
	ck_assert_str_eq(text, "soul/terminal/t1/emotion_update");
	for (i = 0; i < NELEM(bad); i++) {
		a = (struct address){ WIRE_TOPIC_INVOKE, STR("t1"),
			str_of(bad[i]) };
		ck_assert_int_eq(
		    address_topic(STR("soul"), &a, text, &t), RC_INVALID);
		a = (struct address){ WIRE_TOPIC_STATUS, str_of(bad[i]),
			{ NULL, 0 } };
		ck_assert_int_eq(
		    address_topic(STR("soul"), &a, text, &t), RC_INVALID);
	}
}

TEST(filters_match_all_terminals)
{
	char text[ADDRESS_TOPIC_MAX];

	ck_assert(str_eq(address_filter(STR("a/b"), WIRE_TOPIC_SKILLS, text),
	    STR("a/b/terminal/+/skills")));
	ck_assert(str_eq(address_filter(STR("soul"), WIRE_TOPIC_RESULT, text),
	    STR("soul/terminal/+/result/+")));
}

TEST(command_subjects_name_a_terminal)
{
	static const struct {
		const char *subject, *terminal;
	} cases[] = {
		{ "soul.body.main.t1.invoke", "t1" },
		{ "soul.body.main.~54Gv.status", "灯" },
		{ "soul.body.main.~YS9i.status", NULL }, /* a/b */
		{ "soul.body.main.~.invoke", NULL },
		{ "soul.body.main.a b.invoke", NULL },
		{ "soul.body.main", NULL },
		{ "soul.body.main.", NULL },
		{ "", NULL },
	};
	char terminal[ID_MAX + 1];
	enum rc rc;
	size_t i;

	for (i = 0; i < NELEM(cases); i++) {
		rc = address_command_terminal(
		    str_of(cases[i].subject), terminal);
		if (cases[i].terminal == NULL) {
			ck_assert_msg(rc == RC_INVALID, "%s", cases[i].subject);
			continue;
		}
		ck_assert_msg(rc == RC_OK, "%s", cases[i].subject);
		ck_assert_str_eq(terminal, cases[i].terminal);
	}
}
