/* Publishing and receiving against a real broker. */
#include "testkit/mqtt_fixture.h"

static void
round_trips(int version)
{
	struct mqtt_fixture_client a, b;
	struct mqtt_fixture r;

	mqtt_fixture_start(&r);
	mqtt_client_init(&a, &r, "a");
	a.o.version = version;
	mqtt_client_start(&a);
	mqtt_client_wait_up(&a);
	mqtt_client_open(&b, &r, NULL);
	mqtt_client_subscribe(&b, "t/+/x", 1);
	ck_assert_int_eq(mqtt_client_send(&a, "t/1/x", "one", 1), RC_OK);
	ck_assert_int_eq(a.done, 0); /* never from inside mqtt_publish() */
	ck_assert_uint_eq(mqtt_outstanding(a.m), 1);
	ck_assert_int_eq(mqtt_client_send(&a, "t/2/x", "", 0), RC_OK);
	ck_assert_int_eq(mqtt_client_send(&a, "t/3/y", "other", 1), RC_OK);
	ck_assert_int_eq(mqtt_client_send(&a, "t/四/x", "二", 1), RC_OK);
	mqtt_client_wait(&b, &b.messages, 3);
	mqtt_client_wait(&a, &a.done, 3);
	mqtt_client_expect(&b, "t/1/x=one 1;t/2/x= 0;t/四/x=二 1;");
	ck_assert_uint_eq(mqtt_outstanding(a.m), 0);
	/* Only MQTT 5 reports that there is no subscriber. */
	ck_assert_int_eq(a.dones[RC_NOENT], version == 3 ? 0 : 1);
	ck_assert_int_eq(a.dones[RC_OK], version == 3 ? 3 : 2);
	ck_assert_int_eq(a.reason, 0);
	mqtt_client_end(&a);
	mqtt_client_end(&b);
	mqtt_fixture_end(&r);
}

TEST(messages_pass_with_mqtt_5)
{
	round_trips(5);
}

TEST(messages_pass_with_mqtt_3_1_1)
{
	round_trips(3);
}

TEST(a_publish_without_subscribers_is_reported)
{
	struct mqtt_fixture_client a, b;
	struct mqtt_fixture r;

	mqtt_fixture_start(&r);
	mqtt_client_open(&a, &r, "a");
	mqtt_client_open(&b, &r, "b");
	ck_assert_int_eq(mqtt_client_send(&a, "x", "1", 1), RC_OK);
	mqtt_client_wait(&a, &a.done, 1);
	ck_assert_int_eq(a.dones[RC_NOENT], 1);
	ck_assert_int_eq(a.reason, 16);
	mqtt_client_subscribe(&b, "x", 0);
	ck_assert_int_eq(mqtt_client_send(&a, "x", "2", 1), RC_OK);
	mqtt_client_wait(&a, &a.done, 2);
	ck_assert_int_eq(a.dones[RC_OK], 1);
	ck_assert_int_eq(mqtt_unsubscribe(b.m, STR("x")), RC_OK);
	ck_assert_int_eq(mqtt_unsubscribe(b.m, STR("x")), RC_NOENT);
	/* In order after b's UNSUBSCRIBE, because b sends it. */
	ck_assert_int_eq(mqtt_client_send(&b, "x", "3", 1), RC_OK);
	mqtt_client_wait(&b, &b.done, 1);
	ck_assert_int_eq(b.dones[RC_NOENT], 1);
	mqtt_client_expect(&b, "x=2 0;");
	mqtt_client_end(&a);
	mqtt_client_end(&b);
	mqtt_fixture_end(&r);
}

TEST(retained_messages_are_marked)
{
	struct mqtt_msg m = { STR("retained/me"), STR("old"), 1, true };
	struct mqtt_fixture_client a, b;
	struct mqtt_fixture r;

	mqtt_fixture_start(&r);
	mqtt_client_open(&a, &r, "a");
	mqtt_client_open(&b, &r, "b");
	mqtt_client_subscribe(&b, "retained/#", 1);
	ck_assert_int_eq(mqtt_publish(a.m, &m, mqtt_client_on_done, &a), RC_OK);
	mqtt_client_wait(&b, &b.messages, 1);
	mqtt_client_expect(&b, "retained/me=old 1;"); /* live: not marked */
	mqtt_client_wait(&a, &a.done, 1);
	/* Subscribing again sends it again. */
	mqtt_client_subscribe(&b, "retained/#", 0);
	mqtt_client_wait(&b, &b.messages, 1);
	mqtt_client_expect(&b, "retained/me=old 0R;");
	m.payload = STR("");
	ck_assert_int_eq(mqtt_publish(a.m, &m, mqtt_client_on_done, &a), RC_OK);
	mqtt_client_wait(&a, &a.done, 2);
	mqtt_client_wait(&b, &b.messages, 1);
	buf_reset(&b.got);
	b.messages = 0;
	mqtt_client_subscribe(&b, "retained/#", 1);
	ck_assert_int_eq(mqtt_client_send(&a, "retained/end", "", 1), RC_OK);
	mqtt_client_wait(&b, &b.messages, 1);
	mqtt_client_expect(&b, "retained/end= 1;");
	mqtt_client_end(&a);
	mqtt_client_end(&b);
	mqtt_fixture_end(&r);
}

