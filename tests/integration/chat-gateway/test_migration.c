/*
 * Changing the format of all keys, in both directions, interrupted anywhere.
 */
#include <signal.h>

#include "migrate/migration.h"
#include "testkit/migration_fixture.h"

static struct state_fixture f;
static char printed[4096];

static void
migration_print_to(void *arg, struct str line)
{
	size_t n;

	(void)arg;
	n = strlen(printed);
	(void)snprintf(printed + n, sizeof(printed) - n, "%.*s", STR_ARG(line));
}

static enum rc
migration_go(enum key_format from, size_t scripts_max)
{
	struct migration m = { .s = f.s,
		.from = from,
		.batch = 2,
		.scripts_max = scripts_max,
		.print = migration_print_to };

	printed[0] = '\0';
	return migration_run(&m);
}

/* The first line that differs. */
static void
migration_compare(const char *is, const char *wanted)
{
	struct str a = str_of(is), b = str_of(wanted), x, y;

	while (a.p != NULL && b.p != NULL) {
		x = str_split(&a, '\n');
		y = str_split(&b, '\n');
		ck_assert_msg(str_eq(x, y), "is:     %.*s\nwanted: %.*s",
		    STR_ARG(x), STR_ARG(y));
	}
	ck_assert(a.p == NULL && b.p == NULL);
}

/* What Redis holds is what the rows make. */
static void
migration_check(const char *const *rows, size_t n)
{
	char *is = migration_fixture_text(&f), *wanted;

	migration_fixture_load(&f, rows, n);
	wanted = migration_fixture_text(&f);
	migration_compare(is, wanted);
	free(is);
	free(wanted);
}

static void
migration_check_1(void)
{
	migration_check(migration_format_1, migration_format_1_n);
}

static void
migration_check_2(void)
{
	char *is = migration_fixture_text(&f), *wanted;
	char ms[STR_NUM_MAX], *now;
	int i;

	migration_fixture_load(&f, migration_format_2, migration_format_2_n);
	wanted = migration_fixture_text(&f);
	migration_compare(is, wanted);
	/* What goes back has times. */
	for (i = 1; i <= 3; i++) {
		char terminal[8], value[64];

		(void)snprintf(terminal, sizeof(terminal), "t%d", i);
		now = str_num(state_fixture_now(&f), ms).p == NULL ? NULL : ms;
		(void)snprintf(
		    value, sizeof(value), "%s %s", i == 2 ? "x2" : "x1", now);
		DO(&f, STR("HSET"),
		    i == 2 ? STR("soul:user:{b0171}:~YWNtZS9hZGE:terminals:1")
			   : STR("soul:user:{b0478}:u1:terminals:1"),
		    str_of(terminal), str_of(value));
	}
	free(is);
	free(wanted);
}

static void
migration_begin(void)
{
	state_fixture_start(&f);
	migration_fixture_load(&f, migration_format_1, migration_format_1_n);
}

TEST(every_record_moves_to_format_2_and_back)
{
	migration_begin();
	OK(migration_go(FORMAT_1, 0));
	ck_assert_str_eq(printed, "");
	migration_check_2();
	OK(migration_go(FORMAT_2, 0));
	migration_check_1();
	state_fixture_stop(&f);
}

/* 0.1 reads no longer state, and the tenth byte is its format. */
TEST(a_soul_loses_its_drives_on_the_way_back)
{
	char state[305], wanted[210] = "";

	migration_begin();
	OK(migration_go(FORMAT_1, 0));
	memset(state, 'x', sizeof(state));
	state[9] = 2;
	memset(wanted, 'x', sizeof(wanted) - 1);
	wanted[9] = 1;
	DO(&f, STR("SET"), STR("soul:state:{b0478}:u1:x1"),
	    ((struct str){ state, sizeof(state) }));
	OK(migration_go(FORMAT_2, 0));
	state_fixture_expect(
	    &f, wanted, STATE_ARGS(STR("GET"), STR("soul:soul:{x1}:state")));
	state_fixture_stop(&f);
}

