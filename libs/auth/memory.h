/*
 * memory: callers whose tokens were found good a moment ago, by digest.
 * Private, pure: time is handed in.
 */
#ifndef AUTH_MEMORY_H
#define AUTH_MEMORY_H

#include "auth/auth_internal.h"

struct auth_cache;

/* auth_cache_new(), auth_cache_free(m): NULL is allowed. */
struct auth_cache *auth_cache_new(void);
void auth_cache_free(struct auth_cache *m);

/*
 * auth_cache_put(m, d, who, now):
 * Remember who, which m owns from now on, for AUTH_REMEMBER_S; of more than
 * AUTH_REMEMBER_MAX the oldest is forgotten.
 */
void auth_cache_put(struct auth_cache *m, const struct auth_digest *d,
    struct auth_identity *who, struct mono now);

/*
 * auth_cache_find(m, d, now, wall):
 * Who it was, valid until m changes; NULL if nobody is remembered, or his token
 * has ended since.
 */
const struct auth_caller *auth_cache_find(struct auth_cache *m,
    const struct auth_digest *d, struct mono now, struct wall wall);

/* auth_cache_clear(m): Forget all. */
void auth_cache_clear(struct auth_cache *m);

#endif /* !AUTH_MEMORY_H */
