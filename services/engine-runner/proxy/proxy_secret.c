#include "proxy/proxy_secret.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/log.h"

static enum rc
secret_fail(const char *path, const char *why, enum rc rc)
{
	log_error("proxy.no_secret", LOG_S("file", path), LOG_S("why", why));
	return rc;
}

/* RC_NOENT: it does not exist. */
static enum rc
secret_read(const char *path, unsigned char secret[PROXY_SECRET_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	unsigned char more;
	ssize_t n, over;

	if (fd == -1 && errno == ENOENT)
		return RC_NOENT;
	if (fd == -1)
		return secret_fail(path, strerror(errno), RC_DOWN);
	n = read(fd, secret, PROXY_SECRET_BYTES);
	over = read(fd, &more, 1);
	close(fd);
	if (n != PROXY_SECRET_BYTES || over != 0)
		return secret_fail(path,
		    "it must have 32 bytes; remove it to get a new one",
		    RC_INVALID);
	return RC_OK;
}

/* Under another name first, so that it is never seen incomplete. */
static enum rc
secret_make(const char *path, unsigned char secret[PROXY_SECRET_BYTES])
{
	char draft[PATH_MAX];
	bool ok;
	int fd;

	if (snprintf(draft, sizeof(draft), "%s.%ld", path, (long)getpid()) >=
	    (int)sizeof(draft))
		return secret_fail(path, strerror(ENAMETOOLONG), RC_DOWN);
	if (getrandom(secret, PROXY_SECRET_BYTES, 0) != PROXY_SECRET_BYTES)
		return secret_fail(path, strerror(errno), RC_DOWN);
	(void)unlink(draft);
	fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd == -1)
		return secret_fail(draft, strerror(errno), RC_DOWN);
	ok = write(fd, secret, PROXY_SECRET_BYTES) == PROXY_SECRET_BYTES &&
	    fsync(fd) == 0;
	ok = close(fd) == 0 && ok;
	ok = ok && (link(draft, path) == 0 || errno == EEXIST);
	if (!ok)
		(void)secret_fail(path, strerror(errno), RC_DOWN);
	(void)unlink(draft);
	return ok ? RC_OK : RC_DOWN;
}

enum rc
proxy_secret_load(
    const char *runs_dir, unsigned char secret[PROXY_SECRET_BYTES])
{
	char path[PATH_MAX];
	enum rc rc;

	if (snprintf(path, sizeof(path), "%s/" PROXY_SECRET_FILE, runs_dir) >=
	    (int)sizeof(path))
		return secret_fail(runs_dir, strerror(ENAMETOOLONG), RC_DOWN);
	if (mkdir(runs_dir, 0700) != 0 && errno != EEXIST)
		return secret_fail(runs_dir, strerror(errno), RC_DOWN);
	rc = secret_read(path, secret);
	if (rc != RC_NOENT)
		return rc;
	rc = secret_make(path, secret);
	/* Another process may have been first. */
	return rc == RC_OK ? secret_read(path, secret) : rc;
}
