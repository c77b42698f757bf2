#include "credentials/password_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/id.h"
#include "core/map.h"
#include "core/mem.h"

/* ---- list ---- */

struct password_list {
	struct buf text;
	struct map *names; /* services map to p, terminals to &p->count */
	size_t bodies;
};

struct password_list *
password_list_new(struct str base)
{
	struct password_list *p = mem_zalloc(sizeof(*p));
	struct str line, name;

	buf_init(&p->text, PASSWORD_LIST_MAX);
	p->names = map_new();
	while (base.p != NULL) {
		line = str_trim(str_split(&base, '\n'));
		if (line.n == 0 || line.p[0] == '#')
			continue;
		buf_put_str(&p->text, line);
		buf_putc(&p->text, '\n');
		name = str_split(&line, ':');
		(void)map_put(p->names, name, p);
	}
	return p;
}

void
password_list_free(struct password_list *p)
{
	if (p == NULL)
		return;
	if (p->text.p != NULL)
		explicit_bzero(p->text.p, p->text.cap);
	buf_free(&p->text);
	map_free(p->names);
	free(p);
}

/* "$6$" or "$7$", and no character that ends a line or a field. */
static bool
password_hash_valid(struct str s)
{
	size_t i;

	if (!str_starts(s, STR("$7$")) && !str_starts(s, STR("$6$")))
		return false;
	for (i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] > '~' || s.p[i] == ':')
			return false;
	return true;
}

bool
password_list_add(struct password_list *p, struct str id, struct str hash)
{
	/* mosquitto trims lines and skips comments. */
	if (!id_terminal_valid(id) || memchr(id.p, ':', id.n) != NULL ||
	    str_trim(id).n != id.n || map_get(p->names, id) == p ||
	    !password_hash_valid(hash))
		return false;
	buf_put_str(&p->text, id);
	buf_putc(&p->text, ':');
	buf_put_str(&p->text, hash);
	buf_putc(&p->text, '\n');
	(void)map_put(p->names, id, &p->bodies);
	p->bodies++;
	return true;
}

size_t
password_list_count(const struct password_list *p)
{
	return p->bodies;
}

bool
password_list_lacks(const struct password_list *p, struct str text)
{
	struct str line, name;

	while (text.p != NULL) {
		line = str_trim(str_split(&text, '\n'));
		name = str_split(&line, ':');
		if (line.p != NULL && map_get(p->names, name) == NULL)
			return true;
	}
	return false;
}

enum rc
password_list_text(const struct password_list *p, struct str *out)
{
	*out = buf_str(&p->text);
	return buf_rc(&p->text);
}

/* ---- file ---- */

#define PATH_BYTES 4096

enum rc
password_file_read(const char *path, struct buf *b, const char **why)
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
		*why = "the file is too large";
	explicit_bzero(part, sizeof(part));
	(void)close(fd);
	return rc;
}

static bool
password_file_write_all(int fd, struct str s)
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
password_file_write(const char *path, struct str text, const char **why)
{
	char beside[PATH_BYTES];
	bool ok = false;
	int fd;

	*why = "the path is too long";
	if (snprintf(beside, sizeof(beside), "%s.new", path) >=
	    (int)sizeof(beside))
		return RC_DENIED;
	/* A file left behind by a killed process may have another owner. */
	(void)unlink(beside);
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0) {
		ok = password_file_write_all(fd, text);
		*why = strerrordesc_np(errno);
		(void)close(fd);
		if (ok && rename(beside, path) == 0)
			return RC_OK;
	}
	*why = ok || fd < 0 ? strerrordesc_np(errno) : *why;
	(void)unlink(beside);
	return RC_DENIED;
}
