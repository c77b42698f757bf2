/*
 * log: one logfmt line per event on stderr.
 *
 *   ts=2026-11-20T14:02:03.123Z lvl=warn svc=intent-filter trace=4bf9… \
 *   ev=bus.disconnected url="nats://…"
 *
 * Event names are stable and dotted.  Values with blanks, quotes, '=' or
 * control characters are quoted and escaped, so no value can forge a line.
 * Secrets are never logged, texts of users only at debug. Any thread; a line is
 * written with one write().
 */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/*
 * log_init(svc, level):
 * Set the program's name in every line (the pointer is stored) and drop events
 * below level.  Before, the name is "-" and the level LOG_INFO.
 */
void log_init(const char *svc, enum log_level level);

/* log_level_parse(s, out): "debug", "info", "warn" or "error". */
enum rc log_level_parse(struct str s, enum log_level *out) RC_CHECK;

/*
 * log_trace_set(trace):
 * Set the trace id of this thread's lines; "" for none.  Copied, at most 32
 * characters.
 */
void log_trace_set(const char *trace);

/* Room for a trace id, NUL included. */
#define LOG_TRACE_MAX 33

/* log_trace_get(dst): The trace id of this thread's lines. */
void log_trace_get(char dst[LOG_TRACE_MAX]);

/* A key and its value, by the macros below. */
struct log_kv {
	const char *key;
	enum { LOG_KV_STR, LOG_KV_INT, LOG_KV_F64 } kind;
	struct str s;
	int64_t i;
	double f;
};

#define LOG_S(k, v) ((struct log_kv){ (k), LOG_KV_STR, str_of(v), 0, 0 })
#define LOG_V(k, v) ((struct log_kv){ (k), LOG_KV_STR, (v), 0, 0 })
#define LOG_I(k, v) \
	((struct log_kv){ (k), LOG_KV_INT, { NULL, 0 }, (int64_t)(v), 0 })
#define LOG_F(k, v) ((struct log_kv){ (k), LOG_KV_F64, { NULL, 0 }, 0, (v) })
#define LOG_RC(v)   LOG_S("rc", rc_name(v))

/*
 * log_event(level, ev, kv):
 * Write the event with its pairs, up to one without a key.  A line longer than
 * 4 KiB is truncated and ends in "cut=true".  Use the macros below, which add
 * the end: log_warn("bus.down", LOG_S("url", url), LOG_I("tries", 3)).
 */
void log_event(enum log_level level, const char *ev, const struct log_kv *kv);

/* log_wants(level): Whether events of that level are written. */
bool log_wants(enum log_level level);

/* The pairs are not evaluated for an event that is not written. */
#define LOG_EVENT(level, ev, ...)                                       \
	(log_wants(level) ? log_event((level), (ev),                    \
				(const struct log_kv[]){ __VA_ARGS__ }) \
			  : (void)0)
#define log_debug(...) LOG_EVENT(LOG_DEBUG, __VA_ARGS__, { 0 })
#define log_info(...)  LOG_EVENT(LOG_INFO, __VA_ARGS__, { 0 })
#define log_warn(...)  LOG_EVENT(LOG_WARN, __VA_ARGS__, { 0 })
#define log_error(...) LOG_EVENT(LOG_ERROR, __VA_ARGS__, { 0 })

/*
 * State of a rate-limited log statement: zero-initialised and static.
 * log_every(&r, seconds, &missed) is true at most once per that many seconds;
 * *missed is then the number of calls that were not (log it).  Any thread.
 */
struct log_rate {
	_Atomic int64_t next_ns;
	_Atomic int64_t missed;
};
bool log_every(struct log_rate *r, int seconds, int64_t *missed);

#endif /* !CORE_LOG_H */
