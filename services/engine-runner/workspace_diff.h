/*
 * workspace_diff: what an attempt changed in its workspace.
 *
 * The spool's file "before" has the workspace's files as they were at its
 * start: a line of size, time of the change, and path for each.  Both functions
 * block on the disk; symbolic links and folders named .git are left out.
 */
#ifndef ENGINE_RUNNER_WORKSPACE_DIFF_H
#define ENGINE_RUNNER_WORKSPACE_DIFF_H

#include "core/rc.h"

#define WORKSPACE_BEFORE "before"
/* Files that are compared, and changes that are reported. */
#define WORKSPACE_FILES_MAX   100000
#define WORKSPACE_CHANGES_MAX 2000

/*
 * workspace_snapshot(work, spool): Write "before".
 * workspace_diff(work, spool): Write SPOOL_FILES, unless it exists.
 * RC_DOWN, logged.
 */
enum rc workspace_snapshot(const char *work, const char *spool) RC_CHECK;
enum rc workspace_diff(const char *work, const char *spool) RC_CHECK;

#endif /* !ENGINE_RUNNER_WORKSPACE_DIFF_H */
