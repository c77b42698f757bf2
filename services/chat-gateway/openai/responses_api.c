/*
 * POST /v1/responses: a turn, in the form of OpenAI's Responses API.
 */
#include "chat/chat_turn.h"
#include "chat/message_text.h"
#include "chat/soul_chat.h"
#include "core/arena.h"
#include "core/clock.h"
#include "core/log.h"
#include "fcmp/fcmp_read.h"
#include "gateway.h"
#include "handlers.h"
#include "openai/openai_call.h"
#include "openai/responses_record.h"
#include "openai/responses_stream.h"
#include "openai/responses_view.h"
#include "state/turn.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define NO_TEXT "/input: must be a text, or have a message of the user with one"

/* A call, in its memory. */
struct responses_call {
	struct soul_chat soul;
	const struct wire_openai_response_request *req;
	struct responses r; /* its head and session, streamed or not */
};

/* ---- the reply ---- */

/* The head outlives the turn. */
static struct svc_call *
responses_release(struct chat_turn *t)
{
	struct responses_call *k = t->form_arg;

	k->r.head.id = arena_str(svc_call_arena(t->c), str_of(t->id));
	return chat_turn_release(t);
}

static void
responses_accepted(struct chat_turn *t)
{
	struct responses_call *k = t->form_arg;
	struct svc_call *c = responses_release(t);
	struct wire_openai_response rep;

	responses_put(&k->r.head, k->r.session, STR("in_progress"), &rep);
	svc_reply(c, &rep);
}

static void
responses_reply(struct chat_turn *t, const struct wire_chat_response *m)
{
	struct responses_call *k = t->form_arg;
	struct svc_call *c = responses_release(t);
	struct wire_openai_response rep;
	struct responses_parts parts;
	enum rc rc;

	responses_put(&k->r.head, k->r.session, STR("completed"), &rep);
	rc = responses_put_reply(m, svc_call_arena(c), &parts, &rep);
	if (rc == RC_OK)
		svc_reply(c, &rep);
	else
		gateway_fail(c, rc);
}

/* ---- the stream ---- */

static enum rc
responses_on_event(struct chat_turn *t, const struct fcmp_event *e)
{
	struct responses_call *k = t->form_arg;

	k->r.head.id = str_of(t->id);
	return responses_stream_send(&k->r, e);
}

static void
responses_on_fail(struct chat_turn *t, const struct svc_error *e)
{
	const struct wire_error m = { .error = str_of(e->text),
		.code = str_of(e->code) };
	struct responses_call *k = t->form_arg;

	k->r.head.id = str_of(t->id);
	if (responses_convert_error(&k->r, &m) != RC_OK)
		log_debug("gateway.reader_disconnected", LOG_S("turn", t->id));
}

static const struct turn_form responses_form = { NULL, responses_reply,
	responses_on_event, responses_on_fail };
static const struct turn_form responses_background = { responses_accepted,
	responses_reply, responses_on_event, responses_on_fail };

/* ---- the request ---- */

/* The session: named, of the previous response, or absent. */
static bool
responses_find_session(struct responses_call *k, struct str *session)
{
	struct turn_record rec;

	*session = k->req->metadata.session_id;
	if (session->n > 0 || k->req->previous_response_id.n == 0)
		return true;
	if (!responses_record_read(&k->soul,
		"previous_response_id: ", k->req->previous_response_id, &rec))
		return false;
	*session = rec.session_id;
	return true;
}

static bool
responses_set(struct responses_call *k)
{
	struct svc_call *c = k->soul.c;
	struct str text, session;
	enum rc rc;

	if (!responses_find_session(k, &session))
		return false;
	rc = message_input_text(k->req->input, svc_call_arena(c), &text);
	if (rc != RC_OK || gateway_trim_text(text).n == 0) {
		svc_fail(c, rc == RC_TOOBIG ? rc : RC_INVALID, NO_TEXT);
		return false;
	}
	if (!openai_call_set(&k->soul, text, session))
		return false;
	k->soul.chat.stream = k->req->stream;
	k->soul.chat.cancel_on_disconnect = !k->req->background;
	k->r.session = k->soul.chat.session_id;
	return true;
}

void
on_openai_responses_create(void *app, struct svc_call *c)
{
	struct responses_call *k = gateway_alloc(c, sizeof(*k));

	if (k == NULL)
		return;
	*k = (struct responses_call){ .soul = { .g = app, .c = c },
		.req = svc_call_request(c) };
	if (!openai_call_user(&k->soul, k->req->user) ||
	    !soul_chat_find(&k->soul, "model", openai_soul(k->req->model),
		k->req->metadata.terminal_id) ||
	    !responses_set(k))
		return;
	responses_stream_set(&k->r, c, -1);
	k->r.head.model = k->req->model;
	k->r.head.created = clock_wall().ms / 1000;
	chat_turn_start(app, c, k->soul.user,
	    &(struct chat_turn_request){ .chat = &k->soul.chat,
		.terminal = &k->soul.terminal,
		.form = k->req->background ? &responses_background
					   : &responses_form,
		.form_arg = k });
}
