#include "workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/log.h"

/* Folders in each other. */
#define DEPTH_MAX             64
#define COPY_STEP             65536
#define WORKSPACE_OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)

void
workspace_paths(struct workspace_paths *p, const char *runs_dir, struct str run,
    struct str workspace, int64_t attempt)
{
	const size_t n = WORKSPACE_PATH_MAX;

	(void)snprintf(p->run, n, "%s/%.*s", runs_dir, STR_ARG(run));
	(void)snprintf(
	    p->spool, n, "%s/%.*s/%" PRId64, runs_dir, STR_ARG(run), attempt);
	(void)snprintf(
	    p->base, n, "%s/%.*s/workspace", runs_dir, STR_ARG(workspace));
	(void)snprintf(
	    p->work, n, "%s/%.*s/workspace/work", runs_dir, STR_ARG(workspace));
	(void)snprintf(
	    p->home, n, "%s/%.*s/workspace/home", runs_dir, STR_ARG(workspace));
	(void)snprintf(
	    p->tmp, n, "%s/%.*s/workspace/tmp", runs_dir, STR_ARG(workspace));
}

static enum rc
workspace_fail(const char *what, const char *path)
{
	log_error("run.disk", LOG_S("what", what), LOG_S("path", path),
	    LOG_S("why", strerror(errno)));
	return RC_DOWN;
}

bool
workspace_has(const char *path)
{
	return access(path, F_OK) == 0;
}

/* The folder, and those above it. */
static enum rc
workspace_folder(const char *path)
{
	char part[WORKSPACE_PATH_MAX + 256];
	char *slash;

	str_copy(str_of(path), part, sizeof(part));
	for (slash = part; slash != NULL;) {
		slash = strchr(slash + 1, '/');
		if (slash != NULL)
			*slash = '\0';
		if (mkdir(part, 0700) != 0 && errno != EEXIST)
			return workspace_fail("mkdir", part);
		if (slash != NULL)
			*slash = '/';
	}
	return RC_OK;
}

enum rc
workspace_make_spool(const struct workspace_paths *p)
{
	return workspace_folder(p->spool);
}

enum rc
workspace_make(const struct workspace_paths *p)
{
	enum rc rc = workspace_folder(p->spool);

	if (rc == RC_OK)
		rc = workspace_folder(p->work);
	if (rc == RC_OK)
		rc = workspace_folder(p->home);
	return rc == RC_OK ? workspace_folder(p->tmp) : rc;
}

/* ---- files ---- */

static bool
workspace_write_all(int fd, struct str text)
{
	while (text.n > 0) {
		ssize_t n = write(fd, text.p, text.n);

		if (n <= 0)
			return false;
		text.p += n;
		text.n -= (size_t)n;
	}
	return true;
}

/*
 * The folder of a path below root, with those above it, which are made if they
 * are missing.  Links are not followed: an engine may have made them.
 */
static int
workspace_open_below(const char *root, struct str path)
{
	int at = open(root, WORKSPACE_OPEN_FOLDER), next, err;
	char name[NAME_MAX + 1];

	while (at != -1 && path.n > 0) {
		str_copy(str_split(&path, '/'), name, sizeof(name));
		(void)mkdirat(at, name, 0700);
		next = openat(at, name, WORKSPACE_OPEN_FOLDER);
		err = errno;
		close(at);
		errno = err;
		at = next;
	}
	return at;
}

/* A new file, in place of what has its name. */
static bool
workspace_write_in(int folder, const char *name, struct str text)
{
	char part[NAME_MAX + 1];
	bool ok;
	int fd;

	(void)snprintf(part, sizeof(part), "%.240s.part", name);
	(void)unlinkat(folder, part, 0);
	fd =
	    openat(folder, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd == -1)
		return false;
	ok = workspace_write_all(fd, text);
	close(fd);
	return ok && renameat(folder, part, folder, name) == 0;
}

enum rc
workspace_write(const char *folder, const char *name, struct str text)
{
	const char *slash = strrchr(name, '/');
	struct str above = { name, slash != NULL ? (size_t)(slash - name) : 0 };
	int at = workspace_open_below(folder, above);
	bool ok = at != -1 &&
	    workspace_write_in(at, slash != NULL ? slash + 1 : name, text);

	if (!ok)
		(void)workspace_fail("write", name);
	if (at != -1)
		close(at);
	return ok ? RC_OK : RC_DOWN;
}

enum rc
workspace_read(const char *folder, const char *name, struct buf *out)
{
	char path[WORKSPACE_PATH_MAX + 256], bytes[8192];
	ssize_t n = 0;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd == -1)
		return errno == ENOENT ? RC_NOENT : RC_DOWN;
	while (!out->over && (n = read(fd, bytes, sizeof(bytes))) > 0)
		buf_put(out, bytes, (size_t)n);
	close(fd);
	return n < 0 ? RC_DOWN : buf_rc(out);
}

