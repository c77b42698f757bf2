/*
 * System intents of alarms: alarm-clock is requested, no model, no body; the
 * reply claims what it has confirmed, and no more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/orch_fixture.h"
#include "testkit/service.h"

#define INTENT_SYSTEM(id, normalized)                                    \
	"{\"intent_id\":\"" id "\",\"intent_name\":\"设置提醒\","    \
	"\"confidence\":0.95,\"status\":\"system\",\"segment_index\":0," \
	"\"span\":{\"text\":\"x\",\"start\":0,\"end\":1},"               \
	"\"parameters\":{\"when\":\"明天早上\"},"                    \
	"\"normalized\":" normalized ",\"missing_parameters\":[],"       \
	"\"evidence\":[]}"
#define INTENT_SET                                          \
	INTENT_SYSTEM("sys.set_alarm",                      \
	    "{\"skill\":\"sys.set_alarm\",\"kind\":"        \
	    "\"reminder\",\"text\":\"喝水\",\"rule\":"    \
	    "{\"kind\":\"once\",\"at\":\"08:00\",\"date\":" \
	    "\"2036-11-28\"},\"zone\":\"Asia/Shanghai\"}")
#define INTENT_QUESTION                                                    \
	INTENT_SYSTEM("sys.set_alarm",                                     \
	    "{\"skill\":\"sys.set_alarm\",\"kind\":\"reminder\",\"text\":" \
	    "\"\",\"question\":\"“九点”是早上还是晚上？\"}")
#define INTENT_OWN                                        \
	INTENT_READY("i_own",                             \
	    "{\"skill\":\"create_alarm\",\"trigger_at\":" \
	    "\"2036-11-28T08:00:00+08:00\",\"label\":\"起床\"}")
#define REPLY_SET                                                              \
	"{\"alarm\":{\"alarm_id\":\"a1\",\"user_id\":\"u1\",\"kind\":"         \
	"\"reminder\",\"text\":\"喝水\",\"rule\":{\"kind\":\"once\",\"at\":" \
	"\"08:00\",\"date\":\"2036-11-28\"},\"zone\":\"Asia/Shanghai\","       \
	"\"state\":\"set\",\"next_at\":\"2036-11-28T00:00:00Z\",\"attempts\""  \
	":0,\"created_at\":\"2026-11-27T06:40:00Z\",\"updated_at\":"           \
	"\"2026-11-27T06:40:00Z\"},\"created\":true,\"on\":\"t1\"}"

/* alarm-clock: what it was requested last, and its replies. */
static struct {
	pthread_mutex_t lock;
	size_t n;
	char last[4096];
	const char *error; /* NULL: REPLY_SET */
} clock_peer = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
clock_on_request(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *p)
{
	natsMsg *r = NULL;
	const char *body;

	(void)sub;
	(void)p;
	pthread_mutex_lock(&clock_peer.lock);
	clock_peer.n++;
	snprintf(clock_peer.last, sizeof(clock_peer.last), "%.*s",
	    natsMsg_GetDataLength(m), natsMsg_GetData(m));
	body = clock_peer.error != NULL ? clock_peer.error : REPLY_SET;
	if (natsMsg_GetReply(m) != NULL &&
	    natsMsg_Create(&r, natsMsg_GetReply(m), NULL, body,
		(int)strlen(body)) == NATS_OK) {
		if (clock_peer.error != NULL) {
			natsMsgHeader_Set(r, "Nats-Service-Error", "conflict");
			natsMsgHeader_Set(r, "Nats-Service-Error-Code", "409");
		}
		natsConnection_PublishMsg(nc, r);
		natsMsg_Destroy(r);
	}
	pthread_mutex_unlock(&clock_peer.lock);
	natsMsg_Destroy(m);
}

static size_t
clock_requests(void)
{
	size_t n;

	pthread_mutex_lock(&clock_peer.lock);
	n = clock_peer.n;
	pthread_mutex_unlock(&clock_peer.lock);
	return n;
}

