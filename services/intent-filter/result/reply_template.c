/*
 * The values are found by scanning the reply, not by how it was encoded; but
 * what the encoder has written is valid, so that most of it is skipped.
 */
#include "result/reply_template.h"

#include <stdbool.h>
#include <string.h>

#include "wire/out.h"
#include "wire/slice.h"

/* What is found in a reply: the first value of each, and how many there are. */
struct template_scan {
	struct str request_id, meta, latency, now;
	unsigned n;
};

static bool
template_scan_is(const struct wire_slice *s, struct str name)
{
	return !s->escaped && str_eq(s->key, name);
}

/* Objects and arrays need no look inside. */
static enum rc
template_scan_skip(
    void *arg, const struct wire_slice *s, struct wire_slice_extent *x)
{
	(void)arg;
	if ((s->value.p[0] != '{' && s->value.p[0] != '[') ||
	    wire_slice_extent(s->value, x) != RC_OK)
		return RC_NOENT;
	return RC_OK;
}

static void
template_scan_reply(void *arg, const struct wire_slice *s)
{
	struct template_scan *scan = arg;

	if (template_scan_is(s, STR("request_id"))) {
		scan->request_id = s->value;
		scan->n++;
	} else if (template_scan_is(s, STR("meta"))) {
		scan->meta = s->value;
		scan->n++;
	}
}

static void
template_scan_meta(void *arg, const struct wire_slice *s)
{
	struct template_scan *scan = arg;

	if (template_scan_is(s, STR("latency_ms"))) {
		scan->latency = s->value;
		scan->n++;
	} else if (template_scan_is(s, STR("now"))) {
		scan->now = s->value;
		scan->n++;
	}
}

/* Whether all of them are there, once each, in the order of the template. */
static bool
template_scan_run(struct template_scan *scan, struct str reply)
{
	struct wire_slice_handler outer = { .each = template_scan_reply,
		.known = template_scan_skip,
		.arg = scan };
	struct wire_slice_handler inner = { .each = template_scan_meta,
		.known = template_scan_skip,
		.arg = scan };

	return wire_slice_each(reply, &outer) == RC_OK && scan->n == 2 &&
	    scan->request_id.p != NULL && scan->meta.p != NULL &&
	    wire_slice_each(scan->meta, &inner) == RC_OK && scan->n == 4 &&
	    scan->latency.p != NULL && scan->now.p != NULL &&
	    scan->request_id.p < scan->latency.p &&
	    scan->latency.p < scan->now.p;
}

enum rc
reply_template_make(struct str reply, struct arena *a, struct reply_template *t)
{
	struct template_scan scan = { .n = 0 };
	char *text = arena_bytes(a, reply.n + 1);
	const char *end = reply.p + reply.n;
	size_t n;

	if (text == NULL)
		return RC_TOOBIG;
	if (!template_scan_run(&scan, reply))
		return RC_INVALID;
	const struct str values[] = { scan.request_id, scan.latency, scan.now };
	size_t *const at[] = { &t->request_id_at, &t->latency_at, &t->now_at };
	const char *from = reply.p;
	n = 0;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		memcpy(text + n, from, (size_t)(values[i].p - from));
		n += (size_t)(values[i].p - from);
		*at[i] = n;
		from = values[i].p + values[i].n;
	}
	memcpy(text + n, from, (size_t)(end - from));
	t->text = (struct str){ text, n + (size_t)(end - from) };
	return RC_OK;
}

static void
template_put_text(struct buf *out, struct str value)
{
	buf_putc(out, '"');
	buf_put_str(out, value);
	buf_putc(out, '"');
}

void
reply_template_fill(const struct reply_template *t,
    const struct reply_values *v, struct buf *out)
{
	struct wire_out number = { .b = out };
	const char *p = t->text.p;

	buf_put(out, p, t->request_id_at);
	template_put_text(out, v->request_id);
	buf_put(out, p + t->request_id_at, t->latency_at - t->request_id_at);
	wire_out_f64(&number, v->latency_ms);
	buf_put(out, p + t->latency_at, t->now_at - t->latency_at);
	template_put_text(out, v->now);
	buf_put(out, p + t->now_at, t->text.n - t->now_at);
}
