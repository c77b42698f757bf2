/*
 * sim_fixture: a broker, body-sim, and a plain MQTT peer.  What fails here
 * fails the test.
 */
#ifndef TESTKIT_SIM_FIXTURE_H
#define TESTKIT_SIM_FIXTURE_H

#include <stdbool.h>

#include "testkit/json.h"
#include "testkit/mqtt_peer.h"
#include "testkit/service.h"
#include "testkit/testkit.h"

/* Topics of the first body. */
#define T1 "soul/terminal/terminal-001/"

struct sim_fixture {
	struct tk_server broker;
	struct tk_service sim;
	struct mqtt_peer peer;
};

/*
 * sim_fixture_spawn(b, more):
 * Start body-sim; more are "K=V" strings with NULL at the end, or NULL.
 */
void sim_fixture_spawn(struct sim_fixture *b, const char *const *more);

/* sim_fixture_start(b, more): Broker, peer (subscribed to "#"), body-sim. */
void sim_fixture_start(struct sim_fixture *b, const char *const *more);

/* sim_fixture_stop(b): body-sim must drain and exit with 0. */
void sim_fixture_stop(struct sim_fixture *b);

/* sim_fixture_state(b, id): GET /state; NULL: the first.  Owned by the caller.
 */
json_t *sim_fixture_state(struct sim_fixture *b, const char *id);

/*
 * sim_fixture_wait(b, id, key, text): Wait until the JSON of member key of the
 * state contains text; false after PEER_WAIT_MS.
 * sim_fixture_expect(b, key, text): The same of the first body; it must.
 */
bool sim_fixture_wait(
    struct sim_fixture *b, const char *id, const char *key, const char *text);
void sim_fixture_expect(
    struct sim_fixture *b, const char *key, const char *text);

/* sim_fixture_json(m): The payload as JSON, owned by the caller. */
json_t *sim_fixture_json(const struct mqtt_peer_msg *m);

/*
 * sim_fixture_invoke(b, terminal, id, skill, arguments):
 * Invoke a skill and wait for the result, owned by the caller.
 */
json_t *sim_fixture_invoke(struct sim_fixture *b, const char *terminal,
    const char *id, const char *skill, const char *arguments);

/* ---- fleet: many bodies, counted by the peer ---- */

#define SIM_FLEET_MAX     10000
#define SIM_FLEET_WAIT_MS 120000

struct sim_fleet {
	struct sim_fixture b;
	int bodies;
	const char *leaf; /* of the messages counted */
	bool has[SIM_FLEET_MAX + 1];
	int n;
};

/* sim_fleet_start(c, bodies): Wait until all have announced themselves. */
void sim_fleet_start(struct sim_fleet *c, int bodies);

/* sim_fleet_stop(c): All must publish offline. */
void sim_fleet_stop(struct sim_fleet *c);

/* sim_fleet_listen(c): Connect the peer. */
void sim_fleet_listen(struct sim_fleet *c);

/* sim_fleet_invoke_all(c, id): Invoke a skill of each, wait for all results. */
void sim_fleet_invoke_all(struct sim_fleet *c, const char *id);

/* sim_fleet_lose_broker(c): Kill the broker; all must announce themselves. */
void sim_fleet_lose_broker(struct sim_fleet *c);

/*
 * sim_fleet_raise_limit(n):
 * Raise the limit of open files; whether it is enough for n bodies in the
 * broker and in body-sim.
 */
bool sim_fleet_raise_limit(int n);

#endif /* !TESTKIT_SIM_FIXTURE_H */
