/*
 * otlp_internal: the endpoint, and the JSON of requests and responses.  Pure.
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
 * The URL, freed with free(): traces_endpoint, or endpoint with "/v1/traces"
 * appended; NULL if both are empty.  RC_INVALID as otlp_new().
 */
enum rc otlp_target_url(
    const struct otlp_conf *conf, char **url, const char **why) RC_CHECK;

/*
 * otlp_target_headers(text, h, why):
 * The headers in "name=value,name=value", trimmed, values percent-decoded.
 * RC_INVALID as otlp_new(), also for an empty value.  Free h in either case.
 */
enum rc otlp_target_headers(
    const char *text, struct otlp_headers *h, const char **why) RC_CHECK;
void otlp_headers_free(struct otlp_headers *h);

/*
 * An ExportTraceServiceRequest is a head, spans separated by commas, and a
 * tail. Ids are hexadecimal, 64-bit integers strings, enums numbers
 * (OTLP/JSON).
 *
 * Most bytes of a span, whatever must be escaped in it, and of a head.
 */
#define OTLP_SPAN_MAX \
	(6 * (OTLP_ATTRS_MAX + 1) * (OTLP_NAME_MAX + OTLP_TEXT_MAX + 64))
#define OTLP_HEAD_MAX (6 * 4 * (OTLP_NAME_MAX + OTLP_TEXT_MAX))
#define OTLP_TAIL     "]}]}]}"

/* The resource that emits spans; absent members are left out. */
struct otlp_resource {
	struct str service;
	struct str version;
	struct str instance;
};

/* otlp_encode_head(r, out): Append what precedes the first span. */
void otlp_encode_head(const struct otlp_resource *r, struct buf *out);

/*
 * otlp_encode_span(s, out):
 * Append one span.  Times before 1970 become 1970, an end before the start the
 * start; a parent that is no span id is left out.
 */
void otlp_encode_span(const struct otlp_span *s, struct buf *out);

#define OTLP_RESPONSE_TEXT_MAX 256

enum otlp_fate {
	OTLP_ACCEPTED,
	OTLP_RETRY, /* may succeed later */
	OTLP_FAILED /* a retry would fail, too */
};

struct otlp_response {
	enum otlp_fate fate;
	size_t
	    rejected; /* spans that the collector rejected, of OTLP_ACCEPTED */
	char text[OTLP_RESPONSE_TEXT_MAX]; /* the collector's error message; "":
					      none */
};

/*
 * otlp_response_parse(rc, status, body, n, out):
 * The result of a request of n spans.  A 2xx status counts even if the body was
 * lost or is not valid.
 */
void otlp_response_parse(enum rc rc, int status, struct str body, size_t n,
    struct otlp_response *out);

#endif /* !OTLP_OTLP_INTERNAL_H */
