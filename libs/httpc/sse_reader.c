/*
 * A line ends at CR LF, LF or CR; as the CR may be the last byte of a chunk,
 * its LF is skipped at the start of the next one.
 */
#include "httpc/sse_reader.h"

#define TYPE_DEFAULT "message"

void
sse_reader_init(struct sse_reader *p, size_t max)
{
	*p = (struct sse_reader){ .retry_ms = -1, .first = true };
	buf_init(&p->line, max);
	buf_init(&p->data, max + 1); /* the last LF is removed */
	buf_init(&p->type, max);
	buf_init(&p->id, max);
}

void
sse_reader_free(struct sse_reader *p)
{
	buf_free(&p->line);
	buf_free(&p->data);
	buf_free(&p->type);
	buf_free(&p->id);
}

static enum rc
sse_dispatch(struct sse_reader *p, sse_reader_fn fn, void *arg)
{
	struct sse_event e = { .type = buf_str(&p->type),
		.data = buf_str(&p->data),
		.id = buf_str(&p->id) };
	enum rc rc = RC_OK;

	if (e.data.n > 0) {
		e.data.n--;
		if (e.type.n == 0)
			e.type = STR(TYPE_DEFAULT);
		rc = fn(arg, &e);
	}
	buf_reset(&p->data);
	buf_reset(&p->type);
	return rc;
}

/* A value with anything but digits is ignored. */
static void
sse_set_retry(struct sse_reader *p, struct str value)
{
	size_t i;
	int64_t ms;

	for (i = 0; i < value.n; i++)
		if (value.p[i] < '0' || value.p[i] > '9')
			return;
	if (str_to_i64(value, 0, INT64_MAX, &ms) == RC_OK)
		p->retry_ms = ms;
}

static enum rc
sse_set_field(struct sse_reader *p, struct str name, struct str value)
{
	if (str_eq(name, STR("data"))) {
		buf_put_str(&p->data, value);
		buf_putc(&p->data, '\n');
		return buf_rc(&p->data);
	}
	if (str_eq(name, STR("event"))) {
		buf_reset(&p->type);
		buf_put_str(&p->type, value);
	} else if (str_eq(name, STR("id"))) {
		if (value.n > 0 && memchr(value.p, '\0', value.n) != NULL)
			return RC_OK;
		buf_reset(&p->id);
		buf_put_str(&p->id, value);
	} else if (str_eq(name, STR("retry"))) {
		sse_set_retry(p, value);
	}
	return RC_OK;
}

static enum rc
sse_parse_line(struct sse_reader *p, sse_reader_fn fn, void *arg)
{
	struct str value = buf_str(&p->line);

	if (p->first && str_starts(value, STR("\xef\xbb\xbf"))) {
		value.p += 3;
		value.n -= 3;
	}
	p->first = false;
	if (value.n == 0)
		return sse_dispatch(p, fn, arg);
	struct str name = str_split(&value, ':');
	if (name.n == 0)
		return RC_OK;
	if (value.p == NULL)
		value = STR("");
	if (value.n > 0 && value.p[0] == ' ') {
		value.p++;
		value.n--;
	}
	return sse_set_field(p, name, value);
}

/* The number of bytes of s before the end of its first line, or all. */
static size_t
sse_line_length(struct str s)
{
	size_t n = 0;

	while (n < s.n && s.p[n] != '\n' && s.p[n] != '\r')
		n++;
	return n;
}

enum rc
sse_reader_feed(
    struct sse_reader *p, struct str chunk, sse_reader_fn fn, void *arg)
{
	while (chunk.n > 0) {
		if (p->skip_lf && chunk.p[0] == '\n') {
			p->skip_lf = false;
			chunk.p++;
			chunk.n--;
			continue;
		}
		p->skip_lf = false;
		size_t n = sse_line_length(chunk);
		buf_put(&p->line, chunk.p, n);
		if (buf_rc(&p->line) != RC_OK)
			return RC_TOOBIG;
		if (n == chunk.n)
			break;
		p->skip_lf = chunk.p[n] == '\r';
		chunk.p += n + 1;
		chunk.n -= n + 1;
		enum rc rc = sse_parse_line(p, fn, arg);
		buf_reset(&p->line);
		if (rc != RC_OK)
			return rc;
	}
	return RC_OK;
}
