/* TLS: server and client certificates, and large messages. */
#include "testkit/certs.h"
#include "testkit/mqtt_fixture.h"

/* More than one TLS record, and more than a socket takes at once. */
#define LARGE  (1000UL * 1000)
#define MANY   2000
#define PAUSES 500

static int port;

static bool
is_open(void *arg)
{
	(void)arg;
	return tk_port_open(port);
}

static const char *
cert_path(const char *name, const char *type)
{
	char path[128];

	snprintf(path, sizeof(path), "%s.%s", name, type);
	return tk_path(path);
}

/* A broker with that certificate; client_cert: it requires one of fleet's
 * clients. */
static void
broker_start(struct mqtt_fixture *r, struct tk_proc *p, const char *cert,
    bool client_cert)
{
	const char *v[] = { "mosquitto", "-c", tk_path("tls.conf"), NULL };
	struct buf b = BUF_INIT(4096);
	static int starts;
	char name[24];

	port = tk_port();
	snprintf(
	    r->broker.url, sizeof(r->broker.url), "mqtts://localhost:%d", port);
	buf_printf(&b,
	    "user root\nlog_dest stderr\nmax_packet_size 1200000\n"
	    "listener %d 127.0.0.1\ncertfile %s\nkeyfile %s\n"
	    "cafile %s\nallow_anonymous true\n",
	    port, cert_path(cert, "crt"), cert_path(cert, "key"),
	    cert_path("fleet", "crt"));
	if (client_cert)
		buf_puts(&b,
		    "require_certificate true\nuse_identity_as_username true\n"
		    "use_username_as_clientid true\n");
	tk_write_file(v[2], b.p);
	buf_free(&b);
	snprintf(name, sizeof(name), "mosquitto-%d", starts++);
	tk_spawn(p, name, v, NULL);
	ck_assert(tk_until(is_open, NULL, MQTT_FIXTURE_MS));
}

static void
broker_end(struct tk_proc *p)
{
	tk_signal(p, SIGTERM);
	(void)tk_wait(p, MQTT_FIXTURE_MS);
}

/* Authorities and certificates; for localhost, since SNI needs a name. */
static void
certs_make(void)
{
	const struct tk_cert good = { "ca", "good", "x", "DNS:localhost", 2 };
	const struct tk_cert other = { "ca", "other", "localhost",
		"DNS:other.test", 2 };
	const struct tk_cert old = { "ca", "old", "x", "DNS:localhost", -1 };
	const struct tk_cert number = { "ca", "number", "x", "IP:127.0.0.1",
		2 };

	tk_certs_ca("ca");
	tk_certs_ca("fleet");
	tk_certs_make(&good);
	tk_certs_make(&other);
	tk_certs_make(&old);
	tk_certs_make(&number);
}

static void
client_init(
    struct mqtt_fixture_client *c, struct mqtt_fixture *r, const char *ca)
{
	mqtt_client_init(c, r, "c");
	c->o.ca_file = ca != NULL ? cert_path(ca, "crt") : NULL;
}

static bool
has_failed(void *arg)
{
	const struct tk_proc *p = arg;

	/* Logged by the broker when the client aborts the handshake. */
	return tk_log_has(p, "OpenSSL Error") || tk_log_has(p, "error:");
}

/* The client aborts before it sends its password. */
static void
expect_no_connection(struct mqtt_fixture_client *c, struct tk_proc *broker)
{
	ck_assert(tk_loop_until(
	    c->fixture->loop, has_failed, broker, MQTT_FIXTURE_MS));
	ck_assert_int_eq(c->ups, 0);
	ck_assert(!tk_log_has(broker, "New client connected"));
}

TEST_T(only_a_valid_server_certificate_is_accepted, 60)
{
	static const struct {
		const char *cert, *ca;
		bool number, good;
	} cases[] = {
		{ "good", "ca", false, true },
		{ "good", "fleet", false, false },
		{ "good", NULL, false, false },
		{ "good", "ca", true, false },
		{ "other", "ca", false, false },
		{ "old", "ca", false, false },
		{ "number", "ca", true, true },
		{ "number", "ca", false, false },
	};
	struct tk_proc broker;
	struct mqtt_fixture r;
	struct mqtt_fixture_client c;
	size_t i;

	certs_make();
	for (i = 0; i < NELEM(cases); i++) {
		mqtt_fixture_init(&r);
		broker_start(&r, &broker, cases[i].cert, false);
		if (cases[i].number)
			snprintf(r.broker.url, sizeof(r.broker.url),
			    "mqtts://127.0.0.1:%d", port);
		client_init(&c, &r, cases[i].ca);
		mqtt_client_start(&c);
		if (cases[i].good)
			mqtt_client_wait_up(&c);
		else
			expect_no_connection(&c, &broker);
		mqtt_client_end(&c);
		mqtt_fixture_end(&r);
		broker_end(&broker);
	}
}

