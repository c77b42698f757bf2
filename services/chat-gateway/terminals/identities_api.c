/*
 * Routes that create, rotate, revoke and list the identities of terminals.
 */
#include "auth/auth.h"
#include "caller.h"
#include "core/arena.h"
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"
#include "state/terminal.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "wire/msgs.h"

#define LIST_DEFAULT 100

_Static_assert(CREDENTIAL_HASH_MAX >= AUTH_HASH_MAX - 1, "a hash is kept");

/* The identity of the terminal in the path.  False: c has been ended. */
static bool
identities_find(struct gateway *g, struct svc_call *c, struct credential *out)
{
	struct str id = svc_call_param(c, 0);
	enum rc rc;

	if (!gateway_id(c, id, "terminal_id"))
		return false;
	rc = caller_identity(g, c, id, out);
	if (rc == RC_OK && out->revoked)
		rc = RC_NOENT;
	if (rc != RC_OK)
		gateway_fail_missing(c, rc, "terminal not found");
	return rc == RC_OK;
}

/* A new secret and its stored hash. */
struct identity_secret {
	char text[AUTH_SECRET_MAX];
	char hash[AUTH_HASH_MAX];
};

/* The hash; absent for a certificate. */
static struct str
identities_secret_new(struct identity_secret *s, bool certificate)
{
	if (certificate) {
		s->text[0] = '\0';
		return (struct str){ NULL, 0 };
	}
	auth_secret_new(s->text);
	auth_secret_hash(str_of(s->text), s->hash);
	return str_of(s->hash);
}

/* The only response that contains the secret. */
static void
identities_reply_secret(struct svc_call *c, const struct credential *cr,
    const struct identity_secret *s)
{
	char token[AUTH_TERMINAL_TOKEN_MAX];
	char created[WALL_FORMAT_MAX], changed[WALL_FORMAT_MAX];
	struct wire_identity_secret rep = { .terminal_id = cr->terminal_id,
		.tenant = cr->tenant,
		.user_id = cr->user_id,
		.username = cr->terminal_id };

	wall_format(cr->created, 0, created);
	wall_format(cr->changed, 0, changed);
	rep.created_at = str_of(created);
	rep.changed_at = str_of(changed);
	if (s->text[0] != '\0') {
		auth_terminal_token(cr->terminal_id, str_of(s->text), token);
		rep.password = str_of(s->text);
		rep.token = str_of(token);
	}
	svc_reply(c, &rep);
}

static void
identities_audit(struct svc_call *c, enum wire_audit_action action,
    const struct credential *cr)
{
	svc_audit_call(c,
	    &(struct wire_audit){ .action = action,
		.user_id = cr->user_id,
		.terminal_id = cr->terminal_id });
}

/* Audit that the terminal was unbound from a user; absent: it was not bound. */
static void
identities_audit_unbound(struct svc_call *c, const char *how,
    const struct credential *cr, struct str unbound)
{
	if (unbound.p != NULL)
		gateway_audit_binding(c, how,
		    &(struct binding){ cr->terminal_id, unbound, { NULL, 0 } });
}

/*
 * Whether the id may be a user name at the broker.  Services have reserved
 * names there, and a line of its password file is "name:hash", trimmed.
 */
static bool
identities_id_allowed(struct svc_call *c, struct str id)
{
	static const struct str taken[] = { STR_INIT("mqtt-bridge"),
		STR_INIT("health") };
	size_t i;

	for (i = 0; i < NELEM(taken); i++) {
		if (!str_eq(id, taken[i]))
			continue;
		svc_fail(c, RC_INVALID,
		    "terminal_id: a service has this name at the broker");
		return false;
	}
	if (id.p[0] != '$' && str_find(id, STR(":")) < 0 &&
	    str_trim(id).n == id.n)
		return true;
	svc_fail(c, RC_INVALID,
	    "terminal_id: must not have \":\", \"$\" at its start, or "
	    "blanks at its ends");
	return false;
}

/* An id is not reused across tenants. */
static enum rc
identities_mint(struct gateway *g, struct svc_call *c,
    const struct credential *cr, struct str *unbound)
{
	struct credential previous;
	enum rc rc;

	rc = credential_read(
	    g->state, cr->terminal_id, svc_call_arena(c), &previous);
	if (rc == RC_OK && caller_tenant(c).p != NULL &&
	    !str_eq(previous.tenant, cr->tenant))
		return RC_CONFLICT;
	if (rc != RC_OK && rc != RC_NOENT)
		return rc;
	return credential_mint(g->state, cr, svc_call_arena(c), unbound);
}

