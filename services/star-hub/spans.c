/*
 * spans: where messages that are part of a trace have been.
 */
#include <string.h>

#include "cluster/remote.h"
#include "core/mem.h"
#include "envelope.h"
#include "http/head_reader.h"
#include "hub.h"
#include "otlp/otlp.h"
#include "svc/svc.h"

#define FLUSH_MS 3000

static const char *const how_names[HUB_HOWS] = {
	[HUB_LOCAL] = "local",
	[HUB_REMOTE] = "remote",
	[HUB_ROOM] = "room",
	[HUB_TO_HUB] = "hub",
};

enum rc
message_spans_start(struct hub *h)
{
	const struct otlp_opts opts = { .loop = h->loop,
		.conf = &h->conf->otlp,
		.version = svc_version(),
		.instance = h->name,
		.metrics = svc_metrics(h->svc) };
	const char *why;

	return otlp_new(&opts, &h->otlp, &why);
}

void
message_spans_stop(struct hub *h)
{
	otlp_flush(h->otlp, FLUSH_MS);
	otlp_free(h->otlp);
}

void
message_span_connect(
    struct hub *h, struct client *c, const struct http_head *head)
{
	struct str s = header_find(head->field, head->n, STR("traceparent"));
	struct trace t;

	if (h->otlp == NULL || trace_parse(s, &t) != RC_OK ||
	    !otlp_wants(h->otlp, &t))
		return;
	c->trace = mem_alloc(sizeof(*c->trace));
	*c->trace = t;
}

/* ---- one span ---- */

static void
message_span_init(
    struct message_span *s, const struct trace *parent, struct mono start)
{
	memcpy(s->parent, parent->span_id, sizeof(s->parent));
	trace_child(parent, &s->trace);
	s->start = start;
}

static void
message_span_emit(struct hub *h, const struct message_span *s,
    struct otlp_span *span, const char *error)
{
	span->trace = &s->trace;
	span->parent = s->parent;
	span->start_ns = otlp_unix_ns(h->otlp, s->start);
	span->end_ns = otlp_unix_ns(h->otlp, clock_mono());
	span->status = error != NULL ? OTLP_ERROR : OTLP_UNSET;
	span->error = str_of(error);
	otlp_span(h->otlp, span);
}

void
message_span_begin(struct hub *h, const struct client *c,
    const struct envelope *e, struct mono start)
{
	struct trace t;

	h->span.trace.trace_id[0] = '\0';
	if (h->otlp == NULL)
		return;
	if (!envelope_trace(e, &t)) {
		if (c->trace == NULL)
			return;
		t = *c->trace;
	}
	if (!otlp_wants(h->otlp, &t))
		return;
	h->span.how = -1;
	message_span_init(&h->span, &t, start);
}

void
message_span_routed(
    struct hub *h, const struct client *c, const struct hub_failure *f)
{
	const struct message_span *s = &h->span;
	struct otlp_attr attrs[] = {
		OTLP_S("star.sender", client_class_names[c->identity.class]),
		OTLP_S(
		    "star.how", str_of(s->how >= 0 ? how_names[s->how] : NULL)),
	};
	struct otlp_span span = { .name = STR("star.route"),
		.kind = OTLP_SERVER,
		.attrs = attrs,
		.nattrs = NELEM(attrs) };

	if (s->trace.trace_id[0] == '\0')
		return;
	message_span_emit(
	    h, s, &span, f != NULL ? hub_error_code(f->error) : NULL);
	h->span.trace.trace_id[0] = '\0';
}

void
message_span_deliver(struct hub *h, struct outgoing *o)
{
	if (h->span.trace.trace_id[0] == '\0')
		return;
	o->span = mem_zalloc(sizeof(*o->span));
	message_span_init(o->span, &h->span.trace, clock_mono());
}

void
message_span_delivered(
    struct hub *h, const struct outgoing *o, const char *error)
{
	struct otlp_attr attr = OTLP_S("star.message_id", o->message_id);
	struct otlp_span span = { .name = STR("star.deliver"),
		.kind = OTLP_CLIENT,
		.attrs = &attr,
		.nattrs = 1 };

	message_span_emit(h, o->span, &span, error);
}
