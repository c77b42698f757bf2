/* Keepalive, unresponsive brokers, persistent sessions, options. */
#include "core/clock.h"
#include "testkit/fake_broker.h"

/* Never sends a CONNACK. */
static void
serve_nothing(struct fake_broker *f, int fd)
{
	fake_broker_drain(f, fd);
}

static bool
has_retried(void *arg)
{
	struct fake_broker *f = arg;

	return f->connections >= 2;
}

/*
 * A broker that hangs is detected by the keepalive, one that never sends
 * CONNACK by a timeout.  Both in one test, because it takes long.
 */
TEST_T(a_hung_broker_is_detected, 60)
{
	struct fake_broker silent;
	struct mono start;
	struct mqtt_fixture_client a, b;
	struct mqtt_fixture r;
	int64_t ms;

	fake_broker_start(&silent, serve_nothing);
	mqtt_fixture_init(&r);
	tk_server_start(&r.broker, TK_MOSQUITTO);
	mqtt_client_init(&a, &r, "a");
	a.o.keepalive_s = 5;
	mqtt_client_start(&a);
	mqtt_client_wait_up(&a);
	ck_assert_int_eq(mqtt_client_send(&a, "t", "x", 0), RC_OK);
	tk_signal(&r.broker.proc, SIGSTOP);
	start = clock_mono();
	ck_assert_int_eq(mqtt_client_send(&a, "t", "x", 1), RC_OK);
	mqtt_client_init(&b, &silent.fixture, "b");
	b.o.loop = r.loop;
	b.o.workers = r.workers;
	mqtt_client_start(&b);
	mqtt_client_wait(&a, &a.downs, 1);
	ms = mono_diff_ms(clock_mono(), start);
	/* A ping after 5 s without traffic, and 5 s for its response. */
	ck_assert_int_ge(ms, 5000);
	ck_assert_int_le(ms, 14000);
	ck_assert_int_eq(a.dones[RC_TIMEOUT], 1);
	ck_assert(tk_loop_until(r.loop, has_retried, &silent, MQTT_FIXTURE_MS));
	ck_assert_int_eq(b.ups, 0);
	tk_signal(&r.broker.proc, SIGCONT);
	mqtt_client_wait_up(&a);
	mqtt_client_end(&a);
	mqtt_client_end(&b);
	fake_broker_end(&silent);
	mqtt_fixture_end(&r);
}

static void
sessions(int version)
{
	struct mqtt_fixture_client a, b;
	struct mqtt_fixture r;

	mqtt_fixture_start(&r);
	mqtt_client_open(&a, &r, "a");
	for (uint32_t session_s = 0; session_s <= 60; session_s += 60) {
		mqtt_client_init(&b, &r, "b");
		b.o.version = version;
		b.o.session_s = session_s;
		mqtt_client_start(&b);
		mqtt_client_wait_up(&b);
		mqtt_client_subscribe(&b, "t", 1);
		mqtt_free(b.m);
		ck_assert_int_eq(mqtt_client_send(&a, "t", "away", 1), RC_OK);
		mqtt_client_wait(&a, &a.done, 1);
		a.done = 0;
		b.subscribed = 0;
		mqtt_client_start(&b);
		mqtt_client_wait_up(&b);
		mqtt_client_subscribe(&b, "t", 1);
		ck_assert_int_eq(mqtt_client_send(&a, "t", "back", 1), RC_OK);
		mqtt_client_wait(&b, &b.messages, session_s == 0 ? 1 : 2);
		mqtt_client_expect(
		    &b, session_s == 0 ? "t=back 1;" : "t=away 1;t=back 1;");
		mqtt_client_wait(&a, &a.done, 1);
		a.done = 0;
		mqtt_client_end(&b);
	}
	mqtt_client_end(&a);
	mqtt_fixture_end(&r);
}

TEST(a_session_survives_a_disconnect_with_mqtt_5)
{
	sessions(5);
}

TEST(a_session_survives_a_disconnect_with_mqtt_3_1_1)
{
	sessions(3);
}

static bool
has_rejected(void *arg)
{
	return tk_log_has(arg, "not authorised");
}

