/* Publishing and receiving against a real broker. */
#include "integration/mqtt/rig.h"

static void
round_trips(int version)
{
	struct cl a, b;
	struct rig r;

	rig_start(&r);
	cl_init(&a, &r, "a");
	a.o.version = version;
	cl_start(&a);
	cl_wait_up(&a);
	cl_open(&b, &r, NULL);
	cl_subscribe(&b, "t/+/x", 1);
	ck_assert_int_eq(cl_send(&a, "t/1/x", "one", 1), RC_OK);
	ck_assert_int_eq(a.done, 0); /* never from inside mqtt_publish() */
	ck_assert_uint_eq(mqtt_outstanding(a.m), 1);
	ck_assert_int_eq(cl_send(&a, "t/2/x", "", 0), RC_OK);
	ck_assert_int_eq(cl_send(&a, "t/3/y", "other", 1), RC_OK);
	ck_assert_int_eq(cl_send(&a, "t/四/x", "二", 1), RC_OK);
	cl_wait(&b, &b.messages, 3);
	cl_wait(&a, &a.done, 3);
	cl_expect(&b, "t/1/x=one 1;t/2/x= 0;t/四/x=二 1;");
	ck_assert_uint_eq(mqtt_outstanding(a.m), 0);
	/* Only MQTT 5 tells that nobody is there. */
	ck_assert_int_eq(a.dones[RC_NOENT], version == 3 ? 0 : 1);
	ck_assert_int_eq(a.dones[RC_OK], version == 3 ? 3 : 2);
	ck_assert_int_eq(a.reason, 0);
	cl_end(&a);
	cl_end(&b);
	rig_end(&r);
}

TEST(version_5)
{
	round_trips(5);
}

TEST(version_3)
{
	round_trips(3);
}

TEST(nobody_subscribed)
{
	struct cl a, b;
	struct rig r;

	rig_start(&r);
	cl_open(&a, &r, "a");
	cl_open(&b, &r, "b");
	ck_assert_int_eq(cl_send(&a, "x", "1", 1), RC_OK);
	cl_wait(&a, &a.done, 1);
	ck_assert_int_eq(a.dones[RC_NOENT], 1);
	ck_assert_int_eq(a.reason, 16);
	cl_subscribe(&b, "x", 0);
	ck_assert_int_eq(cl_send(&a, "x", "2", 1), RC_OK);
	cl_wait(&a, &a.done, 2);
	ck_assert_int_eq(a.dones[RC_OK], 1);
	ck_assert_int_eq(mqtt_unsubscribe(b.m, STR("x")), RC_OK);
	ck_assert_int_eq(mqtt_unsubscribe(b.m, STR("x")), RC_NOENT);
	/* In order after b's UNSUBSCRIBE, because b sends it. */
	ck_assert_int_eq(cl_send(&b, "x", "3", 1), RC_OK);
	cl_wait(&b, &b.done, 1);
	ck_assert_int_eq(b.dones[RC_NOENT], 1);
	cl_expect(&b, "x=2 0;");
	cl_end(&a);
	cl_end(&b);
	rig_end(&r);
}

TEST(retained)
{
	struct mqtt_msg m = { STR("keep/me"), STR("old"), 1, true };
	struct cl a, b;
	struct rig r;

	rig_start(&r);
	cl_open(&a, &r, "a");
	cl_open(&b, &r, "b");
	cl_subscribe(&b, "keep/#", 1);
	ck_assert_int_eq(mqtt_publish(a.m, &m, cl_on_done, &a), RC_OK);
	cl_wait(&b, &b.messages, 1);
	cl_expect(&b, "keep/me=old 1;"); /* live: not marked */
	cl_wait(&a, &a.done, 1);
	/* Subscribing again gives it again. */
	cl_subscribe(&b, "keep/#", 0);
	cl_wait(&b, &b.messages, 1);
	cl_expect(&b, "keep/me=old 0R;");
	m.payload = STR("");
	ck_assert_int_eq(mqtt_publish(a.m, &m, cl_on_done, &a), RC_OK);
	cl_wait(&a, &a.done, 2);
	cl_wait(&b, &b.messages, 1);
	buf_reset(&b.got);
	b.messages = 0;
	cl_subscribe(&b, "keep/#", 1);
	ck_assert_int_eq(cl_send(&a, "keep/end", "", 1), RC_OK);
	cl_wait(&b, &b.messages, 1);
	cl_expect(&b, "keep/end= 1;");
	cl_end(&a);
	cl_end(&b);
	rig_end(&r);
}

