/*
 * A machine that reads the message byte by byte, so that a message in parts and
 * as a whole give the same.  What is neither white space, nor a fence that
 * opens, nor an object moves the point up to which text can be released.
 */
#include "fcmp/done_marker.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "wire/slice.h"

/* Markers that are removed; more of them stay in the text. */
#define MARKERS_MAX 16
/* Bytes behind the ticks of a fence. */
#define FENCE_INFO_MAX 64
#define FENCE_TICKS    3
/* Bytes of a text that are searched at a time. */
#define RUN_STEP 256
/* Bytes read in vain as objects; then no more of them are searched for. */
#define TRIALS_MAX (1024 * 1024)

enum done_state {
	DONE_PLAIN,
	DONE_TRIAL, /* in what may be an object */
	DONE_TAIL   /* behind an object whose line has not ended */
};

struct done_range {
	size_t from, to;
};

struct done_marker {
	struct buf all, text, payload;
	bool truncated;
	enum done_state state;
	size_t at;       /* the next byte that is read */
	size_t released; /* bytes of all */
	size_t hold;     /* the text before it is surely text */
	size_t tried;    /* bytes read in vain */

	/* The current line. */
	bool blank;      /* nothing in it but white space so far */
	size_t ticks;    /* that it begins with */
	size_t fence_at; /* where the fence that opens begins */
	size_t info;     /* bytes behind its ticks */
	bool fenced;     /* in a fence */
	bool own_fence;  /* nothing but white space since that opened */
	bool closing;    /* behind an object in its own fence */

	/* The object of this trial, or of the tail. */
	struct done_range object;
	size_t depth;
	bool begun, in_string, escape;
	bool alone; /* it begins its line */
	bool has_marker;
	bool line_over; /* its line has ended */

	/* The last object that counts; its end is the end of the text. */
	struct done_range last;
	bool last_ends;

	size_t markers;
	size_t marker_hold;
	struct done_range first; /* the object */
	struct done_range removed[MARKERS_MAX];
};

struct done_marker *
done_marker_new(size_t max)
{
	struct done_marker *m = mem_zalloc(sizeof(*m));

	buf_init(&m->all, max);
	buf_init(&m->text, max);
	buf_init(&m->payload, max);
	m->blank = true;
	return m;
}

void
done_marker_free(struct done_marker *m)
{
	if (m == NULL)
		return;
	buf_free(&m->all);
	buf_free(&m->text);
	buf_free(&m->payload);
	free(m);
}

void
done_marker_reset(struct done_marker *m)
{
	struct buf all = m->all, text = m->text, payload = m->payload;

	*m = (struct done_marker){
		.all = all, .text = text, .payload = payload, .blank = true
	};
	buf_reset(&m->all);
	buf_reset(&m->text);
	buf_reset(&m->payload);
}

static bool
done_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* ---- objects ---- */

static bool
done_is_key(struct str key)
{
	return str_eq_nocase(key, STR("__SKILL_DONE__"));
}

static void
done_find_marker(void *arg, const struct wire_slice *s)
{
	struct done_marker *m = arg;

	if (done_is_key(s->key) && str_eq(s->value, STR("true")))
		m->has_marker = true;
}

static struct str
done_slice(const struct done_marker *m, struct done_range r)
{
	return (struct str){ m->all.p + r.from, r.to - r.from };
}

static bool
done_object_valid(struct done_marker *m)
{
	const struct wire_slice_handler h = { .each = done_find_marker,
		.arg = m };

	m->has_marker = false;
	return wire_slice_each(done_slice(m, m->object), &h) == RC_OK;
}

/* The bytes are no object: they are read as text. */
static void
done_trial_fail(struct done_marker *m)
{
	m->tried += m->at - m->object.from;
	m->state = DONE_PLAIN;
	m->at = m->object.from + 1;
	m->hold = m->at;
	m->blank = m->own_fence = m->closing = m->last_ends = false;
	m->ticks = 0;
}

static void
done_trial_begin(struct done_marker *m)
{
	m->state = DONE_TRIAL;
	m->object = (struct done_range){ m->at, m->at };
	m->depth = 1;
	m->begun = m->in_string = m->escape = m->line_over = false;
	m->alone = m->blank;
	m->at++;
}

