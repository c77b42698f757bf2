#include "jsonc.h"

#include <stdbool.h>

#include "core/buf.h"

/* The offset behind the string that opens at i. */
static size_t
jsonc_string_end(struct str s, size_t i)
{
	for (i++; i < s.n && s.p[i] != '"'; i++)
		if (s.p[i] == '\\' && i + 1 < s.n)
			i++;
	return i < s.n ? i + 1 : s.n;
}

/* The offset behind the comment at i; i: there is none. */
static size_t
jsonc_comment_end(struct str s, size_t i)
{
	if (s.p[i] != '/' || i + 1 >= s.n)
		return i;
	if (s.p[i + 1] == '/') {
		while (i < s.n && s.p[i] != '\n')
			i++;
		return i;
	}
	if (s.p[i + 1] != '*')
		return i;
	for (i += 2; i < s.n; i++)
		if (s.p[i] == '*' && i + 1 < s.n && s.p[i + 1] == '/')
			return i + 2;
	return s.n;
}

static bool
jsonc_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The first offset from i on that is neither a blank nor in a comment. */
static size_t
jsonc_next(struct str s, size_t i)
{
	size_t end;

	for (; i < s.n; i = end) {
		end = jsonc_is_blank(s.p[i]) ? i + 1 : jsonc_comment_end(s, i);
		if (end == i)
			break;
	}
	return i;
}

static bool
jsonc_is_last_comma(struct str s, size_t i)
{
	size_t next;

	if (s.p[i] != ',')
		return false;
	next = jsonc_next(s, i + 1);
	return next < s.n && (s.p[next] == '}' || s.p[next] == ']');
}

void
jsonc_strip(struct str s, struct buf *out)
{
	size_t i = 0, end;

	while (i < s.n) {
		if (s.p[i] == '"') {
			end = jsonc_string_end(s, i);
			buf_put(out, s.p + i, end - i);
			i = end;
			continue;
		}
		end = jsonc_comment_end(s, i);
		for (; i < end; i++)
			buf_putc(out, s.p[i] == '\n' ? '\n' : ' ');
		if (i < s.n && s.p[i] != '"' && jsonc_comment_end(s, i) == i) {
			buf_putc(out, jsonc_is_last_comma(s, i) ? ' ' : s.p[i]);
			i++;
		}
	}
}
