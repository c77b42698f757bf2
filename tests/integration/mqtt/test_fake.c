/* Packets that a real broker cannot be made to send at will. */
#include "testkit/fake_broker.h"

/* ---- reason codes ---- */

/* PUBACK with the first byte of the payload as its reason. */
static void
serve_puback_reasons(struct fake_broker *f, int fd)
{
	unsigned char ack[] = { 0x40, 3, 0, 0, 0 };

	FAKE_BROKER_SEND(fd, CONNACK_OK);
	while (fake_broker_read(f, fd)) {
		if ((f->packet[0] & 0xf0) != 0x30)
			continue;
		/* Topic "t", packet id, no properties, payload. */
		ack[2] = f->packet[4];
		ack[3] = f->packet[5];
		ack[4] = f->packet[7];
		fake_broker_send(fd, ack, sizeof(ack));
	}
}

TEST(a_puback_reason_becomes_a_result)
{
	static const struct {
		unsigned char reason;
		enum rc rc;
	} t[] = {
		{ 0, RC_OK },
		{ 16, RC_NOENT },
		{ 128, RC_DENIED },
		{ 131, RC_INVALID },
		{ 135, RC_DENIED },
		{ 144, RC_INVALID },
		{ 145, RC_INVALID },
		{ 151, RC_RETRY },
		{ 153, RC_INVALID },
	};
	struct mqtt_msg m = { .topic = STR("t"), .qos = 1 };
	struct fake_broker f;
	struct mqtt_fixture_client a;

	fake_broker_start(&f, serve_puback_reasons);
	mqtt_client_open(&a, &f.fixture, "a");
	for (size_t i = 0; i < NELEM(t); i++) {
		memset(a.dones, 0, sizeof(a.dones));
		m.payload = (struct str){ (const char *)&t[i].reason, 1 };
		ck_assert_int_eq(
		    mqtt_publish(a.m, &m, mqtt_client_on_done, &a), RC_OK);
		mqtt_client_wait(&a, &a.done, (int)i + 1);
		ck_assert_msg(a.dones[t[i].rc] == 1, "%d", t[i].reason);
		ck_assert_int_eq(a.reason, t[i].reason);
	}
	mqtt_client_end(&a);
	fake_broker_end(&f);
}

/* Acknowledges an unknown packet id, and every publish twice. */
static void
serve_wrong_pubacks(struct fake_broker *f, int fd)
{
	unsigned char ack[] = { 0x40, 2, 0, 0 };

	FAKE_BROKER_SEND(fd, CONNACK_OK "\x40\x02\x12\x34");
	while (fake_broker_read(f, fd)) {
		if ((f->packet[0] & 0xf0) != 0x30)
			continue;
		ack[2] = f->packet[4];
		ack[3] = f->packet[5];
		fake_broker_send(fd, ack, sizeof(ack));
		fake_broker_send(fd, ack, sizeof(ack));
	}
}

TEST(pubacks_without_a_publish_are_ignored)
{
	struct fake_broker f;
	struct mqtt_fixture_client a;

	fake_broker_start(&f, serve_wrong_pubacks);
	mqtt_client_open(&a, &f.fixture, "a");
	for (int i = 1; i <= 20; i++) {
		ck_assert_int_eq(mqtt_client_send(&a, "t", "x", 1), RC_OK);
		ck_assert_int_eq(mqtt_client_send(&a, "t", "x", 0), RC_OK);
		mqtt_client_wait(&a, &a.done, i);
	}
	ck_assert_int_eq(a.done, 20);
	ck_assert_int_eq(a.downs, 0);
	ck_assert_uint_eq(mqtt_outstanding(a.m), 0);
	mqtt_client_end(&a);
	fake_broker_end(&f);
}

/* SUBACK: filters that begin with 'n' are rejected. */
static void
serve_subacks(struct fake_broker *f, int fd)
{
	unsigned char ack[] = { 0x90, 4, 0, 0, 0, 0 };

	FAKE_BROKER_SEND(fd, CONNACK_OK);
	while (fake_broker_read(f, fd)) {
		if (f->packet[0] != 0x82)
			continue;
		ack[2] = f->packet[1];
		ack[3] = f->packet[2];
		ack[5] = f->packet[6] == 'n' ? 135 : 1;
		fake_broker_send(fd, ack, sizeof(ack));
	}
}