TEST(payloads_are_any_bytes_up_to_the_limit)
{
	char *big = mem_alloc(MQTT_PAYLOAD_MAX + 1);
	char topic[MQTT_TOPIC_MAX + 2];
	struct mqtt_msg m = { .qos = 1 };
	struct mqtt_fixture_client a;
	struct mqtt_fixture r;

	memset(big, 'x', MQTT_PAYLOAD_MAX + 1);
	memset(topic, 't', sizeof(topic));
	mqtt_fixture_start(&r);
	mqtt_client_open(&a, &r, "a");
	mqtt_client_subscribe(&a, "#", 1);
	m.topic = STR("bin");
	m.payload = STR("\0\xff\x00z");
	ck_assert_int_eq(mqtt_publish(a.m, &m, mqtt_client_on_done, &a), RC_OK);
	mqtt_client_wait(&a, &a.messages, 1);
	ck_assert_uint_eq(a.got.n, strlen("bin=.... 1;"));
	ck_assert_mem_eq(a.got.p, "bin=\0\xff\x00z 1;", a.got.n);
	buf_reset(&a.got);

	m.topic = (struct str){ topic, MQTT_TOPIC_MAX };
	m.payload = (struct str){ big, MQTT_PAYLOAD_MAX };
	ck_assert_int_eq(mqtt_publish(a.m, &m, mqtt_client_on_done, &a), RC_OK);
	mqtt_client_wait(&a, &a.messages, 2);
	ck_assert_uint_eq(a.got.n, MQTT_TOPIC_MAX + strlen("=big 1;"));

	m.payload.n++;
	ck_assert_int_eq(
	    mqtt_publish(a.m, &m, mqtt_client_on_done, &a), RC_TOOBIG);
	m.payload.n = 0;
	m.topic.n++;
	ck_assert_int_eq(
	    mqtt_publish(a.m, &m, mqtt_client_on_done, &a), RC_TOOBIG);
	mqtt_client_wait(&a, &a.done, 2);
	ck_assert_int_eq(a.dones[RC_OK], 2);
	ck_assert(mqtt_up(a.m));
	free(big);
	mqtt_client_end(&a);
	mqtt_fixture_end(&r);
}

TEST(invalid_arguments_are_rejected)
{
	static const struct mqtt_msg t[] = {
		{ STR_INIT(""), STR_INIT("x"), 1, false },
		{ { NULL, 0 }, STR_INIT("x"), 1, false },
		{ STR_INIT("a/+"), STR_INIT("x"), 1, false },
		{ STR_INIT("a/#"), STR_INIT("x"), 0, false },
		{ STR_INIT("a\0b"), STR_INIT("x"), 1, false },
		{ STR_INIT("\xff"), STR_INIT("x"), 1, false },
		{ STR_INIT("a"), STR_INIT("x"), 2, false },
		{ STR_INIT("a"), STR_INIT("x"), -1, false },
	};
	struct mqtt_msg ok = { STR("a"), STR("x"), 0, false };
	struct mqtt_fixture_client a;
	struct mqtt_fixture r;

	mqtt_fixture_start(&r);
	mqtt_client_open(&a, &r, "a");
	for (size_t i = 0; i < NELEM(t); i++)
		ck_assert_int_eq(
		    mqtt_publish(a.m, &t[i],
			t[i].qos > 0 ? mqtt_client_on_done : NULL, &a),
		    RC_INVALID);
	ck_assert_int_eq(
	    mqtt_publish(a.m, &ok, mqtt_client_on_done, &a), RC_INVALID);
	ck_assert_int_eq(
	    mqtt_subscribe(a.m, STR("a#"), 1, NULL, NULL), RC_INVALID);
	ck_assert_int_eq(
	    mqtt_subscribe(a.m, STR("a"), 2, NULL, NULL), RC_INVALID);
	ck_assert_uint_eq(mqtt_outstanding(a.m), 0);
	ck_assert_int_eq(mqtt_client_send(&a, "a", "x", 1), RC_OK);
	mqtt_client_wait(&a, &a.done, 1);
	ck_assert_int_eq(a.done, 1);
	mqtt_client_end(&a);
	mqtt_fixture_end(&r);
}