TEST_T(the_broker_takes_only_certificates_of_the_fleet, 60)
{
	const struct tk_cert mine = { "fleet", "mine", "t1", "DNS:t1", 2 };
	const struct tk_cert alien = { "ca", "alien", "t1", "DNS:t1", 2 };
	struct tk_proc broker;
	struct mqtt_fixture r;
	struct mqtt_fixture_client c;

	certs_make();
	tk_certs_make(&mine);
	tk_certs_make(&alien);
	mqtt_fixture_init(&r);
	broker_start(&r, &broker, "good", true);
	client_init(&c, &r, "ca");
	mqtt_client_start(&c);
	expect_no_connection(&c, &broker);
	mqtt_client_end(&c);
	client_init(&c, &r, "ca");
	c.o.cert_file = cert_path("alien", "crt");
	c.o.key_file = cert_path("alien", "key");
	mqtt_client_start(&c);
	expect_no_connection(&c, &broker);
	mqtt_client_end(&c);
	client_init(&c, &r, "ca");
	c.o.cert_file = cert_path("mine", "crt");
	c.o.key_file = cert_path("mine", "key");
	mqtt_client_start(&c);
	mqtt_client_wait_up(&c);
	mqtt_client_end(&c);
	mqtt_fixture_end(&r);
	broker_end(&broker);
}

TEST(unusable_tls_files_are_rejected)
{
	const char *ca;
	struct mqtt_fixture r;
	struct mqtt_fixture_client c;

	certs_make();
	mqtt_fixture_init(&r);
	snprintf(r.broker.url, sizeof(r.broker.url), "mqtts://localhost:1");
	ca = cert_path("ca", "crt");
	const struct mqtt_opts bad[] = {
		{ .ca_file = "/nonexistent" },
		{ .ca_file = cert_path("ca", "key") },
		{ .ca_file = ca, .cert_file = ca },
		{ .ca_file = ca, .key_file = cert_path("ca", "key") },
		{ .ca_file = ca,
		    .cert_file = ca,
		    .key_file = cert_path("good", "key") },
	};
	for (size_t i = 0; i < NELEM(bad); i++) {
		mqtt_client_init(&c, &r, "c");
		c.o.ca_file = bad[i].ca_file;
		c.o.cert_file = bad[i].cert_file;
		c.o.key_file = bad[i].key_file;
		ck_assert_int_eq(mqtt_new(&c.o, &c.m), RC_INVALID);
		ck_assert_ptr_null(c.m);
		buf_free(&c.got);
	}
	mqtt_fixture_end(&r);
}

TEST_T(large_and_many_messages_pass_over_tls, 60)
{
	char *large = mem_alloc(LARGE + 1);
	struct tk_proc broker;
	struct mqtt_fixture r;
	struct mqtt_fixture_client c;
	int i;

	memset(large, 'x', LARGE);
	large[LARGE] = '\0';
	certs_make();
	mqtt_fixture_init(&r);
	broker_start(&r, &broker, "good", false);
	client_init(&c, &r, "ca");
	mqtt_client_start(&c);
	mqtt_client_wait_up(&c);
	ck_assert_int_eq(
	    mqtt_subscribe(c.m, STR("#"), 1, mqtt_client_on_subscribed, &c),
	    RC_OK);
	for (i = 0; i < MANY; i++)
		ck_assert_int_eq(mqtt_client_send(&c, "t", "x", 1), RC_OK);
	for (i = 0; i < 20; i++)
		ck_assert_int_eq(mqtt_client_send(&c, "big", large, 1), RC_OK);
	mqtt_client_wait(&c, &c.messages, MANY + 20);
	mqtt_client_wait(&c, &c.done, MANY + 20);
	ck_assert_int_eq(c.dones[RC_OK] + c.dones[RC_NOENT], MANY + 20);
	mqtt_client_end(&c);
	broker_end(&broker);
	mqtt_fixture_end(&r);
	free(large);
}

static void
pause_on_message(void *arg, const struct mqtt_msg *m)
{
	struct mqtt_fixture_client *c = arg;

	(void)m;
	c->messages++;
	mqtt_pause(c->m);
}

static bool
resume_until_all(void *arg)
{
	struct mqtt_fixture_client *c = arg;

	mqtt_resume(c->m);
	return c->messages == PAUSES;
}

/* Messages that are decrypted already are not forgotten after a pause. */
TEST_T(a_client_may_pause_at_any_message, 60)
{
	struct mqtt_fixture_client c;
	struct mqtt_fixture r;
	struct tk_proc broker;
	int i;

	certs_make();
	mqtt_fixture_init(&r);
	broker_start(&r, &broker, "good", false);
	client_init(&c, &r, "ca");
	c.o.on_message = pause_on_message;
	mqtt_client_start(&c);
	mqtt_client_wait_up(&c);
	mqtt_client_subscribe(&c, "t", 0);
	for (i = 0; i < PAUSES; i++)
		ck_assert_int_eq(mqtt_client_send(&c, "t", "x", 0), RC_OK);
	ck_assert(tk_loop_until(r.loop, resume_until_all, &c, MQTT_FIXTURE_MS));
	ck_assert_int_eq(c.downs, 0);
	mqtt_client_end(&c);
	broker_end(&broker);
	mqtt_fixture_end(&r);
}
