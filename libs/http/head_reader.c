#include "http/head_reader.h"

#include <string.h>

/* A character of a token (RFC 9110, 5.6.2). */
static bool
head_is_token_char(unsigned char c)
{
	return (unsigned)(c | 0x20) - 'a' < 26 || (unsigned)c - '0' < 10 ||
	    (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool
head_is_token(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (!head_is_token_char((unsigned char)s.p[i]))
			return false;
	return s.n > 0;
}

/* Visible ASCII only: what else a URI has is percent-encoded. */
static bool
head_is_target(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] < 0x21 || s.p[i] > 0x7e)
			return false;
	return s.n > 0 && s.p[0] == '/';
}

static bool
head_is_value(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

static const char *
head_read_request_line(struct http_head *h, struct str line)
{
	struct str rest = line;

	h->method = str_split(&rest, ' ');
	if (rest.p == NULL || !head_is_token(h->method))
		return "the method is invalid";
	h->target = str_split(&rest, ' ');
	if (rest.p == NULL || !head_is_target(h->target))
		return "the target must be a path";
	if (str_eq(rest, STR("HTTP/1.1")))
		h->http11 = true;
	else if (!str_eq(rest, STR("HTTP/1.0")))
		return "the version must be HTTP/1.1";
	return NULL;
}

static const char *
head_read_field(struct http_head *h, struct str line)
{
	struct str value = line;
	struct header_field f = { .name = str_split(&value, ':') };

	if (value.p == NULL || !head_is_token(f.name))
		return "the name of a header field is invalid";
	f.value = str_trim(value);
	if (!head_is_value(value))
		return "a header field has a control character";
	h->field[h->n++] = f;
	return NULL;
}

/* The next line; absent: it is not whole. */
static struct str
head_next_line(struct str *rest)
{
	const char *end = memmem(rest->p, rest->n, "\r\n", 2);
	struct str line = { NULL, 0 };

	if (end == NULL)
		return line;
	line = (struct str){ rest->p, (size_t)(end - rest->p) };
	rest->p += line.n + 2;
	rest->n -= line.n + 2;
	return line;
}

static enum rc
head_incomplete(struct str data, const char **why)
{
	/* It will not become a head. */
	if (memchr(data.p, '\0', data.n) != NULL) {
		*why = "the request has a NUL";
		return RC_INVALID;
	}
	return data.n < HTTP_HEAD_MAX ? RC_RETRY : RC_TOOBIG;
}

enum rc
http_head_read(
    struct str data, struct http_head *h, size_t *used, const char **why)
{
	struct str rest = data, line;
	const char *error = NULL;

	h->n = 0;
	h->http11 = false;
	if (data.n == 0)
		return RC_RETRY;
	if (data.n > HTTP_HEAD_MAX)
		rest.n = HTTP_HEAD_MAX;
	line = head_next_line(&rest);
	if (line.p == NULL)
		return head_incomplete(data, why);
	error = head_read_request_line(h, line);
	while (error == NULL) {
		line = head_next_line(&rest);
		if (line.p == NULL)
			return head_incomplete(data, why);
		if (line.n == 0)
			break;
		if (h->n == HTTP_FIELDS_MAX)
			return RC_TOOBIG;
		error = head_read_field(h, line);
	}
	if (error != NULL) {
		*why = error;
		return RC_INVALID;
	}
	*used = (size_t)(rest.p - data.p);
	return RC_OK;
}
