/*
 * The routes at run time: their metrics, and where their calls come from.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "svc/call.h"
#include "svc/edge.h"
#include "svc/internal.h"
#include "svc/places.h"
#include "wire/iface.h"

/* So much later than the handler may answer does the HTTP server, itself. */
#define HTTP_GRACE_MS 1000
/* Threads that decode large bodies, and bodies that wait for them. */
#define DECODERS        1
#define DECODE_WAIT_MAX 64

static void
lane_metrics(struct svc_lane *lane)
{
	struct metric_set *set = lane->svc->metrics;
	char labels[160];
	int rc;

	snprintf(labels, sizeof(labels), "route=\"%s\"", lane->route->name);
	lane->seconds = metric_histogram(set, "soul_request_duration_seconds",
	    "Time from a request's arrival to its answer.", labels);
	for (rc = 0; rc < RC_N; rc++) {
		snprintf(labels, sizeof(labels), "route=\"%s\",code=\"%s\"",
		    lane->route->name, rc_name((enum rc)rc));
		lane->by_rc[rc] = metric_counter(set, "soul_requests_total",
		    "Requests answered, by outcome.", labels);
	}
}

/* A route that nobody has listed is for whoever runs the installation. */
static unsigned
roles_of(const struct svc_route *r)
{
	size_t i;

	for (i = 0; r->path != NULL && i < wire_routes_n; i++) {
		if (strcmp(wire_routes[i].method, r->method) == 0 &&
		    strcmp(wire_routes[i].path, r->path) == 0)
			return wire_routes[i].roles;
	}
	return 1U << WIRE_ROLE_OPERATOR;
}

/* The HTTP server and discovery keep pointers into these tables. */
static void
lanes_build(struct svc *s, size_t *nhttp)
{
	const struct svc_def *def = s->def;
	size_t i;

	s->lanes = mem_calloc(def->nroutes, sizeof(*s->lanes));
	s->http_routes = mem_calloc(def->nroutes, sizeof(*s->http_routes));
	s->service = (struct bus_service){ .name = def->name,
		.version = svc_version(),
		.description = def->summary,
		.endpoints =
		    mem_calloc(def->nroutes, sizeof(struct bus_endpoint)) };
	*nhttp = 0;
	for (i = 0; i < def->nroutes; i++) {
		const struct svc_route *r = &def->routes[i];
		struct svc_lane *lane = &s->lanes[i];

		lane->svc = s;
		lane->route = r;
		lane->roles = roles_of(r);
		lane_metrics(lane);
		if (r->subject != NULL) {
			lane->endpoint = &s->service.endpoints[s->service.n++];
			lane->endpoint->name = r->name;
			lane->endpoint->subject = r->subject;
			lane->endpoint->queue = def->name;
		}
		if (r->path != NULL)
			s->http_routes[(*nhttp)++] =
			    (struct httpd_route){ .method = r->method,
				    .path = r->path,
				    .fn = svc_call_of_http,
				    .arg = lane };
	}
}

enum rc
svc_lanes_start(struct svc *s)
{
	int64_t slowest = 0;
	size_t i, nhttp;

	lanes_build(s, &nhttp);
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
	edge_opts(s, &o);
	s->places = places_new(s);
	return httpd_new(&o, &s->http);
}

enum rc
svc_lanes_serve(struct svc *s)
{
	size_t i;
	enum rc rc;

	for (i = 0; i < s->def->nroutes; i++) {
		struct svc_lane *lane = &s->lanes[i];

		if (lane->endpoint == NULL)
			continue;
		rc = bus_subscribe(s->bus, lane->route->subject, s->def->name,
		    svc_call_of_msg, lane, NULL);
		if (rc != RC_OK)
			return rc;
	}
	return s->bus != NULL ? bus_announce(s->bus, &s->service) : RC_OK;
}

void
svc_lanes_free(struct svc *s)
{
	struct svc_call *c;

	while ((c = TAILQ_FIRST(&s->spare)) != NULL) {
		TAILQ_REMOVE(&s->spare, c, link);
		arena_free(c->arena);
		free(c);
	}
	free(s->lanes);
	free(s->http_routes);
	free(s->service.endpoints);
}
