/* Servers that do not do what they should. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/json.h"
#include "testkit/mcp_fixture.h"

#define SIM_TOOLS 6

static struct mcp_fixture f;

/* A server with these switches works. */
static void
works_with(const char *switches)
{
	mh_config("\"sim\":{\"command\":\"%s\",\"args\":[\"log=%s\"%s],"
		  "\"policy\":\"auto\"}",
	    MH_SIM_AT, switches);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	mh_ok(&f, "sim__echo", "{\"text\":\"x\"}", "x");
	mh_ok(&f, "sim__echo", "{\"text\":\"y\"}", "y");
}

TEST(lines_that_are_no_json_are_skipped_and_counted)
{
	works_with(",\"noise\"");
	ck_assert_int_gt(
	    tk_service_metric(&f.host[0], "soul_mcp_noise_total"), 0);
	mh_stop(&f);
}

TEST(a_line_over_the_limit_is_skipped)
{
	works_with(",\"huge=9000000\"");
	ck_assert_int_gt(
	    tk_service_metric(&f.host[0], "soul_mcp_noise_total"), 0);
	mh_stop(&f);
}

TEST(second_responses_and_those_to_other_ids_are_dropped)
{
	works_with(",\"twice\",\"wrong-id\"");
	ck_assert_int_gt(
	    tk_service_metric(&f.host[0], "soul_mcp_unwanted_total"), 2);
	mh_stop(&f);
}

TEST(a_list_without_end_is_read_one_time)
{
	works_with(",\"cursor-loop\"");
	mh_stop(&f);
}

