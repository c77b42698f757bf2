/*
 * cors: which web pages of other origins a browser may let read our answers.
 * Pure.
 *
 * It is no access control: it only says to browsers what pages may do with the
 * credentials that they bring themselves; no cookie is ever allowed.
 */
#ifndef HTTPD_CORS_H
#define HTTPD_CORS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

/* Most origins of a list, and most bytes of one. */
#define CORS_MAX        32
#define CORS_ORIGIN_MAX 256

/* How long a browser remembers what it was told of a path, in seconds. */
#define CORS_MAX_AGE_S "600"

struct cors {
	struct str origins[CORS_MAX];
	size_t n;
	bool any; /* the list is "*" */
	bool on;
};

/*
 * cors_read(list, c):
 * "https://a.example,http://localhost:5173" or "*"; off if it is empty or
 * absent.  c points into list.  An origin is a scheme, "://", a host in lower
 * case and perhaps a port, as browsers write it.  RC_INVALID for anything else,
 * RC_TOOBIG for too many.
 */
enum rc cors_read(struct str list, struct cors *c) RC_CHECK;

/*
 * cors_allow(c, origin):
 * What Access-Control-Allow-Origin says to a page of that origin: a text of the
 * list, never of the request; absent if it may not read the answer.
 */
struct str cors_allow(const struct cors *c, struct str origin);

/*
 * cors_put(c, allow, out):
 * The fields of every answer, allow being what cors_allow() said.  Nothing if c
 * is off.
 */
void cors_put(const struct cors *c, struct str allow, struct buf *out);

/* cors_put_preflight(methods, out): Those of a preflight's answer besides. */
void cors_put_preflight(const char *methods, struct buf *out);

#endif /* !HTTPD_CORS_H */
