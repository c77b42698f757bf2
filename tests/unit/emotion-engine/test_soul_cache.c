/*
 * Copies of souls: as many as are allowed, the last used, none older than
 * another.
 */
#include <stdio.h>

#include "core/mem.h"
#include "soul_cache.h"
#include "testkit/testkit.h"

#define MOST 4

static struct metric_set *set;

static struct soul_cache *
cache_new(void)
{
	set = metric_set_new();
	return soul_cache_new(MOST, set);
}

static void
cache_free(struct soul_cache *c)
{
	soul_cache_free(c);
	metric_set_free(set);
}

static void
put(struct soul_cache *c, const char *id, int64_t version)
{
	soul_cache_put(c,
	    &(struct stored_soul){
		.user_id = STR("u"), .id = str_of(id), .version = version });
}

/* Its version; 0: there is no copy. */
static int64_t
get(struct soul_cache *c, const char *id)
{
	struct stored_soul s = {
		.user_id = STR("u"), .id = str_of(id), .rc = RC_BUG
	};

	if (!soul_cache_get(c, &s))
		return 0;
	ck_assert_int_eq(s.rc, RC_OK);
	return s.version;
}

TEST(the_least_recently_used_soul_goes)
{
	struct soul_cache *c = cache_new();
	char id[8];
	int i;

	for (i = 0; i < MOST; i++) {
		snprintf(id, sizeof(id), "s%d", i);
		put(c, id, 1);
	}
	ck_assert_int_eq(get(c, "s0"), 1);
	put(c, "new", 1);
	ck_assert_int_eq(get(c, "s1"), 0);
	ck_assert_int_eq(get(c, "s0"), 1);
	ck_assert_int_eq(get(c, "new"), 1);
	for (i = 0; i < 1000; i++) {
		snprintf(id, sizeof(id), "t%d", i);
		put(c, id, 1);
	}
	ck_assert_int_eq(get(c, "t999"), 1);
	ck_assert_int_eq(get(c, "t995"), 0);
	cache_free(c);
}

TEST(an_older_version_is_ignored)
{
	struct soul_cache *c = cache_new();
	struct stored_soul tick = {
		.user_id = STR("u"), .id = STR("s"), .version = 7
	};

	soul_cache_update(c, &tick);
	ck_assert_int_eq(get(c, "s"), 0);
	put(c, "s", 3);
	put(c, "s", 2);
	ck_assert_int_eq(get(c, "s"), 3);
	soul_cache_update(c, &tick);
	ck_assert_int_eq(get(c, "s"), 7);
	soul_cache_drop(
	    c, &(struct stored_soul){ .user_id = STR("u"), .id = STR("s") });
	ck_assert_int_eq(get(c, "s"), 0);
	cache_free(c);
}
