/*
 * Alarms, and souls that speak although nobody asked; a plain NATS client is
 * alarm-clock.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/gateway_fixture.h"

#define NO_CLOCK                                                           \
	"no alarm-clock is running: start one, or see why none is ready, " \
	"then try again"
#define PUSH "{\"push_id\":\"p1\",\"state\":\"waiting\"}"
#define STAMPS                                     \
	"\"created_at\":\"2026-11-27T10:00:00Z\"," \
	"\"updated_at\":\"2026-11-27T10:00:00Z\""
#define ALARM                                                                 \
	"{\"alarm_id\":\"a1\",\"user_id\":\"ann\",\"kind\":\"alarm\","        \
	"\"text\":\"开会\",\"rule\":{\"kind\":\"daily\",\"at\":\"08:00\"}," \
	"\"zone\":\"Asia/Shanghai\",\"state\":\"set\","                       \
	"\"attempts\":0," STAMPS "}"

static struct gateway_fixture b;
static natsSubscription *clock_subs[3];
static json_t *clock_request; /* the last one */
static char clock_subject[64];
static pthread_mutex_t clock_lock = PTHREAD_MUTEX_INITIALIZER;

static const struct {
	const char *subject, *reply;
} clock_replies[] = {
	{ "soul.rpc.speak", PUSH },
	{ "soul.rpc.push.get",
	    "{\"push_id\":\"p1\",\"user_id\":\"ann\",\"request_id\":\"r\","
	    "\"text\":\"x\",\"verbatim\":true,\"source\":\"push\","
	    "\"state\":\"spoken\","
	    "\"attempts\":1,\"expires_at\":\"2026-11-27T10:00:00Z\"," STAMPS
	    "}" },
	{ "soul.rpc.alarm.list", "{\"alarms\":[" ALARM "]}" },
	{ "soul.rpc.alarm.cancel", "{\"alarms\":[" ALARM "]}" },
	{ "soul.rpc.alarm.", "{\"alarm\":" ALARM "}" },
};

static void
clock_on_request(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	const char *subject = natsMsg_GetSubject(m);

	(void)sub;
	(void)arg;
	pthread_mutex_lock(&clock_lock);
	snprintf(clock_subject, sizeof(clock_subject), "%s", subject);
	json_decref(clock_request);
	clock_request =
	    tk_json(natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m));
	pthread_mutex_unlock(&clock_lock);
	for (size_t i = 0; i < NELEM(clock_replies); i++) {
		if (strncmp(subject, clock_replies[i].subject,
			strlen(clock_replies[i].subject)) != 0)
			continue;
		natsConnection_PublishString(
		    nc, natsMsg_GetReply(m), clock_replies[i].reply);
		break;
	}
	natsMsg_Destroy(m);
}

static void
clock_start(void)
{
	static const char *const subjects[] = { "soul.rpc.alarm.*",
		"soul.rpc.speak", "soul.rpc.push.get" };

	for (size_t i = 0; i < NELEM(subjects); i++)
		ck_assert_int_eq(natsConnection_Subscribe(&clock_subs[i], b.nc,
				     subjects[i], clock_on_request, NULL),
		    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(b.nc), NATS_OK);
}

static void
clock_stop(void)
{
	for (size_t i = 0; i < NELEM(clock_subs); i++) {
		natsSubscription_Unsubscribe(clock_subs[i]);
		natsSubscription_Destroy(clock_subs[i]);
	}
	json_decref(clock_request);
	clock_request = NULL;
}

/* What alarm-clock got last, by its path; "" if that is absent. */
static const char *
clock_got(const char *path)
{
	pthread_mutex_lock(&clock_lock);
	const char *s = tk_find_text(clock_request, path);
	pthread_mutex_unlock(&clock_lock);
	return s;
}

static bool
clock_got_true(const char *path)
{
	return json_is_true(tk_find(clock_request, path));
}

/* A request, and the status and text of its response. */
struct speech_case {
	const char *token, *method, *path, *body;
	int status;
	const char *text;
};

