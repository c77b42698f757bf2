/*
 * tokens: the tokens of a file, by their digests.  Private, pure.
 */
#ifndef AUTH_TOKENS_H
#define AUTH_TOKENS_H

#include "auth/auth_internal.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/wire.h"

struct auth_tokens;

/*
 * auth_tokens_parse(json, out, err):
 * The tokens in json (schema access_tokens).  RC_INVALID or RC_TOOBIG as
 * wire_decode(), for a holder who breaks auth_identity_new()'s rules, a
 * terminal_id or user where the role has none, a time that is none, a digest
 * that stands there twice; err says where.  Free *out.  Any thread.
 */
enum rc auth_tokens_parse(
    struct str json, struct auth_tokens **out, struct wire_err *err) RC_CHECK;
void auth_tokens_free(struct auth_tokens *t); /* NULL is allowed */

/* auth_tokens_count(t): How many there are. */
size_t auth_tokens_count(const struct auth_tokens *t);

/*
 * auth_tokens_find(t, d, now, out):
 * RC_OK: *out has the token, and lives as long as t.  RC_NOENT: nobody has;
 * RC_DENIED: it has ended.  t may be NULL: no tokens.
 */
enum rc auth_tokens_find(const struct auth_tokens *t,
    const struct auth_digest *d, struct wall now,
    const struct auth_caller **out) RC_CHECK;

#endif /* !AUTH_TOKENS_H */
