/*
 * Processes whose pipes are their supervisor's.
 */
#include "procsup/piped.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/loop.h"
#include "procsup/process_table.h"
#include "procsup/sweep.h"
#include "testkit/loop.h"
#include "testkit/procsup_fixture.h"
#include "testkit/testkit.h"

#define TEXT_MAX (4UL * 1024 * 1024)

extern char **environ;

static struct {
	struct loop *loop;
	struct piped *piped;
	char mark[64];
	struct buf out[SPOOL_STREAMS_N];
	bool ended;
	struct spool_exit exit;
	char why[200];
	size_t descriptors; /* before it */
} piped;

static void
piped_on_output(void *arg, enum spool_stream stream, struct str bytes)
{
	(void)arg;
	ck_assert(!piped.ended);
	buf_put_str(&piped.out[stream], bytes);
}

static void
piped_on_end(void *arg, const struct spool_exit *e, const char *why)
{
	(void)arg;
	ck_assert(!piped.ended);
	piped.ended = true;
	piped.piped = NULL;
	piped.exit = *e;
	str_copy(str_of(why), piped.why, sizeof(piped.why));
}

static void
piped_begin(const char *const *argv, int64_t stdin_ms, int64_t term_ms)
{
	static const struct piped_handler h = { piped_on_output, piped_on_end,
		NULL };
	const struct procsup_opts o = { .loop = piped.loop = loop_new(64),
		.env = (const char *const *)environ,
		.stop_grace_ms = term_ms };
	const struct procsup_spec s = { .mark = piped.mark,
		.argv = argv,
		.env = (const char *const *)environ,
		.cwd = tk_dir(),
		.stdin_grace_ms = stdin_ms,
		.sandbox = { .mode = SANDBOX_NONE, .tcp_port = -1 } };

	signal(SIGPIPE, SIG_IGN);
	piped.descriptors = procsup_descriptors();
	snprintf(piped.mark, sizeof(piped.mark), "piped-%d", (int)getpid());
	buf_init(&piped.out[SPOOL_OUT], TEXT_MAX);
	buf_init(&piped.out[SPOOL_ERR], TEXT_MAX);
	ck_assert_int_eq(piped_start(&o, &s, &h, &piped.piped), RC_OK);
}

static bool
piped_has_ended(void *arg)
{
	(void)arg;
	return piped.ended;
}

static bool
piped_has_text(void *arg)
{
	return piped.out[SPOOL_OUT].n > 0 &&
	    strstr(piped.out[SPOOL_OUT].p, arg) != NULL;
}

static void
piped_await_text(const char *text)
{
	char copy[64];

	snprintf(copy, sizeof(copy), "%s", text);
	ck_assert(
	    tk_loop_until(piped.loop, piped_has_text, copy, ATTEMPT_WAIT));
}

static void
piped_end(void)
{
	ck_assert(
	    tk_loop_until(piped.loop, piped_has_ended, NULL, ATTEMPT_WAIT));
	ck_assert_uint_eq(procsup_descriptors(), piped.descriptors);
	buf_free(&piped.out[SPOOL_OUT]);
	buf_free(&piped.out[SPOOL_ERR]);
	loop_free(piped.loop);
}

#define SH(script) ((const char *const[]){ "/bin/sh", "-c", (script), NULL })

TEST(what_is_written_is_read_and_what_it_writes_comes_back)
{
	piped_begin(SH("echo low >&2; exec cat"), 20000, 20000);
	ck_assert_int_eq(piped_write(piped.piped, STR("one\n")), RC_OK);
	ck_assert_int_eq(piped_write(piped.piped, STR("two\n")), RC_OK);
	piped_await_text("one\ntwo\n");
	piped_stop(piped.piped);
	ck_assert_int_eq(piped_write(piped.piped, STR("x")), RC_DOWN);
	ck_assert(
	    tk_loop_until(piped.loop, piped_has_ended, NULL, ATTEMPT_WAIT));
	ck_assert_str_eq(piped.out[SPOOL_ERR].p, "low\n");
	/* By the end of its stdin, long before a signal. */
	ck_assert_int_eq(piped.exit.code, 0);
	ck_assert_int_eq(piped.exit.signal, 0);
	ck_assert_int_eq(piped.exit.stop, SPOOL_STOP_RUNNER);
	piped_end();
}

