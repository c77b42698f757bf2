/*
 * target: the target of an HTTP request: the segments of its path, and its
 * query. Pure.
 */
#ifndef HTTP_TARGET_H
#define HTTP_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"

/* Segments of a path, and pairs of a query. */
#define URI_SEGMENTS_MAX 16
#define URI_PAIRS_MAX    32

struct uri_pair {
	struct str name;
	struct str value; /* empty, not absent, without '=' */
};

struct uri {
	struct str segments[URI_SEGMENTS_MAX];
	size_t nsegments;
	struct uri_pair pairs[URI_PAIRS_MAX];
	size_t npairs;
};

/*
 * uri_decode(p, n, plus, out):
 * Percent-decode the n bytes at p in place; '+' is a blank if plus.  RC_INVALID
 * for a '%' without two hexadecimal digits, U+0000, and invalid UTF-8.
 */
enum rc uri_decode(char *p, size_t n, bool plus, struct str *out) RC_CHECK;

/*
 * uri_split_path(u, p, n):
 * Split "/a/b" at its slashes and decode each segment in place, so that %2F
 * stays inside its segment; "/a/" has an empty last one.  RC_INVALID as
 * uri_decode() or without a leading slash, RC_NOENT for too many segments.
 */
enum rc uri_split_path(struct uri *u, char *p, size_t n) RC_CHECK;

/*
 * uri_split_query(u, p, n):
 * Split "a=1&b" and decode names and values in place.  RC_INVALID as
 * uri_decode(), RC_TOOBIG for too many pairs.
 */
enum rc uri_split_query(struct uri *u, char *p, size_t n) RC_CHECK;

/* uri_query(u, name): The first value of that name; absent if there is none. */
struct str uri_query(const struct uri *u, struct str name);

#endif /* !HTTP_TARGET_H */