static void
speech_check(const struct speech_case *c, int line)
{
	struct tk_response a = { 0 };

	gw_request_as(&b, &a, c->token, c->method, c->path, c->body);
	ck_assert_msg(
	    a.status == c->status && strstr(a.body.p, c->text) != NULL,
	    "line %d: %s %s %s: %d %s", line, c->method, c->path,
	    c->body != NULL ? c->body : "", a.status, a.body.p);
	tk_response_free(&a);
}
#define GETS(...) speech_check(&(struct speech_case){ __VA_ARGS__ }, __LINE__)

/* The lamp of ann, and a soul for it. */
static void
speech_bind(void)
{
	char soul[GW_SOUL_ID];

	gw_soul_as(&b, TOKEN_ANN, "friendly", soul);
	gw_mint_ok_as(&b, TOKEN_PROVISIONER, "lamp");
	gw_bind_as(&b, TOKEN_ANN, "lamp", soul, NULL);
}

TEST(alarms_are_set_listed_changed_and_canceled)
{
	gateway_fixture_start_alone(&b, NULL);
	clock_start();
	GETS(NULL, "GET",
	    "/v1/alarms?user_id=ann&when=%E6%98%8E%E5%A4%A9"
	    "&text=%E5%BC%80%E4%BC%9A&all=true",
	    NULL, 200, "\"alarm_id\":\"a1\"");
	ck_assert_str_eq(clock_got("user_id"), "ann");
	ck_assert_str_eq(clock_got("when"), "明天");
	ck_assert_str_eq(clock_got("match_text"), "开会");
	ck_assert(clock_got_true("all"));
	GETS(NULL, "POST", "/v1/alarms",
	    "{\"when\":\"明天早上八点\",\"text\":\"开会\",\"kind\":\"alarm\"}",
	    200, "\"alarm_id\":\"a1\"");
	ck_assert_str_eq(clock_got("user_id"), "demo-user");
	ck_assert_str_eq(clock_got("when"), "明天早上八点");
	ck_assert_str_eq(clock_got("kind"), "alarm");
	GETS(NULL, "GET", "/v1/alarms/a1", NULL, 200, "\"alarm_id\":\"a1\"");
	GETS(NULL, "PATCH", "/v1/alarms/a1",
	    "{\"rule\":{\"kind\":\"daily\",\"at\":\"09:00\"}}", 200,
	    "\"alarm_id\"");
	ck_assert_str_eq(clock_got("alarm_id"), "a1");
	ck_assert_str_eq(clock_got("rule.at"), "09:00");
	GETS(NULL, "POST", "/v1/alarms/a1/snooze", "{\"seconds\":300}", 200,
	    "\"alarm_id\"");
	ck_assert_str_eq(clock_subject, "soul.rpc.alarm.snooze");
	ck_assert_int_eq(tk_int(clock_request, "seconds"), 300);
	GETS(NULL, "DELETE", "/v1/alarms/a1?user_id=ann", NULL, 200,
	    "\"alarm_id\"");
	ck_assert_str_eq(clock_subject, "soul.rpc.alarm.cancel");
	ck_assert_str_eq(clock_got("alarm_id"), "a1");
	ck_assert_str_eq(clock_got("user_id"), "ann");
	clock_stop();
	gateway_fixture_stop(&b);
}

TEST(alarms_are_checked)
{
	gateway_fixture_start_alone(&b, NULL);
	clock_start();
	GETS(NULL, "POST", "/v1/alarms", "{\"text\":\"x\"}", 400,
	    "/when or /rule");
	GETS(NULL, "POST", "/v1/alarms",
	    "{\"when\":\"x\",\"rule\":{\"kind\":\"daily\"}}", 400,
	    "/when or /rule");
	GETS(NULL, "POST", "/v1/alarms", "{\"when\":\"x\",\"kind\":\"action\"}",
	    400, "/kind");
	GETS(NULL, "POST", "/v1/alarms", "{\"rule\":{\"kind\":\"never\"}}", 400,
	    "/rule/kind");
	GETS(NULL, "POST", "/v1/alarms/a1/snooze", "{\"seconds\":-1}", 400,
	    "/seconds");
	GETS(NULL, "GET", "/v1/alarms/a%2Fb", NULL, 400, "/alarm_id");
	GETS(NULL, "GET", "/v1/pushes/%01", NULL, 400, "");
	ck_assert_ptr_null(clock_request);
	clock_stop();
	gateway_fixture_stop(&b);
}

