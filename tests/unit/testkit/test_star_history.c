/* The rules of a history: what must be found wrong, and what must not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/star_history.h"
#include "testkit/testkit.h"

#define RESUME_MS 6000

/* The environment, two agents of it. */
enum { ENV, A, B, CLIENTS };

static struct star_history *h;

/* All are connected from time 0 on, and the environment knows. */
static void
begin(void)
{
	int c;

	h = star_history_new(CLIENTS, RESUME_MS);
	for (c = 0; c < CLIENTS; c++)
		ck_assert_int_eq(star_history_opened(h, 0, c, STAR_NEW), 0);
	for (c = A; c < CLIENTS; c++) {
		star_history_member(h, 0, c, ENV);
		star_history_notified(h, ENV, c, true);
	}
}

/* Check h; *text has what is printed, freed by the caller. */
static size_t
wrong(char **text)
{
	size_t size = 0, n;
	FILE *f = open_memstream(text, &size);

	ck_assert_ptr_nonnull(f);
	n = star_history_check(h, NULL, f);
	(void)fclose(f);
	star_history_free(h);
	return n;
}

static void
ck_sound(void)
{
	char *text;
	size_t n = wrong(&text);

	ck_assert_msg(n == 0, "%s", text);
	free(text);
}

/* Exactly one thing is wrong, which is reported with these words. */
static void
ck_wrong(const char *words)
{
	char *text;
	size_t n = wrong(&text);

	ck_assert_msg(
	    n == 1 && strstr(text, words) != NULL, "%zu: %s", n, text);
	free(text);
}

/* From a to b, and the hub has taken it. */
static uint32_t
send_one(int64_t at, int from, int to)
{
	uint32_t n = star_history_send(h, at, from, to);

	star_history_taken(h, n);
	return n;
}

static uint32_t
send_to_all(int64_t at)
{
	static const int to[] = { A, B };
	uint32_t n = star_history_broadcast(h, at, ENV, to, 2);

	star_history_taken(h, n);
	return n;
}

/* c comes back to a connection. */
static void
reopen(int64_t ended, int64_t opened, int c, enum star_opened how)
{
	star_history_ended(h, ended, c, 0);
	ck_assert_int_eq(star_history_opened(h, opened, c, how), 1);
	if (c != ENV)
		star_history_member(h, opened, c, ENV);
}

/* ---- what comes ---- */

TEST(what_comes_one_time_and_in_order_is_sound)
{
	uint32_t one, two, all;

	begin();
	one = send_one(100, A, B);
	two = send_one(101, A, B);
	all = send_to_all(102);
	star_history_received(h, 110, B, 0, one);
	star_history_received(h, 111, B, 0, all);
	star_history_received(h, 112, B, 0, two);
	star_history_received(h, 113, A, 0, all);
	ck_sound();
}

TEST(a_message_that_comes_twice_is_wrong)
{
	uint32_t n;

	begin();
	n = send_one(100, A, B);
	star_history_received(h, 110, B, 0, n);
	reopen(200, 300, B, STAR_LOST);
	star_history_received(h, 310, B, 1, n);
	ck_wrong("got message 0 twice");
}

TEST(a_message_that_comes_to_another_one_is_wrong)
{
	uint32_t n;

	begin();
	n = send_one(100, A, B);
	star_history_received(h, 110, B, 0, n);
	star_history_received(h, 110, A, 0, n);
	ck_wrong("not for it");
}

TEST(an_older_message_after_a_newer_one_is_wrong)
{
	uint32_t one, two;

	begin();
	one = send_one(100, A, B);
	two = send_one(101, A, B);
	star_history_received(h, 110, B, 0, two);
	star_history_received(h, 111, B, 0, one);
	ck_wrong("came after a later one");
}

TEST(so_it_is_in_a_session_that_was_resumed)
{
	uint32_t one, two;

	begin();
	one = send_one(100, A, B);
	two = send_one(101, A, B);
	star_history_received(h, 110, B, 0, two);
	reopen(200, 300, B, STAR_RESUMED);
	star_history_received(h, 310, B, 1, one);
	ck_wrong("came after a later one");
}

