/* Which calls need an approval, and what an approval is good for. */
#include <stdlib.h>
#include <string.h>

#include "testkit/json.h"
#include "testkit/mcp_fixture.h"
#include "tool/tool_digest.h"

#define SIM_TOOLS 6

static struct mcp_fixture f;

#define CONFIRMED(name, switches, more)                                  \
	"\"" name "\":{\"command\":\"%s\",\"args\":[\"log=%s\"" switches \
	"],\"trust_hints\":true" more "}"

/* An approval of this call, as a turn asks for it. */
static const char *
approval(const char *tool, const char *arguments, const char *scope)
{
	static char text[512];
	json_t *list = mh_list(&f, "", 64), *t;
	struct tool_sealed_call c = { .provider = STR("mcp-host"),
		.server = STR("sim"),
		.tool = str_of(tool),
		.arguments = str_of(arguments) };
	char seal[TOOL_DIGEST_MAX] = "";
	size_t i;

	json_array_foreach (tk_at(list, "tools"), i, t) {
		if (strcmp(tk_text(t, "tool"), tool) != 0)
			continue;
		c.definition = str_of(tk_text(t, "definition"));
		ck_assert_int_eq(tool_seal(&c, seal), RC_OK);
	}
	json_decref(list);
	snprintf(text, sizeof(text),
	    ",\"approval\":{\"interaction_id\":\"i1\",\"scope\":\"%s\","
	    "\"seal\":\"%s\"}",
	    scope, seal);
	return text;
}

/* Call write_note with an approval; the code of its error. */
static void
write_note(const char *id, const char *more, const char *code)
{
	struct mh_call c;
	json_t *j;

	mh_begin_as(&f, &c, "sim__write_note", "{\"text\":\"n\"}", id, more);
	j = mh_await(&c);
	ck_assert_str_eq(tk_find_text(j, "error.code"), code);
	ck_assert(json_is_true(tk_at(j, "ok")) == (code[0] == '\0'));
	json_decref(j);
}

static size_t
notes(void)
{
	return mh_log_lines(tk_path("sim.log"), "write_note");
}

