#include "testkit/httpd_fixture.h"

void
httpd_fixture_new(
    struct httpd_fixture *s, struct httpd_opts o, size_t inbox_max)
{
	tk_loop_new(&s->k, inbox_max);
	s->metrics = metric_set_new();
	o.loop = s->k.l;
	o.metrics = s->metrics;
	if (o.addr == NULL)
		o.addr = "127.0.0.1:0";
	if (o.workers == 0)
		o.workers = HTTPD_FIXTURE_WORKERS;
	if (o.timeout_ms == 0)
		o.timeout_ms = 10000;
	ck_assert_int_eq(httpd_new(&o, &s->h), RC_OK);
	s->port = httpd_port(s->h);
	ck_assert_int_gt(s->port, 0);
}

void
httpd_fixture_open(struct httpd_fixture *s, struct httpd_opts o)
{
	httpd_fixture_new(s, o, 1024);
	tk_loop_start(&s->k);
}

void
httpd_fixture_close(struct httpd_fixture *s)
{
	tk_loop_stop(&s->k);
	httpd_free(s->h);
	loop_free(s->k.l);
	metric_set_free(s->metrics);
}

bool
httpd_fixture_has_metric(struct httpd_fixture *s, const char *line)
{
	struct buf b = BUF_INIT(1024 * 1024);

	metric_write(s->metrics, &b);
	bool found = str_find(buf_str(&b), str_of(line)) >= 0;
	buf_free(&b);
	return found;
}

bool
httpd_fixture_is_idle(void *arg)
{
	struct httpd_fixture *s = arg;

	return httpd_busy(s->h) == 0;
}
