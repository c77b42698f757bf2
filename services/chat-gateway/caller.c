/*
 * From a request to its user, and what that user may access.
 */
#include "caller.h"

#include "auth/auth.h"
#include "gateway.h"
#include "state/terminal.h"
#include "svc/svc.h"

bool
caller_user(
    struct gateway *g, struct svc_call *c, struct str named, struct str *user)
{
	*user = svc_call_user(c, named);
	if (user->p != NULL)
		return gateway_id(c, *user, "user_id");
	if (svc_call_caller(c) == NULL) {
		*user = str_of(g->conf->user_id);
		return true;
	}
	svc_fail(c, RC_INVALID,
	    "user_id: must be named: the access token is of no user");
	return false;
}

bool
caller_query_user(struct gateway *g, struct svc_call *c, struct str *user)
{
	return caller_user(g, c, svc_call_query(c, "user_id"), user);
}

bool
caller_named_user(struct gateway *g, struct svc_call *c, struct str *user)
{
	if (svc_call_has_query(c, "user_id"))
		return caller_query_user(g, c, user);
	svc_fail(
	    c, RC_INVALID, "user_id: must be named: there is no default here");
	return false;
}

static bool
caller_has_role(const struct svc_call *c, enum wire_role role)
{
	const struct auth_caller *caller = svc_call_caller(c);

	return caller != NULL && caller->role == role;
}

bool
caller_is_terminal(const struct svc_call *c)
{
	return caller_has_role(c, WIRE_ROLE_TERMINAL);
}

bool
caller_is_provisioner(const struct svc_call *c)
{
	return caller_has_role(c, WIRE_ROLE_PROVISIONER);
}

bool
caller_is_unlimited(const struct svc_call *c)
{
	return svc_call_caller(c) == NULL ||
	    caller_has_role(c, WIRE_ROLE_OPERATOR);
}

struct str
caller_tenant(const struct svc_call *c)
{
	const struct auth_caller *caller = svc_call_caller(c);

	return caller != NULL ? caller->tenant : (struct str){ NULL, 0 };
}

/* With authentication, a user without a tenant has no "/". */
struct str
caller_user_tenant(const struct svc_call *c, struct str user)
{
	struct str tenant = str_split(&user, '/');

	return svc_call_caller(c) != NULL && user.p != NULL
	    ? tenant
	    : (struct str){ NULL, 0 };
}

enum rc
caller_may_bind(
    struct gateway *g, struct svc_call *c, struct str terminal, struct str user)
{
	struct credential cr;
	enum rc rc;

	if (svc_call_caller(c) == NULL)
		return RC_OK;
	rc = credential_read(g->state, terminal, svc_call_arena(c), &cr);
	if (rc == RC_OK &&
	    (cr.revoked || !str_eq(cr.tenant, caller_user_tenant(c, user)) ||
		(cr.user_id.p != NULL && !str_eq(cr.user_id, user))))
		rc = RC_NOENT;
	return rc;
}

enum rc
caller_identity(struct gateway *g, struct svc_call *c, struct str terminal,
    struct credential *out)
{
	struct str tenant = caller_tenant(c);
	enum rc rc;

	rc = credential_read(g->state, terminal, svc_call_arena(c), out);
	if (rc == RC_OK && tenant.p != NULL && !str_eq(out->tenant, tenant))
		rc = RC_NOENT;
	return rc;
}
