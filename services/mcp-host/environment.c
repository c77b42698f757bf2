#include "environment.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"

#define VALUE_MAX (128UL * 1024)

extern char **environ;

static const char *const environment_inherited[] = { "HOME", "PATH", "LANG",
	"TERM", "USER", "SHELL" };
static const char environment_user[] = "${SOUL_USER}";

/* The value in "name=value" strings. */
static const char *
environment_find(const char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; *env != NULL; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

const char *
environment_get(void *arg, const char *name)
{
	(void)arg;
	/* Of a server's user, at its start. */
	if (strcmp(name, "SOUL_USER") == 0)
		return environment_user;
	return environment_find((const char *const *)environ, name);
}

const char *
environment_expand(const char *text, struct str user, struct arena *a)
{
	const struct str needle = str_of(environment_user);
	struct str rest = str_of(text);
	struct buf out = BUF_INIT(VALUE_MAX);
	const char *p;
	ptrdiff_t at;

	while ((at = str_find(rest, needle)) >= 0) {
		buf_put(&out, rest.p, (size_t)at);
		buf_put_str(&out, user);
		rest.p += (size_t)at + needle.n;
		rest.n -= (size_t)at + needle.n;
	}
	buf_put_str(&out, rest);
	p = out.over ? NULL : arena_str(a, buf_str(&out)).p;
	buf_free(&out);
	return p;
}

static bool
environment_has(const struct mcp_server *s, const char *name)
{
	for (size_t i = 0; i < s->n_env; i++)
		if (strcmp(s->env[i].name, name) == 0)
			return true;
	return false;
}

enum rc
environment_of(const struct mcp_server *s, struct str user, struct arena *a,
    const char ***out)
{
	const size_t inherited = NELEM(environment_inherited);
	const char **env =
	    arena_alloc(a, (inherited + s->n_env + 1) * sizeof(*env));
	const char *value;
	size_t n = 0, i;

	if (env == NULL)
		return RC_TOOBIG;
	for (i = 0; i < inherited; i++) {
		value = environment_get(NULL, environment_inherited[i]);
		if (value == NULL ||
		    environment_has(s, environment_inherited[i]))
			continue;
		env[n] =
		    arena_printf(a, "%s=%s", environment_inherited[i], value).p;
		if (env[n++] == NULL)
			return RC_TOOBIG;
	}
	for (i = 0; i < s->n_env; i++) {
		value = environment_expand(s->env[i].value, user, a);
		if (value == NULL)
			return RC_TOOBIG;
		env[n] = arena_printf(a, "%s=%s", s->env[i].name, value).p;
		if (env[n++] == NULL)
			return RC_TOOBIG;
	}
	*out = env;
	return RC_OK;
}

static bool
environment_is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    access(path, X_OK) == 0;
}

const char *
environment_program(
    const char *command, const char *const *env, struct arena *a)
{
	const char *value = environment_find(env, "PATH");
	struct str rest =
	    value != NULL ? str_of(value) : STR("/usr/local/bin:/usr/bin:/bin");
	struct str folder, path;

	if (strchr(command, '/') != NULL)
		return command[0] == '/' ? command : NULL;
	while (rest.p != NULL) {
		folder = str_split(&rest, ':');
		if (folder.n == 0 || folder.p[0] != '/')
			continue;
		path = arena_printf(a, "%.*s/%s", STR_ARG(folder), command);
		if (path.p != NULL && environment_is_program(path.p))
			return path.p;
	}
	return NULL;
}