TEST(only_the_right_password_connects)
{
	char conf[512], url[96];
	struct tk_proc p;
	struct mqtt_fixture_client good, bad;
	struct mqtt_fixture r;
	int port = tk_port();

	mqtt_fixture_init(&r);
	tk_spawn(&p, "passwd",
	    (const char *[]){ "mosquitto_passwd", "-b", "-c",
		tk_path("passwords"), "usr", "se cret", NULL },
	    NULL);
	ck_assert_int_eq(tk_wait(&p, MQTT_FIXTURE_MS), 0);
	snprintf(conf, sizeof(conf),
	    "listener %d 127.0.0.1\nallow_anonymous false\nuser root\n"
	    "password_file %s\n",
	    port, tk_path("passwords"));
	tk_write_file(tk_path("conf"), conf);
	tk_spawn(&p, "broker",
	    (const char *[]){ "mosquitto", "-c", tk_path("conf"), NULL }, NULL);
	snprintf(url, sizeof(url), "mqtt://usr:se%%20cret@127.0.0.1:%d", port);
	mqtt_client_init(&good, &r, "good");
	good.o.url = url;
	mqtt_client_start(&good);
	mqtt_client_wait_up(&good);
	/* Options override the URL. */
	mqtt_client_init(&bad, &r, "bad");
	bad.o.url = url;
	bad.o.password = "other";
	mqtt_client_start(&bad);
	ck_assert_int_eq(mqtt_client_send(&good, "t", "x", 1), RC_OK);
	mqtt_client_wait(&good, &good.done, 1);
	ck_assert(tk_loop_until(r.loop, has_rejected, &p, MQTT_FIXTURE_MS));
	ck_assert_int_eq(bad.ups, 0);
	mqtt_client_end(&good);
	mqtt_client_end(&bad);
	tk_signal(&p, SIGTERM);
	ck_assert_int_eq(tk_wait(&p, MQTT_FIXTURE_MS), 0);
	mqtt_fixture_end(&r);
}

TEST(invalid_options_are_rejected)
{
	static const struct mqtt_msg wills[] = {
		{ STR_INIT("a/+"), STR_INIT(""), 0, false },
		{ STR_INIT(""), STR_INIT(""), 0, false },
		{ STR_INIT("a"), STR_INIT(""), 2, false },
	};
	static char long_id[MQTT_ID_MAX + 2];
	const struct mqtt_opts t[] = {
		{ .url = "mqtt://name" }, /* without workers */
		{ .url = NULL },
		{ .url = "127.0.0.1" },
		{ .url = "http://h" },
		{ .url = "ws://h" },
		{ .url = "mqtts://h", .ca_file = "/nonexistent" },
		{ .url = "mqtt://h/path" },
		{ .url = "mqtt://h:0" },
		{ .url = "mqtt://h", .client_id = "" },
		{ .url = "mqtt://h", .client_id = "\xff" },
		{ .url = "mqtt://h", .client_id = long_id },
		{ .url = "mqtt://h", .version = 4 },
		{ .url = "mqtt://h", .keepalive_s = 4 },
		{ .url = "mqtt://h", .keepalive_s = 65536 },
		{ .url = "mqtt://h", .will = &wills[0] },
		{ .url = "mqtt://h", .will = &wills[1] },
		{ .url = "mqtt://h", .will = &wills[2] },
	};
	struct mqtt_msg big = { STR("a"), { NULL, 0 }, 0, false };
	struct mqtt *m = (struct mqtt *)&big;
	struct mqtt_opts o;
	struct mqtt_fixture r;

	memset(long_id, 'i', MQTT_ID_MAX + 1);
	mqtt_fixture_init(&r);
	for (size_t i = 0; i < NELEM(t); i++) {
		o = t[i];
		o.loop = r.loop;
		o.workers = i == 0 ? NULL : r.workers;
		ck_assert_msg(mqtt_new(&o, &m) == RC_INVALID, "%zu", i);
		ck_assert_ptr_null(m);
	}
	big.payload.n = MQTT_WILL_MAX + 1;
	big.payload.p = mem_zalloc(big.payload.n);
	o = (struct mqtt_opts){ .loop = r.loop,
		.workers = r.workers,
		.url = "mqtt://h",
		.will = &big };
	ck_assert_int_eq(mqtt_new(&o, &m), RC_TOOBIG);
	free((void *)(uintptr_t)big.payload.p);
	mqtt_fixture_end(&r);
}
