/*
 * directory: which client holds an identity.
 *
 * The newest connection of an identity holds it; the end of an older one
 * changes nothing.  It knows the clients of this hub only.  Pure.
 */
#ifndef STAR_HUB_DIRECTORY_H
#define STAR_HUB_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

#include "client_identity.h"

struct directory;

/* directory_new(), directory_free(d): NULL is allowed. */
struct directory *directory_new(void);
void directory_free(struct directory *d);

/* directory_find(d, key): The holder, by identity_key(); NULL: there is none.
 */
void *directory_find(const struct directory *d, struct str key);

/*
 * directory_put(d, i, client): client holds i now.  Returns who held it, or
 * NULL.
 * directory_remove(d, i, client): Not any more, if client still holds it.
 */
void *directory_put(
    struct directory *d, const struct identity *i, void *client);
void directory_remove(
    struct directory *d, const struct identity *i, const void *client);

/* directory_count(d, class, tenant): The clients of a class and tenant. */
size_t directory_count(
    const struct directory *d, enum client_class class, struct str tenant);

/*
 * directory_next(d, class, pos):
 * Iterate over the clients of a class, in any order: *pos starts at 0; NULL at
 * the end.  The directory must not change meanwhile.
 */
void *directory_next(
    const struct directory *d, enum client_class class, size_t *pos);

#endif /* !STAR_HUB_DIRECTORY_H */
