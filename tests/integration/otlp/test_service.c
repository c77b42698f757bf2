/* A service that receives SIGTERM. */
#include <signal.h>

#include "svc/svc.h"
#include "testkit/otlp_fixture.h"

struct toy_conf {
	struct otlp_conf otlp;
};

struct toy {
	struct svc *s;
	struct otlp *o;
	struct loop_timer timer;
};

static const struct conf_opt opts[] = {
	OTLP_CONF_ROWS(toy_conf, otlp, "toy"),
};

static void
work(void *arg)
{
	struct toy *t = arg;

	otlp_fixture.otlp = t->o;
	otlp_fixture_queue(1);
	ck_assert_int_eq(kill(getpid(), SIGTERM), 0);
}

static void *
toy_start(struct svc *s, const void *conf)
{
	const struct toy_conf *c = conf;
	struct toy *t = mem_zalloc(sizeof(*t));
	const char *why;

	t->s = s;
	ck_assert_int_eq(otlp_new(&(struct otlp_opts){ .loop = svc_loop(s),
				      .conf = &c->otlp,
				      .version = svc_version(),
				      .metrics = svc_metrics(s),
				      .interval_ms = 3600000 },
			     &t->o, &why),
	    RC_OK);
	ck_assert_ptr_nonnull(t->o);
	loop_timer_set(svc_loop(s), &t->timer, clock_mono(), work, t);
	return t;
}

static void
toy_stop(void *arg)
{
	struct toy *t = arg;

	otlp_flush(t->o, OTLP_FIXTURE_MS);
	otlp_free(t->o);
	free(t);
}

static const struct svc_def def = {
	.name = "toy",
	.summary = "queues a span and ends",
	.http_addr = "127.0.0.1:1",
	.admin_addr = "127.0.0.1:1",
	.no_bus = true,
	.opts = opts,
	.nopts = NELEM(opts),
	.conf_size = sizeof(struct toy_conf),
	.start = toy_start,
	.stop = toy_stop,
};

TEST(a_stopping_service_sends_its_spans)
{
	char *argv[] = { (char[]){ "toy" }, NULL };
	char admin[32];
	sigset_t set;

	/* Blocked as in a service, before there are threads. */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	otlp_fixture.respond = otlp_fixture_503_429_ok;
	raw_server_open(&otlp_fixture.server, otlp_fixture_serve);
	snprintf(otlp_fixture.url, sizeof(otlp_fixture.url),
	    "http://127.0.0.1:%d", otlp_fixture.server.port);
	snprintf(admin, sizeof(admin), "127.0.0.1:%d", tk_port());
	ck_assert_int_eq(
	    setenv("OTEL_EXPORTER_OTLP_ENDPOINT", otlp_fixture.url, 1), 0);
	ck_assert_int_eq(setenv("ADMIN_ADDR", admin, 1), 0);
	ck_assert_int_eq(svc_main(&def, 1, argv), 0);
	ck_assert_int_eq(otlp_fixture_requests(), 3);
	ck_assert_ptr_nonnull(
	    strstr(otlp_fixture_body(2), "{\"stringValue\":\"toy\"}"));
	ck_assert_ptr_nonnull(strstr(otlp_fixture_body(2), "\"name\":\"s1\""));
	raw_server_close(&otlp_fixture.server);
	for (int i = 0; i < otlp_fixture.n; i++)
		buf_free(&otlp_fixture.requests[i]);
}