TEST(what_acts_needs_an_approval_of_exactly_this_call)
{
	char other[512];

	mh_config(CONFIRMED("sim", "", ""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	/* It only reads, and the operator trusts that. */
	mh_ok(&f, "sim__echo", "{\"text\":\"x\"}", "x");
	write_note("c1", "", "APPROVAL_REQUIRED");
	snprintf(other, sizeof(other), "%s",
	    approval("write_note", "{\"text\":\"other\"}", "once"));
	write_note("c2", other, "APPROVAL_REQUIRED");
	ck_assert_uint_eq(notes(), 0);
	write_note(
	    "c3", approval("write_note", "{ \"text\":\"n\"}", "once"), "");
	ck_assert_uint_eq(notes(), 1);
	/* Once is once. */
	write_note("c4", "", "APPROVAL_REQUIRED");
	ck_assert_uint_eq(notes(), 1);
	mh_stop(&f);
}

TEST(always_is_for_a_soul_a_tool_and_its_definition)
{
	mh_config(CONFIRMED("sim", ",\"describe=%s\"", ""), MH_SIM_AT,
	    tk_path("describe"));
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	write_note(
	    "c1", approval("write_note", "{\"text\":\"n\"}", "always"), "");
	write_note("c2", "", "");
	ck_assert_uint_eq(notes(), 2);
	f.user = "bob";
	write_note("c3", "", "APPROVAL_REQUIRED");
	ck_assert_uint_eq(notes(), 2);
	mh_stop(&f);
}

/* Announcements of ann's tools so far; the last message is the test's own. */
static size_t
announcements(natsSubscription *sub)
{
	bool end = false;
	size_t n = 0;
	json_t *j;

	ck_assert_int_eq(natsConnection_PublishString(f.nc,
			     "soul.tool.present.mcp-host", "{\"end\":true}"),
	    NATS_OK);
	while (!end) {
		j = tk_nats_next(sub, MH_MS, NULL);
		ck_assert_ptr_nonnull(j);
		n += strcmp(tk_find_text(j, "user_id"), "ann") == 0;
		end = json_is_true(tk_find(j, "end"));
		json_decref(j);
	}
	return n;
}

/* Orchestrators that have stored the list must drop it. */
TEST(always_is_announced_before_the_call_ends)
{
	natsSubscription *sub;

	mh_config(CONFIRMED("sim", "", ""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	sub = tk_nats_listen(f.nc, "soul.tool.present.mcp-host");
	write_note(
	    "c1", approval("write_note", "{\"text\":\"n\"}", "once"), "");
	ck_assert_uint_eq(announcements(sub), 0);
	write_note(
	    "c2", approval("write_note", "{\"text\":\"n\"}", "always"), "");
	ck_assert_uint_eq(announcements(sub), 1);
	natsSubscription_Destroy(sub);
	mh_stop(&f);
}

/* As its process lists it, which is started for the call. */
TEST(a_tool_that_has_changed_by_the_time_of_the_call_is_not_called)
{
	mh_config(
	    MH_SIM("sim", ",\"describe=%s\""), MH_SIM_AT, tk_path("describe"));
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	tk_write_file(tk_path("describe"), "Sends its text to everybody.");
	mh_fails(&f, "sim__echo", "{\"text\":\"x\"}", "DEFINITION_CHANGED");
	ck_assert_uint_eq(mh_log_lines(tk_path("sim.log"), "echo"), 0);
	/* Others of that server are what they were. */
	mh_ok(&f, "sim__write_note", "{\"text\":\"x\"}", "x");
	/* That which knows the new definition may call it. */
	mh_ok(&f, "sim__echo", "{\"text\":\"x\"}", "x");
	mh_stop(&f);
}

TEST(a_definition_that_has_changed_is_not_called)
{
	struct mh_call c;
	json_t *j;
	char body[1024], inbox[64];

	mh_config(MH_SIM("sim", ""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, SIM_TOOLS);
	/* By one that the caller knows no longer. */
	snprintf(inbox, sizeof(inbox), "_INBOX.test.old");
	c = (struct mh_call){ .f = &f, .id = "old" };
	c.sub = tk_nats_listen(f.nc, inbox);
	snprintf(body, sizeof(body),
	    "{\"call_id\":\"old\",\"user_id\":\"ann\",\"soul_id\":\"s1\","
	    "\"session_id\":\"x1\",\"turn_id\":\"t1\",\"name\":\"sim__echo\","
	    "\"definition\":\"%064d\",\"arguments\":{\"text\":\"x\"}}",
	    0);
	ck_assert_int_eq(natsConnection_PublishRequestString(
			     f.nc, "soul.tool.mcp-host.call", inbox, body),
	    NATS_OK);
	j = mh_await(&c);
	ck_assert_str_eq(tk_text(j, "error.code"), "DEFINITION_CHANGED");
	json_decref(j);
	ck_assert_uint_eq(mh_log_lines(tk_path("sim.log"), "echo"), 0);
	mh_stop(&f);
}

TEST(tools_are_for_the_tenants_that_are_named_and_never_is_never)
{
	json_t *j;

	mh_config(CONFIRMED("sim", "", ",\"tenants\":[\"acme\"]") "," CONFIRMED(
		      "no", "", ",\"policy\":\"never\""),
	    MH_SIM_AT, MH_SIM_AT);
	mh_start(&f);
	f.user = "acme/ann";
	mh_await_tools(&f, SIM_TOOLS);
	f.user = "ann";
	j = mh_list(&f, "", 64);
	ck_assert_uint_eq(json_array_size(tk_at(j, "tools")), 0);
	json_decref(j);
	mh_fails(&f, "sim__echo", "{\"text\":\"x\"}", "UNKNOWN_TOOL");
	mh_stop(&f);
}

TEST(more_tools_than_a_turn_takes_are_ranked_and_the_others_named)
{
	json_t *j;

	mh_config(MH_SIM("sim", ",\"more=100\""), MH_SIM_AT);
	mh_start(&f);
	do {
		j = mh_list(&f, "store a note", 10);
		if (json_array_size(tk_at(j, "tools")) == 10)
			break;
		json_decref(j);
	} while (true);
	ck_assert_str_eq(tk_text(j, "tools.0.tool"), "write_note");
	ck_assert_uint_eq(json_array_size(tk_at(j, "left_out")), 1);
	ck_assert_uint_eq(json_array_size(tk_at(j, "left_out.0.names")), 96);
	json_decref(j);
	mh_stop(&f);
}
