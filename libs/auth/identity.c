/*
 * The rules for users, tenants and terminals of tokens.
 */
#include "auth/auth_internal.h"

#include <stdlib.h>

#include "core/id.h"
#include "core/mem.h"

static bool
identity_tenant_valid(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			(c >= '0' && c <= '9') || c == '_' || c == '-'))
			return false;
	}
	return s.n > 0 && s.n <= AUTH_TENANT_MAX;
}

static const char *
identity_user_error(struct str user, struct str tenant)
{
	if (!id_valid(user))
		return "must be 1 to 128 bytes without control characters";
	if (memchr(user.p, '/', user.n) != NULL)
		return "must not have a /";
	/* Guests of souls (state/star_home.h), who have no tokens. */
	if (str_starts(user, STR("star:")))
		return "must not begin with star:";
	if (tenant.p != NULL && tenant.n + 1 + user.n > ID_MAX)
		return "is too long with its tenant before it";
	return NULL;
}

static struct auth_error
identity_error(const struct auth_claims *s)
{
	bool body = s->role == WIRE_ROLE_TERMINAL;
	const char *why;

	if (s->tenant.p != NULL && !identity_tenant_valid(s->tenant))
		return (struct auth_error){ "tenant",
			"may only have letters, digits, _ and -" };
	if (body && !id_terminal_valid(s->terminal_id))
		return (struct auth_error){ "terminal_id",
			"must be the id of a terminal" };
	if (s->role == WIRE_ROLE_OWNER && s->user.p == NULL)
		return (struct auth_error){ "user", "is missing" };
	if ((s->role == WIRE_ROLE_NOTIFIER) != (s->n_users > 0))
		return (struct auth_error){ "users",
			s->n_users == 0
			    ? "is missing"
			    : "must not be there: only the role notifier "
			      "has them" };
	for (size_t i = 0; i < s->n_users; i++) {
		why = identity_user_error(s->users[i], s->tenant);
		if (why != NULL)
			return (struct auth_error){ "users", why };
	}
	if (body || s->role == WIRE_ROLE_NOTIFIER || s->user.p == NULL)
		return (struct auth_error){ 0 };
	why = identity_user_error(s->user, s->tenant);
	return (struct auth_error){ why != NULL ? "user" : NULL, why };
}

/* Copy s to *at and advance it. */
static struct str
identity_copy_text(char **at, struct str s)
{
	struct str copy = { *at, s.n };

	if (s.p == NULL)
		return s;
	memcpy(*at, s.p, s.n);
	*at += s.n;
	return copy;
}

/* "<tenant>/<user>" at *at, which is advanced. */
static void
identity_copy_user(char **at, struct str tenant, struct str user)
{
	if (tenant.p != NULL) {
		identity_copy_text(at, tenant);
		identity_copy_text(at, STR("/"));
	}
	identity_copy_text(at, user);
}

/* Bytes of the users of a notifier. */
static size_t
identity_users_size(const struct auth_claims *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_users; i++)
		n += s->tenant.n + 1 + s->users[i].n + 1;
	return n;
}

static void
identity_copy_users(char **at, const struct auth_claims *s, struct str *out)
{
	out->p = *at;
	for (size_t i = 0; i < s->n_users; i++) {
		identity_copy_user(at, s->tenant, s->users[i]);
		identity_copy_text(at, STR("\n"));
	}
	out->n = (size_t)(*at - out->p);
}

struct auth_identity *
auth_identity_new(const struct auth_claims *s, struct auth_error *error)
{
	struct auth_identity *i;
	char *at;

	*error = identity_error(s);
	if (error->member != NULL)
		return NULL;
	i = mem_zalloc(sizeof(*i) + 2 * s->tenant.n + 1 + s->user.n +
	    s->terminal_id.n + identity_users_size(s));
	at = i->text;
	i->caller.role = s->role;
	i->caller.until = s->until;
	i->caller.tenant = identity_copy_text(&at, s->tenant);
	if (s->role == WIRE_ROLE_TERMINAL) {
		i->caller.terminal_id = identity_copy_text(&at, s->terminal_id);
	} else if (s->role == WIRE_ROLE_NOTIFIER) {
		identity_copy_users(&at, s, &i->caller.users);
	} else if (s->user.p != NULL) {
		i->caller.user.p = at;
		identity_copy_user(&at, s->tenant, s->user);
		i->caller.user.n = (size_t)(at - i->caller.user.p);
	}
	return i;
}
