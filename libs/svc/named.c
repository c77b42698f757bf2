/*
 * Users and tenants: <tenant>/<user>, whoever says it how.
 */
#include "svc/named.h"

#include "core/id.h"

/* Whether named has the tenant before it already. */
static bool
is_full(const struct auth_caller *c, struct str named)
{
	return named.n > c->tenant.n && named.p[c->tenant.n] == '/' &&
	    memcmp(named.p, c->tenant.p, c->tenant.n) == 0;
}

static enum rc
full_of(const struct auth_caller *c, struct arena *a, struct str named,
    struct str *out, const char **why)
{
	*out = named;
	if (c->tenant.p == NULL || is_full(c, named))
		return RC_OK;
	if (memchr(named.p, '/', named.n) != NULL) {
		*why = "is of another tenant than the token";
		return RC_DENIED;
	}
	if (c->tenant.n + 1 + named.n > ID_MAX) {
		*why = "is too long with its tenant before it";
		return RC_INVALID;
	}
	*out = arena_printf(a, "%.*s/%.*s", STR_ARG(c->tenant), STR_ARG(named));
	*why = "takes too much memory";
	return out->p != NULL ? RC_OK : RC_TOOBIG;
}

enum rc
named_user(const struct auth_caller *c, struct arena *a, struct str named,
    struct str *out, const char **why)
{
	enum rc rc;

	*out = c->user;
	if (named.p == NULL)
		return RC_OK;
	if (!id_valid(named)) {
		*why = "must be 1 to 128 bytes without control characters";
		return RC_INVALID;
	}
	if (c->role == WIRE_ROLE_TERMINAL) {
		*why = "must not be there: a terminal acts for the user it is "
		       "bound to";
		return RC_DENIED;
	}
	rc = full_of(c, a, named, out, why);
	if (rc != RC_OK || c->role == WIRE_ROLE_OPERATOR ||
	    c->role == WIRE_ROLE_PROVISIONER)
		return rc;
	*why = "is not the user of the token";
	return c->user.p != NULL && str_eq(*out, c->user) ? RC_OK : RC_DENIED;
}

enum rc
named_terminal(const struct auth_caller *c, struct str named, struct str *out,
    const char **why)
{
	*out = named;
	if (c->role != WIRE_ROLE_TERMINAL)
		return RC_OK;
	*out = c->terminal_id;
	*why = "is not the terminal of the token";
	return named.p == NULL || str_eq(named, c->terminal_id) ? RC_OK
								: RC_DENIED;
}
