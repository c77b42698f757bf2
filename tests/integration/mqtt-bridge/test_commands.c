/* Commands to terminals: delivery, and the replies to their senders. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/id.h"
#include "core/mem.h"
#include "testkit/bridge_fixture.h"
#include "testkit/terminal_fixture.h"

#define INVOKE(id)                                                   \
	"{\"request_id\":\"" id "\",\"skill\":\"control_light\","    \
	"\"arguments\":{\"mode\":\"on\"},\"ts\":\"2026-02-22T10:20:" \
	"30Z\",\"extra\":1}"
#define EMOTION                                                              \
	"{\"session_id\":\"s1\",\"terminal_id\":\"t1\",\"soul_id\":\"s\","   \
	"\"user_emotion\":{\"emotion\":\"neutral\",\"p\":0,\"a\":0,\"d\":0," \
	"\"intensity\":0},\"soul_emotion\":{\"p\":-0.23,\"a\":0.08,\"d\":"   \
	"-0.05},\"exec_probability\":0.41,\"exec_mode\":\"blocked\",\"ts\":" \
	"\"2026-02-22T10:20:30Z\"}"

TEST(every_command_is_delivered)
{
	struct bridge_reply a;
	struct bridge_fixture b;
	struct mqtt_device d;

	bridge_fixture_start(&b);
	mqtt_device_open_online(&d, &b, "t1");
	a = bridge_fixture_request(
	    &b, "soul.body.main.t1.invoke", INVOKE("r1"));
	ck_assert_str_eq(a.error, "");
	ck_assert_str_eq(tk_find_text(a.body, "state"), "delivered");
	ck_assert_str_eq(tk_find_text(a.body, "request_id"), "r1");
	json_decref(a.body);
	/* Unchanged, with its unknown members. */
	mqtt_device_expect(&d, "invoke/r1=" INVOKE("r1") "\n");
	a = bridge_fixture_request(
	    &b, "soul.body.main.t1.intent_action", ACTION);
	ck_assert_str_eq(tk_find_text(a.body, "state"), "delivered");
	ck_assert_str_eq(tk_find_text(a.body, "request_id"), "ia-1");
	json_decref(a.body);
	mqtt_device_expect(&d, "intent_action=" ACTION "\n");
	tk_nats_send(b.nc, "soul.body.main.t1.status", STATUS);
	mqtt_device_expect(&d, "status=" STATUS "\n");
	tk_nats_send(b.nc, "soul.body.main.t1.emotion_update", EMOTION);
	mqtt_device_expect(&d, "emotion_update=" EMOTION "\n");
	ck_assert_int_eq(tk_service_metric(&b.bridge[0],
			     "soul_bridge_commands_total{command=\"invoke\","
			     "state=\"delivered\"}"),
	    1);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

