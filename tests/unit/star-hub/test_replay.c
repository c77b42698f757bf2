/* The newest frames of a session. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "replay.h"
#include "testkit/testkit.h"

static void
put_bytes(struct replay *r, size_t n, int64_t seq)
{
	char *bytes = mem_zalloc(n + 1);
	struct frame *f;

	memset(bytes, 'x', n);
	f = frame_new(FRAME_TEXT, (struct str){ bytes, n });
	f->seq = seq;
	replay_put(r, f);
	frame_unref(f);
	free(bytes);
}

/* Frames whose seqs are their numbers. */
static void
put_many(struct replay *r, int64_t n)
{
	while (n-- > 0)
		put_bytes(r, 10, (int64_t)replay_sent(r) + 1);
}

/* All after n are held, and before that none; their numbers are their seqs. */
static void
expect_after(const struct replay *r, uint64_t n)
{
	ck_assert(replay_has_after(r, n));
	ck_assert(n == 0 || !replay_has_after(r, n - 1));
	while (++n <= replay_sent(r))
		ck_assert_int_eq(replay_at(r, n)->seq, (int64_t)n);
}

TEST(frames_are_numbered_from_one)
{
	struct replay r = { 0 };

	ck_assert_uint_eq(replay_sent(&r), 0);
	ck_assert(replay_has_after(&r, 0));
	ck_assert(!replay_has_after(&r, 1));
	put_many(&r, 1);
	ck_assert_uint_eq(replay_sent(&r), 1);
	put_many(&r, 99);
	ck_assert_uint_eq(replay_sent(&r), 100);
	expect_after(&r, 0);
	ck_assert(replay_has_after(&r, 100));
	/* More than were sent are another session's. */
	ck_assert(!replay_has_after(&r, 101));
	replay_clear(&r);
	ck_assert_uint_eq(r.bytes, 0);
}

TEST(so_many_frames_are_held_at_most)
{
	struct replay r = { 0 };

	put_many(&r, REPLAY_FRAMES);
	expect_after(&r, 0);
	put_many(&r, 1);
	expect_after(&r, 1);
	put_many(&r, 10L * REPLAY_FRAMES);
	expect_after(&r, 10L * REPLAY_FRAMES + 1);
	replay_clear(&r);
}

TEST(so_many_bytes_are_held_at_most)
{
	struct replay r = { 0 };
	size_t i;

	for (i = 1; i <= 1000; i++) {
		put_bytes(&r, 1 + i % 7 * 10000, (int64_t)i);
		ck_assert_uint_le(r.bytes, REPLAY_BYTES);
		ck_assert_uint_eq(replay_sent(&r), i);
	}
	ck_assert(r.first > 900 && r.first <= 1000);
	expect_after(&r, r.first - 1);
	replay_clear(&r);
	ck_assert_uint_eq(r.bytes, 0);
}

TEST(a_frame_that_is_larger_than_all_is_not_held)
{
	struct replay r = { 0 };

	put_many(&r, 3);
	put_bytes(&r, REPLAY_BYTES + 1, 4);
	ck_assert_uint_eq(replay_sent(&r), 4);
	ck_assert_uint_eq(r.bytes, 0);
	/* None before it can be sent without it. */
	ck_assert(!replay_has_after(&r, 0));
	ck_assert(!replay_has_after(&r, 3));
	ck_assert(replay_has_after(&r, 4));
	put_many(&r, 2);
	expect_after(&r, 4);
	replay_clear(&r);
}

TEST(numbers_go_on)
{
	struct replay r = { 0 };

	/* After all was forgotten. */
	put_many(&r, 5);
	replay_clear(&r);
	ck_assert_uint_eq(replay_sent(&r), 5);
	ck_assert(replay_has_after(&r, 5));
	ck_assert(!replay_has_after(&r, 4));
	put_many(&r, 3);
	expect_after(&r, 5);
	replay_clear(&r);
	/* Of another hub's session. */
	r = (struct replay){ 0 };
	replay_begin(&r, 1000);
	ck_assert_uint_eq(replay_sent(&r), 999);
	ck_assert(replay_has_after(&r, 999));
	ck_assert(!replay_has_after(&r, 998));
	ck_assert(!replay_has_after(&r, 1000));
	put_many(&r, 20);
	expect_after(&r, 999);
	ck_assert_uint_eq(replay_sent(&r), 1019);
	replay_clear(&r);
}

/* Frames of the old session, and of the new one. */
static const struct move_row {
	int64_t old, own;
	uint64_t first, sent; /* that are held then */
} move_rows[] = {
	{ 0, 0, 0, 0 },
	{ 0, 5, 1, 5 },
	{ 5, 0, 1, 5 },
	{ 5, 5, 1, 10 },
	{ 300, 0, 45, 300 },
	{ 300, 6, 51, 306 },
	{ 300, 256, 301, 556 },
	/* Of its own, it has the newest. */
	{ 100, 300, 101, 356 },
};

TEST(a_session_goes_on_with_the_frames_of_another)
{
	const struct move_row *row;
	int64_t seq, own;
	uint64_t n;
	size_t i;

	for (i = 0; i < NELEM(move_rows); i++) {
		struct replay from = { 0 }, to = { 0 };

		row = &move_rows[i];
		put_many(&from, row->old);
		put_many(&to, row->own);
		own = to.first > 0 ? (int64_t)to.first : 1;
		replay_move(&from, &to);
		ck_assert_uint_eq(from.bytes, 0);
		ck_assert_uint_eq(replay_sent(&from), 0);
		ck_assert_uint_eq(to.first, row->first);
		ck_assert_uint_eq(replay_sent(&to), row->sent);
		for (n = to.first; n > 0 && n <= row->sent; n++) {
			seq = (int64_t)n;
			if (seq > row->old)
				seq += own - row->old - 1;
			ck_assert_int_eq(replay_at(&to, n)->seq, seq);
		}
		replay_clear(&to);
		ck_assert_uint_eq(to.bytes, 0);
	}
}