TEST(a_migration_repeated_changes_nothing)
{
	char *first, *second;

	migration_begin();
	OK(migration_go(FORMAT_1, 0));
	first = migration_fixture_text(&f);
	OK(migration_go(FORMAT_1, 0));
	second = migration_fixture_text(&f);
	migration_compare(second, first);
	free(first);
	free(second);
	OK(migration_go(FORMAT_2, 0));
	OK(migration_go(FORMAT_2, 0));
	migration_check_1();
	state_fixture_stop(&f);
}

/* After each script: on, and then back; and at once back. */
TEST_T(an_interrupted_migration_goes_on_or_back, 120)
{
	size_t stop, scripts = 0;
	char found[16];
	enum rc rc;

	migration_begin();
	for (stop = 1; scripts == 0; stop++) {
		rc = migration_go(FORMAT_1, stop);
		if (rc == RC_OK) {
			scripts = stop;
		} else {
			IS(RC_TIMEOUT, rc);
			OK(migration_format(f.s, found, sizeof(found)));
			ck_assert_str_eq(found, "1>2");
		}
		OK(migration_go(FORMAT_1, 0));
		migration_check_2();
		rc = migration_go(FORMAT_2, stop);
		OK(migration_go(FORMAT_2, 0));
		migration_check_1();
		rc = migration_go(FORMAT_1, stop);
		OK(migration_go(FORMAT_2, 0));
		migration_check_1();
		rc = migration_go(FORMAT_1, 0);
		OK(rc);
		rc = migration_go(FORMAT_2, stop);
		OK(migration_go(FORMAT_1, 0));
		migration_check_2();
		OK(migration_go(FORMAT_2, 0));
		migration_check_1();
	}
	ck_assert_uint_gt(scripts, 20);
	state_fixture_stop(&f);
}

TEST(turns_of_dead_processes_end_as_lost)
{
	migration_begin();
	DO(&f, STR("RPUSH"), STR("soul:session:{u1:s1}:turns:1"), STR("i1:t5"),
	    STR("i1:t6"));
	DO(&f, STR("HSET"), STR("soul:turn:{t5}"), STR("v"), STR("1"), STR("u"),
	    STR("u1"), STR("s"), STR("s1"), STR("begun"), STR("1"));
	OK(migration_go(FORMAT_1, 0));
	state_fixture_expect(&f, "",
	    STATE_ARGS(
		STR("HGET"), STR("soul:turn:{b0478}:u1:t5"), STR("end")));
	/* One event is new: that of the turn whose input is stored. */
	state_fixture_expect(&f, "3",
	    STATE_ARGS(
		STR("HGET"), STR("soul:session:{b0478}:u1:s1"), STR("seq")));
	ck_assert_int_eq(
	    INT_OF(&f, STR("XLEN"), STR("soul:events:{b0478}:u1:s1:1")), 3);
	ck_assert_int_eq(
	    INT_OF(&f, STR("EXISTS"), STR("soul:session:{u1:s1}:turns:1"),
		STR("soul:turns:{b0478}:u1:s1:2")),
	    0);
	state_fixture_stop(&f);
}

TEST(each_event_has_an_entry_of_its_own_in_format_1)
{
	const struct str one = STR("soul:session:{u1:s1}:events:1");

	migration_begin();
	OK(migration_go(FORMAT_1, 0));
	DO(&f, STR("XADD"), STR("soul:events:{b0478}:u1:s1:1"), STR("0-5"),
	    STR("e"), STR("a"), STR("e"), STR("b"), STR("e"), STR("c"));
	OK(migration_go(FORMAT_2, 0));
	ck_assert_int_eq(INT_OF(&f, STR("XLEN"), one), 5);
	ck_assert_int_gt(INT_OF(&f, STR("PTTL"), one), 0);
	ck_assert_int_eq(INT_OF(&f, STR("XDEL"), one, STR("0-1"), STR("0-2"),
			     STR("0-3"), STR("0-4"), STR("0-5")),
	    5);
	state_fixture_stop(&f);
}

