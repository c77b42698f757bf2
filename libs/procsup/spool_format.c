/*
 * The files of a spool: records of numbers, and lines of keys and values.
 */
#include "procsup/spool_format.h"

#include <inttypes.h>
#include <string.h>

#include "core/mem.h"

/* ---- journal ---- */

static void
spool_put_u64(uint64_t v, unsigned char *to)
{
	for (unsigned i = 0; i < 8; i++)
		to[i] = (unsigned char)(v >> 8 * i);
}

static uint64_t
spool_get_u64(const unsigned char *from)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 8; i++)
		v |= (uint64_t)from[i] << 8 * i;
	return v;
}

void
spool_record_write(
    const struct spool_record *r, unsigned char to[SPOOL_RECORD_N])
{
	to[0] = (unsigned char)r->stream;
	spool_put_u64(r->end, to + 1);
	spool_put_u64((uint64_t)r->ns, to + 9);
}

enum rc
spool_record_read(const unsigned char *from, struct spool_record *r)
{
	uint64_t end = spool_get_u64(from + 1);
	uint64_t ns = spool_get_u64(from + 9);

	if (from[0] >= SPOOL_STREAMS_N || end > INT64_MAX || ns > INT64_MAX)
		return RC_INVALID;
	r->stream = (enum spool_stream)from[0];
	r->end = end;
	r->ns = (int64_t)ns;
	return RC_OK;
}

/* ---- lines ---- */

static void
spool_put_value(struct str v, struct buf *out)
{
	for (size_t i = 0; i < v.n; i++) {
		if (v.p[i] == '\n')
			buf_puts(out, "\\n");
		else if (v.p[i] == '\\')
			buf_puts(out, "\\\\");
		else
			buf_putc(out, v.p[i]);
	}
	buf_putc(out, '\n');
}

static void
spool_put_text(const char *key, struct str v, struct buf *out)
{
	if (v.p == NULL)
		return;
	buf_printf(out, "%s ", key);
	spool_put_value(v, out);
}

static void
spool_put_i64(const char *key, int64_t v, struct buf *out)
{
	if (v != 0)
		buf_printf(out, "%s %" PRId64 "\n", key, v);
}

static enum rc
spool_value(struct str v, struct arena *a, struct str *to)
{
	char *p = arena_bytes(a, v.n + 1);
	size_t n = 0;

	if (p == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < v.n; i++) {
		p[n] = v.p[i];
		if (v.p[i] == '\\') {
			if (++i == v.n || (v.p[i] != 'n' && v.p[i] != '\\'))
				return RC_INVALID;
			p[n] = v.p[i] == 'n' ? '\n' : '\\';
		}
		n++;
	}
	p[n] = '\0';
	*to = (struct str){ p, n };
	return RC_OK;
}

/* The next line's key and value. */
static enum rc
spool_line(struct str *text, struct str *key, struct str *value)
{
	struct str line = str_split(text, '\n');

	*key = str_split(&line, ' ');
	*value = line;
	return line.p != NULL && key->n > 0 ? RC_OK : RC_INVALID;
}

/* ---- meta ---- */

#define META_TEXT(name)                                  \
	{                                                \
#name, offsetof(struct spool_meta, name) \
	}
static const struct {
	const char *key;
	size_t at;
} meta_texts[] = {
	META_TEXT(run_id),
	META_TEXT(engine),
	META_TEXT(mode),
	META_TEXT(title),
	META_TEXT(engine_version),
	META_TEXT(isolation),
	META_TEXT(handle),
	META_TEXT(output_schema),
	META_TEXT(interaction_id),
	META_TEXT(reply),
};
static const struct {
	const char *key;
	size_t at;
} meta_numbers[] = {
	META_TEXT(attempt),
	META_TEXT(started_ns),
	META_TEXT(rasp_seq),
	META_TEXT(fcmp_seq),
	META_TEXT(attempts_max),
};

void
spool_meta_write(const struct spool_meta *m, struct buf *out)
{
	struct str text;
	int64_t number;

	for (size_t i = 0; i < NELEM(meta_texts); i++) {
		memcpy(&text, (const char *)m + meta_texts[i].at, sizeof(text));
		spool_put_text(meta_texts[i].key, text, out);
	}
	for (size_t i = 0; i < NELEM(meta_numbers); i++) {
		memcpy(&number, (const char *)m + meta_numbers[i].at,
		    sizeof(number));
		spool_put_i64(meta_numbers[i].key, number, out);
	}
	spool_put_i64("auto_reply", m->auto_reply, out);
}

static enum rc
spool_meta_line(
    struct str key, struct str value, struct arena *a, struct spool_meta *m)
{
	struct str text;
	int64_t number;
	enum rc rc;

