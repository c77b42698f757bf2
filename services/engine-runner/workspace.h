/*
 * workspace: the folders of a run.
 *
 *	RUNS_DIR/<run>/<attempt>/	spool
 *	RUNS_DIR/<workspace>/workspace/	work, home, tmp: the engine's
 *
 * where <workspace> is the first run of those that continue each other.
 * Everything blocks on the disk.
 */
#ifndef ENGINE_RUNNER_WORKSPACE_H
#define ENGINE_RUNNER_WORKSPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

/* Largest path. */
#define WORKSPACE_PATH_MAX 512

struct workspace_paths {
	char run[WORKSPACE_PATH_MAX];
	char spool[WORKSPACE_PATH_MAX];
	char base[WORKSPACE_PATH_MAX]; /* of the workspace */
	char work[WORKSPACE_PATH_MAX];
	char home[WORKSPACE_PATH_MAX];
	char tmp[WORKSPACE_PATH_MAX];
};

/* workspace_paths(p, runs_dir, run, workspace, attempt): Pure. */
void workspace_paths(struct workspace_paths *p, const char *runs_dir,
    struct str run, struct str workspace, int64_t attempt);

/*
 * workspace_make(p): The folders, 0700; those that exist stay.
 * workspace_make_spool(p): The spool's alone, before the attempt is claimed.
 * RC_DOWN, logged.
 */
enum rc workspace_make(const struct workspace_paths *p) RC_CHECK;
enum rc workspace_make_spool(const struct workspace_paths *p) RC_CHECK;

/* workspace_has(path): Whether it exists. */
bool workspace_has(const char *path);

/*
 * workspace_write(folder, name, text): A file, by rename, 0600; name may have
 * folders, which are made, and no links are followed.  RC_DOWN, logged.
 * workspace_read(folder, name, out): RC_NOENT; RC_TOOBIG over out; RC_DOWN.
 */
enum rc workspace_write(
    const char *folder, const char *name, struct str text) RC_CHECK;
enum rc workspace_read(
    const char *folder, const char *name, struct buf *out) RC_CHECK;

/*
 * workspace_copy_skill(skills_dir, skill, work): Copy a folder to
 * work/skills/<skill>: files and folders, no links, of which none is followed
 * in work either.  RC_NOENT: there is no such
 * skill; RC_TOOBIG: over WORKSPACE_SKILL_FILES or _BYTES; RC_DOWN, logged.
 */
#define WORKSPACE_SKILL_FILES 2000
#define WORKSPACE_SKILL_BYTES (64LL * 1024 * 1024)
enum rc workspace_copy_skill(
    const char *skills_dir, struct str skill, const char *work) RC_CHECK;

/* workspace_remove(path): The folder with all that is in it; RC_DOWN, logged.
 */
enum rc workspace_remove(const char *path) RC_CHECK;

/*
 * workspace_open(work, path): A regular file below the folder, without links;
 * -1 with errno.
 */
int workspace_open(const char *work, const char *path);

#endif /* !ENGINE_RUNNER_WORKSPACE_H */
