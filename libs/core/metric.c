#include "core/metric.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/mem.h"

/* Largest observation that is distinguished from larger ones. */
#define OBSERVED_MAX 1e9

enum metric_kind { KIND_COUNTER, KIND_GAUGE, KIND_SECONDS, KIND_BYTES };

static const char *const metric_kind_names[] = { "counter", "gauge",
	"histogram", "histogram" };

/* The upper bound of a bucket. */
struct metric_bound {
	double le;
	const char *text;
};

/* 50 µs to a minute. */
static const struct metric_bound metric_seconds[] = {
	{ 0.00005, "5e-05" },
	{ 0.0001, "0.0001" },
	{ 0.00025, "0.00025" },
	{ 0.0005, "0.0005" },
	{ 0.001, "0.001" },
	{ 0.0025, "0.0025" },
	{ 0.005, "0.005" },
	{ 0.01, "0.01" },
	{ 0.025, "0.025" },
	{ 0.05, "0.05" },
	{ 0.1, "0.1" },
	{ 0.25, "0.25" },
	{ 0.5, "0.5" },
	{ 1.0, "1" },
	{ 2.5, "2.5" },
	{ 5.0, "5" },
	{ 10.0, "10" },
	{ 30.0, "30" },
	{ 60.0, "60" },
};

/* 256 bytes to 16 MiB; 0 is of its own. */
static const struct metric_bound metric_bytes[] = {
	{ 0.0, "0" },
	{ 256.0, "256" },
	{ 1024.0, "1024" },
	{ 4096.0, "4096" },
	{ 16384.0, "16384" },
	{ 65536.0, "65536" },
	{ 262144.0, "262144" },
	{ 1048576.0, "1048576" },
	{ 4194304.0, "4194304" },
	{ 16777216.0, "16777216" },
};

/* The buckets of a kind of histogram. */
static const struct metric_buckets {
	const struct metric_bound *bound;
	size_t n;
	double unit; /* of which the sum counts whole ones */
} metric_buckets[] = {
	[KIND_SECONDS] = { metric_seconds, NELEM(metric_seconds), 1e9 },
	[KIND_BYTES] = { metric_bytes, NELEM(metric_bytes), 1 },
};

struct metric {
	TAILQ_ENTRY(metric) link;
	enum metric_kind kind;
	char *labels; /* "" for none */
	double (*fn)(void *arg);
	void *arg;
	_Atomic int64_t value;   /* of a counter or gauge */
	_Atomic int64_t sum;     /* of a histogram: ns, or bytes */
	_Atomic int64_t *counts; /* its buckets and one, not cumulative */
};

TAILQ_HEAD(metric_list, metric);

struct metric_family {
	TAILQ_ENTRY(metric_family) link;
	char *name, *help;
	enum metric_kind kind;
	struct metric_list metrics;
};

TAILQ_HEAD(metric_family_list, metric_family);

struct metric_set {
	pthread_mutex_t lock; /* protects the lists, not the values */
	struct metric_family_list families;
};

struct metric_set *
metric_set_new(void)
{
	struct metric_set *s = mem_zalloc(sizeof(*s));

	(void)pthread_mutex_init(&s->lock, NULL);
	TAILQ_INIT(&s->families);
	return s;
}

static void
metric_family_free(struct metric_family *f)
{
	struct metric *m;

	while ((m = TAILQ_FIRST(&f->metrics)) != NULL) {
		TAILQ_REMOVE(&f->metrics, m, link);
		free(m->labels);
		free(m->counts);
		free(m);
	}
	free(f->name);
	free(f->help);
	free(f);
}

void
metric_set_free(struct metric_set *s)
{
	struct metric_family *f;

	if (s == NULL)
		return;
	while ((f = TAILQ_FIRST(&s->families)) != NULL) {
		TAILQ_REMOVE(&s->families, f, link);
		metric_family_free(f);
	}
	(void)pthread_mutex_destroy(&s->lock);
	free(s);
}

