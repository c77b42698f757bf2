/*
 * User texts and what a model derives from them are in no log above debug
 * level, and secrets are in none; all services log at debug level.
 */
#include <stdio.h>

#include "core/mem.h"
#include "testkit/stack/client.h"

#define DEBUG "LOG_LEVEL=debug"

STACK_SHARED({ .env = {
		   [STACK_LLM_SIM] = { DEBUG },
		   [STACK_INTENT_FILTER] = { DEBUG },
		   [STACK_EMOTION_ENGINE] = { DEBUG },
		   [STACK_MEMORY_WORKER] = { DEBUG,
		       "IDLE_SUMMARY_SCAN_INTERVAL_SECONDS=0.2" },
		   [STACK_LLM_ORCHESTRATOR] = { DEBUG,
		       "USER_IDLE_TIMEOUT_SECONDS=1", "LLM_MAX_RETRIES=0" },
		   [STACK_MQTT_BRIDGE] = { DEBUG },
		   [STACK_CHAT_GATEWAY] = { DEBUG },
		   [STACK_BODY_SIM] = { DEBUG, "BODY_COUNT=2" },
	       } })

/*
 * The model responds to a request that contains when with this status and an
 * error that quotes text.
 */
static void
model_will_quote(const char *when, int http, const char *text)
{
	char body[512];
	int status;

	snprintf(body, sizeof(body),
	    "{\"error\":{\"message\":\"you may not say: %s\"}}", text);
	json_decref(client_call(stack.service[STACK_LLM_SIM].http, "POST",
	    "/sim/script",
	    json_pack("{s[{sssssiss}]}", "faults", "kind", "status", "when",
		when, "status", http, "body", body),
	    &status));
	ck_assert_int_eq(status, 200);
}

static bool
has_noted(void *arg)
{
	return tk_log_has(&stack.service[STACK_MEMORY_WORKER].proc, arg);
}

TEST_T(model_output_is_not_logged, 60)
{
	static const struct {
		const char *session, *text;
		int status;
		const char *event;
	} cases[] = {
		{ "quoted", "今天我想告诉你一个秘密，我的门禁密码是四七一一",
		    400, "ev=idle.summary_rejected" },
		{ "denied", "请记住我的银行卡放在第二个抽屉里面", 401,
		    "ev=idle.summary_failed" },
	};
	struct client o = client_bound(&stack, "u-quoted", "terminal-001");
	char when[256];
	size_t i;

	for (i = 0; i < NELEM(cases); i++) {
		o.session = cases[i].session;
		model_will_quote(cases[i].text, cases[i].status, cases[i].text);
		(void)client_rejected(&stack, "POST", "/v1/chat",
		    client_chat_request(&o, cases[i].text), 502);
		json_decref(client_chat(&o, cases[i].text));
		/* The session is summarized once it is idle. */
		snprintf(when, sizeof(when), "用户：%s", cases[i].text);
		model_will_quote(when, cases[i].status, cases[i].text);
		ck_assert(tk_until(
		    has_noted, (void *)(uintptr_t)cases[i].event, STACK_MS));
	}
}

TEST(invalid_input_is_not_logged)
{
	struct client o = client_bound(&stack, "u-wrong", "terminal-002");
	json_t *j = client_chat_request(&o, "我今天心情不好，请不要告诉别人");

	/* In addition to valid members. */
	json_object_set_new(
	    j, "deadline_ms", json_string("我也不知道什么时候需要你的回答"));
	json_object_set_new(json_array_get(json_object_get(j, "inputs"), 0),
	    "type", json_string("我说的话 of no known kind"));
	(void)client_rejected(&stack, "POST", "/v1/chat", j, 400);
	(void)client_rejected(&stack, "PATCH", "/v1/users/u-wrong/profile",
	    json_pack("{s[s]}", "user_profile", "我的生日是五月初五，别忘了"),
	    400);
	json_decref(client_ok(&stack, "PATCH", "/v1/users/u-wrong/profile",
	    json_pack("{s{ss}}", "user_profile", "生日",
		"我的生日是五月初五，请你不要忘了")));
	(void)client_rejected(&stack, "POST", "/v1/turns/turn_none/cancel",
	    json_pack("{ssss}", "user_id", "u-wrong", "reason",
		"因为我已经不想再听你说下去了"),
	    404);
}
