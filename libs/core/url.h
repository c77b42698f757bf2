/*
 * url: the address of a server, taken apart.
 */
#ifndef CORE_URL_H
#define CORE_URL_H

#include <stddef.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

/* Room for each part, NUL included. */
#define URL_SCHEME_MAX   16
#define URL_USER_MAX     129
#define URL_PASSWORD_MAX 513
#define URL_HOST_MAX     254
#define URL_PATH_MAX     256

/* Absent parts are "", an absent port is 0. */
struct url {
	char scheme[URL_SCHEME_MAX]; /* lower case */
	char user[URL_USER_MAX];     /* percent-decoded */
	char password[URL_PASSWORD_MAX];
	char host[URL_HOST_MAX]; /* name or number; IPv6 without brackets */
	int port;
	char path[URL_PATH_MAX]; /* from the first '/', query included */
};

/*
 * url_parse(s, u, why):
 * scheme://[user[:password]@]host[:port][/path].  RC_INVALID if s is anything
 * else or a part does not fit; *why (may be NULL) is then a constant that says
 * what, without a piece of s in it, because s may hold a password.
 */
enum rc url_parse(struct str s, struct url *u, const char **why) RC_CHECK;

/*
 * url_redact(urls, out):
 * Append addresses with commas between them as they may be shown: "***" for
 * user and password, and for all of it where it is not plain what they are.
 */
void url_redact(struct str urls, struct buf *out);

/*
 * url_unescape(s, dst, size):
 * Percent-decode s into dst, with a NUL.  RC_INVALID for a '%' without two
 * hexadecimal digits, for control characters in either form, and if it does not
 * fit size bytes.
 */
enum rc url_unescape(struct str s, char *dst, size_t size) RC_CHECK;

#endif /* !CORE_URL_H */
