/*
 * environment: the variables that servers' processes and MCP_CONFIG are given.
 */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stddef.h>

#include "mcp_config.h"

struct arena;
struct str;

/* environment_get(arg, name): As struct mcp_variables; arg is ignored. */
const char *environment_get(void *arg, const char *name);

/*
 * environment_of(s, user, a, out):
 * The environment of a process of s: HOME, PATH, LANG, TERM, USER and SHELL of
 * this one, then what s has, in which "${SOUL_USER}" is user; NULL-terminated,
 * in a.  RC_TOOBIG: a is full.
 *
 * environment_expand(text, user, a): A copy with the user; NULL: a is full.
 */
enum rc environment_of(const struct mcp_server *s, struct str user,
    struct arena *a, const char ***out) RC_CHECK;
const char *environment_expand(
    const char *text, struct str user, struct arena *a);

/*
 * environment_program(command, env, cwd, a):
 * The path of a program, as a shell finds it in the PATH of env; NULL: there is
 * none.
 */
const char *environment_program(
    const char *command, const char *const *env, struct arena *a);

#endif /* !ENVIRONMENT_H */
