/*
 * peer_link: the numbered messages between two hubs: what was sent and is not
 * confirmed yet, and what was received.  Pure: the time is an argument.
 */
#ifndef STAR_HUB_CLUSTER_PEER_LINK_H
#define STAR_HUB_CLUSTER_PEER_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"

/* Messages that are not confirmed. */
#define PEER_LINK_MAX 65536

struct peer_link;

/* A message that was sent; what is in it is the caller's. */
struct link_sent {
	void *message; /* not NULL */
	struct mono at;
};

/* peer_link_new(), peer_link_free(l): With no message left; NULL is allowed. */
struct peer_link *peer_link_new(void);
void peer_link_free(struct peer_link *l);

/* peer_link_add(l, message, now): Its number, from 1; 0: there are too many. */
int64_t peer_link_add(struct peer_link *l, void *message, struct mono now);

/*
 * peer_link_take(l, n): Message n, which is not pending any more; NULL: it was
 * not.
 *
 * peer_link_take_done(l, n, out), peer_link_take_overdue(l, before, out):
 * The oldest that is pending and has a number up to n, or was sent before a
 * time; false: none.
 */
void *peer_link_take(struct peer_link *l, int64_t n);
bool peer_link_take_done(struct peer_link *l, int64_t n, struct link_sent *out);
bool peer_link_take_overdue(
    struct peer_link *l, struct mono before, struct link_sent *out);

/*
 * peer_link_newest(l): The number of the newest message; 0: none.
 * peer_link_is_done(l, n): Whether all up to n are not pending any more.
 * peer_link_count(l): How many are pending.
 */
int64_t peer_link_newest(const struct peer_link *l);
bool peer_link_is_done(const struct peer_link *l, int64_t n);
size_t peer_link_count(const struct peer_link *l);

/*
 * peer_link_receive(l, n, missing):
 * Message n has come.  False: it had before.  *missing is how many right before
 * it are missing, and will not come.
 *
 * peer_link_received(l): The newest that has.
 */
bool peer_link_receive(struct peer_link *l, int64_t n, int64_t *missing);
int64_t peer_link_received(const struct peer_link *l);

#endif /* !STAR_HUB_CLUSTER_PEER_LINK_H */
