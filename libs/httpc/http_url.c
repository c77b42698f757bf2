#include "httpc/http_url.h"

#include <string.h>

#include "core/mem.h"
#include "core/url.h"

struct http_url {
	bool https;
	struct str host; /* IPv6 with brackets */
	int64_t port;
	struct str path; /* the rest, from the first of '/', '?' and '#' */
};

static bool
url_chars_are_valid(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 127 ||
		    memchr("\\\"<>^`{|}", s.p[i], 9) != NULL)
			return false;
	return s.n <= HTTP_URL_MAX;
}

/* Host and port of an authority. */
static bool
url_read_authority(struct str s, struct http_url *u)
{
	ptrdiff_t colon;
	struct str port;

	u->host = s;
	if (s.n > 0 && s.p[0] == '[') {
		colon = str_find(s, STR("]"));
		if (colon < 0)
			return false;
		u->host.n = (size_t)colon + 1;
	} else {
		colon = str_find(s, STR(":"));
		if (colon >= 0)
			u->host.n = (size_t)colon;
	}
	port = (struct str){ s.p + u->host.n, s.n - u->host.n };
	u->port = u->https ? 443 : 80;
	if (port.n > 0 &&
	    (port.p[0] != ':' ||
		str_to_i64((struct str){ port.p + 1, port.n - 1 }, 1, 65535,
		    &u->port) != RC_OK))
		return false;
	return u->host.n > 0 && u->host.n < URL_HOST_MAX;
}

/* NULL, or what is wrong. */
static const char *
url_read(struct str s, struct http_url *u)
{
	size_t n;

	memset(u, 0, sizeof(*u));
	if (!url_chars_are_valid(s))
		return "too long, or a character that must be escaped";
	n = s.n < 8 ? s.n : 8;
	if (str_eq_nocase((struct str){ s.p, n }, STR("https://")))
		u->https = true;
	else if (n >= 7 &&
	    str_eq_nocase((struct str){ s.p, 7 }, STR("http://")))
		n = 7;
	else
		return "must begin with https:// or http://";
	s.p += n;
	s.n -= n;
	for (n = 0; n < s.n && memchr("/?#", s.p[n], 3) == NULL; n++)
		if (s.p[n] == '@' || s.p[n] == '%')
			return "must have no user, password or escapes before "
			       "its path";
	u->path = (struct str){ s.p + n, s.n - n };
	s.n = n;
	return url_read_authority(s, u) ? NULL : "host or port not valid";
}

const char *
http_url_check(struct str url, bool https)
{
	struct http_url u;
	const char *why = url_read(url, &u);

	if (why == NULL && https && !u.https)
		why = "must be https";
	return why;
}

bool
http_url_same_origin(struct str a, struct str b)
{
	struct http_url u, v;

	return url_read(a, &u) == NULL && url_read(b, &v) == NULL &&
	    u.https == v.https && u.port == v.port &&
	    str_eq_nocase(u.host, v.host);
}

/* The folder of a path, from '/' to the last one before '?' and '#'. */
static struct str
url_folder(struct str path)
{
	size_t i, n = 0;

	for (i = 0; i < path.n && path.p[i] != '?' && path.p[i] != '#'; i++)
		if (path.p[i] == '/')
			n = i + 1;
	return (struct str){ path.p, n };
}

/* Whether a reference begins with a scheme. */
static bool
url_has_scheme(struct str s)
{
	size_t i;

	for (i = 0; i < s.n && memchr("/?#", s.p[i], 3) == NULL; i++)
		if (s.p[i] == ':')
			return true;
	return false;
}

enum rc
http_url_join(struct str base, struct str ref, struct buf *out)
{
	struct buf b = BUF_INIT(2 * HTTP_URL_MAX);
	struct http_url u, v;
	enum rc rc = RC_OK;

	if (url_read(base, &u) != NULL || ref.n == 0)
		return RC_INVALID;
	if (url_read(ref, &v) == NULL || url_has_scheme(ref)) {
		buf_put_str(&b, ref);
	} else if (ref.n > 1 && ref.p[0] == '/' && ref.p[1] == '/') {
		buf_puts(&b, u.https ? "https:" : "http:");
		buf_put_str(&b, ref);
	} else {
		buf_put(&b, base.p, base.n - u.path.n);
		if (ref.p[0] == '?') {
			buf_put_str(&b, str_split(&u.path, '?'));
		} else if (ref.p[0] != '/') {
			buf_put_str(&b, url_folder(u.path));
			if (url_folder(u.path).n == 0)
				buf_putc(&b, '/');
		}
		buf_put_str(&b, ref);
	}
	if (http_url_check(buf_str(&b), false) != NULL || b.over)
		rc = RC_INVALID;
	else if (!http_url_same_origin(base, buf_str(&b)))
		rc = RC_DENIED;
	else
		buf_put_str(out, buf_str(&b));
	buf_free(&b);
	return rc == RC_OK ? buf_rc(out) : rc;
}
