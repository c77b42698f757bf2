/*
 * /v1/…/say, /v1/terminals/{id}/notice, /v1/pushes/{id}: a soul speaks although
 * nobody asked.  alarm-clock decides when, and knows what became of it.
 */
#include "auth/auth.h"
#include "caller.h"
#include "core/arena.h"
#include "core/clock.h"
#include "core/id.h"
#include "gateway.h"
#include "handlers.h"
#include "speech/alarm_clock.h"
#include "speech/speech_limits.h"
#include "state/terminal.h"
#include "svc/audit.h"
#include "svc/svc.h"

/* Bytes of data of a notice; and how long it is news. */
#define NOTICE_DATA_MAX 1024
#define NOTICE_S        120

static const struct service_call_peer speech_speak =
    ALARM_CLOCK_PEER(SPEAK, speak_request, speak_reply);
static const struct service_call_peer speech_push =
    ALARM_CLOCK_PEER(PUSH_GET, push_get_request, push);

static const struct svc_error speech_too_often = { 429, "too_many_requests",
	"a notifier speaks at most 6 times a minute" };
static const struct svc_error notice_too_often = { 429, "too_many_requests",
	"at most 6 notices a minute, and one of a type within 10 s" };

static struct wire_speak_request *
speech_request(struct svc_call *c, struct str id, int64_t expires_s)
{
	struct arena *a = svc_call_arena(c);
	struct wire_speak_request *q = arena_alloc(a, sizeof(*q));
	struct wall until = { clock_wall().ms + expires_s * 1000 };
	char hex[ID_HEX32_MAX], at[WALL_FORMAT_MAX];

	if (q == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return NULL;
	}
	id_hex32(hex);
	wall_format(until, 0, at);
	*q = (struct wire_speak_request){
		.reason = WIRE_SPEAK_REQUEST_REASON_PUSH,
		.request_id = id.n > 0 ? id : arena_printf(a, "say_%s", hex),
		.expires_at = arena_str(a, str_of(at)),
	};
	if (q->request_id.p == NULL || q->expires_at.p == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return NULL;
	}
	return q;
}

/* ---- access ---- */

/* False: c has been ended. */
static bool
speech_read_terminal(
    struct gateway *g, struct svc_call *c, struct str id, struct terminal *t)
{
	enum rc rc;

	if (!gateway_id(c, id, "terminal_id"))
		return false;
	rc = terminal_read_brief(
	    g->state, id, gateway_ttl_ms(g), svc_call_arena(c), t);
	if (rc == RC_OK && t->soul_id.p == NULL)
		rc = RC_NOENT;
	if (rc != RC_OK)
		gateway_fail_missing(c, rc, "terminal not found");
	return rc == RC_OK;
}

/* Whether the caller may speak by the terminal; a terminal by itself. */
static bool
speech_find_terminal(
    struct gateway *g, struct svc_call *c, struct str named, struct str *user)
{
	struct terminal t;

	if (!caller_is_terminal(c) && !caller_user(g, c, named, user))
		return false;
	if (!speech_read_terminal(g, c, svc_call_param(c, 0), &t))
		return false;
	if (caller_is_terminal(c))
		*user = t.user_id;
	if (str_eq(t.user_id, *user))
		return true;
	svc_fail(c, RC_NOENT, "terminal not found");
	return false;
}

/* A notifier has a rate of its own. */
static bool
speech_is_permitted(struct gateway *g, struct svc_call *c)
{
	const struct auth_caller *caller = svc_call_caller(c);

	if (caller == NULL || caller->role != WIRE_ROLE_NOTIFIER ||
	    speech_limits_take(g->speech_limits, caller->key))
		return true;
	svc_fail_as(c, &speech_too_often);
	return false;
}

/* ---- say ---- */

