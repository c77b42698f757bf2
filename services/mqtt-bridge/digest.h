/*
 * digest: a hash of content, the same wherever and whenever it is made.
 */
#ifndef MQTT_BRIDGE_DIGEST_H
#define MQTT_BRIDGE_DIGEST_H

#include "core/str.h"

/* Room for a digest, NUL included. */
#define DIGEST_MAX 65

/* digest_hex(s, dst): SHA-256 of s in lower-case hexadecimal. */
void digest_hex(struct str s, char dst[DIGEST_MAX]);

#endif /* !MQTT_BRIDGE_DIGEST_H */
