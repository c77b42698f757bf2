/*
 * target: decoding never lengthens a text, so it is done in place.
 */
#include "http/target.h"

#include <stdbool.h>

/* How many bytes at p stand for themselves, as mostly all of them do. */
static size_t
uri_plain(const char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (p[i] <= 0 || p[i] > '~' || p[i] == '%' || p[i] == '+')
			break;
	return i;
}

enum rc
uri_decode(char *p, size_t n, bool plus, struct str *out)
{
	size_t from = uri_plain(p, n), to = from;

	if (from == n) {
		*out = (struct str){ p, n };
		return RC_OK;
	}
	for (; from < n; from++) {
		char c = p[from];
		if (c == '%') {
			if (n - from < 3)
				return RC_INVALID;
			int hi = str_hex_value(p[from + 1]);
			int lo = str_hex_value(p[from + 2]);
			if (hi < 0 || lo < 0)
				return RC_INVALID;
			c = (char)(hi * 16 + lo);
			from += 2;
		} else if (c == '+' && plus) {
			c = ' ';
		}
		if (c == '\0')
			return RC_INVALID;
		p[to++] = c;
	}
	struct str s = { p, to };
	if (str_utf8_count(s) < 0)
		return RC_INVALID;
	*out = s;
	return RC_OK;
}

enum rc
uri_split_path(struct uri *u, char *p, size_t n)
{
	u->nsegments = 0;
	if (n == 0 || p[0] != '/')
		return RC_INVALID;
	size_t at = 1;
	for (;;) {
		size_t end = at;
		while (end < n && p[end] != '/')
			end++;
		if (u->nsegments == URI_SEGMENTS_MAX)
			return RC_NOENT;
		enum rc rc = uri_decode(
		    p + at, end - at, false, &u->segments[u->nsegments]);
		if (rc != RC_OK)
			return rc;
		u->nsegments++;
		if (end == n)
			return RC_OK;
		at = end + 1;
	}
}

/* One "name=value" of n bytes at p. */
static enum rc
uri_split_pair(struct uri_pair *pair, char *p, size_t n)
{
	size_t eq = 0;

	while (eq < n && p[eq] != '=')
		eq++;
	enum rc rc = uri_decode(p, eq, true, &pair->name);
	if (rc != RC_OK)
		return rc;
	size_t at = eq < n ? eq + 1 : n;
	return uri_decode(p + at, n - at, true, &pair->value);
}

enum rc
uri_split_query(struct uri *u, char *p, size_t n)
{
	size_t at, end;

	u->npairs = 0;
	for (at = 0; at < n; at = end + 1) {
		end = at;
		while (end < n && p[end] != '&')
			end++;
		if (end == at)
			continue;
		if (u->npairs == URI_PAIRS_MAX)
			return RC_TOOBIG;
		enum rc rc =
		    uri_split_pair(&u->pairs[u->npairs], p + at, end - at);
		if (rc != RC_OK)
			return rc;
		u->npairs++;
	}
	return RC_OK;
}

struct str
uri_query(const struct uri *u, struct str name)
{
	size_t i;

	for (i = 0; i < u->npairs; i++)
		if (str_eq(u->pairs[i].name, name))
			return u->pairs[i].value;
	return (struct str){ NULL, 0 };
}
