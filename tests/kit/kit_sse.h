/*
 * kit_sse: a reader of event streams.  It speaks HTTP/1.0, so that what comes
 * is the stream and nothing else.
 */
#ifndef KIT_KIT_SSE_H
#define KIT_KIT_SSE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kit/kit_http.h"

/* Longest wait for an event that must come. */
#define KIT_SSE_MS 15000

struct kit_sse {
	struct kit_http c;
	size_t at; /* of c.in: what has been read */
};

struct kit_sse_event {
	char id[24], name[32]; /* "": none */
	json_t *j;
};

/*
 * kit_sse_send(s, port, path, last):
 * GET; last is a Last-Event-ID, NULL: none.
 *
 * kit_sse_post(s, port, accept, body):
 * POST /v1/chat; accept is a line of the head with its end, or "".
 */
void kit_sse_send(
    struct kit_sse *s, int port, const char *path, const char *last);
void kit_sse_post(
    struct kit_sse *s, int port, const char *accept, const char *body);

/* kit_sse_begun(s): What comes must be an event stream. */
void kit_sse_begun(struct kit_sse *s);

/* kit_sse_open(s, port, path): kit_sse_send() and kit_sse_begun(). */
void kit_sse_open(struct kit_sse *s, int port, const char *path);

/* kit_sse_close(s): Hang up. */
void kit_sse_close(struct kit_sse *s);

/*
 * kit_sse_next(s, ms, e):
 * The next event within ms; false if none comes.  Comments are skipped.  The
 * caller frees e->j.
 */
bool kit_sse_next(struct kit_sse *s, int ms, struct kit_sse_event *e);

/*
 * kit_sse_take(s, seq, type):
 * The next event, which must be a chat_event of that seq and type; the caller
 * frees it.
 * kit_sse_is(s, seq, type): The same, and it is freed.
 */
json_t *kit_sse_take(struct kit_sse *s, int64_t seq, const char *type);
void kit_sse_is(struct kit_sse *s, int64_t seq, const char *type);

/* Types of chat_event. */
#define STARTED   "conversation.started"
#define DELTA     "assistant.message.delta"
#define FINAL     "assistant.message.final"
#define COMPLETED "conversation.completed"
#define FAILED    "conversation.failed"
#define WARNING   "diagnostic.warning"

/* kit_sse_warns(s, seq): The next event warns that those up to seq are gone. */
void kit_sse_warns(struct kit_sse *s, int64_t seq);

/* kit_sse_ends(s, ms): Whether it ends within ms, with nothing more in it. */
bool kit_sse_ends(struct kit_sse *s, int ms);

#endif /* !KIT_KIT_SSE_H */
