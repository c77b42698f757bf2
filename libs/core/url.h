/*
 * url: parsing and redaction of server URLs.
 */
#ifndef CORE_URL_H
#define CORE_URL_H

#include <stdbool.h>
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
	char host[URL_HOST_MAX]; /* name or address; IPv6 without brackets */
	int port;
	char path[URL_PATH_MAX]; /* from the first '/', query included */
};

/*
 * url_parse(s, u, why):
 * scheme://[user[:password]@]host[:port][/path].  RC_INVALID if s is not valid
 * or a part is too long; *why (may be NULL) is then a constant text, which
 * contains nothing of s, since s may have a password.
 */
enum rc url_parse(struct str s, struct url *u, const char **why) RC_CHECK;

/* url_is_address(host): Whether host is an IP address, not a name. */
bool url_is_address(const char *host);

/*
 * url_redact(urls, out):
 * Append URLs separated by commas for logs: "***" for user and password, or for
 * everything if a part has no scheme.
 */
void url_redact(struct str urls, struct buf *out);

/*
 * url_unescape(s, dst, size):
 * Percent-decode s to dst, with a NUL.  RC_INVALID for a '%' without two
 * hexadecimal digits, for control characters, and over size bytes.
 */
enum rc url_unescape(struct str s, char *dst, size_t size) RC_CHECK;

#endif /* !CORE_URL_H */
