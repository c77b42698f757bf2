/*
 * memories: what routes ask memory-worker, and what they answer if it fails.
 */
#ifndef CHAT_GATEWAY_MEMORIES_H
#define CHAT_GATEWAY_MEMORIES_H

#include <stddef.h>

#include "question.h"

struct svc_call;
struct wire_memory_forget_request;

/* What can be asked. */
enum memories_ask {
	MEMORIES_LIST,
	MEMORIES_RECALL,
	MEMORIES_FORGET,
	MEMORIES_PROFILE
};

/*
 * memories_question(g, c, what, fn):
 * A question for the answer's struct, in the memory of c, which is q->arg; NULL
 * if c was answered, because there is none left.
 */
struct question *memories_question(struct gateway *g, struct svc_call *c,
    enum memories_ask what, question_fn fn);

/*
 * memories_set(q, what): Subject, schemas and deadline of that question.
 */
void memories_set(struct question *q, enum memories_ask what);

/*
 * memories_ask(q, msg): question_ask(); if that fails q->arg, a call, is
 * answered and ended.
 */
void memories_ask(struct question *q, const void *msg);

/*
 * memories_forget(g, c, req, fn):
 * Ask to forget what req says, which lives until req's call c ends; fn finds a
 * copy of req in q->msg.  If that fails c is answered and ended.
 */
void memories_forget(struct gateway *g, struct svc_call *c,
    const struct wire_memory_forget_request *req, question_fn fn);

/*
 * memories_audit(q, rc):
 * Tell (audit) what memories_forget() came to, if anything: of RC_OK how much
 * is gone and whether the profile is; that it is not known if it failed and may
 * have been done in part.
 * memories_audit_gone(c, of, n): n memories of that user and soul are gone.
 */
void memories_audit(struct question *q, enum rc rc);
void memories_audit_gone(
    struct svc_call *c, const struct wire_memory_forget_request *of, size_t n);

/* Why there is no answer, for who asked. */
struct memories_failure {
	enum rc rc;
	const char *text; /* as long as the question lives */
};

/* memories_failure(q, rc): What a question that ended with rc tells. */
struct memories_failure memories_failure(const struct question *q, enum rc rc);

/* memories_fail(c, q, rc): Answer c with that, and end it. */
void memories_fail(struct svc_call *c, const struct question *q, enum rc rc);

#endif /* !CHAT_GATEWAY_MEMORIES_H */
