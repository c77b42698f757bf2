/*
 * The NATS micro protocol by hand; cnats 3.4.1 has no services of its own.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bus/discovery.h"
#include "bus/internal.h"
#include "bus/json.h"
#include "core/buf.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "wire/out.h"

#define N_VERBS 3

struct disco;

/* What answers one verb. */
struct face {
	struct disco *of;
	void (*write)(const struct disco *d, struct wire_out *o);
};

struct disco {
	struct bus_watcher watcher; /* for bus_free() */
	const struct bus_service *service;
	char id[ID_HEX32_MAX];
	char started[WALL_FORMAT_MAX];
	struct face faces[N_VERBS];
};

static void
put_no_metadata(struct wire_out *o)
{
	wire_out_key(o, STR("metadata"));
	wire_out_object(o);
	wire_out_object_end(o);
}

/* The members that every answer has. */
static void
put_identity(const struct disco *d, struct wire_out *o, const char *type)
{
	json_str(o, "type", type);
	json_str(o, "name", d->service->name);
	json_str(o, "id", d->id);
	json_str(o, "version", d->service->version);
	put_no_metadata(o);
}

static void
put_address(const struct bus_endpoint *e, struct wire_out *o)
{
	json_str(o, "name", e->name);
	json_str(o, "subject", e->subject);
	json_str(o, "queue_group", e->queue);
}

static void
write_ping(const struct disco *d, struct wire_out *o)
{
	put_identity(d, o, "io.nats.micro.v1.ping_response");
}

static void
write_info(const struct disco *d, struct wire_out *o)
{
	size_t i;

	put_identity(d, o, "io.nats.micro.v1.info_response");
	json_str(o, "description", d->service->description);
	wire_out_key(o, STR("endpoints"));
	wire_out_array(o);
	for (i = 0; i < d->service->n; i++) {
		wire_out_object(o);
		put_address(&d->service->endpoints[i], o);
		put_no_metadata(o);
		wire_out_object_end(o);
	}
	wire_out_array_end(o);
}

static void
write_stats(const struct disco *d, struct wire_out *o)
{
	const struct bus_endpoint *e;
	size_t i;

	put_identity(d, o, "io.nats.micro.v1.stats_response");
	json_str(o, "started", d->started);
	wire_out_key(o, STR("endpoints"));
	wire_out_array(o);
	for (i = 0; i < d->service->n; i++) {
		e = &d->service->endpoints[i];
		wire_out_object(o);
		put_address(e, o);
		json_i64(o, "num_requests", e->requests);
		json_i64(o, "num_errors", e->errors);
		json_str(o, "last_error", e->last_error);
		json_i64(o, "processing_time", e->busy_ns);
		json_i64(o, "average_processing_time",
		    e->requests > 0 ? e->busy_ns / e->requests : 0);
		wire_out_object_end(o);
	}
	wire_out_array_end(o);
}

static void
on_ask(void *arg, struct bus_msg *m)
{
	struct face *f = arg;
	struct buf b = BUF_INIT(BUS_PAYLOAD_MAX);
	struct wire_out o = { .b = &b };

	wire_out_object(&o);
	f->write(f->of, &o);
	wire_out_object_end(&o);
	if (buf_rc(&b) != RC_OK || !bus_msg_wants_reply(m))
		bus_msg_free(m);
	else if (bus_reply(m, buf_str(&b)) != RC_OK)
		log_debug("bus.discovery_unanswered");
	buf_free(&b);
}

static void
disco_free(struct bus_watcher *w)
{
	free(CONTAINER_OF(w, struct disco, watcher));
}

/* Subscribe f to $SRV.<verb>, with the service's name, and with its id. */
static enum rc
face_show(struct bus *b, struct face *f, const char *verb)
{
	char subject[NAMES_SUBJECT_MAX];
	const struct disco *d = f->of;
	enum rc rc;

	(void)snprintf(subject, sizeof(subject), "$SRV.%s", verb);
	rc = bus_subscribe(b, subject, NULL, on_ask, f, NULL);
	if (rc != RC_OK)
		return rc;
	(void)snprintf(
	    subject, sizeof(subject), "$SRV.%s.%s", verb, d->service->name);
	rc = bus_subscribe(b, subject, NULL, on_ask, f, NULL);
	if (rc != RC_OK)
		return rc;
	(void)snprintf(subject, sizeof(subject), "$SRV.%s.%s.%s", verb,
	    d->service->name, d->id);
	return bus_subscribe(b, subject, NULL, on_ask, f, NULL);
}

static bool
service_ok(const struct bus_service *s)
{
	size_t i;

	if (!names_token_ok(s->name) || s->version == NULL)
		return false;
	for (i = 0; i < s->n; i++)
		if (!names_token_ok(s->endpoints[i].name) ||
		    !names_subject_ok(s->endpoints[i].subject, true) ||
		    !names_queue_ok(s->endpoints[i].queue))
			return false;
	return true;
}

enum rc
bus_announce(struct bus *b, const struct bus_service *s)
{
	static const char *const verbs[N_VERBS] = { "PING", "INFO", "STATS" };
	static void (*const write[N_VERBS])(const struct disco *,
	    struct wire_out *) = { write_ping, write_info, write_stats };
	struct disco *d;
	enum rc rc = RC_OK;
	int i;

	if (!service_ok(s))
		return RC_INVALID;
	d = mem_zalloc(sizeof(*d));
	d->service = s;
	d->watcher.on_free = disco_free;
	id_hex32(d->id);
	wall_format(clock_wall(), 0, d->started);
	bus_watch(b, &d->watcher);
	for (i = 0; i < N_VERBS && rc == RC_OK; i++) {
		d->faces[i] = (struct face){ d, write[i] };
		rc = face_show(b, &d->faces[i], verbs[i]);
	}
	return rc;
}
