/*
 * client_auth: clients that send their access token in a message: the first,
 * after a handshake without one, or a newer one.
 */
#include "envelope.h"
#include "handlers.h"
#include "payload.h"
#include "permission.h"
#include "svc/svc.h"
#include "svc/svc_ws.h"
#include "wire/out.h"

/* ---- the reply ---- */

static void
auth_put_permissions(struct wire_out *o, const struct client *c)
{
	wire_out_str(o, STR("action:*"));
	wire_out_str(o, STR("event:*"));
	if (client_is_operator(c))
		wire_out_str(o, STR("admin:*"));
}

/* why NULL: it has succeeded. */
static void
auth_send_result(struct hub *h, struct client *c, const char *why)
{
	struct wire_out o = { .b = &h->out };
	char until[HUB_TIMESTAMP_MAX];

	hub_message_begin(&o, "auth_result", &c->identity);
	wire_out_object(&o);
	hub_put(&o, "status", why == NULL ? STR("success") : STR("failed"));
	if (why != NULL)
		hub_put(&o, "message", str_of(why));
	wire_out_key(&o, STR("permissions"));
	wire_out_array(&o);
	if (why == NULL)
		auth_put_permissions(&o, c);
	wire_out_array_end(&o);
	wire_out_key(&o, STR("session_info"));
	wire_out_object(&o);
	if (why == NULL && c->caller.until.ms != 0) {
		hub_timestamp(c->caller.until.ms, until);
		hub_put(&o, "expires_at", str_of(until));
	}
	hub_put(&o, "session_id", str_of(c->session));
	wire_out_object_end(&o);
	wire_out_object_end(&o);
	hub_message_end(&o, hub_now(h));
	client_send_uncounted(h, c);
}

static void
auth_fail(struct hub *h, struct client *c, enum rc rc, const char *why)
{
	auth_send_result(h, c, why);
	if (rc == RC_DENIED)
		client_close(c, WS_CLOSE_POLICY, str_of(why));
	else if (!c->held)
		client_close(c, WS_CLOSE_TRY_LATER, str_of(why));
}

void
client_auth_accepted(struct hub *h, struct client *c)
{
	auth_send_result(h, c, NULL);
}

void
client_auth_rejected(
    struct hub *h, struct client *c, enum rc rc, const char *why)
{
	auth_fail(h, c, rc, why);
}

/* ---- the time that is left ---- */

static void auth_on_timer(void *arg);

static void
auth_set_timer(struct hub *h)
{
	const struct client *c = TAILQ_FIRST(&h->authenticating);

	if (c != NULL)
		loop_timer_set(
		    h->loop, &h->auth_timer, c->auth_by, auth_on_timer, h);
	else
		loop_timer_cancel(h->loop, &h->auth_timer);
}

static void
auth_on_timer(void *arg)
{
	struct hub *h = arg;
	struct mono now = clock_mono();
	struct client *c;

	while ((c = TAILQ_FIRST(&h->authenticating)) != NULL &&
	    c->auth_by.ns <= now.ns) {
		client_auth_end(h, c);
		client_close(c, WS_CLOSE_POLICY,
		    STR("no access token was sent in time"));
	}
	auth_set_timer(h);
}

void
client_auth_expect(struct hub *h, struct client *c)
{
	bool first = TAILQ_EMPTY(&h->authenticating);

	ws_set_message_max(c->peer, HUB_AUTHENTICATE_BYTES);
	c->auth_by = mono_add_ms(clock_mono(), HUB_AUTHENTICATE_MS);
	TAILQ_INSERT_TAIL(&h->authenticating, c, auth_link);
	if (first)
		auth_set_timer(h);
}

void
client_auth_end(struct hub *h, struct client *c)
{
	if (c->auth_by.ns == 0)
		return;
	c->auth_by.ns = 0;
	TAILQ_REMOVE(&h->authenticating, c, auth_link);
}

/* ---- the result of a check ---- */

/* A newer token of a connection that has one; NULL, or why not. */
static const char *
auth_renew(struct client *c, const struct auth_caller *who)
{
	struct auth_caller *now = &c->caller;

	const char *why = permission_connect(who, &c->identity);

	if (why != NULL)
		return why;
	if (!str_eq(who->tenant, now->tenant) ||
	    !str_eq(who->user, now->user) ||
	    !str_eq(who->terminal_id, now->terminal_id))
		return "the access token is of another user";
	now->role = who->role;
	now->until = who->until;
	now->key = who->key;
	now->proof = who->proof;
	return NULL;
}

static void
auth_on_checked(void *app, struct ws_peer *p, enum rc rc,
    const struct auth_caller *who, const char *why)
{
	struct hub *h = app;
	struct client *c = ws_peer_arg(p);

	c->checking = false;
	if (c->closing)
		return;
	if (rc == RC_OK) {
		why = c->held ? auth_renew(c, who) : connect_as(h, c, who);
		rc = why == NULL ? RC_OK : RC_DENIED;
	}
	if (rc != RC_OK)
		auth_fail(h, c, rc, why);
	/* Otherwise the result is sent when its claim has succeeded. */
	else if (c->held)
		auth_send_result(h, c, NULL);
}

/* ---- messages ---- */

bool
client_auth_is_request(struct hub *h, const struct envelope *e)
{
	struct payload p;

	if (e->type == ENVELOPE_AUTHENTICATE)
		return true;
	return e->type == ENVELOPE_MESSAGE && e->recipient.class == CLASS_HUB &&
	    payload_read(e->payload, &p) == RC_OK &&
	    str_eq(payload_text(p.type, h->arena), STR("stream")) &&
	    str_eq(payload_stream(&p, h->arena), STR("authentication"));
}

bool
client_auth_handle(struct hub *h, struct client *c, const struct envelope *e,
    struct hub_failure *f)
{
	struct str token = { NULL, 0 };
	struct payload p;

	if (svc_auth(h->svc) == NULL) {
		auth_send_result(h, c, NULL);
		return true;
	}
	if (c->checking || c->phase == CLIENT_CLAIMING) {
		f->error = HUB_ERROR_PERMISSION;
		f->message = "another access token is being checked";
		return false;
	}
	if (payload_read(e->payload, &p) == RC_OK)
		token = payload_text(p.token.p != NULL
			? p.token
			: payload_member(p.data, STR("token")),
		    h->arena);
	if (token.p == NULL) {
		f->error = HUB_ERROR_VALIDATION;
		f->validation_error = "/payload/token: must be an access token";
		return false;
	}
	c->checking = true;
	svc_ws_check(h->svc, c->peer, token, auth_on_checked);
	return true;
}
