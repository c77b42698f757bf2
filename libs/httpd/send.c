/*
 * The bytes that leave.  Head and body go in one write where they are small, so
 * that an answer is one packet.
 */
#include "httpd/send.h"

#include <civetweb.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "httpd/conn.h"
#include "httpd/watch.h"

/* A body up to this size is copied behind its head. */
#define JOIN_MAX 65536
#define HEAD_MAX 2048
/* What one call of civetweb's may hold the worker for without progress. */
#define SLICE 65536

#define COMMENT ": ka\n\n"

static bool
write_all(struct mg_connection *c, struct str s)
{
	struct mono due = mono_add_ms(clock_mono(), SERVER_SEND_MS);

	while (s.n > 0) {
		size_t n = s.n < SLICE ? s.n : SLICE;
		if (mg_write(c, s.p, n) != (int)n)
			return false;
		s.p += n;
		s.n -= n;
		if (s.n > 0 && mono_diff_ns(clock_mono(), due) > 0)
			return false;
	}
	return true;
}

/* n in decimal with at least width digits; printf takes ten times as long. */
static void
put_number(struct buf *b, uint64_t n, size_t width)
{
	char digits[20];
	size_t i = sizeof(digits);

	do {
		digits[--i] = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0 || sizeof(digits) - i < width);
	buf_put(b, digits + i, sizeof(digits) - i);
}

static void
put_field(struct buf *b, const char *name, const char *value)
{
	buf_puts(b, name);
	buf_puts(b, value);
	buf_puts(b, "\r\n");
}

static void
put_number_field(struct buf *b, const char *name, uint64_t value)
{
	buf_puts(b, name);
	put_number(b, value, 1);
	buf_puts(b, "\r\n");
}

/* An IMF-fixdate, in English whatever the locale. */
static void
put_date(struct buf *b)
{
	static const char days[7][6] = { "Sun, ", "Mon, ", "Tue, ", "Wed, ",
		"Thu, ", "Fri, ", "Sat, " };
	static const char months[12][6] = { " Jan ", " Feb ", " Mar ", " Apr ",
		" May ", " Jun ", " Jul ", " Aug ", " Sep ", " Oct ", " Nov ",
		" Dec " };
	time_t now = (time_t)(clock_wall().ms / 1000);
	struct tm tm;

	if (gmtime_r(&now, &tm) == NULL)
		return;
	buf_puts(b, "Date: ");
	buf_puts(b, days[tm.tm_wday]);
	put_number(b, (uint64_t)tm.tm_mday, 2);
	buf_puts(b, months[tm.tm_mon]);
	put_number(b, (uint64_t)(tm.tm_year + 1900), 4);
	buf_putc(b, ' ');
	put_number(b, (uint64_t)tm.tm_hour, 2);
	buf_putc(b, ':');
	put_number(b, (uint64_t)tm.tm_min, 2);
	buf_putc(b, ':');
	put_number(b, (uint64_t)tm.tm_sec, 2);
	buf_puts(b, " GMT\r\n");
}

static void
put_head(struct buf *b, struct mg_connection *c, int status,
    const struct trace *trace)
{
	char parent[TRACE_PARENT_MAX];

	buf_puts(b, "HTTP/1.1 ");
	put_number(b, (uint64_t)status, 3);
	buf_putc(b, ' ');
	put_field(b, "", mg_get_response_code_text(c, status));
	put_date(b);
	trace_format(trace, parent);
	put_field(b, "traceparent: ", parent);
}

static bool
has_body(int status)
{
	return status >= 200 && status != 204 && status != 304;
}

/* That a bearer token is wanted, and what is wrong with the one that came. */
static void
put_challenge(struct buf *b, const char *error)
{
	buf_puts(b, "WWW-Authenticate: Bearer realm=\"soul\"");
	if (error != NULL)
		buf_printf(b, ", error=\"%s\"", error);
	buf_puts(b, "\r\n");
}

