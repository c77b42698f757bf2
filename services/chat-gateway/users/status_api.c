/*
 * GET /v1/status: the services that run.  They are asked with the NATS micro
 * protocol; who does not reply in time is not in the list.
 */
#include <stdlib.h>

#include "bus/bus.h"
#include "caller.h"
#include "core/arena.h"
#include "core/log.h"
#include "gateway.h"
#include "handlers.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define SUBJECT      "$SRV.STATS"
#define WAIT_MS      500
#define SERVICES_MAX 256

/* A call that collects replies; in the memory of its call. */
struct status_query {
	struct svc_call *c;
	bool for_operator;
	struct wire_service_status rep;
	struct wire_service_status_services services[SERVICES_MAX];
	char at[WALL_FORMAT_MAX];
};

static void
status_add(struct status_query *q, const struct wire_service_stats *s)
{
	struct arena *a = svc_call_arena(q->c);
	struct wire_service_status_services out = {
		.name = arena_str(a, s->name),
		.version = arena_str(a, s->version),
		.ready = str_eq(s->metadata.ready, STR("true")),
		.since = arena_str(a, s->started),
	};

	if (q->for_operator) {
		out.instance = arena_str(a, s->id);
		out.status = arena_str(a, s->metadata.status);
	}
	q->rep.ok = q->rep.ok && out.ready;
	if (q->rep.n_services < SERVICES_MAX && out.name.p != NULL &&
	    out.version.p != NULL)
		q->services[q->rep.n_services++] = out;
}

static void
status_read(struct status_query *q, struct str json)
{
	struct arena *scratch = arena_new(WIRE_ARENA_MAX);
	struct wire_service_stats s;

	if (wire_decode(&wire_service_stats_desc, json, scratch, &s, NULL) ==
	    RC_OK)
		status_add(q, &s);
	arena_free(scratch);
}

static int
status_compare(const void *a, const void *b)
{
	const struct wire_service_status_services *x = a, *y = b;
	int order = str_cmp(x->name, y->name);

	return order != 0 ? order : str_cmp(x->since, y->since);
}

/* Called for each reply, and at last with RC_TIMEOUT. */
static void
status_on_reply(void *arg, enum rc rc, struct str data)
{
	struct status_query *q = arg;

	log_trace_set(svc_call_trace(q->c)->trace_id);
	if (rc == RC_OK) {
		status_read(q, data);
	} else if (rc == RC_TIMEOUT) {
		qsort(q->services, q->rep.n_services, sizeof(q->services[0]),
		    status_compare);
		svc_reply(q->c, &q->rep);
	} else {
		gateway_fail_bus(q->c, rc);
	}
	log_trace_set("");
}

void
on_status(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct wall now = clock_wall();
	struct status_query *q = arena_alloc(svc_call_arena(c), sizeof(*q));
	struct bus_meta meta = { .deadline = { now.ms + WAIT_MS },
		.trace = svc_call_trace(c) };
	enum rc rc;

	if (q == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return;
	}
	q->c = c;
	q->for_operator = caller_is_unlimited(c);
	wall_format(now, 0, q->at);
	q->rep = (struct wire_service_status){ .version = str_of(svc_version()),
		.at = str_of(q->at),
		.ok = true,
		.services = q->services };
	rc = bus_request(svc_bus(g->svc), SUBJECT, STR(""), &meta,
	    (struct bus_reply_handler){ status_on_reply, q, true }, NULL);
	if (rc != RC_OK)
		gateway_fail_bus(c, rc);
}
