/* Numbered messages between two hubs, and their confirmations. */
#include "cluster/peer_link.h"
#include "core/mem.h"
#include "testkit/testkit.h"

static char messages[PEER_LINK_MAX + 1];

static const struct mono now = { 1000 };

/* Send messages first to last, whose number each is. */
static void
send_many(struct peer_link *l, int64_t first, int64_t last)
{
	for (; first <= last; first++)
		ck_assert_int_eq(
		    peer_link_add(l, &messages[first], now), first);
}

/* Confirm all up to n; returns how many that were. */
static int64_t
confirm(struct peer_link *l, int64_t n)
{
	struct link_sent s;
	const char *before = NULL;
	int64_t count = 0;

	for (; peer_link_take_done(l, n, &s); count++) {
		const char *m = s.message;

		ck_assert_int_eq(s.at.ns, now.ns);
		ck_assert(m > before && m <= &messages[n]);
		before = m;
	}
	return count;
}

TEST(messages_are_numbered_from_one)
{
	struct peer_link *l = peer_link_new();

	ck_assert_int_eq(peer_link_newest(l), 0);
	ck_assert_int_eq(peer_link_received(l), 0);
	ck_assert(peer_link_is_done(l, 0));
	ck_assert_int_eq(confirm(l, 10), 0);
	send_many(l, 1, 1000);
	ck_assert_int_eq(peer_link_newest(l), 1000);
	ck_assert_uint_eq(peer_link_count(l), 1000);
	ck_assert_int_eq(confirm(l, 1000), 1000);
	ck_assert_uint_eq(peer_link_count(l), 0);
	/* Numbers go on. */
	send_many(l, 1001, 1002);
	ck_assert_int_eq(confirm(l, 1002), 2);
	peer_link_free(l);
	peer_link_free(NULL);
}

/* After ten messages. */
static const struct confirm_row {
	int64_t n[4];     /* confirmations that come; 0: no more */
	int64_t taken[4]; /* messages that each takes */
} confirm_rows[] = {
	{ { 10 }, { 10 } },
	{ { 3, 7, 10 }, { 3, 4, 3 } },
	/* The first two are lost. */
	{ { 10, 10 }, { 10, 0 } },
	/* Each comes twice. */
	{ { 4, 4, 10, 10 }, { 4, 0, 6, 0 } },
	/* In another order. */
	{ { 7, 3, 10, 5 }, { 7, 0, 3, 0 } },
	/* Of what was never sent. */
	{ { 1000, 1, 10 }, { 10, 0, 0 } },
	{ { -1, 10 }, { 0, 10 } },
};

TEST(confirmations_may_be_lost_doubled_and_reordered)
{
	const struct confirm_row *row;
	struct peer_link *l;
	int64_t newest;
	size_t i, k;

	for (i = 0; i < NELEM(confirm_rows); i++) {
		row = &confirm_rows[i];
		l = peer_link_new();
		send_many(l, 1, 10);
		newest = 0;
		for (k = 0; k < NELEM(row->n) && row->n[k] != 0; k++) {
			ck_assert_int_eq(confirm(l, row->n[k]), row->taken[k]);
			if (newest < row->n[k])
				newest = row->n[k];
			ck_assert_int_eq(
			    peer_link_is_done(l, 10), newest >= 10);
		}
		ck_assert_uint_eq(peer_link_count(l), 0);
		peer_link_free(l);
	}
}

TEST(a_rejected_message_is_taken_from_the_middle)
{
	struct peer_link *l = peer_link_new();

	send_many(l, 1, 10);
	ck_assert_ptr_eq(peer_link_take(l, 5), &messages[5]);
	/* One time. */
	ck_assert_ptr_null(peer_link_take(l, 5));
	ck_assert_uint_eq(peer_link_count(l), 9);
	ck_assert(!peer_link_is_done(l, 5));
	ck_assert_int_eq(confirm(l, 4), 4);
	/* It is not waited for. */
	ck_assert(peer_link_is_done(l, 5));
	ck_assert(!peer_link_is_done(l, 6));
	ck_assert_int_eq(confirm(l, 7), 2);
	ck_assert_ptr_eq(peer_link_take(l, 10), &messages[10]);
	ck_assert_ptr_eq(peer_link_take(l, 9), &messages[9]);
	ck_assert(!peer_link_is_done(l, 8));
	ck_assert_ptr_eq(peer_link_take(l, 8), &messages[8]);
	ck_assert(peer_link_is_done(l, 10));
	ck_assert_int_eq(confirm(l, 10), 0);
	/* Those that never were. */
	ck_assert_ptr_null(peer_link_take(l, 0));
	ck_assert_ptr_null(peer_link_take(l, -1));
	ck_assert_ptr_null(peer_link_take(l, 11));
	ck_assert_ptr_null(peer_link_take(l, INT64_MAX));
	peer_link_free(l);
}

