/*
 * catalogue_store: the tools of servers in Redis, so that a replica that has
 * just started, or has not that server's process, knows them.
 *
 * Everything here is a call (state.h).
 */
#ifndef CATALOGUE_STORE_H
#define CATALOGUE_STORE_H

#include "core/rc.h"

struct catalogue;
struct state;

/* Days for which a list is stored after it was last written. */
#define CATALOGUE_STORE_DAYS 7

/*
 * catalogue_store_read(s, key, out): RC_NOENT: there is none.
 * catalogue_store_write(s, key, c): Of the server with that key.
 */
enum rc catalogue_store_read(
    struct state *s, const char *key, struct catalogue **out) RC_CHECK;
enum rc catalogue_store_write(
    struct state *s, const char *key, const struct catalogue *c) RC_CHECK;

#endif /* !CATALOGUE_STORE_H */
