/*
 * encode: an ExportTraceServiceRequest in pieces: head, spans with commas
 * between them, tail.  Private, pure.
 *
 * Ids are hexadecimal, 64-bit integers are texts, enums are numbers: so OTLP
 * departs from, and follows, the JSON of protocol buffers.
 */
#ifndef OTLP_ENCODE_H
#define OTLP_ENCODE_H

#include "core/buf.h"
#include "otlp/otlp.h"

/* No span is longer, whatever must be escaped in it. */
#define OTLP_SPAN_MAX \
	(6 * (OTLP_ATTRS_MAX + 1) * (OTLP_NAME_MAX + OTLP_TEXT_MAX + 64))
/* Nor is a head. */
#define OTLP_HEAD_MAX (6 * 4 * (OTLP_NAME_MAX + OTLP_TEXT_MAX))
#define OTLP_TAIL     "]}]}]}"

/* Who sends; absent members are not said. */
struct otlp_resource {
	struct str service;
	struct str version;
	struct str instance;
};

/* otlp_encode_head(r, out): Append what stands before the first span; at
 * most OTLP_HEAD_MAX bytes. */
void otlp_encode_head(const struct otlp_resource *r, struct buf *out);

/*
 * otlp_encode_span(s, out):
 * Append one span; at most OTLP_SPAN_MAX bytes.  Times before 1970 are 1970, an
 * end before the start is the start, a parent that is no span id is none.
 */
void otlp_encode_span(const struct otlp_span *s, struct buf *out);

#endif /* !OTLP_ENCODE_H */
