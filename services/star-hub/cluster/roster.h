/*
 * roster: the members of an environment that is connected here, wherever they
 * are: as it was told about them.  Pure.
 */
#ifndef STAR_HUB_PEERS_ROSTER_H
#define STAR_HUB_PEERS_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

struct peer;
struct roster;

struct roster_member {
	struct peer *peer; /* its hub; NULL: this one */
	int64_t gen;
	unsigned load; /* private: the last one in which it was seen */
};

/* roster_new(), roster_free(r): NULL is allowed. */
struct roster *roster_new(void);
void roster_free(struct roster *r);

/*
 * roster_put(r, key, peer, gen): The claim gen of an identity is a member.
 * Returns the gen that it had before, 0 for none; nothing changes if that is
 * newer.
 * roster_remove(r, key, gen): False: that claim is no member.
 */
int64_t roster_put(
    struct roster *r, struct str key, struct peer *peer, int64_t gen);
bool roster_remove(struct roster *r, struct str key, int64_t gen);

/*
 * Loading the members that Redis has, while others come and go.
 *
 * roster_load_begin(r): RC_RETRY: another load is not at its end.
 * roster_load(r, key, peer, gen): As roster_put(), of one that was read; what
 *     has left since the load began is ignored, for which it returns gen.
 * roster_load_stale(r, pos, key): Iterate over those that were not read, and
 *     are not newer, as roster_next().
 * roster_load_end(r).
 */
enum rc roster_load_begin(struct roster *r) RC_CHECK;
int64_t roster_load(
    struct roster *r, struct str key, struct peer *peer, int64_t gen);
struct roster_member *roster_load_stale(
    const struct roster *r, size_t *pos, struct str *key);
void roster_load_end(struct roster *r);

/* roster_gen(r, key): The claim that is a member; 0: none. */
int64_t roster_gen(const struct roster *r, struct str key);

/* roster_count(r): All members.  roster_has(r, peer): Whether it has some. */
size_t roster_count(const struct roster *r);
bool roster_has(const struct roster *r, const struct peer *peer);

/*
 * roster_next(r, pos, key): Iterate, as map_next(); roster_remove() is allowed
 * meanwhile, after which key is not valid.
 */
struct roster_member *roster_next(
    const struct roster *r, size_t *pos, struct str *key);

#endif /* !STAR_HUB_PEERS_ROSTER_H */
