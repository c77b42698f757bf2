/*
 * trace: W3C trace context; the trace id is also the trace_id of events.
 */
#ifndef CORE_TRACE_H
#define CORE_TRACE_H

#include "core/id.h"
#include "core/rc.h"
#include "core/str.h"

#define TRACE_PARENT_MAX 56
/* In flags: the trace is sampled. */
#define TRACE_SAMPLED 0x01U

struct trace {
	char trace_id[33]; /* 32 lower-case hexadecimal digits */
	char span_id[17];  /* 16 digits; the caller's span */
	unsigned char flags;
};

/*
 * trace_new(t):
 * A new, sampled trace; its id is a version 4 UUID without dashes.
 */
void trace_new(struct trace *t);

/* trace_new_of(t, stock): The same of a stock of random bytes. */
void trace_new_of(struct trace *t, struct id_stock *stock);

/* trace_child(parent, t): The same trace with a new span id; may alias. */
void trace_child(const struct trace *parent, struct trace *t);

/*
 * trace_parse(s, t):
 * A traceparent header (version 00, or the first four fields of a later
 * version); undefined flags are dropped.  RC_INVALID otherwise, with *t
 * unchanged: start a new trace then.
 */
enum rc trace_parse(struct str s, struct trace *t) RC_CHECK;

/* trace_format(t, dst): "00-<trace>-<span>-<flags>". */
void trace_format(const struct trace *t, char dst[TRACE_PARENT_MAX]);

/* trace_uuid(t, dst): The trace id with the dashes of a UUID, as in events. */
void trace_uuid(const struct trace *t, char dst[ID_UUID_MAX]);

#endif /* !CORE_TRACE_H */