static bool
clock_was_requested(void *arg)
{
	(void)arg;
	return clock_requests() > 0;
}

/* The last request as JSON; the caller's reference. */
static json_t *
clock_last(void)
{
	json_t *j;

	pthread_mutex_lock(&clock_peer.lock);
	j = json_loads(clock_peer.last, 0, NULL);
	pthread_mutex_unlock(&clock_peer.lock);
	ck_assert_ptr_nonnull(j);
	return j;
}

TEST_T(an_alarm_is_set_without_a_model, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	json_t *last;

	orch_fixture_start(&b, 1);
	orch_peers_serve(&b.peers, "soul.rpc.alarm.put", clock_on_request);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_SET, ""));
	orch_turn_start(&t, &b, "明天早上提醒我喝水");
	orch_ck_completed(&t,
	    .reply = "好的，2036年11月28日星期五早上8:00提醒你喝水，"
		     "在这台设备上。",
	    .executed = "sys.set_alarm", .failed = "");
	ck_assert_uint_eq(orch_model_requests(&b.model), 0);
	ck_assert_uint_eq(orch_peers_count(&b.peers, "intent_action"), 0);
	ck_assert_uint_eq(clock_requests(), 1);
	last = clock_last();
	ck_assert_str_eq(orch_text(last, "user_id"), "u1");
	ck_assert_str_eq(orch_text(last, "soul_id"), "soul_1");
	ck_assert_str_eq(orch_text(last, "terminal_id"), "t1");
	ck_assert_str_eq(orch_text(last, "session_id"), "s1");
	ck_assert_str_eq(orch_text(last, "text"), "喝水");
	ck_assert_str_eq(orch_text(last, "when"), "明天早上");
	ck_assert_ptr_null(json_object_get(last, "rule"));
	ck_assert_ptr_null(json_object_get(last, "skill"));
	ck_assert(json_is_true(tk_find(orch_peers_last(&b.peers, filter),
	    "options.enable_alarm_intents")));
	json_decref(last);
	orch_turn_close(&t);

	/* Its error is the reply. */
	pthread_mutex_lock(&clock_peer.lock);
	clock_peer.error = "{\"error\":\"闹钟太多了。\",\"code\":\"conflict\"}";
	pthread_mutex_unlock(&clock_peer.lock);
	orch_turn_start(&t, &b, "明天早上提醒我喝水");
	orch_ck_completed(&t, .reply = "闹钟太多了。", .executed = "",
	    .failed = "sys.set_alarm", .errors = "闹钟太多了。");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

TEST_T(without_alarm_clock_nothing_is_claimed, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_SET, ""));
	orch_turn_start(&t, &b, "明天早上提醒我喝水");
	orch_ck_completed(&t, .reply = "闹钟服务现在用不了，没有设置成功。",
	    .executed = "", .failed = "sys.set_alarm");
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

TEST_T(a_question_requests_nothing, 60)
{
	struct orch_fixture b;
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_serve(&b.peers, "soul.rpc.alarm.put", clock_on_request);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_QUESTION, ""));
	orch_turn_start(&t, &b, "九点提醒我");
	orch_ck_completed(&t, .reply = "“九点”是早上还是晚上？", .executed = "",
	    .failed = "");
	ck_assert_uint_eq(clock_requests(), 0);
	ck_assert_uint_eq(orch_model_requests(&b.model), 0);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* The body rings itself; alarm-clock has a copy that does not ring. */
