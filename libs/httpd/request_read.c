/*
 * Reading a request: its header and body are copied from civetweb's buffer,
 * which is the connection's, while the handler may still use a request whose
 * client got 504.
 *
 * civetweb takes "5x" for a Content-Length and the first of two; both can be
 * used to smuggle a request past a proxy and are rejected here.
 */
#include <civetweb.h>
#include <stdlib.h>

#include "core/mem.h"
#include "httpd/httpd_internal.h"

/* ---- framing ---- */

static bool
head_all_digits(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0;
}

static enum rc
head_reject(struct request_head *h, const char *why)
{
	h->why = why;
	return RC_INVALID;
}

static enum rc
head_parse_framing(
    struct request_head *h, const struct header_field *f, size_t n, bool http11)
{
	size_t lengths = header_count(f, n, STR("Content-Length"));
	size_t codings = header_count(f, n, STR("Transfer-Encoding"));
	struct str length = str_trim(header_find(f, n, STR("Content-Length")));

	if (lengths > 0 && codings > 0)
		return head_reject(
		    h, "both Content-Length and Transfer-Encoding");
	if (lengths > 1)
		return head_reject(h, "more than one Content-Length");
	if (lengths == 1 &&
	    (!head_all_digits(length) ||
		str_to_i64(length, 0, INT64_MAX, &h->length) != RC_OK))
		return head_reject(h, "Content-Length is not a number");
	if (codings > 0) {
		struct str te = header_find(f, n, STR("Transfer-Encoding"));
		if (!http11 || codings > 1 ||
		    !str_eq_nocase(str_trim(te), STR("chunked")))
			return head_reject(
			    h, "Transfer-Encoding is not \"chunked\"");
		h->chunked = true;
	}
	h->has_body = h->chunked || h->length > 0;
	return RC_OK;
}

/* JSON or a merge patch (RFC 7396). */
static bool
head_is_json(struct str type)
{
	return str_eq_nocase(type, STR("application/json")) ||
	    str_eq_nocase(type, STR("application/merge-patch+json"));
}

enum rc
request_head_parse(struct request_head *h, const struct header_field *fields,
    size_t n, bool http11)
{
	struct str connection, expect, type;

	*h = (struct request_head){ .persistent = http11, .json = true };
	if (http11 && header_count(fields, n, STR("Host")) != 1)
		return head_reject(h, "exactly one Host is required");
	enum rc rc = head_parse_framing(h, fields, n, http11);
	if (rc != RC_OK)
		return rc;

	connection = header_find(fields, n, STR("Connection"));
	if (connection.p != NULL)
		h->persistent = header_has_token(connection, STR("keep-alive"));
	type = header_find(fields, n, STR("Content-Type"));
	/* A browser sends a body without a type without a preflight. */
	if (type.p != NULL)
		h->json = head_is_json(str_trim(str_split(&type, ';')));
	else
		h->json = header_find(fields, n, STR("Origin")).p == NULL;
	expect = str_trim(header_find(fields, n, STR("Expect")));
	if (expect.n == 0 || !http11)
		return RC_OK;
	h->expect = str_eq_nocase(expect, STR("100-continue"));
	if (h->expect)
		return RC_OK;
	h->why = "unknown expectation";
	return RC_DENIED;
}

/* ---- copying from civetweb ---- */

/* Limit of a header in bytes; civetweb's buffer is a little larger. */
#define HEAD_MAX   15360
#define BODY_CHUNK 8192

/*
 * civetweb splits the fields in place, "name: value CR LF" to
 * "name\0 value\0\0", and stops silently at a line it cannot parse, such as a
 * folded one: a Content-Length after it would be overlooked.  False unless the
 * last field is followed by the empty line, CR LF, whose last byte civetweb has
 * set to NUL.
 */
static bool
head_is_complete(const struct mg_request_info *ri)
{
	const char *end;

	if (ri->num_headers == 0)
		return true;
	end = ri->http_headers[ri->num_headers - 1].value;
	end += strlen(end);
	return end[1] == '\0' && end[2] == '\r' && end[3] == '\0';
}

/* "name : value" is a field to some parsers and ignored by others. */
static bool
head_blank_before_colon(const struct mg_header *f)
{
	size_t n = strlen(f->name);

	return f->value > f->name + n + 1 && f->name[n + 1] == '\0';
}

/* The bytes of the header, or 0 if it is over HEAD_MAX. */
static size_t
head_size(const struct mg_request_info *ri)
{
	const char *last = ri->http_version;

	if (ri->num_headers > 0)
		last = ri->http_headers[ri->num_headers - 1].value;
	size_t n = (size_t)(last + strlen(last) - ri->request_method);
	return n <= HEAD_MAX ? n : 0;
}

/* Copy s to *at, which is advanced. */
static struct str
head_copy_text(char **at, const char *s)
{
	struct str out = { *at, strlen(s) };

	memcpy(*at, s, out.n + 1);
	*at += out.n + 1;
	return out;
}

static void
head_copy_fields(
    struct httpd_req *r, const struct mg_request_info *ri, char *at)
{
	r->nfields = (size_t)ri->num_headers;
	if (r->cap_fields < r->nfields) {
		free(r->fields);
		r->fields = mem_calloc(r->nfields, sizeof(*r->fields));
		r->cap_fields = r->nfields;
	}
	for (size_t i = 0; i < r->nfields; i++) {
		r->fields[i].name =
		    head_copy_text(&at, ri->http_headers[i].name);
		r->fields[i].value =
		    head_copy_text(&at, ri->http_headers[i].value);
	}
}

