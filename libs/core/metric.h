/*
 * metric: counters, gauges and histograms, written as Prometheus text 0.0.4.
 *
 * Any thread; updates take no lock.  Metrics are created at start-up and live
 * as long as their set.
 */
#ifndef CORE_METRIC_H
#define CORE_METRIC_H

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

struct metric_set;
struct metric;

/* metric_set_new(), metric_set_free(s): NULL is allowed. */
struct metric_set *metric_set_new(void);
void metric_set_free(struct metric_set *s);

/*
 * metric_counter(s, name, help, labels), metric_gauge(…), metric_histogram(…):
 * The metric with that name and these labels, created if it is new.  labels is
 * `route="x",code="ok"` (values escaped by the caller) or NULL; all texts are
 * copied.  A counter's name ends in "_total"; a histogram is of seconds, its
 * name ends in "_seconds", and its buckets range from 50 µs to 60 s.  One of
 * metric_histogram_bytes(…) is of bytes, its name ends in "_bytes", and its
 * buckets are 0 and from 256 to 16 Mi.  Another kind for the same name is a bug
 * and asserted.  With s NULL the metric is NULL, which the functions below
 * ignore.
 */
struct metric *metric_counter(struct metric_set *s, const char *name,
    const char *help, const char *labels);
struct metric *metric_gauge(struct metric_set *s, const char *name,
    const char *help, const char *labels);
struct metric *metric_histogram(struct metric_set *s, const char *name,
    const char *help, const char *labels);
struct metric *metric_histogram_bytes(struct metric_set *s, const char *name,
    const char *help, const char *labels);

/*
 * metric_gauge_fn(s, name, help, fn, arg):
 * A gauge whose value is computed when the set is written; fn runs on the
 * writer's thread and must not create metrics.
 */
void metric_gauge_fn(struct metric_set *s, const char *name, const char *help,
    double (*fn)(void *arg), void *arg);

/* Add n (≥ 0) to a counter; set a gauge; add to a gauge; observe seconds, or
 * bytes. */
void metric_add(struct metric *m, int64_t n);
void metric_set(struct metric *m, int64_t value);
void metric_change(struct metric *m, int64_t delta);
void metric_observe(struct metric *m, double value);

/* metric_value(m): A counter's or gauge's value, a histogram's count. */
int64_t metric_value(const struct metric *m);

/* metric_write(s, out): Append all metrics, grouped by name. */
void metric_write(struct metric_set *s, struct buf *out);

#endif /* !CORE_METRIC_H */
