#include "httpd/crowd.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <time.h>

#include "core/log.h"
#include "core/mem.h"
#include "httpd/roster.h"

/*
 * Between two looks: after one that cut something, and after any other; at
 * least so many times what the look has cost of a processor.
 */
#define BUSY_MS    10
#define BUSY_TIMES 4
#define CALM_MS    50
#define CALM_TIMES 20

struct crowd {
	struct httpd *h;
	size_t enough; /* connections that need no look */
	struct roster seen;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	bool wake, stop;
};

static void
log_over(const struct roster_one *o, size_t n, size_t cut)
{
	static struct log_rate rate;
	struct in_addr in = { htonl(o->addr) };
	char text[INET_ADDRSTRLEN] = "";
	int64_t missed;

	if (cut == 0 || !log_every(&rate, 1, &missed))
		return;
	inet_ntop(AF_INET, &in, text, sizeof(text));
	log_warn("httpd.too_many_connections", LOG_S("address", text),
	    LOG_I("open", n), LOG_I("cut", cut), LOG_I("missed", missed));
}

/* Cut what of the n connections of one address at o is too much. */
static size_t
cut_address(struct httpd *h, struct roster_one *o, size_t n)
{
	size_t i, done = 0;

	for (i = 0; i < n && n - done > h->per_address; i++)
		if (!o[i].served && roster_cut(h, &o[i]))
			done++;
	log_over(o, n, done);
	return done;
}

static size_t
cut_over_limit(struct httpd *h, struct roster *seen)
{
	size_t i, end, done = 0;

	for (i = 0; i < seen->n; i = end) {
		struct roster_one *o = &seen->all[i];

		for (end = i + 1; end < seen->n; end++)
			if (seen->all[end].addr != o->addr)
				break;
		done += cut_address(h, o, end - i);
	}
	metric_add(h->refused[SERVER_CROWD], (int64_t)done);
	return done;
}

static bool
is_slow(const struct roster_one *o, struct mono now)
{
	if (o->cut || o->unread)
		return false;
	if (o->served)
		return o->body.ns != 0 &&
		    mono_diff_ms(now, o->body) >= CROWD_BODY_MS;
	return mono_diff_ms(now, o->since) >= CROWD_IDLE_MS;
}

static bool
is_scarce(const struct httpd *h)
{
	return atomic_load(&h->connections) + HTTPD_SPARE_WORKERS >= h->workers;
}

static size_t
cut_slow(struct httpd *h, struct roster *seen, struct mono now)
{
	static struct log_rate rate;
	size_t i, done = 0;
	int64_t missed;

	for (i = 0; i < seen->n; i++)
		if (is_slow(&seen->all[i], now) && roster_cut(h, &seen->all[i]))
			done++;
	metric_add(h->refused[SERVER_SLOW], (int64_t)done);
	if (done > 0 && log_every(&rate, 1, &missed))
		log_warn("httpd.workers_scarce", LOG_I("open", seen->n),
		    LOG_I("cut", done), LOG_I("missed", missed));
	return done;
}

/* One look; how many were cut. */
static size_t
look(struct crowd *c)
{
	struct mono now = clock_mono();
	size_t done;

	roster_look(&c->seen, c->h, now);
	done = cut_over_limit(c->h, &c->seen);
	if (is_scarce(c->h))
		done += cut_slow(c->h, &c->seen, now);
	return done;
}

/* Wait until woken, or for ms unless that is negative; false: stop. */
static bool
rest(struct crowd *c, int64_t ms)
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
used_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Look; for how many ms to rest then. */
static int64_t
pause_after_look(struct crowd *c)
{
	int64_t start = used_ms();
	bool busy = look(c) > 0;
	int64_t least = busy ? BUSY_MS : CALM_MS;
	int64_t ms = (used_ms() - start) * (busy ? BUSY_TIMES : CALM_TIMES);

	return ms > least ? ms : least;
}

static void *
run(void *arg)
{
	struct crowd *c = arg;

	while (rest(c, -1)) {
		roster_forget(&c->seen);
		while (atomic_load(&c->h->connections) > c->enough)
			if (!rest(c, pause_after_look(c)))
				return NULL;
	}
	return NULL;
}

struct crowd *
crowd_new(struct httpd *h)
{
	struct crowd *c = mem_zalloc(sizeof(*c));
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
	if (pthread_create(&c->thread, NULL, run, c) != 0)
		abort();
	return c;
}

void
crowd_free(struct crowd *c)
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
	roster_free(&c->seen);
	free(c);
}

void
crowd_note(struct crowd *c, size_t n)
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
