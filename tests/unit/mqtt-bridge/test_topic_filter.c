/* Which topics a terminal may subscribe to and publish. */
#include <stdio.h>
#include <string.h>

#include "broker-plugin/topic_filter.h"
#include "core/buf.h"
#include "core/id.h"
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
parse_rules(const char *text)
{
	struct topic_filters *f;

	ck_assert_int_eq(topic_filters_new(str_of(text), &f), RC_OK);
	return f;
}

TEST(only_own_topics_are_allowed)
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
	struct topic_filters *f = parse_rules(RULES);
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

TEST(user_names_with_wildcards_are_denied)
{
	static const char *const users[] = { NULL, "", "+", "#", "a/b", "t1+",
		"%u/x" };
	struct topic_filters *f = parse_rules(RULES);
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

TEST(invalid_rules_are_rejected)
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

static const char *
name_error(const char *topic, bool retain)
{
	return topic_name_error(STR("t1"), str_of(topic), retain);
}

TEST(retained_results_are_denied)
{
	static const char *const results[] = { "soul/terminal/t1/result/r",
		"a/b/terminal/t1/result/", "t1/result/r/more" };
	static const char *const others[] = { "", "/", "t1", "t1/result",
		"soul/terminal/t1/result", "soul/terminal/t1/online",
		"soul/terminal/result/online", "soul/terminal/t2/result/r",
		"result/r", "soul/t1/x/result/r" };
	size_t i;

	for (i = 0; i < NELEM(results); i++) {
		ck_assert_ptr_null(name_error(results[i], false));
		ck_assert_msg(
		    name_error(results[i], true) != NULL, "%s", results[i]);
	}
	for (i = 0; i < NELEM(others); i++) {
		ck_assert_ptr_null(name_error(others[i], false));
		ck_assert_msg(
		    name_error(others[i], true) == NULL, "%s", others[i]);
	}
}

TEST(levels_longer_than_an_id_are_denied)
{
	static const char *const forms[] = { "%s", "soul/terminal/t1/result/%s",
		"%s/terminal/t1/online", "soul/%s/", "soul/terminal/%s/x" };
	char level[ID_MAX + 2];
	size_t i, n;

	for (i = 0; i < NELEM(forms); i++) {
		for (n = 0; n < sizeof(level); n++) {
			struct buf b = BUF_INIT(1024);
			struct str form = str_of(forms[i]);
			ptrdiff_t at = str_find(form, STR("%s"));

			memset(level, 'a', n);
			buf_put(&b, form.p, (size_t)at);
			buf_put(&b, level, n);
			buf_puts(&b, form.p + at + 2);
			ck_assert((topic_name_error(STR("t1"), buf_str(&b),
				       false) != NULL) == (n > ID_MAX));
			buf_free(&b);
		}
	}
}
