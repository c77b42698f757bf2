/* Keepalive, silent brokers, sessions that outlive a connection, options. */
#include "core/clock.h"
#include "integration/mqtt/fake.h"

/* Accepts nobody: the kernel takes the connection, and nothing answers. */
static void
talk_nothing(struct fake *f, int fd)
{
	fake_drain(f, fd);
}

static bool
both_noticed(void *arg)
{
	struct fake *f = arg;

	return f->connections >= 2;
}

/*
 * A broker that hangs is noticed by the keepalive, one that never answers the
 * CONNECT by a timeout.  Both at once, because it takes its time.
 */
TEST_T(hung_brokers, 60)
{
	struct fake silent;
	struct mono start;
	struct cl a, b;
	struct rig r;
	int64_t ms;

	fake_start(&silent, talk_nothing);
	rig_bare(&r);
	tk_server_start(&r.broker, TK_MOSQUITTO);
	cl_init(&a, &r, "a");
	a.o.keepalive_s = 5;
	cl_start(&a);
	cl_wait_up(&a);
	ck_assert_int_eq(cl_send(&a, "t", "x", 0), RC_OK);
	tk_signal(&r.broker.proc, SIGSTOP);
	start = clock_mono();
	ck_assert_int_eq(cl_send(&a, "t", "x", 1), RC_OK);
	cl_init(&b, &silent.rig, "b");
	b.o.loop = r.loop;
	b.o.workers = r.workers;
	cl_start(&b);
	cl_wait(&a, &a.downs, 1);
	ms = mono_diff_ms(clock_mono(), start);
	/* A ping after 5 s of silence, and 5 s for its answer. */
	ck_assert_int_ge(ms, 5000);
	ck_assert_int_le(ms, 14000);
	ck_assert_int_eq(a.dones[RC_TIMEOUT], 1);
	ck_assert(tk_loop_until(r.loop, both_noticed, &silent, RIG_MS));
	ck_assert_int_eq(b.ups, 0);
	tk_signal(&r.broker.proc, SIGCONT);
	cl_wait_up(&a);
	cl_end(&a);
	cl_end(&b);
	fake_end(&silent);
	rig_end(&r);
}

static void
sessions(int version)
{
	struct cl a, b;
	struct rig r;

	rig_start(&r);
	cl_open(&a, &r, "a");
	for (uint32_t session_s = 0; session_s <= 60; session_s += 60) {
		cl_init(&b, &r, "b");
		b.o.version = version;
		b.o.session_s = session_s;
		cl_start(&b);
		cl_wait_up(&b);
		cl_subscribe(&b, "t", 1);
		mqtt_free(b.m);
		ck_assert_int_eq(cl_send(&a, "t", "away", 1), RC_OK);
		cl_wait(&a, &a.done, 1);
		a.done = 0;
		b.subscribed = 0;
		cl_start(&b);
		cl_wait_up(&b);
		cl_subscribe(&b, "t", 1);
		ck_assert_int_eq(cl_send(&a, "t", "back", 1), RC_OK);
		cl_wait(&b, &b.messages, session_s == 0 ? 1 : 2);
		cl_expect(
		    &b, session_s == 0 ? "t=back 1;" : "t=away 1;t=back 1;");
		cl_wait(&a, &a.done, 1);
		a.done = 0;
		cl_end(&b);
	}
	cl_end(&a);
	rig_end(&r);
}

TEST(sessions_5)
{
	sessions(5);
}

TEST(sessions_3)
{
	sessions(3);
}

static bool
has_refused(void *arg)
{
	return tk_log_has(arg, "not authorised");
}

TEST(passwords)
{
	char conf[512], url[96];
	struct tk_proc p;
	struct cl good, bad;
	struct rig r;
	int port = tk_port();

	rig_bare(&r);
	tk_spawn(&p, "passwd",
	    (const char *[]){ "mosquitto_passwd", "-b", "-c",
		tk_path("passwords"), "usr", "se cret", NULL },
	    NULL);
	ck_assert_int_eq(tk_wait(&p, RIG_MS), 0);
	snprintf(conf, sizeof(conf),
	    "listener %d 127.0.0.1\nallow_anonymous false\nuser root\n"
	    "password_file %s\n",
	    port, tk_path("passwords"));
	tk_write_file(tk_path("conf"), conf);
	tk_spawn(&p, "broker",
	    (const char *[]){ "mosquitto", "-c", tk_path("conf"), NULL }, NULL);
	snprintf(url, sizeof(url), "mqtt://usr:se%%20cret@127.0.0.1:%d", port);
	cl_init(&good, &r, "good");
	good.o.url = url;
	cl_start(&good);
	cl_wait_up(&good);
	/* Options win over the URL. */
	cl_init(&bad, &r, "bad");
	bad.o.url = url;
	bad.o.password = "other";
	cl_start(&bad);
	ck_assert_int_eq(cl_send(&good, "t", "x", 1), RC_OK);
	cl_wait(&good, &good.done, 1);
	ck_assert(tk_loop_until(r.loop, has_refused, &p, RIG_MS));
	ck_assert_int_eq(bad.ups, 0);
	cl_end(&good);
	cl_end(&bad);
	tk_signal(&p, SIGTERM);
	ck_assert_int_eq(tk_wait(&p, RIG_MS), 0);
	rig_end(&r);
}

TEST(bad_options)
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
	struct rig r;

	memset(long_id, 'i', MQTT_ID_MAX + 1);
	rig_bare(&r);
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
	rig_end(&r);
}
