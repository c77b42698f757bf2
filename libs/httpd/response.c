/*
 * Responses: set by the handler or the worker, written by the worker.  Header
 * and body are one write where they are small, so that a response is one
 * packet.
 */
#include <civetweb.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "httpd/httpd_internal.h"
#include "wire/out.h"

/* ---- setting the response of a request ---- */

void
response_error_json(struct buf *out, const char *code, const char *text,
    const struct trace *trace)
{
	struct wire_out o = { .b = out };

	wire_out_object(&o);
	wire_out_key(&o, STR("error"));
	wire_out_str(&o, str_of(text));
	wire_out_key(&o, STR("code"));
	wire_out_str(&o, str_of(code));
	wire_out_key(&o, STR("trace_id"));
	wire_out_str(&o, str_of(trace->trace_id));
	wire_out_object_end(&o);
}

/* Retry-After of 429 and 503; 0: none. */
static int
response_retry_after(const struct httpd_req *r, int status)
{
	if (status != 429 && status != 503)
		return 0;
	return r->retry_s > 0 ? r->retry_s : 1;
}

/* Make the bytes in r->out the response. */
static void
response_commit(struct httpd_req *r, int status, const char *type)
{
	r->status = status;
	r->retry_after_s = response_retry_after(r, status);
	str_copy(str_of(type), r->type, sizeof(r->type));
	r->state = REQUEST_RESPONDED;
	atomic_store_explicit(
	    &r->seen, REQUEST_RESPONDED, memory_order_release);
}

/* Signal after unlocking: otherwise the worker would wait for the lock. */
static void
response_unlock_signal(struct httpd_req *r)
{
	pthread_mutex_unlock(&r->lock);
	pthread_cond_signal(&r->changed);
}

static void
response_put_error(
    struct httpd_req *r, int status, const char *code, const char *text)
{
	buf_reset(&r->out);
	response_error_json(&r->out, code, text, &r->trace);
	if (buf_rc(&r->out) != RC_OK)
		buf_reset(&r->out);
	response_commit(r, status, "application/json");
}

static void
response_set(struct httpd_req *r, int status, const char *type, struct str body)
{
	pthread_mutex_lock(&r->lock);
	if (r->state == REQUEST_OPEN && !r->abandoned) {
		buf_put_str(&r->out, body);
		if (buf_rc(&r->out) == RC_OK) {
			response_commit(r, status, type != NULL ? type : "");
		} else {
			log_error("httpd.response_too_big",
			    LOG_V("path", r->path), LOG_I("bytes", body.n));
			response_put_error(
			    r, 500, rc_name(RC_BUG), "the response is too big");
		}
	}
	response_unlock_signal(r);
}

static void
response_set_error(
    struct httpd_req *r, int status, const char *code, const char *text)
{
	pthread_mutex_lock(&r->lock);
	if (r->state == REQUEST_OPEN && !r->abandoned)
		response_put_error(r, status, code, text);
	response_unlock_signal(r);
}

void
httpd_retry_after(struct httpd_req *r, int seconds)
{
	r->retry_s = seconds;
}

void
httpd_challenge(struct httpd_req *r, const char *error)
{
	r->challenge = error;
}

void
httpd_respond(
    struct httpd_req *r, int status, const char *type, struct str body)
{
	request_clear_abort(r);
	response_set(r, status, type, body);
	request_unref(r);
}

void
httpd_respond_error(struct httpd_req *r, enum rc rc, const char *text)
{
	request_clear_abort(r);
	response_set_error(r, rc_http_status(rc), rc_name(rc), text);
	request_unref(r);
}

/* ---- writing to the connection ---- */

/* What most heads need. */
#define HEAD_BYTES 512
/* Bytes of one write, between which SERVER_SEND_MS is checked. */
#define SLICE 65536

#define COMMENT ": ka\n\n"

