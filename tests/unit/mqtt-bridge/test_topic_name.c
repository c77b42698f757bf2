/* What a body may publish under, beside what the rules say. */
#include <string.h>

#include "broker-plugin/topic_name.h"
#include "core/buf.h"
#include "core/id.h"
#include "testkit/testkit.h"

static const char *
refused(const char *topic, bool retain)
{
	return topic_name_refused(STR("t1"), str_of(topic), retain);
}

TEST(only_results_may_not_be_retained)
{
	static const char *const results[] = { "soul/terminal/t1/result/r",
		"a/b/terminal/t1/result/", "t1/result/r/more" };
	static const char *const others[] = { "", "/", "t1", "t1/result",
		"soul/terminal/t1/result", "soul/terminal/t1/online",
		"soul/terminal/result/online", "soul/terminal/t2/result/r",
		"result/r", "soul/t1/x/result/r" };
	size_t i;

	for (i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		ck_assert_ptr_null(refused(results[i], false));
		ck_assert_msg(
		    refused(results[i], true) != NULL, "%s", results[i]);
	}
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		ck_assert_ptr_null(refused(others[i], false));
		ck_assert_msg(
		    refused(others[i], true) == NULL, "%s", others[i]);
	}
}

TEST(no_level_is_longer_than_an_id)
{
	static const char *const forms[] = { "%s", "soul/terminal/t1/result/%s",
		"%s/terminal/t1/online", "soul/%s/", "soul/terminal/%s/x" };
	char level[ID_MAX + 2];
	size_t i, n;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		for (n = 0; n < sizeof(level); n++) {
			struct buf b = BUF_INIT(1024);
			struct str form = str_of(forms[i]);
			ptrdiff_t at = str_find(form, STR("%s"));

			memset(level, 'a', n);
			buf_put(&b, form.p, (size_t)at);
			buf_put(&b, level, n);
			buf_puts(&b, form.p + at + 2);
			ck_assert((topic_name_refused(STR("t1"), buf_str(&b),
				       false) != NULL) == (n > ID_MAX));
			buf_free(&b);
		}
	}
}