TEST(what_is_overdue_is_taken_oldest_first)
{
	struct peer_link *l = peer_link_new();
	struct link_sent s;
	int64_t i;

	/* One each 10 ns. */
	for (i = 1; i <= 10; i++)
		ck_assert_int_eq(
		    peer_link_add(l, &messages[i], (struct mono){ 10 * i }), i);
	ck_assert_ptr_nonnull(peer_link_take(l, 2));
	ck_assert(!peer_link_take_overdue(l, (struct mono){ 10 }, &s));
	for (i = 1; i <= 5; i += i == 1 ? 2 : 1) {
		ck_assert(peer_link_take_overdue(l, (struct mono){ 51 }, &s));
		ck_assert_ptr_eq(s.message, &messages[i]);
		ck_assert_int_eq(s.at.ns, 10 * i);
	}
	ck_assert(!peer_link_take_overdue(l, (struct mono){ 51 }, &s));
	ck_assert_uint_eq(peer_link_count(l), 5);
	for (i = 0; peer_link_take_overdue(l, (struct mono){ INT64_MAX }, &s);)
		i++;
	ck_assert_int_eq(i, 5);
	ck_assert(peer_link_is_done(l, 10));
	peer_link_free(l);
}

TEST(so_many_are_not_confirmed_at_most)
{
	struct peer_link *l = peer_link_new();

	send_many(l, 1, PEER_LINK_MAX);
	ck_assert_int_eq(peer_link_add(l, messages, now), 0);
	ck_assert_int_eq(peer_link_newest(l), PEER_LINK_MAX);
	/* One in the middle makes no room: the oldest is waited for. */
	ck_assert_ptr_nonnull(peer_link_take(l, 2));
	ck_assert_int_eq(peer_link_add(l, messages, now), 0);
	ck_assert_int_eq(confirm(l, 1), 1);
	ck_assert_int_eq(
	    peer_link_add(l, &messages[1], now), PEER_LINK_MAX + 1);
	ck_assert_int_eq(
	    peer_link_add(l, &messages[2], now), PEER_LINK_MAX + 2);
	ck_assert_int_eq(peer_link_add(l, messages, now), 0);
	ck_assert_int_eq(confirm(l, PEER_LINK_MAX), PEER_LINK_MAX - 2);
	ck_assert_ptr_eq(peer_link_take(l, PEER_LINK_MAX + 2), &messages[2]);
	ck_assert_ptr_eq(peer_link_take(l, PEER_LINK_MAX + 1), &messages[1]);
	peer_link_free(l);
}

TEST(the_receiver_knows_what_is_missing)
{
	static const struct {
		int64_t n;
		bool is_new;
		int64_t missing;
	} rows[] = {
		{ 1, true, 0 },
		{ 2, true, 0 },
		{ 2, false, 0 },
		{ 1, false, 0 },
		{ 5, true, 2 },
		/* They would have come before it. */
		{ 3, false, 0 },
		{ 6, true, 0 },
		{ 0, false, 0 },
		{ -1, false, 0 },
		{ 100, true, 93 },
		{ INT64_MAX, true, INT64_MAX - 101 },
		{ INT64_MAX, false, 0 },
	};
	struct peer_link *l = peer_link_new();
	int64_t missing, newest = 0;
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		ck_assert_int_eq(
		    peer_link_receive(l, rows[i].n, &missing), rows[i].is_new);
		ck_assert_int_eq(missing, rows[i].missing);
		if (rows[i].is_new)
			newest = rows[i].n;
		ck_assert_int_eq(peer_link_received(l), newest);
	}
	peer_link_free(l);
}