void
on_terminals_mint(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	const struct wire_identity_mint_request *req = svc_call_request(c);
	struct credential cr = { .terminal_id = req->terminal_id,
		.tenant = caller_tenant(c),
		.created = clock_wall() };
	struct identity_secret s;
	struct str unbound;
	enum rc rc;

	if (!identities_id_allowed(c, req->terminal_id) ||
	    (req->user_id.p != NULL &&
		!caller_user(g, c, req->user_id, &cr.user_id)))
		return;
	if (cr.tenant.p == NULL)
		cr.tenant = caller_user_tenant(c, cr.user_id);
	cr.changed = cr.created;
	cr.hash = identities_secret_new(&s, req->certificate);
	rc = identities_mint(g, c, &cr, &unbound);
	if (rc == RC_CONFLICT) {
		gateway_reject(c, rc,
		    "terminal %.*s has an identity; rotate or revoke that",
		    STR_ARG(cr.terminal_id));
	} else if (rc != RC_OK) {
		gateway_fail(c, rc);
	} else {
		identities_audit(c, WIRE_AUDIT_ACTION_TERMINAL_MINTED, &cr);
		identities_audit_unbound(c, "minted", &cr, unbound);
		identities_reply_secret(c, &cr, &s);
	}
}

void
on_terminals_rotate(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	const struct wire_identity_rotate_request *req = svc_call_request(c);
	struct credential cr;
	struct identity_secret s;
	enum rc rc;

	if (!identities_find(g, c, &cr))
		return;
	rc = credential_rotate(g->state, cr.terminal_id,
	    identities_secret_new(&s, req->certificate));
	if (rc != RC_OK) {
		gateway_fail_missing(c, rc, "terminal not found");
		return;
	}
	cr.changed = clock_wall();
	identities_audit(c, WIRE_AUDIT_ACTION_TERMINAL_ROTATED, &cr);
	identities_reply_secret(c, &cr, &s);
}

void
on_terminals_revoke(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct credential cr;
	struct str unbound;
	enum rc rc;

	if (!identities_find(g, c, &cr))
		return;
	rc = credential_revoke(
	    g->state, cr.terminal_id, svc_call_arena(c), &unbound);
	if (rc != RC_OK) {
		gateway_fail_missing(c, rc, "terminal not found");
		return;
	}
	identities_audit(c, WIRE_AUDIT_ACTION_TERMINAL_REVOKED, &cr);
	identities_audit_unbound(c, "revoked", &cr, unbound);
	svc_reply(c, &(struct wire_ok_response){ .ok = true });
}

/* ---- list ---- */

static enum rc
identities_put(
    struct arena *a, const struct credential *cr, struct wire_identity *out)
{
	*out = (struct wire_identity){ .terminal_id = cr->terminal_id,
		.tenant = cr->tenant,
		.user_id = cr->user_id,
		.certificate = cr->hash.p == NULL && !cr->revoked,
		.revoked = cr->revoked,
		.created_at = wall_text(cr->created, 0, a),
		.changed_at = wall_text(cr->changed, 0, a) };
	return out->created_at.p != NULL && out->changed_at.p != NULL
	    ? RC_OK
	    : RC_TOOBIG;
}

static void
identities_reply_list(struct svc_call *c, const struct credential *list,
    size_t n, struct str next)
{
	struct arena *a = svc_call_arena(c);
	struct wire_identity_list rep = { .next = next,
		.items = arena_alloc(a, (n + 1) * sizeof(*rep.items)) };
	enum rc rc = rep.items != NULL ? RC_OK : RC_TOOBIG;

	for (; rc == RC_OK && rep.n_items < n; rep.n_items++)
		rc = identities_put(
		    a, &list[rep.n_items], &rep.items[rep.n_items]);
	if (rc == RC_OK)
		svc_reply(c, &rep);
	else
		gateway_fail(c, rc);
}

void
on_identities_list(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct str cursor = svc_call_query(c, "cursor");
	struct str text = svc_call_query(c, "limit"), next;
	int64_t limit = LIST_DEFAULT;
	struct credential *list;
	size_t n;
	enum rc rc;

	if (text.p != NULL &&
	    str_to_i64(text, 1, CREDENTIAL_PAGE_MAX, &limit) != RC_OK) {
		gateway_reject(c, RC_INVALID, "limit: must be 1 to %d",
		    CREDENTIAL_PAGE_MAX);
		return;
	}
	rc = credential_list(g->state, caller_tenant(c), cursor, (size_t)limit,
	    svc_call_arena(c), &list, &n, &next);
	if (rc == RC_OK)
		identities_reply_list(c, list, n, next);
	else if (rc == RC_INVALID && cursor.p != NULL)
		svc_fail(c, rc, "cursor: must be the next of the page before");
	else
		gateway_fail(c, rc);
}
