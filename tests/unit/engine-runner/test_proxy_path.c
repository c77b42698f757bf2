/* Paths of runs at the model proxy. */
#include <stdio.h>

#include "proxy/proxy_path.h"
#include "testkit/testkit.h"

#define RUN "20261127T091252-codex-17e67f51"

static const unsigned char path_secret[PROXY_SECRET_BYTES] = { 1, 2, 3 };
static const unsigned char path_other[PROXY_SECRET_BYTES] = { 1, 2, 4 };

static struct proxy_grant
path_grant(const char *run, int64_t epoch, int64_t budget)
{
	return (struct proxy_grant){ str_of(run), epoch, budget };
}

/* The path of a grant with a rest behind it. */
static char *
path_of(const struct proxy_grant *g, const char *rest)
{
	static char target[PROXY_PATH_MAX + 64];
	char path[PROXY_PATH_MAX];

	ck_assert_int_eq(proxy_path_write(path_secret, g, path), RC_OK);
	snprintf(target, sizeof(target), "%s%s", path, rest);
	return target;
}

TEST(a_path_is_read_as_it_was_written)
{
	struct proxy_grant g = path_grant(RUN, 7, 250000), is;
	char *target = path_of(&g, "/responses?a=b/c");
	struct str rest;

	ck_assert_int_eq(
	    proxy_path_read(path_secret, str_of(target), &is, &rest), RC_OK);
	ck_assert(str_eq(is.run, g.run));
	ck_assert_int_eq(is.epoch, 7);
	ck_assert_int_eq(is.budget, 250000);
	ck_assert(str_eq(rest, STR("/responses?a=b/c")));
	ck_assert(str_eq(proxy_path_engine(is.run), STR("codex")));
}

TEST(the_longest_path_has_room)
{
	static const char run[] = "0123456789012345678901234567890123456789"
				  "012345678901234567890123";
	struct proxy_grant g = path_grant(run, INT64_MAX, INT64_MAX), is;
	struct str rest;

	ck_assert_int_eq(
	    proxy_path_read(path_secret, str_of(path_of(&g, "/")), &is, &rest),
	    RC_OK);
	ck_assert_int_eq(is.budget, INT64_MAX);
}

TEST(another_secret_and_changed_claims_are_denied)
{
	struct proxy_grant g = path_grant(RUN, 7, 250000), is;
	char *target = path_of(&g, "/responses");
	size_t n = strlen(target) - strlen("/responses"), i;
	struct str rest;

	ck_assert_int_eq(
	    proxy_path_read(path_other, str_of(target), &is, &rest), RC_DENIED);
	/* No character can be another one. */
	for (i = 0; i < n; i++) {
		char was = target[i];

		target[i] = was == '1' ? '2' : '1';
		ck_assert_int_ne(
		    proxy_path_read(path_secret, str_of(target), &is, &rest),
		    RC_OK);
		target[i] = was;
	}
	ck_assert_int_eq(
	    proxy_path_read(path_secret, str_of(target), &is, &rest), RC_OK);
}

TEST(what_is_no_path_of_a_run_is_invalid)
{
	static const char *const bad[] = { "", "/", "/r/", "/r/a", "/r/a/1/1",
		"/r/a/1/1/", "/r/a/1/1/x", "/r//1/1/x/", "/r/a b/1/1/x/",
		"/r/a/-1/1/x/", "/r/a/1/99999999999999999999/x/",
		"/v1/responses", "r/a/1/1/x/" };
	struct proxy_grant g;
	struct str rest;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(proxy_path_read(path_secret, str_of(bad[i]), &g,
				  &rest) == RC_INVALID,
		    "%s", bad[i]);
}

TEST(only_ids_of_runs_and_positive_numbers_are_written)
{
	char path[PROXY_PATH_MAX];
	struct proxy_grant g = path_grant("a/b", 1, 1);

	ck_assert_int_eq(proxy_path_write(path_secret, &g, path), RC_INVALID);
	g = path_grant("", 1, 1);
	ck_assert_int_eq(proxy_path_write(path_secret, &g, path), RC_INVALID);
	g = path_grant("a", -1, 1);
	ck_assert_int_eq(proxy_path_write(path_secret, &g, path), RC_INVALID);
	g = path_grant("a", 1, -1);
	ck_assert_int_eq(proxy_path_write(path_secret, &g, path), RC_INVALID);
}

TEST(the_engine_is_in_the_middle_of_the_id)
{
	ck_assert(str_eq(proxy_path_engine(STR("t-a-b-c")), STR("a-b")));
	ck_assert(proxy_path_engine(STR("t-c")).p == NULL);
	ck_assert(proxy_path_engine(STR("t--c")).p == NULL);
	ck_assert(proxy_path_engine(STR("")).p == NULL);
}
