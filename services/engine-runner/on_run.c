/*
 * Start, reply, cancel: requests of an owner.
 */
#include "core/arena.h"
#include "core/clock.h"
#include "handlers.h"
#include "run_request.h"
#include "state/run.h"
#include "svc/svc.h"
#include "wire/msgs.h"

static void
run_reply_record(struct svc_call *c, const struct run_record *r)
{
	struct arena *a = svc_call_arena(c);
	char created[WALL_FORMAT_MAX], ended[WALL_FORMAT_MAX];
	struct wire_run rep = { .run_id = r->run_id,
		.user_id = r->user_id,
		.engine = r->engine,
		.title = r->title,
		.state = (enum wire_run_state)r->status,
		.attempt = r->attempt,
		.resumes = r->resumes };
	int i;

	for (i = 0; i <= WIRE_RUN_MODE_FILE_WRITE; i++)
		if (str_eq(wire_run_mode_names[i], r->mode))
			rep.mode = (enum wire_run_mode)i;
	wall_format(r->created, 0, created);
	rep.created_at = arena_str(a, str_of(created));
	if (r->ended.ms != 0) {
		wall_format(r->ended, 0, ended);
		rep.ended_at = arena_str(a, str_of(ended));
	}
	svc_reply(c, &rep);
}

static void
run_reject(struct svc_call *c, const struct run_rejection *why)
{
	if (why->error.code != NULL)
		svc_fail_as(c, &why->error);
	else
		svc_fail(c, why->rc, why->error.text);
}

void
on_run_start(void *app, struct svc_call *c)
{
	struct run_rejection why;
	struct run_record rec;

	if (run_request_start(app, svc_call_request(c), svc_call_body(c),
		svc_call_arena(c), &rec, &why) == RC_OK)
		run_reply_record(c, &rec);
	else
		run_reject(c, &why);
}

void
on_run_reply(void *app, struct svc_call *c)
{
	struct run_rejection why;
	struct run_record rec;

	if (run_request_reply(app, svc_call_request(c), svc_call_arena(c), &rec,
		&why) == RC_OK)
		run_reply_record(c, &rec);
	else
		run_reject(c, &why);
}

void
on_run_cancel(void *app, struct svc_call *c)
{
	const struct wire_run_cancel_request *q = svc_call_request(c);
	struct run_canceling canceling = { q->run_id, q->user_id, false };
	struct wire_run_cancel_reply rep = { .run_id = q->run_id };
	struct run_rejection why;
	struct run_record rec;

	if (run_request_cancel(
		app, &canceling, svc_call_arena(c), &rec, &why) != RC_OK) {
		run_reject(c, &why);
		return;
	}
	rep.accepted = canceling.accepted;
	rep.state = (enum wire_run_cancel_reply_state)rec.status;
	svc_reply(c, &rep);
}
