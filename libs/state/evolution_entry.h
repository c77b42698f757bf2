/*
 * evolution_entry: capabilities that the souls of a user have asked for, and
 * what has become of each.  Their format is mcp-host's.
 *
 * Everything here is a call (state.h), and is deleted with the user
 * (user_data.h).
 */
#ifndef STATE_EVOLUTION_ENTRY_H
#define STATE_EVOLUTION_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "state/mcp.h"
#include "state/state.h"

/* Evolutions of a user, bytes of one, and evolutions of one claim. */
#define EVOLUTIONS_MAX      64
#define EVOLUTION_JSON_MAX  32768
#define EVOLUTION_CLAIM_MAX 32

struct evolution_entry {
	struct str user_id, id;
	int64_t version; /* 0: it is new */
	struct str json;
};

struct evolution_entries {
	struct evolution_entry *entry;
	size_t n;
	struct wall now, next; /* of a claim; next {0}: no other is due */
};

enum evolution_server {
	EVOLUTION_SERVER_STAYS,
	EVOLUTION_SERVER_ADDED,
	EVOLUTION_SERVER_REMOVED
};

struct evolution_change {
	struct str json;    /* the new record */
	struct str soul_id; /* must exist, if e is new or a server is added */
	struct str drop;    /* another that is deleted; absent: none */
	/* In this time others publish its steps; 0: all are published. */
	int64_t publish_ms;
	/* What happens to a server of the user at the same moment. */
	enum evolution_server server_change;
	struct mcp_user_server server;
};

/*
 * evolution_entry_swap(s, e, change, a):
 * Store change, if e is what is stored; it is then e's.  RC_CONFLICT: e becomes
 * what is stored, in a.  RC_NOENT: it was deleted, or its soul does not exist.
 * RC_RETRY: the user has too many evolutions or servers.  RC_DENIED: the user
 * has another server of that name.
 */
enum rc evolution_entry_swap(struct state *s, struct evolution_entry *e,
    const struct evolution_change *change, struct arena *a) RC_CHECK;

/* evolution_entry_list(s, user, a, out): All of a user, in no order. */
enum rc evolution_entry_list(struct state *s, struct str user, struct arena *a,
    struct evolution_entries *out) RC_CHECK;

/* evolution_entry_read(s, e, a): That of e's user and id; RC_NOENT. */
enum rc evolution_entry_read(
    struct state *s, struct evolution_entry *e, struct arena *a) RC_CHECK;

/*
 * evolution_entry_claim(s, bucket, lease_ms, a, out):
 * Claim evolutions whose steps should be published by now; they are
 * due anew after lease_ms.
 */
enum rc evolution_entry_claim(struct state *s, unsigned bucket,
    int64_t lease_ms, struct arena *a, struct evolution_entries *out) RC_CHECK;

#endif /* !STATE_EVOLUTION_ENTRY_H */
