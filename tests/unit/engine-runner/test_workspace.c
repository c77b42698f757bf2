/* Folders of runs, and what changed in them. */
#include "workspace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "procsup/spool_format.h"
#include "testkit/testkit.h"
#include "workspace_diff.h"

static struct workspace_paths p;

static void
workspace_begin(void)
{
	workspace_paths(&p, tk_path("runs"), STR("run"), STR("first"), 2);
	ck_assert_int_eq(workspace_make(&p), RC_OK);
}

static void
workspace_file(const char *name, const char *text)
{
	ck_assert_int_eq(workspace_write(p.work, name, str_of(text)), RC_OK);
}

static void
workspace_changes(const char *changes)
{
	struct buf text = BUF_INIT(SPOOL_TEXT_MAX), got = BUF_INIT(4096);
	struct arena *a = arena_new(SPOOL_TEXT_MAX);
	struct spool_file f;
	struct str rest;

	ck_assert_int_eq(workspace_diff(p.work, p.spool), RC_OK);
	ck_assert_int_eq(workspace_read(p.spool, SPOOL_FILES, &text), RC_OK);
	rest = buf_str(&text);
	while (spool_file_next(&rest, a, &f) == RC_OK)
		buf_printf(
		    &got, "%.*s %.*s\n", STR_ARG(f.change), STR_ARG(f.path));
	ck_assert_str_eq(got.n > 0 ? got.p : "", changes);
	buf_free(&got);
	buf_free(&text);
	arena_free(a);
}

TEST(paths_of_a_run_are_those_of_its_workspace)
{
	char path[600];

	workspace_begin();
	snprintf(path, sizeof(path), "%s/run/2", tk_path("runs"));
	ck_assert_str_eq(p.spool, path);
	snprintf(
	    path, sizeof(path), "%s/first/workspace/work", tk_path("runs"));
	ck_assert_str_eq(p.work, path);
	ck_assert(workspace_has(p.tmp));
}

TEST(changes_of_files_are_found)
{
	char path[600];

	workspace_begin();
	workspace_file("same", "1");
	workspace_file("other", "1");
	workspace_file("old", "1");
	workspace_file("deep/er/same", "1");
	ck_assert_int_eq(workspace_snapshot(p.work, p.spool), RC_OK);
	workspace_file("other", "22");
	workspace_file("deep/new", "1");
	workspace_file(".git/index", "1");
	snprintf(path, sizeof(path), "%s/old", p.work);
	ck_assert_int_eq(unlink(path), 0);
	workspace_changes("created deep/new\nmodified other\ndeleted old\n");
	/* It stays as it was published. */
	workspace_file("later", "1");
	workspace_changes("created deep/new\nmodified other\ndeleted old\n");
}

TEST(only_files_below_the_workspace_are_opened)
{
	char link_path[600];
	int fd;

	workspace_begin();
	workspace_file("a/file", "text");
	snprintf(link_path, sizeof(link_path), "%s/link", p.work);
	ck_assert_int_eq(symlink("/etc/passwd", link_path), 0);
	fd = workspace_open(p.work, "a/file");
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(workspace_open(p.work, "../../run/2"), -1);
	ck_assert_int_eq(errno, EXDEV);
	ck_assert_int_eq(workspace_open(p.work, "/etc/passwd"), -1);
	ck_assert_int_eq(errno, EXDEV);
	ck_assert_int_eq(workspace_open(p.work, "link"), -1);
	ck_assert_int_eq(errno, ELOOP);
	ck_assert_int_eq(workspace_open(p.work, "a"), -1);
	ck_assert_int_eq(errno, ENOENT);
}

TEST(a_skill_is_copied_without_links)
{
	char path[700];

	workspace_begin();
	ck_assert_int_eq(mkdir(tk_path("skills"), 0700), 0);
	ck_assert_int_eq(
	    workspace_write(tk_path("skills"), "greet/SKILL.md", STR("do")),
	    RC_OK);
	ck_assert_int_eq(
	    workspace_write(tk_path("skills"), "greet/sub/tool", STR("x")),
	    RC_OK);
	snprintf(path, sizeof(path), "%s/greet/link", tk_path("skills"));
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	ck_assert_int_eq(
	    workspace_copy_skill(tk_path("skills"), STR("greet"), p.work),
	    RC_OK);
	snprintf(path, sizeof(path), "%s/skills/greet/sub/tool", p.work);
	ck_assert(workspace_has(path));
	snprintf(path, sizeof(path), "%s/skills/greet/link", p.work);
	ck_assert(!workspace_has(path));
	ck_assert_int_eq(
	    workspace_copy_skill(tk_path("skills"), STR("none"), p.work),
	    RC_NOENT);
	ck_assert_int_eq(
	    workspace_copy_skill("", STR("greet"), p.work), RC_NOENT);
}

TEST(a_folder_is_removed_with_all_that_is_in_it)
{
	char path[600];

	workspace_begin();
	workspace_file("a/b/c/file", "text");
	snprintf(path, sizeof(path), "%s/a/b", p.work);
	ck_assert_int_eq(chmod(path, 0500), 0);
	snprintf(path, sizeof(path), "%s/link", p.home);
	ck_assert_int_eq(symlink(tk_dir(), path), 0);
	ck_assert_int_eq(workspace_remove(tk_path("runs")), RC_OK);
	ck_assert(!workspace_has(tk_path("runs")));
	ck_assert(workspace_has(tk_dir()));
	ck_assert_int_eq(workspace_remove(tk_path("runs")), RC_OK);
}
