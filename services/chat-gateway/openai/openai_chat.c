/*
 * POST /v1/chat/completions and GET /v1/models: a soul as a model, for clients
 * of OpenAI's API.
 */
#include "caller.h"
#include "chat/chat_turn.h"
#include "chat/soul_chat.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/log.h"
#include "fcmp/fcmp_read.h"
#include "gateway.h"
#include "handlers.h"
#include "openai/openai_call.h"
#include "openai/openai_view.h"
#include "state/soul.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define NO_TEXT "/messages: the newest message of the user has no text"

/* Memory for one event that is being read. */
#define EVENT_ARENA (2 * (size_t)WIRE_ARENA_MAX)

/* A chat, in the memory of its call. */
struct openai_chat {
	struct soul_chat soul;
	const struct wire_openai_chat_request *req;
	struct openai_head head;
	struct str message; /* id of the message that is being sent */
	size_t sent;        /* bytes of it */
	struct str payload; /* of the reply */
};

/* ---- the reply ---- */

static const struct openai_head *
openai_head_of(struct chat_turn *t)
{
	struct openai_chat *o = t->form_arg;

	o->head.id = str_of(t->id);
	return &o->head;
}

static void
openai_reply(struct chat_turn *t, const struct wire_chat_response *m)
{
	struct wire_openai_chat_response_choices choice;
	struct wire_openai_chat_response rep;
	struct openai_head h = *openai_head_of(t);

	h.id = arena_str(svc_call_arena(t->c), h.id);
	struct svc_call *c = chat_turn_release(t);
	openai_put_reply(&h, m, &choice, &rep);
	svc_reply(c, &rep);
}

/* ---- the stream ---- */

static enum rc
openai_send(struct chat_turn *t, enum rc rc, struct buf *b)
{
	if (rc == RC_OK)
		rc = svc_sse_send(t->c, NULL, NULL, buf_str(b));
	buf_reset(b);
	return rc;
}

static enum rc
openai_send_text(struct chat_turn *t, struct str text, struct buf *b)
{
	if (text.n == 0)
		return RC_OK;
	return openai_send(t, openai_write_text(openai_head_of(t), text, b), b);
}

/* Text that was sent of another message is withdrawn; it cannot be taken back.
 */
static enum rc
openai_begin_message(struct chat_turn *t, struct str id, struct buf *b)
{
	struct openai_chat *o = t->form_arg;
	enum rc rc = RC_OK;

	if (id.n == 0 || str_eq(id, o->message))
		return RC_OK;
	if (o->sent > 0)
		rc = openai_send_text(t, STR("\n\n"), b);
	o->message = arena_str(svc_call_arena(t->c), id);
	o->sent = 0;
	return rc;
}

static enum rc
openai_send_final(
    struct chat_turn *t, const struct wire_chat_event_data *d, struct buf *b)
{
	struct openai_chat *o = t->form_arg;
	struct str rest = d->text;

	if (o->sent <= rest.n)
		rest = (struct str){ rest.p + o->sent, rest.n - o->sent };
	else
		rest.n = 0;
	o->sent += rest.n;
	o->payload = arena_str(svc_call_arena(t->c), d->structured_payload);
	return openai_send_text(t, rest, b);
}

static enum rc
openai_send_end(struct chat_turn *t, struct buf *b)
{
	const struct openai_chat *o = t->form_arg;
	enum rc rc;

	rc = openai_send(
	    t, openai_write_end(openai_head_of(t), o->payload, b), b);
	return rc == RC_OK ? svc_sse_send(t->c, NULL, NULL, STR("[DONE]")) : rc;
}

static enum rc
openai_send_error(struct chat_turn *t, const struct wire_error *e, int status)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	enum rc rc = openai_send(t, openai_write_error(e, status, &b), &b);

	buf_free(&b);
	return rc;
}

static enum rc
openai_send_event(
    struct chat_turn *t, const struct wire_chat_event *e, struct buf *b)
{
	struct openai_chat *o = t->form_arg;
	const struct wire_chat_event_data *d = &e->data;
	enum rc rc = RC_OK;

