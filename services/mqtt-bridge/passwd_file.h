/*
 * passwd_file: a file of secrets, read, and replaced as a whole.
 */
#ifndef MQTT_BRIDGE_PASSWD_FILE_H
#define MQTT_BRIDGE_PASSWD_FILE_H

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

/*
 * passwd_file_read(path, b):
 * Append its content.  RC_NOENT if there is none, RC_TOOBIG if b cannot hold
 * it, otherwise RC_DENIED; *why (a constant) then says what is wrong.
 */
enum rc passwd_file_read(
    const char *path, struct buf *b, const char **why) RC_CHECK;

/*
 * passwd_file_write(path, text):
 * Replace it with one of mode 0600: whoever reads it finds the old one or the
 * new one.  "<path>.new" is used on the way.  RC_DENIED: it is as it was, and
 * *why says what is wrong.
 */
enum rc passwd_file_write(
    const char *path, struct str text, const char **why) RC_CHECK;

#endif /* !MQTT_BRIDGE_PASSWD_FILE_H */