TEST(a_profile_has_a_time_zone_that_exists)
{
#define PROFILE "/v1/users/ann/profile"
	gateway_fixture_start_alone(&b, NULL);
	GETS(NULL, "PATCH", PROFILE,
	    "{\"user_profile\":{\"timezone\":\"Mars/Base\"}}", 400,
	    "/user_profile/timezone: must be the IANA name");
	GETS(NULL, "PATCH", PROFILE, "{\"user_profile\":{\"timezone\":8}}", 400,
	    "/user_profile/timezone");
	GETS(NULL, "PATCH", PROFILE,
	    "{\"user_profile\":{\"timezone\":\"../../etc/passwd\"}}", 400,
	    "/user_profile/timezone");
	/* The others are memory-worker's, which does not run. */
	GETS(NULL, "PATCH", PROFILE,
	    "{\"user_profile\":{\"timezone\":\"Asia/Tokyo\"}}", 503, "");
	GETS(NULL, "PATCH", PROFILE, "{\"user_profile\":null}", 503, "");
	gateway_fixture_stop(&b);
}

TEST(without_alarm_clock_the_error_names_it)
{
	gateway_fixture_start_alone(&b, NULL);
	GETS(NULL, "GET", "/v1/alarms", NULL, 503, NO_CLOCK);
	GETS(NULL, "POST", "/v1/alarms", "{\"when\":\"x\"}", 503, NO_CLOCK);
	GETS(NULL, "POST", "/v1/users/ann/say", "{\"text\":\"x\"}", 503,
	    NO_CLOCK);
	GETS(NULL, "GET", "/v1/pushes/p1", NULL, 503, NO_CLOCK);
	gateway_fixture_stop(&b);
}

TEST(a_client_lets_a_soul_speak)
{
	natsSubscription *audit;
	json_t *j;
	char *text;

	gw_start_with_tokens(&b);
	clock_start();
	audit = gw_audit_subscribe(&b);
	speech_bind();
	json_decref(gw_audit_next(audit, "terminal_minted"));
	json_decref(gw_audit_next(audit, "binding_changed"));
	GETS(TOKEN_ANN, "POST", "/v1/terminals/lamp/say",
	    "{\"text\":\"洗好了\",\"id\":\"w7\",\"urgent\":true}", 202,
	    "\"push_id\":\"p1\"");
	ck_assert_str_eq(clock_got("user_id"), "ann");
	ck_assert_str_eq(clock_got("terminal_id"), "lamp");
	ck_assert_str_eq(clock_got("request_id"), "w7");
	ck_assert_str_eq(clock_got("reason"), "push");
	ck_assert(clock_got_true("urgent"));
	/* A default is not written. */
	ck_assert(!json_is_false(tk_find(clock_request, "verbatim")));
	j = gw_audit_next(audit, "speech_requested");
	ck_assert_str_eq(tk_find_text(j, "payload.terminal_id"), "lamp");
	text = json_dumps(j, 0);
	ck_assert_ptr_null(strstr(text, "洗好了"));
	free(text);
	json_decref(j);
	GETS(TOKEN_OPERATOR, "POST", "/v1/users/ann/say",
	    "{\"about\":\"门铃响了\"}", 202, "\"state\":\"waiting\"");
	ck_assert_str_eq(clock_got("terminal_id"), "");
	ck_assert_str_eq(clock_got("text"), "门铃响了");
	ck_assert(json_is_false(tk_find(clock_request, "verbatim")));
	ck_assert_int_eq(strncmp(clock_got("request_id"), "say_", 4), 0);
	GETS(TOKEN_ANN, "GET", "/v1/pushes/p1", NULL, 200,
	    "\"state\":\"spoken\"");
	ck_assert_str_eq(clock_got("push_id"), "p1");
	natsSubscription_Destroy(audit);
	clock_stop();
	gateway_fixture_stop(&b);
}

