/*
 * otlp: export of trace spans to an OpenTelemetry collector by OTLP over HTTP,
 * as JSON.
 *
 * Spans are copied into a bounded queue and sent in batches, one request at a
 * time.  If the collector is slow, hangs or is down, spans are dropped and
 * counted; only otlp_flush() waits.
 *
 * Without an endpoint it is off: otlp_new() returns NULL, which all functions
 * accept and ignore.  All functions run on the loop thread.
 */
#ifndef OTLP_OTLP_H
#define OTLP_OTLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/conf.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"

/* Limits of the queue; a span is dropped when it is full. */
#define OTLP_QUEUE_SPANS 8192
#define OTLP_QUEUE_BYTES (8 * 1024 * 1024)
/* A batch is sent at once when it has this many spans or bytes. */
#define OTLP_BATCH_SPANS 512
#define OTLP_BATCH_BYTES (1024 * 1024)
/* A batch is dropped after this many failed requests. */
#define OTLP_TRIES 5
/* Limits of a span: attributes, and bytes of a name or key and of a text;
 * longer ones are truncated. */
#define OTLP_ATTRS_MAX 32
#define OTLP_NAME_MAX  128
#define OTLP_TEXT_MAX  1024

struct otlp;

/* Configuration by the variables of OpenTelemetry. */
struct otlp_conf {
	const char *endpoint;        /* the collector; "": off */
	const char *traces_endpoint; /* instead, the whole URL; "": none */
	const char *headers;         /* "name=value,…", percent-encoded */
	const char *service_name;
};

/*
 * The rows of these options in a program's table, for m, a member of struct t;
 * service is the default name.
 */
#define OTLP_CONF_ROWS(t, m, service)                                          \
	{ "OTEL_EXPORTER_OTLP_ENDPOINT", CONF_STR, CONF_AT(t, m.endpoint), "", \
		0, 0, "OpenTelemetry collector for traces; empty for none" },  \
	    { "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", CONF_STR,                  \
		    CONF_AT(t, m.traces_endpoint), "", 0, 0,                   \
		    "full URL for traces, instead of the endpoint" },          \
	    { "OTEL_EXPORTER_OTLP_HEADERS", CONF_SECRET,                       \
		    CONF_AT(t, m.headers), "", 0, 0,                           \
		    "request headers: name=value,…, percent-encoded" },        \
	{                                                                      \
		"OTEL_SERVICE_NAME", CONF_STR, CONF_AT(t, m.service_name),     \
		    (service), 0, 0, "service name in traces"                  \
	}
#define OTLP_CONF_ROWS_N 4

/* All texts are copied. */
struct otlp_opts {
	struct loop *loop;
	const struct otlp_conf *conf;
	const char *version;        /* of the service; NULL or "": unknown */
	const char *instance;       /* of the process; NULL: a new UUID */
	struct metric_set *metrics; /* may be NULL */
	int64_t interval_ms;        /* longest wait for a batch; 0: 2000 */
	int64_t timeout_ms;         /* of one request; 0: 10000 */
	int64_t retry_ms;           /* first wait before a retry; 0: 1000 */
};

enum otlp_kind {
	OTLP_INTERNAL = 1,
	OTLP_SERVER,
	OTLP_CLIENT,
	OTLP_PRODUCER,
	OTLP_CONSUMER
};

enum otlp_status { OTLP_UNSET, OTLP_OK, OTLP_ERROR };

/* An attribute; made by OTLP_S() and OTLP_I(). */
struct otlp_attr {
	const char *key;
	enum { OTLP_ATTR_TEXT, OTLP_ATTR_INT } kind;
	struct str text; /* absent: the attribute is left out */
	int64_t number;
};

#define OTLP_S(k, v) ((struct otlp_attr){ (k), OTLP_ATTR_TEXT, (v), 0 })
#define OTLP_I(k, v) \
	((struct otlp_attr){ (k), OTLP_ATTR_INT, { NULL, 0 }, (int64_t)(v) })

struct otlp_span {
	const struct trace *trace; /* its span_id is this span's own */
	const char *parent;        /* the span it is part of; NULL: none */
	struct str name; /* of few values: no ids, no texts of users */
	enum otlp_kind kind;
	int64_t start_ns, end_ns; /* since 1970; otlp_unix_ns() */
	enum otlp_status status;
	struct str error; /* of OTLP_ERROR, for people; absent: none */
	const struct otlp_attr *attrs;
	size_t nattrs;
};

/*
 * otlp_conf_error(conf):
 * What is wrong with it, or NULL.  A constant text that contains none of the
 * values.  Pure.
 */
const char *otlp_conf_error(const struct otlp_conf *conf);

/*
 * otlp_new(opts, out, why):
 * *out is NULL if no endpoint is set.  RC_INVALID if an endpoint is not http(s)
 * or a header is not valid; *why is then a constant text with the reason, which
 * contains none of the values.
 */
enum rc otlp_new(
    const struct otlp_opts *opts, struct otlp **out, const char **why) RC_CHECK;

/*
 * otlp_flush(o, ms):
 * Send what is queued and wait for it, at most ms milliseconds.  It runs the
 * loop, so loop_run() must not be running: for the stop of a service, after
 * everything else on the loop was freed.  Retry-After of the collector is
 * respected; if it is later than ms this returns at once.
 */
void otlp_flush(struct otlp *o, int64_t ms);

/* otlp_free(o): Drop and count what is still queued. */
void otlp_free(struct otlp *o);

/*
 * otlp_wants(o, t):
 * Whether a span of that trace is exported: it is sampled, and o is not NULL.
 */
bool otlp_wants(const struct otlp *o, const struct trace *t);

/*
 * otlp_unix_ns(o, at):
 * A monotonic time as nanoseconds since 1970, with one offset for all spans of
 * this process, which changes when the wall clock is set.  0 if o is NULL.
 */
int64_t otlp_unix_ns(struct otlp *o, struct mono at);

/*
 * otlp_span(o, span):
 * Queue a copy.  Ignored unless otlp_wants(); dropped and counted if the queue
 * is full.
 */
void otlp_span(struct otlp *o, const struct otlp_span *span);

#endif /* !OTLP_OTLP_H */
