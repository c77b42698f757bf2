/*
 * credential: the identities of bodies: who was given one, and what its secret
 * is known by.
 *
 * A body has a password, at the broker and over HTTP alike, whose hash is kept;
 * or a certificate, of which nothing is kept.  A change counts up the version
 * that whoever copies the hashes for a broker looks at.
 */
#ifndef STATE_CREDENTIAL_H
#define STATE_CREDENTIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "state/state.h"

/* Bytes of a hash; identities of one page. */
#define CREDENTIAL_HASH_MAX 160
#define CREDENTIAL_PAGE_MAX 1000

struct credential {
	struct str terminal_id;
	struct str tenant;  /* absent: none */
	struct str user_id; /* who alone may bind it; absent: anybody */
	struct str hash;    /* of its password; absent: it has a certificate */
	struct wall created, changed;
	bool revoked; /* it may not come back under this id until minted anew */
};

/*
 * credential_mint(s, c, a, from):
 * Give c->terminal_id an identity, made at c->created.  RC_CONFLICT if it has
 * one that is not revoked; RC_INVALID unless id_terminal_valid().  It is
 * unbound if it was revoked before, or if somebody but c->user_id bound it:
 * *from (may be NULL) is then who had bound it, taken from a, else absent.
 */
enum rc credential_mint(struct state *s, const struct credential *c,
    struct arena *a, struct str *from) RC_CHECK;

/*
 * credential_rotate(s, id, hash):
 * Another password, at once instead of the one before; absent: a certificate.
 * RC_NOENT if it has no identity, or it is revoked.
 */
enum rc credential_rotate(
    struct state *s, struct str id, struct str hash) RC_CHECK;

/*
 * credential_revoke(s, id, a, from):
 * It may not speak any more, its hash is forgotten, and it is unbound; a and
 * *from are as above.  RC_NOENT if it has no identity, or it is revoked.
 */
enum rc credential_revoke(
    struct state *s, struct str id, struct arena *a, struct str *from) RC_CHECK;

/*
 * credential_read(s, id, a, out):
 * RC_NOENT if it never had one; texts are taken from a.
 */
enum rc credential_read(struct state *s, struct str id, struct arena *a,
    struct credential *out) RC_CHECK;

/*
 * credential_list(s, tenant, cursor, limit, a, list, n, next):
 * Identities of a tenant (absent: of all), also revoked ones, limit (1 to
 * CREDENTIAL_PAGE_MAX) at a time, in an order of their own; *next is the cursor
 * for the following ones, absent after the last.  What was there from the first
 * page to the last is told once.  A page may have fewer than limit.  The first
 * cursor is absent.  RC_INVALID if cursor is none.
 */
enum rc credential_list(struct state *s, struct str tenant, struct str cursor,
    size_t limit, struct arena *a, struct credential **list, size_t *n,
    struct str *next) RC_CHECK;

/* credential_version(s, version): Changes with each change; 0: none was. */
enum rc credential_version(struct state *s, int64_t *version) RC_CHECK;

#endif /* !STATE_CREDENTIAL_H */
