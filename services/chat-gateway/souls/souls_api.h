/*
 * souls_api: creating and finding souls, for the routes of souls and for the
 * binding of terminals.
 */
#ifndef CHAT_GATEWAY_SOULS_SOULS_API_H
#define CHAT_GATEWAY_SOULS_SOULS_API_H

#include <stdbool.h>

#include "core/rc.h"
#include "core/str.h"

struct gateway;
struct soul;
struct svc_call;

/* Longest name in code points, as in the schemas. */
#define SOULS_NAME_MAX 128

struct souls_new {
	struct str user_id, name, mbti_type;
};

/*
 * souls_create(g, c, new, out):
 * Store a new soul; *out is the stored record, in the memory of c.  RC_INVALID
 * if mbti_type is not a type, RC_CONFLICT if the user has a soul of that name,
 * RC_TOOBIG if the user has the maximum number; otherwise as soul_create().
 */
enum rc souls_create(struct gateway *g, struct svc_call *c,
    const struct souls_new *new, struct soul *out) RC_CHECK;

/* souls_reject(c, rc): End c with the error of souls_create(). */
void souls_reject(struct svc_call *c, enum rc rc);

/*
 * souls_find_owned(g, c, user, id):
 * The soul id in the path of c, if it belongs to the user of the query.  False:
 * c has been ended; the soul of another user is 404, too.
 */
bool souls_find_owned(
    struct gateway *g, struct svc_call *c, struct str *user, struct str *id);

#endif /* !CHAT_GATEWAY_SOULS_SOULS_API_H */
