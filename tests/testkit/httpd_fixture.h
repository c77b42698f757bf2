/*
 * httpd_fixture: a server with its loop on a thread, for tests of libs/httpd.
 * Failures fail the test.
 */
#ifndef TESTKIT_HTTPD_FIXTURE_H
#define TESTKIT_HTTPD_FIXTURE_H

#include "core/mem.h"
#include "core/metric.h"
#include "httpd/httpd.h"
#include "testkit/http.h"
#include "testkit/loop_thread.h"
#include "testkit/testkit.h"

#define HTTPD_FIXTURE_WORKERS 32
#define HTTPD_FIXTURE_HOST    "Host: t\r\n"
/* A response that takes longer than this did not come at once. */
#define HTTPD_FIXTURE_SOON_MS 1000
/* The same after an unread body: SERVER_DISCARD_MS, and a run of the reaper. */
#define HTTPD_FIXTURE_DISCARD_MS (HTTPD_FIXTURE_SOON_MS + 1000)

struct httpd_fixture {
	struct tk_loop k;
	struct httpd *h;
	struct metric_set *metrics;
	int port;
};

/*
 * httpd_fixture_new(s, o, inbox_max): The server of o, with defaults for its
 * zero members, on a loop that does not run yet.
 * httpd_fixture_open(s, o): The same, and run the loop.
 * httpd_fixture_close(s): Stop all of it.
 */
void httpd_fixture_new(
    struct httpd_fixture *s, struct httpd_opts o, size_t inbox_max);
void httpd_fixture_open(struct httpd_fixture *s, struct httpd_opts o);
void httpd_fixture_close(struct httpd_fixture *s);

/* Whether the metrics have this line. */
bool httpd_fixture_has_metric(struct httpd_fixture *s, const char *line);

/* Whether no request is in progress; for tk_until(). */
bool httpd_fixture_is_idle(void *s);

#endif /* !TESTKIT_HTTPD_FIXTURE_H */
