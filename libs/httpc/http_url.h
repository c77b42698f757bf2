/*
 * http_url: where a URL that a user has given leads to.
 *
 * Strict, so that no two parsers read a URL differently: http or https, no user
 * or password, printable ASCII without backslashes, blanks and quotes.
 *
 * Pure; any thread.
 */
#ifndef HTTPC_HTTP_URL_H
#define HTTPC_HTTP_URL_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

/* Longest URL, in bytes. */
#define HTTP_URL_MAX 4096

/*
 * http_url_check(url, https):
 * NULL, or what is wrong with it, a constant without any part of it; https: it
 * must be an https one.
 */
const char *http_url_check(struct str url, bool https);

/*
 * http_url_same_origin(a, b): Whether scheme, host and port are the same;
 * false if one of them is not valid.
 */
bool http_url_same_origin(struct str a, struct str b);

/*
 * http_url_join(base, ref, out):
 * Append ref, absolute or relative, as seen from base.  RC_DENIED if it leads
 * to another origin, RC_INVALID if the result is no valid URL.
 */
enum rc http_url_join(
    struct str base, struct str ref, struct buf *out) RC_CHECK;

#endif /* !HTTPC_HTTP_URL_H */
