#include "turn/queue_head.h"

#include "bus/bus.h"
#include "context.h"
#include "core/buf.h"
#include "core/log.h"
#include "peer/peer_request.h"
#include "svc/svc.h"
#include "turn/turn_runner.h"
#include "turn/turn_steps.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* Of this process: it is run, or is still to be taken out of its queue. */
static bool
head_is_known(const struct orch *o, struct str turn)
{
	const struct turn_run *r;

	TAILQ_FOREACH (r, &o->runs, link)
		if (str_eq(r->slot.turn_id, turn))
			return true;
	return queue_slot_is_deferred(o, turn);
}

static void
head_set_orphan(struct turn_run *r)
{
	r->head.orphan = true;
	log_warn("turn.queue_repaired", LOG_S("turn", r->head.turn_id),
	    LOG_S("instance", r->head.instance));
	queue_slot_poll_now(r);
}

/* ---- another process ---- */

/*
 * Only its own reply that it does not know the turn counts; without a responder
 * (no data) it may be disconnected, and run it.
 */
static void
head_on_reply(void *arg, enum rc rc, struct str data)
{
	struct turn_run *r = arg;

	r->head.request = 0;
	if (rc == RC_NOENT && data.n > 0)
		head_set_orphan(r);
}

static void
head_query(struct turn_run *r)
{
	struct wire_turn_show_request req = { .turn_id =
						  str_of(r->head.turn_id) };
	struct bus_meta meta = {
		.deadline = { clock_wall().ms + WIRE_DEADLINE_MS_TURN_SHOW },
		.trace = &r->trace,
	};
	struct bus_reply_handler h = { .fn = head_on_reply, .arg = r };
	struct orch *o = r->o;
	char subject[PEER_SUBJECT_MAX];

	enum rc rc = peer_subject(subject, WIRE_SUBJECT_FMT_TURN_SHOW,
	    str_of(r->head.instance), (struct str){ 0 });
	buf_reset(&o->out);
	if (rc == RC_OK)
		rc = wire_encode(
		    &wire_turn_show_request_desc, &req, &o->out, NULL);
	if (rc == RC_OK)
		rc = bus_request(o->bus, subject, buf_str(&o->out), &meta, h,
		    &r->head.request);
	if (rc != RC_OK)
		log_debug("turn.head_not_queried", LOG_RC(rc));
}

/* ---- the interface ---- */

const struct turn_named *
queue_head_orphan(const struct turn_run *r, struct turn_named *name)
{
	if (!r->head.orphan)
		return NULL;
	*name = (struct turn_named){ str_of(r->head.instance),
		str_of(r->head.turn_id) };
	return name;
}

void
queue_head_stop(struct turn_run *r)
{
	if (r->head.request != 0)
		bus_request_cancel(r->o->bus, r->head.request);
	r->head = (struct queue_head){ .request = 0 };
}

void
queue_head_see(struct turn_run *r, const struct turn_named *head)
{
	struct mono now = clock_mono();

	if (!str_eq(head->turn_id, str_of(r->head.turn_id)) ||
	    !str_eq(head->instance, str_of(r->head.instance))) {
		queue_head_stop(r);
		str_copy(
		    head->instance, r->head.instance, sizeof(r->head.instance));
		str_copy(
		    head->turn_id, r->head.turn_id, sizeof(r->head.turn_id));
		r->head.checked = now;
	}
	if (r->head.orphan)
		return;
	if (str_eq(head->instance, str_of(r->o->instance))) {
		if (!head_is_known(r->o, head->turn_id))
			head_set_orphan(r);
	} else if (r->head.request == 0 &&
	    mono_diff_ms(now, r->head.checked) >= QUEUE_HEAD_QUERY_MS) {
		r->head.checked = now;
		head_query(r);
	}
}