	for (size_t i = 0; i < NELEM(meta_texts); i++) {
		if (!str_eq(key, str_of(meta_texts[i].key)))
			continue;
		rc = spool_value(value, a, &text);
		if (rc == RC_OK)
			memcpy(
			    (char *)m + meta_texts[i].at, &text, sizeof(text));
		return rc;
	}
	for (size_t i = 0; i < NELEM(meta_numbers); i++) {
		if (!str_eq(key, str_of(meta_numbers[i].key)))
			continue;
		rc = str_to_i64(value, 0, INT64_MAX, &number);
		if (rc == RC_OK)
			memcpy((char *)m + meta_numbers[i].at, &number,
			    sizeof(number));
		return rc;
	}
	if (str_eq(key, STR("auto_reply")))
		m->auto_reply = str_eq(value, STR("1"));
	return RC_OK;
}

enum rc
spool_meta_read(struct str text, struct arena *a, struct spool_meta *m)
{
	struct str key, value;
	enum rc rc = RC_OK;

	*m = (struct spool_meta){ 0 };
	if (text.n > SPOOL_TEXT_MAX)
		return RC_TOOBIG;
	while (rc == RC_OK && text.n > 0) {
		rc = spool_line(&text, &key, &value);
		if (rc == RC_OK)
			rc = spool_meta_line(key, value, a, m);
	}
	if (rc == RC_OK && m->engine.n == 0)
		rc = RC_INVALID;
	return rc;
}

/* ---- exit ---- */

static const char *const stop_names[SPOOL_STOPS_N] = {
	[SPOOL_STOP_NONE] = "none",
	[SPOOL_STOP_CANCELED] = "canceled",
	[SPOOL_STOP_DEADLINE] = "deadline",
	[SPOOL_STOP_STALLED] = "stalled",
	[SPOOL_STOP_OUTPUT] = "output",
	[SPOOL_STOP_WORKSPACE] = "workspace",
	[SPOOL_STOP_BUDGET] = "budget",
	[SPOOL_STOP_RUNNER] = "runner",
	[SPOOL_STOP_LINGERED] = "lingered",
};

void
spool_exit_write(const struct spool_exit *x, struct buf *out)
{
	/* Always present, so that an exit is never empty. */
	buf_printf(out, "stop %s\n", stop_names[x->stop]);
	spool_put_i64("code", x->code, out);
	spool_put_i64("signal", x->signal, out);
	spool_put_i64("not_started", x->not_started, out);
	spool_put_i64("ns", x->ns, out);
	spool_put_i64("orphans", x->orphans, out);
}

static enum rc
spool_exit_stop(struct str value, struct spool_exit *x)
{
	for (unsigned i = 0; i < SPOOL_STOPS_N; i++) {
		if (str_eq(value, str_of(stop_names[i]))) {
			x->stop = (enum spool_stop)i;
			return RC_OK;
		}
	}
	return RC_INVALID;
}

static enum rc
spool_exit_line(struct str key, struct str value, struct spool_exit *x)
{
	int64_t v = 0;
	enum rc rc;

	if (str_eq(key, STR("stop")))
		return spool_exit_stop(value, x);
	rc = str_to_i64(value, 0, INT64_MAX, &v);
	if (str_eq(key, STR("ns")))
		x->ns = v;
	else if (str_eq(key, STR("orphans")))
		x->orphans = v;
	else if (str_eq(key, STR("not_started")))
		x->not_started = v != 0;
	else if (!str_eq(key, STR("code")) && !str_eq(key, STR("signal")))
		return RC_OK;
	else if (v > 255)
		return RC_INVALID;
	else if (str_eq(key, STR("code")))
		x->code = (int)v;
	else
		x->signal = (int)v;
	return rc;
}

enum rc
spool_exit_read(struct str text, struct spool_exit *x)
{
	struct str key, value;
	enum rc rc = text.n > 0 ? RC_OK : RC_INVALID;

	*x = (struct spool_exit){ 0 };
	if (text.n > SPOOL_TEXT_MAX)
		return RC_TOOBIG;
	while (rc == RC_OK && text.n > 0) {
		rc = spool_line(&text, &key, &value);
		if (rc == RC_OK)
			rc = spool_exit_line(key, value, x);
	}
	return rc;
}

/* ---- files ---- */

void
spool_file_write(const struct spool_file *f, struct buf *out)
{
	struct str sum = f->sha256.n > 0 ? f->sha256 : STR("-");

	buf_printf(out, "file %.*s %" PRId64 " %.*s ", STR_ARG(f->change),
	    f->bytes, STR_ARG(sum));
	spool_put_value(f->path, out);
}

enum rc
spool_file_next(struct str *text, struct arena *a, struct spool_file *f)
{
	struct str key, rest, bytes;

	do {
		if (text->n == 0)
			return RC_NOENT;
		if (spool_line(text, &key, &rest) != RC_OK)
			return RC_INVALID;
	} while (!str_eq(key, STR("file")));
	f->change = str_split(&rest, ' ');
	bytes = str_split(&rest, ' ');
	f->sha256 = str_split(&rest, ' ');
	if (str_eq(f->sha256, STR("-")))
		f->sha256 = (struct str){ NULL, 0 };
	else if (f->sha256.n != SPOOL_SHA256_HEX)
		return RC_INVALID;
	if (rest.n == 0 || str_to_i64(bytes, 0, INT64_MAX, &f->bytes) != RC_OK)
		return RC_INVALID;
	return spool_value(rest, a, &f->path);
}
