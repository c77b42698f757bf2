/*
 * memory: callers whose tokens were found good a moment ago, by digest.
 * Private, pure: time is handed in.
 */
#ifndef AUTH_MEMORY_H
#define AUTH_MEMORY_H

#include "auth/digest.h"
#include "auth/identity.h"

struct auth_memory;

/* auth_memory_new(), auth_memory_free(m): NULL is allowed. */
struct auth_memory *auth_memory_new(void);
void auth_memory_free(struct auth_memory *m);

/*
 * auth_memory_put(m, d, who, now):
 * Remember who, which m owns from now on, for AUTH_REMEMBER_S; of more than
 * AUTH_REMEMBER_MAX the oldest is forgotten.
 */
void auth_memory_put(struct auth_memory *m, const struct auth_digest *d,
    struct auth_identity *who, struct mono now);

/*
 * auth_memory_find(m, d, now, wall):
 * Who it was, valid until m changes; NULL if nobody is remembered, or his token
 * has ended since.
 */
const struct auth_caller *auth_memory_find(struct auth_memory *m,
    const struct auth_digest *d, struct mono now, struct wall wall);

/* auth_memory_clear(m): Forget all. */
void auth_memory_clear(struct auth_memory *m);

#endif /* !AUTH_MEMORY_H */