TEST(any_bytes_and_the_ceiling)
{
	char *big = mem_alloc(MQTT_PAYLOAD_MAX + 1);
	char topic[MQTT_TOPIC_MAX + 2];
	struct mqtt_msg m = { .qos = 1 };
	struct cl a;
	struct rig r;

	memset(big, 'x', MQTT_PAYLOAD_MAX + 1);
	memset(topic, 't', sizeof(topic));
	rig_start(&r);
	cl_open(&a, &r, "a");
	cl_subscribe(&a, "#", 1);
	m.topic = STR("bin");
	m.payload = STR("\0\xff\x00z");
	ck_assert_int_eq(mqtt_publish(a.m, &m, cl_on_done, &a), RC_OK);
	cl_wait(&a, &a.messages, 1);
	ck_assert_uint_eq(a.got.n, strlen("bin=.... 1;"));
	ck_assert_mem_eq(a.got.p, "bin=\0\xff\x00z 1;", a.got.n);
	buf_reset(&a.got);

	m.topic = (struct str){ topic, MQTT_TOPIC_MAX };
	m.payload = (struct str){ big, MQTT_PAYLOAD_MAX };
	ck_assert_int_eq(mqtt_publish(a.m, &m, cl_on_done, &a), RC_OK);
	cl_wait(&a, &a.messages, 2);
	ck_assert_uint_eq(a.got.n, MQTT_TOPIC_MAX + strlen("=big 1;"));

	m.payload.n++;
	ck_assert_int_eq(mqtt_publish(a.m, &m, cl_on_done, &a), RC_TOOBIG);
	m.payload.n = 0;
	m.topic.n++;
	ck_assert_int_eq(mqtt_publish(a.m, &m, cl_on_done, &a), RC_TOOBIG);
	cl_wait(&a, &a.done, 2);
	ck_assert_int_eq(a.dones[RC_OK], 2);
	ck_assert(mqtt_up(a.m));
	free(big);
	cl_end(&a);
	rig_end(&r);
}

TEST(refused_arguments)
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
	struct cl a;
	struct rig r;

	rig_start(&r);
	cl_open(&a, &r, "a");
	for (size_t i = 0; i < NELEM(t); i++)
		ck_assert_int_eq(mqtt_publish(a.m, &t[i],
				     t[i].qos > 0 ? cl_on_done : NULL, &a),
		    RC_INVALID);
	ck_assert_int_eq(mqtt_publish(a.m, &ok, cl_on_done, &a), RC_INVALID);
	ck_assert_int_eq(
	    mqtt_subscribe(a.m, STR("a#"), 1, NULL, NULL), RC_INVALID);
	ck_assert_int_eq(
	    mqtt_subscribe(a.m, STR("a"), 2, NULL, NULL), RC_INVALID);
	ck_assert_uint_eq(mqtt_outstanding(a.m), 0);
	ck_assert_int_eq(cl_send(&a, "a", "x", 1), RC_OK);
	cl_wait(&a, &a.done, 1);
	ck_assert_int_eq(a.done, 1);
	cl_end(&a);
	rig_end(&r);
}

