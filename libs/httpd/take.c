/*
 * What a worker has read is copied at once: its buffer is the connection's, and
 * a handler may still look at a request whose client was told 504.
 */
#include "httpd/take.h"

#include <civetweb.h>

#include "core/mem.h"
#include "httpd/watch.h"

/* A head may have this many bytes; civetweb's buffer is a little larger. */
#define HEAD_MAX 15360
#define PIECE    8192

/*
 * civetweb cuts the fields in place, "name: value CR LF" to
 * "name\0 value\0\0", and stops without a word at a line it cannot read, a
 * folded one among them: a Content-Length behind it would be overlooked.
 * False unless the last field is followed by the empty line, CR LF, whose last
 * byte civetweb has set to NUL.
 */
static bool
is_whole(const struct mg_request_info *ri)
{
	const char *end;

	if (ri->num_headers == 0)
		return true;
	end = ri->http_headers[ri->num_headers - 1].value;
	end += strlen(end);
	return end[1] == '\0' && end[2] == '\r' && end[3] == '\0';
}

/* "name : value" is read as a field by some and as nothing by others. */
static bool
has_blank_before_colon(const struct mg_header *f)
{
	size_t n = strlen(f->name);

	return f->value > f->name + n + 1 && f->name[n + 1] == '\0';
}

/* The bytes of the head, or 0 if it is over HEAD_MAX. */
static size_t
head_size(const struct mg_request_info *ri)
{
	const char *last = ri->http_version;

	if (ri->num_headers > 0)
		last = ri->http_headers[ri->num_headers - 1].value;
	size_t n = (size_t)(last + strlen(last) - ri->request_method);
	return n <= HEAD_MAX ? n : 0;
}

/* A copy of s at *at, which moves behind it. */
static struct str
copy(char **at, const char *s)
{
	struct str out = { *at, strlen(s) };

	memcpy(*at, s, out.n + 1);
	*at += out.n + 1;
	return out;
}

static void
copy_fields(struct httpd_req *r, const struct mg_request_info *ri, char *at)
{
	r->nfields = (size_t)ri->num_headers;
	r->fields = mem_calloc(r->nfields + 1, sizeof(*r->fields));
	for (size_t i = 0; i < r->nfields; i++) {
		r->fields[i].name = copy(&at, ri->http_headers[i].name);
		r->fields[i].value = copy(&at, ri->http_headers[i].value);
	}
}

static enum rc
take_uri(
    struct httpd_req *r, struct str path, struct str query, const char **why)
{
	/* Both point into r->text, which is r's own to change. */
	char *text = r->text;
	enum rc rc = uri_split_path(&r->uri, text + (path.p - r->text), path.n);

	if (rc == RC_OK)
		rc = uri_split_query(
		    &r->uri, text + (query.p - r->text), query.n);
	if (rc == RC_INVALID)
		*why = "the address is not percent-encoded UTF-8";
	else if (rc == RC_TOOBIG)
		*why = "too many query parameters";
	return rc == RC_NOENT ? RC_OK : rc;
}

static void
take_trace(struct httpd_req *r)
{
	struct str parent =
	    head_find(r->fields, r->nfields, STR("traceparent"));

	if (parent.p == NULL || trace_parse(parent, &r->trace) != RC_OK)
		trace_new(&r->trace);
}

static enum rc
check_head(
    struct httpd_req *r, const struct mg_request_info *ri, const char **why)
{
	*why = "the header is broken";
	if (!is_whole(ri))
		return RC_INVALID;
	for (int i = 0; i < ri->num_headers; i++)
		if (has_blank_before_colon(&ri->http_headers[i]))
			return RC_INVALID;
	r->http11 = str_eq(str_of(ri->http_version), STR("1.1"));
	enum rc rc = head_read(&r->head, r->fields, r->nfields, r->http11);
	if (rc != RC_OK)
		*why = r->head.why;
	return rc;
}

void
take_peer(struct httpd_req *r, struct mg_connection *c)
{
	const struct mg_request_info *ri = mg_get_request_info(c);

	str_copy(
	    str_of(ri->remote_addr), r->remote_addr, sizeof(r->remote_addr));
	r->remote_port = ri->remote_port;
}

enum rc
take_head(struct httpd_req *r, struct mg_connection *c, const char **why)
{
	const struct mg_request_info *ri = mg_get_request_info(c);
	const char *raw = ri->local_uri_raw;
	const char *query = ri->query_string != NULL ? ri->query_string : "";
	size_t n = head_size(ri);

	if (n == 0 || ri->num_headers >= MG_MAX_HEADERS) {
		trace_new(&r->trace);
		*why = "the header is too large";
		return RC_TOOBIG;
	}
	/* Every text ends in the head as it does here, the path stands twice,
	 * and the query may be missing. */
	r->text = mem_alloc(n + strlen(raw) + 4);
	char *at = r->text;
	r->method = copy(&at, ri->request_method);
	r->path = copy(&at, raw);
	struct str path = copy(&at, raw);
	struct str params = copy(&at, query);
	copy_fields(r, ri, at);
	take_trace(r);

	enum rc rc = check_head(r, ri, why);
	if (rc != RC_OK)
		return rc;
	return take_uri(r, path, params, why);
}

/* How many bytes to ask for next; 0: the body is complete. */
static size_t
next_piece(const struct httpd_req *r)
{
	if (r->head.chunked)
		return PIECE;
	size_t left = (size_t)r->head.length - r->body.n;
	return left < PIECE ? left : PIECE;
}

static enum rc
read_pieces(struct httpd_req *r, struct mg_connection *c)
{
	char piece[PIECE];
	size_t want;

	while ((want = next_piece(r)) > 0) {
		int n = mg_read(c, piece, want);
		if (n < 0 || (n == 0 && !r->head.chunked))
			return RC_INVALID;
		if (n == 0)
			break;
		buf_put(&r->body, piece, (size_t)n);
		if (buf_rc(&r->body) != RC_OK)
			return RC_TOOBIG;
		if ((size_t)n < want && !r->head.chunked)
			return RC_INVALID;
	}
	return RC_OK;
}

enum rc
take_body(struct httpd *h, struct httpd_req *r, struct mg_connection *c)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct mono start = clock_mono();

	if (r->head.expect &&
	    mg_write(c, go_on, sizeof(go_on) - 1) < (int)sizeof(go_on) - 1)
		return RC_INVALID;
	watch_body(h, r, SERVER_BODY_MS);
	enum rc rc = read_pieces(r, c);
	watch_body_done(h, r);
	/* A read gives up after SERVER_HEADER_MS without a byte; a client that
	 * has gone is noticed sooner. */
	int64_t ms = mono_diff_ms(clock_mono(), start);
	if (rc == RC_INVALID && (ms >= SERVER_HEADER_MS || ms >= h->timeout_ms))
		rc = RC_TIMEOUT;
	return rc;
}

void
take_rest(struct httpd *h, struct httpd_req *r, struct mg_connection *c)
{
	struct mono due = mono_add_ms(clock_mono(), SERVER_REST_MS);
	char piece[PIECE];

	watch_body(h, r, SERVER_REST_MS);
	while (mg_read(c, piece, sizeof(piece)) > 0 && clock_mono().ns < due.ns)
		continue;
	watch_body_done(h, r);
}
