/*
 * Framing of requests.  The server library below takes "5x" for a length and
 * the first of two lengths; both are ways to smuggle a request past a proxy.
 */
#include "httpd/head.h"

struct str
head_find(const struct head_field *fields, size_t n, struct str name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (str_eq_nocase(fields[i].name, name))
			return fields[i].value;
	return (struct str){ NULL, 0 };
}

bool
head_has_token(struct str value, struct str token)
{
	while (value.p != NULL)
		if (str_eq_nocase(str_trim(str_split(&value, ',')), token))
			return true;
	return false;
}

static size_t
count(const struct head_field *fields, size_t n, struct str name)
{
	size_t i, found = 0;

	for (i = 0; i < n; i++)
		if (str_eq_nocase(fields[i].name, name))
			found++;
	return found;
}

static bool
all_digits(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0;
}

static enum rc
refuse(struct head *h, const char *why)
{
	h->why = why;
	return RC_INVALID;
}

static enum rc
read_framing(struct head *h, const struct head_field *f, size_t n, bool http11)
{
	size_t lengths = count(f, n, STR("Content-Length"));
	size_t codings = count(f, n, STR("Transfer-Encoding"));
	struct str length = str_trim(head_find(f, n, STR("Content-Length")));

	if (lengths > 0 && codings > 0)
		return refuse(h, "Content-Length beside Transfer-Encoding");
	if (lengths > 1)
		return refuse(h, "more than one Content-Length");
	if (lengths == 1 &&
	    (!all_digits(length) ||
		str_to_i64(length, 0, INT64_MAX, &h->length) != RC_OK))
		return refuse(h, "Content-Length is not a number");
	if (codings > 0) {
		struct str te = head_find(f, n, STR("Transfer-Encoding"));
		if (!http11 || codings > 1 ||
		    !str_eq_nocase(str_trim(te), STR("chunked")))
			return refuse(
			    h, "Transfer-Encoding is not \"chunked\"");
		h->chunked = true;
	}
	h->has_body = h->chunked || h->length > 0;
	return RC_OK;
}

/* A merge patch (RFC 7396) is JSON, too. */
static bool
is_json(struct str type)
{
	return str_eq_nocase(type, STR("application/json")) ||
	    str_eq_nocase(type, STR("application/merge-patch+json"));
}

enum rc
head_read(
    struct head *h, const struct head_field *fields, size_t n, bool http11)
{
	struct str connection, expect, type;

	*h = (struct head){ .keep = http11, .json = true };
	if (http11 && count(fields, n, STR("Host")) != 1)
		return refuse(h, "there must be one Host");
	enum rc rc = read_framing(h, fields, n, http11);
	if (rc != RC_OK)
		return rc;

	connection = head_find(fields, n, STR("Connection"));
	if (connection.p != NULL)
		h->keep = head_has_token(connection, STR("keep-alive"));
	type = head_find(fields, n, STR("Content-Type"));
	/* Without a type a browser sends any page's body unasked. */
	if (type.p != NULL)
		h->json = is_json(str_trim(str_split(&type, ';')));
	else
		h->json = head_find(fields, n, STR("Origin")).p == NULL;
	expect = str_trim(head_find(fields, n, STR("Expect")));
	if (expect.n == 0 || !http11)
		return RC_OK;
	h->expect = str_eq_nocase(expect, STR("100-continue"));
	if (h->expect)
		return RC_OK;
	h->why = "unknown expectation";
	return RC_DENIED;
}