TEST(a_list_in_pages_is_read_to_its_end)
{
	mh_config(MH_SIM("sim", ",\"more=40\",\"pages=7\""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS + 40);
	mh_stop(&f);
}

TEST(all_versions_of_the_protocol_are_spoken)
{
	static const char *const versions[] = { "2024-11-05", "2025-03-26",
		"2025-06-18", "2025-11-25" };
	char servers[8192], one[64];
	size_t used = 0;

	for (size_t i = 0; i < 4; i++) {
		used += (size_t)snprintf(servers + used, sizeof(servers) - used,
		    "%s\"v%zu\":{\"command\":\"%s\",\"args\":[\"log=%s\","
		    "\"version=%s\",\"batch\"],\"policy\":\"auto\"}",
		    i > 0 ? "," : "", i, tk_bin("mcp-sim"), tk_path("sim.log"),
		    versions[i]);
	}
	mh_config("%s", servers);
	mh_start(&f);
	mh_await_tools(&f, 4 * SIM_TOOLS);
	for (size_t i = 0; i < 4; i++) {
		snprintf(one, sizeof(one), "v%zu__echo", i);
		mh_ok(&f, one, "{\"text\":\"x\"}", "x");
	}
	mh_stop(&f);
}

TEST(an_unknown_version_is_not_spoken)
{
	json_t *j;

	mh_config(MH_SIM("sim", ",\"version=2099-01-01\""), MH_SIM_AT);
	mh_start(&f);
	j = mh_list(&f, "", 24);
	ck_assert_uint_eq(json_array_size(tk_at(j, "tools")), 0);
	ck_assert_uint_eq(json_array_size(tk_at(j, "notes")), 1);
	json_decref(j);
	mh_stop(&f);
}

TEST(the_stateless_protocol_is_detected)
{
	works_with(",\"modern-only\"");
	ck_assert(tk_log_has(&f.host[0].proc, "version=2026-07-28"));
	mh_stop(&f);
}

TEST(a_server_that_exits_at_an_unknown_request_is_started_anew)
{
	works_with(",\"die-on-discover\"");
	mh_stop(&f);
}

TEST(a_server_that_does_not_reply_to_unknown_requests_works)
{
	works_with(",\"mute=server/discover\"");
	mh_stop(&f);
}

TEST(requests_of_servers_get_a_response)
{
	json_t *j;

	mh_config(
	    MH_SIM("elicits", ",\"demand=elicitation/create\"") ", " MH_SIM(
		"pings", ",\"demand=ping\"") ", " MH_SIM_WITH("roots",
		",\"demand=roots/list\"", ",\"roots\":[\"/srv/a b\"]"),
	    MH_SIM_AT, MH_SIM_AT, MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, 3 * SIM_TOOLS);
	j = mh_call(&f, "elicits__echo", "{\"text\":\"x\"}");
	ck_assert(tk_text_has(j, "text", "-32601"));
	json_decref(j);
	j = mh_call(&f, "pings__echo", "{\"text\":\"x\"}");
	ck_assert(tk_text_has(j, "text", "\"result\":{}"));
	json_decref(j);
	j = mh_call(&f, "roots__echo", "{\"text\":\"x\"}");
	ck_assert(tk_text_has(j, "text", "file:///srv/a%20b"));
	json_decref(j);
	mh_stop(&f);
}

TEST(a_list_that_changes_is_read_anew_and_announced)
{
	natsSubscription *sub;
	json_t *before, *after;

	mh_config(MH_SIM("sim", ",\"change=1\""), MH_SIM_AT);
	mh_start(&f);
	sub = tk_nats_listen(f.nc, "soul.tool.present.mcp-host");
	before = tk_nats_next(sub, MH_MS, NULL);
	mh_await_tools(&f, SIM_TOOLS + 1);
	do {
		after = tk_nats_next(sub, MH_MS, NULL);
		ck_assert_ptr_nonnull(after);
		if (!json_equal(
			tk_at(before, "revision"), tk_at(after, "revision")))
			break;
		json_decref(after);
	} while (true);
	json_decref(before);
	json_decref(after);
	natsSubscription_Destroy(sub);
	mh_stop(&f);
}

TEST(a_call_that_is_lost_with_its_server_is_not_confirmed_and_not_repeated)
{
	mh_config(MH_SIM("sim", ",\"die-at=2\""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	mh_ok(&f, "sim__write_note", "{\"text\":\"1\"}", "1");
	mh_fails(&f, "sim__write_note", "{\"text\":\"2\"}", "NOT_CONFIRMED");
	/* The server is started anew. */
	mh_ok(&f, "sim__write_note", "{\"text\":\"3\"}", "3");
	ck_assert_uint_eq(mh_log_lines(tk_path("sim.log"), "write_note"), 3);
	ck_assert_uint_eq(mh_log_lines(tk_path("sim.log"), "\"2\""), 1);
	ck_assert_int_eq(tk_service_metric(&f.host[0],
			     "soul_mcp_restarts_total{server=\"sim\"}"),
	    1);
	mh_stop(&f);
}

static bool
has_noticed(void *arg)
{
	(void)arg;
	return tk_log_has(&f.host[0].proc, "mcp.server_ended");
}

TEST(killed_servers_are_started_anew)
{
	mh_config(MH_SIM("sim", ""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	mh_ok(&f, "sim__echo", "{\"text\":\"1\"}", "1");
	/* That which has listed the tools is stopped, and not killed. */
	mh_await_sims(1);
	ck_assert_uint_eq(mh_kill_sims(), 1);
	/* A call that is sent to a dying one is not confirmed. */
	ck_assert(tk_until(has_noticed, NULL, MH_MS));
	mh_ok(&f, "sim__echo", "{\"text\":\"2\"}", "2");
	mh_stop(&f);
}

TEST(a_server_that_cannot_be_started_is_named_and_disturbs_no_other)
{
	json_t *j;

	mh_config("\"none\":{\"command\":\"no-such-program\"}, " MH_SIM(
		      "dead", ",\"dead\"") ", " MH_SIM("sim", ""),
	    MH_SIM_AT, MH_SIM_AT);
	mh_start(&f);
	do {
		j = mh_list(&f, "", 24);
		if (json_array_size(tk_at(j, "tools")) == SIM_TOOLS)
			break;
		json_decref(j);
	} while (true);
	ck_assert_uint_eq(json_array_size(tk_at(j, "notes")), 2);
	json_decref(j);
	mh_ok(&f, "sim__echo", "{\"text\":\"1\"}", "1");
	mh_stop(&f);
}

static bool
has_logged(void *part)
{
	return tk_log_has(&f.host[0].proc, part);
}

/* What an operator needs, and users do not get. */
TEST(what_a_server_that_does_not_start_has_written_is_in_the_log)
{
	json_t *j;
	char code[TK_CODE], *text;

	mh_config("\"odd\":{\"command\":\"%s\",\"args\":[\"nonsense\"]}",
	    tk_bin("mcp-sim"));
	mh_start(&f);
	(void)mh_has_tool(&f, "odd__echo");
	ck_assert(tk_until(has_logged,
	    (void *)(uintptr_t) "stderr=\"mcp-sim: unknown switch nonsense\"",
	    MH_MS));
	ck_assert_int_gt(tk_service_metric(&f.host[0],
			     "soul_mcp_failed_starts_total{server=\"odd\"}"),
	    0);
	j = tk_nats_request(
	    f.nc, "soul.rpc.mcp.servers", "{\"user_id\":\"ann\"}", code);
	ck_assert_str_eq(tk_text(j, "servers.0.error"), "exit code 64");
	text = json_dumps(j, 0);
	ck_assert_ptr_null(strstr(text, "nonsense"));
	free(text);
	json_decref(j);
	mh_stop(&f);
}

TEST(a_deaf_server_is_killed_with_its_children)
{
	mh_config(MH_SIM("sim", ",\"deaf\",\"child\""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	mh_ok(&f, "sim__echo", "{\"text\":\"1\"}", "1");
	ck_assert_uint_ge(mh_sims(), 2);
	mh_stop(&f);
}

TEST(a_killed_host_takes_its_servers_with_it)
{
	mh_config(MH_SIM("sim", ",\"deaf\",\"child\""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	mh_ok(&f, "sim__echo", "{\"text\":\"1\"}", "1");
	tk_signal(&f.host[0].proc, SIGKILL);
	(void)tk_wait(&f.host[0].proc, MH_MS);
	f.host[0].proc.pid = 0;
	mh_await_sims(0);
	mh_stop(&f);
}

/* Neither ends them, so the next host does, and then starts its own. */
TEST(a_host_that_was_killed_with_its_shims_leaves_nothing_for_the_next)
{
	mh_config(MH_SIM("sim", ",\"deaf\",\"child\""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	mh_ok(&f, "sim__echo", "{\"text\":\"1\"}", "1");
	tk_signal(&f.host[0].proc, SIGSTOP);
	mh_kill_shims(f.host[0].proc.pid);
	tk_signal(&f.host[0].proc, SIGKILL);
	(void)tk_wait(&f.host[0].proc, MH_MS);
	f.host[0].proc.pid = 0;
	ck_assert_uint_ge(mh_sims(), 2);
	mh_start_host(&f, 0, NULL);
	/* The lease of the killed one is for ann's process alone. */
	f.user = "bob";
	mh_ok(&f, "sim__echo", "{\"text\":\"2\"}", "2");
	/* Bob's with its child; another test's host may have ended ann's. */
	mh_await_sims(2);
	mh_stop(&f);
}
