/*
 * token_file: changes of a token file (schema access_tokens) by commands.
 *
 * All functions block and may run while services read the file: a change
 * replaces the file atomically, keeping owner and mode (0600 for a new file).
 * A concurrent change fails with RC_RETRY.  On failure why has a text for
 * people, without the file's name.
 */
#ifndef AUTH_TOKEN_FILE_H
#define AUTH_TOKEN_FILE_H

#include "core/buf.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/iface.h"

/* Room for a new token and for why; NUL included. */
#define AUTH_TOKEN_FILE_TOKEN_MAX 80
#define AUTH_TOKEN_FILE_ERROR_MAX 600

/* Users of a notifier. */
#define AUTH_TOKEN_FILE_USERS_MAX 64

/* The holder of a new token; absent texts: none. */
struct auth_token_file_entry {
	enum wire_role role;
	struct str user, tenant, terminal_id, name;
	struct str users;  /* of a notifier: "ada,bob" */
	struct wall until; /* 0: never expires */
};

/*
 * auth_token_file_add(file, e, token, why):
 * Create a random token for e and add its digest to file, which is created if
 * it does not exist.  RC_INVALID: the file is not valid, or e is not, or its
 * name is used; RC_TOOBIG: it is full; RC_DOWN: it cannot be read or written.
 */
enum rc auth_token_file_add(const char *file,
    const struct auth_token_file_entry *e,
    char token[AUTH_TOKEN_FILE_TOKEN_MAX],
    char why[AUTH_TOKEN_FILE_ERROR_MAX]) RC_CHECK;

/* auth_token_file_list(file, out, why): Append a line for each token. */
enum rc auth_token_file_list(const char *file, struct buf *out,
    char why[AUTH_TOKEN_FILE_ERROR_MAX]) RC_CHECK;

/*
 * auth_token_file_remove(file, which, out, why):
 * Remove the token with the name which, or whose digest starts with which (at
 * least 8 digits); append its line to out.  RC_NOENT: none; RC_CONFLICT:
 * several; else as auth_token_file_add().
 */
enum rc auth_token_file_remove(const char *file, struct str which,
    struct buf *out, char why[AUTH_TOKEN_FILE_ERROR_MAX]) RC_CHECK;

#endif /* !AUTH_TOKEN_FILE_H */
