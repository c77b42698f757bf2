/*
 * Answers that go on: the handler appends to the request's buffer, the worker
 * swaps it out and sends it.
 */
#include "core/mem.h"
#include "httpd/req.h"

/* How long a client waits before it connects again. */
#define RETRY_LINE "retry: 2000\n\n"

enum form { FORM_EVENTS, FORM_LINES, FORM_RAW, FORM_RAW_KEEP };

static void
begin(struct httpd_req *r, int status, enum form form)
{
	pthread_mutex_lock(&r->lock);
	if (r->state == REQ_OPEN && !r->left) {
		r->state = REQ_STREAM;
		atomic_store(&r->settled, true);
		r->status = status;
		r->raw = form == FORM_RAW || form == FORM_RAW_KEEP;
		r->lines = form == FORM_LINES;
		r->keep = form == FORM_RAW_KEEP;
		if (form == FORM_EVENTS)
			buf_puts(&r->out, RETRY_LINE);
		pthread_cond_signal(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
}

void
httpd_sse_start(struct httpd_req *r)
{
	begin(r, 200, FORM_EVENTS);
}

void
httpd_lines_start(struct httpd_req *r)
{
	begin(r, 200, FORM_LINES);
}

void
httpd_lines_truncate(struct httpd_req *r)
{
	pthread_mutex_lock(&r->lock);
	r->cut = true;
	pthread_mutex_unlock(&r->lock);
}

void
httpd_raw_start(struct httpd_req *r, int status, bool keep)
{
	begin(r, status, keep ? FORM_RAW_KEEP : FORM_RAW);
}

/* Whether s fits in the line of a field. */
static bool
one_line(const char *s)
{
	return s == NULL || strpbrk(s, "\r\n") == NULL;
}

/* "data: " before each line; CR LF, CR and LF end a line alike. */
static void
put_data(struct buf *b, struct str data)
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
put_event(struct buf *b, const char *event, const char *id, struct str data)
{
	if (id != NULL)
		buf_printf(b, "id: %s\n", id);
	if (event != NULL)
		buf_printf(b, "event: %s\n", event);
	put_data(b, data);
	buf_putc(b, '\n');
}

/* What is queued: an event, a comment, or bytes as they are. */
struct part {
	const char *event, *id, *comment;
	struct str data;
	bool raw;
};

static void
put_part(struct buf *b, const struct part *p)
{
	if (p->raw)
		buf_put_str(b, p->data);
	else if (p->comment != NULL)
		buf_printf(b, ": %s\n\n", p->comment);
	else
		put_event(b, p->event, p->id, p->data);
}

static enum rc
queue(struct httpd_req *r, const struct part *p)
{
	enum rc rc = RC_OK;

	pthread_mutex_lock(&r->lock);
	if (r->over) {
		rc = RC_TOOBIG;
	} else if (r->left || r->closing || r->state != REQ_STREAM) {
		rc = RC_DOWN;
	} else {
		size_t before = r->out.n;
		if (before <= HTTPD_STREAM_MAX)
			put_part(&r->out, p);
		if (r->out.over || before > HTTPD_STREAM_MAX) {
			rc = RC_TOOBIG;
			r->over = true;
		}
		if (before == 0 || r->over)
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
	if (!one_line(text))
		return RC_INVALID;
	return queue(r, &(struct part){ .comment = text });
}

enum rc
httpd_sse_send(
    struct httpd_req *r, const char *event, const char *id, struct str data)
{
	if (!one_line(event) || !one_line(id))
		return RC_INVALID;
	return queue(
	    r, &(struct part){ .event = event, .id = id, .data = data });
}

enum rc
httpd_raw_send(struct httpd_req *r, struct str bytes)
{
	return queue(r, &(struct part){ .data = bytes, .raw = true });
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
	r->over = true;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

void
httpd_stream_end(struct httpd_req *r)
{
	req_forget(r);
	pthread_mutex_lock(&r->lock);
	if (r->state == REQ_STREAM)
		r->state = REQ_ENDED;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	req_drop(r);
}