TEST(a_queue_of_format_2_ends_as_well)
{
	migration_begin();
	OK(migration_go(FORMAT_1, 0));
	DO(&f, STR("SET"), STR("soul:turns:{b0478}:u1:s1:2"),
	    STR("i1:t5 i1:t6 "));
	DO(&f, STR("HSET"), STR("soul:turn:{b0478}:u1:t5"), STR("v"), STR("1"),
	    STR("u"), STR("u1"), STR("s"), STR("s1"), STR("begun"), STR("1"));
	OK(migration_go(FORMAT_2, 0));
	state_fixture_expect(
	    &f, "", STATE_ARGS(STR("HGET"), STR("soul:turn:{t5}"), STR("end")));
	ck_assert_int_eq(
	    INT_OF(&f, STR("XLEN"), STR("soul:session:{u1:s1}:events:1")), 3);
	ck_assert_int_eq(
	    INT_OF(&f, STR("EXISTS"), STR("soul:turns:{b0478}:u1:s1:2")), 0);
	state_fixture_stop(&f);
}

TEST(what_only_lasts_while_services_run_is_dropped)
{
	migration_begin();
	DO(&f, STR("ZADD"), STR("soul:ticks:1"), STR("5"), STR("x1"));
	DO(&f, STR("SET"), STR("soul:ticks:interval:1"), STR("3000"));
	OK(migration_go(FORMAT_1, 0));
	migration_check_2();
	DO(&f, STR("ZADD"), STR("soul:ticks:{b0478}:1"), STR("5"),
	    STR("u1:x1"));
	DO(&f, STR("ZADD"), STR("soul:timers:{ticks}:1"), STR("5"), STR("r1"));
	OK(migration_go(FORMAT_2, 0));
	migration_check_1();
	state_fixture_stop(&f);
}

/* What was begun in several steps ends on the way back. */
TEST(unfinished_changes_of_format_2_are_completed)
{
	migration_begin();
	OK(migration_go(FORMAT_1, 0));
	/* A soul is being deleted: its keys are gone. */
	DO(&f, STR("HSET"), STR("soul:user:{b0478}:u1:deleting:1"), STR("x1"),
	    STR("5"));
	DO(&f, STR("DEL"), STR("soul:soul:{b0478}:u1:x1"),
	    STR("soul:state:{b0478}:u1:x1"), STR("soul:log:{b0478}:u1:x1:1"),
	    STR("soul:bodies:{b0478}:u1:x1:1"));
	/* An identity is being changed. */
	DO(&f, STR("ZADD"), STR("soul:credentials:{identities}:changing:1"),
	    STR("5"), STR("t1"));
	/* A binding was begun, and not made. */
	DO(&f, STR("HSET"), STR("soul:user:{b0171}:~YWNtZS9hZGE:terminals:1"),
	    STR("t4"), STR("x2 5"));
	/* A binding was made, and not entered with its soul. */
	DO(&f, STR("DEL"), STR("soul:bodies:{b0171}:~YWNtZS9hZGE:x2:1"));
	OK(migration_go(FORMAT_2, 0));
	state_fixture_expect(&f, NULL,
	    STATE_ARGS(STR("HGET"), STR("soul:terminal:{t1}"), STR("s")));
	state_fixture_expect(
	    &f, "8", STATE_ARGS(STR("GET"), STR("soul:credentials:version:1")));
	ck_assert_int_eq(INT_OF(&f, STR("EXISTS"), STR("soul:soul:{x1}"),
			     STR("soul:soul:{x1}:terminals:1"),
			     STR("soul:user:{u1}:terminals:1")),
	    0);
	ck_assert_int_eq(
	    INT_OF(&f, STR("SISMEMBER"),
		STR("soul:user:{~YWNtZS9hZGE}:terminals:1"), STR("t4")),
	    0);
	ck_assert_int_eq(
	    INT_OF(&f, STR("SCARD"), STR("soul:soul:{x2}:terminals:1")), 1);
	state_fixture_stop(&f);
}