TEST(order_is_that_of_a_kind_and_a_connection)
{
	uint32_t one, all, three;

	begin();
	one = send_one(100, ENV, B);
	all = send_to_all(101);
	reopen(200, 300, ENV, STAR_RESUMED);
	three = send_one(301, ENV, B);
	star_history_received(h, 310, B, 0, all);
	star_history_received(h, 311, B, 0, three);
	star_history_received(h, 312, B, 0, one);
	star_history_received(h, 312, A, 0, all);
	ck_sound();
}

/* ---- what does not come ---- */

TEST(a_message_that_does_not_come_is_wrong)
{
	begin();
	(void)send_one(100, A, B);
	ck_wrong("is missing without an error");
}

TEST(its_error_explains_it)
{
	begin();
	star_history_failed(h, 110, A, send_one(100, A, B), false);
	star_history_failed(h, 110, A, send_one(101, A, B), true);
	ck_sound();
}

TEST(what_was_rejected_and_comes_is_wrong)
{
	uint32_t n;

	begin();
	n = send_one(100, A, B);
	star_history_failed(h, 110, A, n, false);
	star_history_received(h, 110, B, 0, n);
	ck_wrong("came after all");
}

TEST(what_is_perhaps_lost_may_come)
{
	uint32_t n;

	begin();
	n = send_one(100, A, B);
	star_history_failed(h, 110, A, n, true);
	star_history_received(h, 110, B, 0, n);
	ck_sound();
}

TEST(two_errors_about_a_message_are_wrong)
{
	uint32_t n;

	begin();
	n = send_one(100, A, B);
	star_history_failed(h, 110, A, n, true);
	star_history_failed(h, 111, A, n, true);
	ck_wrong("two errors");
}

TEST(an_error_about_another_ones_message_is_wrong)
{
	uint32_t n;

	begin();
	n = send_one(100, A, B);
	star_history_received(h, 110, B, 0, n);
	star_history_failed(h, 110, B, n, true);
	ck_wrong("not its own");
}

TEST(what_no_hub_took_is_known_by_the_end_of_the_connection)
{
	begin();
	(void)star_history_send(h, 100, A, B);
	reopen(200, 300, A, STAR_RESUMED);
	ck_sound();
}

TEST(what_is_never_taken_on_an_open_connection_is_wrong)
{
	begin();
	(void)star_history_send(h, 100, A, B);
	ck_wrong("is missing without an error");
}

TEST(those_before_one_that_was_taken_are_taken)
{
	begin();
	(void)star_history_send(h, 100, A, B);
	star_history_received(h, 110, B, 0, send_one(101, A, B));
	reopen(200, 300, A, STAR_RESUMED);
	ck_wrong("message 0 of 1");
}

TEST(its_error_may_be_lost_with_the_senders_session)
{
	begin();
	(void)send_one(100, A, B);
	reopen(200, 300, A, STAR_LOST);
	ck_sound();
}

TEST(but_not_long_after_it)
{
	begin();
	(void)send_one(100, A, B);
	reopen(100 + STAR_ON_ITS_WAY_MS + 1, 30000, A, STAR_LOST);
	ck_wrong("is missing without an error");
}

TEST(a_resumed_session_loses_no_error)
{
	begin();
	(void)send_one(100, A, B);
	reopen(200, 300, A, STAR_RESUMED);
	ck_wrong("is missing without an error");
}

TEST(it_may_be_lost_with_the_recipients_session)
{
	begin();
	(void)send_one(100, A, B);
	(void)send_one(250, A, B);
	reopen(200, 300, B, STAR_LOST);
	ck_sound();
}

TEST(a_resumed_session_loses_no_message)
{
	begin();
	(void)send_one(250, A, B);
	reopen(200, 300, B, STAR_RESUMED);
	ck_wrong("is missing without an error");
}

TEST(a_message_to_the_new_session_is_not_lost_with_the_old_one)
{
	begin();
	reopen(200, 300, B, STAR_LOST);
	(void)send_one(301, A, B);
	ck_wrong("is missing without an error");
}

