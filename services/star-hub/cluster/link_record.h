/*
 * link_record: what hubs tell each other: lines of tab-separated fields, some
 * of which are followed by bytes.  Pure.
 */
#ifndef STAR_HUB_CLUSTER_LINK_RECORD_H
#define STAR_HUB_CLUSTER_LINK_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

enum link_kind {
	/* The hub that has sent all that follows. */
	LINK_HUB = 'H',
	/* Numbered by n, from 1: a message to the claim gen of to; a broadcast
	 * to a class in the room to, with a cursor of gen and seq, or 0; to all
	 * of the tenant to. */
	LINK_MESSAGE = 'M',
	LINK_ROOM = 'B',
	LINK_ALL = 'G',
	/* Bytes before those of the next record, which says how many. */
	LINK_PART = 'P',
	/* All up to n are done; n is not delivered, with its bytes if they are
	 * wanted again; from n to seq were never received. */
	LINK_DONE = 'A',
	LINK_REJECTED = 'R',
	LINK_LOST = 'X',
	/* An operator closes the identity to. */
	LINK_KICK = 'K',
	/* To the hub of the member to of the room from, whose environment's
	 * claim is gen: it gets its broadcasts after seq. */
	LINK_CURSOR = 'C',
	/* Notices: the claim gen of to began, of an environment whose newest
	 * broadcast is the one before seq (0: not known), ended; it is in the
	 * room from, or
	 * no longer, with the seq of the newest event that it got, if it moves;
	 * its connection has ended but may be resumed; it was. */
	LINK_JOINED = 'J',
	LINK_LEFT = 'L',
	LINK_ENTERED = 'I',
	LINK_EXITED = 'O',
	LINK_DETACHED = 'D',
	LINK_RESUMED = 'U',
	/* The sender may have missed notices, and others its own. */
	LINK_SYNC = 'S',
	/* A query for a tenant, and its replies: an environment with n members
	 * here, which is up (audience 1) or not known to be; the clients of
	 * each class. */
	LINK_QUERY = 'Q',
	LINK_ENVIRONMENT = 'E',
	LINK_CLIENTS = 'N',
	/* A request to give up the identity to, whose claim gen is newer, and
	 * for its session text, of which the client has n frames; its replies:
	 * it had n frames sent, as text says; a frame, with its seq if it was a
	 * broadcast with one, and with n, the wall clock's ms after which it is
	 * not to be sent, or 0. */
	LINK_TAKEOVER = 'T',
	LINK_SESSION = 'V',
	LINK_FRAME = 'F',
	/* A request for what passes in the environment to, with payloads if n;
	 * its replies: a message from a client, to whom text says, with n bytes
	 * of payload, of which some are there. */
	LINK_MONITOR = 'Y'
};

/* Fields that a kind does not have are 0 or absent. */
struct link_record {
	enum link_kind kind;
	int64_t n, gen, seq;
	int64_t audience; /* enum client_class */
	int64_t prefix;   /* bytes of LINK_PARTs before bytes */
	struct str to, from;
	struct str text; /* a name, a reason */
	struct str bytes;
};

/* Bytes of a record without its bytes. */
#define LINK_RECORD_MAX 2048

/*
 * link_record_write(r, out): Append it.  Control characters of text become
 * spaces.
 */
void link_record_write(const struct link_record *r, struct buf *out);

/*
 * link_record_next(in, r): Read the next and advance; strings point into in.
 * RC_NOENT: in is empty; RC_INVALID: it is no record.
 */
enum rc link_record_next(struct str *in, struct link_record *r) RC_CHECK;

#endif /* !STAR_HUB_CLUSTER_LINK_RECORD_H */