static struct metric_family *
metric_family_get(struct metric_set *s, enum metric_kind kind, const char *name,
    const char *help)
{
	struct metric_family *f;

	TAILQ_FOREACH (f, &s->families, link)
		if (strcmp(f->name, name) == 0) {
			assert(f->kind == kind);
			return f;
		}
	f = mem_zalloc(sizeof(*f));
	f->name = mem_strdup(name);
	f->help = mem_strdup(help);
	f->kind = kind;
	TAILQ_INIT(&f->metrics);
	TAILQ_INSERT_TAIL(&s->families, f, link);
	return f;
}

static bool
metric_kind_is_histogram(enum metric_kind kind)
{
	return kind == KIND_SECONDS || kind == KIND_BYTES;
}

static struct metric *
metric_get(struct metric_family *f, const char *labels)
{
	struct metric *m;

	TAILQ_FOREACH (m, &f->metrics, link)
		if (strcmp(m->labels, labels) == 0)
			return m;
	m = mem_zalloc(sizeof(*m));
	m->kind = f->kind;
	m->labels = mem_strdup(labels);
	if (metric_kind_is_histogram(f->kind))
		m->counts = mem_calloc(
		    metric_buckets[f->kind].n + 1, sizeof(*m->counts));
	TAILQ_INSERT_TAIL(&f->metrics, m, link);
	return m;
}

static struct metric *
metric_find_or_make(struct metric_set *s, enum metric_kind kind,
    const char *name, const char *help, const char *labels)
{
	struct metric *m;

	if (s == NULL)
		return NULL;
	(void)pthread_mutex_lock(&s->lock);
	m = metric_get(metric_family_get(s, kind, name, help),
	    labels != NULL ? labels : "");
	(void)pthread_mutex_unlock(&s->lock);
	return m;
}

struct metric *
metric_counter(struct metric_set *s, const char *name, const char *help,
    const char *labels)
{
	return metric_find_or_make(s, KIND_COUNTER, name, help, labels);
}

struct metric *
metric_gauge(struct metric_set *s, const char *name, const char *help,
    const char *labels)
{
	return metric_find_or_make(s, KIND_GAUGE, name, help, labels);
}

struct metric *
metric_histogram(struct metric_set *s, const char *name, const char *help,
    const char *labels)
{
	return metric_find_or_make(s, KIND_SECONDS, name, help, labels);
}

struct metric *
metric_histogram_bytes(struct metric_set *s, const char *name, const char *help,
    const char *labels)
{
	return metric_find_or_make(s, KIND_BYTES, name, help, labels);
}

void
metric_gauge_fn(struct metric_set *s, const char *name, const char *help,
    double (*fn)(void *arg), void *arg)
{
	struct metric *m = metric_gauge(s, name, help, NULL);

	if (m == NULL)
		return;
	(void)pthread_mutex_lock(&s->lock);
	m->fn = fn;
	m->arg = arg;
	(void)pthread_mutex_unlock(&s->lock);
}

static void
metric_atomic_add(_Atomic int64_t *v, int64_t n)
{
	(void)atomic_fetch_add_explicit(v, n, memory_order_relaxed);
}

