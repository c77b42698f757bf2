/* Flags, failures and ids. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "options.h"
#include "testkit/testkit.h"

/* ---- ids ---- */

static void
ck_device_id(const char *first, size_t i, const char *name)
{
	char id[ID_MAX + 1];

	ck_assert_int_eq(sim_device_id(str_of(first), i, id), RC_OK);
	ck_assert_str_eq(id, name);
}

TEST(device_ids_count_up)
{
	char id[ID_MAX + 1], longest[ID_MAX + 2];

	ck_device_id("terminal-001", 0, "terminal-001");
	ck_device_id("terminal-001", 1, "terminal-002");
	ck_device_id("terminal-001", 999, "terminal-1000");
	ck_device_id("terminal-001", 9999, "terminal-10000");
	ck_device_id("r7", 3, "r10");
	ck_device_id("098", 2, "100");
	ck_device_id("robot", 0, "robot");
	ck_device_id("robot", 1, "robot-2");
	ck_device_id("机器人", 1, "机器人-2");
	/* Of a number with too many digits, only the last ones count up. */
	ck_device_id("x99999999999999999999", 1, "x999991000000000000000");

	memset(longest, 'a', ID_MAX);
	longest[ID_MAX] = '\0';
	ck_device_id(longest, 0, longest);
	ck_assert_int_eq(sim_device_id(str_of(longest), 1, id), RC_TOOBIG);
}

/* ---- source addresses ---- */

TEST(source_addresses_are_used_in_turn)
{
	char address[SOURCE_MAX];
	struct sources s;

	ck_assert_int_eq(
	    sources_parse(STR("127.0.1.254-127.0.2.1"), &s), RC_OK);
	ck_assert_uint_eq(s.n, 4);
	sources_address(&s, 0, address);
	ck_assert_str_eq(address, "127.0.1.254");
	sources_address(&s, 3, address);
	ck_assert_str_eq(address, "127.0.2.1");
	sources_address(&s, 4, address);
	ck_assert_str_eq(address, "127.0.1.254");
	ck_assert_int_eq(sources_parse(STR("10.1.2.3"), &s), RC_OK);
	sources_address(&s, 7, address);
	ck_assert_str_eq(address, "10.1.2.3");
	ck_assert_int_eq(sources_parse(STR(""), &s), RC_OK);
	sources_address(&s, 7, address);
	ck_assert_str_eq(address, "");
}

TEST(malformed_source_addresses_are_rejected)
{
	static const char *const wrong[] = { "localhost", "127.0.0", "::1",
		"127.0.0.1-", "-127.0.0.1", "127.0.0.2-127.0.0.1",
		"0.0.0.0-255.255.255.255", "127.0.0.1-127.0.0.2-127.0.0.3",
		"127.0.0.1 - 127.0.0.2", "127.0.0.1/24" };
	struct sources s;
	size_t i;

	for (i = 0; i < NELEM(wrong); i++)
		ck_assert_msg(sources_parse(str_of(wrong[i]), &s) == RC_INVALID,
		    "%s", wrong[i]);
}

/* ---- failures ---- */

TEST(failures_are_parsed)
{
	struct failures f;
	char error[200];

	ck_assert_int_eq(
	    failures_parse(STR(""), &f, error, sizeof(error)), RC_OK);
	ck_assert(!f.silent && !f.error && !f.wrong_request_id);
	ck_assert_int_eq(f.delay_ms + f.drop_ms + f.flap_ms, 0);
	ck_assert_int_eq(failures_parse(STR("silent, error,wrong-request-id,"
					    "late=7000,drop=30,flap=2.5"),
			     &f, error, sizeof(error)),
	    RC_OK);
	ck_assert(f.silent && f.error && f.wrong_request_id);
	ck_assert_int_eq(f.delay_ms, 7000);
	ck_assert_int_eq(f.drop_ms, 30000);
	ck_assert_int_eq(f.flap_ms, 2500);
}

TEST(unknown_failures_are_rejected)
{
	static const char *const wrong[] = { "slow", "late", "late=", "late=0",
		"late=-1", "late=x", "silent=1", "silent,", ",", "drop=1e9",
		"flap=nan", "Silent" };
	struct failures f;
	char error[200];
	size_t i;

	for (i = 0; i < NELEM(wrong); i++) {
		error[0] = '\0';
		ck_assert_msg(failures_parse(str_of(wrong[i]), &f, error,
				  sizeof(error)) == RC_INVALID,
		    "%s", wrong[i]);
		ck_assert_ptr_nonnull(strstr(error, "is not one of silent"));
	}
}

static size_t
selected_of(double share, size_t of)
{
	size_t i, n = 0;

	for (i = 0; i < of; i++)
		n += failures_selected(share, i);
	return n;
}

TEST(a_share_of_the_devices_fails)
{
	ck_assert_uint_eq(selected_of(0, 1000), 0);
	ck_assert_uint_eq(selected_of(1, 1000), 1000);
	ck_assert_uint_eq(selected_of(.1, 1000), 100);
	ck_assert_uint_eq(selected_of(.29, 100), 29);
	ck_assert_uint_eq(selected_of(.5, 3), 1);
	ck_assert(selected_of(.25, 4) == 1 && selected_of(.25, 8) == 2);
}

/* ---- flags ---- */

static const struct flag test_flags[] = {
	{ "--one", { "FLAG_ONE", NULL }, NULL },
	{ "--two", { "FLAG_TWO", "FLAG_MORE" }, NULL },
	{ "--on", { "FLAG_ON", NULL }, "on" },
};

/* Split text at its blanks into arguments; returns how many. */
static int
split_arguments(char *text, char *argv[16])
{
	int n = 0;

	while (text != NULL) {
		argv[n++] = text;
		text = strchr(text, ' ');
		if (text != NULL)
			*text++ = '\0';
	}
	argv[n] = NULL;
	return n;
}

TEST(flags_set_variables_and_are_removed)
{
	char text[] = "p a --one --two --two x  --on --one 2 b", *argv[16];
	int argc = split_arguments(text, argv);

	ck_assert_int_eq(
	    flags_apply(test_flags, NELEM(test_flags), &argc, argv), RC_OK);
	ck_assert_int_eq(argc, 3);
	ck_assert_str_eq(argv[1], "a");
	ck_assert_str_eq(argv[2], "b");
	ck_assert_ptr_null(argv[3]);
	/* A value may look like a flag, and the last value counts. */
	ck_assert_str_eq(getenv("FLAG_ONE"), "2");
	ck_assert_str_eq(getenv("FLAG_TWO"), "x");
	ck_assert_str_eq(getenv("FLAG_MORE"), "");
	ck_assert_str_eq(getenv("FLAG_ON"), "on");
}

TEST(flags_need_their_arguments)
{
	char none[] = "p --one", half[] = "p --two x", bare[] = "p", *argv[16];
	int argc = split_arguments(none, argv);

	ck_assert_int_eq(
	    flags_apply(test_flags, NELEM(test_flags), &argc, argv),
	    RC_INVALID);
	argc = split_arguments(half, argv);
	ck_assert_int_eq(
	    flags_apply(test_flags, NELEM(test_flags), &argc, argv),
	    RC_INVALID);
	argc = split_arguments(bare, argv);
	ck_assert_int_eq(
	    flags_apply(test_flags, NELEM(test_flags), &argc, argv), RC_OK);
	ck_assert_int_eq(argc, 1);
}
