/*
 * otlp_fixture: an exporter of spans, and a collector whose responses the test
 * chooses.  A failed wait or call fails the test.
 */
#ifndef TESTKIT_OTLP_FIXTURE_H
#define TESTKIT_OTLP_FIXTURE_H

#include <inttypes.h>

#include "otlp/otlp.h"
#include "testkit/loop.h"
#include "testkit/loop_thread.h"
#include "testkit/raw_server.h"

#define OTLP_FIXTURE_REQUESTS 64
/* Longest wait for an expected event. */
#define OTLP_FIXTURE_MS 15000
#define OTLP_FIXTURE_HEAD                                                     \
	"{\"resourceSpans\":[{\"resource\":{\"attributes\":["                 \
	"{\"key\":\"service.name\",\"value\":{\"stringValue\":\"mind\"}},"    \
	"{\"key\":\"service.version\",\"value\":{\"stringValue\":\"1.2\"}},"  \
	"{\"key\":\"service.instance.id\",\"value\":{\"stringValue\":\"i\"}}" \
	"]},\"scopeSpans\":[{\"scope\":{\"name\":\"soul\"},\"spans\":["

/* The response to a request, by its number; NULL: none, ever. */
typedef const char *(*otlp_fixture_fn)(int number);

/* The collector and the exporter; each test runs in a process of its own. */
extern struct otlp_fixture {
	struct raw_server server;
	otlp_fixture_fn respond;
	pthread_mutex_t lock;
	int n;
	struct buf requests[OTLP_FIXTURE_REQUESTS];
	struct loop *loop;
	struct otlp *otlp;
	struct metric_set *metrics;
	char url[64];
	int64_t timeout_ms; /* of one request; 0: OTLP_FIXTURE_MS */
} otlp_fixture;

/* The collector's connections, for raw_server_open(). */
void otlp_fixture_serve(struct raw_server *p, int fd);

/* Responses: 200; 503, then 429, then 200; none. */
const char *otlp_fixture_ok(int number);
const char *otlp_fixture_503_429_ok(int number);
const char *otlp_fixture_nothing(int number);

/* Open an exporter with short intervals, alone or with the collector. */
void otlp_fixture_open_exporter(const char *headers);
void otlp_fixture_open(otlp_fixture_fn respond);
void otlp_fixture_close_exporter(void);
void otlp_fixture_close(void);

/* otlp_fixture_count(result): Spans with that result so far. */
int64_t otlp_fixture_count(const char *result);

/* otlp_fixture_wait(result, n): Run the loop until exactly n spans have it. */
void otlp_fixture_wait(const char *result, int64_t n);

/* otlp_fixture_requests(): Requests so far.  _body(i): The body of one. */
int otlp_fixture_requests(void);
const char *otlp_fixture_body(int i);

/* otlp_fixture_queue(number): Queue a span with that number in id and name. */
void otlp_fixture_queue(unsigned number);

/* otlp_fixture_check_body(i, from, end): Request i has spans from to end - 1.
 */
void otlp_fixture_check_body(int i, unsigned from, unsigned end);

#endif /* !TESTKIT_OTLP_FIXTURE_H */
