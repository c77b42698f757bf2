/*
 * permission: who may connect as what, and send to whom.  Pure.
 */
#ifndef STAR_HUB_PERMISSION_H
#define STAR_HUB_PERMISSION_H

#include <stdbool.h>

#include "recipient.h"

struct auth_caller;

/* What is known of both. */
struct relation {
	/*
	 * The human of the two is a member of the environment that the other
	 * is, or is in.
	 */
	bool member;
	/* The human has written to the environment that writes to it. */
	bool addressed;
	bool global; /* environments may write to all of their tenant */
};

/* permission_check(from, to, r): NULL: it may; otherwise why not, in words. */
const char *permission_check(const struct identity *from,
    const struct recipient *to, const struct relation *r);

/* permission_connect(who, as): NULL: a caller may connect as this client;
 * otherwise why not, in words. */
const char *permission_connect(
    const struct auth_caller *who, const struct identity *as);

#endif /* !STAR_HUB_PERMISSION_H */