TEST(more_than_a_pipe_has_room_for_is_queued_up_to_the_limit)
{
	static char big[PIPED_INPUT_MAX / 2];

	memset(big, 'x', sizeof(big));
	piped_begin(SH("echo up; read -r line; exec cat"), 20000, 20000);
	piped_await_text("up\n");
	ck_assert_int_eq(
	    piped_write(piped.piped, (struct str){ big, sizeof(big) }), RC_OK);
	ck_assert_int_eq(
	    piped_write(piped.piped, (struct str){ big, sizeof(big) }), RC_OK);
	ck_assert_int_eq(
	    piped_write(piped.piped, (struct str){ big, sizeof(big) }),
	    RC_RETRY);
	ck_assert_int_eq(piped_write(piped.piped, STR("\nend\n")), RC_OK);
	piped_await_text("end\n");
	piped_stop(piped.piped);
	piped_end();
}

TEST(who_ignores_the_end_of_stdin_gets_term)
{
	piped_begin(SH("echo up; exec sleep 1000"), 50, 20000);
	piped_await_text("up\n");
	piped_stop(piped.piped);
	piped_end();
	ck_assert_int_eq(piped.exit.signal, SIGTERM);
}

TEST(who_ignores_term_is_killed_with_what_it_started)
{
	piped_begin(SH("trap '' TERM; (trap '' TERM; sleep 1000) & "
		       "setsid sleep 1000 & echo up; "
		       "while :; do sleep 1000; done"),
	    50, 50);
	piped_await_text("up\n");
	piped_stop(piped.piped);
	piped_end();
	ck_assert_int_eq(piped.exit.signal, SIGKILL);
	ck_assert_int_gt(piped.exit.orphans, 0);
}

TEST(an_exit_by_itself_has_its_code_and_leaves_nothing)
{
	piped_begin(SH("setsid sleep 1000 & echo bye; exit 3"), 1000, 1000);
	piped_end();
	ck_assert_int_eq(piped.exit.code, 3);
	ck_assert_int_eq(piped.exit.stop, SPOOL_STOP_NONE);
	ck_assert_int_eq(piped.exit.orphans, 1);
}

TEST(a_program_that_is_missing_is_an_end_with_a_reason)
{
	piped_begin(
	    ((const char *const[]){ "/no/such/program", NULL }), 1000, 1000);
	piped_end();
	ck_assert(piped.exit.not_started);
	ck_assert_ptr_nonnull(strstr(piped.why, "No such file"));
}

static pid_t
piped_shim(void)
{
	char text[80];
	FILE *f = popen("ps -eo pid,args", "r");
	char line[400];
	pid_t pid = 0;

	ck_assert_ptr_nonnull(f);
	snprintf(text, sizeof(text), "shim %s", piped.mark);
	while (fgets(line, sizeof(line), f) != NULL)
		if (strstr(line, text) != NULL)
			pid = (pid_t)strtol(line, NULL, 10);
	pclose(f);
	return pid;
}

TEST(a_killed_shim_leaves_nothing)
{
	pid_t shim;

	piped_begin(SH("setsid sleep 1000 & echo up; exec cat"), 1000, 1000);
	piped_await_text("up\n");
	shim = piped_shim();
	ck_assert_int_gt(shim, 0);
	ck_assert_int_eq(kill(shim, SIGKILL), 0);
	piped_end();
	ck_assert_int_eq(piped.exit.signal, SIGKILL);
	ck_assert_int_ge(piped.exit.orphans, 1);
}

static int
piped_supervisor(void *arg)
{
	(void)arg;
	piped_begin(SH("trap '' TERM; setsid sleep 1000 & echo up $$; "
		       "while :; do sleep 1000; done"),
	    50, 50);
	piped_await_text("up");
	tk_write_file(tk_path("up"), piped.out[SPOOL_OUT].p);
	loop_run(piped.loop);
	return 0;
}

static bool
piped_is_up(void *arg)
{
	return access(arg, F_OK) == 0;
}

/* The shim is the last. */
static bool
piped_has_no_shim(void *arg)
{
	(void)arg;
	return piped_shim() == 0;
}

TEST(a_killed_supervisor_takes_it_with_it)
{
	struct tk_proc p;
	char *text;
	pid_t pid;

	tk_fork(&p, "supervisor", piped_supervisor, NULL);
	ck_assert(tk_until(
	    piped_is_up, (void *)(uintptr_t)tk_path("up"), ATTEMPT_WAIT));
	text = tk_read_file(tk_path("up"), NULL);
	pid = (pid_t)strtol(text + 3, NULL, 10);
	ck_assert_int_gt(pid, 1);
	snprintf(piped.mark, sizeof(piped.mark), "piped-%d", (int)p.pid);
	ck_assert_int_gt(piped_shim(), 0);
	ck_assert_int_eq(kill(pid, 0), 0);
	tk_signal(&p, SIGKILL);
	(void)tk_wait(&p, ATTEMPT_WAIT);
	ck_assert(tk_until(piped_has_no_shim, NULL, ATTEMPT_WAIT));
	ck_assert_int_ne(kill(pid, 0), 0);
	free(text);
}
