/*
 * Turns over HTTP.
 */
#include "on_turns.h"

#include <stdio.h>

#include "bus/bus.h"
#include "caller.h"
#include "cancel.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/id.h"
#include "core/log.h"
#include "gateway.h"
#include "history.h"
#include "state/turn_record.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define NOT_FOUND "turn not found"

/* A call that waits for the process that has the turn. */
struct asking {
	struct gateway *g;
	struct svc_call *c;
	struct turn_record rec;
	struct str id;
};

/*
 * The turn the path names, if it is the user's whom the request names; NULL: c
 * has been answered.
 */
static struct asking *
find(struct gateway *g, struct svc_call *c, struct str named)
{
	struct arena *a = svc_call_arena(c);
	struct asking *k = arena_alloc(a, sizeof(*k));
	struct str user;
	enum rc rc;

	*k = (struct asking){ .g = g, .c = c, .id = svc_call_param(c, 0) };
	if (!caller_user(g, c, named, &user) ||
	    !gateway_id(c, k->id, "turn_id"))
		return NULL;
	rc = turn_record_read(g->state, k->id, a, &k->rec);
	if (rc != RC_OK)
		gateway_fail(c, rc);
	else if (!k->rec.known || !str_eq(k->rec.user_id, user))
		svc_fail(c, RC_NOENT, NOT_FOUND);
	else
		return k;
	return NULL;
}

/* ---- what became of it --------------------------------------------------- */

static void
tell_record(struct asking *k)
{
	struct wire_turn_record out;
	enum rc rc = history_put(
	    &k->rec, k->id, clock_wall(), svc_call_arena(k->c), &out);

	if (rc == RC_OK)
		svc_reply(k->c, &out);
	else
		gateway_fail(k->c, rc);
}

/* Nobody has it any more: what is kept may say more by now. */
static void
tell_kept(struct asking *k)
{
	enum rc rc =
	    turn_record_read(k->g->state, k->id, svc_call_arena(k->c), &k->rec);

	if (rc != RC_OK)
		gateway_fail(k->c, rc);
	else if (!k->rec.known)
		svc_fail(k->c, RC_NOENT, NOT_FOUND);
	else
		tell_record(k);
}

static void
on_shown(void *arg, enum rc rc, struct str data)
{
	struct asking *k = arg;
	struct wire_turn_record out;

	log_trace_set(svc_call_trace(k->c)->trace_id);
	if (rc == RC_OK)
		rc = wire_decode(&wire_turn_record_desc, data,
		    svc_call_arena(k->c), &out, NULL);
	if (rc == RC_OK && str_eq(out.turn_id, k->id) &&
	    str_eq(out.user_id, k->rec.user_id))
		svc_reply(k->c, &out);
	else
		tell_kept(k);
	log_trace_set("");
}

static enum rc
ask(struct asking *k)
{
	struct wire_turn_show_request req = { .turn_id = k->id };
	struct bus_meta meta = {
		.deadline = { clock_wall().ms + WIRE_DEADLINE_MS_TURN_SHOW },
		.trace = svc_call_trace(k->c),
	};
	char token[ID_TOKEN_MAX], subject[ID_TOKEN_MAX + 64];
	struct buf out = BUF_INIT(8192);
	enum rc rc;

	rc = id_token(k->id, token);
	if (rc == RC_OK)
		rc =
		    wire_encode(&wire_turn_show_request_desc, &req, &out, NULL);
	if (rc == RC_OK) {
		(void)snprintf(subject, sizeof(subject),
		    WIRE_SUBJECT_FMT_TURN_SHOW, token);
		rc = bus_request(svc_bus(k->g->svc), subject, buf_str(&out),
		    &meta,
		    (struct bus_reply_handler){ .fn = on_shown, .arg = k },
		    NULL);
	}
	buf_free(&out);
	return rc;
}

void
on_turns_get(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct asking *k = find(g, c, svc_call_query(c, "user_id"));

	if (k != NULL && (k->rec.state != TURN_STATE_OPEN || ask(k) != RC_OK))
		tell_record(k);
}

/* ---- stopping it --------------------------------------------------------- */

static void
tell_canceled(const struct asking *k, bool canceled)
{
	svc_reply(k->c,
	    &(struct wire_turn_cancel_reply){
		.turn_id = k->id, .canceled = canceled });
}

static void
on_canceled(void *arg, enum rc rc, bool canceled)
{
	struct asking *k = arg;

	if (rc == RC_OK)
		tell_canceled(k, canceled);
	else if (rc == RC_TIMEOUT)
		svc_fail(k->c, rc, "the turn's process does not answer");
	else
		gateway_fail_bus(k->c, rc);
}

void
on_turns_cancel(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	const struct wire_turn_cancel_body *req = svc_call_request(c);
	struct asking *k = find(g, c, req->user_id);

	if (k == NULL)
		return;
	if (k->rec.state != TURN_STATE_OPEN)
		tell_canceled(k, false);
	else
		cancel_turn(g,
		    &(struct cancel_opts){ k->id, k->rec.user_id, req->reason,
			svc_call_trace(c), on_canceled, k });
}
