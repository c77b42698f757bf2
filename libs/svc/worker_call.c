/*
 * worker_call: requests that are served on the HTTP worker that has read them.
 */
#include <pthread.h>
#include <stdlib.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "svc/svc_internal.h"
#include "wire/wire.h"

/*
 * Ended calls whose memory is reused.  More run at a time only if some have
 * been interrupted, and those then allocate.
 */
#define SPARE_MAX 8

struct svc_worker_calls {
	pthread_mutex_t lock;
	struct svc_calls spare; /* the last used first: its memory is cached */
	size_t nspare;
};

struct svc_worker_calls *
svc_worker_calls_new(void)
{
	struct svc_worker_calls *w = mem_zalloc(sizeof(*w));

	(void)pthread_mutex_init(&w->lock, NULL);
	TAILQ_INIT(&w->spare);
	return w;
}

static void
worker_call_free(struct svc_call *c)
{
	arena_free(c->arena);
	free(c);
}

void
svc_worker_calls_free(struct svc_worker_calls *w)
{
	struct svc_call *c;

	if (w == NULL)
		return;
	while ((c = TAILQ_FIRST(&w->spare)) != NULL) {
		TAILQ_REMOVE(&w->spare, c, link);
		worker_call_free(c);
	}
	(void)pthread_mutex_destroy(&w->lock);
	free(w);
}

static struct svc_call *
worker_call_take(struct svc_worker_calls *w)
{
	struct svc_call *c;

	(void)pthread_mutex_lock(&w->lock);
	c = TAILQ_FIRST(&w->spare);
	if (c != NULL) {
		TAILQ_REMOVE(&w->spare, c, link);
		w->nspare--;
	}
	(void)pthread_mutex_unlock(&w->lock);
	if (c == NULL) {
		c = mem_zalloc(sizeof(*c));
		c->arena = arena_new(WIRE_ARENA_MAX);
	}
	return c;
}

static void
worker_call_return(struct svc_worker_calls *w, struct svc_call *c)
{
	bool spare;

	arena_reset(c->arena);
	(void)pthread_mutex_lock(&w->lock);
	spare = w->nspare < SPARE_MAX;
	if (spare) {
		TAILQ_INSERT_HEAD(&w->spare, c, link);
		w->nspare++;
	}
	(void)pthread_mutex_unlock(&w->lock);
	if (!spare)
		worker_call_free(c);
}

/* Whether access control, if there is any, leaves r to its handler. */
static bool
worker_call_is_allowed(const struct svc_endpoint *e, const struct httpd_req *r)
{
	const struct svc *s = e->svc;

	if (s->access != NULL ||
	    (strcmp(e->route->method, "GET") != 0 &&
		httpd_req_is_cross_origin(r)))
		return false;
	return s->conf.auth[0] != '\0' ||
	    svc_host_is_local(httpd_req_header(r, "Host"));
}

struct worker_call {
	struct svc_call *c;
	bool served;
};

static void
worker_call_run(void *arg)
{
	struct worker_call *w = arg;

	log_trace_set(w->c->trace.trace_id);
	w->served = svc_call_serve_on_worker(w->c);
}

bool
svc_worker_call(void *arg, struct httpd_req *r)
{
	struct svc_endpoint *e = arg;
	struct svc *s = e->svc;
	struct worker_call w;

	if (!atomic_load(&s->started) || !worker_call_is_allowed(e, r))
		return false;
	w.c = worker_call_take(s->worker_calls);
	svc_call_init(w.c, e);
	w.c->on_worker = true;
	svc_call_set_http(w.c, r);
	/* A worker's own stack has 100 KiB, a schema may recurse deeper. */
	fiber_call(worker_call_run, &w);
	worker_call_return(s->worker_calls, w.c);
	return w.served;
}
