/*
 * The shipped access control of the broker against an attacker who has the
 * credential of the terminal t1; the terminal t2 and the bridge must not be
 * affected.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/mem.h"
#include "testkit/broker_fixture.h"

TEST_T(a_terminal_cannot_publish_for_another, 60)
{
	static const char *const topics[] = { "soul/terminal/t2/online",
		"soul/terminal/t2/heartbeat", "soul/terminal/t2/skills",
		"soul/terminal/t2/intent_catalog", "soul/terminal/t2/result/x",
		"soul/terminal/t2/invoke/x", "soul/terminal/t2/status",
		"soul/terminal/t2/emotion_update",
		"soul/terminal/t2/intent_action", "soul/terminal/t1/invoke/x",
		"soul/terminal/t1/status", "soul/terminal/t1/emotion_update",
		"soul/terminal/t1/intent_action", "soul/terminal/t1",
		"soul/terminal/t1/other", "soul/terminal/t1/result",
		"soul/terminal/t1/result/x/y", "soul/x", "x",
		"/soul/terminal/t1/online", "soul/terminal/t1/online/",
		"$SYS/broker/uptime", "$CONTROL/dynamic-security/v1",
		"$share/x/soul/terminal/t2/online" };
	struct attack_fixture s;
	struct mqtt_device t1;
	size_t i;

	attack_start(&s);
	attack_must_subscribe(&s.t2, "soul/terminal/t2/#");
	attack_connect(&t1, &s, "t1", s.k.bodies);
	attack_must_subscribe(&t1, "soul/terminal/t1/#");
	for (i = 0; i < NELEM(topics); i++)
		mqtt_device_publish(&t1, topics[i], STR("forged"),
		    (struct mqtt_flags){ 1, i % 2 == 0 });
	/* Published after all of it. */
	attack_barrier(&s, &t1);
	mqtt_device_ck_never(&s.watcher, "forged");
	mqtt_device_ck_never(&s.t2, "forged");
	mqtt_device_ck_never(&t1, "forged");
	attack_ck_other_works(&s, "r1");
	ck_assert(bridge_fixture_terminal(&s.b, "t2").present);
	mqtt_device_close(&t1);
	attack_stop(&s);
}

TEST_T(a_terminal_cannot_subscribe_to_another, 60)
{
	static const char *const filters[] = { "#", "+/+/+/+", "+/#", "soul/#",
		"soul/terminal/+/invoke/+", "soul/terminal/t2/#",
		"soul/terminal/t2/invoke/+", "$SYS/#", "$SYS/broker/uptime",
		"$share/x/#", "$share/mqttbridge/soul/#",
		"$share/y/soul/terminal/+/result/+", "$CONTROL/#",
		"soul/terminal/+/result/+", "soul/terminal/t1/result/+",
		"soul/terminal/t1/online", "soul/terminal/t1/invoke/r1" };
	static const char expected[] = "soul/terminal/t1/status=for t1";
	struct attack_fixture s;
	struct mqtt_device t1, bridge;
	char *received, *line, *rest;
	size_t i;

	attack_start(&s);
	mqtt_device_report(&s.t2, "skills", "[]");
	attack_connect(&t1, &s, "t1", s.k.bodies);
	for (i = 0; i < NELEM(filters); i++)
		ck_assert_msg(
		    !attack_subscribe(&t1, filters[i]), "%s", filters[i]);
	attack_must_subscribe(&t1, "soul/terminal/t1/#");
	for (i = 0; i < 8; i++) {
		char request[16];

		snprintf(request, sizeof(request), "r%zu", i);
		attack_ck_other_works(&s, request);
	}
	attack_connect(&bridge, &s, "mqtt-bridge", s.k.services);
	mqtt_device_publish(
	    &bridge, "soul/terminal/t1/status", STR("for t1"), MQTT_QOS1);
	mqtt_device_expect(&t1, expected);
	received = rest = mqtt_device_received(&t1);
	while ((line = strsep(&rest, "\n")) != NULL && line[0] != '\0')
		ck_assert_str_eq(line, expected);
	free(received);
	mqtt_device_close(&bridge);
	mqtt_device_close(&t1);
	attack_stop(&s);
}

/* ---- connecting ---- */

static _Atomic int connack;

static void
access_on_connack(struct mosquitto *mosq, void *arg, int rc)
{
	(void)mosq;
	(void)arg;
	atomic_store(&connack, rc);
}

static bool
access_has_connack(void *arg)
{
	(void)arg;
	return atomic_load(&connack) != -1;
}