TEST(only_bodies_of_the_user_speak)
{
	gw_start_with_tokens(&b);
	clock_start();
	speech_bind();
#define LAMP "/v1/terminals/lamp/say"
	GETS(TOKEN_BOB, "POST", LAMP, "{\"text\":\"x\"}", 404,
	    "terminal not found");
	GETS(TOKEN_ANN, "POST", "/v1/terminals/none/say", "{\"text\":\"x\"}",
	    404, "terminal not found");
	GETS(TOKEN_OPERATOR, "POST", LAMP,
	    "{\"text\":\"x\",\"user_id\":\"bob\"}", 404, "terminal not found");
	GETS(TOKEN_ANN, "POST", LAMP, "{}", 400, "/text or /about");
	GETS(TOKEN_ANN, "POST", LAMP, "{\"text\":\"x\",\"about\":\"y\"}", 400,
	    "/text or /about");
	GETS(TOKEN_ANN, "POST", LAMP, "{\"text\":\"x\",\"expires_s\":0}", 400,
	    "/expires_s");
	GETS(TOKEN_ANN, "POST", LAMP, "{\"text\":7}", 400, "/text");
	GETS(TOKEN_ANN, "POST", LAMP, "[]", 400, "");
	GETS(TOKEN_OPERATOR, "POST", "/v1/users/ann/say",
	    "{\"text\":\"x\",\"user_id\":\"bob\"}", 400, "/user_id");
	ck_assert_ptr_null(clock_request);
	clock_stop();
	gateway_fixture_stop(&b);
}

TEST(a_notifier_speaks_to_its_users_and_does_nothing_else)
{
	gw_start_with_tokens(&b);
	clock_start();
	speech_bind();
	GETS(TOKEN_NOTIFIER, "POST", "/v1/users/bob/say", "{\"text\":\"x\"}",
	    403, "is none of the users of the token");
	GETS(TOKEN_NOTIFIER, "POST", LAMP, "{\"text\":\"x\"}", 400,
	    "user_id: must be named");
	GETS(TOKEN_NOTIFIER, "POST", LAMP,
	    "{\"text\":\"x\",\"user_id\":\"bob\"}", 403, "none of the users");
	GETS(TOKEN_NOTIFIER, "GET", "/v1/alarms?user_id=ann", NULL, 403, "");
	GETS(TOKEN_NOTIFIER, "GET", "/v1/souls?user_id=ann", NULL, 403, "");
	GETS(TOKEN_NOTIFIER, "POST", LAMP,
	    "{\"text\":\"x\",\"user_id\":\"ann\"}", 202, "p1");
	for (int i = 0; i < 5; i++)
		GETS(TOKEN_NOTIFIER, "POST", "/v1/users/ann/say",
		    "{\"text\":\"x\"}", 202, "p1");
	GETS(TOKEN_NOTIFIER, "POST", "/v1/users/ann/say", "{\"text\":\"x\"}",
	    429, "6 times a minute");
	/* An owner has no such limit. */
	GETS(TOKEN_ANN, "POST", "/v1/users/ann/say", "{\"text\":\"x\"}", 202,
	    "p1");
	clock_stop();
	gateway_fixture_stop(&b);
}