TEST_T(an_alarm_of_the_body_is_copied, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	json_t *last;

	orch_fixture_start(&b, 1);
	orch_fixture_set_skills(&b,
	    "[{\"name\":\"create_alarm\",\"input_schema\":{\"type\":"
	    "\"object\",\"properties\":{\"trigger_at\":{\"type\":\"string\"},"
	    "\"label\":{\"type\":\"string\"}}}}]");
	orch_peers_serve(&b.peers, "soul.rpc.alarm.put", clock_on_request);
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_OWN, ""));
	orch_turn_start(&t, &b, "明天早上叫我起床");
	orch_ck_completed(&t,
	    .reply = "好的，控制灯（2036年11月28日星期五早上8:00）已执行。",
	    .executed = "create_alarm", .failed = "");
	ck_assert_uint_eq(orch_peers_count(&b.peers, "intent_action"), 1);
	ck_assert(tk_until(clock_was_requested, NULL, 5000));
	last = clock_last();
	ck_assert(json_is_true(json_object_get(last, "self_ringing")));
	ck_assert_str_eq(orch_text(last, "kind"), "alarm");
	ck_assert_str_eq(orch_text(last, "text"), "起床");
	ck_assert_str_eq(orch_text(last, "when"), "2036-11-28T08:00:00+08:00");
	json_decref(last);
	orch_turn_close(&t);
	orch_fixture_stop(&b);
}

/* Of the model's calls it is the result that confirms. */
TEST_T(a_call_of_the_bodys_alarm_is_copied_by_its_result, 60)
{
	static const struct {
		enum orch_body_mode body;
		bool copied, rings_itself;
	} rows[] = {
		{ BODY_OK, true, true },
		{ BODY_MUTE, true, false },
		{ BODY_ERROR, false, false },
	};
	struct orch_fixture b;
	struct orch_turn t;
	json_t *last;

	for (size_t i = 0; i < NELEM(rows); i++) {
		clock_peer.n = 0;
		orch_fixture_start(&b, 1);
		orch_fixture_set_skills(&b,
		    "[{\"name\":\"create_alarm\",\"input_schema\":{"
		    "\"type\":\"object\",\"x-timeout-seconds\":1,"
		    "\"properties\":{\"trigger_at\":{\"type\":"
		    "\"string\"}}}}]");
		orch_peers_serve(
		    &b.peers, "soul.rpc.alarm.put", clock_on_request);
		orch_peers_set(&b.peers, body, rows[i].body);
		orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
		orch_model_reply(&b.model, NULL,
		    "[[\"create_alarm\",\"{\\\"trigger_at\\\":"
		    "\\\"2036-11-28T08:00:00+08:00\\\"}\"]]");
		orch_model_reply(&b.model, "好。", NULL);
		orch_turn_start(&t, &b, "早点叫我");
		orch_turn_end(&t);
		if (rows[i].copied) {
			ck_assert(tk_until(clock_was_requested, NULL, 5000));
			last = clock_last();
			ck_assert_int_eq(
			    json_is_true(json_object_get(last, "self_ringing")),
			    rows[i].rings_itself);
			json_decref(last);
		}
		orch_turn_close(&t);
		orch_fixture_stop(&b);
		ck_assert_uint_eq(clock_requests(), rows[i].copied);
	}
}

/* ---- with alarm-clock itself ---- */

#define INTENT_EACH                                                         \
	INTENT_SYSTEM("sys.set_alarm",                                      \
	    "{\"skill\":\"sys.set_alarm\",\"kind\":\"action\",\"text\":"    \
	    "\"关灯\",\"action\":{\"intents\":[{\"intent_id\":"           \
	    "\"i_light\",\"intent_name\":\"控制灯\",\"confidence\":0.9," \
	    "\"normalized\":{\"skill\":\"control_light\"}}]},\"rule\":"     \
	    "{\"kind\":\"daily\",\"at\":\"08:00\"},\"zone\":\"UTC\"}")
#define INTENT_LIST \
	INTENT_SYSTEM("sys.list_alarms", "{\"skill\":\"sys.list_alarms\"}")
#define INTENT_CANCEL                     \
	INTENT_SYSTEM("sys.cancel_alarm", \
	    "{\"skill\":\"sys.cancel_alarm\",\"when\":\"明天早上\"}")

#define INTENT_CANCEL_OWN                                                 \
	"{\"intent_id\":\"sys.cancel_alarm\",\"intent_name\":\"取消\"," \
	"\"confidence\":0.95,\"status\":\"system\",\"segment_index\":0,"  \
	"\"span\":{\"text\":\"x\",\"start\":0,\"end\":1},"                \
	"\"parameters\":{\"match_text\":\"起床\"},\"normalized\":"      \
	"{\"skill\":\"sys.cancel_alarm\",\"match_text\":\"起床\"},"     \
	"\"missing_parameters\":[],\"evidence\":[]}"

