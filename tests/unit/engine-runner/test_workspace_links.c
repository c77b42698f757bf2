/* What an engine has made of its folders leads nowhere else. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testkit/testkit.h"
#include "workspace.h"

static bool
exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static void
folder(const char *path)
{
	ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void
file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	(void)fputs(text, f);
	(void)fclose(f);
}

TEST(a_file_is_written_with_its_folders)
{
	struct buf b = BUF_INIT(64);

	folder(tk_path("home"));
	ck_assert_int_eq(
	    workspace_write(tk_path("home"), "a/b/c", STR("one")), RC_OK);
	ck_assert_int_eq(
	    workspace_write(tk_path("home"), "a/b/c", STR("two")), RC_OK);
	ck_assert_int_eq(workspace_read(tk_path("home/a/b"), "c", &b), RC_OK);
	ck_assert(str_eq(buf_str(&b), STR("two")));
	ck_assert(!exists(tk_path("home/a/b/c.part")));
	buf_free(&b);
}

TEST(nothing_is_written_through_links)
{
	folder(tk_path("home"));
	folder(tk_path("other"));
	ck_assert_int_eq(symlink(tk_path("other"), tk_path("home/.codex")), 0);
	ck_assert_int_eq(
	    workspace_write(tk_path("home"), ".codex/config", STR("x")),
	    RC_DOWN);
	ck_assert(!exists(tk_path("other/config")));
	/* A link to a file is replaced, and so is what waits for its name. */
	file(tk_path("other/file"), "theirs");
	ck_assert_int_eq(
	    symlink(tk_path("other/file"), tk_path("home/link")), 0);
	ck_assert_int_eq(
	    symlink(tk_path("other/file"), tk_path("home/link.part")), 0);
	ck_assert_int_eq(
	    workspace_write(tk_path("home"), "link", STR("ours")), RC_OK);
	ck_assert_int_eq(mkfifo(tk_path("home/pipe.part"), 0600), 0);
	ck_assert_int_eq(
	    workspace_write(tk_path("home"), "pipe", STR("ours")), RC_OK);
	struct buf b = BUF_INIT(64);
	ck_assert_int_eq(workspace_read(tk_path("other"), "file", &b), RC_OK);
	ck_assert(str_eq(buf_str(&b), STR("theirs")));
	buf_free(&b);
}

TEST(a_skill_is_not_copied_through_links)
{
	folder(tk_path("skills"));
	folder(tk_path("skills/one"));
	file(tk_path("skills/one/SKILL.md"), "text");
	folder(tk_path("other"));
	folder(tk_path("work"));
	ck_assert_int_eq(workspace_copy_skill(
			     tk_path("skills"), STR("one"), tk_path("work")),
	    RC_OK);
	ck_assert(exists(tk_path("work/skills/one/SKILL.md")));
	/* As it continues a run: what is there is replaced. */
	ck_assert_int_eq(unlink(tk_path("work/skills/one/SKILL.md")), 0);
	ck_assert_int_eq(mkfifo(tk_path("work/skills/one/SKILL.md"), 0600), 0);
	ck_assert_int_eq(workspace_copy_skill(
			     tk_path("skills"), STR("one"), tk_path("work")),
	    RC_OK);
	folder(tk_path("second"));
	ck_assert_int_eq(
	    symlink(tk_path("other"), tk_path("second/skills")), 0);
	ck_assert_int_eq(workspace_copy_skill(
			     tk_path("skills"), STR("one"), tk_path("second")),
	    RC_DOWN);
	ck_assert(!exists(tk_path("other/one")));
}

TEST(what_is_removed_ends_at_links)
{
	struct stat st;

	folder(tk_path("run"));
	folder(tk_path("run/closed"));
	folder(tk_path("other"));
	file(tk_path("other/file"), "theirs");
	ck_assert_int_eq(chmod(tk_path("other/file"), 0400), 0);
	ck_assert_int_eq(
	    symlink(tk_path("other"), tk_path("run/closed/folder")), 0);
	ck_assert_int_eq(
	    symlink(tk_path("other/file"), tk_path("run/closed/file")), 0);
	ck_assert_int_eq(chmod(tk_path("run/closed"), 0500), 0);
	ck_assert_int_eq(workspace_remove(tk_path("run")), RC_OK);
	ck_assert(!exists(tk_path("run")));
	ck_assert_int_eq(stat(tk_path("other/file"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0400);
}
