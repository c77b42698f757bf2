/*
 * A dead letter's message id is the item's position on its own stream, and the
 * kind of work for which it could not be done.
 */
#include "work/dead_letter.h"

#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "core/mem.h"
#include "core/trace.h"
#include "wire/out.h"
#include "wire/tree.h"

/* Code points of a text in a list. */
#define LIST_TEXT_MAX 60
#define NO_LIMIT      SIZE_MAX
#define UNKNOWN       "?"

/* ---- plain text ---- */

/* Whether a terminal would interpret c. */
static bool
dead_letter_is_control(int32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

/*
 * At most max code points of s; control characters, except those in allowed,
 * and invalid UTF-8 become '?'.
 */
static void
dead_letter_put_plain(
    struct buf *out, struct str s, size_t max, const char *allowed)
{
	size_t pos = 0, from, n;
	int32_t c;

	for (n = 0; pos < s.n; n++) {
		if (n == max) {
			buf_puts(out, "…");
			return;
		}
		from = pos;
		c = str_utf8_next(s, &pos);
		if (c < 0)
			pos = from + 1;
		if (c >= 0 &&
		    (!dead_letter_is_control(c) ||
			(c > 0 && c < 0x80 && strchr(allowed, c) != NULL)))
			buf_put(out, s.p + from, pos - from);
		else
			buf_putc(out, '?');
	}
}

static void
dead_letter_put_id(struct buf *out, const char *name, struct str id)
{
	buf_puts(out, name);
	if (id.p == NULL)
		buf_puts(out, UNKNOWN);
	else
		dead_letter_put_plain(out, id, NO_LIMIT, "");
}

/* ---- headers ---- */

void
dead_letter_headers(const char *why, int64_t deliveries, struct str id,
    struct dead_letter_headers *out)
{
	struct buf plain = BUF_INIT(4 * DEAD_LETTER_REASON_MAX);

	/* A header's value must not be empty, or begin or end with a blank. */
	dead_letter_put_plain(
	    &plain, str_trim(str_of(why)), DEAD_LETTER_REASON_MAX, "");
	str_copy(buf_str(&plain), out->why, sizeof(out->why));
	buf_free(&plain);
	str_copy(str_trim(str_of(out->why)), out->why, sizeof(out->why));
	if (out->why[0] == '\0')
		str_copy(STR("no reason given"), out->why, sizeof(out->why));
	snprintf(out->deliveries, sizeof(out->deliveries), "%lld",
	    (long long)deliveries);
	out->headers[0] = (struct bus_header){ DEAD_LETTER_REASON, out->why };
	out->headers[1] =
	    (struct bus_header){ DEAD_LETTER_DELIVERIES, out->deliveries };
	out->n = 2;
	if (id.n == 0 || id.n > DEAD_LETTER_ID_MAX)
		return;
	str_copy(id, out->id, sizeof(out->id));
	out->headers[out->n++] = (struct bus_header){ DEAD_LETTER_ID, out->id };
}

/* ---- reading ---- */

static struct str
dead_letter_member(struct arena *a, const struct wire_tree *v, const char *key)
{
	struct str s = wire_tree_text(wire_tree_get(v, str_of(key)));

	if (s.p == NULL)
		s = wire_tree_text(wire_tree_get(
		    wire_tree_get(v, STR("payload")), str_of(key)));
	return s.p == NULL ? s : arena_str(a, s);
}

void
dead_letter_read(
    const struct bus_stream_msg *m, struct arena *a, struct dead_letter *out)
{
	static const struct str dead = STR_INIT("soul.dead.");
	struct wire_tree *v = NULL;

	*out = (struct dead_letter){ .seq = m->seq,
		.at = m->stored,
		.why = bus_stream_msg_header(m, DEAD_LETTER_REASON),
		.item_id = bus_stream_msg_header(m, DEAD_LETTER_ID),
		.m = m };
	if (str_to_i64(bus_stream_msg_header(m, DEAD_LETTER_DELIVERIES), 0,
		INT64_MAX, &out->deliveries) != RC_OK)
		out->deliveries = 0;
	if (str_starts(m->subject, dead))
		out->kind = (struct str){ m->subject.p + dead.n,
			m->subject.n - dead.n };
	if (wire_tree_parse(m->data, &v) == RC_OK) {
		out->job_id = dead_letter_member(a, v, "job_id");
		out->user_id = dead_letter_member(a, v, "user_id");
		out->soul_id = dead_letter_member(a, v, "soul_id");
		out->text = dead_letter_member(a, v, "text");
		wire_tree_free(v);
	}
}

/* ---- writing ---- */

static void
dead_letter_put_reason(struct buf *out, const struct dead_letter *l)
{
	if (l->deliveries > 0)
		buf_printf(out, "%lld deliver%s: ", (long long)l->deliveries,
		    l->deliveries == 1 ? "y" : "ies");
	if (l->why.p != NULL)
		dead_letter_put_plain(out, l->why, NO_LIMIT, "");
	else
		buf_puts(out, "unknown reason");
}

void
dead_letter_write_line(const struct dead_letter *l, struct buf *out)
{
	char at[WALL_FORMAT_MAX];

	wall_format(l->at, 0, at);
	buf_printf(out, "%lld  %s  ", (long long)l->seq, at);
	dead_letter_put_plain(out, l->kind, NO_LIMIT, "");
	dead_letter_put_id(out, "  job ", l->job_id);
	dead_letter_put_id(out, "  user ", l->user_id);
	dead_letter_put_id(out, "  soul ", l->soul_id);
	buf_puts(out, "\n    ");
	dead_letter_put_reason(out, l);
	buf_puts(out, "\n    ");
	/* Without a text, show the raw data. */
	dead_letter_put_plain(
	    out, l->text.p != NULL ? l->text : l->m->data, LIST_TEXT_MAX, "");
	buf_putc(out, '\n');
}

static void
dead_letter_put_member(struct wire_out *o, const char *key, struct str s)
{
	wire_out_key(o, str_of(key));
	if (s.p != NULL)
		wire_out_str(o, s);
	else
		wire_out_null(o);
}

void
dead_letter_write_json(const struct dead_letter *l, struct buf *out)
{
	struct wire_out o = { .b = out };
	char at[WALL_FORMAT_MAX];

	wall_format(l->at, 0, at);
	wire_out_object(&o);
	wire_out_key(&o, STR("seq"));
	wire_out_i64(&o, l->seq);
	dead_letter_put_member(&o, "at", str_of(at));
	dead_letter_put_member(&o, "kind", l->kind);
	dead_letter_put_member(&o, "job_id", l->job_id);
	dead_letter_put_member(&o, "user_id", l->user_id);
	dead_letter_put_member(&o, "soul_id", l->soul_id);
	wire_out_key(&o, STR("deliveries"));
	if (l->deliveries > 0)
		wire_out_i64(&o, l->deliveries);
	else
		wire_out_null(&o);
	dead_letter_put_member(&o, "why", l->why);
	dead_letter_put_member(&o, "text", l->text);
	wire_out_key(&o, STR("bytes"));
	wire_out_i64(&o, (int64_t)l->m->data.n);
	wire_out_object_end(&o);
	buf_putc(out, '\n');
}

static void
dead_letter_put_field(struct buf *out, const char *name, struct str s)
{
	if (s.p == NULL)
		return;
	buf_puts(out, name);
	dead_letter_put_plain(out, s, NO_LIMIT, "");
	buf_putc(out, '\n');
}

void
dead_letter_write_full(const struct dead_letter *l, struct buf *out)
{
	char at[WALL_FORMAT_MAX];

	wall_format(l->at, 0, at);
	buf_printf(out, "seq      %lld\nat       %s\nwhy      ",
	    (long long)l->seq, at);
	dead_letter_put_reason(out, l);
	buf_putc(out, '\n');
	dead_letter_put_field(out, "subject  ", l->m->subject);
	dead_letter_put_field(
	    out, "id       ", bus_stream_msg_header(l->m, "Nats-Msg-Id"));
	dead_letter_put_field(out, "item     ", l->item_id);
	dead_letter_put_field(
	    out, "trace    ", bus_stream_msg_header(l->m, "traceparent"));
	buf_printf(out, "bytes    %zu\n\n", l->m->data.n);
	dead_letter_put_plain(out, l->m->data, NO_LIMIT, "\n\t");
	buf_putc(out, '\n');
}

#define PUBLISH_MS   5000
#define DEAD_AGE_S   (30 * 24L * 3600)
#define DEAD_SIZE    (64L * 1024 * 1024)
#define DUPLICATES_S 600
#define SUBJECT_MAX  128

enum rc
dead_letter_ensure_stream(
    struct bus *b, bool manager, bus_ready_fn ready, void *arg)
{
	static const char *const subjects[] = { WIRE_SUBJECT_ALL_JOB_DEAD };
	const struct bus_stream s = {
		.name = DEAD_LETTER_STREAM,
		.subjects = subjects,
		.n_subjects = NELEM(subjects),
		.max_age_s = DEAD_AGE_S,
		.max_bytes = DEAD_SIZE,
		.duplicates_s = DUPLICATES_S,
		.no_update = !manager,
		.ready = ready,
		.arg = arg,
	};

	return bus_stream_ensure(b, &s);
}

/* Publish with data as the payload. */
static enum rc
dead_letter_send(struct bus *b, const struct dead_letter_source *from,
    struct str data, const char *why, struct bus_pub_ack_handler on_ack)
{
	struct bus_delivery j = { 0 };
	struct dead_letter_headers note;
	struct trace trace;
	char id[SUBJECT_MAX], subject[SUBJECT_MAX];
	struct bus_meta meta = { .deadline = { clock_wall().ms + PUBLISH_MS },
		.msg_id = id,
		.headers = note.headers };

	(void)bus_msg_delivery(from->msg, &j);
	dead_letter_headers(why, j.delivered, from->id, &note);
	meta.nheaders = note.n;
	snprintf(id, sizeof(id), "%s.%lld.%s", from->stream, (long long)j.seq,
	    from->kind);
	snprintf(subject, sizeof(subject), DEAD_LETTER_SUBJECT_FMT, from->kind);
	if (bus_msg_trace(from->msg, &trace))
		meta.trace = &trace;
	return bus_stream_publish(b, subject, data, &meta, on_ack);
}

enum rc
dead_letter_publish(struct bus *b, const struct dead_letter_source *from,
    const char *why, struct bus_pub_ack_handler on_ack)
{
	struct str data = bus_msg_data(from->msg);
	struct bus_delivery j = { 0 };
	char text[192];
	enum rc rc;

	(void)bus_msg_delivery(from->msg, &j);
	log_error("work.dead", LOG_S("kind", from->kind),
	    LOG_S("stream", from->stream), LOG_I("seq", j.seq),
	    LOG_V("item", from->id), LOG_I("delivered", j.delivered),
	    LOG_S("why", why));
	rc = dead_letter_send(b, from, data, why, on_ack);
	if (rc != RC_TOOBIG)
		return rc;
	/* Our own services publish smaller ones; it is still on its stream. */
	snprintf(text, sizeof(text),
	    "%zu bytes exceed the limit of a dead letter: %s has it as %lld",
	    data.n, from->stream, (long long)j.seq);
	return dead_letter_send(b, from, STR(""), text, on_ack);
}
