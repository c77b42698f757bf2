/* The text of the password file. */
#include <string.h>

#include "core/mem.h"
#include "credentials/password_file.h"
#include "testkit/testkit.h"

static void
ck_list_text(const struct password_list *p, const char *want)
{
	struct str text;

	ck_assert_int_eq(password_list_text(p, &text), RC_OK);
	ck_assert_int_eq((int)text.n, (int)strlen(want));
	ck_assert_int_eq(strncmp(text.p, want, text.n), 0);
}

TEST(only_valid_lines_are_added)
{
	static const char *const bad_ids[] = { "a:b", "a\nb", "", "health",
		"mqtt-bridge", " a", "a ", "a/b", "+", "#", "a\tb" };
	static const char *const bad_hashes[] = { "", "secret", "$5$x",
		"$7$1$a b", "$7$1$a\nx:$7$1$b", "$7$1$a:b" };
	struct password_list *p = password_list_new(
	    STR("# services\n\nhealth:$7$1$a$b\n mqtt-bridge:$7$1$a$b\r\n"));
	size_t i;

	for (i = 0; i < NELEM(bad_ids); i++)
		ck_assert_msg(
		    !password_list_add(p, str_of(bad_ids[i]), STR("$7$1$a$b")),
		    "%s", bad_ids[i]);
	for (i = 0; i < NELEM(bad_hashes); i++)
		ck_assert_msg(
		    !password_list_add(p, STR("t1"), str_of(bad_hashes[i])),
		    "%s", bad_hashes[i]);
	ck_assert_int_eq((int)password_list_count(p), 0);
	ck_assert(password_list_lacks(p, STR("t1:x\n")));
	ck_assert(password_list_add(p, STR("t1"), STR("$7$101$a/+=$b")));
	ck_assert(!password_list_lacks(p, STR("t1:x\nhealth:y\n")));
	ck_assert(password_list_lacks(p, STR("t2:x\nhealth:y\n")));
	ck_list_text(
	    p, "health:$7$1$a$b\nmqtt-bridge:$7$1$a$b\nt1:$7$101$a/+=$b\n");
	password_list_free(p);
}
