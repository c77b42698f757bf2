/*
 * site: a server with its loop on a thread, for the tests beside this file.
 */
#ifndef TESTS_HTTPD_SITE_H
#define TESTS_HTTPD_SITE_H

#include "core/mem.h"
#include "core/metric.h"
#include "httpd/httpd.h"
#include "testkit/http.h"
#include "testkit/loop_thread.h"
#include "testkit/testkit.h"

#define SITE_WORKERS 32
#define SITE_HOST    "Host: t\r\n"
/* An answer that takes longer than this is one that did not come at once. */
#define SITE_SOON_MS 1000
/* As soon, after a body that was not read: SERVER_REST_MS, and a tick. */
#define SITE_REST_MS (SITE_SOON_MS + 1000)

struct site {
	struct tk_loop k;
	struct httpd *h;
	struct metric_set *metrics;
	int port;
};

/*
 * site_make(s, o, inbox_max): The server of o (its zero members filled in) on a
 * loop that does not run yet.
 */
static inline void
site_make(struct site *s, struct httpd_opts o, size_t inbox_max)
{
	tk_loop_new(&s->k, inbox_max);
	s->metrics = metric_set_new();
	o.loop = s->k.l;
	o.metrics = s->metrics;
	if (o.addr == NULL)
		o.addr = "127.0.0.1:0";
	if (o.workers == 0)
		o.workers = SITE_WORKERS;
	if (o.timeout_ms == 0)
		o.timeout_ms = 10000;
	ck_assert_int_eq(httpd_new(&o, &s->h), RC_OK);
	s->port = httpd_port(s->h);
	ck_assert_int_gt(s->port, 0);
}

static inline void
site_open(struct site *s, struct httpd_opts o)
{
	site_make(s, o, 1024);
	tk_loop_start(&s->k);
}

static inline void
site_close(struct site *s)
{
	tk_loop_stop(&s->k);
	httpd_free(s->h);
	loop_free(s->k.l);
	metric_set_free(s->metrics);
}

/* Whether the metrics have this line. */
static inline bool
site_counts(struct site *s, const char *line)
{
	struct buf b = BUF_INIT(1024 * 1024);

	metric_write(s->metrics, &b);
	bool found = str_find(buf_str(&b), str_of(line)) >= 0;
	buf_free(&b);
	return found;
}

static inline bool
site_idle(void *arg)
{
	struct site *s = arg;

	return httpd_busy(s->h) == 0;
}

#endif /* !TESTS_HTTPD_SITE_H */
