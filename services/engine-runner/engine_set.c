#include "engine_set.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define FILE_MAX  (256 * 1024)
#define ARENA_MAX (8 * 1024 * 1024)
#define PATH_TEXT 4096

/* ---- versions ---- */

void
engine_version_of(struct str output, char dst[ENGINE_VERSION_MAX + 1])
{
	size_t i = 0, from;

	dst[0] = '\0';
	while (i < output.n) {
		while (i < output.n && isspace((unsigned char)output.p[i]))
			i++;
		from = i;
		while (i < output.n && !isspace((unsigned char)output.p[i]))
			i++;
		if (from < i && output.p[from] == 'v')
			from++;
		if (from < i && isdigit((unsigned char)output.p[from])) {
			str_copy((struct str){ output.p + from, i - from }, dst,
			    ENGINE_VERSION_MAX + 1);
			return;
		}
	}
}

static int64_t
version_number(struct str part)
{
	int64_t v = 0;
	size_t i;

	for (i = 0; i < part.n && i < 9 && isdigit((unsigned char)part.p[i]);
	     i++)
		v = v * 10 + (part.p[i] - '0');
	return v;
}

/* By their numbers; what follows digits does not count. */
static int
version_compare(struct str a, struct str b)
{
	while (a.p != NULL || b.p != NULL) {
		int64_t x = version_number(str_split(&a, '.'));
		int64_t y = version_number(str_split(&b, '.'));

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

bool
engine_version_suits(const struct engine_entry *e, struct str version)
{
	if (e->version_min.n > 0 &&
	    version_compare(version, e->version_min) < 0)
		return false;
	return e->version_below.n == 0 ||
	    version_compare(version, e->version_below) < 0;
}

/* ---- the file ---- */

static enum rc
set_read(const char *path, struct buf *text, struct buf *why)
{
	char bytes[8192];
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	while (fd != -1 && (n = read(fd, bytes, sizeof(bytes))) > 0)
		buf_put(text, bytes, (size_t)n);
	if (n == -1)
		buf_printf(why, "ENGINES: %s: %s\n", path, strerror(errno));
	else if (text->over)
		buf_printf(why, "ENGINES: %s: over %d bytes\n", path, FILE_MAX);
	if (fd != -1)
		close(fd);
	return n == -1 || text->over ? RC_INVALID : RC_OK;
}

/* The program's path; absent: there is none. */
static struct str
set_program(struct str name, struct arena *a)
{
	static const char *const folders[] = { "/usr/local/bin", "/usr/bin",
		"/bin" };
	size_t i;

	if (memchr(name.p, '/', name.n) != NULL)
		return arena_str(a, name);
	for (i = 0; i < NELEM(folders); i++) {
		struct str path =
		    arena_printf(a, "%s/%.*s", folders[i], STR_ARG(name));

		if (path.p != NULL && access(path.p, X_OK) == 0)
			return path;
	}
	return (struct str){ NULL, 0 };
}

/* The folder of a file, or what a package manager has installed beside it. */
static void
set_add_folder(struct engine_entry *e, const char *path, struct arena *a)
{
	static const char modules[] = "/node_modules/";
	char real[PATH_TEXT];
	const char *end;
	struct str folder;
	size_t i;

	if (path[0] != '/' || realpath(path, real) == NULL)
		return;
	end = strstr(real, modules);
	if (end != NULL)
		end += sizeof(modules) - 2;
	else
		end = strrchr(real, '/');
	if (end == NULL || end == real)
		return;
	folder = arena_str(a, (struct str){ real, (size_t)(end - real) });
	for (i = 0; i < ENGINE_SET_FOLDERS_MAX && e->folders[i] != NULL; i++)
		if (str_eq(str_of(e->folders[i]), folder))
			return;
	if (i < ENGINE_SET_FOLDERS_MAX)
		e->folders[i] = folder.p;
}

static enum rc
set_add_command(struct engine_entry *e,
    const struct wire_engine_config_engines *c, struct arena *a,
    struct buf *why)
{
	size_t i;

	for (i = 0; i < c->n_command; i++) {
		e->command[i] = i == 0 ? set_program(c->command[i], a).p
				       : arena_str(a, c->command[i]).p;
		if (e->command[i] == NULL) {
			buf_printf(why,
			    "ENGINES: %.*s: there is no program %.*s\n",
			    STR_ARG(e->engine->name), STR_ARG(c->command[i]));
			return RC_INVALID;
		}
		set_add_folder(e, e->command[i], a);
	}
	e->n_command = c->n_command;
	if (e->n_command > 0 && e->command[0][0] == '/')
		return RC_OK;
	buf_printf(why,
	    "ENGINES: %.*s: command: must begin with a path or a "
	    "name of a program\n",
	    STR_ARG(e->engine->name));
	return RC_INVALID;
}

static enum rc
set_add(struct engine_set *s, const struct wire_engine_config_engines *c,
    struct buf *why)
{
	struct str name = wire_engine_config_engines_engine_names[c->engine];
	struct engine_entry *e;

	if (engine_set_find(s, name) != NULL) {
		buf_printf(
		    why, "ENGINES: %.*s: is listed twice\n", STR_ARG(name));
		return RC_INVALID;
	}
	e = &s->list[s->n];
	*e = (struct engine_entry){ .engine = engine_find(name),
		.version_min = c->version_min,
		.version_below = c->version_below,
		.models = c->models,
		.n_models = c->n_models,
		.tenants = c->tenants,
		.n_tenants = c->n_tenants,
		.all_tenants = !c->has_tenants };
	if (e->engine == NULL)
		return RC_BUG;
	s->n++;
	return set_add_command(e, c, s->arena, why);
}

enum rc
engine_set_load(const char *path, struct engine_set **out, struct buf *why)
{
	struct engine_set *s = mem_zalloc(sizeof(*s));
	struct buf text = BUF_INIT(FILE_MAX);
	struct wire_engine_config config;
	char reason[WIRE_ERR_TEXT_MAX];
	struct wire_err err;
	struct str json;
	enum rc rc;
	size_t i;

	s->arena = arena_new(ARENA_MAX);
	rc = set_read(path, &text, why);
	/* What is decoded refers to it. */
	json = arena_str(s->arena, buf_str(&text));
	buf_free(&text);
	if (rc == RC_OK) {
		rc = wire_decode(
		    &wire_engine_config_desc, json, s->arena, &config, &err);
		if (rc != RC_OK) {
			wire_err_text(&err, reason, sizeof(reason));
			buf_printf(why, "ENGINES: %s: %s\n", path, reason);
		}
	}
	for (i = 0; rc == RC_OK && i < config.n_engines; i++)
		rc = set_add(s, &config.engines[i], why);
	if (rc != RC_OK) {
		engine_set_free(s);
		s = NULL;
	}
	*out = s;
	return rc;
}

void
engine_set_free(struct engine_set *s)
{
	if (s == NULL)
		return;
	arena_free(s->arena);
	free(s);
}

struct engine_entry *
engine_set_find(struct engine_set *s, struct str engine)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (str_eq(s->list[i].engine->name, engine))
			return &s->list[i];
	return NULL;
}