TEST(a_message_before_one_that_came_was_not_lost_with_its_session)
{
	begin();
	(void)send_one(100, A, B);
	star_history_received(h, 110, B, 0, send_one(101, A, B));
	reopen(200, 300, B, STAR_LOST);
	ck_wrong("message 0 of 1");
}

TEST(a_broadcast_is_for_those_that_the_environment_knows)
{
	begin();
	star_history_notified(h, ENV, B, false);
	star_history_received(h, 110, A, 0, send_to_all(100));
	star_history_notified(h, ENV, B, true);
	star_history_received(h, 210, A, 0, send_to_all(200));
	ck_wrong("broadcast 1 of 0");
}

TEST(a_broadcast_may_meet_the_end_of_a_membership)
{
	static const int to[] = { A, B };

	begin();
	star_history_received(
	    h, 110, A, 0, star_history_broadcast(h, 100, ENV, to, 2));
	star_history_notified(h, ENV, B, false);
	star_history_notified(h, ENV, B, true);
	ck_sound();
}

TEST(unless_it_was_taken_before)
{
	begin();
	star_history_received(h, 110, A, 0, send_to_all(100));
	star_history_notified(h, ENV, B, false);
	ck_wrong("broadcast 0 of 0");
}

TEST(so_many_may_be_missing_as_were_reported)
{
	begin();
	star_history_received(h, 110, A, 0, send_to_all(100));
	star_history_received(h, 210, A, 0, send_to_all(200));
	star_history_dropped(h, 300, B, 1);
	ck_wrong("is missing without an error");
}

/* ---- connections ---- */

TEST(an_older_connection_is_silent_soon)
{
	begin();
	ck_assert_int_eq(star_history_opened(h, 1000, A, STAR_NEW), 1);
	star_history_noticed(h, 1000 + STAR_PRESENCE_MS, A, 0);
	star_history_noticed(h, 9000, A, 1);
	ck_sound();
}

TEST(two_that_are_served_are_wrong)
{
	begin();
	ck_assert_int_eq(star_history_opened(h, 1000, A, STAR_NEW), 1);
	star_history_noticed(h, 1001 + STAR_PRESENCE_MS, A, 0);
	star_history_noticed(h, 1002 + STAR_PRESENCE_MS, A, 0);
	ck_wrong("is served 4001 ms after a newer one");
}

/* ---- presence ---- */

/* How many views are wrong then. */
static size_t
views(int64_t at, bool all)
{
	char *text;
	size_t size = 0, n;
	FILE *f = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(f);
	n = star_history_check_views(h, at, all, f);
	(void)fclose(f);
	free(text);
	return n;
}

TEST(an_environment_knows_its_members)
{
	begin();
	ck_assert_uint_eq(views(5000, false), 0);
	ck_assert_uint_eq(views(5000, true), 0);
	ck_sound();
}

TEST(one_that_it_was_not_notified_of_is_wrong)
{
	begin();
	star_history_notified(h, ENV, B, false);
	ck_assert_uint_eq(views(STAR_PRESENCE_MS, false), 0);
	ck_assert_uint_eq(views(STAR_PRESENCE_MS + 1, false), 1);
	ck_wrong("that 2 is not a member, which is connected");
}

TEST(one_that_has_left_is_wrong_when_its_session_is_over)
{
	int64_t over = 1000 + RESUME_MS + STAR_PRESENCE_MS;

	begin();
	star_history_ended(h, 1000, B, 0);
	ck_assert_uint_eq(views(over, false), 0);
	ck_assert_uint_eq(views(over + 1, false), 1);
	ck_wrong("that 2 is a member, which is not connected");
}

TEST(a_new_session_of_an_environment_knows_nobody)
{
	begin();
	reopen(1000, 2000, ENV, STAR_LOST);
	ck_assert(!star_history_is_notified(h, ENV, B));
	ck_assert_uint_eq(views(2000 + STAR_PRESENCE_MS, false), 0);
	ck_assert_uint_eq(views(2001 + STAR_PRESENCE_MS, false), 2);
	star_history_free(h);
}

TEST(a_resumed_one_knows_what_it_knew)
{
	begin();
	reopen(1000, 2000, ENV, STAR_RESUMED);
	ck_assert(star_history_is_notified(h, ENV, B));
	star_history_free(h);
}
