/*
 * client_identity: who a client is: tenant, class and id; an agent's identity
 * includes its environment.  Classes are separate name spaces.  Pure.
 */
#ifndef STAR_HUB_CLIENT_IDENTITY_H
#define STAR_HUB_CLIENT_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"

/* Code points of an id, and bytes of one at most. */
#define STAR_ID_MIN   3
#define STAR_ID_MAX   50
#define STAR_ID_BYTES (4 * STAR_ID_MAX)

enum client_class {
	CLASS_AGENT,
	CLASS_ENVIRONMENT,
	CLASS_HUMAN,
	CLASS_HUB, /* never a client's */
	CLASS_N
};

/* As on the wire. */
extern const struct str client_class_names[CLASS_N];

/* client_class_parse(s): CLASS_N: it is none. */
enum client_class client_class_parse(struct str s);

struct identity {
	enum client_class class;
	struct str tenant; /* absent: none */
	struct str env;    /* of an agent; of an environment its own id */
	struct str id;
};

/* identity_id_error(id): The rule that it breaks, in words; NULL: none. */
const char *identity_id_error(struct str id);

/*
 * identity_of_target(target, n, out, why):
 * The client of /env/{env}, /env/{env}/agent/{id} or /human/{id}; the query
 * does not count.  The n bytes at target are decoded in place, and those of
 * out.  Returns 0, or the HTTP status of an error, with *why in words; out has
 * no tenant.
 */
int identity_of_target(
    char *target, size_t n, struct identity *out, const char **why);

/* identity_equal(a, b). */
bool identity_equal(const struct identity *a, const struct identity *b);

/* Room for a key: tenant, environment and id, and what separates them. */
#define IDENTITY_KEY_MAX (64 + 2 * STAR_ID_BYTES + 8)

/*
 * identity_key(i, dst):
 * A text that is an identity's alone; absent if an id is longer than any.
 * identity_env_key(tenant, env, dst): That of an environment.
 */
struct str identity_key(const struct identity *i, char dst[IDENTITY_KEY_MAX]);
struct str identity_env_key(
    struct str tenant, struct str env, char dst[IDENTITY_KEY_MAX]);

/*
 * identity_parse(key, out): The identity of identity_key(); strings point into
 * key.  RC_INVALID: it is none.
 */
enum rc identity_parse(struct str key, struct identity *out) RC_CHECK;

#endif /* !STAR_HUB_CLIENT_IDENTITY_H */
