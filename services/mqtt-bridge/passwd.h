/*
 * passwd: the text of mosquitto's password file: the lines of services first,
 * as they are in a file of their own, then one line for each body.
 */
#ifndef MQTT_BRIDGE_PASSWD_H
#define MQTT_BRIDGE_PASSWD_H

#include <stdbool.h>
#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"

/* Bytes of a file: room for 200,000 bodies. */
#define PASSWD_MAX (64UL * 1024 * 1024)

struct passwd;

/*
 * passwd_new(base):
 * A file with the lines of base, whose names no body can have.
 */
struct passwd *passwd_new(struct str base);

/* passwd_free(p): Its bytes are wiped.  NULL is allowed. */
void passwd_free(struct passwd *p);

/*
 * passwd_add(p, id, hash):
 * Add a body.  False if it cannot have a line: its id is not a terminal's, has
 * a ':' or the name of a service, or the hash is none that mosquitto knows.
 */
bool passwd_add(struct passwd *p, struct str id, struct str hash);

/* passwd_bodies(p): How many were added. */
size_t passwd_bodies(const struct passwd *p);

/* passwd_lacks(p, text): Whether another file's text names whom p does not. */
bool passwd_lacks(const struct passwd *p, struct str text);

/* passwd_text(p, out): RC_TOOBIG over PASSWD_MAX; *out lives as long as p. */
enum rc passwd_text(const struct passwd *p, struct str *out) RC_CHECK;

#endif /* !MQTT_BRIDGE_PASSWD_H */
