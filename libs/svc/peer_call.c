#include "svc/peer_call.h"

#include "bus/bus.h"
#include "bus/jetstream.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/fiber.h"
#include "core/log.h"
#include "wire/wire.h"

#define BODY_MAX   (256UL * 1024)
#define PUBLISH_MS 5000

struct peer_pending {
	const struct peer_call *c;
	struct fiber *fiber;
	void *out;
	enum rc rc;
};

static void
peer_decode(struct peer_pending *p, struct str data)
{
	const struct peer_call *c = p->c;
	struct wire_err err = { 0 };

	p->out = arena_alloc(c->a, wire_desc_size(c->reply));
	p->rc = p->out == NULL
	    ? RC_TOOBIG
	    : wire_decode(c->reply, data, c->a, p->out, &err);
	if (p->rc != RC_OK)
		log_error("peer.invalid_reply", LOG_S("subject", c->subject),
		    LOG_RC(p->rc), LOG_S("path", err.path),
		    LOG_S("why", err.why));
}

static void
peer_on_reply(void *arg, enum rc rc, struct str data)
{
	struct peer_pending *p = arg;

	p->rc = rc;
	if (rc == RC_OK)
		peer_decode(p, data);
	else if (rc == RC_NOENT && data.n == 0)
		p->rc = RC_DOWN;
	else if (data.n > 0)
		log_warn(
		    "peer.error", LOG_S("subject", p->c->subject), LOG_RC(rc));
	fiber_resume(p->fiber);
}

enum rc
peer_call(const struct peer_call *c, const void *msg, void **out)
{
	struct peer_pending p = { .c = c, .fiber = fiber_self() };
	const struct bus_meta meta = { .deadline = { clock_wall().ms + c->ms },
		.trace = c->trace };
	struct buf b = BUF_INIT(BODY_MAX);
	struct wire_err err = { 0 };
	enum rc rc = wire_encode(c->request, msg, &b, &err);

	*out = NULL;
	if (rc != RC_OK)
		log_error("peer.invalid_request", LOG_S("subject", c->subject),
		    LOG_S("path", err.path), LOG_S("why", err.why));
	if (rc == RC_OK)
		rc = bus_request(c->bus, c->subject, buf_str(&b), &meta,
		    (struct bus_reply_handler){ peer_on_reply, &p, false },
		    NULL);
	buf_free(&b);
	if (rc != RC_OK)
		return rc;
	fiber_suspend();
	*out = p.rc == RC_OK ? p.out : NULL;
	return p.rc;
}

struct peer_publishing {
	struct fiber *fiber;
	enum rc rc;
};

static void
peer_on_stored(void *arg, enum rc rc, const struct bus_pub_ack *ack)
{
	struct peer_publishing *p = arg;

	(void)ack;
	p->rc = rc;
	fiber_resume(p->fiber);
}

enum rc
peer_publish(struct bus *bus, const struct peer_item *item)
{
	struct peer_publishing p = { .fiber = fiber_self() };
	const struct bus_meta meta = { .deadline = { clock_wall().ms +
					   PUBLISH_MS },
		.trace = item->trace,
		.msg_id = item->id };
	enum rc rc = bus_stream_publish(bus, item->subject, item->json, &meta,
	    (struct bus_pub_ack_handler){ peer_on_stored, &p });

	if (rc != RC_OK)
		return rc;
	fiber_suspend();
	return p.rc;
}
