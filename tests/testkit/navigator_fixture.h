/*
 * navigator_fixture: nats-server, Redis with souls, the simulated language
 * model, navigators, and the services that they call.  Failures fail the test.
 */
#ifndef TESTKIT_NAVIGATOR_FIXTURE_H
#define TESTKIT_NAVIGATOR_FIXTURE_H

#include <nats/nats.h>
#include <stdbool.h>
#include <stdint.h>

#include "testkit/json.h"
#include "testkit/nats.h"
#include "testkit/service.h"
#include "testkit/state.h"

#define NAVIGATOR_FIXTURE_MS       60000
#define NAVIGATOR_FIXTURE_REPLICAS 2
#define NAVIGATOR_FIXTURE_ENV_MAX  4

struct navigator_fixture {
	struct tk_server nats, redis;
	struct tk_service nav[NAVIGATOR_FIXTURE_REPLICAS], llm;
	/* More variables of the navigators, "K=V"; NULL: no more. */
	const char *env[NAVIGATOR_FIXTURE_ENV_MAX];
	natsConnection *nc;
	struct tk_state db;
	int events; /* published so far: part of their ids */
	/* Requests to the other services. */
	natsSubscription *psyche, *speak, *jobs, *suggestions, *notices;
	natsSubscription *emotion, *evolutions;
	natsSubscription *peers[3];           /* that reply to it */
	double laziness, curiosity, intimacy; /* as the emotion-engine says */
};

/*
 * navigator_fixture_servers(f): Servers, with a soul s1 of the user u1, and the
 * other services.
 * navigator_fixture_llm(f): Start the model.
 * navigator_fixture_spawn(f, i): Start navigator i, and wait until it is ready.
 * navigator_fixture_start(f, n): All of these, with n navigators.
 * navigator_fixture_end_evolutions(f): Nobody serves their requests any more.
 * navigator_fixture_stop(f): Programs must drain and exit 0.
 */
void navigator_fixture_servers(struct navigator_fixture *f);
void navigator_fixture_llm(struct navigator_fixture *f);
void navigator_fixture_spawn(struct navigator_fixture *f, int i);
void navigator_fixture_start(struct navigator_fixture *f, int n);
void navigator_fixture_end_evolutions(struct navigator_fixture *f);
void navigator_fixture_stop(struct navigator_fixture *f);

/*
 * navigator_fixture_converse(f, text): A message of u1 in the session c1, and
 * the reply. navigator_fixture_turn(f, soul, emotion): A turn of u1 with that
 * soul was completed, in the session c1; emotion NULL: none.
 * navigator_fixture_script_json(f, json): An llm_sim_script.
 * navigator_fixture_script(f, completions): What the model completions next:
 * the parts of completions that '|' separates. navigator_fixture_calls(f):
 * Completions so far. navigator_fixture_ended(f, i, labels): Cycles of
 * navigator i by labels.
 */
void navigator_fixture_converse(struct navigator_fixture *f, const char *text);
void navigator_fixture_turn(
    struct navigator_fixture *f, const char *soul, const char *emotion);
void navigator_fixture_script_json(
    struct navigator_fixture *f, const char *json);
void navigator_fixture_script(
    struct navigator_fixture *f, const char *completions);
long long navigator_fixture_calls(struct navigator_fixture *f);
long long navigator_fixture_ended(
    struct navigator_fixture *f, int i, const char *labels);

/* navigator_fixture_wait_ended(f, labels): Wait for one of navigator 0. */
void navigator_fixture_wait_ended(
    struct navigator_fixture *f, const char *labels);

/*
 * navigator_fixture_next(sub): The payload of the next event, or the next
 * request, which must come.
 */
json_t *navigator_fixture_next(natsSubscription *sub);

/* navigator_fixture_link(f, soul): u1's mind link; NULL: none. */
json_t *navigator_fixture_link(struct navigator_fixture *f, const char *soul);

#endif /* !TESTKIT_NAVIGATOR_FIXTURE_H */
