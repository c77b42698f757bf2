/*
 * Commands to bodies: what gets there, and what their sender is told.
 */
#include "body.h"

#define INVOKE(id)                                                   \
	"{\"request_id\":\"" id "\",\"skill\":\"control_light\","    \
	"\"arguments\":{\"mode\":\"on\"},\"ts\":\"2026-02-22T10:20:" \
	"30Z\",\"extra\":1}"
#define ACTION                                                              \
	"{\"request_id\":\"ia-1\",\"session_id\":\"s1\",\"terminal_id\":"   \
	"\"t1\",\"soul_id\":\"soul_1\",\"intents\":[{\"intent_id\":\"i1\"," \
	"\"confidence\":0.9,\"normalized\":{\"skill\":\"nod\"}}],"          \
	"\"exec_probability\":0.8,\"ts\":\"2026-02-22T10:20:31Z\"}"
#define STATUS                                                               \
	"{\"status\":\"mem0_searching\",\"message\":\"…\",\"session_id\":" \
	"\"s1\",\"ts\":\"2026-02-22T10:20:31Z\"}"
#define EMOTION                                                              \
	"{\"session_id\":\"s1\",\"terminal_id\":\"t1\",\"soul_id\":\"s\","   \
	"\"user_emotion\":{\"emotion\":\"neutral\",\"p\":0,\"a\":0,\"d\":0," \
	"\"intensity\":0},\"soul_emotion\":{\"p\":-0.23,\"a\":0.08,\"d\":"   \
	"-0.05},\"exec_probability\":0.41,\"exec_mode\":\"blocked\",\"ts\":" \
	"\"2026-02-22T10:20:30Z\"}"

/* A body that is there. */
static void
present(struct bed *b, struct body *d)
{
	body_open(d, b, "t1");
	body_report(d, "online", "online");
	bed_wait(b, "t1", is_present, "present");
}

TEST(each_command_gets_there)
{
	struct bed_answer a;
	struct bed b;
	struct body d;

	bed_start(&b);
	present(&b, &d);
	a = bed_ask(&b, "soul.body.main.t1.invoke", INVOKE("r1"));
	ck_assert_str_eq(a.error, "");
	ck_assert_str_eq(tk_find_text(a.body, "state"), "delivered");
	ck_assert_str_eq(tk_find_text(a.body, "request_id"), "r1");
	json_decref(a.body);
	/* As it came, members that nobody here knows included. */
	body_expect(&d, "invoke/r1=" INVOKE("r1") "\n");
	a = bed_ask(&b, "soul.body.main.t1.intent_action", ACTION);
	ck_assert_str_eq(tk_find_text(a.body, "state"), "delivered");
	ck_assert_str_eq(tk_find_text(a.body, "request_id"), "ia-1");
	json_decref(a.body);
	body_expect(&d, "intent_action=" ACTION "\n");
	tk_nats_send(b.nc, "soul.body.main.t1.status", STATUS);
	body_expect(&d, "status=" STATUS "\n");
	tk_nats_send(b.nc, "soul.body.main.t1.emotion_update", EMOTION);
	body_expect(&d, "emotion_update=" EMOTION "\n");
	ck_assert_int_eq(tk_service_metric(&b.bridge[0],
			     "soul_bridge_commands_total{command=\"invoke\","
			     "state=\"delivered\"}"),
	    1);
	body_leave(&d);
	bed_stop(&b);
}

/* Every command carries the time it was sent at. */
TEST(an_invoke_without_a_time_gets_one)
{
	struct bed b;
	struct body d;

	bed_start(&b);
	present(&b, &d);
	ck_assert_str_eq(bed_deliver(&b, "soul.body.main.t1.invoke",
			     "{\"request_id\":\"r1\",\"skill\":\"nod\","
			     "\"arguments\":{}}"),
	    "delivered");
	body_expect(&d,
	    "invoke/r1={\"request_id\":\"r1\",\"skill\":\"nod\","
	    "\"arguments\":{},\"ts\":\"20");
	body_leave(&d);
	bed_stop(&b);
}

/* The body is there but listens to nothing: reason 16. */
TEST(nobody_subscribes)
{
	char topic[512];
	struct bed b;
	struct body d;

	bed_start(&b);
	present(&b, &d);
	body_topic(&d, "invoke/+", topic);
	ck_assert_int_eq(mosquitto_unsubscribe(d.mosq, NULL, topic), 0);
	/* Whatever it publishes now comes behind that. */
	body_report(&d, "skills", SKILLS_V(1));
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.invoke", INVOKE("r1")),
	    "no_subscriber");
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.intent_action", ACTION),
	    "delivered");
	body_leave(&d);
	bed_stop(&b);
}

