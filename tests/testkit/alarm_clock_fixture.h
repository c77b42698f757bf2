/*
 * alarm_clock_fixture: alarm-clocks, and a stand-in for the orchestrator that
 * they request to speak.  Its functions start with ac_; a failure fails the
 * test.
 */
#ifndef TESTKIT_ALARM_CLOCK_FIXTURE_H
#define TESTKIT_ALARM_CLOCK_FIXTURE_H

#include <jansson.h>
#include <nats/nats.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "testkit/nats.h"
#include "testkit/service.h"
#include "testkit/state.h"
#include "testkit/testkit.h"

#define AC_CLOCKS 2
/* Longest wait for something that must happen. */
#define AC_MS 20000
/* Turns that the stand-in remembers. */
#define AC_TURNS_MAX 8192

/* A turn that was requested. */
struct ac_turn {
	char body[64], request[96], occurrence[96], text[512], session[64];
	char outcome[32]; /* as it was answered */
	char id[80], reply[TK_SUBJECT];
};

struct ac_orchestrator {
	natsConnection *nc;
	natsSubscription *sub;
	pthread_mutex_t lock;
	struct ac_turn *turn;
	size_t n, n_spoken;
	/*
	 * How it replies: by the body's name, "spoken" unless it is the name of
	 * an outcome and a digit, like no_body1 ("silent": not at all; "held":
	 * the turn is accepted, and goes on); all of them instead (NULL: not
	 * so).
	 */
	const char *outcome;
};

struct alarm_clock_fixture {
	const char *const *clock_env;
	struct tk_server nats, redis;
	struct tk_service clock[AC_CLOCKS];
	natsConnection *nc;
	struct ac_orchestrator orch;
	struct tk_state state;
};

/*
 * ac_start(f): Servers, the stand-in, and an alarm-clock.
 * ac_start_clock(f, i, more): One of them; more are its settings, NULL: none.
 * ac_stop(f): All; those that run must drain and exit 0.
 */
void ac_start(struct alarm_clock_fixture *f);
void ac_start_clock(
    struct alarm_clock_fixture *f, int i, const char *const more[]);
void ac_stop(struct alarm_clock_fixture *f);

/*
 * ac_orchestrator_start(o, url), ac_orchestrator_stop(o): What was spoken
 * stays, for another start.
 * ac_orchestrator_set(o, outcome): As its member.
 */
void ac_orchestrator_start(struct ac_orchestrator *o, const char *url);
void ac_orchestrator_stop(struct ac_orchestrator *o);
void ac_orchestrator_set(struct ac_orchestrator *o, const char *outcome);

/*
 * ac_orchestrator_release(o, outcome): The last turn, which was held, ends so.
 */
void ac_orchestrator_release(struct ac_orchestrator *o, const char *outcome);

/*
 * ac_turns(o), ac_spoken(o): How many turns, and of those with the outcome
 * spoken, were requested.
 * ac_turn(o, i): One of them, in the order of their coming.
 * ac_requests(o, body): How many different requests that body has got: it
 *     speaks each a single time.
 * ac_await_turns(o, n), ac_await_spoken(o, n): Until there are so many.
 */
size_t ac_turns(struct ac_orchestrator *o);
size_t ac_spoken(struct ac_orchestrator *o);
struct ac_turn ac_turn(struct ac_orchestrator *o, size_t i);
size_t ac_requests(struct ac_orchestrator *o, const char *body);
void ac_await_turns(struct ac_orchestrator *o, size_t n);
void ac_await_spoken(struct ac_orchestrator *o, size_t n);

/*
 * ac_call(f, what, body): The reply to soul.rpc.<what>, which must be none of
 * an error; body is a JSON text with "'" for '"'.
 * ac_rejects(f, what, body, code, text): It is an error with this code, and
 * text in its text.
 */
json_t *ac_call(
    struct alarm_clock_fixture *f, const char *what, const char *body);
void ac_rejects(struct alarm_clock_fixture *f, const char *what,
    const char *body, const char *code, const char *text);

/*
 * ac_put(f, body, id): Set an alarm; its id.
 * ac_await_alarm(f, id, path, value): Until the alarm of user ann has that.
 * ac_await_due_after(f, ms): Until nothing of hers is due in that time.
 * ac_notes(f): How many missed ones her next conversation mentions.
 * ac_bind(f, soul, body): A new soul of hers, and a body that is bound to it.
 * ac_await_push(f, id, state): Until the push of ann has that state.
 */
#define AC_ID 96
void ac_put(struct alarm_clock_fixture *f, const char *body, char id[AC_ID]);
void ac_await_alarm(struct alarm_clock_fixture *f, const char *id,
    const char *path, const char *value);
void ac_await_due_after(struct alarm_clock_fixture *f, int ms);
int64_t ac_notes(struct alarm_clock_fixture *f);
void ac_bind(struct alarm_clock_fixture *f, const char *soul, const char *body);
void ac_await_push(
    struct alarm_clock_fixture *f, const char *id, const char *state);

/*
 * ac_set_clock(f, s): The clock of Redis and the services is set by so much,
 *     and they poll what is due for user ann.
 */
void ac_set_clock(struct alarm_clock_fixture *f, int64_t s);

/*
 * ac_in(ms, dst): A rule for that time from now, by that clock,
 *     {"kind":"once",…}.
 * ac_time(text): RFC 3339, in ms since 1970.
 */
int64_t ac_time(const char *text);
const char *ac_in(int ms, char dst[AC_ID]);

#endif /* !TESTKIT_ALARM_CLOCK_FIXTURE_H */