TEST_T(only_valid_credentials_connect, 60)
{
	struct attack_fixture s;
	size_t i;

	attack_start(&s);
	const struct {
		const char *user, *pw;
		int port;
		bool in;
	} cases[] = {
		{ "t1", BROKER_PASSWORD, s.k.bodies, true },
		{ "t1", "", s.k.bodies, false },
		{ "t1", "wrong", s.k.bodies, false },
		{ "t1", NULL, s.k.bodies, false },
		{ NULL, NULL, s.k.bodies, false },
		{ "", "", s.k.bodies, false },
		{ "t3", BROKER_PASSWORD, s.k.bodies, false },
		{ "+", BROKER_PASSWORD, s.k.bodies, false },
		{ "#", BROKER_PASSWORD, s.k.bodies, false },
		{ "t1/online", BROKER_PASSWORD, s.k.bodies, false },
		{ "t2/../t1", BROKER_PASSWORD, s.k.bodies, false },
		{ "mqtt-bridge", BROKER_PASSWORD, s.k.bodies, false },
		{ "health", BROKER_PASSWORD, s.k.bodies, false },
		{ "t1", BROKER_PASSWORD, s.k.services, false },
		{ "mqtt-bridge", BROKER_PASSWORD, s.k.services, true },
		{ NULL, NULL, s.k.services, false },
	};
	for (i = 0; i < NELEM(cases); i++) {
		struct mosquitto *m = mosquitto_new(NULL, true, NULL);

		atomic_store(&connack, -1);
		mosquitto_username_pw_set(m, cases[i].user, cases[i].pw);
		mosquitto_connect_callback_set(m, access_on_connack);
		ck_assert_int_eq(
		    mosquitto_connect(m, "127.0.0.1", cases[i].port, 60), 0);
		ck_assert_int_eq(mosquitto_loop_start(m), 0);
		ck_assert(tk_until(access_has_connack, NULL, BRIDGE_WAIT_MS));
		ck_assert_msg(
		    (atomic_load(&connack) == 0) == cases[i].in, "case %zu", i);
		mosquitto_disconnect(m);
		mosquitto_loop_stop(m, false);
		mosquitto_destroy(m);
	}
	attack_stop(&s);
}

TEST_T(wills_and_client_ids_of_others_are_useless, 60)
{
	static const char *const wills[] = { "soul/terminal/t2/online",
		"soul/terminal/t1/status", "soul/terminal/t2/result/x" };
	struct attack_fixture s;
	struct mqtt_device t1;
	size_t i;

	attack_start(&s);
	for (i = 0; i < NELEM(wills); i++) {
		mqtt_device_init(&t1, TOPIC_PREFIX, "t1");
		mosquitto_destroy(t1.mosq);
		t1.mosq = mosquitto_new("t2", true, &t1);
		mosquitto_connect_callback_set(t1.mosq, mqtt_device_connected);
		mosquitto_username_pw_set(t1.mosq, "t1", BROKER_PASSWORD);
		ck_assert_int_eq(
		    mosquitto_will_set(t1.mosq, wills[i], 6, "forged", 1, true),
		    0);
		mqtt_device_connect(&t1, &s.b);
		mqtt_device_crash(&t1);
	}
	attack_connect(&t1, &s, "t1", s.k.bodies);
	attack_barrier(&s, &t1);
	mqtt_device_ck_never(&s.watcher, "forged");
	attack_ck_other_works(&s, "r1");
	ck_assert_int_eq(atomic_load(&s.t2.up), 1);
	ck_assert(bridge_fixture_terminal(&s.b, "t2").present);
	mqtt_device_close(&t1);
	attack_stop(&s);
}

static void
access_on_disconnect(struct mosquitto *mosq, void *arg, int rc)
{
	(void)mosq;
	(void)arg;
	atomic_store(&connack, rc);
}

TEST_T(an_oversized_message_ends_the_connection, 60)
{
	static char big[1100 * 1000];
	struct attack_fixture s;
	struct mqtt_device t1;

	attack_start(&s);
	attack_connect(&t1, &s, "t1", s.k.bodies);
	atomic_store(&connack, -1);
	mosquitto_disconnect_callback_set(t1.mosq, access_on_disconnect);
	mqtt_device_queue(&t1, "soul/terminal/t1/skills",
	    (struct str){ big, sizeof(big) }, MQTT_RETAINED);
	ck_assert(tk_until(access_has_connack, NULL, BRIDGE_WAIT_MS));
	mqtt_device_close(&t1);
	mqtt_device_ck_never(&s.watcher, "t1/skills");
	attack_ck_other_works(&s, "r1");
	attack_stop(&s);
}

/* MQTT 5 as sent by a client that ignores the receive maximum. */
#define NEVER_RELEASED 400
#define EACH           1000000

static void
access_send_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;
	ssize_t k;

	for (; n > 0; p += k, n -= (size_t)k) {
		k = send(fd, p, n, MSG_NOSIGNAL);
		ck_assert_int_gt((int)k, 0);
	}
}