static void
done_trial_string(struct done_marker *m, char c)
{
	if (m->escape)
		m->escape = false;
	else if (c == '\\')
		m->escape = true;
	else if (c == '"')
		m->in_string = false;
}

/* The next byte of what may be an object. */
static void
done_trial(struct done_marker *m, char c)
{
	m->at++;
	if (m->at - m->object.from > DONE_OBJECT_MAX ||
	    m->depth > DONE_DEPTH_MAX) {
		done_trial_fail(m);
		return;
	}
	if (m->in_string) {
		done_trial_string(m, c);
		return;
	}
	if (!m->begun && !done_is_blank(c)) {
		m->begun = true;
		if (c != '"' && c != '}') {
			done_trial_fail(m);
			return;
		}
	}
	if (c == '"')
		m->in_string = true;
	else if (c == '{' || c == '[')
		m->depth++;
	else if (c == '}' || c == ']')
		m->depth--;
	if (m->depth > 0)
		return;
	m->object.to = m->at;
	if (done_object_valid(m))
		m->state = DONE_TAIL;
	else
		done_trial_fail(m);
}

/* The object counts. */
static void
done_object_accept(struct done_marker *m)
{
	m->state = DONE_PLAIN;
	m->closing = m->own_fence;
	m->last = m->object;
	m->last_ends = true;
	if (!m->has_marker) {
		/* A marker before it was not the last object. */
		m->markers = 0;
		m->hold = m->object.to;
	} else {
		if (m->markers == 0) {
			m->first = m->object;
			m->marker_hold = m->hold;
		}
		if (m->markers < MARKERS_MAX) {
			struct done_range *r = &m->removed[m->markers];

			*r = m->object;
			if (m->own_fence)
				r->from = m->fence_at;
		}
		m->markers++;
	}
	m->own_fence = false;
}

/* The next byte behind an object. */
static void
done_tail(struct done_marker *m, char c)
{
	if (c == '\n') {
		m->at++;
		m->line_over = m->blank = true;
		m->ticks = 0;
		if (m->alone)
			done_object_accept(m);
		return;
	}
	if (done_is_blank(c)) {
		m->at++;
		return;
	}
	/* It is text, and so is what is behind it. */
	m->state = DONE_PLAIN;
	m->hold = m->object.to;
	m->blank = m->line_over;
	m->own_fence = m->closing = m->last_ends = false;
}

/* ---- text ---- */

static void
done_text_byte(struct done_marker *m)
{
	m->at++;
	m->hold = m->at;
	m->blank = m->own_fence = m->closing = m->last_ends = false;
	m->ticks = 0;
}

/* The rest of a line, up to what may be an object: most of a text. */
static void
done_text_run(struct done_marker *m)
{
	const char *p = m->all.p + m->at, *end = m->all.p + m->all.n;
	const char *found = NULL, *brace;

	/* A step is short, so that no byte is searched for often. */
	while (found == NULL && p < end) {
		size_t n = (size_t)(end - p);

		if (n > RUN_STEP)
			n = RUN_STEP;
		found = memchr(p, '\n', n);
		if (found != NULL)
			n = (size_t)(found - p);
		brace = memchr(p, '{', n);
		if (brace != NULL)
			found = brace;
		p = found != NULL ? found : p + n;
	}
	m->at = (size_t)(p - m->all.p);
	while (done_is_blank(p[-1]))
		p--;
	m->hold = (size_t)(p - m->all.p);
}

/* A tick at the beginning of a line, or in a fence of more than three. */
static void
done_tick(struct done_marker *m)
{
	if (m->ticks == 0) {
		m->fence_at = m->at;
		m->info = 0;
	}
	m->blank = false;
	m->ticks++;
	m->at++;
	if (m->ticks != FENCE_TICKS || !m->fenced)
		return;
	/* It closes; behind a marker of its own it goes with that. */
	m->fenced = false;
	m->ticks = 0;
	m->hold = m->at;
	m->own_fence = false;
	if (!m->closing)
		m->last_ends = false;
	else if (m->has_marker && m->markers > 0 && m->markers <= MARKERS_MAX)
		m->removed[m->markers - 1].to = m->at;
	m->closing = false;
}

static void
done_line_end(struct done_marker *m)
{
	m->at++;
	if (m->ticks >= FENCE_TICKS) {
		m->fenced = m->own_fence = true;
		m->last_ends = false;
	} else if (m->ticks > 0) {
		m->hold = m->fence_at + m->ticks;
		m->own_fence = m->closing = m->last_ends = false;
	}
	m->ticks = 0;
	m->blank = true;
}