static int64_t
metric_atomic_get(const _Atomic int64_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

void
metric_add(struct metric *m, int64_t n)
{
	if (m == NULL)
		return;
	assert(m->kind == KIND_COUNTER && n >= 0);
	metric_atomic_add(&m->value, n);
}

void
metric_set(struct metric *m, int64_t value)
{
	if (m == NULL)
		return;
	assert(m->kind == KIND_GAUGE);
	atomic_store_explicit(&m->value, value, memory_order_relaxed);
}

void
metric_change(struct metric *m, int64_t delta)
{
	if (m == NULL)
		return;
	assert(m->kind == KIND_GAUGE);
	metric_atomic_add(&m->value, delta);
}

void
metric_observe(struct metric *m, double value)
{
	const struct metric_buckets *b;
	size_t i = 0;

	if (m == NULL)
		return;
	assert(metric_kind_is_histogram(m->kind));
	b = &metric_buckets[m->kind];
	/* NaN and negative durations count as 0. */
	if (!(value > 0))
		value = 0;
	if (value > OBSERVED_MAX)
		value = OBSERVED_MAX;
	while (i < b->n && value > b->bound[i].le)
		i++;
	metric_atomic_add(&m->counts[i], 1);
	metric_atomic_add(&m->sum, (int64_t)(value * b->unit));
}

int64_t
metric_value(const struct metric *m)
{
	int64_t n = 0;

	if (m == NULL)
		return 0;
	if (!metric_kind_is_histogram(m->kind))
		return metric_atomic_get(&m->value);
	for (size_t i = 0; i <= metric_buckets[m->kind].n; i++)
		n += metric_atomic_get(&m->counts[i]);
	return n;
}

static void
metric_put_escaped(struct buf *out, const char *help)
{
	for (; *help != '\0'; help++)
		if (*help == '\n')
			buf_puts(out, "\\n");
		else if (*help == '\\')
			buf_puts(out, "\\\\");
		else
			buf_putc(out, *help);
}

static void
metric_put_f64(struct buf *out, double v)
{
	if (isnan(v))
		buf_puts(out, "NaN");
	else if (isinf(v))
		buf_puts(out, v > 0 ? "+Inf" : "-Inf");
	else
		buf_printf(out, "%.15g", v);
}

/* Append "name_suffix{labels} ", with the bound of a bucket. */
static void
metric_put_name(struct buf *out, const struct metric_family *f,
    const struct metric *m, const char *suffix, const char *le)
{
	buf_puts(out, f->name);
	buf_puts(out, suffix);
	if (m->labels[0] != '\0' || le != NULL) {
		buf_putc(out, '{');
		buf_puts(out, m->labels);
		if (le != NULL)
			buf_printf(out, "%sle=\"%s\"",
			    m->labels[0] != '\0' ? "," : "", le);
		buf_putc(out, '}');
	}
	buf_putc(out, ' ');
}

static void
metric_put_histogram(
    struct buf *out, const struct metric_family *f, const struct metric *m)
{
	const struct metric_buckets *b = &metric_buckets[m->kind];
	int64_t n = 0;

	for (size_t i = 0; i <= b->n; i++) {
		n += metric_atomic_get(&m->counts[i]);
		metric_put_name(
		    out, f, m, "_bucket", i < b->n ? b->bound[i].text : "+Inf");
		buf_printf(out, "%" PRId64 "\n", n);
	}
	metric_put_name(out, f, m, "_sum", NULL);
	metric_put_f64(out, (double)metric_atomic_get(&m->sum) / b->unit);
	buf_putc(out, '\n');
	metric_put_name(out, f, m, "_count", NULL);
	buf_printf(out, "%" PRId64 "\n", n);
}

static void
metric_put(
    struct buf *out, const struct metric_family *f, const struct metric *m)
{
	if (metric_kind_is_histogram(m->kind)) {
		metric_put_histogram(out, f, m);
		return;
	}
	metric_put_name(out, f, m, "", NULL);
	if (m->fn != NULL)
		metric_put_f64(out, m->fn(m->arg));
	else
		buf_printf(out, "%" PRId64, metric_atomic_get(&m->value));
	buf_putc(out, '\n');
}

void
metric_write(struct metric_set *s, struct buf *out)
{
	const struct metric_family *f;
	const struct metric *m;

	if (s == NULL)
		return;
	(void)pthread_mutex_lock(&s->lock);
	TAILQ_FOREACH (f, &s->families, link) {
		buf_printf(out, "# HELP %s ", f->name);
		metric_put_escaped(out, f->help);
		buf_printf(out, "\n# TYPE %s %s\n", f->name,
		    metric_kind_names[f->kind]);
		TAILQ_FOREACH (m, &f->metrics, link)
			metric_put(out, f, m);
	}
	(void)pthread_mutex_unlock(&s->lock);
}
