/*
 * target: where spans are sent, read from what OpenTelemetry's variables hold.
 * Private, pure.
 */
#ifndef OTLP_OTLP_INTERNAL_H
#define OTLP_OTLP_INTERNAL_H

#include <stddef.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"
#include "otlp/otlp.h"

#define OTLP_HEADERS_MAX 16

/* "Name: value" lines; zeroed before the first use. */
struct otlp_headers {
	char *line[OTLP_HEADERS_MAX];
	size_t n;
};

/*
 * otlp_target_url(conf, url, why):
 * The URL, freed with free(): traces_endpoint as it is, or endpoint with
 * "/v1/traces" after it; NULL if both are empty.  RC_INVALID as otlp_new().
 */
enum rc otlp_target_url(
    const struct otlp_conf *conf, char **url, const char **why) RC_CHECK;

/*
 * otlp_target_headers(text, h, why):
 * The headers in "name=value,name=value", blanks around each left out, values
 * percent-decoded.  RC_INVALID as otlp_new(), also for an empty value.  Free h
 * in either case.
 */
enum rc otlp_target_headers(
    const char *text, struct otlp_headers *h, const char **why) RC_CHECK;
void otlp_headers_free(struct otlp_headers *h);

/*
 * encode: an ExportTraceServiceRequest in pieces: head, spans with commas
 * between them, tail.  Private, pure.
 *
 * Ids are hexadecimal, 64-bit integers are texts, enums are numbers: so OTLP
 * departs from, and follows, the JSON of protocol buffers.
 */
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

/*
 * answer: what a collector's answer says became of a batch.  Private, pure.
 */
#define OTLP_ANSWER_TEXT_MAX 256

enum otlp_fate {
	OTLP_TAKEN,
	OTLP_RETRY,  /* the same may be sent again */
	OTLP_REFUSED /* it would be refused again */
};

struct otlp_answer {
	enum otlp_fate fate;
	size_t rejected; /* of OTLP_TAKEN: spans that were not */
	char text[OTLP_ANSWER_TEXT_MAX]; /* the collector's words; "": none */
};

/*
 * otlp_answer_read(rc, status, body, n, out):
 * The end of a request of n spans as httpc tells it.  A 2xx counts even if the
 * rest of the answer was lost or cannot be read.
 */
void otlp_answer_read(
    enum rc rc, int status, struct str body, size_t n, struct otlp_answer *out);

#endif /* !OTLP_OTLP_INTERNAL_H */
