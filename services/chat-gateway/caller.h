/*
 * caller: the user that a request is made for, and what they may access.
 *
 * With authentication (svc_call_caller() is not NULL) a user of a tenant is
 * "<tenant>/<user>" in every record and response.  Without it, a request is for
 * the user that it names, or for USER_ID.
 */
#ifndef CHAT_GATEWAY_CALLER_H
#define CHAT_GATEWAY_CALLER_H

#include <stdbool.h>

#include "core/rc.h"
#include "core/str.h"

struct credential;
struct gateway;
struct svc_call;

/*
 * caller_user(g, c, named, user):
 * Resolve the user of a request that names this one (absent: none); *user lives
 * as long as c.  False: c has been ended with 400.
 * caller_query_user(g, c, user):
 * The same for the query parameter user_id.
 * caller_named_user(g, c, user):
 * The same, but the query parameter is required.
 */
bool caller_user(
    struct gateway *g, struct svc_call *c, struct str named, struct str *user);
bool caller_query_user(struct gateway *g, struct svc_call *c, struct str *user);
bool caller_named_user(struct gateway *g, struct svc_call *c, struct str *user);

/*
 * caller_is_terminal(c), caller_is_provisioner(c): The role of the caller.
 * caller_is_unlimited(c): Whether it is an operator, or anybody where callers
 * are not authenticated.
 */
bool caller_is_terminal(const struct svc_call *c);
bool caller_is_unlimited(const struct svc_call *c);
bool caller_is_provisioner(const struct svc_call *c);

/*
 * caller_tenant(c):            Tenant of the caller; absent: none.
 * caller_user_tenant(c, user): Tenant of a user, as caller_user() returned it.
 */
struct str caller_tenant(const struct svc_call *c);
struct str caller_user_tenant(const struct svc_call *c, struct str user);

/*
 * caller_may_bind(g, c, terminal, user):
 * RC_OK if the user may bind the terminal and chat through it: it has a valid
 * identity of the user's tenant that is not reserved for another user.
 * RC_NOENT otherwise, or the error of the lookup.  Without authentication every
 * terminal is allowed.
 */
enum rc caller_may_bind(struct gateway *g, struct svc_call *c,
    struct str terminal, struct str user) RC_CHECK;

/*
 * caller_identity(g, c, terminal, out):
 * The identity of a terminal, revoked ones included, in the memory of c.
 * RC_NOENT if there is none or it belongs to another tenant than the caller's;
 * otherwise as credential_read().
 */
enum rc caller_identity(struct gateway *g, struct svc_call *c,
    struct str terminal, struct credential *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_CALLER_H */
