/*
 * log: lines are put together on the stack and written at once.
 */
#include "core/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"

#define LINE_MAX_BYTES 4096
#define CUT_MARK       " cut=true"
/* What pairs may take: the mark, without its NUL, and the newline come last. */
#define PAIRS_MAX (LINE_MAX_BYTES - sizeof(CUT_MARK))
#define TRACE_MAX 32

static const char *_Atomic log_svc = "-";
static _Atomic int log_min = LOG_INFO;
static _Thread_local char log_trace[TRACE_MAX + 1];

static const char *const level_names[] = {
	[LOG_DEBUG] = "debug",
	[LOG_INFO] = "info",
	[LOG_WARN] = "warn",
	[LOG_ERROR] = "error",
};

struct line {
	char p[LINE_MAX_BYTES];
	size_t n;
	size_t max; /* n stays within it */
	bool cut;   /* something did not fit; nothing more is added */
};

void
log_init(const char *svc, enum log_level level)
{
	atomic_store(&log_svc, svc != NULL ? svc : "-");
	atomic_store(&log_min, (int)level);
}

enum rc
log_level_parse(struct str s, enum log_level *out)
{
	for (int i = LOG_DEBUG; i <= LOG_ERROR; i++)
		if (str_eq(s, str_of(level_names[i]))) {
			*out = (enum log_level)i;
			return RC_OK;
		}
	return RC_INVALID;
}

void
log_trace_set(const char *trace)
{
	str_copy(str_of(trace), log_trace, sizeof(log_trace));
}

/* Add n bytes whole or not at all. */
static bool
put(struct line *l, const char *p, size_t n)
{
	if (l->cut || l->n + n > l->max) {
		l->cut = true;
		return false;
	}
	memcpy(l->p + l->n, p, n);
	l->n += n;
	return true;
}

/* " key=", or nothing if it does not fit; odd bytes become '_'. */
static bool
put_key(struct line *l, const char *key)
{
	char text[66];
	size_t n = 0;

	if (l->n != 0)
		text[n++] = ' ';
	for (; *key != '\0' && n < sizeof(text) - 1; key++) {
		char c = *key;
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || c == '.' || c == '-';

		text[n++] = plain ? c : '_';
	}
	text[n++] = '=';
	return put(l, text, n);
}

/*
 * Code points that end or hide a line somewhere, or show it in another order:
 * controls, separators, marks and overrides of direction.
 */
static bool
is_unprintable(int32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f) || cp == 0x61c ||
	    cp == 0x200e || cp == 0x200f || (cp >= 0x2028 && cp <= 0x202e) ||
	    (cp >= 0x2066 && cp <= 0x2069);
}

static bool
is_plain(struct str s)
{
	size_t pos = 0;

	while (pos < s.n) {
		int32_t cp = str_utf8_next(s, &pos);

		if (is_unprintable(cp) || cp == ' ' || cp == '"' || cp == '=' ||
		    cp == '\\')
			return false;
	}
	return s.n != 0;
}

/* One code point or one byte that is none, escaped as needed. */
static bool
put_escaped(struct line *l, struct str s, size_t *pos)
{
	size_t start = *pos;
	int32_t cp = str_utf8_next(s, pos);
	char esc[8];

	if (cp < 0) {
		++*pos;
		return put(l, "\xef\xbf\xbd", 3);
	}
	switch (cp) {
	case '"':
		return put(l, "\\\"", 2);
	case '\\':
		return put(l, "\\\\", 2);
	case '\n':
		return put(l, "\\n", 2);
	case '\r':
		return put(l, "\\r", 2);
	case '\t':
		return put(l, "\\t", 2);
	default:
		break;
	}
	if (!is_unprintable(cp))
		return put(l, s.p + start, *pos - start);
	(void)snprintf(esc, sizeof(esc), "\\u%04x", (unsigned)cp & 0xffffU);
	return put(l, esc, 6);
}

static void
put_text(struct line *l, struct str s)
{
	size_t pos = 0;

	if (l->n + s.n <= l->max && is_plain(s)) {
		(void)put(l, s.p, s.n);
		return;
	}
	/* Room for the closing quote, which comes even if the value is cut. */
	l->max--;
	bool open = put(l, "\"", 1);
	while (open && pos < s.n && put_escaped(l, s, &pos))
		;
	l->max++;
	if (open)
		l->p[l->n++] = '"';
}

static void
put_pair(struct line *l, const struct log_kv *kv)
{
	char num[40];
	size_t before = l->n;

	if (!put_key(l, kv->key))
		return;
	switch (kv->kind) {
	case LOG_KV_STR:
		put_text(l, kv->s);
		return;
	case LOG_KV_INT:
		(void)snprintf(num, sizeof(num), "%" PRId64, kv->i);
		break;
	case LOG_KV_F64:
		(void)snprintf(num, sizeof(num), "%.6g", kv->f);
		break;
	}
	if (!put(l, num, strlen(num)))
		l->n = before;
}

static void
put_time(struct line *l)
{
	struct wall now = clock_wall();
	char day[WALL_FORMAT_MAX], text[48];

	wall_format((struct wall){ now.ms - now.ms % 1000 }, 0, day);
	(void)snprintf(
	    text, sizeof(text), "ts=%.19s.%03dZ", day, (int)(now.ms % 1000));
	(void)put(l, text, strlen(text));
}

void
log_event(enum log_level level, const char *ev, const struct log_kv *kv)
{
	struct line l;
	ssize_t sent;

	if ((int)level < atomic_load_explicit(&log_min, memory_order_relaxed))
		return;
	l.n = 0;
	l.max = PAIRS_MAX;
	l.cut = false;
	put_time(&l);
	put_pair(&l, &LOG_S("lvl", level_names[level]));
	put_pair(&l, &LOG_S("svc", atomic_load(&log_svc)));
	if (log_trace[0] != '\0')
		put_pair(&l, &LOG_S("trace", log_trace));
	put_pair(&l, &LOG_S("ev", ev));
	for (; kv->key != NULL; kv++)
		put_pair(&l, kv);
	if (l.cut) {
		memcpy(l.p + l.n, CUT_MARK, sizeof(CUT_MARK) - 1);
		l.n += sizeof(CUT_MARK) - 1;
	}
	l.p[l.n++] = '\n';
	/* There is nowhere to report that the log itself cannot be written. */
	do
		sent = write(STDERR_FILENO, l.p, l.n);
	while (sent < 0 && errno == EINTR);
}

bool
log_every(struct log_rate *r, int seconds, int64_t *missed)
{
	int64_t now = clock_mono().ns;
	int64_t next = atomic_load(&r->next_ns);

	*missed = 0;
	if (now < next ||
	    !atomic_compare_exchange_strong(
		&r->next_ns, &next, now + seconds * INT64_C(1000000000))) {
		(void)atomic_fetch_add(&r->missed, 1);
		return false;
	}
	*missed = atomic_exchange(&r->missed, 0);
	return true;
}
