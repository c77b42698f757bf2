/*
 * Origins are compared as texts: browsers write them in one canonical form.
 */
#include "httpd/cors.h"

#include <string.h>

static bool
cors_all_of(struct str s, const char *more)
{
	size_t i;

	for (i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
		    (c == '\0' || strchr(more, c) == NULL))
			return false;
	}
	return s.n > 0;
}

/* "host", "host:port", "[v6]" or "[v6]:port". */
static bool
cors_is_authority(struct str s)
{
	struct str port = s, host;
	int64_t n;

	if (s.n > 0 && s.p[0] == '[') {
		host = str_split(&port, ']');
		if (port.p == NULL || host.n < 2 ||
		    !cors_all_of((struct str){ host.p + 1, host.n - 1 }, ":."))
			return false;
		if (port.n == 0)
			return true;
		if (str_split(&port, ':').n > 0)
			return false;
	} else {
		host = str_split(&port, ':');
		if (!cors_all_of(host, ".-_"))
			return false;
		if (port.p == NULL)
			return true;
	}
	return port.p != NULL && str_to_i64(port, 1, 65535, &n) == RC_OK;
}

static bool
cors_is_origin(struct str s)
{
	ptrdiff_t at = str_find(s, STR("://"));

	if (at <= 0 || !cors_all_of((struct str){ s.p, (size_t)at }, "+-."))
		return false;
	size_t rest = (size_t)at + 3;
	return cors_is_authority((struct str){ s.p + rest, s.n - rest });
}

enum rc
cors_parse(struct str list, struct cors *c)
{
	*c = (struct cors){ 0 };
	list = str_trim(list);
	if (list.n == 0)
		return RC_OK;
	c->on = true;
	if (str_eq(list, STR("*"))) {
		c->any = true;
		return RC_OK;
	}
	while (list.p != NULL) {
		struct str origin = str_trim(str_split(&list, ','));

		if (c->n == CORS_MAX)
			return RC_TOOBIG;
		if (origin.n > CORS_ORIGIN_MAX || !cors_is_origin(origin))
			return RC_INVALID;
		c->origins[c->n++] = origin;
	}
	return RC_OK;
}

struct str
cors_allow(const struct cors *c, struct str origin)
{
	size_t i;

	if (c->any)
		return STR("*");
	for (i = 0; i < c->n; i++)
		if (str_eq(c->origins[i], origin))
			return c->origins[i];
	return (struct str){ NULL, 0 };
}

void
cors_write(const struct cors *c, struct str allow, struct buf *out)
{
	if (!c->on)
		return;
	if (!c->any)
		buf_puts(out, "Vary: Origin\r\n");
	if (allow.p == NULL)
		return;
	buf_puts(out, "Access-Control-Allow-Origin: ");
	buf_put_str(out, allow);
	buf_puts(out,
	    "\r\nAccess-Control-Expose-Headers: retry-after, traceparent, "
	    "www-authenticate\r\n");
}

void
cors_write_preflight(const char *methods, struct buf *out)
{
	buf_puts(out, "Access-Control-Allow-Methods: ");
	buf_puts(out, methods);
	buf_puts(out,
	    "\r\nAccess-Control-Allow-Headers: accept, authorization, "
	    "content-type, last-event-id, traceparent\r\n"
	    "Access-Control-Max-Age: " CORS_MAX_AGE_S "\r\n");
}
