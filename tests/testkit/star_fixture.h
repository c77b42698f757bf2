/*
 * star_fixture: a star-hub with its servers, and clients of it.
 */
#ifndef TESTKIT_STAR_FIXTURE_H
#define TESTKIT_STAR_FIXTURE_H

#include "testkit/service.h"
#include "testkit/ws_client.h"

#define STAR_HUBS 3
struct star_fixture {
	struct tk_server nats, redis;
	struct tk_service hub; /* the first one */
	struct tk_service more[STAR_HUBS - 1];
};

/* Settings of a hub that tells nobody who joins and leaves. */
#define STAR_QUIET TK_ENV("STAR_PRESENCE=off")

/*
 * star_start(f, more): One hub.  Zero f before; more are settings, NULL: none.
 * star_start_hubs(f, n, more): n hubs, that know each other.
 * star_start_hub(f, i, more): One of them, alone or again.
 * star_spawn_hub(f, i, more): The same, which is not awaited.
 * star_know_each_other(f, n): Wait until n hubs do.
 * star_stop(f): All of them.
 */
void star_start(struct star_fixture *f, const char *const more[]);
void star_start_hubs(struct star_fixture *f, int n, const char *const more[]);
void star_start_hub(struct star_fixture *f, int i, const char *const more[]);
void star_spawn_hub(struct star_fixture *f, int i, const char *const more[]);
void star_know_each_other(struct star_fixture *f, int n);
void star_stop(struct star_fixture *f);

/* star_hub(f, i): The i-th. */
struct tk_service *star_hub(struct star_fixture *f, int i);

/*
 * star_open(f, c, path): Connect to the first hub, and read its heartbeat,
 * which is returned.
 * star_open_at(f, i, c, path): To the i-th.
 */
const char *star_open(
    struct star_fixture *f, struct tk_ws *c, const char *path);
const char *star_open_at(
    struct star_fixture *f, int i, struct tk_ws *c, const char *path);

/* star_leave(c): Close it as one that does not come back. */
void star_leave(struct tk_ws *c);

/*
 * star_envelope(dst, size, from, to, payload): A message; from and to are
 * "agent:agent_001", payload is JSON.  Returns dst.
 */
const char *star_envelope(char *dst, size_t size, const char *from,
    const char *to, const char *payload);

/* star_send(c, from, to, payload): Send it. */
void star_send(
    struct tk_ws *c, const char *from, const char *to, const char *payload);

/* star_numbered(i): The payload of an event with a number, valid until the next
 * call. */
const char *star_numbered(int i);

/*
 * star_next(c): The next message, which must come.
 * star_wait_for(c, text): The next message with text; others are skipped.
 * star_expect(c, text): It is text, but for the timestamp that the hub adds at
 * its end.
 * star_expect_message(c, from, to, payload): The same of star_envelope().
 * star_expect_error(c, code, type): It is an error with these.  Returns it.
 * star_expect_has(c, text): text is in it.  Returns it.
 */
const char *star_next(struct tk_ws *c);
const char *star_wait_for(struct tk_ws *c, const char *text);
void star_expect(struct tk_ws *c, const char *text);
void star_expect_message(
    struct tk_ws *c, const char *from, const char *to, const char *payload);
const char *star_expect_error(
    struct tk_ws *c, const char *code, const char *type);
const char *star_expect_has(struct tk_ws *c, const char *text);

/*
 * star_idle(c, who): All that c sent is handled, and nothing waits for c: its
 * heartbeat is replied to, and nothing comes before.
 */
void star_idle(struct tk_ws *c, const char *who);

#endif /* !TESTKIT_STAR_FIXTURE_H */