static void
access_send_unreleased(int fd)
{
	static const char topic[] = "\0\027soul/terminal/t1/online";
	static char part[EACH];
	unsigned char head[4] = { 0x34 };
	size_t n = sizeof(topic) - 1 + 3 + sizeof(part), i;
	int k;

	for (i = 0; i < 3; i++, n /= 128)
		head[1 + i] = (unsigned char)(n % 128 | (i < 2 ? 128 : 0));
	for (k = 1; k <= NEVER_RELEASED; k++) {
		const unsigned char mid[3] = { (unsigned char)(k >> 8),
			(unsigned char)k, 0 };

		access_send_all(fd, head, sizeof(head));
		access_send_all(fd, topic, sizeof(topic) - 1);
		access_send_all(fd, mid, sizeof(mid));
		access_send_all(fd, part, sizeof(part));
	}
}

/* With QoS 2 the broker must hold a message until it is released. */
TEST_T(unreleased_qos_2_messages_are_bounded, 60)
{
	static const char hello[] = "\x10\x1a\0\4MQTT\5\xc2\0\x3c\0"
				    "\0\1x\0\2t1\0\6" BROKER_PASSWORD;
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct attack_fixture s;
	char replies[64];
	int fd;

	attack_start(&s);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	at.sin_port = htons((uint16_t)s.k.bodies);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	access_send_all(fd, hello, sizeof(hello) - 1);
	ck_assert_int_gt((int)recv(fd, replies, sizeof(replies), 0), 3);
	access_send_unreleased(fd);
	attack_ck_other_works(&s, "r1");
	ck_assert_int_lt(
	    tk_proc_status(s.k.proc.pid, "VmRSS"), (268 + 120) * 1024);
	close(fd);
	attack_ck_other_works(&s, "r2");
	attack_stop(&s);
}

/* ---- retained messages ---- */

#define RETAINED 2000

static bool
access_nothing_retained(void *arg)
{
	struct attack_fixture *s = arg;
	struct mqtt_device w;
	bool none;
	char *received;

	attack_connect(&w, s, "mqtt-bridge", s->k.services);
	attack_must_subscribe(&w, "soul/terminal/+/heartbeat");
	attack_must_subscribe(&w, "soul/terminal/+/result/+");
	/* Arrives after all retained messages. */
	mqtt_device_publish(
	    &w, "soul/terminal/t9/result/end", STR("end"), MQTT_QOS1);
	mqtt_device_expect(&w, "end");
	received = mqtt_device_received(&w);
	none = strstr(received, " kept") == NULL;
	free(received);
	mqtt_device_close(&w);
	return none;
}

/* Under t1's topics, whichever client publishes. */
static void
access_retain_many(struct mqtt_device *by)
{
	static char text[70000];
	char topic[4096], id[3000];
	int i, before = atomic_load(&by->acked);

	memset(id, 'i', sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	memset(text, 'x', sizeof(text));
	for (i = 0; i < RETAINED; i++) {
		snprintf(topic, sizeof(topic), "soul/terminal/t1/result/%d%s",
		    i, i % 100 == 0 ? id : "");
		mqtt_device_queue(by, topic,
		    (struct str){ text, i % 100 == 1 ? sizeof(text) : 10 },
		    MQTT_RETAINED);
	}
	mqtt_device_wait(&by->acked, before + RETAINED);
	mqtt_device_publish(
	    by, "soul/terminal/t1/heartbeat", STR("1"), MQTT_RETAINED);
}

TEST_T(unwanted_retained_messages_are_cleared, 120)
{
	struct attack_fixture s;
	struct mqtt_device t1, service;

	attack_start_with(&s, BROKER_ANY_RATE);
	attack_connect(&t1, &s, "t1", s.k.bodies);
	/* The gate stops the results, but not the heartbeat. */
	access_retain_many(&t1);
	ck_assert(tk_until(access_nothing_retained, &s, BRIDGE_WAIT_MS));
	ck_assert_int_eq(
	    tk_service_metric(&s.b.bridge[0], "soul_bridge_cleared_total"), 1);
	/* The services' listener has no gate. */
	attack_connect(&service, &s, "mqtt-bridge", s.k.services);
	access_retain_many(&service);
	ck_assert(tk_until(access_nothing_retained, &s, BRIDGE_WAIT_MS));
	ck_assert_int_ge(
	    tk_service_metric(&s.b.bridge[0], "soul_bridge_cleared_total"),
	    RETAINED + 2);
	attack_ck_other_works(&s, "r1");
	/* Those published while no bridge was running are cleared, too. */
	tk_service_end(&s.b.bridge[0]);
	access_retain_many(&service);
	ck_assert(!access_nothing_retained(&s));
	bridge_fixture_start_replica(&s.b, 0);
	ck_assert(tk_until(access_nothing_retained, &s, BRIDGE_WAIT_MS));
	mqtt_device_close(&service);
	mqtt_device_close(&t1);
	attack_stop(&s);
}