/* A body that is not there, although it once was, or at another broker. */
TEST(offline)
{
	struct terminal_writer other = {
		.broker = STR("other"), .epoch = 1, .ttl_ms = BED_TTL_S * 1000
	};
	struct bed b;
	struct body d;

	bed_start(&b);
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t9.invoke", INVOKE("r1")),
	    "offline");
	present(&b, &d);
	body_report(&d, "online", "offline");
	bed_wait(&b, "t1", is_present, "gone");
	/* It still subscribes, but it must not act. */
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.invoke", INVOKE("r1")),
	    "offline");
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.intent_action", ACTION),
	    "offline");
	body_beat(&d);
	bed_wait(&b, "t1", is_present, "present");
	ck_assert_int_eq(
	    terminal_fixture_put_online(b.db.s, &other, STR("t1"), true, NULL), RC_OK);
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.invoke", INVOKE("r1")),
	    "offline");
	/* What is told and not asked goes out all the same. */
	tk_nats_send(b.nc, "soul.body.main.t1.status", STATUS);
	body_expect(&d, "status=");
	body_forget(&d);
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.other.t1.invoke", INVOKE("r1")),
	    "no answer");
	body_leave(&d);
	bed_stop(&b);
}

/* Both deadlines: that of the request, and the command's own. */
TEST(late)
{
	char payload[256];
	struct bed_answer a;
	struct bed b;
	struct body d;
	char *got;

	bed_start(&b);
	present(&b, &d);
	snprintf(payload, sizeof(payload),
	    "{\"request_id\":\"r1\",\"skill\":\"nod\",\"arguments\":{},"
	    "\"deadline_ms\":%lld}",
	    (long long)(clock_wall().ms - 5));
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.invoke", payload), "late");
	a = bed_ask_late(&b, "soul.body.main.t1.invoke", INVOKE("r2"), 5);
	ck_assert_str_eq(a.error, "deadline_exceeded");
	json_decref(a.body);
	snprintf(payload, sizeof(payload),
	    "{\"request_id\":\"r3\",\"skill\":\"nod\",\"arguments\":{},"
	    "\"deadline_ms\":%lld}",
	    (long long)(clock_wall().ms + 60000));
	a = bed_ask_late(&b, "soul.body.main.t1.invoke", payload, -60000);
	ck_assert_str_eq(tk_find_text(a.body, "state"), "delivered");
	json_decref(a.body);
	body_expect(&d, "invoke/r3=");
	got = body_got(&d);
	ck_assert_ptr_null(strstr(got, "r1"));
	ck_assert_ptr_null(strstr(got, "r2"));
	free(got);
	body_leave(&d);
	bed_stop(&b);
}

/* What is sent on too long after its sender's last fence is not. */
TEST(not_after_its_fence)
{
	const char *subjects[] = { "soul.body.main.t1.invoke",
		"soul.body.main.t1.intent_action" };
	const char *bodies[] = { INVOKE("r1"), ACTION };
	struct bed b;
	struct body d;
	char *got;

	bed_start(&b);
	present(&b, &d);
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
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.invoke", INVOKE("r2")),
	    "delivered");
	body_expect(&d, "invoke/r2=");
	got = body_got(&d);
	ck_assert_ptr_null(strstr(got, "r1"));
	ck_assert_ptr_null(strstr(got, "ia-1"));
	free(got);
	body_leave(&d);
	bed_stop(&b);
}

/* Commands that are none. */
TEST(bad_commands)
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
	struct bed_answer a;
	struct bed b;
	struct body d;
	size_t i;

	bed_start(&b);
	present(&b, &d);
	for (i = 0; i < NELEM(bad); i++) {
		if (bad[i].path == NULL)
			continue;
		a = bed_ask(&b, bad[i].subject, bad[i].payload);
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
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.invoke", INVOKE("r1")),
	    "delivered");
	body_expect(&d, "invoke/r1=");
	body_leave(&d);
	bed_stop(&b);
}

/* A prefix of several levels, and an id that is no token of a subject. */
TEST(a_prefix_with_slashes)
{
	char topic[512], subject[256], token[ID_TOKEN_MAX];
	struct bed b;
	struct body d;

	bed_servers(&b, TK_MOSQUITTO);
	b.more = "MQTT_TOPIC_PREFIX=acme/eu/soul";
	bridge_start_one(&b, 0);
	ck_assert(tk_until(bridge_leads, &b.bridge[0], BED_MS));
	body_init(&d, "acme/eu/soul", "灯 1");
	body_connect(&d, &b);
	body_subscribe(&d);
	body_report(&d, "online", "1");
	bed_wait(&b, "灯 1", is_present, "present");
	ck_assert_int_eq(id_token(str_of(d.id), token), RC_OK);
	snprintf(subject, sizeof(subject), "soul.body.main.%s.invoke", token);
	ck_assert_str_eq(bed_deliver(&b, subject, INVOKE("r1")), "delivered");
	body_expect(&d, "invoke/r1=");
	/* The same names under another prefix are others. */
	snprintf(topic, sizeof(topic), "soul/terminal/t5/online");
	body_publish(&d, topic, STR("1"), (struct say){ 1, true });
	body_report(&d, "skills", "[{\"name\":\"s\"}]");
	bed_wait(&b, "灯 1", has_skills, "\"s\"");
	ck_assert(!bed_terminal(&b, "t5").known);
	body_leave(&d);
	bed_stop(&b);
}