TEST(something_happens_at_a_body)
{
	char path[64], type[64];

	gw_start_with_tokens(&b);
	clock_start();
	speech_bind();
#define NOTICE "/v1/terminals/lamp/notice"
	GETS(TOKEN_ANN, "POST", NOTICE,
	    "{\"type\":\"button\",\"text\":\"按下了按钮\","
	    "\"data\":{\"n\":2}}",
	    202, "p1");
	ck_assert_str_eq(clock_got("text"), "按下了按钮 {\"n\":2}");
	ck_assert_str_eq(clock_got("title"), "button");
	ck_assert_str_eq(clock_got("terminal_id"), "lamp");
	ck_assert(json_is_false(tk_find(clock_request, "verbatim")));
	GETS(TOKEN_ANN, "POST", NOTICE,
	    "{\"type\":\"button\",\"text\":\"又按了\"}", 429, "within 10 s");
	for (int i = 0; i < 5; i++) {
		snprintf(
		    type, sizeof(type), "{\"type\":\"t%d\",\"text\":\"x\"}", i);
		GETS(TOKEN_ANN, "POST", NOTICE, type, 202, "p1");
	}
	GETS(TOKEN_ANN, "POST", NOTICE, "{\"type\":\"t9\",\"text\":\"x\"}", 429,
	    "6 notices a minute");
	snprintf(path, sizeof(path), "/v1/terminals/%s/notice", "none");
	GETS(TOKEN_ANN, "POST", path, "{\"type\":\"x\",\"text\":\"x\"}", 404,
	    "terminal not found");
	GETS(TOKEN_NOTIFIER, "POST", NOTICE, "{\"type\":\"x\",\"text\":\"x\"}",
	    403, "");
	clock_stop();
	gateway_fixture_stop(&b);
}

TEST(data_of_a_notice_is_limited)
{
	char body[2048];

	gw_start_with_tokens(&b);
	clock_start();
	speech_bind();
	snprintf(body, sizeof(body),
	    "{\"type\":\"x\",\"text\":\"x\",\"data\":\"%01100d\"}", 0);
	GETS(TOKEN_ANN, "POST", NOTICE, body, 400, "/data: must be at most");
	ck_assert_ptr_null(clock_request);
	clock_stop();
	gateway_fixture_stop(&b);
}

TEST(a_soul_has_quiet_hours)
{
	char soul[GW_SOUL_ID], path[128];
	json_t *j;

	gw_start_with_tokens(&b);
	gw_soul_as(&b, TOKEN_ANN, "friendly", soul);
	snprintf(path, sizeof(path), "/v1/souls/%s", soul);
	GETS(TOKEN_ANN, "GET", "/v1/souls", NULL, 200,
	    "\"proactive\":\"alarms\"");
	GETS(TOKEN_ANN, "PATCH", path,
	    "{\"quiet_hours\":{\"from\":\"22:30\",\"to\":\"07:05\","
	    "\"urgent\":true},\"proactive\":\"all\"}",
	    200, "\"from\":\"22:30\",\"to\":\"07:05\",\"urgent\":true");
	GETS(TOKEN_ANN, "GET", "/v1/souls", NULL, 200, "\"from\":\"22:30\"");
	/* What is absent stays. */
	GETS(TOKEN_ANN, "PATCH", path, "{\"proactive\":\"off\"}", 200,
	    "\"from\":\"22:30\"");
	GETS(TOKEN_ANN, "PATCH", path, "{\"quiet_hours\":null}", 200,
	    "\"proactive\":\"off\"");
	j = gw_json_as(&b, TOKEN_ANN, "GET", "/v1/souls", NULL);
	ck_assert_ptr_null(tk_find(j, "items.0.quiet_hours"));
	json_decref(j);
	GETS(TOKEN_ANN, "PATCH", path, "{\"quiet_hours\":{\"from\":\"25:00\"}}",
	    400, "/quiet_hours/");
	GETS(TOKEN_ANN, "PATCH", path, "{\"quiet_hours\":7}", 400,
	    "/quiet_hours");
	GETS(TOKEN_ANN, "PATCH", path, "{\"proactive\":\"loud\"}", 400,
	    "/proactive");
	GETS(TOKEN_BOB, "PATCH", path, "{\"proactive\":\"off\"}", 404,
	    "soul not found");
	gateway_fixture_stop(&b);
}