TEST(a_record_whose_new_key_exists_stays_and_is_reported)
{
	char found[16];

	migration_begin();
	DO(&f, STR("HSET"), STR("soul:session:{b0478}:u1:s1"), STR("v"),
	    STR("9"));
	IS(RC_CONFLICT, migration_go(FORMAT_1, 0));
	ck_assert_ptr_nonnull(strstr(printed, "soul:session:{b0478}:u1:s1\n"));
	OK(migration_format(f.s, found, sizeof(found)));
	ck_assert_str_eq(found, "1>2");
	state_fixture_expect(&f, "9",
	    STATE_ARGS(
		STR("HGET"), STR("soul:session:{b0478}:u1:s1"), STR("v")));
	DO(&f, STR("DEL"), STR("soul:session:{b0478}:u1:s1"));
	OK(migration_go(FORMAT_1, 0));
	migration_check_2();
	state_fixture_stop(&f);
}

/* A release of 0.1 that was started by mistake creates souls of new users. */
TEST(what_an_old_program_has_written_since_moves_too)
{
	migration_begin();
	OK(migration_go(FORMAT_1, 0));
	DO(&f, STR("HSET"), STR("soul:soul:{x3}"), STR("v"), STR("1"), STR("u"),
	    STR("u2"));
	DO(&f, STR("SADD"), STR("soul:soul:{x3}:terminals:1"), STR("t5"));
	DO(&f, STR("SADD"), STR("soul:user:{u2}:terminals:1"), STR("t5"));
	DO(&f, STR("HSET"), STR("soul:terminal:{t5}"), STR("v"), STR("1"),
	    STR("u"), STR("u2"), STR("s"), STR("x3"));
	OK(migration_go(FORMAT_1, 0));
	state_fixture_expect(&f, "2",
	    STATE_ARGS(STR("HGET"), STR("soul:terminal:{t5}"), STR("v")));
	state_fixture_expect(&f, "0 0 -",
	    STATE_ARGS(
		STR("HGET"), STR("soul:bodies:{b0445}:u2:x3:1"), STR("t5")));
	state_fixture_expect(&f, "u2",
	    STATE_ARGS(STR("HGET"), STR("soul:soul:{b0445}:u2:x3"), STR("u")));
	/* The rest is as it was. */
	state_fixture_expect(&f, "s",
	    STATE_ARGS(
		STR("HGET"), STR("soul:session:{b0478}:u1:s1"), STR("sum")));
	state_fixture_stop(&f);
}

TEST(records_are_counted_in_their_format)
{
	struct migration m = { .s = f.s };
	struct migration_counts c;
	int format;

	migration_begin();
	m.s = f.s;
	for (format = FORMAT_1; format < FORMAT_N; format++) {
		OK(migration_count(&m, &c));
		ck_assert_int_eq(c.n[RECORD_SESSION][format], 2);
		ck_assert_int_eq(c.n[RECORD_SESSION][!format], 0);
		ck_assert_int_eq(c.n[RECORD_IDLE][format], 2);
		ck_assert_int_eq(c.n[RECORD_SOUL][format], 2);
		/* Guards are no records. */
		ck_assert_int_eq(c.n[RECORD_SOUL][!format], 0);
		ck_assert_int_eq(c.n[RECORD_SOUL_NAMES][!format], 0);
		ck_assert_int_eq(c.n[RECORD_IDLE][!format], 0);
		ck_assert_int_eq(c.n[RECORD_CREDENTIALS][!format], 0);
		ck_assert_int_eq(c.other, 0);
		ck_assert(!migration_is_used(&c));
		OK(migration_go(FORMAT_1, 0));
	}
	DO(&f, STR("SET"), STR("soul:lease:{reports_main}:2"), STR("me"));
	OK(migration_count(&m, &c));
	ck_assert(migration_is_used(&c));
	state_fixture_stop(&f);
}