TEST(an_invoke_without_ts_gets_one)
{
	struct bridge_fixture b;
	struct mqtt_device d;

	bridge_fixture_start(&b);
	mqtt_device_open_online(&d, &b, "t1");
	bridge_ck_delivery(&b, "t1.invoke",
	    "{\"request_id\":\"r1\",\"skill\":\"nod\","
	    "\"arguments\":{}}",
	    "delivered");
	mqtt_device_expect(&d,
	    "invoke/r1={\"request_id\":\"r1\",\"skill\":\"nod\","
	    "\"arguments\":{},\"ts\":\"20");
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* Present, but without a subscription: reason 16. */
TEST(no_subscriber_is_reported)
{
	char topic[512];
	struct bridge_fixture b;
	struct mqtt_device d;

	bridge_fixture_start(&b);
	mqtt_device_open_online(&d, &b, "t1");
	mqtt_device_topic(&d, "invoke/+", topic);
	ck_assert_int_eq(mosquitto_unsubscribe(d.mosq, NULL, topic), 0);
	/* Its acknowledgement follows the UNSUBSCRIBE. */
	mqtt_device_report(&d, "skills", SKILLS_V(1));
	bridge_ck_delivery(&b, "t1.invoke", INVOKE("r1"), "no_subscriber");
	bridge_ck_delivery(&b, "t1.intent_action", ACTION, "delivered");
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* Unknown, offline, or at another broker. */
TEST(an_absent_terminal_is_offline)
{
	struct terminal_writer other = { .broker = STR("other"),
		.epoch = 1,
		.ttl_ms = BRIDGE_TTL_S * 1000 };
	struct bridge_fixture b;
	struct mqtt_device d;

	bridge_fixture_start(&b);
	bridge_ck_delivery(&b, "t9.invoke", INVOKE("r1"), "offline");
	mqtt_device_open_online(&d, &b, "t1");
	mqtt_device_report(&d, "online", "offline");
	bridge_fixture_wait(&b, "t1", bridge_terminal_present, "gone");
	/* It is still subscribed, but must not act. */
	bridge_ck_delivery(&b, "t1.invoke", INVOKE("r1"), "offline");
	bridge_ck_delivery(&b, "t1.intent_action", ACTION, "offline");
	/* Commands without a reply are sent nevertheless. */
	tk_nats_send(b.nc, "soul.body.main.t1.status", STATUS);
	mqtt_device_expect(&d, "status=");
	mqtt_device_ck_never(&d, "invoke/");
	mqtt_device_ck_never(&d, "intent_action");
	mqtt_device_heartbeat(&d);
	bridge_ck_present(&b, "t1");
	ck_assert_int_eq(
	    terminal_fixture_put_online(b.db.s, &other, STR("t1"), true, NULL),
	    RC_OK);
	/* It has moved to a broker that has no bridge. */
	bridge_ck_delivery(&b, "t1.invoke", INVOKE("r1"), "unavailable");
	ck_assert_str_eq(bridge_fixture_deliver(
			     &b, "soul.body.other.t1.invoke", INVOKE("r1")),
	    "no answer");
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* The deadline of the request, and the one in the command. */
TEST(expired_commands_are_not_sent)
{
	char payload[256];
	struct bridge_reply a;
	struct bridge_fixture b;
	struct mqtt_device d;
	char *received;

	bridge_fixture_start(&b);
	mqtt_device_open_online(&d, &b, "t1");
	snprintf(payload, sizeof(payload),
	    "{\"request_id\":\"r1\",\"skill\":\"nod\",\"arguments\":{},"
	    "\"deadline_ms\":%lld}",
	    (long long)(clock_wall().ms - 5));
	bridge_ck_delivery(&b, "t1.invoke", payload, "late");
	a = bridge_fixture_request_at(
	    &b, "soul.body.main.t1.invoke", INVOKE("r2"), 5);
	ck_assert_str_eq(a.error, "deadline_exceeded");
	json_decref(a.body);
	snprintf(payload, sizeof(payload),
	    "{\"request_id\":\"r3\",\"skill\":\"nod\",\"arguments\":{},"
	    "\"deadline_ms\":%lld}",
	    (long long)(clock_wall().ms + 60000));
	a = bridge_fixture_request_at(
	    &b, "soul.body.main.t1.invoke", payload, -60000);
	ck_assert_str_eq(tk_find_text(a.body, "state"), "delivered");
	json_decref(a.body);
	mqtt_device_expect(&d, "invoke/r3=");
	received = mqtt_device_received(&d);
	ck_assert_ptr_null(strstr(received, "r1"));
	ck_assert_ptr_null(strstr(received, "r2"));
	free(received);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

TEST(commands_after_act_by_are_not_sent)
{
	const char *subjects[] = { "soul.body.main.t1.invoke",
		"soul.body.main.t1.intent_action" };
	const char *bodies[] = { INVOKE("r1"), ACTION };
	struct bridge_fixture b;
	struct mqtt_device d;
	char *received;

	bridge_fixture_start(&b);
	mqtt_device_open_online(&d, &b, "t1");
	for (size_t i = 0; i < NELEM(subjects); i++) {
		natsMsg *q = NULL, *m = NULL;
		char by[32];
		json_t *j;
		snprintf(
		    by, sizeof(by), "%lld", (long long)(clock_wall().ms - 5));
		ck_assert_int_eq(natsMsg_Create(&q, subjects[i], NULL,
				     bodies[i], (int)strlen(bodies[i])),
		    NATS_OK);
		ck_assert_int_eq(
		    natsMsgHeader_Set(q, "Soul-Act-By", by), NATS_OK);
		ck_assert_int_eq(
		    natsConnection_RequestMsg(&m, b.nc, q, 10000), NATS_OK);
		j = tk_nats_json(m);
		ck_assert_str_eq(tk_find_text(j, "state"), "late");
		json_decref(j);
		natsMsg_Destroy(q);
		natsMsg_Destroy(m);
	}
	bridge_ck_delivery(&b, "t1.invoke", INVOKE("r2"), "delivered");
	mqtt_device_expect(&d, "invoke/r2=");
	received = mqtt_device_received(&d);
	ck_assert_ptr_null(strstr(received, "r1"));
	ck_assert_ptr_null(strstr(received, "ia-1"));
	free(received);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

TEST(invalid_commands_are_rejected)
{
	static const struct {
		const char *subject, *payload, *path;
	} bad[] = {
		{ "soul.body.main.t1.invoke", "{", "" },
		{ "soul.body.main.t1.invoke", "{}", "/request_id" },
		{ "soul.body.main.t1.invoke", INVOKE("a/b"), "/request_id" },
		{ "soul.body.main.t1.invoke", INVOKE("a+"), "/request_id" },
		{ "soul.body.main.t1.invoke", INVOKE("#"), "/request_id" },
		{ "soul.body.main.t2.intent_action", ACTION, "/terminal_id" },
		{ "soul.body.main.a b.invoke", INVOKE("r"), NULL },
		{ "soul.body.main.~.invoke", INVOKE("r"), "" },
		{ "soul.body.main.~YS9i.invoke", INVOKE("r"), "" },
	};
	struct bridge_reply a;
	struct bridge_fixture b;
	struct mqtt_device d;
	size_t i;

	bridge_fixture_start(&b);
	mqtt_device_open_online(&d, &b, "t1");
	for (i = 0; i < NELEM(bad); i++) {
		if (bad[i].path == NULL)
			continue;
		a = bridge_fixture_request(&b, bad[i].subject, bad[i].payload);
		ck_assert_msg(strcmp(a.error, "invalid_request") == 0,
		    "%zu: %s", i, a.error);
		ck_assert_str_eq(
		    tk_find_text(a.body, "code"), "invalid_request");
		ck_assert_msg(strncmp(tk_find_text(a.body, "error"),
				  bad[i].path, strlen(bad[i].path)) == 0,
		    "%zu: %s", i, tk_find_text(a.body, "error"));
		json_decref(a.body);
	}
	tk_nats_send(b.nc, "soul.body.main.t1.status", "{\"status\":\"none\"}");
	tk_nats_send(b.nc, "soul.body.main.t2.emotion_update", EMOTION);
	bridge_ck_delivery(&b, "t1.invoke", INVOKE("r1"), "delivered");
	mqtt_device_expect(&d, "invoke/r1=");
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* A prefix of several levels, and an id that is not a token. */
TEST(prefix_and_id_may_need_escaping)
{
	char topic[512], subject[256], token[ID_TOKEN_MAX];
	struct bridge_fixture b;
	struct mqtt_device d;

	bridge_fixture_servers(&b, TK_MOSQUITTO);
	b.more = "MQTT_TOPIC_PREFIX=acme/eu/soul";
	bridge_fixture_start_leader(&b, 0);
	mqtt_device_init(&d, "acme/eu/soul", "灯 1");
	mqtt_device_connect(&d, &b);
	mqtt_device_subscribe(&d);
	mqtt_device_report(&d, "online", "1");
	bridge_fixture_wait(&b, "灯 1", bridge_terminal_present, "present");
	ck_assert_int_eq(id_token(str_of(d.id), token), RC_OK);
	snprintf(subject, sizeof(subject), "soul.body.main.%s.invoke", token);
	ck_assert_str_eq(
	    bridge_fixture_deliver(&b, subject, INVOKE("r1")), "delivered");
	mqtt_device_expect(&d, "invoke/r1=");
	/* Not a topic under this prefix. */
	snprintf(topic, sizeof(topic), "soul/terminal/t5/online");
	mqtt_device_publish(&d, topic, STR("1"), MQTT_RETAINED);
	mqtt_device_report(&d, "skills", "[{\"name\":\"s\"}]");
	bridge_fixture_wait(&b, "灯 1", bridge_terminal_has_skills, "\"s\"");
	ck_assert(!bridge_fixture_terminal(&b, "t5").known);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}
