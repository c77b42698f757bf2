/*
 * What a shim costs beside bare posix_spawn and a pipe: the time until an
 * engine's first line is read, how long a line takes, how fast much output is.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/procsup_fixture.h"
#include "testkit/testkit.h"

#define STARTS 100
#define LINES  2000
#define BYTES  (48L * 1024 * 1024)

static struct procsup_fixture fixture;
static const char *player;
static double bare_us[STARTS], shim_us[STARTS], boxed_us[STARTS];
static double line_us[LINES];

/* ---- bare ---- */

/* The read end of a pipe whose other one is the stdout of a player. */
static int
bare_start(const char *step, pid_t *pid)
{
	char *argv[] = { (char *)(uintptr_t)player, (char *)(uintptr_t)step,
		NULL };
	char *none[] = { NULL };
	posix_spawn_file_actions_t files;
	int p[2];

	ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
	ck_assert_int_eq(posix_spawn_file_actions_init(&files), 0);
	ck_assert_int_eq(posix_spawn_file_actions_adddup2(&files, p[1], 1), 0);
	ck_assert_int_eq(
	    posix_spawn(pid, argv[0], &files, NULL, argv, none), 0);
	(void)posix_spawn_file_actions_destroy(&files);
	close(p[1]);
	return p[0];
}

static double
bare_first_line(void)
{
	double began = tk_now_ns(), took;
	char bytes[64];
	pid_t pid;
	int fd = bare_start("out=x", &pid);

	ck_assert_int_gt(read(fd, bytes, sizeof(bytes)), 0);
	took = tk_now_ns() - began;
	close(fd);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return took / 1000;
}

static double
bare_seconds(const char *step)
{
	static char bytes[65536];
	double began = tk_now_ns();
	long total = 0;
	pid_t pid;
	int fd = bare_start(step, &pid);
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		total += n;
	ck_assert_int_eq(total, BYTES + 1);
	close(fd);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return (tk_now_ns() - began) / 1e9;
}

/* ---- with a shim ---- */

static double first_ns;

static void
first_on_chunk(void *arg, const struct spool_chunk *c)
{
	(void)arg;
	(void)c;
	first_ns = tk_now_ns();
}

static void
first_on_end(void *arg, const struct spool_exit *e)
{
	(void)e;
	*(bool *)arg = true;
	loop_stop(fixture.loop);
}

static double
shim_first_line(size_t i, bool boxed)
{
	bool ended = false;
	const struct procsup_handler h = { first_on_chunk, first_on_end,
		&ended };
	struct attempt a;
	char name[32];
	double began;

	snprintf(name, sizeof(name), "%s%zu", boxed ? "boxed" : "run", i);
	attempt_prepare(&a, &fixture, name);
	attempt_steps(&a, STEPS("out=x"));
	if (boxed)
		(void)attempt_isolate(&a, SANDBOX_LANDLOCK);
	began = tk_now_ns();
	ck_assert_int_eq(
	    procsup_start(fixture.procsup, &a.spec, &h, &a.shim), RC_OK);
	loop_run(fixture.loop);
	ck_assert(ended);
	attempt_release(&a);
	return (first_ns - began) / 1000;
}

static size_t n_lines;

/* Of the last line of a chunk, which has waited for the shortest time. */
static void
stamp_on_chunk(void *arg, const struct spool_chunk *c)
{
	const double now = tk_now_ns();
	struct str rest = c->data, line = { NULL, 0 }, one;
	int64_t at;

	(void)arg;
	while (rest.n > 0) {
		one = str_split(&rest, '\n');
		if (one.n > 0)
			line = one;
	}
	if (str_to_i64(line, 1, INT64_MAX, &at) == RC_OK && n_lines < LINES)
		line_us[n_lines++] = (now - (double)at) / 1000;
}

static void
measure_lines(void)
{
	bool ended = false;
	const struct procsup_handler h = { stamp_on_chunk, first_on_end,
		&ended };
	struct attempt a;
	char step[32];

	attempt_prepare(&a, &fixture, "lines");
	snprintf(step, sizeof(step), "stamps=%d", LINES);
	attempt_steps(&a, STEPS("pace=1", step));
	ck_assert_int_eq(
	    procsup_start(fixture.procsup, &a.spec, &h, &a.shim), RC_OK);
	loop_run(fixture.loop);
	attempt_release(&a);
}

static uint64_t n_bytes;

static void
bytes_on_chunk(void *arg, const struct spool_chunk *c)
{
	(void)arg;
	n_bytes += c->data.n;
}

static double
shim_seconds(const char *step)
{
	bool ended = false;
	const struct procsup_handler h = { bytes_on_chunk, first_on_end,
		&ended };
	double began = tk_now_ns();
	struct attempt a;

	attempt_prepare(&a, &fixture, "bytes");
	attempt_steps(&a, STEPS(step));
	ck_assert_int_eq(
	    procsup_start(fixture.procsup, &a.spec, &h, &a.shim), RC_OK);
	loop_run(fixture.loop);
	ck_assert_uint_eq(n_bytes, BYTES + 1);
	attempt_release(&a);
	return (tk_now_ns() - began) / 1e9;
}

static void
print_row(const char *name, double *us, size_t n)
{
	tk_sort(us, n);
	printf("%-36s %9.0f %9.0f\n", name, us[n / 2], us[n * 99 / 100]);
}

TEST_T(starts_lines_and_bytes, 120)
{
	char file[300];
	double bare, shim;
	char *text = mem_alloc(BYTES + 2);

	memset(text, 'x', BYTES);
	memcpy(text + BYTES, "\n", 2);
	tk_write_file(tk_path("text"), text);
	free(text);
	player = tk_bin("engine-play");
	procsup_begin(&fixture, 1000);
	for (size_t i = 0; i < STARTS; i++) {
		bare_us[i] = bare_first_line();
		shim_us[i] = shim_first_line(i, false);
		boxed_us[i] = shim_first_line(i, true);
	}
	measure_lines();
	snprintf(file, sizeof(file), "file=%s", tk_path("text"));
	bare = bare_seconds(file);
	shim = shim_seconds(file);
	tk_print_load();
	printf("%-36s %9s %9s\n", "", "p50 us", "p99 us");
	print_row("first line, bare posix_spawn", bare_us, STARTS);
	print_row("first line, shim", shim_us, STARTS);
	print_row("first line, shim and sandbox", boxed_us, STARTS);
	print_row("a line: pipe, file, inotify, loop", line_us, n_lines);
	printf("%ld MiB: bare %.0f MiB/s, shim %.0f MiB/s\n", BYTES >> 20,
	    (double)(BYTES >> 20) / bare, (double)(BYTES >> 20) / shim);
	(void)fflush(stdout);
	procsup_end(&fixture);
}