static void
done_plain(struct done_marker *m, char c)
{
	if (c == '\n') {
		done_line_end(m);
	} else if (done_is_blank(c)) {
		m->at++;
	} else if (c == '`' && (m->blank || (m->ticks > 0 && m->info == 0))) {
		done_tick(m);
	} else if (m->ticks >= FENCE_TICKS && c != '`' &&
	    m->info < FENCE_INFO_MAX) {
		m->info++;
		m->at++;
	} else if (c == '{' && m->ticks == 0 && m->tried < TRIALS_MAX) {
		done_trial_begin(m);
	} else {
		done_text_byte(m);
		done_text_run(m);
	}
}

static void
done_run(struct done_marker *m)
{
	while (m->at < m->all.n) {
		char c = m->all.p[m->at];

		if (m->state == DONE_PLAIN)
			done_plain(m, c);
		else if (m->state == DONE_TRIAL)
			done_trial(m, c);
		else
			done_tail(m, c);
	}
}

/* ---- a message ---- */

void
done_marker_put(struct done_marker *m, struct str text)
{
	size_t room = m->all.max - m->all.n;

	if (text.n > room) {
		text = str_clip(text, room);
		m->truncated = true;
	}
	buf_put_str(&m->all, text);
	done_run(m);
}

struct str
done_marker_text(const struct done_marker *m)
{
	return buf_str(&m->all);
}

struct str
done_marker_release(struct done_marker *m)
{
	size_t to = m->markers > 0 ? m->marker_hold : m->hold;
	struct str s = { buf_str(&m->all).p + m->released, 0 };

	if (to > m->released) {
		s.n = to - m->released;
		m->released = to;
	}
	return s;
}

/* A value without white space outside of its strings. */
static void
done_put_value(struct done_marker *m, struct str v)
{
	bool in_string = false;

	for (size_t i = 0; i < v.n; i++) {
		if (!in_string && done_is_blank(v.p[i]))
			continue;
		buf_putc(&m->payload, v.p[i]);
		if (in_string && v.p[i] == '\\')
			buf_putc(&m->payload, v.p[++i]);
		else if (v.p[i] == '"')
			in_string = !in_string;
	}
}

static void
done_put_member(void *arg, const struct wire_slice *s)
{
	struct done_marker *m = arg;

	if (done_is_key(s->key))
		return;
	buf_puts(&m->payload, m->payload.n == 0 ? "{\"" : ",\"");
	buf_put_str(&m->payload, s->key);
	buf_puts(&m->payload, "\":");
	done_put_value(m, s->value);
}

static void
done_put_payload(struct done_marker *m, struct done_result *r)
{
	const struct wire_slice_handler h = { .each = done_put_member,
		.arg = m };

	if (m->markers == 0) {
		done_put_value(m, done_slice(m, m->last));
	} else {
		if (wire_slice_each(done_slice(m, m->first), &h) != RC_OK ||
		    m->payload.n == 0)
			return;
		buf_putc(&m->payload, '}');
	}
	r->payload = buf_str(&m->payload);
}

/* The text without its markers, and what was between them and the end. */
static void
done_put_text(struct done_marker *m)
{
	size_t at = 0;

	for (size_t i = 0; i < m->markers && i < MARKERS_MAX; i++) {
		buf_put(&m->text, m->all.p + at, m->removed[i].from - at);
		at = m->removed[i].to;
	}
	buf_put(&m->text, m->all.p + at, m->all.n - at);
	while (m->text.n > 0 && done_is_blank(m->text.p[m->text.n - 1]))
		m->text.n--;
}

void
done_marker_finish(struct done_marker *m, struct done_result *r)
{
	*r = (struct done_result){ .truncated = m->truncated };
	while (m->state == DONE_TRIAL) {
		done_trial_fail(m);
		done_run(m);
	}
	if (m->state == DONE_TAIL)
		done_object_accept(m);
	r->markers = m->markers;
	r->text = buf_str(&m->all);
	if (m->markers > 0) {
		done_put_text(m);
		r->text = buf_str(&m->text);
	}
	if (m->markers > 0 || m->last_ends)
		done_put_payload(m, r);
}
