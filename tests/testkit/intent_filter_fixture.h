/*
 * intent_filter_fixture: intent-filter in the test's own process (JSON in, JSON
 * out), and as a process with plain HTTP and NATS clients.  Failures that a
 * test does not expect fail it.
 */
#ifndef TESTKIT_INTENT_FILTER_FIXTURE_H
#define TESTKIT_INTENT_FILTER_FIXTURE_H

#include <jansson.h>
#include <nats/nats.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/rc.h"
#include "testkit/service.h"
#include "wire/wire.h"

/* filter_fixture_json(text): Parse JSON; the caller's reference. */
json_t *filter_fixture_json(const char *text);

/* filter_fixture_protocol(): The request of section 4.4.1 of the protocol.
 * First called before threads are started. */
const char *filter_fixture_protocol(void);

/* filter_fixture_catalog(): The protocol's light (0), alarm (1), head (2). */
json_t *filter_fixture_catalog(void);

/*
 * filter_fixture_try(request, response, err):
 * Run a request, at 2026-02-22T17:40:00+08:00 if it names no time; *response
 * only if RC_OK.
 */
enum rc filter_fixture_try(
    const char *request, json_t **response, struct wire_err *err);

/* filter_fixture_run(request): The response; fails the test if there is none.
 */
json_t *filter_fixture_run(const char *request);

/* filter_fixture_command(intents, command): Takes over the reference to
 * intents; one intent per segment. */
json_t *filter_fixture_command(json_t *intents, const char *command);

/* filter_fixture_action(response): decision.action. */
const char *filter_fixture_action(const json_t *response);

/* filter_fixture_intent(response, i, key): A member of the i-th intent. */
json_t *filter_fixture_intent(
    const json_t *response, size_t i, const char *key);

/* filter_fixture_equal(value, expected, what): expected is JSON text. */
void filter_fixture_equal(
    const json_t *value, const char *expected, const char *what);

/* filter_fixture_check_protocol(r): The response to the protocol's request. */
void filter_fixture_check_protocol(const json_t *r);

/* ---- as a process ---- */

#define FILTER_FIXTURE_SUBJECT "soul.rpc.intent.filter"

struct filter_fixture {
	struct tk_service s;
	const char *redis; /* URL; NULL: none */
	int redis_ms;      /* its timeout; 0: the default */
};

/*
 * filter_fixture_spawn(r, name, nats_url): Start the process.
 * filter_fixture_start(r, name, nats_url): The same, and wait until it is
 * ready.
 */
void filter_fixture_spawn(
    struct filter_fixture *r, const char *name, const char *nats_url);
void filter_fixture_start(
    struct filter_fixture *r, const char *name, const char *nats_url);

struct filter_response {
	long status; /* 0: none */
	char *body;  /* freed by filter_response_free() */
	size_t n;
};

/* filter_fixture_http(port, path, body): body NULL: GET. */
struct filter_response filter_fixture_http(
    int port, const char *path, const char *body);
void filter_response_free(struct filter_response *a);

/* filter_fixture_status_is(port, path, status): Of a GET. */
bool filter_fixture_status_is(int port, const char *path, long status);

/* filter_fixture_nats(url): A connection; NULL if the server is unreachable. */
natsConnection *filter_fixture_nats(const char *url);

#endif /* !TESTKIT_INTENT_FILTER_FIXTURE_H */
