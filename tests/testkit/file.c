/*
 * tk_file: the test's folder and the files in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testkit/testkit.h"
#include "testkit/testkit_internal.h"

#define LOG_TAIL  4096
#define PATHS_MAX 512

static char dir[PATH_MAX];
static char *paths[PATHS_MAX];
static size_t n_paths;
/* The program's shared folder, and the number of paths that belong to it. */
static char shared_dir[PATH_MAX];
static size_t n_shared;

void
tk_dir_make(void)
{
	const char *tmp = getenv("TMPDIR");
	int n;

	n = snprintf(dir, sizeof(dir), "%s/testkit-XXXXXX",
	    tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp");
	if (n < 0 || (size_t)n >= sizeof(dir) || mkdtemp(dir) == NULL) {
		fprintf(stderr, "testkit: %s: %s\n", dir, strerror(errno));
		exit(2);
	}
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	if (remove(path) != 0)
		fprintf(stderr, "testkit: %s: %s\n", path, strerror(errno));
	return 0;
}

void
tk_dir_remove(void)
{
	if (dir[0] != '\0')
		(void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	dir[0] = '\0';
	while (n_paths > n_shared)
		free(paths[--n_paths]);
}

void
tk_dir_share(void)
{
	memcpy(shared_dir, dir, sizeof(shared_dir));
	n_shared = n_paths;
}

void
tk_dir_unshare(void)
{
	memcpy(dir, shared_dir, sizeof(dir));
	n_shared = 0;
}

static void
show_log(const char *path)
{
	char buf[LOG_TAIL];
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return;
	(void)lseek(fd, -LOG_TAIL, SEEK_END);
	n = read(fd, buf, sizeof(buf));
	close(fd);
	if (n > 0)
		fprintf(stderr, "---- end of %s\n%.*s\n",
		    strrchr(path, '/') + 1, (int)n, buf);
}

static void
each_log(void (*fn)(const char *path))
{
	char pattern[PATH_MAX];
	glob_t g;
	size_t i;

	if (snprintf(pattern, sizeof(pattern), "%s/*.log", dir) < 0 ||
	    glob(pattern, 0, NULL, &g) != 0)
		return;
	for (i = 0; i < g.gl_pathc; i++)
		fn(g.gl_pathv[i]);
	globfree(&g);
}

void
tk_dir_show_logs(void)
{
	each_log(show_log);
}

static char sanitizer_report[NAME_MAX + 1];

static void
find_sanitizer_report(const char *path)
{
	static const char *const signs[] = { "ERROR: AddressSanitizer",
		"ERROR: LeakSanitizer", "WARNING: ThreadSanitizer",
		": runtime error: " };
	char *text;
	size_t n;
	size_t i;

	text = tk_read_file(path, &n);
	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (memmem(text, n, signs[i], strlen(signs[i])) != NULL)
			snprintf(sanitizer_report, sizeof(sanitizer_report),
			    "%s", strrchr(path, '/') + 1);
	}
	free(text);
}

const char *
tk_dir_sanitizer_log(void)
{
	sanitizer_report[0] = '\0';
	each_log(find_sanitizer_report);
	return sanitizer_report[0] != '\0' ? sanitizer_report : NULL;
}

const char *
tk_dir(void)
{
	return dir;
}

/* A formatted string that lives until the test ends; a poll has one. */
static const char *
file_text_save(char *s)
{
	for (size_t i = 0; s != NULL && i < n_paths; i++) {
		if (strcmp(paths[i], s) == 0) {
			free(s);
			return paths[i];
		}
	}
	if (s == NULL || n_paths == PATHS_MAX)
		ck_abort_msg("testkit: too many paths");
	paths[n_paths++] = s;
	return s;
}

const char *
tk_path(const char *name)
{
	char *s;

	if (asprintf(&s, "%s/%s", dir, name) < 0)
		s = NULL;
	return file_text_save(s);
}

const char *
tk_bin(const char *name)
{
	char exe[PATH_MAX];
	char *tests;
	char *s;
	char *p;
	ssize_t n;

	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n <= 0)
		ck_abort_msg("/proc/self/exe: %s", strerror(errno));
	exe[n] = '\0';
	/* build/<variant>/tests/<kind>/<unit>/test_x: the last "tests". */
	tests = NULL;
	for (p = exe; (p = strstr(p, "/tests/")) != NULL; p++)
		tests = p;
	if (tests == NULL)
		ck_abort_msg("%s is not below a folder tests", exe);
	*tests = '\0';
	if (asprintf(&s, "%s/bin/%s", exe, name) < 0)
		s = NULL;
	return file_text_save(s);
}

void
tk_write_file(const char *path, const char *text)
{
	char part[PATH_MAX];
	FILE *f;

	/* A reader that waits for the file finds all of it. */
	if (snprintf(part, sizeof(part), "%s.part", path) >= PATH_MAX)
		ck_abort_msg("%s: too long", path);
	f = fopen(part, "we");
	if (f == NULL)
		ck_abort_msg("%s: %s", part, strerror(errno));
	if (fputs(text, f) == EOF || fclose(f) != 0 || rename(part, path) != 0)
		ck_abort_msg("%s: %s", path, strerror(errno));
}

char *
tk_read_file(const char *path, size_t *n)
{
	char *text = NULL;
	size_t size = 0;
	size_t len = 0;
	size_t got;
	FILE *f;

	f = fopen(path, "re");
	if (f == NULL)
		ck_abort_msg("%s: %s", path, strerror(errno));
	do {
		if (len + 1 >= size) {
			size = size == 0 ? 4096 : size * 2;
			text = realloc(text, size);
			if (text == NULL)
				abort();
		}
		got = fread(text + len, 1, size - len - 1, f);
		len += got;
	} while (got > 0);
	if (ferror(f))
		ck_abort_msg("%s: %s", path, strerror(errno));
	fclose(f);
	text[len] = '\0';
	if (n != NULL)
		*n = len;
	return text;
}