static void
speech_on_stored(struct svc_call *c, const struct peer_request *q)
{
	const struct wire_speak_request *req = q->msg;

	svc_audit_call(c,
	    &(struct wire_audit){ .action = WIRE_AUDIT_ACTION_SPEECH_REQUESTED,
		.user_id = req->user_id,
		.terminal_id = req->terminal_id });
	svc_reply_accepted(c, q->reply);
}

static bool
speech_has_one_text(struct svc_call *c, const struct wire_speech_body *body)
{
	if ((body->text.p == NULL) != (body->about.p == NULL))
		return true;
	svc_fail(c, RC_INVALID,
	    "/text or /about: one of them must be there, and not both");
	return false;
}

static void
speech_send(
    struct gateway *g, struct svc_call *c, struct str user, struct str terminal)
{
	const struct wire_speech_body *body = svc_call_request(c);
	struct wire_speak_request *q =
	    speech_request(c, body->id, body->expires_s);

	if (q == NULL)
		return;
	q->user_id = user;
	q->terminal_id = terminal;
	q->verbatim = body->text.p != NULL;
	q->text = q->verbatim ? body->text : body->about;
	q->title = body->title;
	q->urgent = body->urgent;
	service_call_send(g, c, &speech_speak, q, speech_on_stored);
}

void
on_terminals_speak(void *app, struct svc_call *c)
{
	const struct wire_speech_body *body = svc_call_request(c);
	struct str user;

	if (speech_find_terminal(app, c, body->user_id, &user) &&
	    speech_has_one_text(c, body) && speech_is_permitted(app, c))
		speech_send(app, c, user, svc_call_param(c, 0));
}

void
on_users_speak(void *app, struct svc_call *c)
{
	const struct wire_speech_body *body = svc_call_request(c);
	struct str user = svc_call_param(c, 0);

	if (!gateway_id(c, user, "user_id") || !speech_has_one_text(c, body))
		return;
	if (body->user_id.p != NULL &&
	    !str_eq(svc_call_user(c, body->user_id), user)) {
		svc_fail(c, RC_INVALID, "/user_id: is not that of the path");
		return;
	}
	if (speech_is_permitted(app, c))
		speech_send(app, c, user, (struct str){ NULL, 0 });
}

/* ---- notices ---- */

static void
notice_on_stored(struct svc_call *c, const struct peer_request *q)
{
	svc_reply_accepted(c, q->reply);
}

void
on_terminals_notice(void *app, struct svc_call *c)
{
	const struct wire_notice *body = svc_call_request(c);
	struct str user, terminal = svc_call_param(c, 0);
	struct wire_speak_request *q;
	struct gateway *g = app;

	if (!speech_find_terminal(g, c, body->user_id, &user))
		return;
	if (body->data.n > NOTICE_DATA_MAX) {
		gateway_reject(c, RC_INVALID, "/data: must be at most %d bytes",
		    NOTICE_DATA_MAX);
		return;
	}
	if (!speech_limits_notice(g->speech_limits, terminal, body->type)) {
		svc_fail_as(c, &notice_too_often);
		return;
	}
	q = speech_request(c, (struct str){ NULL, 0 }, NOTICE_S);
	if (q == NULL)
		return;
	q->user_id = user;
	q->terminal_id = terminal;
	q->title = body->type;
	q->text = body->text;
	if (body->data.n > 0)
		q->text = arena_printf(svc_call_arena(c), "%.*s %.*s",
		    STR_ARG(body->text), STR_ARG(body->data));
	if (q->text.p == NULL)
		gateway_fail(c, RC_TOOBIG);
	else
		service_call_send(g, c, &speech_speak, q, notice_on_stored);
}

/* ---- pushes ---- */

void
on_pushes_get(void *app, struct svc_call *c)
{
	struct wire_push_get_request *q =
	    arena_alloc(svc_call_arena(c), sizeof(*q));

	if (q == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return;
	}
	if (!caller_query_user(app, c, &q->user_id))
		return;
	q->push_id = svc_call_param(c, 0);
	service_call_send(app, c, &speech_push, q, NULL);
}
