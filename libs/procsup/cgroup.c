/*
 * cgroup: see cgroup.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/str.h"
#include "procsup/cgroup.h"

#define CGROUP_ROOT   "/sys/fs/cgroup/"
#define CGROUP_PREFIX "soul-"

/* Where version 2 is mounted, in dst. */
static bool
cgroup_find_mount(char *dst, size_t size)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent m;
	char text[4096];
	bool found = false;

	while (f != NULL && !found &&
	    getmntent_r(f, &m, text, sizeof(text)) != NULL) {
		found = strcmp(m.mnt_type, "cgroup2") == 0;
		if (found)
			str_copy(str_of(m.mnt_dir), dst, size);
	}
	if (f != NULL)
		endmntent(f);
	return found;
}

/* This process' group in it, in dst: "/…". */
static bool
cgroup_find_own(char *dst, size_t size)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[CGROUP_PATH_MAX];
	bool found = false;

	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL) {
		struct str s = str_trim(str_of(line));

		found = str_starts(s, STR("0::/"));
		if (found)
			str_copy((struct str){ s.p + 3, s.n - 3 }, dst, size);
	}
	if (f != NULL)
		fclose(f);
	return found;
}

bool
cgroup_make(const char *mark, char path[CGROUP_PATH_MAX])
{
	char mount[256], own[512];
	int n;

	path[0] = '\0';
	if (!cgroup_find_mount(mount, sizeof(mount)) ||
	    !cgroup_find_own(own, sizeof(own)))
		return false;
	n = snprintf(path, CGROUP_PATH_MAX, "%s%s/" CGROUP_PREFIX "%s", mount,
	    own[1] != '\0' ? own : "", mark);
	if (n > 0 && n < CGROUP_PATH_MAX && cgroup_is_of(path, mark) &&
	    mkdir(path, 0700) == 0)
		return true;
	path[0] = '\0';
	return false;
}

bool
cgroup_is_of(const char *path, const char *mark)
{
	const char *name = strrchr(path, '/');

	return name != NULL && str_starts(str_of(path), STR(CGROUP_ROOT)) &&
	    strstr(path, "/../") == NULL &&
	    str_starts(str_of(name + 1), STR(CGROUP_PREFIX)) &&
	    strcmp(name + 1 + strlen(CGROUP_PREFIX), mark) == 0;
}

static void
cgroup_write(const char *path, const char *name, const char *text)
{
	char file[CGROUP_PATH_MAX + 32];
	int fd;

	if (path[0] == '\0')
		return;
	snprintf(file, sizeof(file), "%s/%s", path, name);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd == -1)
		return;
	(void)!write(fd, text, strlen(text));
	close(fd);
}

pid_t
cgroup_fork(const char *path)
{
	struct clone_args a = { .exit_signal = SIGCHLD };
	int dir = -1;
	long pid = -1;

	if (path[0] != '\0')
		dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* Moving it later would wait for all processors, 10 ms and more. */
	if (dir != -1) {
		a.flags = CLONE_INTO_CGROUP;
		a.cgroup = (unsigned)dir;
		pid = syscall(SYS_clone3, &a, sizeof(a));
		if (pid != 0)
			close(dir);
	}
	/* Container runtimes deny clone3. */
	if (pid == -1) {
		pid = fork();
		if (pid == 0)
			cgroup_write(path, "cgroup.procs", "0");
	}
	return (pid_t)pid;
}

size_t
cgroup_kill(const char *path)
{
	char file[CGROUP_PATH_MAX + 32], line[32];
	size_t n = 0;
	FILE *f;

	if (path[0] == '\0')
		return 0;
	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	f = fopen(file, "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		n++;
	if (f != NULL)
		fclose(f);
	cgroup_write(path, "cgroup.kill", "1");
	return n;
}

bool
cgroup_remove(const char *path)
{
	return path[0] == '\0' || rmdir(path) == 0 || errno != EBUSY;
}