/* A broker with a ceiling of its own, and rights that end somewhere. */
TEST(refused_by_the_broker)
{
	char conf[512], payload[3000];
	struct tk_proc p;
	struct cl a;
	struct rig r;
	int port = tk_port();

	rig_bare(&r);
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
	cl_open(&a, &r, "a");
	ck_assert_int_eq(cl_send(&a, "forbidden", "x", 1), RC_OK);
	cl_wait(&a, &a.done, 1);
	ck_assert_int_eq(a.dones[RC_DENIED], 1);
	ck_assert_int_eq(a.reason, 135);
	memset(payload, 'p', sizeof(payload));
	payload[sizeof(payload) - 1] = '\0';
	ck_assert_int_eq(cl_send(&a, "free/big", payload, 1), RC_TOOBIG);
	ck_assert_int_eq(cl_send(&a, "free/big", payload, 0), RC_TOOBIG);
	ck_assert_uint_eq(mqtt_outstanding(a.m), 0);
	ck_assert_int_eq(cl_send(&a, "free/small", "x", 1), RC_OK);
	cl_wait(&a, &a.done, 2);
	ck_assert_int_eq(a.dones[RC_NOENT], 1);
	cl_end(&a);
	tk_signal(&p, SIGTERM);
	ck_assert_int_eq(tk_wait(&p, RIG_MS), 0);
	rig_end(&r);
}

/* Sent from everywhere: directly, by completions, by received messages. */
struct sequence {
	struct cl c;
	int sent[2], got[2];
};

static void
send_next(struct sequence *s, int qos)
{
	char num[16];

	snprintf(num, sizeof(num), "%d", s->sent[qos]++);
	ck_assert_int_eq(
	    cl_send(&s->c, qos == 0 ? "q0" : "q1", num, qos), RC_OK);
}

static void
check_next(void *arg, const struct mqtt_msg *m)
{
	struct cl *c = arg;
	struct sequence *s = (struct sequence *)c;
	int64_t n;

	ck_assert_int_eq(str_to_i64(m->payload, 0, 100000, &n), RC_OK);
	ck_assert_int_eq(n, s->got[m->qos]++);
	if (s->sent[m->qos] < 3000) {
		send_next(s, m->qos);
		send_next(s, m->qos);
	}
}

TEST(order)
{
	static struct sequence s;
	struct rig r;

	rig_start(&r);
	cl_init(&s.c, &r, "a");
	s.c.o.on_message = check_next;
	cl_start(&s.c);
	cl_wait_up(&s.c);
	cl_subscribe(&s.c, "q0", 0);
	cl_subscribe(&s.c, "q1", 1);
	for (int i = 0; i < 150; i++) {
		send_next(&s, 0);
		send_next(&s, 1);
	}
	cl_wait(&s.c, &s.got[0], 3000);
	cl_wait(&s.c, &s.got[1], 3000);
	cl_wait(&s.c, &s.c.done, s.sent[1]);
	ck_assert_int_eq(s.c.dones[RC_OK], s.sent[1]);
	cl_end(&s.c);
	rig_end(&r);
}

/* From inside callbacks everything works. */

static void
echo_on_message(void *arg, const struct mqtt_msg *m)
{
	struct cl *c = arg;
	struct mqtt_msg reply = { STR("pong"), m->payload, 1, false };

	c->messages++;
	if (str_eq(m->topic, STR("ping"))) {
		ck_assert_int_eq(
		    mqtt_publish(c->m, &reply, cl_on_done, c), RC_OK);
		reply.qos = 0;
		ck_assert_int_eq(mqtt_publish(c->m, &reply, NULL, NULL), RC_OK);
	} else if (c->messages == 3) {
		ck_assert_int_eq(mqtt_unsubscribe(c->m, STR("pong")), RC_OK);
		mqtt_free(c->m);
		c->m = NULL;
	}
}

static bool
is_gone(void *arg)
{
	return ((struct cl *)arg)->m == NULL;
}

TEST(inside_callbacks)
{
	struct cl a;
	struct rig r;

	rig_start(&r);
	cl_init(&a, &r, "a");
	a.o.on_message = echo_on_message;
	cl_start(&a);
	cl_wait_up(&a);
	cl_subscribe(&a, "ping", 1);
	cl_subscribe(&a, "pong", 1);
	ck_assert_int_eq(cl_send(&a, "ping", "x", 0), RC_OK);
	ck_assert(tk_loop_until(r.loop, is_gone, &a, RIG_MS));
	ck_assert_int_eq(a.messages, 3);
	ck_assert_int_eq(a.done, 1);
	cl_end(&a);
	rig_end(&r);
}
