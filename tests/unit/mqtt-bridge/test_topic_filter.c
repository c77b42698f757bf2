/* What a body may subscribe to. */
#include <stdio.h>

#include "broker-plugin/topic_filter.h"
#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"

#define RULES                                         \
	"# a comment\n"                               \
	"pattern write soul/terminal/%u/online\n"     \
	"pattern read soul/terminal/%u/invoke/+\n"    \
	"  pattern read  soul/terminal/%u/status\r\n" \
	"user x\ntopic read #\n"                      \
	"pattern readwrite soul/terminal/%u/both\n"

static struct topic_filters *
rules(const char *text)
{
	struct topic_filters *f;

	ck_assert_int_eq(topic_filters_new(str_of(text), &f), RC_OK);
	return f;
}

TEST(what_is_its_own)
{
	static const char *const own[] = { "soul/terminal/t1/invoke/+",
		"soul/terminal/t1/invoke/#", "soul/terminal/t1/+/+",
		"soul/terminal/t1/+/#", "soul/terminal/t1/#",
		"soul/terminal/t1/status", "soul/terminal/t1/+",
		"soul/terminal/t1/status" };
	static const char *const others[] = { "", "#", "+", "/", "+/#",
		"soul/#", "soul/terminal/#", "soul/terminal/+/status",
		"soul/terminal/+/#", "+/terminal/t1/status", "soul/+/t1/status",
		"soul/terminal/t2/status", "soul/terminal/t1",
		"soul/terminal/t1/", "soul/terminal/t1//",
		"soul/terminal/t1/#/", "soul/terminal/t1/#/status",
		"soul/terminal/t1/online", "soul/terminal/t1/both",
		"soul/terminal/t1/invoke", "soul/terminal/t1/invoke/",
		"soul/terminal/t1/invoke/r1", "soul/terminal/t1/invoke/+/+",
		"soul/terminal/t1/invoke/+/#", "soul/terminal/t1/status/",
		"soul/terminal/t1/status/+", "soul/terminal/t1/statu",
		"soul/terminal/%u/status", "/soul/terminal/t1/status",
		"$share/g/soul/terminal/t1/status", "$SYS/#", "$CONTROL/#" };
	struct topic_filters *f = rules(RULES);
	size_t i;

	for (i = 0; i < NELEM(own); i++)
		ck_assert_msg(topic_filters_allow(f, STR("t1"), str_of(own[i])),
		    "%s", own[i]);
	for (i = 0; i < NELEM(others); i++)
		ck_assert_msg(
		    !topic_filters_allow(f, STR("t1"), str_of(others[i])), "%s",
		    others[i]);
	ck_assert(!topic_filters_allow(f, STR("t1"), (struct str){ NULL, 0 }));
	topic_filters_free(f);
}

TEST(users_that_stand_for_others)
{
	static const char *const users[] = { NULL, "", "+", "#", "a/b", "t1+",
		"%u/x" };
	struct topic_filters *f = rules(RULES);
	char filter[64];
	size_t i;

	for (i = 0; i < NELEM(users); i++) {
		snprintf(filter, sizeof(filter), "soul/terminal/%s/status",
		    users[i] != NULL ? users[i] : "");
		ck_assert_msg(
		    !topic_filters_allow(f, str_of(users[i]), str_of(filter)),
		    "%s", filter);
	}
	topic_filters_free(f);
}

TEST(rules_that_are_none)
{
	static const struct {
		const char *text;
		enum rc rc;
	} cases[] = {
		{ "", RC_NOENT },
		{ "pattern write a/%u/b\n", RC_NOENT },
		{ "pattern read a/b\n", RC_INVALID },
		{ "pattern read a/x%u/b\n", RC_INVALID },
		{ "pattern read a/%u/#\n", RC_INVALID },
		{ "pattern read a/%u\npattern read #", RC_INVALID },
		{ "pattern read %u", RC_OK },
	};
	struct topic_filters *f;
	struct buf many = BUF_INIT(65536);
	size_t i;

	for (i = 0; i < NELEM(cases); i++) {
		ck_assert_int_eq(
		    topic_filters_new(str_of(cases[i].text), &f), cases[i].rc);
		ck_assert((f != NULL) == (cases[i].rc == RC_OK));
		topic_filters_free(f);
	}
	for (i = 0; i < TOPIC_FILTER_RULES_MAX; i++)
		buf_printf(&many, "pattern read %zu/%%u\n", i);
	ck_assert_int_eq(topic_filters_new(buf_str(&many), &f), RC_OK);
	ck_assert(topic_filters_allow(f, STR("t"), STR("63/t")));
	topic_filters_free(f);
	buf_puts(&many, "pattern read x/%u\n");
	ck_assert_int_eq(topic_filters_new(buf_str(&many), &f), RC_TOOBIG);
	buf_free(&many);
}
