/* Replicas, changes of the configuration, limits of processes. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/json.h"
#include "testkit/mcp_fixture.h"

#define SIM_TOOLS 6

static struct mcp_fixture f;

static bool
fixture_second_knows(void *arg)
{
	(void)arg;
	return tk_service_metric(
		   &f.host[1], "soul_mcp_tools{server=\"sim\"}") == SIM_TOOLS;
}

static void
fixture_start_two(void)
{
	mh_config(MH_SIM("sim", ""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	mh_start_host(&f, 1, NULL);
	ck_assert(tk_until(fixture_second_knows, NULL, MH_MS));
}

/* One replica has a process, the instance; what listed the tools has ended. */
static bool
one_has_the_instance(void *arg)
{
	int64_t n[2];

	for (int i = 0; i < 2; i++)
		n[i] =
		    (int64_t)tk_service_metric(&f.host[i], "soul_mcp_children");
	*(int *)arg = n[0] == 1 ? 0 : 1;
	return n[0] + n[1] == 1;
}

/* Whichever replica gets a call, there is one process of a user. */
TEST(a_process_is_single_among_replicas_and_calls_are_passed_on)
{
	long long passed;
	int has;

	fixture_start_two();
	for (int i = 0; i < 40; i++)
		mh_ok(&f, "sim__echo", "{\"text\":\"x\"}", "x");
	mh_await_sims(1);
	ck_assert(tk_until(one_has_the_instance, &has, MH_MS));
	passed = tk_service_metric(&f.host[0],
		     "soul_mcp_calls_total{server=\"sim\",end=\"ok\"}") *
	    tk_service_metric(
		&f.host[1], "soul_mcp_calls_total{server=\"sim\",end=\"ok\"}");
	ck_assert_int_gt(passed, 0);
	mh_stop(&f);
}

static bool
all_are_cancelled(void *arg)
{
	(void)arg;
	return mh_log_lines(tk_path("sim.log"), "cancelled") == 8;
}

TEST(progress_and_cancels_reach_the_replica_that_has_the_process)
{
	struct mh_call c[8];
	json_t *j;

	fixture_start_two();
	mh_ok(&f, "sim__echo", "{\"text\":\"x\"}", "x");
	for (size_t i = 0; i < 8; i++)
		mh_begin(&f, &c[i], "sim__wait", "{\"ms\":600000}");
	for (size_t i = 0; i < 8; i++) {
		mh_await_progress(&c[i]);
		mh_cancel(&c[i]);
		j = mh_await(&c[i]);
		ck_assert_str_eq(tk_text(j, "error.code"), "NOT_CONFIRMED");
		json_decref(j);
	}
	/* A call's end does not wait for the server. */
	ck_assert(tk_until(all_are_cancelled, NULL, MH_MS));
	mh_stop(&f);
}

/* Calls of a killed replica are not confirmed; later ones work. */
TEST_T(a_killed_replica_loses_its_calls_and_nothing_is_executed_twice, 90)
{
	struct mh_call c;
	bool killed[2] = { false, false };
	json_t *j;
	int has;

	fixture_start_two();
	mh_ok(&f, "sim__echo", "{\"text\":\"x\"}", "x");
	mh_await_sims(1);
	ck_assert(tk_until(one_has_the_instance, &has, MH_MS));
	mh_begin(&f, &c, "sim__wait", "{\"ms\":600000}");
	mh_await_progress(&c);
	tk_signal(&f.host[has].proc, SIGKILL);
	(void)tk_wait(&f.host[has].proc, MH_MS);
	f.host[has].proc.pid = 0;
	killed[has] = true;
	natsSubscription_Destroy(c.sub);
	/* Its lease expires; until then its calls say that it is not there. */
	do {
		j = mh_call(&f, "sim__echo", "{\"text\":\"y\"}");
		if (json_is_true(tk_at(j, "ok")))
			break;
		ck_assert_str_eq(
		    tk_text(j, "error.code"), "SERVER_UNAVAILABLE");
		json_decref(j);
	} while (true);
	json_decref(j);
	ck_assert_uint_eq(mh_log_lines(tk_path("sim.log"), "wait"), 1);
	ck_assert_uint_eq(mh_log_lines(tk_path("sim.log"), "\"y\""), 1);
	ck_assert(killed[0] != killed[1]);
	mh_stop(&f);
}

