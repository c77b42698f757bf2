/*
 * tk_rights: servers on which each service has the permissions of deploy/.
 *
 * The password of a service's user is TK_PASSWORD followed by its name.
 * Unauthenticated clients, such as tests, have all permissions.
 */
#ifndef TESTKIT_RIGHTS_H
#define TESTKIT_RIGHTS_H

#include "testkit/testkit.h"

#define TK_PASSWORD "secret-of-"

/*
 * tk_rights_nats(s), tk_rights_redis(s):
 * Start a server with the users of deploy/nats-permissions.conf or of
 * deploy/redis-users.acl.
 * tk_rights_nats_with(s, more), tk_rights_redis_with(s, conf): The same with
 * further settings.
 */
void tk_rights_nats(struct tk_server *s);
void tk_rights_nats_with(struct tk_server *s, const char *more);
void tk_rights_redis(struct tk_server *s);
void tk_rights_redis_with(struct tk_server *s, const char *conf);

/*
 * tk_rights_closed(nats, redis): Both, with all of deploy/nats.conf and
 * deploy/redis.conf; unauthenticated clients are rejected, and TK_WITNESS has
 * all permissions.
 */
#define TK_WITNESS "witness"
void tk_rights_closed(struct tk_server *nats, struct tk_server *redis);

/*
 * tk_rights_denied(nats, redis): The first operation that one of the two denied
 * a client, "" if none; a server that is not running is skipped. Valid until
 * the next call.
 */
const char *tk_rights_denied(
    const struct tk_server *nats, const struct tk_server *redis);

/*
 * tk_rights_users(file, fn, arg): Call fn with the name of each user in one of
 * these files.
 */
#define TK_NATS_RIGHTS  "deploy/nats-permissions.conf"
#define TK_REDIS_RIGHTS "deploy/redis-users.acl"
void tk_rights_users(
    const char *file, void (*fn)(void *arg, const char *user), void *arg);

#endif /* !TESTKIT_RIGHTS_H */
