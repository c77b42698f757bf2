#include "core/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"

#define LINE_MAX_BYTES 4096
#define TRUNCATED_MARK " cut=true"
/* Bytes of the pairs: room is left for the mark and a newline. */
#define PAIRS_MAX (LINE_MAX_BYTES - sizeof(TRUNCATED_MARK))

static const char *_Atomic log_svc = "-";
static _Atomic int log_min = LOG_INFO;
static _Thread_local char log_trace[LOG_TRACE_MAX];

static const char *const log_level_names[] = {
	[LOG_DEBUG] = "debug",
	[LOG_INFO] = "info",
	[LOG_WARN] = "warn",
	[LOG_ERROR] = "error",
};

struct line {
	char p[LINE_MAX_BYTES];
	size_t n;
	size_t max;     /* n stays within it */
	bool truncated; /* something did not fit; nothing more is added */
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
		if (str_eq(s, str_of(log_level_names[i]))) {
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

void
log_trace_get(char dst[LOG_TRACE_MAX])
{
	memcpy(dst, log_trace, sizeof(log_trace));
}

/* Append all n bytes or none. */
static bool
log_put(struct line *l, const char *p, size_t n)
{
	if (l->truncated || l->n + n > l->max) {
		l->truncated = true;
		return false;
	}
	memcpy(l->p + l->n, p, n);
	l->n += n;
	return true;
}

/* Append " key=" if it fits; other characters become '_'. */
static bool
log_put_key(struct line *l, const char *key)
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
	return log_put(l, text, n);
}

/*
 * Code points that may end, hide or reorder a line where it is displayed:
 * controls, separators, directional marks and overrides.
 */
static bool
log_is_unprintable(int32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f) || cp == 0x61c ||
	    cp == 0x200e || cp == 0x200f || (cp >= 0x2028 && cp <= 0x202e) ||
	    (cp >= 0x2066 && cp <= 0x2069);
}

static bool
log_is_plain(struct str s)
{
	size_t pos = 0;

	while (pos < s.n) {
		int32_t cp = str_utf8_next(s, &pos);

		if (log_is_unprintable(cp) || cp == ' ' || cp == '"' ||
		    cp == '=' || cp == '\\')
			return false;
	}
	return s.n != 0;
}

/* Append one code point, escaped if necessary; invalid bytes are replaced. */
static bool
log_put_escaped(struct line *l, struct str s, size_t *pos)
{
	size_t start = *pos;
	int32_t cp = str_utf8_next(s, pos);
	char esc[8];

	if (cp < 0) {
		++*pos;
		return log_put(l, "\xef\xbf\xbd", 3);
	}
	switch (cp) {
	case '"':
		return log_put(l, "\\\"", 2);
	case '\\':
		return log_put(l, "\\\\", 2);
	case '\n':
		return log_put(l, "\\n", 2);
	case '\r':
		return log_put(l, "\\r", 2);
	case '\t':
		return log_put(l, "\\t", 2);
	default:
		break;
	}
	if (!log_is_unprintable(cp))
		return log_put(l, s.p + start, *pos - start);
	(void)snprintf(esc, sizeof(esc), "\\u%04x", (unsigned)cp & 0xffffU);
	return log_put(l, esc, 6);
}

static void
log_put_text(struct line *l, struct str s)
{
	size_t pos = 0;

	if (l->n + s.n <= l->max && log_is_plain(s)) {
		(void)log_put(l, s.p, s.n);
		return;
	}
	/* Leave room for the closing quote of a truncated value. */
	l->max--;
	bool open = log_put(l, "\"", 1);
	while (open && pos < s.n && log_put_escaped(l, s, &pos))
		;
	l->max++;
	if (open)
		l->p[l->n++] = '"';
}

static void
log_put_pair(struct line *l, const struct log_kv *kv)
{
	char num[40];
	size_t before = l->n;

	if (!log_put_key(l, kv->key))
		return;
	switch (kv->kind) {
	case LOG_KV_STR:
		log_put_text(l, kv->s);
		return;
	case LOG_KV_INT:
		(void)snprintf(num, sizeof(num), "%" PRId64, kv->i);
		break;
	case LOG_KV_F64:
		(void)snprintf(num, sizeof(num), "%.6g", kv->f);
		break;
	}
	if (!log_put(l, num, strlen(num)))
		l->n = before;
}

static void
log_put_time(struct line *l)
{
	struct wall now = clock_wall();
	char day[WALL_FORMAT_MAX], text[48];

	wall_format((struct wall){ now.ms - now.ms % 1000 }, 0, day);
	(void)snprintf(
	    text, sizeof(text), "ts=%.19s.%03dZ", day, (int)(now.ms % 1000));
	(void)log_put(l, text, strlen(text));
}

bool
log_wants(enum log_level level)
{
	return (int)level >=
	    atomic_load_explicit(&log_min, memory_order_relaxed);
}

void
log_event(enum log_level level, const char *ev, const struct log_kv *kv)
{
	struct line l;
	ssize_t sent;

	if (!log_wants(level))
		return;
	l.n = 0;
	l.max = PAIRS_MAX;
	l.truncated = false;
	log_put_time(&l);
	log_put_pair(&l, &LOG_S("lvl", log_level_names[level]));
	log_put_pair(&l, &LOG_S("svc", atomic_load(&log_svc)));
	if (log_trace[0] != '\0')
		log_put_pair(&l, &LOG_S("trace", log_trace));
	log_put_pair(&l, &LOG_S("ev", ev));
	for (; kv->key != NULL; kv++)
		log_put_pair(&l, kv);
	if (l.truncated) {
		memcpy(l.p + l.n, TRUNCATED_MARK, sizeof(TRUNCATED_MARK) - 1);
		l.n += sizeof(TRUNCATED_MARK) - 1;
	}
	l.p[l.n++] = '\n';
	/* A failure cannot be reported anywhere. */
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
