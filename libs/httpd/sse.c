/*
 * Streamed responses: server-sent events, JSON lines, raw bytes.  The handler
 * appends to the request's buffer, the worker swaps it out and sends it.
 */
#include "core/mem.h"
#include "httpd/httpd_internal.h"

/* After which time a client reconnects. */
#define RETRY_LINE "retry: 2000\n\n"

enum stream_form { FORM_EVENTS, FORM_LINES, FORM_RAW, FORM_RAW_PERSISTENT };

static void
stream_start(struct httpd_req *r, int status, enum stream_form stream_form)
{
	pthread_mutex_lock(&r->lock);
	if (r->state == REQUEST_OPEN && !r->abandoned) {
		r->state = REQUEST_STREAM;
		atomic_store_explicit(
		    &r->seen, REQUEST_STREAM, memory_order_release);
		r->status = status;
		r->raw = stream_form == FORM_RAW ||
		    stream_form == FORM_RAW_PERSISTENT;
		r->lines = stream_form == FORM_LINES;
		r->persistent = stream_form == FORM_RAW_PERSISTENT;
		if (stream_form == FORM_EVENTS)
			buf_puts(&r->out, RETRY_LINE);
		pthread_cond_signal(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
}

void
httpd_sse_start(struct httpd_req *r)
{
	stream_start(r, 200, FORM_EVENTS);
}

void
httpd_lines_start(struct httpd_req *r)
{
	stream_start(r, 200, FORM_LINES);
}

void
httpd_lines_truncate(struct httpd_req *r)
{
	pthread_mutex_lock(&r->lock);
	r->truncated = true;
	pthread_mutex_unlock(&r->lock);
}

void
httpd_raw_start(struct httpd_req *r, int status, bool persistent)
{
	stream_start(r, status, persistent ? FORM_RAW_PERSISTENT : FORM_RAW);
}

/* Whether s fits into one line. */
static bool
sse_one_line(const char *s)
{
	return s == NULL || strpbrk(s, "\r\n") == NULL;
}

/* "data: " before each line; CR LF, CR and LF end a line alike. */
static void
sse_put_data(struct buf *b, struct str data)
{
	size_t at = 0, end;

	for (;;) {
		end = at;
		while (
		    end < data.n && data.p[end] != '\r' && data.p[end] != '\n')
			end++;
		buf_puts(b, "data: ");
		buf_put(b, data.n > 0 ? data.p + at : "", end - at);
		buf_putc(b, '\n');
		if (end >= data.n)
			return;
		at = end + 1;
		if (data.p[end] == '\r' && at < data.n && data.p[at] == '\n')
			at++;
	}
}

static void
sse_put_event(struct buf *b, const char *event, const char *id, struct str data)
{
	if (id != NULL)
		buf_printf(b, "id: %s\n", id);
	if (event != NULL)
		buf_printf(b, "event: %s\n", event);
	sse_put_data(b, data);
	buf_putc(b, '\n');
}

/* To be queued: an event, a comment, or raw bytes. */
struct stream_item {
	const char *event, *id, *comment;
	struct str data;
	bool raw;
};

static void
stream_put_item(struct buf *b, const struct stream_item *p)
{
	if (p->raw)
		buf_put_str(b, p->data);
	else if (p->comment != NULL)
		buf_printf(b, ": %s\n\n", p->comment);
	else
		sse_put_event(b, p->event, p->id, p->data);
}

static enum rc
stream_queue(struct httpd_req *r, const struct stream_item *p)
{
	enum rc rc = RC_OK;

	pthread_mutex_lock(&r->lock);
	if (r->overflow) {
		rc = RC_TOOBIG;
	} else if (r->abandoned || r->closing || r->state != REQUEST_STREAM) {
		rc = RC_DOWN;
	} else {
		size_t before = r->out.n;
		if (before <= HTTPD_STREAM_MAX)
			stream_put_item(&r->out, p);
		if (r->out.over || before > HTTPD_STREAM_MAX) {
			rc = RC_TOOBIG;
			r->overflow = true;
		}
		if (before == 0 || r->overflow)
			pthread_cond_signal(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
	return rc;
}

size_t
httpd_stream_pending(struct httpd_req *r)
{
	pthread_mutex_lock(&r->lock);
	size_t n = r->out.n;
	pthread_mutex_unlock(&r->lock);
	return n;
}

enum rc
httpd_sse_comment(struct httpd_req *r, const char *text)
{
	if (!sse_one_line(text))
		return RC_INVALID;
	return stream_queue(r, &(struct stream_item){ .comment = text });
}

enum rc
httpd_sse_send(
    struct httpd_req *r, const char *event, const char *id, struct str data)
{
	if (!sse_one_line(event) || !sse_one_line(id))
		return RC_INVALID;
	return stream_queue(
	    r, &(struct stream_item){ .event = event, .id = id, .data = data });
}

enum rc
httpd_raw_send(struct httpd_req *r, struct str bytes)
{
	return stream_queue(
	    r, &(struct stream_item){ .data = bytes, .raw = true });
}

enum rc
httpd_lines_send(struct httpd_req *r, struct str lines)
{
	return httpd_raw_send(r, lines);
}

void
httpd_stream_abort(struct httpd_req *r)
{
	pthread_mutex_lock(&r->lock);
	r->overflow = true;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

void
httpd_stream_end(struct httpd_req *r)
{
	request_clear_abort(r);
	pthread_mutex_lock(&r->lock);
	if (r->state == REQUEST_STREAM)
		r->state = REQUEST_ENDED;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	request_unref(r);
}
