/*
 * engine: what differs between the engines beside what they print: commands,
 * environment, files of HOME, how they are probed.
 *
 * One table.  Nothing of a caller is an option: a prompt is stdin, or the
 * argument of an option or behind "--".  Pure.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "engines/fact.h"

#define ENGINE_ARGS_MAX 32
#define ENGINE_ENV_MAX  32
/* Longest prompt that is an argument. */
#define ENGINE_ARG_PROMPT_MAX 65536

/* How an engine gets its prompt. */
enum engine_prompt {
	ENGINE_PROMPT_STDIN,
	ENGINE_PROMPT_ARG /* up to ENGINE_ARG_PROMPT_MAX bytes, else a file
			   * that the argument names */
};

/* A file below HOME that is written before the engine is started. */
struct engine_file {
	const char *path;
	const char *content; /* as an argument */
};

/*
 * Arguments, variables and files are texts in which %PROMPT%, %HANDLE%,
 * %MODEL%, %URL%, %HOME%, %WORK% and %KEY% (which is no secret: the proxy adds
 * the real one) are replaced.  An argument that begins with "?m" is left out
 * without a model, with "?s" unless the engine needs its own sandbox, with "?n"
 * if it does.
 */
struct engine {
	struct str name;
	const struct adapter *adapter;
	enum engine_prompt prompt;
	bool fixture_only;        /* its service is closed: tests run it */
	const char *const *start; /* arguments, behind the command; NULL ends */
	const char *const *resume; /* the same, of a session */
	const char *const *env;    /* NAME=value; NULL ends */
	const struct engine_file *files;
	size_t n_files;
	const char *probe;  /* the argument that prints its version */
	bool session_usage; /* it counts a session's former turns again */
};

/* engine_find(name): The engine, or NULL. */
const struct engine *engine_find(struct str name);
/* engine_at(i): The i-th of all, or NULL. */
const struct engine *engine_at(size_t i);

/* What a command is made from. */
struct engine_start {
	const char *command;     /* the program */
	struct str prompt;       /* or, over the limit, a sentence naming its
				  * file */
	struct str handle;       /* absent: a new session */
	struct str model;        /* absent: the engine's default */
	struct str url;          /* of the model proxy, for this run */
	struct str key;          /* what the engine has as its key */
	const char *home, *work; /* folders */
	/* Another one, for temporary files: codex does not use a HOME below it.
	 * NULL: home. */
	const char *tmp;
	bool own_sandbox; /* the runner has none: ENGINE_ISOLATION=none */
};

struct engine_command {
	const char *argv[ENGINE_ARGS_MAX + 1]; /* ends with NULL */
	const char *env[ENGINE_ENV_MAX + 1];   /* ends with NULL */
};

/*
 * engine_command(e, s, a, out):
 * The command and all of its environment, from a.  RC_INVALID: the handle is
 * none of a session, or the prompt has a NUL; RC_TOOBIG: over a limit.
 */
enum rc engine_command(const struct engine *e, const struct engine_start *s,
    struct arena *a, struct engine_command *out) RC_CHECK;

/*
 * engine_file_text(f, s, a): The content of a file of HOME, from a; absent:
 * a is full.
 */
struct str engine_file_text(
    const struct engine_file *f, const struct engine_start *s, struct arena *a);

#endif /* !ENGINE_H */
