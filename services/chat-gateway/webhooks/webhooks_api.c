/*
 * /v1/webhooks…
 */
#include "auth/secret_box.h"
#include "caller.h"
#include "core/arena.h"
#include "core/id.h"
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"
#include "httpc/http_url.h"
#include "live/event_view.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "webhooks/webhook_sign.h"
#include "webhooks/webhook_view.h"
#include "webhooks/webhooks.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define NOT_FOUND "webhook not found"
#define TOO_MANY  "this user has as many webhooks as a user may have"
#define NO_KEY    "webhooks are off: the operator has set no SECRETS_KEY"

static const struct svc_error webhooks_off = { 503, "unavailable", NO_KEY };

static void
webhooks_audit(struct svc_call *c, enum wire_audit_action action,
    const struct webhook_key *k)
{
	svc_audit_call(c,
	    &(struct wire_audit){
		.action = action, .user_id = k->user_id, .reason = k->id });
}

/* ---- reading ---- */

void
on_webhooks_list(void *app, struct svc_call *c)
{
	struct wire_webhook_list rep = { 0 };
	struct arena *a = svc_call_arena(c);
	struct webhook_listed *list;
	struct gateway *g = app;
	struct str user;
	size_t n;
	enum rc rc;

	if (!caller_query_user(g, c, &user))
		return;
	rc = webhook_list(g->state, user, a, &list, &n);
	if (rc == RC_OK)
		rep.webhooks = arena_alloc(a, (n + 1) * sizeof(*rep.webhooks));
	if (rc == RC_OK && rep.webhooks == NULL)
		rc = RC_TOOBIG;
	for (size_t i = 0; rc == RC_OK && i < n; i++)
		rc = webhook_view_put(
		    &list[i], a, &rep.webhooks[rep.n_webhooks++]);
	if (rc == RC_OK)
		svc_reply(c, &rep);
	else
		gateway_fail(c, rc);
}

/* The webhook that the path names; ends c. */
static void
webhooks_reply(struct gateway *g, struct svc_call *c,
    const struct webhook_key *k, struct str secret)
{
	struct arena *a = svc_call_arena(c);
	struct webhook_listed *list;
	struct wire_webhook rep;
	size_t i = 0, n;
	enum rc rc = webhook_list(g->state, k->user_id, a, &list, &n);

	while (rc == RC_OK && i < n && !str_eq(list[i].id, k->id))
		i++;
	if (rc == RC_OK)
		rc = i < n ? webhook_view_put(&list[i], a, &rep) : RC_NOENT;
	rep.secret = secret;
	if (rc == RC_OK)
		svc_reply(c, &rep);
	else
		gateway_fail_missing(c, rc, NOT_FOUND);
}

static bool
webhooks_key(struct gateway *g, struct svc_call *c, struct webhook_key *k)
{
	k->id = svc_call_param(c, 0);
	return caller_query_user(g, c, &k->user_id) &&
	    gateway_id(c, k->id, "webhook_id");
}

void
on_webhooks_get(void *app, struct svc_call *c)
{
	struct webhook_key k;

	if (webhooks_key(app, c, &k))
		webhooks_reply(app, c, &k, (struct str){ NULL, 0 });
}

/* ---- changing ---- */

void
on_webhooks_delete(void *app, struct svc_call *c)
{
	const struct wire_ok_response rep = { .ok = true };
	struct gateway *g = app;
	struct webhook_key k;
	enum rc rc;

	if (!webhooks_key(g, c, &k))
		return;
	rc = webhook_delete(g->state, &k);
	if (rc != RC_OK) {
		gateway_fail_missing(c, rc, NOT_FOUND);
		return;
	}
	webhooks_audit(c, WIRE_AUDIT_ACTION_WEBHOOK_DELETED, &k);
	svc_reply(c, &rep);
}

