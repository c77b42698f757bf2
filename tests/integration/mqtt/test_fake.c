/* Answers that no well-behaved broker gives when it is wanted. */
#include "integration/mqtt/fake.h"

/* ---- reason codes -------------------------------------------------------- */

/* PUBACK with the first byte of the payload as its reason. */
static void
talk_reasons(struct fake *f, int fd)
{
	unsigned char ack[] = { 0x40, 3, 0, 0, 0 };

	FAKE_SEND(fd, CONNACK_OK);
	while (fake_read(f, fd)) {
		if ((f->packet[0] & 0xf0) != 0x30)
			continue;
		/* Topic "t", packet id, no properties, payload. */
		ack[2] = f->packet[4];
		ack[3] = f->packet[5];
		ack[4] = f->packet[7];
		fake_send(fd, ack, sizeof(ack));
	}
}

TEST(puback_reasons)
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
	struct fake f;
	struct cl a;

	fake_start(&f, talk_reasons);
	cl_open(&a, &f.rig, "a");
	for (size_t i = 0; i < NELEM(t); i++) {
		memset(a.dones, 0, sizeof(a.dones));
		m.payload = (struct str){ (const char *)&t[i].reason, 1 };
		ck_assert_int_eq(mqtt_publish(a.m, &m, cl_on_done, &a), RC_OK);
		cl_wait(&a, &a.done, (int)i + 1);
		ck_assert_msg(a.dones[t[i].rc] == 1, "%d", t[i].reason);
		ck_assert_int_eq(a.reason, t[i].reason);
	}
	cl_end(&a);
	fake_end(&f);
}

/* Acknowledges what nobody sent, before and twice what somebody did. */
static void
talk_confused(struct fake *f, int fd)
{
	unsigned char ack[] = { 0x40, 2, 0, 0 };

	FAKE_SEND(fd, CONNACK_OK "\x40\x02\x12\x34");
	while (fake_read(f, fd)) {
		if ((f->packet[0] & 0xf0) != 0x30)
			continue;
		ack[2] = f->packet[4];
		ack[3] = f->packet[5];
		fake_send(fd, ack, sizeof(ack));
		fake_send(fd, ack, sizeof(ack));
	}
}

TEST(unasked_pubacks)
{
	struct fake f;
	struct cl a;

	fake_start(&f, talk_confused);
	cl_open(&a, &f.rig, "a");
	for (int i = 1; i <= 20; i++) {
		ck_assert_int_eq(cl_send(&a, "t", "x", 1), RC_OK);
		ck_assert_int_eq(cl_send(&a, "t", "x", 0), RC_OK);
		cl_wait(&a, &a.done, i);
	}
	ck_assert_int_eq(a.done, 20);
	ck_assert_int_eq(a.downs, 0);
	ck_assert_uint_eq(mqtt_outstanding(a.m), 0);
	cl_end(&a);
	fake_end(&f);
}

/* SUBACK: filters that begin with 'n' are refused. */
static void
talk_subscriptions(struct fake *f, int fd)
{
	unsigned char ack[] = { 0x90, 4, 0, 0, 0, 0 };

	FAKE_SEND(fd, CONNACK_OK);
	while (fake_read(f, fd)) {
		if (f->packet[0] != 0x82)
			continue;
		ack[2] = f->packet[1];
		ack[3] = f->packet[2];
		ack[5] = f->packet[6] == 'n' ? 135 : 1;
		fake_send(fd, ack, sizeof(ack));
	}
}

TEST(refused_subscription)
{
	struct fake f;
	struct cl a;

	fake_start(&f, talk_subscriptions);
	cl_open(&a, &f.rig, "a");
	ck_assert_int_eq(
	    mqtt_subscribe(a.m, STR("no/#"), 1, cl_on_done, &a), RC_OK);
	ck_assert_int_eq(
	    mqtt_subscribe(a.m, STR("yes"), 1, cl_on_done, &a), RC_OK);
	cl_wait(&a, &a.done, 2);
	ck_assert_int_eq(a.dones[RC_DENIED], 1);
	ck_assert_int_eq(a.dones[RC_OK], 1);
	cl_end(&a);
	fake_end(&f);
}

/* ---- connections that end ------------------------------------------------ */

/*
 * When the broker says goodbye, libmosquitto 2.0.11 unlocks a mutex that it did
 * not lock.  That does no harm, but the thread sanitizer ends the test for it.
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
talk_goodbye(struct fake *f, int fd)
{
	FAKE_SEND(fd, CONNACK_OK "\xe0\x02\x8b\0"); /* shutting down */
	fake_drain(f, fd);
}
#endif

static void
talk_garbage(struct fake *f, int fd)
{
	FAKE_SEND(fd, CONNACK_OK "\xf7\xff\xff\xff\xff\xff\xff");
	fake_drain(f, fd);
}

static void
talk_http(struct fake *f, int fd)
{
	FAKE_SEND(fd,
	    "HTTP/1.1 400 Bad Request\r\nServer: of something else\r\n"
	    "Content-Type: text/html\r\nConnection: close\r\n\r\n");
	fake_drain(f, fd);
}

static void
talk_short(struct fake *f, int fd)
{
	(void)f;
	FAKE_SEND(fd, "\x20");
}

static void
talk_malformed(struct fake *f, int fd)
{
	/* A PUBLISH whose topic is longer than the packet. */
	FAKE_SEND(fd,
	    CONNACK_OK "\x30\x05\xff\xff"
		       "abc");
	fake_drain(f, fd);
}

static void
talk_refusal(struct fake *f, int fd)
{
	FAKE_SEND(fd, "\x20\x03\0\x86\0"); /* bad user name or password */
	fake_drain(f, fd);
}

