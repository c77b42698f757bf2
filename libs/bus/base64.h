/*
 * base64: bytes in the JSON of the JetStream API.  Pure.
 */
#ifndef BUS_BASE64_H
#define BUS_BASE64_H

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

/*
 * base64_read(s, out):
 * Append the bytes that s stands for (RFC 4648, padded).  RC_INVALID if it is
 * none, RC_TOOBIG if out is full; out then has a part.
 */
enum rc base64_read(struct str s, struct buf *out) RC_CHECK;

#endif /* !BUS_BASE64_H */
