/*
 * guarded: a toy service that knows its callers, their tokens, and requests in
 * their names.
 */
#ifndef GUARDED_H
#define GUARDED_H

#include "auth/auth.h"
#include "core/mem.h"
#include "running.h"
#include "testkit/json.h"
#include "testkit/tokens.h"
#include "wire/msgs.h"

/* A request, and what is to come of it. */
struct guarded_ask {
	const char *token; /* NULL: none */
	const char *method, *path;
	const char *body; /* NULL: none */
	int status;
	const char *text; /* that is in the answer */
};

static inline void
guarded_ask(const struct running *r, const struct guarded_ask *q)
{
	const char *body = q->body != NULL ? q->body : "";
	struct tk_response a = { 0 };
	int status = tk_http_call(r->toy.http, &a,
	    "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s%s%s"
	    "Content-Length: %zu\r\n\r\n%s",
	    q->method, q->path,
	    q->token != NULL ? "Authorization: Bearer " : "",
	    q->token != NULL ? q->token : "", q->token != NULL ? "\r\n" : "",
	    strlen(body), body);

	ck_assert_msg(status == q->status, "%s %s %s by %s: %d %s", q->method,
	    q->path, body, q->token != NULL ? q->token : "nobody", status,
	    a.body.p);
	ck_assert_msg(tk_response_has(&a, q->text), "%s %s by %s: %s",
	    q->method, q->path, q->token != NULL ? q->token : "nobody",
	    a.body.p);
	tk_response_free(&a);
}

#endif /* !GUARDED_H */
