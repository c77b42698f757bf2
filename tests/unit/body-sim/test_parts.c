/* Names, faults, flags, remembered requests, alarms. */
#include <stdio.h>
#include <stdlib.h>

#include "alarms.h"
#include "core/mem.h"
#include "faults.h"
#include "flags.h"
#include "names.h"
#include "requests.h"
#include "testkit/testkit.h"

/* ---- names --------------------------------------------------------------- */

static void
expect_name(const char *first, size_t i, const char *name)
{
	char id[ID_MAX + 1];

	ck_assert_int_eq(names_of(str_of(first), i, id), RC_OK);
	ck_assert_str_eq(id, name);
}

TEST(names_count_up)
{
	char id[ID_MAX + 1], longest[ID_MAX + 2];

	expect_name("terminal-001", 0, "terminal-001");
	expect_name("terminal-001", 1, "terminal-002");
	expect_name("terminal-001", 999, "terminal-1000");
	expect_name("terminal-001", 9999, "terminal-10000");
	expect_name("r7", 3, "r10");
	expect_name("098", 2, "100");
	expect_name("robot", 0, "robot");
	expect_name("robot", 1, "robot-2");
	expect_name("机器人", 1, "机器人-2");
	/* A number that is too long for one only counts at its end. */
	expect_name("x99999999999999999999", 1, "x999991000000000000000");

	memset(longest, 'a', ID_MAX);
	longest[ID_MAX] = '\0';
	expect_name(longest, 0, longest);
	ck_assert_int_eq(names_of(str_of(longest), 1, id), RC_TOOBIG);
}

/* ---- faults -------------------------------------------------------------- */

TEST(faults_are_read)
{
	struct faults f;
	char why[200];

	ck_assert_int_eq(faults_parse(STR(""), &f, why, sizeof(why)), RC_OK);
	ck_assert(!f.silent && !f.error && !f.wrong_request_id);
	ck_assert_int_eq(f.late_ms + f.drop_ms + f.flap_ms, 0);
	ck_assert_int_eq(faults_parse(STR("silent, error,wrong-request-id,"
					  "late=7000,drop=30,flap=2.5"),
			     &f, why, sizeof(why)),
	    RC_OK);
	ck_assert(f.silent && f.error && f.wrong_request_id);
	ck_assert_int_eq(f.late_ms, 7000);
	ck_assert_int_eq(f.drop_ms, 30000);
	ck_assert_int_eq(f.flap_ms, 2500);
}

TEST(faults_that_are_none_are_refused)
{
	static const char *const wrong[] = { "slow", "late", "late=", "late=0",
		"late=-1", "late=x", "silent=1", "silent,", ",", "drop=1e9",
		"flap=nan", "Silent" };
	struct faults f;
	char why[200];
	size_t i;

	for (i = 0; i < NELEM(wrong); i++) {
		why[0] = '\0';
		ck_assert_msg(faults_parse(str_of(wrong[i]), &f, why,
				  sizeof(why)) == RC_INVALID,
		    "%s", wrong[i]);
		ck_assert_ptr_nonnull(strstr(why, "is none of silent"));
	}
}

static size_t
hits(double share, size_t of)
{
	size_t i, n = 0;

	for (i = 0; i < of; i++)
		n += faults_hit(share, i);
	return n;
}

TEST(a_share_of_the_bodies_is_hit)
{
	ck_assert_uint_eq(hits(0, 1000), 0);
	ck_assert_uint_eq(hits(1, 1000), 1000);
	ck_assert_uint_eq(hits(.1, 1000), 100);
	ck_assert_uint_eq(hits(.29, 100), 29);
	ck_assert_uint_eq(hits(.5, 3), 1);
	ck_assert(hits(.25, 4) == 1 && hits(.25, 8) == 2);
}

/* ---- flags --------------------------------------------------------------- */

static const struct flag flags[] = {
	{ "--one", { "FLAG_ONE", NULL }, NULL },
	{ "--two", { "FLAG_TWO", "FLAG_MORE" }, NULL },
	{ "--on", { "FLAG_ON", NULL }, "on" },
};

/* The words of text, which is taken apart, as arguments; how many. */
static int
words(char *text, char *argv[16])
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

TEST(flags_set_variables_and_go)
{
	char text[] = "p a --one --two --two x  --on --one 2 b", *argv[16];
	int argc = words(text, argv);

	ck_assert_int_eq(flags_apply(flags, NELEM(flags), &argc, argv), RC_OK);
	ck_assert_int_eq(argc, 3);
	ck_assert_str_eq(argv[1], "a");
	ck_assert_str_eq(argv[2], "b");
	ck_assert_ptr_null(argv[3]);
	/* A value may look like a flag; the last one counts. */
	ck_assert_str_eq(getenv("FLAG_ONE"), "2");
	ck_assert_str_eq(getenv("FLAG_TWO"), "x");
	ck_assert_str_eq(getenv("FLAG_MORE"), "");
	ck_assert_str_eq(getenv("FLAG_ON"), "on");
}

