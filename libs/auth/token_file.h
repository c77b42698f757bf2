/*
 * ledger: changing a token file (schema access_tokens): tokens are made, listed
 * and dropped.  For commands: it blocks, and runs beside the services that read
 * the file.
 *
 * A change is a new file that takes the old one's place, with its owner and
 * mode, 0600 if there was none; a second change at the same time is refused.
 * why is words for people, without the file's name.
 */
#ifndef AUTH_TOKEN_FILE_H
#define AUTH_TOKEN_FILE_H

#include "auth/auth_internal.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/iface.h"
#include "wire/wire.h"

/* Room for a token that is made here, and for why; NUL included. */
#define AUTH_TOKEN_FILE_TOKEN_MAX 80
#define AUTH_TOKEN_FILE_ERROR_MAX 600

/* Who is to have a token; texts absent: none. */
struct auth_token_file_entry {
	enum wire_role role;
	struct str user, tenant, terminal_id, name;
	struct wall until; /* 0: never */
};

/*
 * auth_token_file_add(file, e, token, why):
 * Make a random token for e and keep its digest in file, which is made if there
 * is none.  RC_INVALID: the file is none, or e breaks the rules of such a file,
 * among them that a name stands there once; RC_TOOBIG: it is full; RC_RETRY: it
 * is being changed; RC_DOWN: it cannot be read or written.
 */
enum rc auth_token_file_add(const char *file,
    const struct auth_token_file_entry *e,
    char token[AUTH_TOKEN_FILE_TOKEN_MAX],
    char why[AUTH_TOKEN_FILE_ERROR_MAX]) RC_CHECK;

/* auth_token_file_list(file, out, why): A line for each of its tokens. */
enum rc auth_token_file_list(const char *file, struct buf *out,
    char why[AUTH_TOKEN_FILE_ERROR_MAX]) RC_CHECK;

/*
 * auth_token_file_remove(file, which, out, why):
 * Take out the token whose name is which, or whose digest begins with it (8
 * digits at least); its line goes to out.  RC_NOENT: there is none;
 * RC_CONFLICT: there are several; else as auth_token_file_add().
 */
enum rc auth_token_file_remove(const char *file, struct str which,
    struct buf *out, char why[AUTH_TOKEN_FILE_ERROR_MAX]) RC_CHECK;

/*
 * tokens: the tokens of a file, by their digests.  Private, pure.
 */
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

/* auth_tokens_deprecated_role(t): Whether one has the role maker; false of
 * NULL. */
bool auth_tokens_deprecated_role(const struct auth_tokens *t);

/*
 * auth_tokens_find(t, d, now, out):
 * RC_OK: *out has the token, and lives as long as t.  RC_NOENT: nobody has;
 * RC_DENIED: it has ended.  t may be NULL: no tokens.
 */
enum rc auth_tokens_find(const struct auth_tokens *t,
    const struct auth_digest *d, struct wall now,
    const struct auth_caller **out) RC_CHECK;

#endif /* !AUTH_TOKEN_FILE_H */