static bool
response_write_all(struct mg_connection *c, struct str s)
{
	struct mono due = { 0 };

	if (s.n > SLICE)
		due = mono_add_ms(clock_mono(), SERVER_SEND_MS);
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
response_put_number(struct buf *b, uint64_t n, size_t width)
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
response_put_header(struct buf *b, const char *name, const char *value)
{
	buf_puts(b, name);
	buf_puts(b, value);
	buf_puts(b, "\r\n");
}

static void
response_put_number_header(struct buf *b, const char *name, uint64_t value)
{
	buf_puts(b, name);
	response_put_number(b, value, 1);
	buf_puts(b, "\r\n");
}

/* An IMF-fixdate, in English whatever the locale. */
static void
response_make_date(struct buf *b, time_t now)
{
	static const char days[7][6] = { "Sun, ", "Mon, ", "Tue, ", "Wed, ",
		"Thu, ", "Fri, ", "Sat, " };
	static const char months[12][6] = { " Jan ", " Feb ", " Mar ", " Apr ",
		" May ", " Jun ", " Jul ", " Aug ", " Sep ", " Oct ", " Nov ",
		" Dec " };
	struct tm tm;

	if (gmtime_r(&now, &tm) == NULL)
		return;
	buf_puts(b, "Date: ");
	buf_puts(b, days[tm.tm_wday]);
	response_put_number(b, (uint64_t)tm.tm_mday, 2);
	buf_puts(b, months[tm.tm_mon]);
	response_put_number(b, (uint64_t)(tm.tm_year + 1900), 4);
	buf_putc(b, ' ');
	response_put_number(b, (uint64_t)tm.tm_hour, 2);
	buf_putc(b, ':');
	response_put_number(b, (uint64_t)tm.tm_min, 2);
	buf_putc(b, ':');
	response_put_number(b, (uint64_t)tm.tm_sec, 2);
	buf_puts(b, " GMT\r\n");
}

/* It is the same for a second. */
static void
response_put_date(struct buf *b, struct response_date *last, struct wall now)
{
	time_t at = (time_t)(now.ms / 1000);

	if (last->n == 0 || last->at != at) {
		struct buf text = BUF_INIT(sizeof(last->text));

		response_make_date(&text, at);
		last->at = at;
		last->n = text.n;
		if (text.n > 0)
			memcpy(last->text, text.p, text.n);
		buf_free(&text);
	}
	buf_put(b, last->text, last->n);
}

static void
response_put_head(
    struct buf *b, struct mg_connection *c, const struct response *a)
{
	char parent[TRACE_PARENT_MAX];

	buf_puts(b, "HTTP/1.1 ");
	response_put_number(b, (uint64_t)a->status, 3);
	buf_putc(b, ' ');
	response_put_header(b, "", mg_get_response_code_text(c, a->status));
	response_put_date(b, a->date, a->now);
	trace_format(a->trace, parent);
	response_put_header(b, "traceparent: ", parent);
}

static bool
response_has_body(int status)
{
	return status >= 200 && status != 204 && status != 304;
}

/* A bearer token is required; error says what is wrong with the one sent. */
static void
response_put_challenge(struct buf *b, const char *error)
{
	buf_puts(b, "WWW-Authenticate: Bearer realm=\"soul\"");
	if (error != NULL)
		buf_printf(b, ", error=\"%s\"", error);
	buf_puts(b, "\r\n");
}

bool
response_send(struct mg_connection *c, const struct response *a)
{
	struct buf *b = a->sent;
	bool joined = a->body.n <= RESPONSE_BODY_JOINED_MAX;

	/* civetweb closes the connection after the request. */
	if (a->close)
		mg_disable_connection_keep_alive(c);
	(void)buf_reserve(b, HEAD_BYTES + (joined ? a->body.n : 0));
	response_put_head(b, c, a);
	if (response_has_body(a->status)) {
		if (a->type[0] != '\0') {
			buf_puts(b, "Content-Type: ");
			buf_puts(b, a->type);
			buf_puts(b, "\r\n");
		}
		response_put_number_header(b, "Content-Length: ", a->body.n);
		if (a->file == NULL)
			buf_puts(b, "Cache-Control: no-store\r\n");
	}
	if (a->file != NULL)
		file_put_fields(a->file, a->gzip, b);
	cors_write(a->cors, a->allow_origin, b);
	if (a->methods != NULL)
		cors_write_preflight(a->methods, b);
	if (a->allow != NULL)
		response_put_header(b, "Allow: ", a->allow);
	if (a->status == 401 || a->challenge != NULL)
		response_put_challenge(b, a->challenge);
	if (a->retry_after_s > 0)
		response_put_number_header(
		    b, "Retry-After: ", (uint64_t)a->retry_after_s);
	if (a->close) {
		buf_puts(b, "Connection: close\r\n\r\n");
	} else {
		buf_puts(b, "Connection: keep-alive\r\n");
		response_put_number_header(
		    b, "Keep-Alive: timeout=", SERVER_IDLE_MS / 1000);
		buf_puts(b, "\r\n");
	}
	if (!response_has_body(a->status) || a->head_only)
		return response_write_all(c, buf_str(b));
	if (joined)
		buf_put_str(b, a->body);
	return response_write_all(c, buf_str(b)) &&
	    (joined || response_write_all(c, a->body));
}

/* Send bytes of a stream, as one chunk if chunked. */
static bool
stream_send_chunk(
    struct mg_connection *c, struct buf *frame, struct str s, bool chunked)
{
	if (!chunked)
		return response_write_all(c, s);
	buf_reset(frame);
	buf_printf(frame, "%zx\r\n", s.n);
	buf_put_str(frame, s);
	buf_puts(frame, "\r\n");
	return buf_rc(frame) == RC_OK && response_write_all(c, buf_str(frame));
}

/* The end of a stream that is not chunked is the end of its connection. */
static bool
stream_closes(const struct httpd_req *r)
{
	return (r->raw && !r->persistent) || !r->http11 || !r->head.persistent;
}

static bool
stream_send_head(
    const struct httpd *h, struct mg_connection *c, struct httpd_req *r)
{
	struct buf b = BUF_INIT(RESPONSE_HEAD_MAX);

	response_put_head(&b, c,
	    &(struct response){ .status = 200,
		.trace = &r->trace,
		.date = &r->date,
		.now = clock_wall() });
	response_put_header(&b, "Content-Type: ",
	    r->lines ? "application/x-ndjson" : "text/event-stream");
	cors_write(&h->cors, r->allow_origin, &b);
	buf_puts(&b,
	    "Cache-Control: no-store, no-transform\r\n"
	    "X-Accel-Buffering: no\r\n");
	if (r->http11)
		buf_puts(&b, "Transfer-Encoding: chunked\r\n");
	buf_printf(&b, "Connection: %s\r\n\r\n",
	    stream_closes(r) ? "close" : "keep-alive");
	bool ok = response_write_all(c, buf_str(&b));
	buf_free(&b);
	return ok;
}

/* True if the handler ended the stream and all of it was sent. */
static bool
stream_send_chunks(
    struct httpd *h, struct httpd_req *r, struct mg_connection *c)
{
	bool chunked = r->http11 && !r->raw;
	struct buf chunk = BUF_INIT(HTTPD_RESPONSE_MAX);
	struct buf frame = BUF_INIT(HTTPD_RESPONSE_MAX + 64);
	struct mono until = mono_add_ms(clock_mono(), h->comment_ms);
	int fd = -1;
	bool ok = true;
	enum rc rc = RC_OK;

	while (ok && (rc == RC_OK || rc == RC_TIMEOUT || rc == RC_RETRY)) {
		rc = request_stream_next(r, until, &chunk);
		if (rc == RC_OK)
			ok = stream_send_chunk(
			    c, &frame, buf_str(&chunk), chunked);
		else if (rc == RC_TIMEOUT && !r->raw && !r->lines)
			ok =
			    stream_send_chunk(c, &frame, STR(COMMENT), chunked);
		else if (rc == RC_RETRY)
			ok = !reaper_client_disconnected(h, r, &fd);
		if (rc != RC_RETRY)
			until = mono_add_ms(clock_mono(), h->comment_ms);
	}
	/* Without the lock: the handler has ended r. */
	if (rc == RC_NOENT && r->truncated)
		ok = false;
	if (ok && rc == RC_NOENT && chunked)
		ok = response_write_all(c, STR("0\r\n\r\n"));
	if (fd >= 0)
		close(fd);
	buf_free(&chunk);
	buf_free(&frame);
	return ok && rc == RC_NOENT;
}

void
response_send_stream(
    struct httpd *h, struct httpd_req *r, struct mg_connection *c)
{
	bool sent = (r->raw || stream_send_head(h, c, r)) &&
	    stream_send_chunks(h, r, c);

	if (!sent || stream_closes(r))
		mg_disable_connection_keep_alive(c);
	request_abandon(r);
	request_notify_abort(r, h->loop);
}
