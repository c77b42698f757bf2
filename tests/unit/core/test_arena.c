/*
 * Arenas: limit, alignment, zeroed memory, reuse.
 */
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "core/arena.h"
#include "core/mem.h"
#include "testkit/testkit.h"

TEST(the_limit_counts_allocated_bytes)
{
	struct arena *a = arena_new(100);

	ck_assert_uint_eq(arena_used(a), 0);
	ck_assert_ptr_nonnull(arena_alloc(a, 99));
	ck_assert_ptr_null(arena_alloc(a, 2));
	ck_assert_ptr_null(arena_alloc(a, SIZE_MAX));
	/* A failed allocation changes nothing. */
	ck_assert_uint_eq(arena_used(a), 99);
	ck_assert_ptr_nonnull(arena_alloc(a, 1));
	ck_assert_ptr_nonnull(arena_alloc(a, 0));
	ck_assert_ptr_null(arena_alloc(a, 1));
	arena_reset(a);
	ck_assert_uint_eq(arena_used(a), 0);
	ck_assert_ptr_nonnull(arena_alloc(a, 100));
	arena_free(a);
	arena_free(NULL);
}

TEST(an_arena_with_limit_0)
{
	struct arena *a = arena_new(0);

	ck_assert_ptr_null(arena_alloc(a, 1));
	ck_assert_ptr_null(arena_str(a, STR("")).p);
	arena_reset(a);
	arena_free(a);
}

TEST(allocations_are_zeroed_aligned_and_disjoint)
{
	enum { N = 300 };
	struct arena *a = arena_new((size_t)1 << 20);
	unsigned char *p[N];

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < N; i++) {
			p[i] = arena_alloc(a, i);
			ck_assert_ptr_nonnull(p[i]);
			ck_assert_uint_eq(
			    (uintptr_t)p[i] % alignof(max_align_t), 0);
			for (size_t k = 0; k < i; k++)
				ck_assert_uint_eq(p[i][k], 0);
			memset(p[i], (int)(i & 255), i);
			/* Unaligned strings in between. */
			ck_assert_ptr_nonnull(arena_str(a, STR("x")).p);
		}
		for (size_t i = 0; i < N; i++)
			for (size_t k = 0; k < i; k++)
				ck_assert_uint_eq(p[i][k], i & 255);
		ck_assert_uint_eq(arena_used(a), N * (N - 1) / 2 + 2 * N);
		arena_reset(a);
	}
	arena_free(a);
}

TEST(an_allocation_may_exceed_the_block_size)
{
	struct arena *a = arena_new((size_t)8 << 20);
	char *small = arena_alloc(a, 8);
	char *big = arena_alloc(a, (size_t)4 << 20);
	char *after = arena_alloc(a, 8);

	ck_assert(small != NULL && big != NULL && after != NULL);
	memset(big, 1, (size_t)4 << 20);
	ck_assert_int_eq(after[0], 0);
	arena_reset(a);
	ck_assert_ptr_nonnull(arena_alloc(a, (size_t)8 << 20));
	arena_free(a);
}

TEST(a_steady_load_reuses_memory)
{
#if !defined(__SANITIZE_ADDRESS__)
	struct arena *a = arena_new((size_t)1 << 20);
	void *first = NULL;

	/* 20 KB: several blocks the first time, one from then on. */
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 20; i++) {
			void *p = arena_alloc(a, 1000);

			ck_assert_ptr_nonnull(p);
			if (i == 0 && round == 1)
				first = p;
			if (i == 0 && round > 1)
				ck_assert_ptr_eq(p, first);
		}
		arena_reset(a);
	}
	arena_free(a);
#endif
}

TEST(strings_end_in_nul)
{
	struct arena *a = arena_new(1000);
	char from[] = "text";
	struct str s = arena_str(a, str_of(from));

	from[0] = '#';
	ck_assert_uint_eq(s.n, 4);
	ck_assert_str_eq(s.p, "text");
	s = arena_str(a, STR(""));
	ck_assert_ptr_nonnull(s.p);
	ck_assert_str_eq(s.p, "");
	s = arena_str(a, (struct str){ NULL, 0 });
	ck_assert_ptr_null(s.p);
	s = arena_str(a, (struct str){ "x", SIZE_MAX });
	ck_assert_ptr_null(s.p);
	arena_free(a);
}

TEST(formatted_strings_of_any_length)
{
	static const int widths[] = { 1, 254, 255, 256, 257, 5000 };
	struct arena *a = arena_new(10000);

	for (size_t i = 0; i < NELEM(widths); i++) {
		struct str s = arena_printf(a, "%*d", widths[i], 7);

		ck_assert_ptr_nonnull(s.p);
		ck_assert_uint_eq(s.n, (size_t)widths[i]);
		ck_assert_uint_eq(strlen(s.p), s.n);
		ck_assert_int_eq(s.p[s.n - 1], '7');
	}
	ck_assert_ptr_null(arena_printf(a, "%10000d", 7).p);
	ck_assert_ptr_nonnull(arena_printf(a, "still usable").p);
	arena_free(a);
}

TEST(a_rewind_frees_what_was_allocated_since_the_mark)
{
	static const size_t sizes[] = { 0, 1, 1024, 5000, 100000 };
	struct arena *a = arena_new(200000);
	struct arena_mark empty = arena_mark(a), mark;
	struct str before = arena_str(a, STR("before"));

	mark = arena_mark(a);
	for (size_t i = 0; i < NELEM(sizes); i++) {
		for (int n = 0; n < 3; n++)
			(void)arena_alloc(a, sizes[i]);
		arena_rewind(a, mark);
		ck_assert_uint_eq(arena_used(a), strlen("before") + 1);
		/* What is allocated next has room, and overwrites nothing. */
		ck_assert_str_eq(arena_str(a, STR("next")).p, "next");
		ck_assert_str_eq(before.p, "before");
		arena_rewind(a, mark);
	}
	ck_assert_ptr_nonnull(arena_alloc(a, 199993));
	arena_rewind(a, empty);
	ck_assert_uint_eq(arena_used(a), 0);
	ck_assert_ptr_nonnull(arena_alloc(a, 200000));
	arena_free(a);
}

TEST(bytes_are_aligned_and_count_for_the_limit)
{
	struct arena *a = arena_new(100);
	char *p = arena_bytes(a, 3), *q = arena_bytes(a, 90);

	ck_assert_uint_eq((uintptr_t)p % alignof(max_align_t), 0);
	ck_assert_uint_eq((uintptr_t)q % alignof(max_align_t), 0);
	memset(p, 'p', 3);
	memset(q, 'q', 90);
	ck_assert_int_eq(p[2], 'p');
	ck_assert_ptr_null(arena_bytes(a, 8));
	ck_assert_uint_eq(arena_used(a), 93);
	arena_free(a);
}
