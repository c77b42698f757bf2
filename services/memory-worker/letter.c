/*
 * Reading and writing letters.
 */
#include "letter.h"

#include <stdio.h>
#include <string.h>

#include "core/trace.h"
#include "wire/out.h"
#include "wire/subjects.h"
#include "wire/tree.h"

/* Code points of a text that a list shows. */
#define SHORT_MAX 60
#define NO_LIMIT  SIZE_MAX
#define UNKNOWN   "?"

/* ---- plain text ------------------------------------------------------------
 */

/* Whether a terminal takes c for a command. */
static bool
is_control(int32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

/*
 * At most max code points of s, controls but those in allowed and what is no
 * UTF-8 as '?'.
 */
static void
put_plain(struct buf *out, struct str s, size_t max, const char *allowed)
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
		    (!is_control(c) ||
			(c > 0 && c < 0x80 && strchr(allowed, c) != NULL)))
			buf_put(out, s.p + from, pos - from);
		else
			buf_putc(out, '?');
	}
}

static void
put_id(struct buf *out, const char *name, struct str id)
{
	buf_puts(out, name);
	if (id.p == NULL)
		buf_puts(out, UNKNOWN);
	else
		put_plain(out, id, NO_LIMIT, "");
}

/* ---- notes -----------------------------------------------------------------
 */

void
letter_note(const char *why, int64_t deliveries, struct letter_note *out)
{
	struct buf plain = BUF_INIT(4 * LETTER_WHY_MAX);

	/* It must do as a header's value: neither empty nor with blank ends. */
	put_plain(&plain, str_trim(str_of(why)), LETTER_WHY_MAX, "");
	str_copy(buf_str(&plain), out->why, sizeof(out->why));
	buf_free(&plain);
	str_copy(str_trim(str_of(out->why)), out->why, sizeof(out->why));
	if (out->why[0] == '\0')
		str_copy(
		    STR("no reason was given"), out->why, sizeof(out->why));
	snprintf(out->deliveries, sizeof(out->deliveries), "%lld",
	    (long long)deliveries);
	out->headers[0] = (struct bus_header){ LETTER_WHY, out->why };
	out->headers[1] =
	    (struct bus_header){ LETTER_DELIVERIES, out->deliveries };
}

/* ---- reading ---------------------------------------------------------------
 */

static struct str
kept(struct arena *a, const struct wire_tree *v, const char *key)
{
	struct str s = wire_tree_text(wire_tree_get(v, str_of(key)));

	return s.p == NULL ? s : arena_str(a, s);
}

void
letter_read(const struct bus_stream_msg *m, struct arena *a, struct letter *out)
{
	static const struct str dead = STR_INIT("soul.dead.");
	struct wire_tree *v = NULL;

	*out = (struct letter){ .seq = m->seq,
		.at = m->stored,
		.why = bus_stream_msg_header(m, LETTER_WHY),
		.m = m };
	if (str_to_i64(bus_stream_msg_header(m, LETTER_DELIVERIES), 0,
		INT64_MAX, &out->deliveries) != RC_OK)
		out->deliveries = 0;
	if (str_starts(m->subject, dead))
		out->kind = (struct str){ m->subject.p + dead.n,
			m->subject.n - dead.n };
	if (wire_tree_parse(m->data, &v) == RC_OK) {
		out->job_id = kept(a, v, "job_id");
		out->user_id = kept(a, v, "user_id");
		out->soul_id = kept(a, v, "soul_id");
		out->text = kept(a, v, "text");
		wire_tree_free(v);
	}
}

/* ---- writing ---------------------------------------------------------------
 */

static void
put_why(struct buf *out, const struct letter *l)
{
	if (l->deliveries > 0)
		buf_printf(out, "%lld deliver%s: ", (long long)l->deliveries,
		    l->deliveries == 1 ? "y" : "ies");
	if (l->why.p != NULL)
		put_plain(out, l->why, NO_LIMIT, "");
	else
		buf_puts(out, "why is not known");
}

void
letter_line(const struct letter *l, struct buf *out)
{
	char at[WALL_FORMAT_MAX];

	wall_format(l->at, 0, at);
	buf_printf(out, "%lld  %s  ", (long long)l->seq, at);
	put_plain(out, l->kind, NO_LIMIT, "");
	put_id(out, "  job ", l->job_id);
	put_id(out, "  user ", l->user_id);
	put_id(out, "  soul ", l->soul_id);
	buf_puts(out, "\n    ");
	put_why(out, l);
	buf_puts(out, "\n    ");
	/* What has no text shows what it is instead. */
	put_plain(out, l->text.p != NULL ? l->text : l->m->data, SHORT_MAX, "");
	buf_putc(out, '\n');
}

static void
member(struct wire_out *o, const char *key, struct str s)
{
	wire_out_key(o, str_of(key));
	if (s.p != NULL)
		wire_out_str(o, s);
	else
		wire_out_null(o);
}

void
letter_json(const struct letter *l, struct buf *out)
{
	struct wire_out o = { .b = out };
	char at[WALL_FORMAT_MAX];

	wall_format(l->at, 0, at);
	wire_out_object(&o);
	wire_out_key(&o, STR("seq"));
	wire_out_i64(&o, l->seq);
	member(&o, "at", str_of(at));
	member(&o, "kind", l->kind);
	member(&o, "job_id", l->job_id);
	member(&o, "user_id", l->user_id);
	member(&o, "soul_id", l->soul_id);
	wire_out_key(&o, STR("deliveries"));
	if (l->deliveries > 0)
		wire_out_i64(&o, l->deliveries);
	else
		wire_out_null(&o);
	member(&o, "why", l->why);
	member(&o, "text", l->text);
	wire_out_key(&o, STR("bytes"));
	wire_out_i64(&o, (int64_t)l->m->data.n);
	wire_out_object_end(&o);
	buf_putc(out, '\n');
}

static void
head(struct buf *out, const char *name, struct str s)
{
	if (s.p == NULL)
		return;
	buf_puts(out, name);
	put_plain(out, s, NO_LIMIT, "");
	buf_putc(out, '\n');
}

void
letter_page(const struct letter *l, struct buf *out)
{
	char at[WALL_FORMAT_MAX];

	wall_format(l->at, 0, at);
	buf_printf(out, "seq      %lld\nat       %s\nwhy      ",
	    (long long)l->seq, at);
	put_why(out, l);
	buf_putc(out, '\n');
	head(out, "subject  ", l->m->subject);
	head(out, "id       ", bus_stream_msg_header(l->m, "Nats-Msg-Id"));
	head(out, "trace    ", bus_stream_msg_header(l->m, "traceparent"));
	buf_printf(out, "bytes    %zu\n\n", l->m->data.n);
	put_plain(out, l->m->data, NO_LIMIT, "\n\t");
	buf_putc(out, '\n');
}
