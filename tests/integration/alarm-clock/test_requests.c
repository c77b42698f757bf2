/*
 * What users request of their alarms, over NATS and as tools.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "state/mcp.h"
#include "testkit/alarm_clock_fixture.h"
#include "testkit/json.h"

static struct alarm_clock_fixture f;

/* At a fixed time: 2026-11-27 18:00 in Shanghai, a Friday. */
#define NOW "'now':'2099-11-27T10:00:00Z'"

TEST(words_become_a_moment_and_errors_are_words)
{
	json_t *j;

	ac_start(&f);
	j = ac_call(&f, "alarm.put",
	    "{'user_id':'ann','terminal_id':'t1','text':'开会','when':"
	    "'明天早上八点'," NOW "}");
	ck_assert_str_eq(tk_text(j, "alarm.next_at"), "2099-11-28T00:00:00Z");
	ck_assert_str_eq(tk_text(j, "alarm.zone"), "Asia/Shanghai");
	ck_assert(tk_text_has(j, "alarm.moment", "8:00"));
	ck_assert(tk_text_has(j, "alarm.moment", "2099年11月28日"));
	ck_assert_str_eq(tk_text(j, "on"), "t1");
	json_decref(j);
	j = ac_call(&f, "alarm.put",
	    "{'user_id':'ann','when':'每天晚上十点','zone':'Europe/Berlin'," NOW
	    "}");
	ck_assert_str_eq(tk_text(j, "alarm.rule.kind"), "daily");
	ck_assert_str_eq(tk_text(j, "alarm.next_at"), "2099-11-27T21:00:00Z");
	json_decref(j);
	ac_rejects(&f, "alarm.put", "{'user_id':'ann','when':'九点'," NOW "}",
	    "invalid_request", "九点");
	ac_rejects(&f, "alarm.put", "{'user_id':'ann','when':'昨天'," NOW "}",
	    "invalid_request", "");
	ac_rejects(
	    &f, "alarm.put", "{'user_id':'ann'}", "invalid_request", "/when");
	ac_rejects(&f, "alarm.put",
	    "{'user_id':'ann','when':'明天早上八点','zone':'Mars/Base'}",
	    "invalid_request", "Mars/Base");
	ac_rejects(&f, "alarm.put", "{'user_id':'ann','rule':{'kind':'daily'}}",
	    "invalid_request", "/rule");
	ac_rejects(&f, "alarm.put",
	    "{'user_id':'ann','kind':'action','when':'明天早上八点'}",
	    "invalid_request", "/action");
	ac_stop(&f);
}

TEST(alarms_are_selected_by_words)
{
	char eight[AC_ID], nine[AC_ID];
	json_t *j;

	ac_start(&f);
	ac_put(&f,
	    "{'user_id':'ann','kind':'alarm','text':'起床','when':"
	    "'明天早上八点'}",
	    eight);
	ac_put(&f,
	    "{'user_id':'ann','kind':'alarm','text':'开会','when':"
	    "'后天早上九点'}",
	    nine);
	j = ac_call(&f, "alarm.list", "{'user_id':'ann'}");
	ck_assert_uint_eq(json_array_size(tk_at(j, "alarms")), 2);
	ck_assert_str_eq(tk_text(j, "alarms.0.alarm_id"), eight);
	json_decref(j);
	j = ac_call(&f, "alarm.list", "{'user_id':'bob'}");
	ck_assert_uint_eq(json_array_size(tk_at(j, "alarms")), 0);
	json_decref(j);
	ac_rejects(&f, "alarm.cancel", "{'user_id':'ann'}", "conflict", "开会");
	ac_rejects(&f, "alarm.cancel", "{'user_id':'ann','match_text':'跑步'}",
	    "not_found", "");
	ac_rejects(&f, "alarm.cancel", "{'user_id':'bob'}", "not_found", "");
	j = ac_call(&f, "alarm.cancel", "{'user_id':'ann','when':'明天早上'}");
	ck_assert_uint_eq(json_array_size(tk_at(j, "alarms")), 1);
	ck_assert_str_eq(tk_text(j, "alarms.0.alarm_id"), eight);
	ck_assert_str_eq(tk_text(j, "alarms.0.state"), "canceled");
	ck_assert_str_ne(tk_text(j, "alarms.0.moment"), "");
	json_decref(j);
	j = ac_call(&f, "alarm.change",
	    "{'user_id':'ann','match_text':'开会','when':"
	    "'2099-01-02T10:00:00+08:00','text':'开大会'}");
	ck_assert_str_eq(tk_text(j, "alarm.alarm_id"), nine);
	ck_assert_str_eq(tk_text(j, "alarm.text"), "开大会");
	ck_assert_str_eq(tk_text(j, "alarm.next_at"), "2099-01-02T02:00:00Z");
	json_decref(j);
	ac_rejects(&f, "alarm.change",
	    "{'user_id':'bob','alarm_id':'al_1','text':'x'}", "not_found", "");
	ac_stop(&f);
}

