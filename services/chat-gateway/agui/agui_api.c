/*
 * POST /v1/agui, and streams of sessions and runs with format=agui.
 */
#include "agui/agui_stream.h"
#include "agui/agui_view.h"
#include "caller.h"
#include "chat/chat_turn.h"
#include "chat/message_text.h"
#include "chat/soul_chat.h"
#include "core/log.h"
#include "fcmp/fcmp_read.h"
#include "gateway.h"
#include "handlers.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* Memory for one event that is converted. */
#define EVENT_ARENA (2 * (size_t)WIRE_ARENA_MAX + WIRE_MESSAGE_MAX)

/* ---- streams ---- */

/* The last of them has the id: what comes after it is complete. */
static enum rc
agui_send_all(struct svc_call *c, const struct agui_events *out, int64_t seq)
{
	char id[STR_NUM_MAX];
	enum rc rc = RC_OK;

	(void)str_num(seq, id);
	for (size_t i = 0; rc == RC_OK && i < out->n; i++)
		rc = svc_sse_send(c, NULL,
		    i + 1 == out->n && seq > 0 ? id : NULL, out->json[i]);
	return rc;
}

static enum rc
agui_send_as(struct svc_call *c, struct agui *g, const struct fcmp_event *e)
{
	struct arena *a = arena_new(EVENT_ARENA);
	struct wire_chat_event m;
	struct agui_events out;
	enum rc rc;

	rc = wire_decode(&wire_chat_event_desc, e->json, a, &m, NULL);
	if (rc == RC_OK)
		rc = agui_convert(g, &m, a, &out);
	if (rc == RC_OK)
		rc = agui_send_all(c, &out, e->seq);
	arena_free(a);
	return rc;
}

static enum rc
agui_stream_send(struct svc_call *c, const struct fcmp_event *e)
{
	return agui_send_as(c, svc_call_data(c), e);
}

bool
agui_stream_choose(struct svc_call *c,
    enum rc (**send)(struct svc_call *c, const struct fcmp_event *e))
{
	struct str format = svc_call_query(c, "format");
	struct agui *g;

	if (format.p == NULL)
		return true;
	if (!str_eq(format, STR("agui"))) {
		svc_fail(c, RC_INVALID, "format: must be agui, or absent");
		return false;
	}
	g = gateway_alloc(c, sizeof(*g));
	if (g == NULL)
		return false;
	*g = (struct agui){ .open = false };
	svc_call_set_data(c, g);
	*send = agui_stream_send;
	return true;
}

/* ---- a turn ---- */

struct agui_run {
	struct soul_chat soul;
	const struct wire_agui_run_request *req;
	struct agui g;
	struct chat_turn_request start;
};

static enum rc
agui_run_on_event(struct chat_turn *t, const struct fcmp_event *e)
{
	struct agui_run *r = t->form_arg;

	return agui_send_as(t->c, &r->g, e);
}

static void
agui_run_on_fail(struct chat_turn *t, const struct svc_error *e)
{
	const struct wire_error m = { .error = str_of(e->text),
		.code = str_of(e->code) };
	struct arena *a = arena_new(EVENT_ARENA);
	struct agui_run *r = t->form_arg;
	struct agui_events out;

	if (agui_convert_error(&r->g, &m, a, &out) != RC_OK ||
	    agui_send_all(t->c, &out, 0) != RC_OK)
		log_debug("gateway.reader_disconnected", LOG_S("turn", t->id));
	arena_free(a);
}

/* All turns are streamed. */
static const struct turn_form agui_form = { NULL, NULL, agui_run_on_event,
	agui_run_on_fail };

/* The newest message of the user, or the reply. */
static enum rc
agui_run_text(struct agui_run *r, struct str *out)
{
	const struct wire_agui_run_request *req = r->req;
	struct arena *a = svc_call_arena(r->soul.c);

	if (req->n_resume > 0) {
		r->start.interaction_id = req->resume[0].interruptid;
		if (str_eq(req->resume[0].status, STR("cancelled")))
			*out = STR("no");
		else if (message_text(req->resume[0].payload, a, out) != RC_OK)
			return RC_TOOBIG;
		r->start.content = *out;
		return RC_OK;
	}
	*out = STR("");
	for (size_t i = req->n_messages; i > 0; i--)
		if (str_eq(req->messages[i - 1].role, STR("user")))
			return message_text(
			    req->messages[i - 1].content, a, out);
	return RC_OK;
}

static bool
agui_run_set(struct agui_run *r)
{
	struct svc_call *c = r->soul.c;
	struct str text;
	enum rc rc = agui_run_text(r, &text);

	if (rc != RC_OK || gateway_trim_text(text).n == 0) {
		svc_fail(c, rc == RC_TOOBIG ? rc : RC_INVALID,
		    r->req->n_resume > 0
			? "/resume/0/payload: must be a text"
			: "/messages: the newest message of the user has no "
			  "text");
		return false;
	}
	return soul_chat_set(&r->soul, text, r->req->threadid, r->req->runid);
}

void
on_agui_run(void *app, struct svc_call *c)
{
	struct agui_run *r = gateway_alloc(c, sizeof(*r));

	if (r == NULL)
		return;
	*r = (struct agui_run){ .soul = { .g = app, .c = c },
		.req = svc_call_request(c) };
	if (!caller_query_user(app, c, &r->soul.user) ||
	    !soul_chat_find(&r->soul, "soul", svc_call_query(c, "soul"),
		svc_call_query(c, "terminal_id")) ||
	    !agui_run_set(r))
		return;
	r->g.thread = r->req->threadid;
	r->g.run = r->req->runid;
	r->soul.chat.stream = true;
	r->start.chat = &r->soul.chat;
	r->start.terminal = &r->soul.terminal;
	r->start.form = &agui_form;
	r->start.form_arg = r;
	chat_turn_start(app, c, r->soul.user, &r->start);
}
