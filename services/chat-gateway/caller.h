/*
 * caller: who asks, and whose things he may see.
 *
 * Where callers are known (svc_call_caller()) the user of a tenant is
 * "<tenant>/<user>", in every record and every answer.  Where anybody may ask,
 * a request is for the user that it names, else for USER_ID.
 */
#ifndef CHAT_GATEWAY_CALLER_H
#define CHAT_GATEWAY_CALLER_H

#include <stdbool.h>

#include "core/rc.h"
#include "core/str.h"

struct gateway;
struct svc_call;

/*
 * caller_user(g, c, named, user):
 * The user that a request is for which names this one (absent: none); it lives
 * as long as c.  False: there is none, or it is none that may be one, and c was
 * answered 400 and ended.
 */
bool caller_user(
    struct gateway *g, struct svc_call *c, struct str named, struct str *user);

/* caller_query_user(g, c, user): The same of the query parameter user_id. */
bool caller_query_user(struct gateway *g, struct svc_call *c, struct str *user);

/*
 * caller_named_user(g, c, user):
 * The same, but a query that names no user is answered 400, too.
 */
bool caller_named_user(struct gateway *g, struct svc_call *c, struct str *user);

/* caller_is_terminal(c), caller_is_provisioner(c): Whether it is one who asks.
 */
bool caller_is_terminal(const struct svc_call *c);
bool caller_is_provisioner(const struct svc_call *c);

/* caller_tenant(c): The tenant of who asks; absent: none, or nobody is known.
 */
struct str caller_tenant(const struct svc_call *c);

/*
 * caller_user_tenant(c, user):
 * The tenant of a user, as of caller_user(); absent: none.
 */
struct str caller_user_tenant(const struct svc_call *c, struct str user);

/*
 * caller_may_have(g, c, terminal, user):
 * RC_OK if the body is one that the user may bind and chat through: it has an
 * identity that counts, of his tenant, which is not another user's.  RC_NOENT
 * otherwise, or why it cannot be found out.  Where anybody may ask every body
 * is such a one.
 */
enum rc caller_may_have(struct gateway *g, struct svc_call *c,
    struct str terminal, struct str user) RC_CHECK;

#endif /* !CHAT_GATEWAY_CALLER_H */
