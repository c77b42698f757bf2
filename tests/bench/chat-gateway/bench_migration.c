/*
 * How long 100,000 sessions take to change their format, and to change it back.
 */
#include <stdio.h>

#include "testkit/migration_fixture.h"

#define SESSIONS 100000
#define MS       300000

static void
bench_run(struct state_fixture *f, const char *what, const char *const argv[],
    const char *const env[])
{
	int64_t keys = INT_OF(f, STR("DBSIZE"));
	struct tk_proc p;
	struct mono begun = clock_mono();

	tk_spawn(&p, "migrate", argv, env);
	ck_assert_int_eq(tk_wait(&p, MS), 0);
	printf("%-8s %d sessions, %lld keys: %.1f s\n", what, SESSIONS,
	    (long long)keys, (double)mono_diff_ms(clock_mono(), begun) / 1000);
}

TEST_T(sessions_change_their_format, 900)
{
	const char *const check[] = { tk_bin("chat-gateway"), "migrate", NULL };
	const char *const up[] = { check[0], "migrate", "--to", "2", NULL };
	const char *const back[] = { check[0], "migrate", "--back", NULL };
	char url[128];
	const char *const env[] = { url, NULL };
	struct state_fixture f;

	state_fixture_start(&f);
	(void)snprintf(url, sizeof(url), "REDIS_URL=%s", f.redis.url);
	migration_fixture_sessions(&f, SESSIONS);
	bench_run(&f, "--check", check, env);
	bench_run(&f, "--to 2", up, env);
	bench_run(&f, "--back", back, env);
	state_fixture_stop(&f);
}