static bool
connected_often(void *arg)
{
	return ((struct fake *)arg)->connections >= 4;
}

TEST(bad_ends)
{
	static const struct {
		void (*talk)(struct fake *f, int fd);
		bool up;
	} t[] = {
#ifndef FAKE_TSAN
		{ talk_goodbye, true },
#endif
		{ talk_garbage, true }, { talk_malformed, true },
		{ talk_http, false }, { talk_short, false }
	};
	struct fake f;
	struct cl a;

	for (size_t i = 0; i < NELEM(t); i++) {
		fake_start(&f, t[i].talk);
		cl_init(&a, &f.rig, "a");
		a.o.retry_max_ms = 60;
		cl_start(&a);
		ck_assert(
		    tk_loop_until(f.rig.loop, connected_often, &f, RIG_MS));
		ck_assert_msg((a.ups >= 3) == t[i].up, "%zu", i);
		ck_assert_int_le(a.ups - a.downs, 1);
		cl_end(&a);
		fake_end(&f);
	}
}

static bool
connected_twice(void *arg)
{
	return ((struct fake *)arg)->connections >= 2;
}

TEST(credentials_refused)
{
	struct fake f;
	struct cl a;

	fake_start(&f, talk_refusal);
	cl_init(&a, &f.rig, "a");
	a.o.retry_max_ms = 60;
	cl_start(&a);
	ck_assert(tk_loop_until(f.rig.loop, connected_twice, &f, RIG_MS));
	ck_assert_int_eq(a.ups, 0);
	ck_assert_int_eq(a.downs, 0);
	ck_assert_int_eq(cl_send(&a, "t", "x", 1), RC_DOWN);
	cl_end(&a);
	fake_end(&f);
}

/* ---- what the client tells, and what it takes ---------------------------- */

static void
talk_window(struct fake *f, int fd)
{
	struct timeval tv = { 0, 300000 };
	size_t sent = 0;

	/* Receive Maximum 3: a fourth must not come before an answer. */
	FAKE_SEND(fd, "\x20\x06\0\0\x03\x21\0\x03");
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	while (fake_read(f, fd))
		if ((f->packet[0] & 0xf0) == 0x30)
			sent++;
	f->n = sent;
}

static bool
thrown_out(void *arg)
{
	return ((struct cl *)arg)->downs > 0;
}

TEST(small_window)
{
	struct fake f;
	struct cl a;

	fake_start(&f, talk_window);
	cl_open(&a, &f.rig, "a");
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(cl_send(&a, "t", "x", 1), RC_OK);
	ck_assert(tk_loop_until(f.rig.loop, thrown_out, &a, RIG_MS));
	ck_assert_int_eq(a.dones[RC_TIMEOUT], 3);
	ck_assert_int_eq(a.dones[RC_DOWN], 7);
	cl_end(&a);
	fake_end(&f);
	ck_assert_uint_eq(f.n, 3);
}

static void
talk_big(struct fake *f, int fd)
{
	size_t n = 2 * MQTT_PAYLOAD_MAX;
	unsigned char head[8] = { 0x30, 0, 0, 0, 0, 0, 1, 'b' };
	unsigned char *zero = mem_zalloc(n + 1);
	size_t left = n + 4;

	for (int i = 1; i <= 4; i++, left >>= 7)
		head[i] = (unsigned char)((left & 127) | (i < 4 ? 128 : 0));
	FAKE_SEND(fd, CONNACK_OK);
	fake_send(fd, head, sizeof(head));
	fake_send(fd, zero, n + 1);
	free(zero);
	FAKE_SEND(fd, "\x30\x05\0\x01s\0!");
	fake_drain(f, fd);
}

TEST(oversize_message)
{
	struct fake f;
	struct cl a;

	fake_start(&f, talk_big);
	cl_open(&a, &f.rig, "a");
	cl_wait(&a, &a.messages, 1);
	cl_expect(&a, "s=! 0;");
	ck_assert_int_eq(metric_value(metric_counter(
			     f.rig.metrics, "mqtt_oversize_total", "", NULL)),
	    1);
	cl_end(&a);
	fake_end(&f);
}

static void
talk_record(struct fake *f, int fd)
{
	FAKE_SEND(fd, CONNACK_OK);
	(void)f;
	(void)recv(fd, &(char){ 0 }, 1, 0);
}

TEST(what_connect_says)
{
	static const unsigned char want[] =
	    "\x10\0\x04MQTT\x05\xee\0\x0a"
	    "\x0d\x27\0\x11\x03\xff\x11\0\0\0\x3c\x21\0\x14" /* properties */
	    "\0\x02me\0\0\x04will\0\x03"
	    "bye\0\x03usr\0\x02pw";
	struct mqtt_msg will = { STR("will"), STR("bye"), 1, true };
	char url[96];
	struct fake f;
	struct cl a;

	fake_start(&f, talk_record);
	snprintf(url, sizeof(url), "mqtt://usr:pw@%.64s",
	    f.rig.broker.url + strlen("mqtt://"));
	cl_init(&a, &f.rig, "me");
	a.o.url = url;
	a.o.will = &will;
	a.o.keepalive_s = 10;
	a.o.session_s = 60;
	cl_start(&a);
	cl_wait_up(&a);
	cl_end(&a);
	fake_end(&f);
	/* All but the flags of clean start, which session_s clears. */
	ck_assert_uint_eq(f.n, sizeof(want) - 1);
	for (size_t i = 0; i < f.n; i++)
		if (i != 8)
			ck_assert_msg(f.packet[i] == want[i], "byte %zu: %02x",
			    i, f.packet[i]);
	ck_assert_uint_eq(f.packet[8], 0xec);
}
