/*
 * members: the members of an environment that is connected here, wherever they
 * are: as far as it was notified.  Pure.
 */
#ifndef STAR_HUB_CLUSTER_MEMBER_SET_H
#define STAR_HUB_CLUSTER_MEMBER_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

struct peer;
struct member_set;

struct set_member {
	struct peer *peer; /* its hub; NULL: this one */
	int64_t gen;
	unsigned load; /* private: the last one in which it was seen */
};

/* member_set_new(), member_set_free(r): NULL is allowed. */
struct member_set *member_set_new(void);
void member_set_free(struct member_set *r);

/*
 * member_set_put(r, key, peer, gen): The claim gen of an identity is a member.
 * Returns the gen that it had before, 0 for none; nothing changes if that is
 * newer.
 * member_set_remove(r, key, gen): False: that claim is no member.
 */
int64_t member_set_put(
    struct member_set *r, struct str key, struct peer *peer, int64_t gen);
bool member_set_remove(struct member_set *r, struct str key, int64_t gen);

/*
 * Loading the members that Redis has, while others come and go.
 *
 * member_set_load_begin(r): RC_RETRY: another load is not at its end.
 * member_set_load(r, key, peer, gen): As member_set_put(), of one that was
 * read; what has left since the load began is ignored, for which it returns
 * gen. member_set_load_stale(r, pos, key): Iterate over those that were not
 * read, and are not newer, as member_set_next(). member_set_load_end(r,
 * complete): complete: all were read.  Returns whether another load was refused
 * meanwhile, so that one has to follow.
 */
enum rc member_set_load_begin(struct member_set *r) RC_CHECK;
int64_t member_set_load(
    struct member_set *r, struct str key, struct peer *peer, int64_t gen);
struct set_member *member_set_load_stale(
    const struct member_set *r, size_t *pos, struct str *key);
bool member_set_load_end(struct member_set *r, bool complete);

/* member_set_gen(r, key): The claim that is a member; 0: none. */
int64_t member_set_gen(const struct member_set *r, struct str key);

/* member_set_count(r): All members.  member_set_has(r, peer): Whether it has
 * some.  member_set_may_have(r, peer): The same, or it is not known, since no
 * load was complete, or one has begun. */
size_t member_set_count(const struct member_set *r);
bool member_set_has(const struct member_set *r, const struct peer *peer);
bool member_set_may_have(const struct member_set *r, const struct peer *peer);

/*
 * member_set_next(r, pos, key): Iterate, as map_next(); member_set_remove() is
 * allowed meanwhile, after which key is not valid.
 */
struct set_member *member_set_next(
    const struct member_set *r, size_t *pos, struct str *key);

#endif /* !STAR_HUB_CLUSTER_MEMBER_SET_H */
