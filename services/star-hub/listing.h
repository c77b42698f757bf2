/*
 * listing: what all hubs together have: each of them is asked, and those that
 * do not reply in time are left out.
 */
#ifndef STAR_HUB_LISTING_H
#define STAR_HUB_LISTING_H

#include <stdbool.h>
#include <stddef.h>

#include "hub.h"

/* Bytes of what one hub replies with, and of a list in a message. */
#define LISTING_BYTES (768UL * 1024)

/* An environment, as all hubs together know it. */
struct listed {
	char *id;
	size_t members;
	bool up;
};

/* Zero it at first. */
struct listing {
	struct map *by_id; /* struct listed */
	size_t clients[CLASS_HUB];
	/* Private. */
	size_t replies, expected;
	struct fiber *fiber;
	bool done;
};

/*
 * listing_request(h, tenant, l): In a fiber.
 * listing_free(l).
 */
struct fiber;
struct map;
void listing_request(struct hub *h, struct str tenant, struct listing *l);
void listing_free(struct listing *l);

#endif /* !STAR_HUB_LISTING_H */
