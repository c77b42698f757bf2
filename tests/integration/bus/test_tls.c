/*
 * TLS: valid certificates are accepted, others are not.
 */
#include "core/mem.h"
#include "testkit/bus_fixture.h"
#include "testkit/cert.h"

/* Configure a server with the certificate "server" and one more line. */
static void
start_tls(struct bus_fixture *e, const char *who, const char *more)
{
	char text[2048];

	tk_cert_authority("ca");
	tk_cert_issue("server", "ca", who);
	snprintf(text, sizeof(text),
	    "tls { cert_file: \"%s\", key_file: \"%s\", %s }\n",
	    tk_cert_pem("server"), tk_cert_key("server"), more);
	memset(e, 0, sizeof(*e));
	tk_server_start_with(&e->nats, TK_NATS, text);
	e->loop = loop_new(64);
	e->metrics = metric_set_new();
}

static void
on_state(void *arg, bool up)
{
	if (up)
		(*(int *)arg)++;
}

struct client {
	const char *host, *ca, *cert; /* names of certificates; NULL: none */
};

static struct bus *
client_new(struct bus_fixture *e, const struct client *c, int *ups)
{
	char url[64];
	struct bus_opts o = { .loop = e->loop,
		.url = url,
		.name = "test",
		.on_state = on_state,
		.arg = ups };
	struct bus *b = NULL;

	snprintf(url, sizeof(url), "tls://%s:%d", c->host, e->nats.port);
	if (c->ca != NULL)
		o.ca_file = tk_cert_pem(c->ca);
	if (c->cert != NULL) {
		o.cert_file = tk_cert_pem(c->cert);
		o.key_file = tk_cert_key(c->cert);
	}
	ck_assert_int_eq(bus_new(&o, &b), RC_OK);
	return b;
}

static void
bus_connects(struct bus_fixture *e, const struct client *c)
{
	struct bus_fixture_reply a;
	int ups = 0, served = 0;
	struct bus *b = client_new(e, c, &ups);

	bus_fixture_serve(b, "t.echo", bus_fixture_on_echo, &served);
	ck_assert_msg(
	    bus_fixture_until(e, bus_fixture_is_up, b, BUS_FIXTURE_MS), "%s",
	    c->host);
	ck_assert_int_eq(bus_fixture_call(e, b, "t.echo", "1", &a), RC_OK);
	ck_assert_str_eq(a.body, "1");
	bus_free(b);
}

struct tries {
	struct bus *bus;
	struct mono until;
};

static bool
bus_has_tried(void *arg)
{
	const struct tries *t = arg;

	ck_assert(!bus_up(t->bus));
	return mono_diff_ms(clock_mono(), t->until) >= 0;
}

/* Several attempts are made within a second. */
static void
bus_jobs_is_rejected(struct bus_fixture *e, const struct client *c)
{
	struct tries t;
	int ups = 0;

	t.bus = client_new(e, c, &ups);
	t.until = mono_add_ms(clock_mono(), 1000);
	BUS_FIXTURE_WAIT(e, bus_has_tried, &t);
	ck_assert_int_eq(ups, 0);
	bus_free(t.bus);
}

static void
end(struct bus_fixture *e)
{
	loop_free(e->loop);
	metric_set_free(e->metrics);
}

TEST_T(the_server_certificate_must_be_trusted, 60)
{
	struct bus_fixture e;

	start_tls(&e, "DNS:localhost,IP:127.0.0.1", "");
	tk_cert_authority("other");
	bus_connects(&e, &(struct client){ "localhost", "ca", NULL });
	bus_connects(&e, &(struct client){ "127.0.0.1", "ca", NULL });
	bus_jobs_is_rejected(
	    &e, &(struct client){ "localhost", "other", NULL });
	/* The system's authorities do not include ours. */
	bus_jobs_is_rejected(&e, &(struct client){ "localhost", NULL, NULL });
	end(&e);
}

TEST_T(a_certificate_for_another_name_is_rejected, 60)
{
	struct bus_fixture e;

	start_tls(&e, "DNS:nats.example,IP:127.0.0.9", "");
	bus_jobs_is_rejected(&e, &(struct client){ "localhost", "ca", NULL });
	bus_jobs_is_rejected(&e, &(struct client){ "127.0.0.1", "ca", NULL });
	end(&e);
}

TEST_T(the_server_may_require_a_client_certificate, 60)
{
	char more[600];
	struct bus_fixture e;

	snprintf(more, sizeof(more), "verify: true, ca_file: \"%s\"",
	    tk_cert_pem("ca"));
	start_tls(&e, "DNS:localhost", more);
	tk_cert_issue("client", "ca", "DNS:chat-gateway");
	tk_cert_authority("other");
	tk_cert_issue("stranger", "other", "DNS:chat-gateway");
	bus_connects(&e, &(struct client){ "localhost", "ca", "client" });
	bus_jobs_is_rejected(&e, &(struct client){ "localhost", "ca", NULL });
	bus_jobs_is_rejected(
	    &e, &(struct client){ "localhost", "ca", "stranger" });
	end(&e);
}

TEST_T(certificate_files_are_read_for_each_connection, 60)
{
	char other[300];
	struct bus_fixture e;
	int ups = 0;
	struct bus *b;

	start_tls(&e, "DNS:localhost", "");
	snprintf(other, sizeof(other), "%s", tk_cert_pem("used"));
	tk_cert_authority("used");
	b = client_new(&e, &(struct client){ "localhost", "used", NULL }, &ups);
	ck_assert(!bus_fixture_until(&e, bus_fixture_is_up, b, 300));
	ck_assert_int_eq(rename(tk_cert_pem("ca"), other), 0);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, b);
	bus_free(b);
	end(&e);
}

TEST(a_server_without_tls_is_rejected)
{
	struct bus_fixture e;

	memset(&e, 0, sizeof(e));
	tk_cert_authority("ca");
	tk_server_start(&e.nats, TK_NATS);
	e.loop = loop_new(64);
	e.metrics = metric_set_new();
	bus_jobs_is_rejected(&e, &(struct client){ "localhost", "ca", NULL });
	end(&e);
}

TEST(inconsistent_files_and_urls_are_rejected)
{
	static const struct {
		const char *url, *ca, *cert, *key, *why;
	} t[] = {
		{ "tls://a", NULL, NULL, NULL, NULL },
		{ "tls://a:1,tls://u:p@b", "c", "d", "e", NULL },
		{ "nats://a", "", "", "", NULL },
		{ "nats://a", "c", NULL, NULL, "begins with tls://" },
		{ "nats://a", NULL, "c", "d", "begins with tls://" },
		{ "tls://a", NULL, "c", NULL, "needs its key" },
		{ "tls://a", NULL, "", "d", "needs its key" },
		{ "tls://a,nats://b", NULL, NULL, NULL, "of one kind" },
		{ "https://a", NULL, NULL, NULL, "nats://host:port" },
	};
	struct bus *b;
	const char *why;
	size_t i;

	for (i = 0; i < NELEM(t); i++) {
		struct bus_opts o = { .url = t[i].url,
			.ca_file = t[i].ca,
			.cert_file = t[i].cert,
			.key_file = t[i].key };

		why = bus_opts_error(&o);
		if (t[i].why == NULL)
			ck_assert_msg(why == NULL, "%s: %s", t[i].url, why);
		else
			ck_assert_msg(
			    why != NULL && strstr(why, t[i].why) != NULL,
			    "%s: %s", t[i].url, why);
		if (why != NULL)
			ck_assert_int_eq(bus_new(&o, &b), RC_INVALID);
	}
}