int
workspace_open(const char *work, const char *path)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
		    RESOLVE_NO_MAGICLINKS };
	int dir = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	int fd, err;

	if (dir == -1)
		return -1;
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	err = errno;
	close(dir);
	/* A pipe of the engine's, or a folder, has no bytes. */
	if (fd != -1 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
		err = ENOENT;
	}
	errno = err;
	return fd;
}

/* ---- trees ---- */

struct workspace_copy {
	int64_t files, bytes;
};

static enum rc
workspace_copy_file(
    int from, int to, const char *name, struct workspace_copy *c)
{
	char bytes[COPY_STEP];
	struct stat st;
	ssize_t n = -1;
	int in = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int out = -1;
	enum rc rc = RC_DOWN;

	(void)unlinkat(to, name, 0);
	if (in != -1 && fstat(in, &st) == 0)
		out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    st.st_mode & S_IXUSR ? 0700 : 0600);
	while (out != -1 && (n = read(in, bytes, sizeof(bytes))) > 0) {
		c->bytes += n;
		if (c->bytes > WORKSPACE_SKILL_BYTES ||
		    !workspace_write_all(out, (struct str){ bytes, (size_t)n }))
			break;
	}
	if (n == 0)
		rc = ++c->files > WORKSPACE_SKILL_FILES ? RC_TOOBIG : RC_OK;
	else if (c->bytes > WORKSPACE_SKILL_BYTES)
		rc = RC_TOOBIG;
	if (in != -1)
		close(in);
	if (out != -1)
		close(out);
	return rc;
}

/* Both descriptors are closed. */
static enum rc
workspace_copy_folder(int from, int to, struct workspace_copy *c, int depth)
{
	DIR *d = fdopendir(from);
	struct dirent *e;
	struct stat st;
	enum rc rc = d != NULL ? RC_OK : RC_DOWN;

	if (d == NULL)
		close(from);
	if (depth == DEPTH_MAX)
		rc = RC_TOOBIG;
	while (rc == RC_OK && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (fstatat(from, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (S_ISREG(st.st_mode)) {
			rc = workspace_copy_file(from, to, e->d_name, c);
		} else if (S_ISDIR(st.st_mode)) {
			int sub, at = -1;

			(void)mkdirat(to, e->d_name, 0700);
			sub = openat(from, e->d_name,
			    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
			if (sub != -1)
				at = openat(to, e->d_name,
				    O_RDONLY | O_DIRECTORY | O_CLOEXEC |
					O_NOFOLLOW);
			if (at != -1) {
				rc = workspace_copy_folder(
				    sub, at, c, depth + 1);
			} else {
				if (sub != -1)
					close(sub);
				rc = RC_DOWN;
			}
		}
	}
	if (d != NULL)
		(void)closedir(d);
	close(to);
	return rc;
}

enum rc
workspace_copy_skill(const char *skills_dir, struct str skill, const char *work)
{
	char from[WORKSPACE_PATH_MAX + 256], to[16 + NAME_MAX];
	struct workspace_copy c = { 0 };
	int in, out;
	enum rc rc;

	if (skills_dir[0] == '\0')
		return RC_NOENT;
	(void)snprintf(
	    from, sizeof(from), "%s/%.*s", skills_dir, STR_ARG(skill));
	(void)snprintf(to, sizeof(to), "skills/%.*s", STR_ARG(skill));
	in = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (in == -1)
		return errno == ENOENT || errno == ENOTDIR
		    ? RC_NOENT
		    : workspace_fail("open", from);
	out = workspace_open_below(work, str_of(to));
	if (out == -1) {
		close(in);
		return workspace_fail("open", to);
	}
	rc = workspace_copy_folder(in, out, &c, 0);
	return rc == RC_DOWN ? workspace_fail("copy", from) : rc;
}

/* The folder's descriptor is closed. */
static bool
workspace_empty(int folder, int depth)
{
	DIR *d = fdopendir(folder);
	struct dirent *e;
	struct stat st;
	bool ok = true;

	if (d == NULL) {
		close(folder);
		return false;
	}
	while ((e = readdir(d)) != NULL) {
		int sub;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (unlinkat(folder, e->d_name, 0) == 0 || errno == ENOENT)
			continue;
		/* An engine may have taken its own rights; of a link they are
		 * another file's. */
		if (fstatat(folder, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISDIR(st.st_mode))
			(void)!fchmodat(folder, e->d_name, 0700, 0);
		sub = depth == DEPTH_MAX * 4
		    ? -1
		    : openat(folder, e->d_name,
			  O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (sub == -1 || !workspace_empty(sub, depth + 1) ||
		    unlinkat(folder, e->d_name, AT_REMOVEDIR) != 0)
			ok = false;
	}
	(void)closedir(d);
	return ok;
}

enum rc
workspace_remove(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (dir == -1)
		return errno == ENOENT ? RC_OK : workspace_fail("open", path);
	if (!workspace_empty(dir, 0) || rmdir(path) != 0)
		return workspace_fail("remove", path);
	return RC_OK;
}
