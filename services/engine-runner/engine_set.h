/*
 * engine_set: the engines of the file ENGINES, and which of them work here.
 */
#ifndef ENGINE_RUNNER_ENGINE_SET_H
#define ENGINE_RUNNER_ENGINE_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"
#include "engine.h"

/* As of the schema. */
#define ENGINE_SET_MAX         16
#define ENGINE_SET_COMMAND_MAX 16
#define ENGINE_SET_FOLDERS_MAX 6
#define ENGINE_VERSION_MAX     64

struct engine_entry {
	const struct engine *engine;
	const char *command[ENGINE_SET_COMMAND_MAX + 1]; /* [0] is a path */
	size_t n_command;
	const char *folders[ENGINE_SET_FOLDERS_MAX + 1]; /* of its files */
	struct str version_min, version_below;           /* absent: any */
	const struct str *models;
	size_t n_models;
	const struct str *tenants;
	size_t n_tenants;
	bool all_tenants;
	/* Set by its probe. */
	char version[ENGINE_VERSION_MAX + 1];
	bool works;
};

struct engine_set {
	struct arena *arena;
	struct engine_entry list[ENGINE_SET_MAX];
	size_t n;
};

/*
 * engine_set_load(path, out, why): Of the file at path.  RC_INVALID: *why is a
 * line that says what is wrong.  Blocks.
 * engine_set_free(s): NULL is allowed.
 */
enum rc engine_set_load(
    const char *path, struct engine_set **out, struct buf *why) RC_CHECK;
void engine_set_free(struct engine_set *s);

/* engine_set_find(s, engine): NULL: it is not in the file. */
struct engine_entry *engine_set_find(struct engine_set *s, struct str engine);

/*
 * engine_version_of(output, dst): The first word of a program's output that
 * begins with a digit, behind a "v" or not; empty: there is none.
 * engine_version_suits(e, version): Whether it is within the bounds of e.
 */
void engine_version_of(struct str output, char dst[ENGINE_VERSION_MAX + 1]);
bool engine_version_suits(const struct engine_entry *e, struct str version);

#endif /* !ENGINE_RUNNER_ENGINE_SET_H */
