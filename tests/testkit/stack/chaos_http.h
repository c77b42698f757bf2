/*
 * chaos_http: an HTTP client for threads of a load whose servers are broken
 * meanwhile: nothing that it meets fails the test.
 */
#ifndef TESTKIT_STACK_CHAOS_HTTP_H
#define TESTKIT_STACK_CHAOS_HTTP_H

#include <jansson.h>
#include <stdbool.h>

#include "core/buf.h"

struct chaos_http {
	const char *method, *path;
	json_t *body;      /* NULL: none; not consumed */
	const char *trace; /* id; NULL: a new one */
	long timeout_ms;
	/*
	 * With each part of the response, what has come so far; false: close
	 * the connection.  May be NULL.
	 */
	bool (*more)(void *arg, struct str so_far);
	void *arg;
};

/*
 * chaos_http(port, r, out):
 * A request on a connection of its own to 127.0.0.1:port.  Returns the status
 * of a response that is complete, or that was closed by r->more, else 0; out
 * has as much as there is.
 */
int chaos_http(int port, const struct chaos_http *r, struct buf *out);

/*
 * chaos_http_next(rest): The next event of a stream, NULL at its end; *rest is
 * moved behind it.  The caller frees it.
 */
json_t *chaos_http_next(struct str *rest);

#endif /* !TESTKIT_STACK_CHAOS_HTTP_H */
