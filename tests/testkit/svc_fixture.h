/*
 * svc_fixture: a toy service in a forked process, its NATS server, and clients
 * of it.
 */
#ifndef TESTKIT_SVC_FIXTURE_H
#define TESTKIT_SVC_FIXTURE_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "svc/svc.h"
#include "testkit/nats.h"
#include "testkit/service.h"

#define SVC_FIXTURE_MS 20000

struct svc_fixture {
	struct tk_server nats;
	struct tk_service toy;
	natsConnection *nc; /* NULL: none */
};

/* Start the toy; more are further variables, NULL: none. */
void svc_fixture_fork(struct svc_fixture *r, const struct svc_def *def,
    const char *nats_url, const char *const more[]);

/* svc_fixture_is_open(r): Whether its HTTP port is open, for tk_until(). */
bool svc_fixture_is_open(void *r);

/* A server and the toy, which listens but is not necessarily ready. */
void svc_fixture_begin(
    struct svc_fixture *r, const struct svc_def *def, const char *const more[]);

/* The same, and it is ready, and a client of the server is connected. */
void svc_fixture_start(struct svc_fixture *r, const struct svc_def *def);

/* It must exit by itself or after SIGTERM, with this status. */
void svc_fixture_expect_exit(struct svc_fixture *r, int status);

void svc_fixture_stop(struct svc_fixture *r);

/* POST {"error": text} on a connection that stays open. */
void svc_fixture_post(const struct svc_fixture *r, struct tk_http *c,
    const char *path, const char *text);

/* The same; returns the status of the response. */
int svc_fixture_call(const struct svc_fixture *r, struct tk_response *a,
    const char *path, const char *text);

/* Whether the metrics of r have this line. */
bool svc_fixture_has_metric(const struct svc_fixture *r, const char *line);

/* A request, and what its response must be. */
struct svc_fixture_request {
	const char *token; /* NULL: none */
	const char *method, *path;
	const char *body; /* NULL: none */
	int status;
	const char *text; /* in the response */
};

/* svc_fixture_request(r, q): Send q and check its response. */
void svc_fixture_request(
    const struct svc_fixture *r, const struct svc_fixture_request *q);

#endif /* !TESTKIT_SVC_FIXTURE_H */
