/*
 * endpoint: the routes at run time: their metrics, subscriptions and HTTP
 * handlers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "httpd/httpd_tunnel.h"
#include "svc/svc_internal.h"
#include "wire/iface.h"

/* The HTTP server times out this much later than the handler. */
#define HTTP_GRACE_MS 1000
/* Threads that decode large bodies, and bodies that may wait for them. */
#define DECODERS        1
#define DECODE_WAIT_MAX 64

static void
endpoint_metrics(struct svc_endpoint *e)
{
	struct metric_set *set = e->svc->metrics;
	char labels[160];
	int rc;

	snprintf(labels, sizeof(labels), "route=\"%s\"", e->route->name);
	e->seconds = metric_histogram(set, "soul_request_duration_seconds",
	    "Time from a request's arrival to its response.", labels);
	for (rc = 0; rc < RC_N; rc++) {
		snprintf(labels, sizeof(labels), "route=\"%s\",code=\"%s\"",
		    e->route->name, rc_name((enum rc)rc));
		e->by_rc[rc] = metric_counter(set, "soul_requests_total",
		    "Requests, by result code.", labels);
	}
}

/* A route that is not listed is for operators only. */
static unsigned
endpoint_roles(const struct svc_route *r)
{
	size_t i;

	for (i = 0; r->path != NULL && i < wire_routes_n; i++) {
		if (strcmp(wire_routes[i].method, r->method) == 0 &&
		    strcmp(wire_routes[i].path, r->path) == 0)
			return wire_routes[i].roles;
	}
	return 1U << WIRE_ROLE_OPERATOR;
}

/* The HTTP server and discovery have pointers into these tables. */
static void
endpoints_build(struct svc *s, size_t *nhttp)
{
	const struct svc_def *def = s->def;
	size_t i;

	s->endpoints = mem_calloc(def->nroutes, sizeof(*s->endpoints));
	s->http_routes = mem_calloc(def->nroutes, sizeof(*s->http_routes));
	s->service = (struct bus_service){ .name = def->name,
		.version = svc_version(),
		.description = def->summary,
		.endpoints =
		    mem_calloc(def->nroutes, sizeof(struct bus_endpoint)) };
	*nhttp = 0;
	for (i = 0; i < def->nroutes; i++) {
		const struct svc_route *r = &def->routes[i];
		struct svc_endpoint *e = &s->endpoints[i];

		e->svc = s;
		e->route = r;
		e->roles = endpoint_roles(r);
		endpoint_metrics(e);
		if (r->subject != NULL) {
			e->nats = &s->service.endpoints[s->service.n++];
			e->nats->name = r->name;
			e->nats->subject = r->subject;
			e->nats->queue = def->name;
		}
		if (r->path != NULL)
			s->http_routes[(*nhttp)++] =
			    (struct httpd_route){ .method = r->method,
				    .path = r->path,
				    .fn = svc_call_from_http,
				    .arg = e,
				    .on_worker = def->on_worker
					? svc_worker_call
					: NULL };
	}
}

/* As svc_access_check_call(): a page could have made its name resolve to us. */
static bool
endpoint_allows_tunnel(void *arg, const struct httpd_req *r)
{
	const struct svc *s = arg;

	return s->conf.auth[0] != '\0' ||
	    svc_host_is_local(httpd_req_header(r, "Host"));
}

enum rc
svc_endpoints_start(struct svc *s)
{
	struct httpd_tunnel tunnel = { .path = NULL };
	int64_t slowest = 0;
	size_t i, nhttp;

	endpoints_build(s, &nhttp);
	s->decoders = worker_new(s->loop, DECODERS, DECODE_WAIT_MAX);
	if (nhttp == 0)
		return RC_OK;
	for (i = 0; i < s->def->nroutes; i++) {
		if (s->def->routes[i].deadline_ms > slowest)
			slowest = s->def->routes[i].deadline_ms;
	}
	s->http_timeout_ms = slowest + HTTP_GRACE_MS;
	struct httpd_opts o = { .loop = s->loop,
		.addr = s->conf.http_addr,
		.routes = s->http_routes,
		.nroutes = nhttp,
		.workers = (unsigned)s->conf.http_workers,
		.timeout_ms = s->http_timeout_ms,
		.metrics = s->metrics };
	svc_http_opts(s, &o);
	if (s->def->files != NULL)
		o.files = s->def->files(s->app_conf, &o.nfiles);
	if (s->def->tunnel != NULL) {
		s->def->tunnel(s->app_conf, &tunnel);
		tunnel.allows = endpoint_allows_tunnel;
		tunnel.arg = s;
		o.tunnel = &tunnel;
	}
	s->stream_limiter = svc_stream_limiter_new(s);
	s->worker_calls = svc_worker_calls_new();
	return httpd_new(&o, &s->http);
}

enum rc
svc_endpoints_serve(struct svc *s)
{
	size_t i;
	enum rc rc;

	for (i = 0; i < s->def->nroutes; i++) {
		struct svc_endpoint *e = &s->endpoints[i];

		if (e->nats == NULL)
			continue;
		rc = bus_subscribe(s->bus, e->route->subject, s->def->name,
		    svc_call_from_msg, e, NULL);
		if (rc != RC_OK)
			return rc;
	}
	s->service.ready = svc_ready_lines;
	s->service.ready_arg = s;
	return s->bus != NULL ? bus_announce(s->bus, &s->service) : RC_OK;
}

void
svc_endpoints_free(struct svc *s)
{
	struct svc_call *c;

	while ((c = TAILQ_FIRST(&s->spare)) != NULL) {
		TAILQ_REMOVE(&s->spare, c, link);
		arena_free(c->arena);
		free(c);
	}
	svc_worker_calls_free(s->worker_calls);
	free(s->endpoints);
	free(s->http_routes);
	free(s->service.endpoints);
}
