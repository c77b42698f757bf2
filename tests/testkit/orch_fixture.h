/*
 * orch_fixture: nats-server, Redis with a soul and its body, the peers, a
 * model, and llm-orchestrators; turns are started as chat-gateway starts them.
 *
 * The loop of the Redis connection runs only while a function of the fixture
 * waits; between two calls the test may use f->state.  Failures fail the test.
 */
#ifndef TESTKIT_ORCH_FIXTURE_H
#define TESTKIT_ORCH_FIXTURE_H

#include <jansson.h>
#include <nats/nats.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "state/state.h"
#include "state/terminal.h"
#include "state/turn.h"
#include "testkit/json.h"
#include "testkit/orch_model.h"
#include "testkit/orch_peers.h"
#include "testkit/terminal_fixture.h"
#include "testkit/testkit.h"

/* Time that any condition may take to become true. */
#define ORCH_WAIT_MS  15000
#define ORCH_REPLICAS 2

struct orch_process {
	struct tk_proc proc;
	int admin;
};

struct orch_fixture {
	struct tk_server nats, redis;
	struct orch_peers peers;
	struct orch_model model;
	struct orch_process orch[ORCH_REPLICAS];
	struct loop *loop;
	struct worker_pool *workers;
	struct state *state;
	struct arena *arena;
	struct terminal_writer writer;
	size_t turns;        /* started; part of their ids */
	const char *more[4]; /* variables of the processes; NULL: no more */
};

/* ---- processes and records ---- */

/*
 * orch_fixture_start(f, orchs): Start all, with that many orchestrators.
 * orch_fixture_stop(f):         Orchestrators must drain and exit with 0.
 * orch_fixture_spawn(f, i):     Start orchestrator i and wait until it is
 * ready. orch_fixture_kill(f, i):      Kill it.
 */
void orch_fixture_start(struct orch_fixture *f, int orchs);
void orch_fixture_stop(struct orch_fixture *f);
void orch_fixture_spawn(struct orch_fixture *f, int i);
void orch_fixture_kill(struct orch_fixture *f, int i);

/* orch_fixture_ready(p): Whether a struct orch_process is ready. */
bool orch_fixture_ready(void *p);

/* orch_fixture_wait_state(f): Wait until f->state is connected. */
void orch_fixture_wait_state(struct orch_fixture *f);

/*
 * orch_fixture_set_online(f, online): The body t1 connects or disconnects.
 * orch_fixture_set_skills(f, json): Replace its skills.
 * orch_fixture_clear_catalog(f): Remove its intents.
 */
void orch_fixture_set_online(struct orch_fixture *f, bool online);
void orch_fixture_set_skills(struct orch_fixture *f, const char *json);
void orch_fixture_clear_catalog(struct orch_fixture *f);

/* orch_fixture_messages(f, session, max): The last messages of u1's session. */
json_t *orch_fixture_messages(
    struct orch_fixture *f, const char *session, size_t max);

/* ---- turns (orch_turn.c) ---- */

struct orch_turn {
	struct orch_fixture *b;
	char turn_id[64];
	natsSubscription *inbox;
	natsInbox *reply;
	bool accepted;
	size_t running;
	json_t *end; /* the final reply */
};

/* What may differ from turn to turn. */
struct orch_turn_opts {
	const char *session;  /* NULL: s1 */
	const char *terminal; /* NULL: t1 */
	const char *soul;     /* NULL: not named */
	const char *user;     /* NULL: u1 */
	const char *owner;    /* of the body; NULL: the user */
	const char *inputs;   /* JSON list; NULL: the text, by keyboard */
	const char *unasked;  /* JSON; NULL: the user has asked for it */
	const char *trace;    /* traceparent; NULL: none */
	int64_t deadline_ms;  /* 0: ORCH_WAIT_MS */
	bool stream;
	bool unread; /* the request does not carry the body's record */
};

/*
 * orch_turn_start(t, f, text): Start a turn.
 * orch_turn_start_with(t, f, text, o): The same with options.
 * orch_turn_wait_entered(t):   Wait until it runs or is queued.
 * orch_turn_next(t, ms):       Receive one reply; false: none in ms.
 * orch_turn_end(t):            Wait for the final one; valid until
 *                              orch_turn_close(t).
 */
void orch_turn_start(
    struct orch_turn *t, struct orch_fixture *f, const char *text);
void orch_turn_start_with(struct orch_turn *t, struct orch_fixture *f,
    const char *text, const struct orch_turn_opts *o);
void orch_turn_wait_entered(struct orch_turn *t);
bool orch_turn_next(struct orch_turn *t, int ms);
json_t *orch_turn_end(struct orch_turn *t);
void orch_turn_close(struct orch_turn *t);