TEST(flags_want_their_arguments)
{
	char none[] = "p --one", half[] = "p --two x", bare[] = "p", *argv[16];
	int argc = words(none, argv);

	ck_assert_int_eq(
	    flags_apply(flags, NELEM(flags), &argc, argv), RC_INVALID);
	argc = words(half, argv);
	ck_assert_int_eq(
	    flags_apply(flags, NELEM(flags), &argc, argv), RC_INVALID);
	argc = words(bare, argv);
	ck_assert_int_eq(flags_apply(flags, NELEM(flags), &argc, argv), RC_OK);
	ck_assert_int_eq(argc, 1);
}

/* ---- requests ------------------------------------------------------------ */

TEST(requests_count_once)
{
	struct requests *r = requests_new();
	char id[32];
	int i;

	ck_assert(requests_first(r, STR("a")));
	ck_assert(!requests_first(r, STR("a")));
	ck_assert_ptr_null(requests_answered(r, STR("a")).p);
	requests_answer(r, STR("a"), STR("yes"));
	requests_answer(r, STR("b"), STR("nobody asked"));
	ck_assert(str_eq(requests_answered(r, STR("a")), STR("yes")));
	ck_assert_ptr_null(requests_answered(r, STR("b")).p);
	/* The oldest is forgotten, and only it. */
	for (i = 0; i < REQUESTS_MAX - 1; i++) {
		snprintf(id, sizeof(id), "r%d", i);
		ck_assert(requests_first(r, str_of(id)));
	}
	ck_assert(!requests_first(r, STR("a")));
	ck_assert(requests_first(r, STR("one more")));
	ck_assert(!requests_first(r, STR("r0")));
	ck_assert_ptr_null(requests_answered(r, STR("a")).p);
	ck_assert(requests_first(r, STR("a")));
	ck_assert(requests_first(r, STR("r0")));
	requests_free(r);
	requests_free(NULL);
}

/* ---- alarms -------------------------------------------------------------- */

TEST(alarms_ring_in_time_and_once)
{
	const struct wall t0 = { 1000 }, t1 = { 2000 }, t2 = { 3000 };
	struct alarms al;

	alarms_init(&al);
	ck_assert_int_eq(alarms_next(&al).ms, 0);
	ck_assert_ptr_null(alarms_ring(&al, t2));
	ck_assert_int_eq(alarms_add(&al, t2, STR("late")), RC_OK);
	ck_assert_int_eq(alarms_add(&al, t1, STR("early")), RC_OK);
	ck_assert_int_eq(alarms_next(&al).ms, 2000);
	ck_assert_ptr_null(alarms_ring(&al, t0));
	ck_assert_str_eq(alarms_ring(&al, t1)->label, "early");
	ck_assert_ptr_null(alarms_ring(&al, t1));
	ck_assert_int_eq(alarms_next(&al).ms, 3000);
	ck_assert_str_eq(
	    alarms_ring(&al, (struct wall){ 9000 })->label, "late");
	ck_assert_int_eq(TAILQ_FIRST(&al.list)->fired.ms, 9000);
	ck_assert_int_eq(alarms_next(&al).ms, 0);
	alarms_free(&al);
}

TEST(alarms_have_a_ceiling)
{
	struct alarms al;
	int i;

	alarms_init(&al);
	for (i = 0; i < ALARMS_MAX; i++)
		ck_assert_int_eq(
		    alarms_add(&al, (struct wall){ 100 + i }, STR("x")), RC_OK);
	ck_assert_int_eq(
	    alarms_add(&al, (struct wall){ 500 }, STR("y")), RC_RETRY);
	ck_assert_ptr_nonnull(alarms_ring(&al, (struct wall){ 100 }));
	ck_assert_int_eq(alarms_add(&al, (struct wall){ 500 },
			     STR("好好好好好好好好好好好好好好好好好好好好好"
				 "好好好好好好好好好好好好好好好好好好好好好"
				 "好好好")),
	    RC_OK);
	ck_assert_uint_eq(al.n, ALARMS_MAX);
	/* Cut between two characters. */
	ck_assert_uint_eq(strlen(TAILQ_LAST(&al.list, alarm_list)->label), 126);
	ck_assert_int_eq(
	    alarms_add(&al, (struct wall){ 500 }, STR("y")), RC_RETRY);
	alarms_free(&al);
}
