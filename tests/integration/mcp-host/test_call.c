/* Lists and calls of tools of servers that are processes. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/json.h"
#include "testkit/mcp_fixture.h"

#define SIM_TOOLS 6

static struct mcp_fixture f;

TEST(tools_of_a_process_are_listed_and_called)
{
	json_t *j, *t;

	mh_config(MH_SIM("sim", ""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	j = mh_list(&f, "", 24);
	t = tk_at(j, "tools.0");
	ck_assert_str_eq(tk_text(t, "name"), "sim__echo");
	ck_assert_str_eq(tk_text(t, "server"), "sim");
	ck_assert_str_eq(tk_text(t, "tool"), "echo");
	ck_assert_str_eq(tk_text(t, "policy"), "auto");
	ck_assert(json_is_true(tk_at(t, "read_only")));
	ck_assert_int_eq(tk_int(t, "timeout_s"), 60);
	json_decref(j);
	mh_ok(&f, "sim__echo", "{\"text\":\"\\u4f60\\u597d\\n2\"}",
	    "\xe4\xbd\xa0\xe5\xa5\xbd\n2");
	/* As XingChen-V writes names. */
	mh_ok(&f, "sim_echo", "{\"text\":\"x\"}", "x");
	mh_fails(&f, "sim__fail", "{\"text\":\"x\"}", "TOOL_ERROR");
	mh_fails(&f, "sim__none", "{}", "UNKNOWN_TOOL");
	mh_stop(&f);
}

TEST(one_process_for_each_user_or_one_for_all)
{
	mh_config(MH_SIM("own", "") ", " MH_SIM_WITH(
		      "shared", ",\"more=1\"", ",\"stateless\":true"),
	    MH_SIM_AT, MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, 2 * SIM_TOOLS + 1);
	mh_ok(&f, "own__echo", "{\"text\":\"1\"}", "1");
	mh_ok(&f, "shared__echo", "{\"text\":\"1\"}", "1");
	f.user = "bob";
	mh_ok(&f, "own__echo", "{\"text\":\"2\"}", "2");
	mh_ok(&f, "shared__echo", "{\"text\":\"2\"}", "2");
	/* That which listed the tools of "own" is stopped. */
	mh_await_sims(3);
	mh_stop(&f);
}

TEST(the_environment_is_a_minimal_one_with_what_is_configured)
{
	mh_config(MH_SIM_WITH("sim", "",
		      ",\"env\":{\"WHO\":\"${SOUL_USER}\",\"N\":3,"
		      "\"D\":\"${NO_SUCH:-default}\"}"),
	    MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	mh_ok(&f, "sim__variable", "{\"name\":\"WHO\"}", "ann");
	mh_ok(&f, "sim__variable", "{\"name\":\"N\"}", "3");
	mh_ok(&f, "sim__variable", "{\"name\":\"D\"}", "default");
	mh_ok(&f, "sim__variable", "{\"name\":\"REDIS_URL\"}", "(unset)");
	mh_stop(&f);
}

TEST(progress_is_passed_on_and_a_call_can_be_canceled)
{
	struct mh_call c;
	json_t *j;

	mh_config(MH_SIM("sim", ""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	mh_begin(&f, &c, "sim__wait", "{\"ms\":600}");
	j = mh_await(&c);
	ck_assert(json_is_true(tk_at(j, "ok")));
	ck_assert_uint_ge(c.progress, 2);
	json_decref(j);
	mh_begin(&f, &c, "sim__wait", "{\"ms\":600000}");
	mh_await_progress(&c);
	mh_cancel(&c);
	j = mh_await(&c);
	ck_assert_str_eq(tk_text(j, "error.code"), "NOT_CONFIRMED");
	json_decref(j);
	/* The server knows, and is ready for the next. */
	mh_ok(&f, "sim__echo", "{\"text\":\"x\"}", "x");
	ck_assert_uint_eq(mh_log_lines(tk_path("sim.log"), "cancelled"), 1);
	mh_stop(&f);
}

TEST(a_call_that_is_canceled_while_its_server_starts_is_not_sent)
{
	struct mh_call c;
	json_t *j;

	/* It is probed for 2 s. */
	mh_config(MH_SIM("sim", ",\"mute=server/discover\""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	tk_service_end(&f.host[0]);
	mh_start_host(&f, 0, NULL);
	mh_await_tools(&f, SIM_TOOLS);
	mh_begin(&f, &c, "sim__echo", "{\"text\":\"x\"}");
	j = tk_nats_next(c.sub, MH_MS, NULL);
	ck_assert_str_eq(tk_text(j, "state"), "running");
	json_decref(j);
	mh_cancel(&c);
	j = mh_await(&c);
	ck_assert_str_eq(tk_text(j, "error.code"), "SERVER_UNAVAILABLE");
	json_decref(j);
	ck_assert_uint_eq(mh_log_lines(tk_path("sim.log"), "echo"), 0);
	mh_stop(&f);
}

/* Progress comes each 100 ms. */
TEST(progress_extends_the_time_of_a_call_and_silence_does_not)
{
	struct mh_call silent;
	json_t *j;

	mh_config(
	    MH_SIM_WITH("sim", "", ",\"timeoutMs\":2000") ", " MH_SIM_WITH(
		"mute", ",\"mute=tools/call\"", ",\"timeoutMs\":2000"),
	    MH_SIM_AT, MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, 2 * SIM_TOOLS);
	mh_begin(&f, &silent, "mute__echo", "{\"text\":\"x\"}");
	j = mh_call(&f, "sim__wait", "{\"ms\":3000}");
	ck_assert(json_is_true(tk_at(j, "ok")));
	json_decref(j);
	j = mh_await(&silent);
	ck_assert_str_eq(tk_text(j, "error.code"), "TIMEOUT");
	json_decref(j);
	mh_stop(&f);
}

TEST(the_same_call_is_executed_one_time)
{
	struct mh_call a, b;
	json_t *x, *y;

	mh_config(MH_SIM("sim", ""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	mh_begin_as(&f, &a, "sim__wait", "{\"ms\":300}", "same", "");
	mh_await_progress(&a);
	/* While it runs, and after its end. */
	mh_begin_as(&f, &b, "sim__wait", "{\"ms\":300}", "same", "");
	x = mh_await(&a);
	y = mh_await(&b);
	ck_assert(json_equal(x, y));
	json_decref(y);
	mh_begin_as(&f, &b, "sim__wait", "{\"ms\":300}", "same", "");
	y = mh_await(&b);
	ck_assert(json_equal(x, y));
	json_decref(x);
	json_decref(y);
	ck_assert_uint_eq(mh_log_lines(tk_path("sim.log"), "wait"), 1);
	mh_stop(&f);
}

TEST(more_calls_than_a_server_may_have_are_busy)
{
	struct mh_call c[16];
	json_t *j;

	mh_config(MH_SIM("sim", ""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	for (size_t i = 0; i < 16; i++)
		mh_begin(&f, &c[i], "sim__wait", "{\"ms\":600000}");
	for (size_t i = 0; i < 16; i++)
		mh_await_progress(&c[i]);
	mh_fails(&f, "sim__echo", "{\"text\":\"x\"}", "BUSY");
	for (size_t i = 0; i < 16; i++) {
		mh_cancel(&c[i]);
		j = mh_await(&c[i]);
		ck_assert_str_eq(tk_text(j, "error.code"), "NOT_CONFIRMED");
		json_decref(j);
	}
	mh_ok(&f, "sim__echo", "{\"text\":\"x\"}", "x");
	mh_stop(&f);
}