TEST(a_rung_alarm_is_snoozed)
{
	char id[AC_ID], rule[AC_ID], q[512];
	json_t *j;

	ac_start(&f);
	ac_rejects(&f, "alarm.snooze", "{'user_id':'ann'}", "not_found", "");
	snprintf(q, sizeof(q),
	    "{'user_id':'ann','terminal_id':'t1','kind':'alarm','rule':%s}",
	    ac_in(200, rule));
	ac_put(&f, q, id);
	ac_await_alarm(&f, id, "state", "rung");
	j = ac_call(&f, "alarm.snooze", "{'user_id':'ann','seconds':600}");
	ck_assert_str_eq(tk_text(j, "alarm.alarm_id"), id);
	ck_assert_str_eq(tk_text(j, "alarm.state"), "snoozed");
	json_decref(j);
	ac_stop(&f);
}

TEST(a_user_has_a_limited_number)
{
	char q[256];
	json_t *j;

	ac_start(&f);
	tk_service_end(&f.clock[0]);
	ac_start_clock(&f, 0, TK_ENV("ALARMS_PER_USER=3"));
	for (int i = 0; i < 3; i++) {
		snprintf(q, sizeof(q),
		    "{'user_id':'ann','text':'%d','when':"
		    "'2099-01-02T08:00:00Z'}",
		    i);
		json_decref(ac_call(&f, "alarm.put", q));
	}
	ac_rejects(&f, "alarm.put",
	    "{'user_id':'ann','text':'x','when':'2099-01-02T08:00:00Z'}",
	    "too_many_alarms", "3 alarms");
	j = ac_call(&f, "alarm.cancel", "{'user_id':'ann','all':true}");
	ck_assert_uint_eq(json_array_size(tk_at(j, "alarms")), 3);
	json_decref(j);
	json_decref(ac_call(&f, "alarm.put",
	    "{'user_id':'ann','text':'x','when':'2099-01-02T08:00:00Z'}"));
	ac_stop(&f);
}

/* A body's own alarm cannot be taken back, and a reply never hides that. */
TEST(a_bodys_own_alarm_stays)
{
	char id[AC_ID];
	json_t *j;

	ac_start(&f);
	ac_put(&f,
	    "{'user_id':'ann','terminal_id':'t1','kind':'alarm','text':'x',"
	    "'self_ringing':true,'when':'2099-01-02T08:00:00Z'}",
	    id);
	j = ac_call(&f, "alarm.change", "{'user_id':'ann','text':'y'}");
	ck_assert(!json_is_true(tk_find(j, "own_alarm_stays")));
	ck_assert(json_is_true(tk_at(j, "alarm.self_ringing")));
	json_decref(j);
	j = ac_call(&f, "alarm.change",
	    "{'user_id':'ann','when':'2099-01-02T09:00:00Z'}");
	ck_assert(json_is_true(tk_at(j, "own_alarm_stays")));
	ck_assert(!json_is_true(tk_find(j, "alarm.self_ringing")));
	json_decref(j);
	ac_stop(&f);
}

/* ---- tools ---- */

/* The definition of a tool that is offered to ann's soul s; "": it is not. */
static void
tool_definition(const char *name, char pin[128])
{
	json_t *list, *t;
	char code[TK_CODE];
	size_t i;

	pin[0] = '\0';
	list = tk_nats_request(f.nc, "soul.tool.alarm-clock.list",
	    "{\"user_id\":\"ann\",\"soul_id\":\"s\",\"text\":\"x\"}", code);
	ck_assert_str_eq(code, "");
	json_array_foreach (tk_at(list, "tools"), i, t)
		if (strcmp(tk_text(t, "name"), name) == 0)
			snprintf(pin, 128, "%s", tk_text(t, "definition"));
	json_decref(list);
}

