/*
 * worker_call: requests that are served on the HTTP worker that has read them.
 */
#include <stdlib.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/spare.h"
#include "svc/svc_internal.h"
#include "wire/wire.h"

/* Ended calls, whose memory is reused. */
struct svc_worker_calls {
	struct spare spare;
};

struct svc_worker_calls *
svc_worker_calls_new(void)
{
	return mem_zalloc(sizeof(struct svc_worker_calls));
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
	while ((c = spare_take(&w->spare)) != NULL)
		worker_call_free(c);
	free(w);
}

static struct svc_call *
worker_call_take(struct svc_worker_calls *w)
{
	struct svc_call *c = spare_take(&w->spare);

	if (c == NULL) {
		c = mem_zalloc(sizeof(*c));
		c->arena = arena_new(WIRE_ARENA_MAX);
	}
	return c;
}

static void
worker_call_return(struct svc_worker_calls *w, struct svc_call *c)
{
	arena_reset(c->arena);
	if (!spare_put(&w->spare, c))
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

	w->served = svc_call_serve_on_worker(w->c);
}

/* Whether the service has answered c without decoding it. */
static bool
worker_call_reply_early(struct svc_call *c)
{
	const struct svc *s = c->endpoint->svc;

	return s->def->reply_early != NULL && svc_call_body(c).n > 0 &&
	    s->def->reply_early(s->app, c);
}

bool
svc_worker_call(void *arg, struct httpd_req *r)
{
	struct svc_endpoint *e = arg;
	struct svc *s = e->svc;
	struct worker_call w = { .served = true };

	if (!atomic_load(&s->started) || !worker_call_is_allowed(e, r))
		return false;
	w.c = worker_call_take(s->worker_calls);
	svc_call_init(w.c, e, httpd_req_start(r));
	w.c->on_worker = true;
	svc_call_set_http(w.c, r);
	log_trace_set(w.c->trace.trace_id);
	/* A worker's own stack has 100 KiB, a schema may recurse deeper. */
	if (!worker_call_reply_early(w.c))
		fiber_call(worker_call_run, &w);
	log_trace_set("");
	worker_call_return(s->worker_calls, w.c);
	return w.served;
}
