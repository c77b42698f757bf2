/*
 * procsup_spec: see procsup_spec.h.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "procsup/procsup_spec.h"

static bool
spec_mark_valid(const char *mark)
{
	static const char allowed[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	    "0123456789._-";

	return mark != NULL && mark[0] != '\0' &&
	    strlen(mark) <= PROCSUP_MARK_MAX &&
	    mark[strspn(mark, allowed)] == '\0';
}

static bool
spec_path_valid(const char *path)
{
	return path != NULL && path[0] == '/' && strlen(path) < 4096;
}

enum rc
procsup_spec_check(const struct procsup_spec *s)
{
	size_t argc = 0, envc = 0, bytes = 0;

	if ((s->dir != NULL && !spec_path_valid(s->dir)) ||
	    !spec_mark_valid(s->mark) || s->stdin_grace_ms < 0 ||
	    s->argv == NULL || s->argv[0] == NULL || s->env == NULL ||
	    !spec_path_valid(s->argv[0]) || !spec_path_valid(s->cwd) ||
	    (s->stdin_path != NULL && !spec_path_valid(s->stdin_path)) ||
	    s->sandbox.mode == SANDBOX_AUTO)
		return RC_INVALID;
	for (; argc <= PROCSUP_STRINGS_MAX && s->argv[argc] != NULL; argc++)
		bytes += strlen(s->argv[argc]) + 1;
	for (; envc <= PROCSUP_STRINGS_MAX && s->env[envc] != NULL; envc++)
		bytes += strlen(s->env[envc]) + 1;
	/* A NULL ends them. */
	if (s->sandbox.read[SANDBOX_PATHS_MAX - 1] != NULL ||
	    s->sandbox.write[SANDBOX_PATHS_MAX - 1] != NULL)
		return RC_TOOBIG;
	return argc > PROCSUP_STRINGS_MAX || envc > PROCSUP_STRINGS_MAX ||
		bytes > PROCSUP_SPEC_MAX
	    ? RC_TOOBIG
	    : RC_OK;
}
