/*
 * Cancels a turn: the request is repeated until a process accepts it, the
 * turn has ended or the time is up.
 */
#include "chat/chat_turn.h"

#include <stdio.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/id.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/trace.h"
#include "gateway.h"
#include "state/turn.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define RETRY_MS   150
#define GIVE_UP_MS 3000
#define TEXTS_MAX  2048

struct turn_cancel {
	struct gateway *g;
	struct arena *texts;
	struct turn_cancel_opts o;
	struct trace trace;
	struct loop_timer timer;
	struct wall deadline;
};

static void turn_cancel_attempt(void *arg);

static void
turn_cancel_end(struct turn_cancel *k, enum rc rc, bool canceled)
{
	struct svc *s = k->g->svc;

	log_trace_set(k->trace.trace_id);
	log_info("gateway.cancel", LOG_V("turn", k->o.turn_id), LOG_RC(rc),
	    LOG_I("canceled", canceled));
	loop_timer_cancel(svc_loop(s), &k->timer);
	if (k->o.fn != NULL)
		k->o.fn(k->o.arg, rc, canceled);
	log_trace_set("");
	arena_free(k->texts);
	free(k);
	svc_release(s);
}

static void
turn_cancel_retry(struct turn_cancel *k, enum rc rc)
{
	if (clock_wall().ms >= k->deadline.ms)
		turn_cancel_end(k, rc, false);
	else
		loop_timer_set(svc_loop(k->g->svc), &k->timer,
		    mono_add_ms(clock_mono(), RETRY_MS), turn_cancel_attempt,
		    k);
}

static void
turn_cancel_on_reply(void *arg, enum rc rc, struct str data)
{
	struct turn_cancel *k = arg;
	struct wire_turn_cancel_reply rep = { .canceled = false };
	struct arena *a;

	if (rc == RC_OK) {
		a = arena_new(WIRE_ARENA_MAX);
		rc = wire_decode(
		    &wire_turn_cancel_reply_desc, data, a, &rep, NULL);
		arena_free(a);
	}
	if (rc == RC_OK)
		turn_cancel_end(k, RC_OK, rep.canceled);
	else
		turn_cancel_retry(k, rc);
}

static enum rc
turn_cancel_send(struct turn_cancel *k, struct str instance)
{
	struct wire_turn_cancel_request req = { .turn_id = k->o.turn_id,
		.user_id = k->o.user_id,
		.reason = k->o.reason };
	struct bus_meta meta = { .deadline = k->deadline, .trace = &k->trace };
	char token[ID_TOKEN_MAX], subject[ID_TOKEN_MAX + 64];
	struct buf out = BUF_INIT(8192);
	enum rc rc;

	rc = id_token(instance, token);
	if (rc == RC_OK)
		rc = wire_encode(
		    &wire_turn_cancel_request_desc, &req, &out, NULL);
	if (rc == RC_OK) {
		(void)snprintf(subject, sizeof(subject),
		    WIRE_SUBJECT_FMT_TURN_CANCEL, token);
		rc = bus_request(svc_bus(k->g->svc), subject, buf_str(&out),
		    &meta,
		    (struct bus_reply_handler){
			.fn = turn_cancel_on_reply, .arg = k },
		    NULL);
	}
	buf_free(&out);
	return rc;
}

/* Its record says which process runs it, or that it has ended. */
static void
turn_cancel_run(void *arg)
{
	struct turn_cancel *k = arg;
	struct arena *a = arena_new(GATEWAY_RECORD_MAX);
	struct turn_record rec;
	bool ended;
	enum rc rc;

	rc = turn_record_read(k->g->state, k->o.user_id, k->o.turn_id, a, &rec);
	ended = rc == RC_OK && rec.known && rec.state != TURN_STATE_OPEN;
	if (rc == RC_OK && !ended)
		rc = rec.known ? turn_cancel_send(k, rec.instance) : RC_TIMEOUT;
	arena_free(a);
	if (ended)
		turn_cancel_end(k, RC_OK, false);
	else if (rc != RC_OK)
		turn_cancel_retry(k, rc);
}

static void
turn_cancel_attempt(void *arg)
{
	fiber_start(turn_cancel_run, arg);
}

void
turn_cancel_start(struct gateway *g, const struct turn_cancel_opts *o)
{
	struct turn_cancel *k = mem_zalloc(sizeof(*k));

	k->g = g;
	k->texts = arena_new(TEXTS_MAX);
	k->o = *o;
	k->o.turn_id = arena_str(k->texts, o->turn_id);
	k->o.user_id = arena_str(k->texts, o->user_id);
	k->o.reason = arena_str(k->texts, o->reason);
	k->trace = *o->trace;
	k->deadline.ms = clock_wall().ms + GIVE_UP_MS;
	svc_hold(g->svc);
	loop_timer_set(
	    svc_loop(g->svc), &k->timer, clock_mono(), turn_cancel_attempt, k);
}
