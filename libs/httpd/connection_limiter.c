/*
 * Connection limiter: a thread that closes connections over the limit and idle
 * ones while workers are scarce.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <time.h>

#include "core/log.h"
#include "core/mem.h"
#include "httpd/httpd_internal.h"

/*
 * Pause after a scan that closed something, and after any other; at least so
 * many times the processor time of the scan.
 */
#define BUSY_MS    10
#define BUSY_TIMES 4
#define CALM_MS    50
#define CALM_TIMES 20

struct connection_limiter {
	struct httpd *h;
	size_t enough; /* connections that need no scan */
	struct connection_table table;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	bool wake, stop;
};

static void
limiter_log(const struct connection_entry *o, size_t n, size_t closed)
{
	static struct log_rate rate;
	struct in_addr in = { htonl(o->addr) };
	char text[INET_ADDRSTRLEN] = "";
	int64_t missed;

	if (closed == 0 || !log_every(&rate, 1, &missed))
		return;
	inet_ntop(AF_INET, &in, text, sizeof(text));
	log_warn("httpd.too_many_connections", LOG_S("address", text),
	    LOG_I("open", n), LOG_I("closed", closed), LOG_I("missed", missed));
}

/* Close those over the limit of the n connections of one address at o. */
static size_t
limiter_shutdown_address(struct httpd *h, struct connection_entry *o, size_t n)
{
	size_t i, done = 0;

	for (i = 0; i < n && n - done > h->per_address; i++)
		if (!o[i].served && connection_table_shutdown(h, &o[i]))
			done++;
	limiter_log(o, n, done);
	return done;
}

static size_t
limiter_shutdown_excess(struct httpd *h, struct connection_table *table)
{
	size_t i, end, done = 0;

	for (i = 0; i < table->n; i = end) {
		struct connection_entry *o = &table->all[i];

		for (end = i + 1; end < table->n; end++)
			if (table->all[end].addr != o->addr)
				break;
		done += limiter_shutdown_address(h, o, end - i);
	}
	metric_add(h->rejected[SERVER_TOO_MANY], (int64_t)done);
	return done;
}

static bool
limiter_is_idle(const struct connection_entry *o, struct mono now)
{
	if (o->closed || o->unread)
		return false;
	if (o->served)
		return o->body.ns != 0 &&
		    mono_diff_ms(now, o->body) >= LIMITER_BODY_MS;
	return mono_diff_ms(now, o->since) >= LIMITER_IDLE_MS;
}

static bool
limiter_workers_scarce(const struct httpd *h)
{
	return atomic_load(&h->connections) + HTTPD_SPARE_WORKERS >= h->workers;
}

static size_t
limiter_shutdown_idle(
    struct httpd *h, struct connection_table *table, struct mono now)
{
	static struct log_rate rate;
	size_t i, done = 0;
	int64_t missed;

	for (i = 0; i < table->n; i++)
		if (limiter_is_idle(&table->all[i], now) &&
		    connection_table_shutdown(h, &table->all[i]))
			done++;
	metric_add(h->rejected[SERVER_SLOW], (int64_t)done);
	if (done > 0 && log_every(&rate, 1, &missed))
		log_warn("httpd.workers_scarce", LOG_I("open", table->n),
		    LOG_I("closed", done), LOG_I("missed", missed));
	return done;
}

/* Scan once; return the number of closed connections. */
static size_t
limiter_scan(struct connection_limiter *c)
{
	struct mono now = clock_mono();
	size_t done;

	connection_table_scan(&c->table, c->h, now);
	done = limiter_shutdown_excess(c->h, &c->table);
	if (limiter_workers_scarce(c->h))
		done += limiter_shutdown_idle(c->h, &c->table, now);
	return done;
}

/* Wait until woken, or for ms unless that is negative; false: stop. */
static bool
limiter_sleep(struct connection_limiter *c, int64_t ms)
{
	struct mono until = mono_add_ms(clock_mono(), ms);
	struct timespec ts = { .tv_sec = (time_t)(until.ns / 1000000000),
		.tv_nsec = (long)(until.ns % 1000000000) };
	int e = 0;

	pthread_mutex_lock(&c->lock);
	while (!c->stop && e == 0) {
		if (ms >= 0)
			e = pthread_cond_timedwait(&c->changed, &c->lock, &ts);
		else if (c->wake)
			break;
		else
			pthread_cond_wait(&c->changed, &c->lock);
	}
	c->wake = false;
	bool go_on = !c->stop;
	pthread_mutex_unlock(&c->lock);
	return go_on;
}

/* Processor time of this thread, in ms. */
static int64_t
limiter_cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Scan; return the pause after it in ms. */
static int64_t
limiter_scan_and_pause(struct connection_limiter *c)
{
	int64_t start = limiter_cpu_ms();
	bool busy = limiter_scan(c) > 0;
	int64_t least = busy ? BUSY_MS : CALM_MS;
	int64_t ms =
	    (limiter_cpu_ms() - start) * (busy ? BUSY_TIMES : CALM_TIMES);

	return ms > least ? ms : least;
}

static void *
limiter_run(void *arg)
{
	struct connection_limiter *c = arg;

	while (limiter_sleep(c, -1)) {
		connection_table_clear(&c->table);
		while (atomic_load(&c->h->connections) > c->enough)
			if (!limiter_sleep(c, limiter_scan_and_pause(c)))
				return NULL;
	}
	return NULL;
}

struct connection_limiter *
connection_limiter_new(struct httpd *h)
{
	struct connection_limiter *c = mem_zalloc(sizeof(*c));
	pthread_condattr_t attr;

	c->h = h;
	c->enough = h->workers - HTTPD_SPARE_WORKERS - 1;
	if (c->enough > h->per_address)
		c->enough = h->per_address;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->changed, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&c->lock, NULL);
	if (pthread_create(&c->thread, NULL, limiter_run, c) != 0)
		abort();
	return c;
}

void
connection_limiter_free(struct connection_limiter *c)
{
	if (c == NULL)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	connection_table_free(&c->table);
	free(c);
}

void
connection_limiter_notify(struct connection_limiter *c, size_t n)
{
	if (n <= c->enough)
		return;
	pthread_mutex_lock(&c->lock);
	if (!c->wake) {
		c->wake = true;
		pthread_cond_signal(&c->changed);
	}
	pthread_mutex_unlock(&c->lock);
}