static json_t *
tool_call_as(
    const char *id, const char *name, const char *arguments, const char *pin)
{
	char body[2048], code[TK_CODE], *p;
	json_t *j;

	snprintf(body, sizeof(body),
	    "{'call_id':'%s','user_id':'ann','soul_id':'s','session_id':'x1',"
	    "'turn_id':'u1','terminal_id':'t1','name':'%s','definition':'%s',"
	    "'arguments':%s}",
	    id, name, pin, arguments);
	for (p = body; *p != '\0'; p++)
		if (*p == '\'')
			*p = '"';
	j = tk_nats_request(f.nc, "soul.tool.alarm-clock.call", body, code);
	ck_assert_str_eq(code, "");
	return j;
}

static json_t *
tool_call(const char *id, const char *name, const char *arguments)
{
	char pin[128];

	tool_definition(name, pin);
	return tool_call_as(id, name, arguments, pin);
}

TEST(a_soul_sets_alarms_by_tools)
{
	json_t *j;

	ac_start(&f);
	j = tool_call("c1", "set_alarm",
	    "{'when':'明天早上八点','text':'开会','kind':'reminder'}");
	ck_assert(json_is_true(tk_at(j, "ok")));
	ck_assert(tk_text_has(j, "text", "8:00"));
	ck_assert(tk_text_has(j, "text", "t1"));
	json_decref(j);
	/* The same call does nothing more. */
	json_decref(tool_call("c1", "set_alarm",
	    "{'when':'明天早上八点','text':'开会','kind':'reminder'}"));
	j = tool_call("c2", "list_alarms", "{}");
	ck_assert(tk_text_has(j, "text", "开会"));
	json_decref(j);
	j = ac_call(&f, "alarm.list", "{'user_id':'ann'}");
	ck_assert_uint_eq(json_array_size(tk_at(j, "alarms")), 1);
	json_decref(j);
	j = tool_call("c3", "set_alarm", "{'when':'九点'}");
	ck_assert(json_is_false(tk_at(j, "ok")));
	ck_assert(tk_text_has(j, "text", "九点"));
	json_decref(j);
	j = tool_call("c4", "set_alarm", "{}");
	ck_assert_str_eq(tk_text(j, "error.code"), "INVALID_ARGUMENTS");
	json_decref(j);
	j = tool_call("c5", "change_alarm",
	    "{'match_text':'开会','when':'后天下午三点'}");
	ck_assert(json_is_true(tk_at(j, "ok")));
	json_decref(j);
	j = tool_call("c6", "cancel_alarm", "{'match_text':'开会'}");
	ck_assert(json_is_true(tk_at(j, "ok")));
	json_decref(j);
	j = tool_call("c7", "cancel_alarm", "{'match_text':'开会'}");
	ck_assert(json_is_false(tk_at(j, "ok")));
	json_decref(j);
	ac_stop(&f);
}

static void
tool_grant(const char *soul, const char *policy)
{
	const struct mcp_grant g = { .soul_id = str_of(soul),
		.server = STR("alarm-clock"),
		.tool = STR("set_alarm"),
		.policy = str_of(policy) };

	ck_assert_int_eq(mcp_grant_put(f.state.s, STR("ann"), &g), RC_OK);
}

TEST(a_user_forbids_a_tool_or_confirms_its_calls)
{
	static const struct {
		const char *soul, *policy;
		bool offered;
		const char *code;
	} rows[] = {
		{ "other", "never", true, "" },
		{ "", "never", false, "FORBIDDEN" },
		{ "s", "auto", true, "" },
		{ "s", "ask", true, "APPROVAL_REQUIRED" },
		{ "s", "never", false, "FORBIDDEN" },
	};
	char pin[128], is[128], id[16];
	json_t *j;

	ac_start(&f);
	tool_definition("set_alarm", pin);
	for (size_t i = 0; i < NELEM(rows); i++) {
		tool_grant(rows[i].soul, rows[i].policy);
		tool_definition("set_alarm", is);
		ck_assert_str_eq(is, rows[i].offered ? pin : "");
		snprintf(id, sizeof(id), "c%zu", i);
		j = tool_call_as(id, "set_alarm",
		    "{'when':'明天早上八点','text':'开会'}", pin);
		ck_assert_str_eq(tk_find_text(j, "error.code"), rows[i].code);
		json_decref(j);
		json_decref(tool_call("l", "list_alarms", "{}"));
	}
	/* Those that were denied have set nothing. */
	j = ac_call(&f, "alarm.list", "{'user_id':'ann'}");
	ck_assert_uint_eq(json_array_size(tk_at(j, "alarms")), 1);
	json_decref(j);
	j = tool_call_as("old", "list_alarms", "{}", pin);
	ck_assert_str_eq(tk_text(j, "error.code"), "DEFINITION_CHANGED");
	json_decref(j);
	ac_stop(&f);
}