TEST(a_rejected_subscription_is_reported)
{
	struct fake_broker f;
	struct mqtt_fixture_client a;

	fake_broker_start(&f, serve_subacks);
	mqtt_client_open(&a, &f.fixture, "a");
	ck_assert_int_eq(
	    mqtt_subscribe(a.m, STR("no/#"), 1, mqtt_client_on_done, &a),
	    RC_OK);
	ck_assert_int_eq(
	    mqtt_subscribe(a.m, STR("yes"), 1, mqtt_client_on_done, &a), RC_OK);
	mqtt_client_wait(&a, &a.done, 2);
	ck_assert_int_eq(a.dones[RC_DENIED], 1);
	ck_assert_int_eq(a.dones[RC_OK], 1);
	mqtt_client_end(&a);
	fake_broker_end(&f);
}

/* ---- connections that end ---- */

/*
 * On DISCONNECT libmosquitto 2.0.11 unlocks a mutex that it did not lock.  That
 * does no harm, but the thread sanitizer fails the test for it.
 */
#if defined(__SANITIZE_THREAD__)
#define FAKE_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FAKE_TSAN
#endif
#endif

#ifndef FAKE_TSAN
static void
serve_disconnect(struct fake_broker *f, int fd)
{
	FAKE_BROKER_SEND(fd, CONNACK_OK "\xe0\x02\x8b\0"); /* shutting down */
	fake_broker_drain(f, fd);
}
#endif

static void
serve_garbage(struct fake_broker *f, int fd)
{
	FAKE_BROKER_SEND(fd, CONNACK_OK "\xf7\xff\xff\xff\xff\xff\xff");
	fake_broker_drain(f, fd);
}

static void
serve_http(struct fake_broker *f, int fd)
{
	FAKE_BROKER_SEND(fd,
	    "HTTP/1.1 400 Bad Request\r\nServer: of something else\r\n"
	    "Content-Type: text/html\r\nConnection: close\r\n\r\n");
	fake_broker_drain(f, fd);
}

static void
serve_short(struct fake_broker *f, int fd)
{
	(void)f;
	FAKE_BROKER_SEND(fd, "\x20");
}

static void
serve_malformed(struct fake_broker *f, int fd)
{
	/* A PUBLISH whose topic is longer than the packet. */
	FAKE_BROKER_SEND(fd,
	    CONNACK_OK "\x30\x05\xff\xff"
		       "abc");
	fake_broker_drain(f, fd);
}

static void
serve_rejection(struct fake_broker *f, int fd)
{
	FAKE_BROKER_SEND(
	    fd, "\x20\x03\0\x86\0"); /* bad user name or password */
	fake_broker_drain(f, fd);
}

static bool
has_connected_often(void *arg)
{
	return ((struct fake_broker *)arg)->connections >= 4;
}

TEST(a_broken_connection_is_reestablished)
{
	static const struct {
		void (*serve)(struct fake_broker *f, int fd);
		bool up;
	} t[] = {
#ifndef FAKE_TSAN
		{ serve_disconnect, true },
#endif
		{ serve_garbage, true }, { serve_malformed, true },
		{ serve_http, false }, { serve_short, false }
	};
	struct fake_broker f;
	struct mqtt_fixture_client a;

	for (size_t i = 0; i < NELEM(t); i++) {
		fake_broker_start(&f, t[i].serve);
		mqtt_client_init(&a, &f.fixture, "a");
		a.o.retry_max_ms = 60;
		mqtt_client_start(&a);
		ck_assert(tk_loop_until(
		    f.fixture.loop, has_connected_often, &f, MQTT_FIXTURE_MS));
		ck_assert_msg((a.ups >= 3) == t[i].up, "%zu", i);
		ck_assert_int_le(a.ups - a.downs, 1);
		mqtt_client_end(&a);
		fake_broker_end(&f);
	}
}

static bool
has_connected_twice(void *arg)
{
	return ((struct fake_broker *)arg)->connections >= 2;
}

TEST(rejected_credentials_never_connect)
{
	struct fake_broker f;
	struct mqtt_fixture_client a;

	fake_broker_start(&f, serve_rejection);
	mqtt_client_init(&a, &f.fixture, "a");
	a.o.retry_max_ms = 60;
	mqtt_client_start(&a);
	ck_assert(tk_loop_until(
	    f.fixture.loop, has_connected_twice, &f, MQTT_FIXTURE_MS));
	ck_assert_int_eq(a.ups, 0);
	ck_assert_int_eq(a.downs, 0);
	ck_assert_int_eq(mqtt_client_send(&a, "t", "x", 1), RC_DOWN);
	mqtt_client_end(&a);
	fake_broker_end(&f);
}

