/* Certificates are verified. */
#include <signal.h>

#include "testkit/httpc_fixture.h"

static struct httpc_fixture s;
static struct httpc_fixture_call g;
static struct tk_proc tls;
static int port;

static void
nothing(struct raw_server *p, int fd)
{
	(void)p;
	(void)fd;
}

static bool
tls_is_up(void *arg)
{
	(void)arg;
	return tk_port_open(port);
}

/* A server with a self-signed certificate for the given name. */
static void
serve(const char *name)
{
	static char key[256], cert[256], alt[128], at[32];
	const char *const make[] = { "openssl", "req", "-x509", "-newkey",
		"rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test",
		"-addext", alt, "-keyout", key, "-out", cert, NULL };
	const char *const run[] = { "openssl", "s_server", "-accept", at,
		"-key", key, "-cert", cert, "-www", "-quiet", NULL };
	struct tk_proc p;

	snprintf(key, sizeof(key), "%s", tk_path("key.pem"));
	snprintf(cert, sizeof(cert), "%s", tk_path("cert.pem"));
	snprintf(alt, sizeof(alt), "subjectAltName=%s", name);
	port = tk_port();
	snprintf(at, sizeof(at), "127.0.0.1:%d", port);
	tk_spawn(&p, "req", make, NULL);
	ck_assert_int_eq(tk_wait(&p, 20000), 0);
	tk_spawn(&tls, "s_server", run, NULL);
	ck_assert(tk_until(tls_is_up, NULL, 10000));
}

static void
call(const char *ca_file)
{
	char url[64];

	snprintf(url, sizeof(url), "https://127.0.0.1:%d/", port);
	httpc_fixture_open(
	    &s, nothing, (struct httpc_opts){ .ca_file = ca_file });
	httpc_fixture_call_init(&g, s.c, url);
	httpc_fixture_run(&s, &g);
	buf_free(&g.body);
	httpc_fixture_close(&s);
}

TEST(a_certificate_must_be_trusted)
{
	serve("IP:127.0.0.1");
	call(NULL);
	ck_assert_int_eq(g.rc, RC_DOWN);
	ck_assert_int_eq(g.status, 0);
	ck_assert_ptr_nonnull(strstr(g.why, "certificate"));
	call(tk_path("cert.pem"));
	ck_assert_msg(g.rc == RC_OK, "%s", g.why);
	ck_assert_int_eq(g.status, 200);
	tk_signal(&tls, SIGTERM);
	(void)tk_wait(&tls, 5000);
}

TEST(a_certificate_must_be_for_the_name)
{
	serve("DNS:other.test");
	call(tk_path("cert.pem"));
	ck_assert_int_eq(g.rc, RC_DOWN);
	ck_assert_int_eq(g.status, 0);
	tk_signal(&tls, SIGTERM);
	(void)tk_wait(&tls, 5000);
}
