/*
 * emotion_fixture: nats-server, Redis with souls and bodies, emotion-engines,
 * and plain clients of these.  A failure fails the test.
 */
#ifndef TESTKIT_EMOTION_FIXTURE_H
#define TESTKIT_EMOTION_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "state/terminal.h"
#include "testkit/json.h"
#include "testkit/nats.h"
#include "testkit/service.h"
#include "testkit/state.h"
#include "testkit/testkit.h"

#define EMOTION_FIXTURE_MS      15000
#define EMOTION_FIXTURE_ENGINES 3
#define EMOTION_FIXTURE_BROKER  "main"

struct emotion_fixture {
	struct tk_server nats, redis;
	struct tk_service engine[EMOTION_FIXTURE_ENGINES];
	natsConnection *nc;
	struct tk_state db;
	struct terminal_writer writer;
};

/*
 * emotion_fixture_servers(b):                Start the servers only.
 * emotion_fixture_spawn_as(b, i, tick, more): Start engine i without waiting;
 *                                            tick and more (may be NULL) are
 *                                            variables.
 * emotion_fixture_spawn(b, i, more):         The same, ticks every 2 s.
 * emotion_fixture_start(b, engines, more):   Start all and wait until ready.
 * emotion_fixture_stop(b):                   End all; engines must drain and
 *                                            exit 0.
 */
void emotion_fixture_servers(struct emotion_fixture *b);
void emotion_fixture_spawn_as(
    struct emotion_fixture *b, int i, const char *tick, const char *more);
void emotion_fixture_spawn(struct emotion_fixture *b, int i, const char *more);
void emotion_fixture_start(
    struct emotion_fixture *b, int engines, const char *more);
void emotion_fixture_stop(struct emotion_fixture *b);

/*
 * emotion_fixture_soul_of(b, id, mbti, user): A new soul of that user.
 * emotion_fixture_soul(b, id, mbti):          The same of user u1.
 * emotion_fixture_bind(b, id, user, soul):    Bind a body to a soul.
 * emotion_fixture_online(b, id, online):      Set a body's presence.
 * emotion_fixture_body(b, id, soul, online):  The same, bound to u1's soul.
 * emotion_fixture_version(b, soul):           Its stored version.
 * emotion_fixture_version_of(b, soul, user):  The same of another user's.
 */
void emotion_fixture_soul_of(struct emotion_fixture *b, const char *id,
    const char *mbti, const char *user);
void emotion_fixture_soul(
    struct emotion_fixture *b, const char *id, const char *mbti);
void emotion_fixture_bind(struct emotion_fixture *b, const char *id,
    const char *user, const char *soul);
void emotion_fixture_online(
    struct emotion_fixture *b, const char *id, bool online);
void emotion_fixture_body(
    struct emotion_fixture *b, const char *id, const char *soul, bool online);
int64_t emotion_fixture_version(struct emotion_fixture *b, const char *soul);
int64_t emotion_fixture_version_of(
    struct emotion_fixture *b, const char *soul, const char *user);

/*
 * emotion_fixture_observe(b, soul, body, text):
 * The reply to a text of user u1 in session s1.
 * emotion_fixture_query(b, subject, soul):
 * The reply to {"soul_id": soul}.
 */
json_t *emotion_fixture_observe(struct emotion_fixture *b, const char *soul,
    const char *body, const char *text);
json_t *emotion_fixture_query(
    struct emotion_fixture *b, const char *subject, const char *soul);

#endif /* !TESTKIT_EMOTION_FIXTURE_H */
