/*
 * client_session: a client that comes back continues where it was: its frames,
 * and the rooms of a human.
 */
#include <stdlib.h>

#include "core/mem.h"
#include "hub.h"

void
session_resume(struct hub *h, struct client *c, struct replay *old,
    struct client_beginning *first)
{
	uint64_t has = (uint64_t)c->resume_last;
	size_t bytes;

	if (replay_has_after(old, has)) {
		bytes = replay_bytes_after(old, has);
		if (client_may_wait(h, c, replay_sent(old) - has, bytes)) {
			/* They wait for it, before its own. */
			c->waiting += replay_sent(old) - has;
			c->waiting_bytes += bytes;
			h->replay_bytes -= c->replay.bytes;
			replay_move(old, &c->replay);
			h->replay_bytes += c->replay.bytes;
			first->resumed = true;
			return;
		}
	}
	/* It has more than were sent: that is another session's number. */
	first->lost =
	    has <= replay_sent(old) ? (int64_t)(replay_sent(old) - has) : -1;
}

void
session_rejoin(struct client *c, struct str key, int64_t gen, int64_t seq)
{
	size_t n = c->nrejoin;

	if (n == c->nrooms)
		return;
	c->rooms[n].gen = gen;
	c->rooms[n].seq = seq;
	if (c->rejoin == NULL)
		c->rejoin = mem_calloc(HUB_ENVIRONMENTS_MAX, sizeof(char *));
	c->rejoin[c->nrejoin++] = str_dup(key);
}

void
session_resume_here(struct hub *h, struct client *c, struct client *old,
    struct client_beginning *first)
{
	size_t i, bytes = old->replay.bytes;

	session_resume(h, c, &old->replay, first);
	if (!first->resumed)
		return;
	h->replay_bytes -= bytes;
	for (i = 0; i < old->naddressed; i++)
		client_add_addressed(c, str_of(old->addressed[i]));
	for (i = 0; i < old->nrooms; i++)
		if (old->rooms[i].room != NULL)
			session_rejoin(c, room_key(old->rooms[i].room),
			    old->rooms[i].gen, old->rooms[i].seq);
}
