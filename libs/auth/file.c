/*
 * Reading whole files, and seeing that they have changed.
 */
#include "auth/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct auth_stamp
auth_file_stamp(const char *path)
{
	struct auth_stamp s = { .there = false };
	struct stat st;

	if (stat(path, &st) == 0) {
		s.there = true;
		s.dev = st.st_dev;
		s.ino = st.st_ino;
		s.size = st.st_size;
		s.changed = st.st_ctim;
	}
	return s;
}

bool
auth_stamp_is(const struct auth_stamp *a, const struct auth_stamp *b)
{
	return a->there == b->there && a->dev == b->dev && a->ino == b->ino &&
	    a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
	    a->changed.tv_nsec == b->changed.tv_nsec;
}

enum rc
auth_file_read(const char *path, struct buf *out, const char **why)
{
	/* A pipe must not hold up the start. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char piece[4096];
	ssize_t n = -1;

	while (fd >= 0 && (n = read(fd, piece, sizeof(piece))) > 0 &&
	    buf_rc(out) == RC_OK)
		buf_put(out, piece, (size_t)n);
	if (n < 0)
		*why = strerrordesc_np(errno);
	else if (buf_rc(out) != RC_OK)
		*why = "is too large";
	if (fd >= 0)
		close(fd);
	return n < 0 ? RC_DOWN : buf_rc(out);
}
