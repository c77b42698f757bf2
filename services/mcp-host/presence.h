/*
 * presence: announces this provider of tools, and follows the other replicas.
 */
#ifndef PRESENCE_H
#define PRESENCE_H

#include "core/rc.h"
#include "core/str.h"

struct host;
struct presence;

/*
 * presence_new(h): Announce from now on, every 5 s; NULL: it cannot.
 * presence_changed(p, user): Announce at once; user absent: for all users.
 *     Lists of tools have changed.
 * presence_free(p): NULL is allowed.
 */
struct presence *presence_new(struct host *h);
void presence_changed(struct presence *p, struct str user);
void presence_free(struct presence *p);

#endif /* !PRESENCE_H */
