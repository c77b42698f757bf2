/*
 * RFC 3986, sections 3 and 5.2.
 */

#include "wire/wire_internal.h"

#include <stdbool.h>

static bool
uri_is_scheme(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		bool other =
		    (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
		if (!letter && (i == 0 || !other))
			return false;
	}
	return s.n > 0;
}

void
wire_uri_split(struct str s, struct wire_uri *u)
{
	struct str rest = s.p != NULL ? s : STR("");
	*u = (struct wire_uri){ .path = STR("") };
	struct str before = str_split(&rest, '#');
	u->fragment = rest;
	rest = before;
	before = str_split(&rest, '?');
	u->query = rest;
	rest = before;
	before = str_split(&rest, ':');
	if (rest.p != NULL && uri_is_scheme(before)) {
		u->scheme = before;
	} else if (rest.p != NULL) {
		before.n += 1 + rest.n;
		rest = before;
	} else {
		rest = before;
	}
	if (str_starts(rest, STR("//"))) {
		size_t n = 2;
		while (n < rest.n && rest.p[n] != '/')
			n++;
		u->authority = (struct str){ rest.p + 2, n - 2 };
		rest.p += n;
		rest.n -= n;
	}
	u->path = rest;
}

/* Take the last segment, but for the slash before it, from what is behind
 * start. */
static void
uri_drop_segment(struct buf *out, size_t start)
{
	if (out->n == start)
		return;
	out->n--;
	while (out->n > start && out->p[out->n - 1] != '/')
		out->n--;
	out->p[out->n] = '\0';
}

/* Append path without its "." and ".." segments. */
static void
uri_put_path(struct buf *out, struct str path)
{
	size_t start = out->n;
	bool more = true;
	if (path.n > 0 && path.p[0] == '/') {
		buf_putc(out, '/');
		start = out->n;
		path.p++;
		path.n--;
	}
	while (more && buf_rc(out) == RC_OK) {
		struct str segment = str_split(&path, '/');
		more = path.p != NULL;
		if (str_eq(segment, STR(".")))
			continue;
		if (str_eq(segment, STR(".."))) {
			uri_drop_segment(out, start);
			continue;
		}
		buf_put_str(out, segment);
		if (more)
			buf_putc(out, '/');
	}
}

/* ref's path beside base's: it replaces what follows the last slash. */
static void
uri_put_merged(struct buf *out, const struct wire_uri *b, struct str path)
{
	struct buf merged = BUF_INIT(out->max);
	size_t n = b->path.n;
	while (n > 0 && b->path.p[n - 1] != '/')
		n--;
	if (b->authority.p != NULL && b->path.n == 0)
		buf_putc(&merged, '/');
	buf_put(&merged, b->path.p, n);
	buf_put_str(&merged, path);
	uri_put_path(out, buf_str(&merged));
	if (buf_rc(&merged) != RC_OK)
		out->over = true;
	buf_free(&merged);
}

void
wire_uri_resolve(struct str base, struct str ref, struct buf *out)
{
	struct wire_uri b;
	struct wire_uri r;
	wire_uri_split(base, &b);
	wire_uri_split(ref, &r);
	bool own = r.scheme.p != NULL || r.authority.p != NULL;
	struct str scheme = r.scheme.p != NULL ? r.scheme : b.scheme;
	struct str authority = own ? r.authority : b.authority;
	struct str query = r.query;
	if (scheme.p != NULL) {
		buf_put_str(out, scheme);
		buf_putc(out, ':');
	}
	if (authority.p != NULL) {
		buf_puts(out, "//");
		buf_put_str(out, authority);
	}
	if (own || (r.path.n > 0 && r.path.p[0] == '/')) {
		uri_put_path(out, r.path);
	} else if (r.path.n > 0) {
		uri_put_merged(out, &b, r.path);
	} else {
		buf_put_str(out, b.path);
		if (query.p == NULL)
			query = b.query;
	}
	if (query.p != NULL) {
		buf_putc(out, '?');
		buf_put_str(out, query);
	}
}
