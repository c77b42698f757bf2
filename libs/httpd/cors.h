/*
 * CORS: which web pages of other origins may read our responses.  Pure.
 *
 * This is not access control: it only permits pages in browsers to use
 * credentials that they have themselves; cookies are never allowed.
 */
#ifndef HTTPD_CORS_H
#define HTTPD_CORS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

/* Origins in one list, and bytes of one. */
#define CORS_MAX        32
#define CORS_ORIGIN_MAX 256

/* How long a browser caches a preflight, in seconds. */
#define CORS_MAX_AGE_S "600"

struct cors {
	struct str origins[CORS_MAX];
	size_t n;
	bool any; /* the list is "*" */
	bool on;
};

/*
 * cors_parse(list, c):
 * "https://a.example,http://localhost:5173" or "*"; off if it is empty or
 * absent.  c points into list.  An origin is a scheme, "://", a host in lower
 * case and optionally a port, as browsers write it.  RC_INVALID for anything
 * else, RC_TOOBIG for too many.
 */
enum rc cors_parse(struct str list, struct cors *c) RC_CHECK;

/*
 * cors_allow(c, origin):
 * The Access-Control-Allow-Origin for a page of that origin: a text of the
 * list, never of the request; absent if it may not read the response.
 */
struct str cors_allow(const struct cors *c, struct str origin);

/*
 * cors_write(c, allow, out):
 * The header fields of every response; allow is the result of cors_allow().
 * Nothing if c is off.
 */
void cors_write(const struct cors *c, struct str allow, struct buf *out);

/* cors_write_preflight(methods, out): Further fields of a preflight. */
void cors_write_preflight(const char *methods, struct buf *out);

#endif /* !HTTPD_CORS_H */
