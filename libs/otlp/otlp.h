/*
 * otlp: spans of traces, sent to an OpenTelemetry collector as OTLP over HTTP
 * in JSON.
 *
 * A span is copied into a bounded queue and goes out with others, one request
 * at a time.  A collector that is slow, hangs or is gone costs spans, which are
 * counted, and nothing else: no function here waits but otlp_flush().
 *
 * Without an endpoint all of it is off: otlp_new() gives NULL, which every
 * function takes and does nothing with.  All functions run on the loop thread.
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

/* The queue's ceilings; a span that finds it full is dropped. */
#define OTLP_QUEUE_SPANS 8192
#define OTLP_QUEUE_BYTES (8 * 1024 * 1024)
/* As many spans make a request at once, without waiting for more. */
#define OTLP_BATCH_SPANS 512
#define OTLP_BATCH_BYTES (1024 * 1024)
/* After as many failed requests in a row a batch is given up. */
#define OTLP_TRIES 5
/* A span's ceilings: attributes, and the bytes of a name or key and of a text;
 * what is longer is cut. */
#define OTLP_ATTRS_MAX 32
#define OTLP_NAME_MAX  128
#define OTLP_TEXT_MAX  1024

struct otlp;

/* What the environment says, in the words of OpenTelemetry. */
struct otlp_conf {
	const char *endpoint;        /* the collector; "": off */
	const char *traces_endpoint; /* instead, the whole URL; "": none */
	const char *headers;         /* "name=value,…", percent-encoded */
	const char *service_name;
};

/*
 * The rows of these options in a program's table: they fill m, a member of
 * struct t; service is the name by default.
 */
#define OTLP_CONF_ROWS(t, m, service)                                          \
	{ "OTEL_EXPORTER_OTLP_ENDPOINT", CONF_STR, CONF_AT(t, m.endpoint), "", \
		0, 0,                                                          \
		"OpenTelemetry collector that is sent traces; empty for "      \
		"none" },                                                      \
	    { "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", CONF_STR,                  \
		    CONF_AT(t, m.traces_endpoint), "", 0, 0,                   \
		    "instead, the whole URL traces are sent to" },             \
	    { "OTEL_EXPORTER_OTLP_HEADERS", CONF_SECRET,                       \
		    CONF_AT(t, m.headers), "", 0, 0,                           \
		    "headers for it: name=value,…, percent-encoded" },         \
	{                                                                      \
		"OTEL_SERVICE_NAME", CONF_STR, CONF_AT(t, m.service_name),     \
		    (service), 0, 0, "what the service is called in traces"    \
	}
#define OTLP_CONF_ROWS_N 4

/* All texts are copied. */
struct otlp_opts {
	struct loop *loop;
	const struct otlp_conf *conf;
	const char *version;        /* of the service; NULL or "": not said */
	const char *instance;       /* of the process; NULL: a new UUID */
	struct metric_set *metrics; /* may be NULL */
	int64_t interval_ms;        /* longest wait for a batch; 0: 2000 */
	int64_t timeout_ms;         /* of one request; 0: 10000 */
	int64_t retry_ms;           /* the first wait, doubled; 0: 1000 */
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
	struct str name; /* of few values: no ids, no words of users */
	enum otlp_kind kind;
	int64_t start_ns, end_ns; /* since 1970; otlp_unix_ns() */
	enum otlp_status status;
	struct str error; /* of OTLP_ERROR, for people; absent: none */
	const struct otlp_attr *attrs;
	size_t nattrs;
};

/*
 * otlp_conf_error(conf):
 * What is wrong with it: a constant without a piece of it; NULL: nothing. Pure.
 */
const char *otlp_conf_error(const struct otlp_conf *conf);

/*
 * otlp_new(opts, out, why):
 * *out is NULL if no endpoint is set.  RC_INVALID if an endpoint is not http(s)
 * or the headers are not such; *why is then a constant that says what, without
 * a piece of them.
 */
enum rc otlp_new(
    const struct otlp_opts *opts, struct otlp **out, const char **why) RC_CHECK;

/*
 * otlp_flush(o, ms):
 * Send what is queued, and wait for it at most ms milliseconds; it runs the
 * loop, so only while loop_run() does not run: in a service's stop, when what
 * else could be called from the loop is gone.  A wait that the collector asked
 * for is kept; if it is longer than ms this returns at once.
 */
void otlp_flush(struct otlp *o, int64_t ms);

/* otlp_free(o): What is still queued is dropped and counted. */
void otlp_free(struct otlp *o);

/*
 * otlp_wants(o, t):
 * Whether a span of that trace would be taken: it is sampled, and this is on.
 */
bool otlp_wants(const struct otlp *o, const struct trace *t);

/*
 * otlp_unix_ns(o, at):
 * A moment of the monotonic clock as nanoseconds since 1970, by one anchor for
 * all spans of this process, so that theirs agree; it moves when the wall clock
 * was set.  0 if o is NULL.
 */
int64_t otlp_unix_ns(struct otlp *o, struct mono at);

/*
 * otlp_span(o, span):
 * Queue a copy.  Nothing if otlp_wants() does not want it; dropped and counted
 * if the queue is full.
 */
void otlp_span(struct otlp *o, const struct otlp_span *span);

#endif /* !OTLP_OTLP_H */
