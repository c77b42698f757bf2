/*
 * environment: what Redis has of an environment, wherever it is connected.
 */
#ifndef STAR_HUB_ENVIRONMENT_H
#define STAR_HUB_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "hub.h"
#include "state/star.h"

/* Bytes that a list may take. */
#define ENVIRONMENT_ARENA (16UL * 1024 * 1024)

struct environment_members {
	struct star_member *list; /* of hubs that are alive */
	size_t n;
	bool up; /* the environment itself is connected */
};

/*
 * environment_members(h, key, a, out): By identity_env_key(); in a fiber.
 * environment_history(h, key, a, p): star_events_read() of it, counted.
 */
enum rc environment_members(struct hub *h, struct str key, struct arena *a,
    struct environment_members *out) RC_CHECK;
enum rc environment_history(struct hub *h, struct str key, struct arena *a,
    struct star_page *p) RC_CHECK;

/*
 * environment_cursor(p, dst): That of the last event of a page that has some.
 * environment_read_cursor(s, seq): "<gen>-<seq>", of which the seq counts over
 *     generations.  False: it is none.
 */
struct str environment_cursor(
    const struct star_page *p, char dst[HUB_CURSOR_MAX]);
bool environment_read_cursor(struct str s, int64_t *seq);

#endif /* !STAR_HUB_ENVIRONMENT_H */
