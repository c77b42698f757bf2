/*
 * Reading, and writing beside it first.
 */
#include "passwd_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096

enum rc
passwd_file_read(const char *path, struct buf *b, const char **why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum rc rc = RC_OK;
	char part[65536];
	ssize_t n;

	*why = "";
	if (fd < 0) {
		*why = strerrordesc_np(errno);
		return errno == ENOENT ? RC_NOENT : RC_DENIED;
	}
	while (rc == RC_OK && (n = read(fd, part, sizeof(part))) != 0) {
		if (n > 0) {
			buf_put(b, part, (size_t)n);
			rc = buf_rc(b);
		} else if (errno != EINTR) {
			*why = strerrordesc_np(errno);
			rc = RC_DENIED;
		}
	}
	if (rc == RC_TOOBIG)
		*why = "it is too large";
	explicit_bzero(part, sizeof(part));
	(void)close(fd);
	return rc;
}

static bool
write_all(int fd, struct str s)
{
	ssize_t n;

	while (s.n > 0) {
		n = write(fd, s.p, s.n);
		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			s.p += n;
			s.n -= (size_t)n;
		}
	}
	return fsync(fd) == 0;
}

enum rc
passwd_file_write(const char *path, struct str text, const char **why)
{
	char beside[PATH_BYTES];
	bool ok = false;
	int fd;

	*why = "its name is too long";
	if (snprintf(beside, sizeof(beside), "%s.new", path) >=
	    (int)sizeof(beside))
		return RC_DENIED;
	/* One that is left of a process that was killed may be another's. */
	(void)unlink(beside);
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0) {
		ok = write_all(fd, text);
		*why = strerrordesc_np(errno);
		(void)close(fd);
		if (ok && rename(beside, path) == 0)
			return RC_OK;
	}
	*why = ok || fd < 0 ? strerrordesc_np(errno) : *why;
	(void)unlink(beside);
	return RC_DENIED;
}