bool
send_answer(struct mg_connection *c, const struct send_answer *a)
{
	struct buf b = BUF_INIT(HEAD_MAX + JOIN_MAX);
	bool ok;

	/* Tells civetweb, which closes once the request has been served. */
	if (a->close)
		mg_disable_connection_keep_alive(c);
	put_head(&b, c, a->status, a->trace);
	if (has_body(a->status)) {
		if (a->type[0] != '\0')
			put_field(&b, "Content-Type: ", a->type);
		put_number_field(&b, "Content-Length: ", a->body.n);
		buf_puts(&b, "Cache-Control: no-store\r\n");
	}
	cors_put(a->cors, a->allow_origin, &b);
	if (a->methods != NULL)
		cors_put_preflight(a->methods, &b);
	if (a->allow != NULL)
		put_field(&b, "Allow: ", a->allow);
	if (a->status == 401 || a->challenge != NULL)
		put_challenge(&b, a->challenge);
	if (a->retry_after_s > 0)
		put_number_field(
		    &b, "Retry-After: ", (uint64_t)a->retry_after_s);
	if (a->close) {
		buf_puts(&b, "Connection: close\r\n\r\n");
	} else {
		buf_puts(&b, "Connection: keep-alive\r\n");
		put_number_field(
		    &b, "Keep-Alive: timeout=", SERVER_KEEP_MS / 1000);
		buf_puts(&b, "\r\n");
	}
	if (!has_body(a->status) || a->head_only) {
		ok = write_all(c, buf_str(&b));
	} else if (a->body.n <= JOIN_MAX) {
		buf_put_str(&b, a->body);
		ok = write_all(c, buf_str(&b));
	} else {
		ok = write_all(c, buf_str(&b)) && write_all(c, a->body);
	}
	buf_free(&b);
	return ok;
}

/* Send bytes of a stream, as a chunk of their own if chunked. */
static bool
send_chunk(
    struct mg_connection *c, struct buf *frame, struct str s, bool chunked)
{
	if (!chunked)
		return write_all(c, s);
	buf_reset(frame);
	buf_printf(frame, "%zx\r\n", s.n);
	buf_put_str(frame, s);
	buf_puts(frame, "\r\n");
	return buf_rc(frame) == RC_OK && write_all(c, buf_str(frame));
}

/* A stream that cannot be chunked ends with its connection. */
static bool
stream_closes(const struct httpd_req *r)
{
	return (r->raw && !r->keep) || !r->http11 || !r->head.keep;
}

static bool
send_stream_head(
    const struct httpd *h, struct mg_connection *c, const struct httpd_req *r)
{
	struct buf b = BUF_INIT(HEAD_MAX);

	put_head(&b, c, 200, &r->trace);
	put_field(&b, "Content-Type: ",
	    r->lines ? "application/x-ndjson" : "text/event-stream");
	cors_put(&h->cors, r->allow_origin, &b);
	buf_puts(&b,
	    "Cache-Control: no-store, no-transform\r\n"
	    "X-Accel-Buffering: no\r\n");
	if (r->http11)
		buf_puts(&b, "Transfer-Encoding: chunked\r\n");
	buf_printf(&b, "Connection: %s\r\n\r\n",
	    stream_closes(r) ? "close" : "keep-alive");
	bool ok = write_all(c, buf_str(&b));
	buf_free(&b);
	return ok;
}

/* True when the stream ended as its handler wished. */
static bool
send_events(struct httpd *h, struct httpd_req *r, struct mg_connection *c)
{
	bool chunked = r->http11 && !r->raw;
	struct buf chunk = BUF_INIT(HTTPD_RESPONSE_MAX);
	struct buf frame = BUF_INIT(HTTPD_RESPONSE_MAX + 64);
	struct mono until = mono_add_ms(clock_mono(), h->comment_ms);
	int fd = -1;
	bool ok = true;
	enum rc rc = RC_OK;

	while (ok && (rc == RC_OK || rc == RC_TIMEOUT || rc == RC_RETRY)) {
		rc = req_stream_next(r, until, &chunk);
		if (rc == RC_OK)
			ok = send_chunk(c, &frame, buf_str(&chunk), chunked);
		else if (rc == RC_TIMEOUT && !r->raw && !r->lines)
			ok = send_chunk(c, &frame, STR(COMMENT), chunked);
		else if (rc == RC_RETRY)
			ok = !watch_gone(h, r, &fd);
		if (rc != RC_RETRY)
			until = mono_add_ms(clock_mono(), h->comment_ms);
	}
	/* Nobody changes it any more. */
	if (rc == RC_NOENT && r->cut)
		ok = false;
	if (ok && rc == RC_NOENT && chunked)
		ok = write_all(c, STR("0\r\n\r\n"));
	if (fd >= 0)
		close(fd);
	buf_free(&chunk);
	buf_free(&frame);
	return ok && rc == RC_NOENT;
}

void
send_stream(struct httpd *h, struct httpd_req *r, struct mg_connection *c)
{
	bool sent =
	    (r->raw || send_stream_head(h, c, r)) && send_events(h, r, c);

	if (!sent || stream_closes(r))
		mg_disable_connection_keep_alive(c);
	req_leave(r);
	req_tell_gone(r, h->loop);
}
