/*
 * Reading, replacing and polling files.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/auth.h"
#include "auth/auth_internal.h"
#include "core/log.h"

struct auth_stamp
auth_file_stamp(const char *path)
{
	struct auth_stamp s = { .exists = false };
	struct stat st;

	if (stat(path, &st) == 0) {
		s.exists = true;
		s.dev = st.st_dev;
		s.ino = st.st_ino;
		s.size = st.st_size;
		s.changed = st.st_ctim;
	}
	return s;
}

bool
auth_stamp_equal(const struct auth_stamp *a, const struct auth_stamp *b)
{
	return a->exists == b->exists && a->dev == b->dev && a->ino == b->ino &&
	    a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
	    a->changed.tv_nsec == b->changed.tv_nsec;
}

enum rc
auth_file_read(const char *path, struct buf *out, const char **why)
{
	/* Opening a FIFO must not block. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char chunk[4096];
	ssize_t n = -1;

	while (fd >= 0 && (n = read(fd, chunk, sizeof(chunk))) > 0 &&
	    buf_rc(out) == RC_OK)
		buf_put(out, chunk, (size_t)n);
	if (n < 0)
		*why = strerrordesc_np(errno);
	else if (buf_rc(out) != RC_OK)
		*why = "is too large";
	if (fd >= 0)
		close(fd);
	return n < 0 ? RC_DOWN : buf_rc(out);
}

static bool
file_write_all(int fd, struct str s)
{
	while (s.n > 0) {
		ssize_t n = write(fd, s.p, s.n);
		if (n < 0)
			return false;
		s.p += n;
		s.n -= (size_t)n;
	}
	return fsync(fd) == 0;
}

/* Copy owner and mode of the replaced file: its readers need them. */
static bool
file_copy_owner(int fd, const char *path)
{
	struct stat is, was;

	if (stat(path, &was) != 0)
		return errno == ENOENT;
	if (fstat(fd, &is) != 0 || fchmod(fd, was.st_mode & 0777) != 0)
		return false;
	return (is.st_uid == was.st_uid && is.st_gid == was.st_gid) ||
	    fchown(fd, was.st_uid, was.st_gid) == 0;
}

/* So that the new name survives a power failure. */
static void
file_sync_folder(char *path)
{
	char *slash = strrchr(path, '/');
	int fd;

	if (slash != NULL)
		*slash = '\0';
	fd = open(slash == NULL ? "."
		: slash == path ? "/"
				: path,
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		(void)fsync(fd);
		close(fd);
	}
}

enum rc
auth_file_write(const char *path, struct str text, const char **why)
{
	char real[PATH_MAX], new[PATH_MAX + 8];
	bool ok;
	int fd;

	/* Replace the target of a symbolic link, not the link. */
	if (realpath(path, real) == NULL)
		str_copy(str_of(path), real, sizeof(real));
	snprintf(new, sizeof(new), "%s.new", real);
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST) {
		*why =
		    "is being changed by another command (if none is running, "
		    "remove the file of that name with .new)";
		return RC_RETRY;
	}
	ok = fd >= 0 && file_write_all(fd, text) && file_copy_owner(fd, real) &&
	    rename(new, real) == 0;
	if (!ok)
		*why = strerrordesc_np(errno);
	if (!ok && fd >= 0)
		unlink(new);
	if (fd >= 0)
		close(fd);
	if (ok)
		file_sync_folder(real);
	return ok ? RC_OK : RC_DOWN;
}

/* ---- sources ---- */

static enum rc
source_read(struct auth_source *s)
{
	struct buf json = BUF_INIT(AUTH_FILE_MAX);
	const char *why = "";
	enum rc rc = auth_file_read(s->path, &json, &why);

	s->err = (struct wire_err){ 0 };
	if (rc != RC_OK)
		str_copy(str_of(why), s->err.why, sizeof(s->err.why));
	else
		rc = s->kind->read(buf_str(&json), &s->fresh, &s->err);
	buf_free(&json);
	return rc;
}

void
auth_source_poll(struct auth_source *s)
{
	struct auth_stamp now;

	s->read = false;
	if (s->path[0] == '\0')
		return;
	/* Before reading: a change meanwhile is seen by the next poll. */
	now = auth_file_stamp(s->path);
	if (s->seen.exists && auth_stamp_equal(&now, &s->seen))
		return;
	/* A missing file is reported one time. */
	if (!now.exists && !s->seen.exists && s->rc != RC_OK)
		return;
	s->seen = now;
	s->rc = source_read(s);
	s->read = true;
}

bool
auth_source_apply(struct auth_source *s)
{
	char why[WIRE_ERR_TEXT_MAX];
	bool is = s->fresh != NULL;

	if (!s->read)
		return false;
	metric_set(s->ok, s->rc == RC_OK);
	if (is) {
		if (s->content != NULL)
			s->kind->drop(s->content);
		s->content = s->fresh;
		s->fresh = NULL;
		log_info("auth.file_read", LOG_S("variable", s->kind->variable),
		    LOG_S("file", s->path));
	} else {
		wire_err_text(&s->err, why, sizeof(why));
		log_error("auth.file_unusable",
		    LOG_S("variable", s->kind->variable),
		    LOG_S("file", s->path), LOG_S("why", why),
		    LOG_S(
			"in_force", s->content != NULL ? "previous" : "none"));
	}
	return is;
}

void
auth_source_free(struct auth_source *s)
{
	if (s->content != NULL)
		s->kind->drop(s->content);
	if (s->fresh != NULL)
		s->kind->drop(s->fresh);
}
