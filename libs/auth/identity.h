/*
 * identity: who the holder of a token is, by the rules that hold for all kinds
 * of tokens.  Private, pure; any thread.
 */
#ifndef AUTH_IDENTITY_H
#define AUTH_IDENTITY_H

#include "auth/auth.h"

/* What a token says; absent: nothing.  Of a role terminal user does not count,
 * of others terminal_id does not. */
struct auth_claims {
	enum wire_role role;
	struct str user, tenant, terminal_id;
	struct wall until;
};

/* A caller with its texts; freed with free(). */
struct auth_identity {
	struct auth_caller caller;
	char text[];
};

/* What of a token is wrong: the member, and why. */
struct auth_error {
	const char *member;
	const char *why;
};

/*
 * auth_identity_new(says, fault):
 * NULL with *fault set if it breaks the rules: an owner has a user, a terminal
 * a terminal_id; a user is an id without "/", and with its tenant before it is
 * an id still; a tenant is 1 to AUTH_TENANT_MAX of [A-Za-z0-9_-].  key is 0.
 */
struct auth_identity *auth_identity_new(
    const struct auth_claims *says, struct auth_error *fault);

#endif /* !AUTH_IDENTITY_H */
