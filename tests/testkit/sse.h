/*
 * tk_sse: a reader of event streams. It speaks HTTP/1.0, so that the response
 * body is the stream, without chunk framing.
 */
#ifndef TESTKIT_SSE_H
#define TESTKIT_SSE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "testkit/http.h"

/* Longest wait for an event that must come. */
#define TK_SSE_MS 15000

struct tk_sse {
	struct tk_http c;
	size_t at; /* the part of c.in that has been read */
};

struct tk_sse_event {
	char id[24], name[32]; /* "": none */
	json_t *j;
};

/*
 * tk_sse_send(s, port, path, last):
 * GET; last is a Last-Event-ID, NULL: none.
 *
 * tk_sse_post(s, port, accept, body):
 * POST /v1/chat; accept is a line of the head with its end, or "".
 */
void tk_sse_send(
    struct tk_sse *s, int port, const char *path, const char *last);
void tk_sse_post(
    struct tk_sse *s, int port, const char *accept, const char *body);

/* tk_sse_begun(s): Read the response head, which must begin an event stream. */
void tk_sse_begun(struct tk_sse *s);

/*
 * tk_sse_open(s, port, path): tk_sse_send() and tk_sse_begun().
 * tk_sse_open_as(s, port, path, token): The same with an access token.
 */
void tk_sse_open(struct tk_sse *s, int port, const char *path);
void tk_sse_open_as(
    struct tk_sse *s, int port, const char *path, const char *token);

/* tk_sse_close(s): Disconnect. */
void tk_sse_close(struct tk_sse *s);

/*
 * tk_sse_next(s, ms, e):
 * The next event within ms; false if none comes.  Comments are skipped.  The
 * caller frees e->j.
 */
bool tk_sse_next(struct tk_sse *s, int ms, struct tk_sse_event *e);

/*
 * tk_sse_take(s, seq, type): The next event, which must be a chat_event of that
 * seq and type; freed by the caller.
 * tk_sse_is(s, seq, type): The same, and free it.
 */
json_t *tk_sse_take(struct tk_sse *s, int64_t seq, const char *type);
void tk_sse_is(struct tk_sse *s, int64_t seq, const char *type);

/* Types of chat_event. */
#define STARTED   "conversation.started"
#define DELTA     "assistant.message.delta"
#define FINAL     "assistant.message.final"
#define COMPLETED "conversation.completed"
#define FAILED    "conversation.failed"
#define WARNING   "diagnostic.warning"

/*
 * tk_sse_warns(s, seq): The next event warns that events up to seq were
 * dropped.
 */
void tk_sse_warns(struct tk_sse *s, int64_t seq);

/* tk_sse_ends(s, ms): Whether it ends within ms, without further events. */
bool tk_sse_ends(struct tk_sse *s, int ms);

#endif /* !TESTKIT_SSE_H */
