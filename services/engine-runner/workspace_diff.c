#include "workspace_diff.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/id.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "procsup/spool_format.h"
#include "workspace.h"

#define BEFORE_MAX (32UL * 1024 * 1024)
#define DEPTH_MAX  64
#define PATH_MAX_N 1024

/* A file of a workspace. */
struct diff_file {
	int64_t size, ns;
	bool found; /* it still exists */
};

/* What is done with each file. */
struct diff_scan {
	void (*fn)(void *arg, int folder, const char *name, const char *path,
	    const struct stat *st);
	void *arg;
	size_t n;
	char path[PATH_MAX_N];
};

static void diff_folder(struct diff_scan *w, int folder, size_t at, int depth);

static void
diff_entry(
    struct diff_scan *w, int folder, const char *name, size_t at, int depth)
{
	size_t n = strlen(name);
	struct stat st;
	int sub;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    at + n + 2 > sizeof(w->path) || w->n == WORKSPACE_FILES_MAX ||
	    fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	memcpy(w->path + at, name, n + 1);
	if (S_ISREG(st.st_mode)) {
		w->n++;
		w->fn(w->arg, folder, name, w->path, &st);
	} else if (S_ISDIR(st.st_mode) && strcmp(name, ".git") != 0 &&
	    depth < DEPTH_MAX) {
		sub = openat(folder, name,
		    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		w->path[at + n] = '/';
		if (sub != -1)
			diff_folder(w, sub, at + n + 1, depth + 1);
	}
}

static int
diff_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of names, so that two runs of it give the same. */
static void
diff_folder(struct diff_scan *w, int folder, size_t at, int depth)
{
	DIR *d = fdopendir(folder);
	struct dirent *e;
	char **names = NULL;
	size_t n = 0, cap = 0, i;

	if (d == NULL) {
		close(folder);
		return;
	}
	while (n < WORKSPACE_FILES_MAX && (e = readdir(d)) != NULL) {
		if (n == cap) {
			cap = cap * 2 + 64;
			names = mem_realloc(names, cap * sizeof(*names));
		}
		names[n++] = mem_strdup(e->d_name);
	}
	if (n > 0)
		qsort(names, n, sizeof(*names), diff_compare);
	for (i = 0; i < n; i++) {
		diff_entry(w, folder, names[i], at, depth);
		free(names[i]);
	}
	free(names);
	(void)closedir(d);
}

static int64_t
diff_ns(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

static enum rc
diff_run(struct diff_scan *w, const char *work)
{
	int dir = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir == -1) {
		log_error("run.workspace", LOG_S("path", work),
		    LOG_S("why", strerror(errno)));
		return RC_DOWN;
	}
	diff_folder(w, dir, 0, 0);
	return RC_OK;
}

/* ---- before ---- */

static void
diff_on_before(void *arg, int folder, const char *name, const char *path,
    const struct stat *st)
{
	struct buf *out = arg;

	(void)folder;
	(void)name;
	/* A line's end in a name would begin another line. */
	if (strchr(path, '\n') == NULL)
		buf_printf(out, "%" PRId64 " %" PRId64 " %s\n",
		    (int64_t)st->st_size, diff_ns(st), path);
}

enum rc
workspace_snapshot(const char *work, const char *spool)
{
	struct buf text = BUF_INIT(BEFORE_MAX);
	struct diff_scan w = { .fn = diff_on_before, .arg = &text };
	enum rc rc = diff_run(&w, work);

	if (rc == RC_OK)
		rc = workspace_write(spool, WORKSPACE_BEFORE, buf_str(&text));
	buf_free(&text);
	return rc;
}

/* ---- after ---- */

struct diff {
	struct map *before; /* path -> struct diff_file */
	struct arena *arena;
	struct buf out;
	size_t n;
};

static void
diff_read_before(struct diff *d, struct str text)
{
	while (text.n > 0) {
		struct str line = str_split(&text, '\n');
		struct diff_file *f = arena_alloc(d->arena, sizeof(*f));

		if (f == NULL ||
		    str_to_i64(str_split(&line, ' '), 0, INT64_MAX, &f->size) !=
			RC_OK ||
		    str_to_i64(str_split(&line, ' '), INT64_MIN, INT64_MAX,
			&f->ns) != RC_OK ||
		    line.p == NULL)
			continue;
		(void)map_put(d->before, line, f);
	}
}

static bool
diff_hash(int folder, const char *name, char hex[SPOOL_SHA256_HEX + 1])
{
	int fd = openat(
	    folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned char bytes[32768], digest[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	ssize_t n = -1;
	bool ok = fd != -1 && ctx != NULL &&
	    EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1;

	while (ok && (n = read(fd, bytes, sizeof(bytes))) > 0)
		ok = EVP_DigestUpdate(ctx, bytes, (size_t)n) == 1;
	ok = ok && n == 0 && EVP_DigestFinal_ex(ctx, digest, &len) == 1;
	if (ok)
		id_hex(digest, len, hex);
	EVP_MD_CTX_free(ctx);
	if (fd != -1)
		close(fd);
	return ok;
}

static void
diff_add(struct diff *d, const struct spool_file *f)
{
	if (d->n < WORKSPACE_CHANGES_MAX) {
		d->n++;
		spool_file_write(f, &d->out);
	}
}

static void
diff_on_after(void *arg, int folder, const char *name, const char *path,
    const struct stat *st)
{
	struct diff *d = arg;
	struct diff_file *before = map_get(d->before, str_of(path));
	char hex[SPOOL_SHA256_HEX + 1];

	if (before != NULL) {
		before->found = true;
		if (before->size == st->st_size && before->ns == diff_ns(st))
			return;
	}
	if (str_utf8_count(str_of(path)) < 0 || !diff_hash(folder, name, hex))
		return;
	diff_add(d,
	    &(struct spool_file){
		.change = before != NULL ? STR("modified") : STR("created"),
		.bytes = st->st_size,
		.sha256 = str_of(hex),
		.path = str_of(path) });
}

static int
diff_compare_str(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void
diff_add_deleted(struct diff *d)
{
	size_t pos = 0, n = 0, i;
	const struct diff_file *f;
	struct str path,
	    *deleted = mem_calloc(map_len(d->before) + 1, sizeof(*deleted));

	while ((f = map_next(d->before, &pos, &path)) != NULL)
		if (!f->found)
			deleted[n++] = path;
	qsort(deleted, n, sizeof(*deleted), diff_compare_str);
	for (i = 0; i < n; i++)
		diff_add(d,
		    &(struct spool_file){
			.change = STR("deleted"), .path = deleted[i] });
	free(deleted);
}

enum rc
workspace_diff(const char *work, const char *spool)
{
	struct diff d = { .before = map_new(), .arena = arena_new(BEFORE_MAX) };
	struct diff_scan w = { .fn = diff_on_after, .arg = &d };
	struct buf text = BUF_INIT(BEFORE_MAX);
	char path[WORKSPACE_PATH_MAX + 8];
	enum rc rc = RC_OK;

	(void)snprintf(path, sizeof(path), "%s/" SPOOL_FILES, spool);
	buf_init(&d.out, SPOOL_TEXT_MAX);
	if (!workspace_has(path)) {
		rc = workspace_read(spool, WORKSPACE_BEFORE, &text);
		if (rc == RC_OK || rc == RC_NOENT) {
			diff_read_before(&d, buf_str(&text));
			rc = diff_run(&w, work);
		}
		if (rc == RC_OK) {
			diff_add_deleted(&d);
			rc = workspace_write(
			    spool, SPOOL_FILES, buf_str(&d.out));
		}
	}
	buf_free(&text);
	buf_free(&d.out);
	map_free(d.before);
	arena_free(d.arena);
	return rc;
}