void
on_webhooks_redeliver(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct webhook_key k;
	enum rc rc;

	if (!webhooks_key(g, c, &k))
		return;
	rc = webhook_redeliver(g->state, &k);
	if (rc != RC_OK) {
		gateway_fail_missing(c, rc, NOT_FOUND);
		return;
	}
	webhooks_hint(g->webhooks, k.user_id);
	webhooks_reply(g, c, &k, (struct str){ NULL, 0 });
}

/* The types of a request, separated by commas; false: c has been ended. */
static bool
webhooks_types(
    struct svc_call *c, const struct wire_webhook_new *q, struct str *out)
{
	struct event_filter f = { .scope = EVENT_SCOPE_USER };
	struct arena *a = svc_call_arena(c);
	struct str bad;

	*out = (struct str){ NULL, 0 };
	for (size_t i = 0; i < q->n_types; i++)
		*out = i == 0 ? q->types[0]
			      : arena_printf(a, "%.*s,%.*s", STR_ARG(*out),
				    STR_ARG(q->types[i]));
	if (event_filter_types(&f, *out, &bad) == RC_OK)
		return true;
	gateway_reject(c, RC_INVALID,
	    "types: %.*s is no type of event, or not for this role",
	    STR_ARG(bad));
	return false;
}

/* The record of a new webhook, as JSON. */
static enum rc
webhooks_write(const struct webhooks *w, const struct wire_webhook_new *q,
    const struct webhook_key *k, struct str secret,
    struct wire_webhook_record *rec, struct buf *json)
{
	struct buf of = BUF_INIT(4 * ID_MAX), sealed = BUF_INIT(1024);
	enum rc rc;

	webhook_of(k->user_id, k->id, &of);
	rc = secret_box_seal(w->box, buf_str(&of), secret, &sealed);
	rec->id = k->id;
	rec->url = q->url;
	rec->types = q->types;
	rec->n_types = q->n_types;
	rec->has_types = q->has_types;
	rec->description = q->description;
	rec->secret = buf_str(&sealed);
	if (rc == RC_OK)
		rc = wire_encode(&wire_webhook_record_desc, rec, json, NULL);
	buf_free(&of);
	buf_free(&sealed);
	return rc;
}

static void
webhooks_create(struct gateway *g, struct svc_call *c, struct webhook_key *k,
    struct str types)
{
	struct buf json = BUF_INIT(WEBHOOK_MAX);
	struct arena *a = svc_call_arena(c);
	struct wire_webhook_record rec = { 0 };
	char hex[ID_HEX32_MAX], secret[WEBHOOK_SECRET_MAX];
	struct wall now = clock_wall();
	enum rc rc;

	id_hex32(hex);
	k->id = arena_printf(a, "wh_%s", hex);
	webhook_secret_new(secret);
	rec.created_at = wall_text(now, 0, a);
	rc = webhooks_write(
	    g->webhooks, svc_call_request(c), k, str_of(secret), &rec, &json);
	if (rc == RC_OK)
		rc = webhook_put(g->state, k, now, types, buf_str(&json));
	buf_free(&json);
	if (rc == RC_RETRY) {
		svc_fail(c, RC_CONFLICT, TOO_MANY);
	} else if (rc != RC_OK) {
		gateway_fail(c, rc);
	} else {
		webhooks_audit(c, WIRE_AUDIT_ACTION_WEBHOOK_CREATED, k);
		webhooks_reply(g, c, k, str_of(secret));
	}
}

void
on_webhooks_create(void *app, struct svc_call *c)
{
	const struct wire_webhook_new *q = svc_call_request(c);
	struct gateway *g = app;
	struct webhook_key k;
	struct str types;
	const char *why = http_url_check(q->url, !g->conf->webhook_private);

	if (!caller_user(g, c, q->user_id, &k.user_id))
		return;
	if (g->webhooks == NULL)
		svc_fail_as(c, &webhooks_off);
	else if (why != NULL)
		gateway_reject(c, RC_INVALID, "url: %s", why);
	else if (webhooks_types(c, q, &types))
		webhooks_create(g, c, &k, types);
}
