/*
 * recipient: whom a recipient of an envelope means: the hub, one client, the
 * members of an environment, or all of a tenant.  Pure.
 */
#ifndef STAR_HUB_RECIPIENT_H
#define STAR_HUB_RECIPIENT_H

#include <stdbool.h>

#include "client_identity.h"
#include "envelope.h"

enum recipient_kind {
	RECIPIENT_HUB,
	RECIPIENT_CLIENT, /* to */
	RECIPIENT_ROOM,   /* members of to.env, and to.env itself */
	RECIPIENT_ALL,    /* of the tenant */
	RECIPIENT_NOBODY, /* no client can have this identity */
};

struct recipient {
	enum recipient_kind kind;
	struct identity to;
	/* Of a room or all: only this class; CLASS_HUB: any. */
	enum client_class audience;
};

/* What is known of the sender. */
struct recipient_context {
	const struct identity *from;
	/* Of a human: the environments it is in, and one of them. */
	size_t environments;
	struct str environment;
	bool global; /* an environment may address all of its tenant */
};

/*
 * recipient_of(p, c, out):
 * NULL, or what is wrong with p, as an error of an envelope.  Strings of out
 * are those of p and c.
 */
const char *recipient_of(const struct party *p,
    const struct recipient_context *c, struct recipient *out);

#endif /* !STAR_HUB_RECIPIENT_H */