TEST(a_replica_that_starts_later_knows_the_tools)
{
	mh_config(MH_SIM("sim", ""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	mh_await_sims(0);
	tk_service_end(&f.host[0]);
	mh_start_host(&f, 1, NULL);
	mh_await_tools(&f, SIM_TOOLS);
	/* No process was started for it. */
	ck_assert_uint_eq(mh_sims(), 0);
	mh_stop(&f);
}

TEST(what_did_not_change_keeps_its_process)
{
	json_t *before, *after;

	mh_config(MH_SIM("a", "") "," MH_SIM("b", ""), MH_SIM_AT, MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, 2 * SIM_TOOLS);
	mh_ok(&f, "a__echo", "{\"text\":\"1\"}", "1");
	mh_ok(&f, "b__echo", "{\"text\":\"1\"}", "1");
	mh_await_sims(2);
	before = mh_list(&f, "", 64);
	/* An error changes nothing. */
	mh_config("\"a\":{\"command\":3}");
	ck_assert(
	    tk_until((bool (*)(void *))tk_service_ready, &f.host[0], MH_MS));
	mh_config(MH_SIM("a", "") "," MH_SIM("c", ",\"more=1\""), MH_SIM_AT,
	    MH_SIM_AT);
	mh_await_tools(&f, 2 * SIM_TOOLS + 1);
	after = mh_list(&f, "", 64);
	ck_assert_str_ne(
	    tk_text(before, "revision"), tk_text(after, "revision"));
	json_decref(before);
	json_decref(after);
	ck_assert(!mh_has_tool(&f, "b__echo"));
	mh_ok(&f, "a__echo", "{\"text\":\"2\"}", "2");
	/* That of a, and no longer those of b, or that which listed c. */
	mh_await_sims(1);
	ck_assert_int_eq(tk_service_metric(&f.host[0],
			     "soul_mcp_restarts_total{server=\"a\"}"),
	    0);
	mh_stop(&f);
}

TEST(the_longest_idle_process_makes_room_for_another)
{
	const char *const more[] = { "MCP_CHILDREN_MAX=2", NULL };
	static const char *const users[] = { "u1", "u2", "u3", "u4" };
	struct mh_call c[2];

	mh_config(MH_SIM("sim", ""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	tk_service_end(&f.host[0]);
	mh_start_host(&f, 0, more);
	mh_await_tools(&f, SIM_TOOLS);
	for (size_t i = 0; i < 4; i++) {
		f.user = users[i];
		mh_ok(&f, "sim__echo", "{\"text\":\"x\"}", "x");
		ck_assert_uint_le(mh_sims(), 2);
	}
	/* If none is idle, there is no room. */
	for (size_t i = 0; i < 2; i++) {
		f.user = users[i];
		mh_begin(&f, &c[i], "sim__wait", "{\"ms\":600000}");
		mh_await_progress(&c[i]);
	}
	f.user = users[2];
	mh_fails(&f, "sim__echo", "{\"text\":\"x\"}", "BUSY");
	for (size_t i = 0; i < 2; i++) {
		mh_cancel(&c[i]);
		json_decref(mh_await(&c[i]));
	}
	mh_ok(&f, "sim__echo", "{\"text\":\"x\"}", "x");
	mh_stop(&f);
}

TEST(an_idle_process_is_stopped_and_started_when_it_is_wanted)
{
	const char *const more[] = { "MCP_IDLE_S=1", NULL };

	mh_config(MH_SIM("sim", ""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	tk_service_end(&f.host[0]);
	mh_start_host(&f, 0, more);
	mh_await_tools(&f, SIM_TOOLS);
	mh_ok(&f, "sim__echo", "{\"text\":\"1\"}", "1");
	mh_await_sims(0);
	mh_ok(&f, "sim__echo", "{\"text\":\"2\"}", "2");
	mh_stop(&f);
}
