/*
 * state_fixture: a Redis of its own and a client of it, with its loop; several
 * processes against one Redis; turns without records and events.
 */
#ifndef TESTKIT_STATE_FIXTURE_H
#define TESTKIT_STATE_FIXTURE_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#include "core/arena.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/worker.h"
#include "state/state.h"
#include "state/terminal.h"
#include "state/turn.h"
#include "testkit/loop.h"
#include "testkit/testkit.h"

#define OK(x)     ck_assert_int_eq((x), RC_OK)
#define IS(rc, x) ck_assert_int_eq((x), (rc))

/* Time to live of snapshots, and the time within which anything happens. */
#define STATE_FIXTURE_TTL_MS  60000
#define STATE_FIXTURE_WAIT_MS 20000

struct state_fixture {
	struct tk_server redis;
	struct loop *loop;
	struct worker_pool *workers;
	struct metric_set *metrics;
	struct state *s;
	struct arena *a;
	struct terminal_writer w; /* of broker "main", epoch 5 */
};

/*
 * On a Redis Cluster that all tests of a program share and find empty, if
 * SOUL_TEST_CLUSTER is set; testkit/on-cluster runs a program so.
 */
#define STATE_FIXTURE_ON_CLUSTER \
	TK_SHARE(state_fixture_share_begin, NULL, state_fixture_share_end)
void state_fixture_share_begin(void);
const char *state_fixture_share_end(void);

/*
 * state_fixture_start(f): A Redis, and a connected client with a generous
 * deadline.
 * state_fixture_start_server(server): Only the Redis, or the URL of the
 * cluster.
 * state_fixture_command(f, line): Have it, or all masters, run a command.
 * state_fixture_flush(f): Delete all keys.
 * state_fixture_join(f, server): A client of a Redis that runs.
 * state_fixture_init(f): Neither; state_fixture_connect(f, url, deadline_ms):
 * A client that is not connected yet.
 * state_fixture_stop(f): Free all but the server, which the testkit stops.
 */
void state_fixture_start(struct state_fixture *f);
void state_fixture_start_server(struct tk_server *server);
void state_fixture_command(const struct state_fixture *f, const char *line);
void state_fixture_flush(const struct state_fixture *f);
void state_fixture_join(
    struct state_fixture *f, const struct tk_server *server);
void state_fixture_init(struct state_fixture *f);
void state_fixture_connect(
    struct state_fixture *f, const char *url, int deadline_ms);
void state_fixture_stop(struct state_fixture *f);

/* Wait until the client is connected, or has noticed that it is not. */
bool state_fixture_is_up(void *state);
void state_fixture_wait_up(struct state_fixture *f);
void state_fixture_wait_down(struct state_fixture *f);

/*
 * state_fixture_do(f, args, n):     Run a command and ignore its reply.
 * state_fixture_expect(f, want, …): Its reply must be the text want; NULL: nil.
 * state_fixture_int(f, args, n):    The integer it replies.
 * state_fixture_ping(f):            The result of a PING.
 */
void state_fixture_do(
    struct state_fixture *f, const struct str *args, size_t n);
void state_fixture_expect(struct state_fixture *f, const char *want,
    const struct str *args, size_t n);
int64_t state_fixture_int(
    struct state_fixture *f, const struct str *args, size_t n);
enum rc state_fixture_ping(struct state_fixture *f);
#define DO(f, ...)     state_fixture_do((f), STATE_ARGS(__VA_ARGS__))
#define INT_OF(f, ...) state_fixture_int((f), STATE_ARGS(__VA_ARGS__))

/* state_fixture_metric(f, name): A counter's value. */
int64_t state_fixture_metric(struct state_fixture *f, const char *name);

/* state_fixture_now(f): Redis' clock, in ms. */
int64_t state_fixture_now(struct state_fixture *f);

/* The bucket of a user; the key of a pattern without ids in it, in dst. */
unsigned state_fixture_bucket(const char *user);
struct str state_fixture_key(
    char dst[STATE_KEY_MAX], const char *pattern, const char *user);

/* ck_text(s, want): s is the text want; NULL: absent. */
void ck_text(struct str s, const char *want);

/* ---- several processes ---- */

#define STATE_FIXTURE_PEERS_MAX 8

/* state_fixture_fork(): A process that dies with the test. */
pid_t state_fixture_fork(void);

/*
 * state_fixture_run_peers(url, n, fn):
 * Run fn in n processes of their own, connected to url, and wait for their end.
 * Before any thread was started here.
 */
void state_fixture_run_peers(
    const char *url, int n, void (*fn)(struct state_fixture *f, int peer));

/* A list to which concurrent peers push the items they have claimed. */
#define STATE_FIXTURE_CLAIMED STR("claimed")

/* state_fixture_check_claims(f, n): It has n elements, without duplicates. */
void state_fixture_check_claims(struct state_fixture *f, int64_t n);

/* session_fixture_claim(f, user, …): Claim idle sessions of a user's bucket. */
enum rc session_fixture_claim(struct state_fixture *f, const char *user,
    int64_t lease_ms, size_t max, struct session_idle_list *out);

/* ---- turns without records and events ---- */

/* turn_fixture_soul(s, user, soul): The soul exists; its name is its id. */
void turn_fixture_soul(struct state *s, const char *user, const char *soul);

/* turn_fixture_alive(s, p, ms): turn_alive() of p's process and user. */
enum rc turn_fixture_alive(
    struct state *s, const struct turn_slot *p, int64_t ms);
enum rc turn_fixture_enter(
    struct state *s, const struct turn_slot *p, int64_t *ahead);
enum rc turn_fixture_poll(
    struct state *s, const struct turn_slot *p, int64_t *ahead);
enum rc turn_fixture_append(struct state *s, const struct turn_slot *p,
    const struct str *json, size_t n);
enum rc turn_fixture_input(struct state *s, const struct turn_slot *p,
    const struct session_new *new, const struct turn_input *in);
enum rc turn_fixture_leave(struct state *s, const struct turn_slot *p,
    struct arena *a, struct str *next);
enum rc turn_fixture_finish(struct state *s, const struct turn_slot *p,
    const struct session_new *new, struct arena *a, struct str *next);

#endif /* !TESTKIT_STATE_FIXTURE_H */
