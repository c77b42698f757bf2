/*
 * kit_rights: servers on which each service may do what deploy/ gives it.
 *
 * The password of a service's user is KIT_PASSWORD and its name.  Who comes
 * without a name, as tests do, may do everything.
 */
#ifndef KIT_KIT_RIGHTS_H
#define KIT_KIT_RIGHTS_H

#include "kit/kit.h"

#define KIT_PASSWORD "secret-of-"

/*
 * kit_rights_nats(s), kit_rights_redis(s):
 * Start a server with the users of deploy/nats-permissions.conf or of
 * deploy/redis-users.acl.
 */
void kit_rights_nats(struct kit_server *s);
void kit_rights_redis(struct kit_server *s);

/*
 * kit_rights_closed(nats, redis):
 * Both with all of deploy/nats.conf and deploy/redis.conf, too; nobody comes
 * without a name, and who may do everything is KIT_WITNESS.
 */
#define KIT_WITNESS "witness"
void kit_rights_closed(struct kit_server *nats, struct kit_server *redis);

/*
 * kit_rights_denied(nats, redis):
 * What one of the two denied somebody, "" if nothing; of one that does not run
 * nothing is known.  Valid until the next call.
 */
const char *kit_rights_denied(
    const struct kit_server *nats, const struct kit_server *redis);

/*
 * kit_rights_users(file, fn, arg):
 * Call fn with the name of each user in a file of those.
 */
#define KIT_NATS_RIGHTS  "deploy/nats-permissions.conf"
#define KIT_REDIS_RIGHTS "deploy/redis-users.acl"
void kit_rights_users(
    const char *file, void (*fn)(void *arg, const char *user), void *arg);

#endif /* !KIT_KIT_RIGHTS_H */
