/*
 * file: a file that is read again when it has changed.  Private.
 *
 * What counts is what the path leads to: Kubernetes replaces a symbolic link.
 */
#ifndef AUTH_FILE_H
#define AUTH_FILE_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

struct auth_stamp {
	bool there;
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed;
};

/*
 * auth_file_stamp(path): What is there now.  Any thread; blocks.
 * auth_stamp_equal(a, b): Whether nothing has changed.
 */
struct auth_stamp auth_file_stamp(const char *path);
bool auth_stamp_equal(const struct auth_stamp *a, const struct auth_stamp *b);

/*
 * auth_file_read(path, out, why):
 * All of it.  RC_DOWN or, over the ceiling of out, RC_TOOBIG; why then says it
 * in words.  Any thread; blocks.
 */
enum rc auth_file_read(
    const char *path, struct buf *out, const char **why) RC_CHECK;

/*
 * auth_file_write(path, text, why):
 * Put text there, all or nothing: "<path>.new" takes the place of what path
 * leads to, with its owner and mode (0600 if there was none).  RC_RETRY: there
 * is such a file already, of another writer; RC_DOWN; why says it in words.
 * Any thread; blocks.
 */
enum rc auth_file_write(
    const char *path, struct str text, const char **why) RC_CHECK;

#endif /* !AUTH_FILE_H */
