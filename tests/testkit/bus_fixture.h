/*
 * bus_fixture: a nats-server, a loop and buses, for tests of libs/bus.
 *
 * The loop runs only inside bus_fixture_until(), on the test's own thread;
 * between two calls the test may touch everything the loop owns.  Failures fail
 * the test.
 */
#ifndef TESTKIT_BUS_FIXTURE_H
#define TESTKIT_BUS_FIXTURE_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "core/loop.h"
#include "core/metric.h"
#include "testkit/loop.h"
#include "testkit/testkit.h"

/* Longest wait for anything. */
#define BUS_FIXTURE_MS 10000

struct bus_fixture {
	struct tk_server nats;
	struct loop *loop;
	struct metric_set *metrics; /* of the first bus */
	struct bus *bus;            /* the first */
};

/*
 * bus_fixture_start(e): Start all of it; the bus is connected.
 * bus_fixture_bus_new(e, name, metrics): Another bus, not connected yet.
 * bus_fixture_bus(e, name): Another bus, connected.
 */
void bus_fixture_start(struct bus_fixture *e);
void bus_fixture_stop(struct bus_fixture *e);
struct bus *bus_fixture_bus_new(
    struct bus_fixture *e, const char *name, struct metric_set *metrics);
struct bus *bus_fixture_bus(struct bus_fixture *e, const char *name);

/* Run the loop until cond(arg); false after ms. */
bool bus_fixture_until(
    struct bus_fixture *e, bool (*cond)(void *arg), void *arg, int ms);
/* The same with the longest wait; the test fails unless cond(arg). */
#define BUS_FIXTURE_WAIT(e, cond, arg) \
	ck_assert(bus_fixture_until((e), (cond), (arg), BUS_FIXTURE_MS))

/* Conditions: arg is a bus, a bool (set by bus_fixture_set()), nothing. */
bool bus_fixture_is_up(void *arg);
bool bus_fixture_is_down(void *arg);
bool bus_fixture_is_set(void *arg);
void bus_fixture_set(void *arg);
bool bus_fixture_never(void *arg);

/*
 * Stop the server with SIGSTOP; it receives what is sent from now on after a
 * SIGCONT.
 */
void bus_fixture_freeze(struct bus_fixture *e);

/* A metric of the first bus. */
int64_t bus_fixture_counter(struct bus_fixture *e, const char *name);
int64_t bus_fixture_gauge(struct bus_fixture *e, const char *name);

/* Now and ms milliseconds. */
struct wall bus_fixture_in_ms(int ms);

/* The end of one request. */
struct bus_fixture_reply {
	int calls;
	enum rc rc;
	size_t n;
	bool absent;
	char body[256]; /* its beginning */
	struct mono at;
};

/*
 * bus_fixture_request(b, subject, data, ms, a): Start a request that ends in
 * *a.
 * bus_fixture_call(e, b, subject, data, a): The same, and wait for its
 * end; the code of it.
 * bus_fixture_on_reply(), bus_fixture_is_replied(): The callback and the
 * condition of both, for *a.
 */
enum rc bus_fixture_request(struct bus *b, const char *subject, struct str data,
    int ms, struct bus_fixture_reply *a);
enum rc bus_fixture_call(struct bus_fixture *e, struct bus *b,
    const char *subject, const char *data, struct bus_fixture_reply *a);
void bus_fixture_on_reply(void *arg, enum rc rc, struct str data);
bool bus_fixture_is_replied(void *arg);

/* Subscribe; bus_fixture_on_echo() replies with the request's data and counts
 * in *arg, an int. */
void bus_fixture_serve(
    struct bus *b, const char *subject, bus_msg_fn fn, void *arg);
void bus_fixture_on_echo(void *arg, struct bus_msg *m);

/* The JSON object that replies to a request; the caller drops it. */
json_t *bus_fixture_request_json(
    struct bus_fixture *e, const char *subject, const char *body);

/* Check a member of a JSON object. */
void bus_fixture_check_text(const json_t *o, const char *key, const char *want);
void bus_fixture_check_int(const json_t *o, const char *key, long long want);

#endif /* !TESTKIT_BUS_FIXTURE_H */
