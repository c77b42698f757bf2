/* TLS: whom we believe, whom the broker believes, and large messages. */
#include "integration/mqtt/rig.h"
#include "testkit/certs.h"

/* More than one record of TLS, and than a socket takes at once. */
#define LARGE (1000UL * 1000)
#define MANY  2000

static int port;

static bool
is_open(void *arg)
{
	(void)arg;
	return tk_port_open(port);
}

static const char *
in_dir(const char *name, const char *type)
{
	char path[128];

	snprintf(path, sizeof(path), "%s.%s", name, type);
	return tk_path(path);
}

/* A broker that has that certificate, and asks for one of fleet if it is said.
 */
static void
serve(struct rig *r, struct tk_proc *p, const char *cert, bool asks)
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
	    port, in_dir(cert, "crt"), in_dir(cert, "key"),
	    in_dir("fleet", "crt"));
	if (asks)
		buf_puts(&b,
		    "require_certificate true\nuse_identity_as_username true\n"
		    "use_username_as_clientid true\n");
	tk_write_file(v[2], b.p);
	buf_free(&b);
	snprintf(name, sizeof(name), "mosquitto-%d", starts++);
	tk_spawn(p, name, v, NULL);
	ck_assert(tk_until(is_open, NULL, RIG_MS));
}

static void
end(struct tk_proc *p)
{
	tk_signal(p, SIGTERM);
	(void)tk_wait(p, RIG_MS);
}

/* Authorities and certificates; localhost, as only a name tells SNI. */
static void
make(void)
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
trusting(struct cl *c, struct rig *r, const char *ca)
{
	cl_init(c, r, "c");
	c->o.ca_file = ca != NULL ? in_dir(ca, "crt") : NULL;
}

static bool
has_failed(void *arg)
{
	const struct tk_proc *p = arg;

	/* What the broker says of a handshake that the client ends. */
	return tk_log_has(p, "OpenSSL Error") || tk_log_has(p, "error:");
}

/* It never gets as far as to say its password. */
static void
ck_never_up(struct cl *c, struct tk_proc *broker)
{
	ck_assert(tk_loop_until(c->rig->loop, has_failed, broker, RIG_MS));
	ck_assert_int_eq(c->ups, 0);
	ck_assert(!tk_log_has(broker, "New client connected"));
}

TEST_T(who_is_believed, 60)
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
	struct rig r;
	struct cl c;
	size_t i;

	make();
	for (i = 0; i < NELEM(cases); i++) {
		rig_bare(&r);
		serve(&r, &broker, cases[i].cert, false);
		if (cases[i].number)
			snprintf(r.broker.url, sizeof(r.broker.url),
			    "mqtts://127.0.0.1:%d", port);
		trusting(&c, &r, cases[i].ca);
		cl_start(&c);
		if (cases[i].good)
			cl_wait_up(&c);
		else
			ck_never_up(&c, &broker);
		cl_end(&c);
		rig_end(&r);
		end(&broker);
	}
}

/* Whoever has no certificate of the fleet does not get in. */
TEST_T(who_we_are, 60)
{
	const struct tk_cert mine = { "fleet", "mine", "t1", "DNS:t1", 2 };
	const struct tk_cert alien = { "ca", "alien", "t1", "DNS:t1", 2 };
	struct tk_proc broker;
	struct rig r;
	struct cl c;

	make();
	tk_certs_make(&mine);
	tk_certs_make(&alien);
	rig_bare(&r);
	serve(&r, &broker, "good", true);
	trusting(&c, &r, "ca");
	cl_start(&c);
	ck_never_up(&c, &broker);
	cl_end(&c);
	trusting(&c, &r, "ca");
	c.o.cert_file = in_dir("alien", "crt");
	c.o.key_file = in_dir("alien", "key");
	cl_start(&c);
	ck_never_up(&c, &broker);
	cl_end(&c);
	trusting(&c, &r, "ca");
	c.o.cert_file = in_dir("mine", "crt");
	c.o.key_file = in_dir("mine", "key");
	cl_start(&c);
	cl_wait_up(&c);
	cl_end(&c);
	rig_end(&r);
	end(&broker);
}

TEST(files_that_cannot_be_used)
{
	const char *ca;
	struct rig r;
	struct cl c;

	make();
	rig_bare(&r);
	snprintf(r.broker.url, sizeof(r.broker.url), "mqtts://localhost:1");
	ca = in_dir("ca", "crt");
	const struct mqtt_opts bad[] = {
		{ .ca_file = "/nonexistent" },
		{ .ca_file = in_dir("ca", "key") },
		{ .ca_file = ca, .cert_file = ca },
		{ .ca_file = ca, .key_file = in_dir("ca", "key") },
		{ .ca_file = ca,
		    .cert_file = ca,
		    .key_file = in_dir("good", "key") },
	};
	for (size_t i = 0; i < NELEM(bad); i++) {
		cl_init(&c, &r, "c");
		c.o.ca_file = bad[i].ca_file;
		c.o.cert_file = bad[i].cert_file;
		c.o.key_file = bad[i].key_file;
		ck_assert_int_eq(mqtt_new(&c.o, &c.m), RC_INVALID);
		ck_assert_ptr_null(c.m);
		buf_free(&c.got);
	}
	rig_end(&r);
}

struct count {
	const int *n;
	int want;
};

static bool
reached(void *arg)
{
	const struct count *w = arg;

	return *w->n >= w->want;
}

/* Nothing stays in a buffer: what is large, and what are many. */
TEST_T(both_ways, 60)
{
	char *large = mem_alloc(LARGE + 1);
	struct tk_proc broker;
	struct rig r;
	struct cl c;
	int i;

	memset(large, 'x', LARGE);
	large[LARGE] = '\0';
	make();
	rig_bare(&r);
	serve(&r, &broker, "good", false);
	trusting(&c, &r, "ca");
	cl_start(&c);
	cl_wait_up(&c);
	ck_assert_int_eq(
	    mqtt_subscribe(c.m, STR("#"), 1, cl_on_subscribed, &c), RC_OK);
	for (i = 0; i < MANY; i++)
		ck_assert_int_eq(cl_send(&c, "t", "x", 1), RC_OK);
	for (i = 0; i < 20; i++)
		ck_assert_int_eq(cl_send(&c, "big", large, 1), RC_OK);
	struct count all = { &c.messages, MANY + 20 };
	ck_assert_msg(tk_loop_until(r.loop, reached, &all, RIG_MS), "%d came",
	    c.messages);
	struct count done = { &c.done, MANY + 20 };
	ck_assert(tk_loop_until(r.loop, reached, &done, RIG_MS));
	ck_assert_int_eq(c.dones[RC_OK] + c.dones[RC_NOENT], MANY + 20);
	cl_end(&c);
	end(&broker);
	rig_end(&r);
	free(large);
}
