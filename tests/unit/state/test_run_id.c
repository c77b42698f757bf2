/*
 * Ids of runs, and the buckets that they name.
 */
#include <stdio.h>
#include <string.h>

#include "state/run_id.h"
#include "state/state.h"
#include "testkit/testkit.h"

#define ENGINE_33 "abcdefghijklmnopqrstuvwxyz0123456"

TEST(an_id_names_time_engine_and_the_bucket_of_its_user)
{
	const struct wall at = { 1771665172999 };
	char id[RUN_ID_MAX], other[RUN_ID_MAX];
	unsigned want, got;

	ck_assert_int_eq(run_id_new(STR("u1"), STR("codex"), at, id), RC_OK);
	ck_assert_msg(strncmp(id, "20260221T091252-codex-", 22) == 0, "%s", id);
	ck_assert_uint_eq(strlen(id), 30);
	ck_assert(str_eq(run_id_engine(str_of(id)), STR("codex")));
	ck_assert_int_eq(state_bucket(STR("u1"), &want), RC_OK);
	ck_assert_int_eq(run_id_bucket(str_of(id), &got), RC_OK);
	ck_assert_uint_eq(got, want);
	ck_assert_int_eq(run_id_new(STR("u1"), STR("codex"), at, other), RC_OK);
	ck_assert_str_ne(id, other);
}

TEST(the_buckets_of_all_users_can_be_named)
{
	char user[16], id[RUN_ID_MAX];
	unsigned want, got, i;

	for (i = 0; i < 3000; i++) {
		(void)snprintf(user, sizeof(user), "u%u", i);
		ck_assert_int_eq(state_bucket(str_of(user), &want), RC_OK);
		ck_assert_int_eq(
		    run_id_new(str_of(user), STR("x"), (struct wall){ 0 }, id),
		    RC_OK);
		ck_assert_int_eq(run_id_bucket(str_of(id), &got), RC_OK);
		ck_assert_uint_eq(got, want);
	}
}

TEST(what_is_no_id_of_a_run_is_rejected)
{
	static const char *const bad[] = {
		"",
		"x",
		"20260221T091252-codex-",
		"20260221T091252-codex-0",
		"20260221T091252--00000000",
		"20260221T091252-00000000",
		"20260221T091252-Codex-00000000",
		"20260221T091252-co.dex-00000000",
		"20260221 091252-codex-00000000",
		"2026022TT091252-codex-00000000",
		"20260221T091252-codex-0000000G",
		"20260221T091252-codex-0000000A",
		"20260221T091252-codex-000000000",
		"20260221T091252-codex_00000000",
		"20260221T091252-" ENGINE_33 "-00000000",
		/* A bucket that does not exist. */
		"20260221T091252-codex-40000000",
		"20260221T091252-codex-fff00000",
	};
	char id[RUN_ID_MAX];
	unsigned bucket;

	for (size_t i = 0; i < NELEM(bad); i++)
		ck_assert_msg(
		    run_id_bucket(str_of(bad[i]), &bucket) == RC_INVALID, "%s",
		    bad[i]);
	ck_assert_int_eq(
	    run_id_bucket(STR("20260221T091252-codex-3ffabcde"), &bucket),
	    RC_OK);
	ck_assert_uint_eq(bucket, STATE_BUCKETS - 1);
	ck_assert_int_eq(
	    run_id_new(STR(""), STR("codex"), (struct wall){ 0 }, id),
	    RC_INVALID);
	ck_assert_int_eq(
	    run_id_new(STR("u"), STR(ENGINE_33), (struct wall){ 0 }, id),
	    RC_INVALID);
	ck_assert_int_eq(
	    run_id_new(STR("u"), STR("codex"), (struct wall){ -1 }, id),
	    RC_INVALID);
}
