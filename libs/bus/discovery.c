/*
 * The NATS micro protocol: what a service says of itself.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bus/bus_internal.h"
#include "bus/discovery.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"

#define N_VERBS   3
#define LINES_MAX 4096

struct discovery;

/* One verb of $SRV. */
struct discovery_verb {
	struct discovery *of;
	void (*write)(const struct discovery *d, struct wire_out *o);
};

struct discovery {
	struct bus_listener listener; /* for bus_free() */
	const struct bus_service *service;
	char id[ID_HEX32_MAX];
	char started[WALL_FORMAT_MAX];
	struct discovery_verb verbs[N_VERBS];
};

static void
discovery_put_metadata(struct wire_out *o)
{
	wire_out_key(o, STR("metadata"));
	wire_out_object(o);
	wire_out_object_end(o);
}

/* The members that every reply has, but for its metadata. */
static void
discovery_put_identity(
    const struct discovery *d, struct wire_out *o, const char *type)
{
	bus_json_str(o, "type", type);
	bus_json_str(o, "name", d->service->name);
	bus_json_str(o, "id", d->id);
	bus_json_str(o, "version", d->service->version);
}

static void
discovery_put_readiness(const struct discovery *d, struct wire_out *o)
{
	struct buf lines = BUF_INIT(LINES_MAX);
	bool ready = d->service->ready(d->service->ready_arg, &lines);

	buf_putc(&lines, '\0');
	wire_out_key(o, STR("metadata"));
	wire_out_object(o);
	bus_json_str(o, "ready", ready ? "true" : "false");
	bus_json_str(o, "status", buf_rc(&lines) == RC_OK ? lines.p : "");
	wire_out_object_end(o);
	buf_free(&lines);
}

static void
discovery_put_endpoint(const struct bus_endpoint *e, struct wire_out *o)
{
	bus_json_str(o, "name", e->name);
	bus_json_str(o, "subject", e->subject);
	bus_json_str(o, "queue_group", e->queue);
}

static void
discovery_write_ping(const struct discovery *d, struct wire_out *o)
{
	discovery_put_identity(d, o, "io.nats.micro.v1.ping_response");
	discovery_put_metadata(o);
}

static void
discovery_write_info(const struct discovery *d, struct wire_out *o)
{
	size_t i;

	discovery_put_identity(d, o, "io.nats.micro.v1.info_response");
	discovery_put_metadata(o);
	bus_json_str(o, "description", d->service->description);
	wire_out_key(o, STR("endpoints"));
	wire_out_array(o);
	for (i = 0; i < d->service->n; i++) {
		wire_out_object(o);
		discovery_put_endpoint(&d->service->endpoints[i], o);
		discovery_put_metadata(o);
		wire_out_object_end(o);
	}
	wire_out_array_end(o);
}

static void
discovery_write_stats(const struct discovery *d, struct wire_out *o)
{
	const struct bus_endpoint *e;
	size_t i;

	discovery_put_identity(d, o, "io.nats.micro.v1.stats_response");
	if (d->service->ready != NULL)
		discovery_put_readiness(d, o);
	else
		discovery_put_metadata(o);
	bus_json_str(o, "started", d->started);
	wire_out_key(o, STR("endpoints"));
	wire_out_array(o);
	for (i = 0; i < d->service->n; i++) {
		e = &d->service->endpoints[i];
		wire_out_object(o);
		discovery_put_endpoint(e, o);
		bus_json_i64(o, "num_requests", e->requests);
		bus_json_i64(o, "num_errors", e->errors);
		bus_json_str(o, "last_error", e->last_error);
		bus_json_i64(o, "processing_time", e->busy_ns);
		bus_json_i64(o, "average_processing_time",
		    e->requests > 0 ? e->busy_ns / e->requests : 0);
		wire_out_object_end(o);
	}
	wire_out_array_end(o);
}

static void
discovery_on_request(void *arg, struct bus_msg *m)
{
	struct discovery_verb *v = arg;
	struct buf b = BUF_INIT(BUS_PAYLOAD_MAX);
	struct wire_out o = { .b = &b };

	wire_out_object(&o);
	v->write(v->of, &o);
	wire_out_object_end(&o);
	if (buf_rc(&b) != RC_OK || !bus_msg_wants_reply(m))
		bus_msg_free(m);
	else if (bus_reply(m, buf_str(&b)) != RC_OK)
		log_debug("bus.discovery_no_reply");
	buf_free(&b);
}

static void
discovery_free(struct bus_listener *l)
{
	free(CONTAINER_OF(l, struct discovery, listener));
}

/* Subscribe v to $SRV.<verb>, with the service's name, and with its id. */
static enum rc
discovery_subscribe(struct bus *b, struct discovery_verb *v, const char *verb)
{
	char subject[BUS_SUBJECT_MAX];
	const struct discovery *d = v->of;
	enum rc rc;

	(void)snprintf(subject, sizeof(subject), "$SRV.%s", verb);
	rc = bus_subscribe(b, subject, NULL, discovery_on_request, v, NULL);
	if (rc != RC_OK)
		return rc;
	(void)snprintf(
	    subject, sizeof(subject), "$SRV.%s.%s", verb, d->service->name);
	rc = bus_subscribe(b, subject, NULL, discovery_on_request, v, NULL);
	if (rc != RC_OK)
		return rc;
	(void)snprintf(subject, sizeof(subject), "$SRV.%s.%s.%s", verb,
	    d->service->name, d->id);
	return bus_subscribe(b, subject, NULL, discovery_on_request, v, NULL);
}

static bool
discovery_service_valid(const struct bus_service *s)
{
	size_t i;

	if (!bus_token_valid(s->name) || s->version == NULL)
		return false;
	for (i = 0; i < s->n; i++)
		if (!bus_token_valid(s->endpoints[i].name) ||
		    !bus_subject_valid(s->endpoints[i].subject, true) ||
		    !bus_queue_valid(s->endpoints[i].queue))
			return false;
	return true;
}

enum rc
bus_announce(struct bus *b, const struct bus_service *s)
{
	static const char *const names[N_VERBS] = { "PING", "INFO", "STATS" };
	static void (*const write[N_VERBS])(const struct discovery *,
	    struct wire_out *) = { discovery_write_ping, discovery_write_info,
		discovery_write_stats };
	struct discovery *d;
	enum rc rc = RC_OK;
	int i;

	if (!discovery_service_valid(s))
		return RC_INVALID;
	d = mem_zalloc(sizeof(*d));
	d->service = s;
	d->listener.on_free = discovery_free;
	id_hex32(d->id);
	wall_format(clock_wall(), 0, d->started);
	bus_listener_add(b, &d->listener);
	for (i = 0; i < N_VERBS && rc == RC_OK; i++) {
		d->verbs[i] = (struct discovery_verb){ d, write[i] };
		rc = discovery_subscribe(b, &d->verbs[i], names[i]);
	}
	return rc;
}
