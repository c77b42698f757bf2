/*
 * question: what a route asks another service over NATS, and the answer.
 */
#ifndef CHAT_GATEWAY_QUESTION_H
#define CHAT_GATEWAY_QUESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"

struct arena;
struct gateway;
struct question;
struct svc_call;
struct wire_desc;

/*
 * Called once, on the loop, unless question_cancel() was: RC_OK and q->reply;
 * RC_BUG if the answer cannot be read; RC_DOWN if nobody serves the subject;
 * else as bus_request() tells, with q->told.
 */
typedef void (*question_fn)(struct question *q, enum rc rc);

/* Lives until fn was called. */
struct question {
	struct gateway *g;
	const char *subject;
	const struct wire_desc *ask, *answer;
	int64_t timeout_ms;
	const struct trace *trace;
	struct arena *a; /* the answer comes into it */
	question_fn fn;
	void *arg;
	const void *msg; /* what was asked, if its asker keeps that for fn */
	void *reply;     /* the struct of answer, in a */
	struct str told; /* the text of an error answer, in a; or absent */
	/* Private. */
	uint64_t id;
	bool open;
};

/*
 * question_new(g, c, fn):
 * One as long as the call c, which is its arg, without subject and schemas
 * yet; NULL if there is no room: c has been answered.
 */
struct question *question_new(
    struct gateway *g, struct svc_call *c, question_fn fn);

/*
 * question_ask(q, msg):
 * Ask with the message msg of q->ask.  fn is called only if RC_OK; RC_INVALID
 * if msg breaks its schema: q->told says where.  Else as bus_request().
 */
enum rc question_ask(struct question *q, const void *msg) RC_CHECK;

/* question_cancel(q): fn is not called any more.  No-op if it was. */
void question_cancel(struct question *q);

#endif /* !CHAT_GATEWAY_QUESTION_H */