/* ---- limits ---- */

static void
serve_small_window(struct fake_broker *f, int fd)
{
	struct timeval tv = { 0, 300000 };
	size_t sent = 0;

	/* Receive Maximum 3: a fourth must not be sent before a PUBACK. */
	FAKE_BROKER_SEND(fd, "\x20\x06\0\0\x03\x21\0\x03");
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	while (fake_broker_read(f, fd))
		if ((f->packet[0] & 0xf0) == 0x30)
			sent++;
	f->n = sent;
}

static bool
was_disconnected(void *arg)
{
	return ((struct mqtt_fixture_client *)arg)->downs > 0;
}

TEST(the_receive_maximum_of_the_broker_is_respected)
{
	struct fake_broker f;
	struct mqtt_fixture_client a;

	fake_broker_start(&f, serve_small_window);
	mqtt_client_open(&a, &f.fixture, "a");
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(mqtt_client_send(&a, "t", "x", 1), RC_OK);
	ck_assert(tk_loop_until(
	    f.fixture.loop, was_disconnected, &a, MQTT_FIXTURE_MS));
	ck_assert_int_eq(a.dones[RC_TIMEOUT], 3);
	ck_assert_int_eq(a.dones[RC_DOWN], 7);
	mqtt_client_end(&a);
	fake_broker_end(&f);
	ck_assert_uint_eq(f.n, 3);
}

static void
serve_big_message(struct fake_broker *f, int fd)
{
	size_t n = 2 * MQTT_PAYLOAD_MAX;
	unsigned char head[8] = { 0x30, 0, 0, 0, 0, 0, 1, 'b' };
	unsigned char *zero = mem_zalloc(n + 1);
	size_t left = n + 4;

	for (int i = 1; i <= 4; i++, left >>= 7)
		head[i] = (unsigned char)((left & 127) | (i < 4 ? 128 : 0));
	FAKE_BROKER_SEND(fd, CONNACK_OK);
	fake_broker_send(fd, head, sizeof(head));
	fake_broker_send(fd, zero, n + 1);
	free(zero);
	FAKE_BROKER_SEND(fd, "\x30\x05\0\x01s\0!");
	fake_broker_drain(f, fd);
}

TEST(an_oversize_message_is_dropped_and_counted)
{
	struct fake_broker f;
	struct mqtt_fixture_client a;

	fake_broker_start(&f, serve_big_message);
	mqtt_client_open(&a, &f.fixture, "a");
	mqtt_client_wait(&a, &a.messages, 1);
	mqtt_client_expect(&a, "s=! 0;");
	ck_assert_int_eq(metric_value(metric_counter(f.fixture.metrics,
			     "mqtt_oversize_total", "", NULL)),
	    1);
	mqtt_client_end(&a);
	fake_broker_end(&f);
}

static void
serve_connack(struct fake_broker *f, int fd)
{
	FAKE_BROKER_SEND(fd, CONNACK_OK);
	(void)f;
	(void)recv(fd, &(char){ 0 }, 1, 0);
}

TEST(connect_has_all_options)
{
	static const unsigned char want[] =
	    "\x10\0\x04MQTT\x05\xee\0\x0a"
	    "\x0d\x27\0\x11\x03\xff\x11\0\0\0\x3c\x21\0\x14" /* properties */
	    "\0\x02me\0\0\x04will\0\x03"
	    "bye\0\x03usr\0\x02pw";
	struct mqtt_msg will = { STR("will"), STR("bye"), 1, true };
	char url[96];
	struct fake_broker f;
	struct mqtt_fixture_client a;

	fake_broker_start(&f, serve_connack);
	snprintf(url, sizeof(url), "mqtt://usr:pw@%.64s",
	    f.fixture.broker.url + strlen("mqtt://"));
	mqtt_client_init(&a, &f.fixture, "me");
	a.o.url = url;
	a.o.will = &will;
	a.o.keepalive_s = 10;
	a.o.session_s = 60;
	mqtt_client_start(&a);
	mqtt_client_wait_up(&a);
	mqtt_client_end(&a);
	fake_broker_end(&f);
	/* All but the flags of clean start, which session_s clears. */
	ck_assert_uint_eq(f.n, sizeof(want) - 1);
	for (size_t i = 0; i < f.n; i++)
		if (i != 8)
			ck_assert_msg(f.packet[i] == want[i], "byte %zu: %02x",
			    i, f.packet[i]);
	ck_assert_uint_eq(f.packet[8], 0xec);
}