	switch (e->type) {
	case WIRE_CHAT_EVENT_TYPE_CONVERSATION_STARTED:
		return openai_send(
		    t, openai_write_start(openai_head_of(t), b), b);
	case WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_DELTA:
		rc = openai_begin_message(t, d->message_id, b);
		o->sent += d->text_delta.n;
		return rc == RC_OK ? openai_send_text(t, d->text_delta, b) : rc;
	case WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_FINAL:
		rc = openai_begin_message(t, d->message_id, b);
		return rc == RC_OK ? openai_send_final(t, d, b) : rc;
	case WIRE_CHAT_EVENT_TYPE_USER_INPUT_REQUIRED:
		if (o->sent == 0)
			rc = openai_send_text(t, d->prompt, b);
		return rc == RC_OK ? openai_send_end(t, b) : rc;
	case WIRE_CHAT_EVENT_TYPE_CONVERSATION_COMPLETED:
		return openai_send_end(t, b);
	case WIRE_CHAT_EVENT_TYPE_CONVERSATION_FAILED:
		return openai_send_error(t,
		    &(struct wire_error){ .error = d->error.message.n > 0
			    ? d->error.message
			    : d->error.code,
			.code = d->error.code },
		    500);
	case WIRE_CHAT_EVENT_TYPE_USER_INPUT_REPLIED:
	case WIRE_CHAT_EVENT_TYPE_DIAGNOSTIC_WARNING:
		break;
	}
	return RC_OK;
}

static enum rc
openai_on_event(struct chat_turn *t, const struct fcmp_event *e)
{
	struct arena *a = arena_new(EVENT_ARENA);
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_chat_event m;
	enum rc rc;

	rc = wire_decode(&wire_chat_event_desc, e->json, a, &m, NULL);
	if (rc == RC_OK)
		rc = openai_send_event(t, &m, &b);
	buf_free(&b);
	arena_free(a);
	return rc;
}

static void
openai_on_fail(struct chat_turn *t, const struct svc_error *e)
{
	const struct wire_error m = { .error = str_of(e->text),
		.code = str_of(e->code) };

	if (openai_send_error(t, &m, e->status) != RC_OK)
		log_debug("gateway.reader_disconnected", LOG_S("turn", t->id));
}

static const struct turn_form openai_form = { NULL, openai_reply,
	openai_on_event, openai_on_fail };

/* ---- the request ---- */

static bool
openai_set(struct openai_chat *o)
{
	struct str text;
	enum rc rc =
	    openai_newest_text(o->req, svc_call_arena(o->soul.c), &text);

	if (rc != RC_OK || gateway_trim_text(text).n == 0) {
		svc_fail(o->soul.c, rc == RC_TOOBIG ? rc : RC_INVALID, NO_TEXT);
		return false;
	}
	return openai_call_set(&o->soul, text, o->req->metadata.session_id);
}

void
on_openai_chat(void *app, struct svc_call *c)
{
	struct openai_chat *o = gateway_alloc(c, sizeof(*o));

	if (o == NULL)
		return;
	*o = (struct openai_chat){ .soul = { .g = app, .c = c },
		.req = svc_call_request(c) };
	if (!openai_call_user(&o->soul, o->req->user) ||
	    !soul_chat_find(&o->soul, "model", openai_soul(o->req->model),
		o->req->metadata.terminal_id) ||
	    !openai_set(o))
		return;
	o->soul.chat.stream = o->req->stream;
	o->head.model = o->req->model;
	o->head.created = clock_wall().ms / 1000;
	chat_turn_start(app, c, o->soul.user,
	    &(struct chat_turn_request){ .chat = &o->soul.chat,
		.terminal = &o->soul.terminal,
		.form = &openai_form,
		.form_arg = o });
}

/* ---- models ---- */

void
on_openai_models(void *app, struct svc_call *c)
{
	struct wire_openai_model_list rep = { .object = STR("list") };
	struct arena *a = svc_call_arena(c);
	struct gateway *g = app;
	struct soul *souls;
	struct str user;
	size_t n;
	enum rc rc;

	if (!caller_query_user(g, c, &user))
		return;
	rc = soul_list(g->state, user, a, &souls, &n);
	if (rc == RC_OK)
		rep.data = arena_alloc(a, (n + 1) * sizeof(*rep.data));
	if (rc != RC_OK || rep.data == NULL) {
		gateway_fail(c, rc != RC_OK ? rc : RC_TOOBIG);
		return;
	}
	for (size_t i = 0; i < n; i++)
		rep.data[rep.n_data++] = (struct wire_openai_model_list_data){
			.id =
			    arena_printf(a, "soul/%.*s", STR_ARG(souls[i].id)),
			.object = STR("model"),
			.created = souls[i].created.ms / 1000,
			.owned_by = user,
			.name = souls[i].name,
		};
	svc_reply(c, &rep);
}
