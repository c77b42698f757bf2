/*
 * Maps: random operations, iteration, and keys of all kinds.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/map.h"
#include "core/mem.h"
#include "testkit/testkit.h"

static char values[4096];

TEST(entries_are_put_found_and_removed)
{
	struct map *m = map_new();
	char key[] = "key";

	ck_assert_ptr_null(map_get(m, STR("key")));
	ck_assert_ptr_null(map_del(m, STR("key")));
	ck_assert_uint_eq(map_len(m), 0);
	ck_assert_ptr_null(map_put(m, str_of(key), &values[0]));
	/* The key was copied. */
	key[0] = 'x';
	ck_assert_ptr_eq(map_get(m, STR("key")), &values[0]);
	ck_assert_ptr_eq(map_put(m, STR("key"), &values[1]), &values[0]);
	ck_assert_uint_eq(map_len(m), 1);
	ck_assert_ptr_eq(map_del(m, STR("key")), &values[1]);
	ck_assert_ptr_null(map_get(m, STR("key")));
	ck_assert_uint_eq(map_len(m), 0);
	map_free(m);
	map_free(NULL);
}

TEST(keys_are_bytes_of_any_length)
{
	static char text[40];
	struct map *m = map_new();

	memset(text, 'a', sizeof(text));
	/* Each length is another key; absent and empty are the same. */
	for (size_t n = 0; n <= sizeof(text); n++)
		ck_assert_ptr_null(
		    map_put(m, (struct str){ text, n }, &values[n]));
	for (size_t n = 0; n <= sizeof(text); n++)
		ck_assert_ptr_eq(
		    map_get(m, (struct str){ text, n }), &values[n]);
	ck_assert_ptr_eq(map_get(m, (struct str){ NULL, 0 }), &values[0]);
	ck_assert_ptr_null(map_put(m, STR("a\0b"), &values[1]));
	ck_assert_ptr_null(map_get(m, STR("a\0c")));
	ck_assert_ptr_null(map_put(m, STR("\xff\xfe"), &values[2]));
	ck_assert_ptr_eq(map_get(m, STR("\xff\xfe")), &values[2]);
	/* A zero byte at the end is not padding. */
	ck_assert_ptr_null(map_put(m, STR("z"), &values[3]));
	ck_assert_ptr_null(map_get(m, STR("z\0")));
	map_free(m);
}

static struct str
key_of(size_t i, char buf[24])
{
	int n = snprintf(buf, 24, "terminal-%zu", i);

	return (struct str){ buf, (size_t)n };
}

TEST(random_operations_match_a_plain_table)
{
	enum { KEYS = 512 };
	void *plain[KEYS] = { NULL };
	struct map *m = map_new();
	size_t len = 0;
	unsigned state = 1;
	char buf[24];

	for (int i = 0; i < 40000; i++) {
		size_t k;
		void *v, *was;

		state = state * 1103515245 + 12345;
		k = state / 65536 % KEYS;
		/* Phases of growing and shrinking. */
		if (state / 16 % 8 < (i / 2000 % 2 != 0 ? 2U : 6U)) {
			v = &values[state / 128 % sizeof(values)];
			was = map_put(m, key_of(k, buf), v);
		} else {
			v = NULL;
			was = map_del(m, key_of(k, buf));
		}
		ck_assert_ptr_eq(was, plain[k]);
		len = len + (v != NULL) - (was != NULL);
		plain[k] = v;
		ck_assert_uint_eq(map_len(m), len);
	}
	for (size_t k = 0; k < KEYS; k++)
		ck_assert_ptr_eq(map_get(m, key_of(k, buf)), plain[k]);
	map_free(m);
}

TEST(an_iteration_returns_every_entry)
{
	enum { KEYS = 1000 };
	bool seen[KEYS] = { false };
	struct map *m = map_new();
	size_t pos = 0, n = 0;
	struct str key;
	char buf[24], want[24];
	char *v;

	ck_assert_ptr_null(map_next(m, &pos, &key));
	for (size_t i = 0; i < KEYS; i++)
		map_put(m, key_of(i, buf), &values[i]);
	pos = 0;
	while ((v = map_next(m, &pos, &key)) != NULL) {
		size_t i = (size_t)(v - values);

		ck_assert(str_eq(key, key_of(i, want)));
		ck_assert(!seen[i]);
		seen[i] = true;
		n++;
	}
	ck_assert_uint_eq(n, KEYS);
	ck_assert_ptr_null(map_next(m, &pos, NULL));
	map_free(m);
}

TEST(entries_may_be_removed_during_an_iteration)
{
	enum { KEYS = 1000 };
	struct map *m = map_new();
	size_t pos = 0, n = 0;
	struct str key;
	char buf[24];
	char *v;

	for (size_t i = 0; i < KEYS; i++)
		map_put(m, key_of(i, buf), &values[i]);
	while ((v = map_next(m, &pos, &key)) != NULL) {
		n++;
		if ((v - values) % 2 == 0)
			ck_assert_ptr_eq(map_del(m, key), v);
	}
	ck_assert_uint_eq(n, KEYS);
	ck_assert_uint_eq(map_len(m), KEYS / 2);
	for (size_t i = 0; i < KEYS; i++)
		ck_assert_ptr_eq(
		    map_get(m, key_of(i, buf)), i % 2 != 0 ? &values[i] : NULL);
	/* All entries. */
	pos = 0;
	while (map_next(m, &pos, &key) != NULL)
		ck_assert_ptr_nonnull(map_del(m, key));
	ck_assert_uint_eq(map_len(m), 0);
	ck_assert_ptr_null(map_put(m, STR("new"), &values[0]));
	ck_assert_ptr_eq(map_get(m, STR("new")), &values[0]);
	map_free(m);
}

TEST(insertions_and_removals_do_not_grow_it)
{
	struct map *m = map_new();
	char buf[24];

	/* If holes were not closed, the index would fill and get() hang. */
	for (size_t i = 0; i < 50000; i++) {
		map_put(m, key_of(i, buf), &values[0]);
		if (i >= 10)
			ck_assert_ptr_nonnull(map_del(m, key_of(i - 10, buf)));
		ck_assert_ptr_null(map_get(m, STR("missing")));
	}
	ck_assert_uint_eq(map_len(m), 10);
	map_free(m);
}
