/*
 * Turns of llm-orchestrator that use an MCP server through mcp-host: what is
 * asked, what is executed, and what the reply has of it.
 */
#include <string.h>

#include "testkit/mcp_fixture.h"
#include "testkit/orch_fixture.h"

#define SIM_TOOLS 6
#define CONFIG \
	"\"sim\":{\"command\":\"%s\",\"args\":[\"log=%s\",\"describe=%s\"]}"
#define ECHO    "[[\"sim__echo\",\"{\\\"text\\\":\\\"a\\\"}\"]]"
#define CHANGED "Sends it to everybody."
#define WAIT    "[[\"sim__wait\",\"{\\\"ms\\\":20000}\"]]"

static struct orch_fixture f;
static struct mcp_fixture h;
static struct orch_turn now;

static void
begin(void)
{
	orch_fixture_start(&f, 1);
	orch_peers_set(&f.peers, filter, INTENT_FALLBACK);
	h = (struct mcp_fixture){
		.nats = f.nats, .redis = f.redis, .nc = f.peers.nc, .user = "u1"
	};
	mh_config(CONFIG, MH_SIM_AT, tk_path("describe"));
	mh_start_host(&h, 0, NULL);
	mh_await_tools(&h, SIM_TOOLS);
}

static void
finish(void)
{
	tk_service_end(&h.host[0]);
	mh_await_sims(0);
	orch_fixture_stop(&f);
}

static size_t
executed(const char *tool)
{
	return mh_log_lines(tk_path("sim.log"), tool);
}

/* A turn in which the model makes these calls. */
static void
turn(const char *text, const char *calls, const char *last)
{
	if (calls != NULL)
		orch_model_reply(&f.model, "", calls);
	if (last != NULL)
		orch_model_reply(&f.model, last, NULL);
	orch_turn_start(&now, &f, text);
	(void)orch_turn_end(&now);
}

static void
ck_question(void)
{
	orch_ck_completed(&now, .executed = "", .failed = "sim__echo",
	    .errors = "approval required");
	orch_turn_close(&now);
}

static void
ck_done(const char *reply)
{
	orch_ck_completed(
	    &now, .reply = reply, .executed = "sim__echo", .failed = "");
	orch_turn_close(&now);
}

static bool
has_changed(void *arg)
{
	json_t *list = mh_list(&h, "", 64), *one;
	bool is = false;
	size_t i;

	(void)arg;
	json_array_foreach (json_object_get(list, "tools"), i, one)
		is |= strcmp(orch_text(one, "name"), "sim__echo") == 0 &&
		    strcmp(orch_text(one, "description"), CHANGED) == 0;
	json_decref(list);
	return is;
}

TEST_T(a_tool_is_used_as_its_user_approves, 90)
{
	begin();
	turn("念 a", ECHO, NULL);
	ck_question();
	turn("不要", NULL, NULL);
	orch_ck_completed(&now, .reply = "好的，echo没有做。", .executed = "",
	    .failed = "sim__echo", .errors = "not approved");
	orch_turn_close(&now);
	ck_assert_uint_eq(executed("echo"), 0);

	turn("念 a", ECHO, NULL);
	ck_question();
	turn("一直可以", NULL, "念了 a。");
	ck_done("念了 a。");
	ck_assert_uint_eq(executed("echo"), 1);
	ck_assert_str_eq(orch_model_text(orch_model_request(&f.model,
					     orch_model_requests(&f.model) - 1),
			     -1),
	    "{\"ok\":true,\"tool_output\":\"a\"}");
	turn("再念 a", ECHO, "又念了。");
	ck_done("又念了。");
	ck_assert_uint_eq(executed("echo"), 2);

	/* A tool that has changed is another one. */
	tk_write_file(tk_path("describe"), CHANGED);
	ck_assert_uint_ge(mh_kill_sims(), 1);
	ck_assert(tk_until(has_changed, NULL, ORCH_WAIT_MS));
	turn("念 a", ECHO, NULL);
	ck_question();
	ck_assert_uint_eq(executed("echo"), 2);
	finish();
}

static bool
waits(void *arg)
{
	(void)arg;
	return executed("wait") == 1;
}

TEST_T(a_server_that_dies_leaves_its_call_unconfirmed, 90)
{
	begin();
	turn("等一下", WAIT, NULL);
	orch_ck_completed(&now, .executed = "", .failed = "sim__wait",
	    .errors = "approval required");
	orch_turn_close(&now);
	orch_model_reply(&f.model, "嗯。", NULL);
	orch_turn_start(&now, &f, "可以");
	ck_assert(tk_until(waits, NULL, ORCH_WAIT_MS));
	ck_assert_uint_ge(mh_kill_sims(), 1);
	(void)orch_turn_end(&now);
	orch_ck_completed(&now, .reply = "嗯。\nwait已经发出，但没有得到确认。",
	    .executed = "", .failed = "sim__wait", .errors = "not confirmed");
	orch_turn_close(&now);
	mh_await_tools(&h, SIM_TOOLS);
	ck_assert_uint_eq(executed("wait"), 1);
	finish();
}
