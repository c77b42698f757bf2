/*
 * user_server: an MCP server of a user, as it is stored: the user's own, its
 * headers encrypted, for that user, name and URL alone; or an entry of the
 * catalogue.
 *
 * Pure but for random numbers.
 */
#ifndef USER_SERVER_H
#define USER_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

struct arena;
struct mcp_config;
struct secret_box;

/* Headers of a server, and bytes of a name and a value. */
#define USER_SERVER_HEADERS_MAX     16
#define USER_SERVER_HEADER_NAME_MAX 128
#define USER_SERVER_HEADER_MAX      4096

/* Whose it is. */
struct user_server_id {
	struct str user, name;
};

/*
 * user_server_write(box, id, s, http, out, err):
 * Append what is to be stored of the settings s; http: URLs need not be https.
 * RC_INVALID: err says what is wrong with them.  box NULL: there may be no
 * headers.
 */
enum rc user_server_write(const struct secret_box *box,
    const struct user_server_id *id, const struct wire_mcp_server_settings *s,
    bool http, struct buf *out, struct wire_err *err) RC_CHECK;

/*
 * user_server_config(box, id, stored, out):
 * It as a configuration of one server.  RC_NOENT: the key of its headers is not
 * known; RC_INVALID: it was changed.
 */
enum rc user_server_config(const struct secret_box *box,
    const struct user_server_id *id, struct str stored,
    struct mcp_config **out) RC_CHECK;

/*
 * user_server_entry(stored, a, out):
 * *out is what is stored if it is an entry of the catalogue; its name is
 * absent otherwise.
 * user_server_write_entry(name, evolution, out): Append what is stored of one.
 */
struct user_server_entry {
	struct str name, evolution_id;
};
enum rc user_server_entry(
    struct str stored, struct arena *a, struct user_server_entry *out) RC_CHECK;
enum rc user_server_write_entry(
    const struct user_server_entry *e, struct buf *out) RC_CHECK;

/*
 * user_server_view(stored, a, out): What its user may see of it; name, owner,
 * kind and state are the caller's to set.
 */
enum rc user_server_view(
    struct str stored, struct arena *a, struct wire_mcp_server *out) RC_CHECK;

#endif /* !USER_SERVER_H */
