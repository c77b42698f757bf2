/*
 * star_body: souls in environments of a star-hub, with the test in place of
 * chat-gateway and llm-orchestrator.
 */
#ifndef TESTKIT_STAR_BODY_H
#define TESTKIT_STAR_BODY_H

#include <jansson.h>
#include <nats/nats.h>

#include "state/star_home.h"
#include "state/terminal.h"
#include "testkit/json.h"
#include "testkit/nats.h"
#include "testkit/star_fixture.h"
#include "testkit/state.h"

#define STAR_BODY_MS     15000
#define STAR_BODY_TTL_MS 60000

struct star_body {
	struct star_fixture f;
	struct tk_service other; /* port 0: there is one hub only */
	struct tk_state db;
	natsConnection *nc;
	struct tk_ws env, bob;
	char terminal[64]; /* of the soul s1 of ann, agent_001 in demo_world */
};

/*
 * star_body_start(b): A hub, the soul s1 of ann, and nobody.
 * star_body_stop(b)
 */
void star_body_start(struct star_body *b);
void star_body_stop(struct star_body *b);

/*
 * star_body_enter(b, user, soul, env, agent, code):
 * soul.rpc.star.enter; code NULL: it succeeds; else that of the error.  The
 * reply.
 */
json_t *star_body_enter(struct star_body *b, const char *user, const char *soul,
    const char *env, const char *agent, const char *code);

/* star_body_open(b): The environment demo_world connects. */
void star_body_open(struct star_body *b);

/* star_body_report(c, name, data): A report, and the text of its outcome, which
 * is valid until the next message. */
const char *star_body_report(
    struct tk_ws *c, const char *name, const char *data);

/* The skills of the tests. */
#define STAR_SKILLS                                                       \
	"{\"skill_version\":1,\"skills\":[{\"name\":\"move\","            \
	"\"description\":\"move\",\"input_schema\":{\"type\":\"object\"," \
	"\"properties\":{}}}]}"

/*
 * star_body_live(b): ann's soul enters, the environment connects with
 * STAR_SKILLS, and the terminal is present.
 * star_body_bob(b): The human bob connects, and joins it.
 */
void star_body_live(struct star_body *b);
void star_body_bob(struct star_body *b);

/* star_body_terminal(b): Its record, valid until the next call. */
struct terminal star_body_terminal(struct star_body *b);

/* star_body_wait_present(b, present): Wait until the terminal is, or is not. */
void star_body_wait_present(struct star_body *b, bool present);

/* star_body_invoke(b, skill, id): Request it; star_body_delivery(b, reply):
 * the state that is replied. */
natsSubscription *star_body_command(
    struct star_body *b, const char *kind, const char *body);
const char *star_body_state(natsSubscription *reply);

#endif /* !TESTKIT_STAR_BODY_H */
