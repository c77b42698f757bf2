/*
 * password_file: mosquitto's password file: its text, and reading and replacing
 * it.
 */
#ifndef MQTT_BRIDGE_PASSWORD_FILE_H
#define MQTT_BRIDGE_PASSWORD_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

/* Bytes of a file: room for 200,000 terminals. */
#define PASSWORD_LIST_MAX (64UL * 1024 * 1024)

/* The lines of services, then one line for each terminal. */
struct password_list;

/*
 * password_list_new(base):
 * A list with the lines of base, whose names no terminal can have.
 */
struct password_list *password_list_new(struct str base);

/* password_list_free(p): Its memory is zeroed first.  NULL is allowed. */
void password_list_free(struct password_list *p);

/*
 * password_list_add(p, id, hash):
 * Add a terminal.  False if it cannot have a line: the id is not a terminal's,
 * contains ':' or is the name of a service, or mosquitto does not support the
 * hash.
 */
bool password_list_add(struct password_list *p, struct str id, struct str hash);

/* password_list_count(p): Number of terminals. */
size_t password_list_count(const struct password_list *p);

/* password_list_lacks(p, text): Whether text has a name that p does not. */
bool password_list_lacks(const struct password_list *p, struct str text);

/*
 * password_list_text(p, out):
 * RC_TOOBIG over PASSWORD_LIST_MAX; *out is valid as long as p.
 */
enum rc password_list_text(
    const struct password_list *p, struct str *out) RC_CHECK;

/*
 * password_file_read(path, b, why):
 * Append the content of a file.  RC_NOENT if it does not exist, RC_TOOBIG if b
 * cannot hold it, otherwise RC_DENIED; *why (a constant) is the reason.
 */
enum rc password_file_read(
    const char *path, struct buf *b, const char **why) RC_CHECK;

/*
 * password_file_write(path, text, why):
 * Replace a file atomically by one of mode 0600, by way of "<path>.new".
 * RC_DENIED: it is unchanged, and *why (a constant) is the reason.
 */
enum rc password_file_write(
    const char *path, struct str text, const char **why) RC_CHECK;

#endif /* !MQTT_BRIDGE_PASSWORD_FILE_H */
