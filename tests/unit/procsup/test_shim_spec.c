/*
 * What a shim is started with, as bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "procsup/shim_spec.h"
#include "testkit/testkit.h"

static const char *const spec_argv[] = { "/bin/engine", "a=b\nc", "", "--",
	NULL };
static const char *const spec_env[] = { "HOME=/h", "EMPTY=", NULL };

static struct procsup_spec
spec_whole(void)
{
	return (struct procsup_spec){ .dir = "/runs/r/1",
		.mark = "r-1.7",
		.argv = spec_argv,
		.env = spec_env,
		.cwd = "/runs/r/work",
		.stdin_path = "/runs/r/1/stdin",
		.sandbox = { .mode = SANDBOX_LANDLOCK,
		    .read = { "/opt/engine", "/opt/other" },
		    .write = { "/runs/r/work" },
		    .tcp_port = 9081,
		    .file_bytes = 1,
		    .cpu_s = 2,
		    .processes = 3,
		    .descriptors = 4 },
		.limits = { .run_ms = 5,
		    .idle_ms = 6,
		    .output_bytes = 7,
		    .workspace = "/runs/r/work",
		    .workspace_bytes = 8,
		    .workspace_files = 9 } };
}

static void
check_strings(const char *const *a, const char *const *b)
{
	for (; *a != NULL && *b != NULL; a++, b++)
		ck_assert_str_eq(*a, *b);
	ck_assert(*a == NULL && *b == NULL);
}

TEST(all_of_a_spec_is_read_as_it_was_written)
{
	const struct procsup_spec s = spec_whole();
	struct buf bytes = BUF_INIT(1 << 20);
	struct shim_spec r;

	shim_spec_write(&s, 5000, &bytes);
	ck_assert_int_eq(shim_spec_read(&r, buf_str(&bytes)), RC_OK);
	ck_assert_int_eq(r.grace_ms, 5000);
	ck_assert_str_eq(r.spec.dir, s.dir);
	ck_assert_str_eq(r.spec.mark, s.mark);
	ck_assert_str_eq(r.spec.cwd, s.cwd);
	ck_assert_str_eq(r.spec.stdin_path, s.stdin_path);
	check_strings(r.spec.argv, s.argv);
	check_strings(r.spec.env, s.env);
	check_strings(r.spec.sandbox.read, s.sandbox.read);
	check_strings(r.spec.sandbox.write, s.sandbox.write);
	ck_assert_int_eq(r.spec.sandbox.mode, s.sandbox.mode);
	ck_assert_int_eq(r.spec.sandbox.tcp_port, 9081);
	ck_assert_int_eq(r.spec.sandbox.file_bytes, 1);
	ck_assert_int_eq(r.spec.sandbox.cpu_s, 2);
	ck_assert_int_eq(r.spec.sandbox.processes, 3);
	ck_assert_int_eq(r.spec.sandbox.descriptors, 4);
	ck_assert_int_eq(r.spec.limits.run_ms, 5);
	ck_assert_int_eq(r.spec.limits.idle_ms, 6);
	ck_assert_int_eq(r.spec.limits.output_bytes, 7);
	ck_assert_str_eq(r.spec.limits.workspace, "/runs/r/work");
	ck_assert_int_eq(r.spec.limits.workspace_bytes, 8);
	ck_assert_int_eq(r.spec.limits.workspace_files, 9);
	shim_spec_free(&r);
	buf_free(&bytes);
}

TEST(a_part_of_a_spec_is_none)
{
	const struct procsup_spec s = spec_whole();
	struct buf bytes = BUF_INIT(1 << 20);
	struct shim_spec r;
	size_t argv = 0, n;

	shim_spec_write(&s, 5000, &bytes);
	argv = (size_t)str_find(buf_str(&bytes), STR("argv="));
	/* With its first argument it has all that it must have. */
	for (n = 0; n < argv + sizeof("argv=/bin/engine") - 1; n++) {
		ck_assert_int_eq(
		    shim_spec_read(&r, (struct str){ bytes.p, n }), RC_INVALID);
		shim_spec_free(&r);
	}
	buf_free(&bytes);
}

TEST(rules_of_a_spec)
{
	struct procsup_spec s = spec_whole();
	static const char *const relative[] = { "engine", NULL };
	static const char *const none[] = { NULL };
	char mark[PROCSUP_MARK_MAX + 2];

	ck_assert_int_eq(procsup_spec_check(&s), RC_OK);
	s.argv = relative;
	ck_assert_int_eq(procsup_spec_check(&s), RC_INVALID);
	s.argv = none;
	ck_assert_int_eq(procsup_spec_check(&s), RC_INVALID);
	s = spec_whole();
	s.cwd = "work";
	ck_assert_int_eq(procsup_spec_check(&s), RC_INVALID);
	s = spec_whole();
	s.sandbox.mode = SANDBOX_AUTO;
	ck_assert_int_eq(procsup_spec_check(&s), RC_INVALID);
	s = spec_whole();
	s.mark = "";
	ck_assert_int_eq(procsup_spec_check(&s), RC_INVALID);
	memset(mark, 'm', sizeof(mark) - 1);
	mark[sizeof(mark) - 1] = '\0';
	s.mark = mark;
	ck_assert_int_eq(procsup_spec_check(&s), RC_INVALID);
	mark[sizeof(mark) - 2] = '\0';
	ck_assert_int_eq(procsup_spec_check(&s), RC_OK);
}

TEST(paths_over_the_limit_are_rejected)
{
	struct procsup_spec s = spec_whole();

	for (size_t i = 0; i < SANDBOX_PATHS_MAX - 1; i++)
		s.sandbox.write[i] = "/runs";
	ck_assert_int_eq(procsup_spec_check(&s), RC_OK);
	s.sandbox.write[SANDBOX_PATHS_MAX - 1] = "/runs";
	ck_assert_int_eq(procsup_spec_check(&s), RC_TOOBIG);
}

TEST(arguments_over_the_limit_are_rejected)
{
	struct procsup_spec s = spec_whole();
	const char *argv[3] = { "/bin/engine", NULL, NULL };
	char *text = mem_alloc(PROCSUP_SPEC_MAX + 1);

	memset(text, 'x', PROCSUP_SPEC_MAX);
	text[PROCSUP_SPEC_MAX] = '\0';
	argv[1] = text;
	s.argv = argv;
	ck_assert_int_eq(procsup_spec_check(&s), RC_TOOBIG);
	text[PROCSUP_SPEC_MAX - 100] = '\0';
	ck_assert_int_eq(procsup_spec_check(&s), RC_OK);
	free(text);
}
