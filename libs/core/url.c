#include "core/url.h"

#include <arpa/inet.h>
#include <ctype.h>

static bool
url_copy(struct str s, char *dst, size_t size)
{
	if (s.n >= size)
		return false;
	if (s.n > 0)
		memcpy(dst, s.p, s.n);
	dst[s.n] = '\0';
	return true;
}

/* Split *s at the first sep; false, with *s unchanged, if there is none. */
static bool
url_split(struct str *s, char sep, struct str *rest)
{
	const char *at = s->n > 0 ? memchr(s->p, sep, s->n) : NULL;

	if (at == NULL)
		return false;
	*rest = (struct str){ at + 1, s->n - (size_t)(at - s->p) - 1 };
	s->n = (size_t)(at - s->p);
	return true;
}

enum rc
url_unescape(struct str s, char *dst, size_t size)
{
	size_t i, n = 0;
	int c;

	for (i = 0; i < s.n; i++) {
		c = (unsigned char)s.p[i];
		if (c == '%') {
			if (s.n - i < 3 || str_hex_value(s.p[i + 1]) < 0 ||
			    str_hex_value(s.p[i + 2]) < 0)
				return RC_INVALID;
			c = str_hex_value(s.p[i + 1]) * 16 +
			    str_hex_value(s.p[i + 2]);
			i += 2;
		}
		if (c < 0x20 || c == 0x7f || n + 1 >= size)
			return RC_INVALID;
		dst[n++] = (char)c;
	}
	dst[n] = '\0';
	return RC_OK;
}

static bool
url_parse_scheme(struct str s, struct url *u)
{
	size_t i;

	if (s.n == 0 || !url_copy(s, u->scheme, sizeof(u->scheme)))
		return false;
	for (i = 0; i < s.n; i++) {
		if (!isalpha((unsigned char)s.p[i]))
			return false;
		u->scheme[i] = (char)tolower((unsigned char)s.p[i]);
	}
	return true;
}

static bool
url_is_all_of(struct str s, const char *more)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] == '\0' ||
		    (!isalnum((unsigned char)s.p[i]) &&
			strchr(more, s.p[i]) == NULL))
			return false;
	return s.n > 0;
}

/* host, host:port or [IPv6]:port. */
static const char *
url_parse_host_port(struct str s, struct url *u)
{
	struct str port = { NULL, 0 };
	int64_t n;
	bool ok;

	if (s.n > 0 && s.p[0] == '[') {
		s.p++;
		s.n--;
		if (!url_split(&s, ']', &port))
			return "the bracket of the host is not closed";
		ok = url_is_all_of(s, ":.%");
		if (port.n > 0 && port.p[0] != ':')
			return "something follows the host";
		if (port.n > 0)
			port = (struct str){ port.p + 1, port.n - 1 };
		else
			port.p = NULL;
	} else {
		(void)url_split(&s, ':', &port);
		ok = url_is_all_of(s, "._-");
	}
	if (!ok || !url_copy(s, u->host, sizeof(u->host)))
		return "the host is neither a name nor an address";
	if (port.p != NULL) {
		if (!url_is_all_of(port, "") ||
		    str_to_i64(port, 1, 65535, &n) != RC_OK)
			return "the port is not within 1 to 65535";
		u->port = (int)n;
	}
	return NULL;
}

static const char *
url_parse_parts(struct str s, struct url *u)
{
	struct str rest, auth, user, password = { NULL, 0 };
	ptrdiff_t at;
	size_t i;

	memset(u, 0, sizeof(*u));
	at = str_find(s, STR("://"));
	if (at < 0)
		return "there is no scheme://";
	if (!url_parse_scheme((struct str){ s.p, (size_t)at }, u))
		return "the scheme is not a word";
	auth = (struct str){ s.p + at + 3, s.n - (size_t)at - 3 };
	if (url_split(&auth, '/', &rest)) {
		rest = (struct str){ rest.p - 1, rest.n + 1 };
		for (i = 0; i < rest.n; i++)
			if (!isgraph((unsigned char)rest.p[i]))
				return "the path has a blank or control "
				       "character";
		if (!url_copy(rest, u->path, sizeof(u->path)))
			return "the path is too long";
	}
	/* The last @, since an @ in a password is often not escaped. */
	for (i = auth.n; i > 0 && auth.p[i - 1] != '@'; i--)
		;
	if (i > 0) {
		user = (struct str){ auth.p, i - 1 };
		auth = (struct str){ auth.p + i, auth.n - i };
		(void)url_split(&user, ':', &password);
		if (url_unescape(user, u->user, sizeof(u->user)) != RC_OK)
			return "the user is badly escaped or too long";
		if (url_unescape(password, u->password, sizeof(u->password)) !=
		    RC_OK)
			return "the password is badly escaped or too long";
	}
	return url_parse_host_port(auth, u);
}

enum rc
url_parse(struct str s, struct url *u, const char **why)
{
	const char *wrong = url_parse_parts(s, u);

	if (why != NULL)
		*why = wrong;
	return wrong == NULL ? RC_OK : RC_INVALID;
}

/* Whether each address has a scheme, which a part of a password has not. */
static bool
url_all_have_schemes(struct str urls)
{
	struct str rest = urls;

	while (rest.p != NULL)
		if (str_find(str_split(&rest, ','), STR("://")) < 0)
			return false;
	return true;
}

void
url_redact(struct str urls, struct buf *out)
{
	struct str rest = urls, one, user;
	const char *at;
	size_t prefix;

	if (urls.n > 0 && !url_all_have_schemes(urls)) {
		buf_puts(out, "***");
		return;
	}
	while (rest.n > 0) {
		one = str_split(&rest, ',');
		prefix = (size_t)str_find(one, STR("://")) + 3;
		user = (struct str){ one.p + prefix, one.n - prefix };
		/* The last @, as in url_parse_parts(). */
		at = user.n > 0 ? memrchr(user.p, '@', user.n) : NULL;
		buf_put(out, one.p, prefix);
		if (at != NULL) {
			buf_puts(out, "***");
			user.n -= (size_t)(at - user.p);
			user.p = at;
		}
		buf_put_str(out, user);
		if (rest.p != NULL)
			buf_putc(out, ',');
	}
}

bool
url_is_address(const char *host)
{
	struct in6_addr a;

	return inet_pton(AF_INET, host, &a) == 1 ||
	    inet_pton(AF_INET6, host, &a) == 1;
}