static enum rc
head_parse_uri(
    struct httpd_req *r, struct str path, struct str query, const char **why)
{
	/* Both point into r->text, which is writable. */
	char *text = r->text;
	enum rc rc = uri_split_path(&r->uri, text + (path.p - r->text), path.n);

	if (rc == RC_OK)
		rc = uri_split_query(
		    &r->uri, text + (query.p - r->text), query.n);
	if (rc == RC_INVALID)
		*why = "the target is not percent-encoded UTF-8";
	else if (rc == RC_TOOBIG)
		*why = "too many query parameters";
	return rc == RC_NOENT ? RC_OK : rc;
}

static void
head_parse_trace(struct httpd_req *r)
{
	struct str parent =
	    header_find(r->fields, r->nfields, STR("traceparent"));

	if (parent.p == NULL || trace_parse(parent, &r->trace) != RC_OK)
		trace_new_of(&r->trace, &r->ids);
}

static enum rc
head_check(
    struct httpd_req *r, const struct mg_request_info *ri, const char **why)
{
	*why = "the header is malformed";
	if (!head_is_complete(ri))
		return RC_INVALID;
	for (int i = 0; i < ri->num_headers; i++)
		if (head_blank_before_colon(&ri->http_headers[i]))
			return RC_INVALID;
	r->http11 = str_eq(str_of(ri->http_version), STR("1.1"));
	enum rc rc =
	    request_head_parse(&r->head, r->fields, r->nfields, r->http11);
	if (rc != RC_OK)
		*why = r->head.why;
	return rc;
}

void
request_read_peer(struct httpd_req *r, struct mg_connection *c)
{
	const struct mg_request_info *ri = mg_get_request_info(c);

	str_copy(
	    str_of(ri->remote_addr), r->remote_addr, sizeof(r->remote_addr));
	r->remote_port = ri->remote_port;
}

enum rc
request_read_head(
    struct httpd_req *r, struct mg_connection *c, const char **why)
{
	const struct mg_request_info *ri = mg_get_request_info(c);
	const char *raw = ri->local_uri_raw;
	const char *query = ri->query_string != NULL ? ri->query_string : "";
	size_t n = head_size(ri);

	if (n == 0 || ri->num_headers >= MG_MAX_HEADERS) {
		trace_new_of(&r->trace, &r->ids);
		*why = "the header is too large";
		return RC_TOOBIG;
	}
	/* Every text takes as many bytes as in the header; the path is copied
	 * twice, and the query may be missing. */
	n += strlen(raw) + 4;
	if (r->cap_text < n) {
		free(r->text);
		r->text = mem_alloc(n);
		r->cap_text = n;
	}
	char *at = r->text;
	r->method = head_copy_text(&at, ri->request_method);
	r->path = head_copy_text(&at, raw);
	struct str path = head_copy_text(&at, raw);
	struct str params = head_copy_text(&at, query);
	head_copy_fields(r, ri, at);
	head_parse_trace(r);

	enum rc rc = head_check(r, ri, why);
	if (rc != RC_OK)
		return rc;
	return head_parse_uri(r, path, params, why);
}

/* How many bytes to read next; 0: the body has all it may have. */
static size_t
body_next_chunk(const struct httpd_req *r)
{
	size_t all = r->head.chunked ? r->body.max : (size_t)r->head.length;
	size_t left = all - r->body.n;

	return left < BODY_CHUNK ? left : BODY_CHUNK;
}

/* A chunked body that is as large as it may be must end there. */
static enum rc
body_read_end(struct mg_connection *c)
{
	char more;
	int n = mg_read(c, &more, 1);

	if (n < 0)
		return RC_INVALID;
	return n == 0 ? RC_OK : RC_TOOBIG;
}

static enum rc
body_read(struct httpd_req *r, struct mg_connection *c)
{
	size_t want;

	while ((want = body_next_chunk(r)) > 0) {
		if (!buf_reserve(&r->body, want))
			return RC_TOOBIG;
		int n = mg_read(c, r->body.p + r->body.n, want);
		if (n < 0 || (n == 0 && !r->head.chunked))
			return RC_INVALID;
		if (n == 0)
			return RC_OK;
		r->body.n += (size_t)n;
		r->body.p[r->body.n] = '\0';
		if ((size_t)n < want && !r->head.chunked)
			return RC_INVALID;
	}
	return r->head.chunked ? body_read_end(c) : RC_OK;
}

enum rc
request_read_body(struct httpd *h, struct httpd_req *r, struct mg_connection *c,
    struct mono start)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

	if (r->head.expect &&
	    mg_write(c, go_on, sizeof(go_on) - 1) < (int)sizeof(go_on) - 1)
		return RC_INVALID;
	reaper_body_begin(h, r, start, SERVER_BODY_MS);
	enum rc rc = body_read(r, c);
	reaper_body_end(h, r);
	if (rc != RC_INVALID)
		return rc;
	/* A read times out after SERVER_HEADER_MS without a byte; a client that
	 * disconnects is noticed earlier. */
	int64_t ms = mono_diff_ms(clock_mono(), start);
	return ms >= SERVER_HEADER_MS || ms >= h->timeout_ms ? RC_TIMEOUT : rc;
}

void
request_discard_body(
    struct httpd *h, struct httpd_req *r, struct mg_connection *c)
{
	struct mono now = clock_mono();
	struct mono due = mono_add_ms(now, SERVER_DISCARD_MS);
	char chunk[BODY_CHUNK];

	reaper_body_begin(h, r, now, SERVER_DISCARD_MS);
	while (mg_read(c, chunk, sizeof(chunk)) > 0 && clock_mono().ns < due.ns)
		continue;
	reaper_body_end(h, r);
}