static void
clock_turn(struct orch_fixture *b, const char *intents, const char *reply)
{
	struct orch_turn t;

	orch_peers_set(&b->peers, filter, intents);
	orch_turn_start(&t, b, "明天早上关灯");
	orch_turn_end(&t);
	ck_assert_msg(strstr(orch_text(t.end, "response.reply"), reply) != NULL,
	    "%s: not in: %s", reply, orch_text(t.end, "response.reply"));
	orch_turn_close(&t);
}

static void
clock_start(struct orch_fixture *b, struct tk_service *alarm_clock)
{
	struct tk_env e = { 0 };

	orch_fixture_start(b, 1);
	tk_env_put(&e, "NATS_URL=%s", b->nats.url);
	tk_env_put(&e, "REDIS_URL=%s", b->redis.url);
	tk_env_put(&e, "REDIS_TIMEOUT_MS=5000");
	tk_service_start(alarm_clock, "alarm-clock", "alarm-clock", &e);
}

TEST_T(alarm_clock_sets_lists_and_cancels, 60)
{
	struct tk_service alarm_clock;
	struct orch_fixture b;

	clock_start(&b, &alarm_clock);
	/* The words of the time, in the zone of the user. */
	clock_turn(&b, INTENT_DECISION("execute_intents", INTENT_EACH, ""),
	    "早上8:00执行：关灯。");
	clock_turn(&b, INTENT_DECISION("execute_intents", INTENT_EACH, ""),
	    "已经定过了：");
	clock_turn(
	    &b, INTENT_DECISION("execute_intents", INTENT_LIST, ""), "有1个：");
	clock_turn(&b, INTENT_DECISION("execute_intents", INTENT_CANCEL, ""),
	    "好的，已取消：");
	clock_turn(&b, INTENT_DECISION("execute_intents", INTENT_LIST, ""),
	    "没有闹钟和提醒。");
	ck_assert_uint_eq(orch_model_requests(&b.model), 0);
	tk_service_end(&alarm_clock);
	orch_fixture_stop(&b);
}

static bool
clock_has_one(void *arg)
{
	struct orch_turn t;
	bool has;

	orch_turn_start(&t, arg, "我有哪些闹钟");
	orch_turn_end(&t);
	has = strstr(orch_text(t.end, "response.reply"), "有1个：") != NULL;
	orch_turn_close(&t);
	return has;
}

/* What the body has set rings all the same: the reply says so. */
TEST_T(a_canceled_alarm_of_the_body_stays, 60)
{
	struct tk_service alarm_clock;
	struct orch_fixture b;
	struct orch_turn t;

	clock_start(&b, &alarm_clock);
	orch_fixture_set_skills(&b,
	    "[{\"name\":\"create_alarm\",\"input_schema\":{\"type\":"
	    "\"object\",\"properties\":{\"trigger_at\":{\"type\":\"string\"},"
	    "\"label\":{\"type\":\"string\"}}}}]");
	clock_turn(
	    &b, INTENT_DECISION("execute_intents", INTENT_OWN, ""), "已执行");
	/* The copy is set some time after the turn. */
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_LIST, ""));
	ck_assert(tk_until(clock_has_one, &b, 5000));
	orch_peers_set(&b.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_CANCEL_OWN, ""));
	orch_turn_start(&t, &b, "取消起床的闹钟");
	orch_ck_completed(&t,
	    .reply = "好的，已取消：2036年11月28日星期五早上8:00 起床。"
		     "设备自己也定了闹钟，那一个要在设备上关掉。",
	    .executed = "sys.cancel_alarm", .failed = "");
	orch_turn_close(&t);
	tk_service_end(&alarm_clock);
	orch_fixture_stop(&b);
}
