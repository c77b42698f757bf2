/*
 * remote: where clients of other hubs are, as far as this hub knows, and the
 * messages that wait until it does.  What is known is from Redis, and corrected
 * by notices; the oldest is forgotten.  Pure.
 */
#ifndef STAR_HUB_CLUSTER_REMOTE_H
#define STAR_HUB_CLUSTER_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/clock.h"
#include "core/str.h"

struct client;
struct message_span;
struct peer;

/* Identities that are known, and messages of one that wait, with their bytes.
 */
#define REMOTES_MAX        65536
#define REMOTE_WAIT_MAX    1024
#define REMOTE_WAIT_BYTES  (4UL * 1024 * 1024)
#define REMOTE_WAITING_MAX (64UL * 1024 * 1024)

/* A message on its way to another hub. */
struct outgoing {
	TAILQ_ENTRY(outgoing) link;
	struct client *from; /* with a reference */
	uint64_t seq;
	struct str message_id; /* as JSON; absent: none */
	struct str to;         /* key of its recipient; absent: a broadcast */
	char *bytes;           /* while it waits; NULL: it was sent */
	size_t n;
	bool returned; /* one hub did not have the recipient any more */
	bool is_hubs;  /* it is the hub's, not from's */
	/* Not NULL: it may not be sent, of which this is the reason, if there
	 * is such a client at all. */
	const char *denied;
	struct message_span *span; /* NULL: none */
};
TAILQ_HEAD(outgoing_list, outgoing);

/*
 * outgoing_new(from, seq, message_id, to): Strings are copied; no bytes.
 * outgoing_free(o): The reference is its caller's.
 * outgoing_set_bytes(o, bytes): Copied.
 */
struct outgoing *outgoing_new(
    struct client *from, uint64_t seq, struct str message_id, struct str to);
void outgoing_free(struct outgoing *o);
void outgoing_set_bytes(struct outgoing *o, struct str bytes);

struct remote {
	TAILQ_ENTRY(remote) link;
	char *key;
	struct peer *peer; /* who has it; NULL: nobody, until a time */
	int64_t gen;
	struct mono missing_until;
	int64_t newest; /* number of the newest message to it, at peer */
	/* Messages wait: it is looked up; or until what was sent to another
	 * hub, up to a number, is done. */
	bool finding;
	struct peer *after;
	int64_t after_n;
	struct outgoing_list waiting;
	size_t nwaiting, bytes;
};

struct remotes;

/* remotes_new(), remotes_free(r): With nothing waiting; NULL is allowed. */
struct remotes *remotes_new(void);
void remotes_free(struct remotes *r);

/*
 * remotes_find(r, key): NULL: nothing is known.
 * remotes_get(r, key): It, or a new one without anything known.
 * remotes_forget(r, e): Unless something waits, it is looked up, or what was
 * sent to another hub is not done.
 * remotes_is_idle(e): Whether it can be forgotten.
 */
struct remote *remotes_find(const struct remotes *r, struct str key);
struct remote *remotes_get(struct remotes *r, struct str key);
void remotes_forget(struct remotes *r, struct remote *e);
bool remotes_is_idle(const struct remote *e);

/*
 * remotes_next(r, e): Iterate; NULL is before the first and after the last.  e
 * may be forgotten once its successor is known.
 */
struct remote *remotes_next(const struct remotes *r, const struct remote *e);

/*
 * remote_wait(r, e, o): o waits, as the last, or, returned, before those that
 * are not.  False: there is no room.
 * remote_take(r, e): The first, which does not wait any more; NULL: none.
 */
bool remote_wait(struct remotes *r, struct remote *e, struct outgoing *o);
struct outgoing *remote_take(struct remotes *r, struct remote *e);

#endif /* !STAR_HUB_CLUSTER_REMOTE_H */
