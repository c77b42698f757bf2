/*
 * memory_fixture: nats-server, Redis with souls and sessions, the simulated
 * language model and memory-workers, for tests of memory-worker.  Failures fail
 * the test.
 */
#ifndef TESTKIT_MEMORY_FIXTURE_H
#define TESTKIT_MEMORY_FIXTURE_H

#include <nats/nats.h>
#include <stdbool.h>
#include <stdint.h>

#include "state/memory.h"
#include "state/session.h"
#include "state/soul.h"
#include "testkit/json.h"
#include "testkit/nats.h"
#include "testkit/service.h"
#include "testkit/state.h"

/* Longest wait for anything. */
#define MEMORY_FIXTURE_MS      60000
#define MEMORY_FIXTURE_WORKERS 3
#define MEMORY_FIXTURE_ENV_MAX 6

struct memory_fixture {
	struct tk_server nats, redis;
	struct tk_service worker[MEMORY_FIXTURE_WORKERS];
	struct tk_service llm;
	char llm_url[64];
	/* More variables of the workers, "K=V"; NULL: no more. */
	const char *env[MEMORY_FIXTURE_ENV_MAX];
	natsConnection *nc;
	struct tk_state db;
};

/*
 * memory_fixture_servers(fx): Initialise fx; start nats-server and Redis, with
 * a soul s1 of the user u1, and reserve ports for the model.
 * memory_fixture_llm_start(fx): Start the simulated model.
 * memory_fixture_spawn(fx, i): Start worker i.
 * memory_fixture_wait_ready(fx, i): Wait until it is ready and has created the
 * streams.
 * memory_fixture_spawn_ready(fx, i): Both.
 * memory_fixture_start(fx, workers): All of these.
 * memory_fixture_stop(fx): All programs must drain and exit 0.
 */
void memory_fixture_servers(struct memory_fixture *fx);
void memory_fixture_llm_start(struct memory_fixture *fx);
void memory_fixture_spawn(struct memory_fixture *fx, int i);
void memory_fixture_wait_ready(struct memory_fixture *fx, int i);
void memory_fixture_spawn_ready(struct memory_fixture *fx, int i);
void memory_fixture_start(struct memory_fixture *fx, int workers);
void memory_fixture_stop(struct memory_fixture *fx);

/*
 * memory_fixture_stop_nats(fx): Kill nats-server.
 * memory_fixture_restart_nats(fx), memory_fixture_restart_redis(fx): Kill it if
 * it runs, start it again and reconnect.
 */
void memory_fixture_stop_nats(struct memory_fixture *fx);
void memory_fixture_restart_nats(struct memory_fixture *fx);
void memory_fixture_restart_redis(struct memory_fixture *fx);

/* ---- the simulated model ---- */

/*
 * memory_fixture_llm_script(fx, list): Its next faults, JSON without brackets.
 * memory_fixture_llm_calls(fx): Completions so far.
 * memory_fixture_wait_llm(fx, i): Wait until worker i has a call in progress.
 */
void memory_fixture_llm_script(struct memory_fixture *fx, const char *list);
long long memory_fixture_llm_calls(struct memory_fixture *fx);
void memory_fixture_wait_llm(struct memory_fixture *fx, int i);

/* ---- souls, sessions ---- */

void memory_fixture_soul(
    struct memory_fixture *fx, const char *id, const char *user);

/* memory_fixture_message(fx, k, role, text): Append to a session. */
void memory_fixture_message(struct memory_fixture *fx, struct session_key k,
    const char *role, const char *text);

/*
 * memory_fixture_converse_as(fx, k, soul, text, idle_ms): A message of the user
 * and a reply; the session is idle after idle_ms.
 * memory_fixture_converse(fx, session, text, idle_ms): The same of u1 and s1.
 */
void memory_fixture_converse_as(struct memory_fixture *fx, struct session_key k,
    const char *soul, const char *text, int64_t idle_ms);
void memory_fixture_converse(struct memory_fixture *fx, const char *session,
    const char *text, int64_t idle_ms);

/* memory_fixture_session(fx, session): A session of u1. */
struct session memory_fixture_session(
    struct memory_fixture *fx, const char *session);

/* memory_fixture_wait_summaries(fx): Wait until no session is idle or claimed.
 */
void memory_fixture_wait_summaries(struct memory_fixture *fx);

/* ---- memories of the built-in store ---- */

/* memory_fixture_remember(fx, user, soul, id, text): Store a fact, as of now.
 */
void memory_fixture_remember(struct memory_fixture *fx, const char *user,
    const char *soul, const char *id, const char *text);

/*
 * memory_fixture_memories_of(fx, user, soul), memory_fixture_memories(fx): All,
 * of a scope or of u1 and s1, valid until the next call.
 * memory_fixture_wait_memories(fx, n): Wait until u1 and s1 have n memories,
 * and not more. memory_fixture_count_text(l, text): How many contain text.
 */
struct memory_list memory_fixture_memories_of(
    struct memory_fixture *fx, const char *user, const char *soul);
struct memory_list memory_fixture_memories(struct memory_fixture *fx);
struct memory_list memory_fixture_wait_memories(
    struct memory_fixture *fx, size_t n);
size_t memory_fixture_count_text(const struct memory_list *l, const char *text);

/* ---- NATS ---- */

/*
 * memory_fixture_publish_job(fx, id, json): Publish a job; id is its message
 * id. memory_fixture_publish_fact(fx, id, soul, text): Publish a job for a fact
 * about u1. memory_fixture_stream_len(fx, stream): Messages of a stream.
 * memory_fixture_pending_jobs(fx): Jobs not yet acknowledged.
 * memory_fixture_wait_jobs(fx): Wait until there are none.
 */
void memory_fixture_publish_job(
    struct memory_fixture *fx, const char *id, const char *json);
void memory_fixture_publish_fact(struct memory_fixture *fx, const char *id,
    const char *soul, const char *text);
int64_t memory_fixture_stream_len(
    struct memory_fixture *fx, const char *stream);
int64_t memory_fixture_pending_jobs(struct memory_fixture *fx);
void memory_fixture_wait_jobs(struct memory_fixture *fx);

/* memory_fixture_consume(fx): Subscribe as a worker that never acknowledges. */
natsSubscription *memory_fixture_consume(struct memory_fixture *fx);

/*
 * memory_fixture_rpc(fx, subject, req): The reply to a request, which is taken;
 * must not be an error.
 * memory_fixture_recall(fx, user, soul, query, top_k): The reply to a search.
 * memory_fixture_hits(reply): How many items it has.
 * memory_fixture_item(reply, i), memory_fixture_hit_text(reply, i): Item i; its
 * text.
 * memory_fixture_forget_reply(fx, user, soul, member, value): The reply to a
 * request to forget; soul and member (memory_id or query) may be NULL.
 * memory_fixture_forget(fx, user, soul, member, value): How many it forgets.
 */
json_t *memory_fixture_rpc(
    struct memory_fixture *fx, const char *subject, json_t *req);
json_t *memory_fixture_recall(struct memory_fixture *fx, const char *user,
    const char *soul, const char *query, int top_k);
size_t memory_fixture_hits(json_t *reply);
const char *memory_fixture_hit_text(json_t *reply, size_t i);
json_t *memory_fixture_item(json_t *reply, size_t i);
json_t *memory_fixture_forget_reply(struct memory_fixture *fx, const char *user,
    const char *soul, const char *member, const char *value);
int64_t memory_fixture_forget(struct memory_fixture *fx, const char *user,
    const char *soul, const char *member, const char *value);

#endif /* !TESTKIT_MEMORY_FIXTURE_H */