/* A broker with its own packet limit and with access control. */
TEST(limits_and_rights_of_the_broker_are_reported)
{
	char conf[512], payload[3000];
	struct tk_proc p;
	struct mqtt_fixture_client a;
	struct mqtt_fixture r;
	int port = tk_port();

	mqtt_fixture_init(&r);
	tk_write_file(tk_path("acl"), "topic readwrite free/#\n");
	snprintf(conf, sizeof(conf),
	    "listener %d 127.0.0.1\nallow_anonymous true\nuser root\n"
	    "max_packet_size 2000\nacl_file %s\n",
	    port, tk_path("acl"));
	tk_write_file(tk_path("conf"), conf);
	tk_spawn(&p, "broker",
	    (const char *[]){ "mosquitto", "-c", tk_path("conf"), NULL }, NULL);
	snprintf(
	    r.broker.url, sizeof(r.broker.url), "tcp://127.0.0.1:%d", port);
	mqtt_client_open(&a, &r, "a");
	ck_assert_int_eq(mqtt_client_send(&a, "forbidden", "x", 1), RC_OK);
	mqtt_client_wait(&a, &a.done, 1);
	ck_assert_int_eq(a.dones[RC_DENIED], 1);
	ck_assert_int_eq(a.reason, 135);
	memset(payload, 'p', sizeof(payload));
	payload[sizeof(payload) - 1] = '\0';
	ck_assert_int_eq(
	    mqtt_client_send(&a, "free/big", payload, 1), RC_TOOBIG);
	ck_assert_int_eq(
	    mqtt_client_send(&a, "free/big", payload, 0), RC_TOOBIG);
	ck_assert_uint_eq(mqtt_outstanding(a.m), 0);
	ck_assert_int_eq(mqtt_client_send(&a, "free/small", "x", 1), RC_OK);
	mqtt_client_wait(&a, &a.done, 2);
	ck_assert_int_eq(a.dones[RC_NOENT], 1);
	mqtt_client_end(&a);
	tk_signal(&p, SIGTERM);
	ck_assert_int_eq(tk_wait(&p, MQTT_FIXTURE_MS), 0);
	mqtt_fixture_end(&r);
}

/* Sent directly, by completions, and by received messages. */
struct sequence {
	struct mqtt_fixture_client c;
	int sent[2], got[2];
};

static void
send_next(struct sequence *s, int qos)
{
	char num[16];

	snprintf(num, sizeof(num), "%d", s->sent[qos]++);
	ck_assert_int_eq(
	    mqtt_client_send(&s->c, qos == 0 ? "q0" : "q1", num, qos), RC_OK);
}

static void
check_next(void *arg, const struct mqtt_msg *m)
{
	struct mqtt_fixture_client *c = arg;
	struct sequence *s = (struct sequence *)c;
	int64_t n;

	ck_assert_int_eq(str_to_i64(m->payload, 0, 100000, &n), RC_OK);
	ck_assert_int_eq(n, s->got[m->qos]++);
	if (s->sent[m->qos] < 3000) {
		send_next(s, m->qos);
		send_next(s, m->qos);
	}
}

TEST(messages_of_one_qos_arrive_in_order)
{
	static struct sequence s;
	struct mqtt_fixture r;

	mqtt_fixture_start(&r);
	mqtt_client_init(&s.c, &r, "a");
	s.c.o.on_message = check_next;
	mqtt_client_start(&s.c);
	mqtt_client_wait_up(&s.c);
	mqtt_client_subscribe(&s.c, "q0", 0);
	mqtt_client_subscribe(&s.c, "q1", 1);
	for (int i = 0; i < 150; i++) {
		send_next(&s, 0);
		send_next(&s, 1);
	}
	mqtt_client_wait(&s.c, &s.got[0], 3000);
	mqtt_client_wait(&s.c, &s.got[1], 3000);
	mqtt_client_wait(&s.c, &s.c.done, s.sent[1]);
	ck_assert_int_eq(s.c.dones[RC_OK], s.sent[1]);
	mqtt_client_end(&s.c);
	mqtt_fixture_end(&r);
}

static void
echo_on_message(void *arg, const struct mqtt_msg *m)
{
	struct mqtt_fixture_client *c = arg;
	struct mqtt_msg reply = { STR("pong"), m->payload, 1, false };

	c->messages++;
	if (str_eq(m->topic, STR("ping"))) {
		ck_assert_int_eq(
		    mqtt_publish(c->m, &reply, mqtt_client_on_done, c), RC_OK);
		reply.qos = 0;
		ck_assert_int_eq(mqtt_publish(c->m, &reply, NULL, NULL), RC_OK);
	} else if (c->messages == 3) {
		ck_assert_int_eq(mqtt_unsubscribe(c->m, STR("pong")), RC_OK);
		mqtt_free(c->m);
		c->m = NULL;
	}
}

static bool
is_freed(void *arg)
{
	return ((struct mqtt_fixture_client *)arg)->m == NULL;
}

TEST(every_function_works_inside_callbacks)
{
	struct mqtt_fixture_client a;
	struct mqtt_fixture r;

	mqtt_fixture_start(&r);
	mqtt_client_init(&a, &r, "a");
	a.o.on_message = echo_on_message;
	mqtt_client_start(&a);
	mqtt_client_wait_up(&a);
	mqtt_client_subscribe(&a, "ping", 1);
	mqtt_client_subscribe(&a, "pong", 1);
	ck_assert_int_eq(mqtt_client_send(&a, "ping", "x", 0), RC_OK);
	ck_assert(tk_loop_until(r.loop, is_freed, &a, MQTT_FIXTURE_MS));
	ck_assert_int_eq(a.messages, 3);
	ck_assert_int_eq(a.done, 1);
	mqtt_client_end(&a);
	mqtt_fixture_end(&r);
}