/* How a turn ends. */
struct orch_expected {
	const char *reply;    /* NULL: any */
	const char *executed; /* "a,b" */
	const char *failed;   /* "skill" or "a,b" */
	const char *errors;   /* of failed; NULL: any */
};

/*
 * orch_ck_reply(f, reply): A turn without calls, where the model says 你好。,
 *                          has this whole reply.
 */
void orch_ck_reply(struct orch_fixture *f, const char *reply);

/*
 * orch_ck_completed(t, ...):         It completes as struct orch_expected says.
 * orch_ck_failed(t, status, code):   It fails.
 */
void orch_turn_check_completed(
    struct orch_turn *t, const struct orch_expected *w, int line);
void orch_turn_check_failed(
    struct orch_turn *t, int status, const char *code, int line);
#define orch_ck_completed(t, ...)  \
	orch_turn_check_completed( \
	    (t), &(struct orch_expected){ __VA_ARGS__ }, __LINE__)
#define orch_ck_failed(t, status, code) \
	orch_turn_check_failed((t), (status), (code), __LINE__)

/*
 * orch_text(j, path): The text at a path like "response.reply", or "(none)".
 * orch_list(j, path, member, dst, size): A list of texts, or of a member of
 *     objects: "a,b".
 */
const char *orch_text(json_t *j, const char *path);
const char *orch_list(
    json_t *j, const char *path, const char *member, char *dst, size_t size);

/*
 * orch_turn_stored(f, turn): The turn's record in Redis.
 * orch_turn_detail(f, turn): What its phases got and gave, once it is stored.
 * orch_turn_query(f, what, turn): Request cancel or show; the reply, or NULL.
 * orch_turn_query_at(f, instance, what, turn): The same at that process.
 */
struct turn_record orch_turn_stored(struct orch_fixture *f, const char *turn);
json_t *orch_turn_detail(struct orch_fixture *f, const char *turn);
json_t *orch_turn_query(
    struct orch_fixture *f, const char *what, const char *turn);
json_t *orch_turn_query_at(struct orch_fixture *f, const char *instance,
    const char *what, const char *turn);

/* ---- events of a session (orch_turn.c) ---- */

/*
 * orch_session_events(f, session): All events of u1's session, checked: seq
 *     rises by one; every turn that began ended once, with nothing after it;
 * the chunks of a final message are its text.  Freed by json_decref().
 * orch_events(f): Those of s1.
 */
json_t *orch_session_events(struct orch_fixture *f, const char *session);
json_t *orch_events(struct orch_fixture *f);

/*
 * orch_event_type(e): The last part of its type: "started", "delta", …
 * orch_event_types(events, turn, dst, size): Those of one turn: "started
 * final". orch_event(events, turn, type, nth): The nth (from 0) of a type, or
 * NULL. orch_event_text(events, message, dst, size): The chunks of a message,
 * joined.
 */
const char *orch_event_type(json_t *e);
const char *orch_event_types(
    json_t *events, const char *turn, char *dst, size_t size);
json_t *orch_event(
    json_t *events, const char *turn, const char *type, size_t nth);
const char *orch_event_text(
    json_t *events, const char *message, char *dst, size_t size);

/* ---- replies of intent-filter ---- */

#define INTENT_META                                                        \
	"\"meta\":{\"latency_ms\":1,\"segment_count\":1,\"catalog_size\":" \
	"1,\"time_signals\":0,\"timezone\":\"UTC\",\"locale\":\"zh-CN\","  \
	"\"now\":\"n\",\"unmatched\":["
#define INTENT_DECISION(action, intents, unmatched)                    \
	"{\"request_id\":\"ifr-1\",\"decision\":{\"action\":\"" action \
	"\",\"trigger_intent_id\":\"i_light\",\"reason\":\"x\"},"      \
	"\"intents\":[" intents "]," INTENT_META unmatched "]}}"
#define INTENT_READY(id, normalized)                                    \
	"{\"intent_id\":\"" id "\",\"intent_name\":\"控制灯\","      \
	"\"confidence\":0.92,\"status\":\"ready\",\"segment_index\":0," \
	"\"span\":{\"text\":\"把灯变绿\",\"start\":0,\"end\":4},"   \
	"\"parameters\":{\"color\":\"绿\"},\"normalized\":" normalized  \
	",\"missing_parameters\":[],\"evidence\":[]}"
#define INTENT_GREEN                                 \
	INTENT_READY("i_light",                      \
	    "{\"skill\":\"control_light\",\"mode\":" \
	    "\"set_color\",\"color\":\"green\"}")
#define INTENT_FALLBACK  INTENT_DECISION("fallback_reasoning", "", "")
#define INTENT_NO_ACTION INTENT_DECISION("no_action", "", "")

#endif /* !TESTKIT_ORCH_FIXTURE_H */
