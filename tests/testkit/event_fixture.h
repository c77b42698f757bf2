/*
 * event_fixture: events of chat-gateway's stream, for tests of who may read
 * them.
 */
#ifndef TESTKIT_EVENT_FIXTURE_H
#define TESTKIT_EVENT_FIXTURE_H

#include "testkit/gateway_fixture.h"
#include "testkit/sse.h"

/*
 * event_fixture_put(b, type, payload):
 * Store an event; payload is JSON.  The stream must exist (tk_nats_events()).
 * Its number in the stream.
 */
int64_t event_fixture_put(
    struct gateway_fixture *b, const char *type, const char *payload);

/* event_fixture_purge(b, seq): Delete the events up to a number. */
void event_fixture_purge(struct gateway_fixture *b, int64_t seq);

/* event_fixture_seq(e): Its id. */
int64_t event_fixture_seq(const struct tk_sse_event *e);

/*
 * event_fixture_is(s, seq, type):
 * The next event of a stream must be this one.
 *
 * event_fixture_notice(s, code, after, cursor): It must be this notice.
 */
void event_fixture_is(struct tk_sse *s, int64_t seq, const char *type);
void event_fixture_notice(
    struct tk_sse *s, const char *code, int64_t after, int64_t cursor);

/*
 * event_fixture_page(b, path, want):
 * GET must reply a page with these events, "seq seq … cursor more", where more
 * is + or -.
 *
 * event_fixture_page_as(b, token, path, after, want):
 * The same with a token, of the events after a number; want has their numbers
 * beyond it, and no more.
 */
void event_fixture_page(
    struct gateway_fixture *b, const char *path, const char *want);
void event_fixture_page_as(struct gateway_fixture *b, const char *token,
    const char *path, int64_t after, const char *want);

#endif /* !TESTKIT_EVENT_FIXTURE_H */
