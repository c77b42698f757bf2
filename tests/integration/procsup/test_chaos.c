/*
 * Runners and shims are killed while many engines print: each line is read one
 * time, each attempt has one end, nothing is left over.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testkit/loop.h"
#include "testkit/procsup_fixture.h"
#include "testkit/testkit.h"

#define MANY    30
#define LINES   400
#define RESTART 6 /* runners */

static struct procsup_fixture fixture;
static struct attempt runs[MANY];
static bool was_killed[MANY];
static char step[300];
static char *text;

static void
lines_write(void)
{
	struct buf b = BUF_INIT(1 << 20);

	for (int i = 0; i < LINES; i++)
		buf_printf(&b, "{\"line\":%d}\n", i);
	text = b.p;
	tk_write_file(tk_path("lines"), text);
	snprintf(step, sizeof(step), "lines=%s", tk_path("lines"));
}

/* A runner that starts all, and is killed. */
static int
runner_main(void *arg)
{
	procsup_begin(&fixture, 1000);
	for (size_t i = 0; i < MANY; i++) {
		runs[i].fixture = &fixture;
		attempt_start(&runs[i]);
	}
	loop_run(fixture.loop);
	return *(const int *)arg;
}

/* A runner that dies just before has started no shim: an end, too, but not of
 * these. */
static bool
all_have_begun(void *arg)
{
	char path[400];
	struct stat st;

	(void)arg;
	for (size_t i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "%s/shim", runs[i].spool);
		if (stat(path, &st) != 0 || st.st_size == 0)
			return false;
	}
	return true;
}

/* What the runner before has seen does not count: all is read anew. */
static void
runner_begin(void)
{
	procsup_begin(&fixture, 1000);
	for (size_t i = 0; i < MANY; i++) {
		struct attempt *a = &runs[i];

		a->fixture = &fixture;
		buf_reset(&a->out[SPOOL_OUT]);
		buf_reset(&a->out[SPOOL_ERR]);
		a->last_ns = 0;
		a->records = 0;
		a->ended = false;
		attempt_take_over(a);
	}
}

/* By this runner. */
static bool
lines_were_read(void *arg)
{
	size_t n = 0;

	for (size_t i = 0; i < MANY; i++)
		n += runs[i].records;
	return n >= *(const size_t *)arg;
}

static bool
all_have_ended(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < MANY; i++)
		if (!runs[i].ended)
			return false;
	return true;
}

static void
check_run(size_t i)
{
	const struct attempt *a = &runs[i];
	const size_t n = a->out[SPOOL_OUT].n;

	ck_assert(!a->damaged);
	ck_assert_uint_eq(attempt_processes(a), 0);
	ck_assert_uint_le(n, strlen(text));
	ck_assert_int_eq(strncmp(attempt_out(a), text, n), 0);
	if (!was_killed[i]) {
		ck_assert_uint_eq(n, strlen(text));
		ck_assert_int_eq(a->exit.code, 3);
		ck_assert_int_eq(a->exit.signal, 0);
	} else if (a->exit.signal == 0) {
		/* The shim was killed after its last step. */
		ck_assert_int_eq(a->exit.code, 3);
	} else {
		ck_assert_int_eq(a->exit.signal, SIGKILL);
	}
}

TEST_T(kills_lose_no_line_and_leave_nothing, 120)
{
	size_t lines = 0;
	struct tk_proc runner;
	int code = 0, killed = 0;
	char name[32];

	lines_write();
	for (size_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "run%zu", i);
		attempt_prepare(&runs[i], NULL, name);
		attempt_steps(&runs[i], STEPS("pace=2", step, "exit=3"));
	}
	tk_fork(&runner, "runner", runner_main, &code);
	ck_assert(tk_until(all_have_begun, NULL, ATTEMPT_WAIT));
	tk_signal(&runner, SIGKILL);
	ck_assert_int_eq(tk_wait(&runner, ATTEMPT_WAIT), 128 + SIGKILL);
	for (size_t k = 0; k < RESTART; k++) {
		runner_begin();
		lines += MANY * LINES / 12;
		ck_assert(tk_loop_until(
		    fixture.loop, lines_were_read, &lines, ATTEMPT_WAIT));
		for (size_t i = 2 * k; i < 2 * k + 2; i++) {
			if (runs[i].ended)
				continue;
			/* Unless it has ended, which was not read yet. */
			was_killed[i] =
			    kill(attempt_shim_pid(&runs[i]), SIGKILL) == 0;
			killed += was_killed[i];
		}
		procsup_end(&fixture);
	}
	runner_begin();
	ck_assert(tk_loop_until(
	    fixture.loop, all_have_ended, NULL, 3 * ATTEMPT_WAIT));
	ck_assert_int_gt(killed, 0);
	ck_assert_uint_eq(procsup_count(fixture.procsup), 0);
	for (size_t i = 0; i < MANY; i++) {
		check_run(i);
		attempt_release(&runs[i]);
	}
	free(text);
	procsup_end(&fixture);
}
