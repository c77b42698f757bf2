/*
 * engine_runner_fixture: engine-runners and a chat-gateway with their servers,
 * and runs whose engine plays a script.  Its functions start with er_; a
 * failure fails the test.
 */
#ifndef TESTKIT_ENGINE_RUNNER_FIXTURE_H
#define TESTKIT_ENGINE_RUNNER_FIXTURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "state/run_id.h"
#include "testkit/gateway_fixture.h"
#include "testkit/service.h"

#define ER_RUNNERS 2
/* Longest wait for something that must happen. */
#define ER_MS 30000

struct engine_runner_fixture {
	struct gateway_fixture gw; /* its gateway; servers */
	struct tk_service runner[ER_RUNNERS];
	bool rights; /* runners have their users of deploy/ */
};

/* Steps of an engine: engine-play's, and rows of codex. */
#define ER_THREAD                                                         \
	"out={\"type\":\"thread.started\",\"thread_id\":\"0199a213-81c0-" \
	"7800-8aa1-bbab2a035a53\"}"
#define ER_TURN "out={\"type\":\"turn.started\"}"
#define ER_MESSAGE(id, text)                                      \
	"out={\"type\":\"item.completed\",\"item\":{\"id\":\"" id \
	"\",\"type\":\"agent_message\",\"text\":\"" text "\"}}"
#define ER_DONE_TEXT "\\n{\\\"__SKILL_DONE__\\\": true}"
#define ER_END                                                             \
	"out={\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":10," \
	"\"cached_input_tokens\":2,\"output_tokens\":5}}"
#define ER_STEPS(...) ((const char *const[]){ __VA_ARGS__, NULL })
/* One that is done, and one that asks. */
#define ER_DONE   \
	ER_STEPS( \
	    ER_THREAD, ER_TURN, ER_MESSAGE("i1", "Hi" ER_DONE_TEXT), ER_END)
#define ER_QUESTION \
	ER_STEPS(ER_THREAD, ER_TURN, ER_MESSAGE("i1", "Which one?"), ER_END)

/*
 * er_start(f, more): Servers, a gateway, and the runner r1; more are its
 * settings, NULL: none.
 * er_start_with_rights(f, more): The same; the runner is the user engine-runner
 * of deploy/, and has no other rights.
 * er_start_runner(f, i, more): One of them, alone or after its end.
 * er_spawn_runner(f, i, more): The same, which is not awaited.
 * er_stop(f): All; they must drain and exit 0, and leave no process.
 */
void er_start(struct engine_runner_fixture *f, const char *const more[]);
void er_start_with_rights(
    struct engine_runner_fixture *f, const char *const more[]);
void er_start_runner(
    struct engine_runner_fixture *f, int i, const char *const more[]);
void er_spawn_runner(
    struct engine_runner_fixture *f, int i, const char *const more[]);
void er_stop(struct engine_runner_fixture *f);

/* er_use_demo_engine(): Runners that start have deploy/demo-engine. */
void er_use_demo_engine(void);

/*
 * er_post(f, a, steps, more): POST /v1/runs of the user ann; more are members
 * of the request, as "\"mode\":\"auto\",", or "".  Returns the status.
 * er_begin(f, id, steps, more): It must be 202; the run's id.
 * er_reply(f, a, id, question, steps): Returns the status.
 * er_reply_text(f, a, id, question, text): The same of a text without escapes.
 * er_cancel(f, id): Whether it was accepted.
 */
int er_post(struct engine_runner_fixture *f, struct tk_response *a,
    const char *const steps[], const char *more);
void er_begin(struct engine_runner_fixture *f, char id[RUN_ID_MAX],
    const char *const steps[], const char *more);
int er_reply(struct engine_runner_fixture *f, struct tk_response *a,
    const char *id, const char *question, const char *const steps[]);
int er_reply_text(struct engine_runner_fixture *f, struct tk_response *a,
    const char *id, const char *question, const char *text);
bool er_cancel(struct engine_runner_fixture *f, const char *id);

/*
 * er_record(f, id): GET /v1/runs/{id}; freed by the caller.
 * er_await(f, id, state): The same, once it is in that state.
 * er_is(f, id, state, code): It gets to that state, with this code of its error
 * or its reason; NULL: none is looked for.
 */
json_t *er_record(struct engine_runner_fixture *f, const char *id);
json_t *er_await(
    struct engine_runner_fixture *f, const char *id, const char *state);
void er_is(struct engine_runner_fixture *f, const char *id, const char *state,
    const char *code);

/*
 * er_events(f, id, types): The run's events so far have these types, as
 * "started final completed"; of warnings and failures the code follows behind a
 * colon.  Each seq is one more than that before, from 1.
 */
void er_events(
    struct engine_runner_fixture *f, const char *id, const char *types);

/*
 * er_await_events(f, id, n): Wait until it has n events of FCMP.
 * er_await_turn(f, id): Until the engine has printed ER_THREAD and ER_TURN.
 */
void er_await_events(struct engine_runner_fixture *f, const char *id, size_t n);
void er_await_turn(struct engine_runner_fixture *f, const char *id);

/* er_make_due(f, id): Its runner is checked now, not in half a minute. */
void er_make_due(struct engine_runner_fixture *f, const char *id);

/*
 * er_processes(): Shims and engines of this test.
 * er_await_processes(n): Wait until there are n.
 * er_shims(pid, max): The shims; how many, at most max.
 * er_kill_shims(), er_kill_engines(): kill -9 of all; how many.
 * er_kill_one(shim, i): Of the i-th, counted round and round; none: no-op.
 */
size_t er_processes(void);
void er_await_processes(size_t n);
size_t er_shims(pid_t *pid, size_t max);
size_t er_kill_shims(void);
size_t er_kill_engines(void);
void er_kill_one(bool shim, size_t i);

#endif /* !TESTKIT_ENGINE_RUNNER_FIXTURE_H */
