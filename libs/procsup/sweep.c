/*
 * sweep: see sweep.h.
 */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "procsup/process_table.h"
#include "procsup/procsup_spec.h"
#include "procsup/sweep.h"

#define SWEEP_STEP     64 /* entries of /proc in one iteration */
#define SWEEP_PAUSE_MS 5
#define SWEEP_MAX_MS   10000
#define CLEAN_PASSES   2 /* what forks during one is found by the next */

struct sweep {
	struct loop *loop;
	struct sweep_handler h;
	struct loop_deferred step;
	struct loop_timer pause;
	struct mono end;
	DIR *dir;
	pid_t *killed;
	size_t n_killed;
	bool dirty; /* this pass has found one */
	int clean;  /* passes */
};

/* Who dies slowly is found by the next pass, too. */
static void
sweep_count(struct sweep *s, pid_t pid)
{
	for (size_t i = 0; i < s->n_killed; i++)
		if (s->killed[i] == pid)
			return;
	s->killed =
	    mem_realloc(s->killed, (s->n_killed + 1) * sizeof(*s->killed));
	s->killed[s->n_killed++] = pid;
}

static void
sweep_process(struct sweep *s, pid_t pid)
{
	char mark[PROCSUP_MARK_MAX + 1];
	int fd;

	/* Before the mark is read: a number may be another process' soon. */
	fd = pidfd_open(pid, 0);
	if (fd == -1)
		return;
	switch (process_mark(pid, mark, sizeof(mark))) {
	case PROCESS_MARKED:
		if (!s->h.is_doomed(s->h.arg, str_of(mark)))
			break;
		s->dirty = true;
		if (pidfd_send_signal(fd, SIGKILL, NULL, 0) == 0)
			sweep_count(s, pid);
		break;
	case PROCESS_UNKNOWN:
		s->dirty = true;
		break;
	case PROCESS_UNMARKED:
		break;
	}
	close(fd);
}

static void sweep_pass(void *arg);

static void
sweep_end_pass(struct sweep *s)
{
	bool over = mono_diff_ns(s->end, clock_mono()) <= 0;

	closedir(s->dir);
	s->dir = NULL;
	s->clean = s->dirty ? 0 : s->clean + 1;
	if (s->clean < CLEAN_PASSES && !over) {
		loop_timer_set(s->loop, &s->pause,
		    mono_add_ms(clock_mono(), SWEEP_PAUSE_MS), sweep_pass, s);
		return;
	}
	if (s->clean < CLEAN_PASSES)
		log_error("procsup.sweep_incomplete",
		    LOG_I("killed", (int64_t)s->n_killed));
	s->h.done(s->h.arg, s->n_killed);
	sweep_free(s);
}

static void
sweep_step(void *arg)
{
	struct sweep *s = arg;
	const pid_t self = getpid();

	for (int i = 0; i < SWEEP_STEP; i++) {
		const struct dirent *e = readdir(s->dir);
		pid_t pid;

		if (e == NULL) {
			sweep_end_pass(s);
			return;
		}
		pid = process_pid(e->d_name);
		if (pid != 0 && pid != self)
			sweep_process(s, pid);
	}
	loop_defer(s->loop, &s->step, sweep_step, s);
}

static void
sweep_pass(void *arg)
{
	struct sweep *s = arg;

	s->dirty = false;
	s->dir = opendir("/proc");
	if (s->dir != NULL) {
		loop_defer(s->loop, &s->step, sweep_step, s);
		return;
	}
	/* No descriptor is left: later. */
	loop_timer_set(s->loop, &s->pause,
	    mono_add_ms(clock_mono(), SWEEP_PAUSE_MS), sweep_pass, s);
}

struct sweep *
sweep_new(struct loop *l, const struct sweep_handler *h)
{
	struct sweep *s = mem_zalloc(sizeof(*s));

	s->loop = l;
	s->h = *h;
	s->end = mono_add_ms(clock_mono(), SWEEP_MAX_MS);
	loop_timer_set(l, &s->pause, clock_mono(), sweep_pass, s);
	return s;
}

void
sweep_free(struct sweep *s)
{
	if (s == NULL)
		return;
	loop_defer_cancel(s->loop, &s->step);
	loop_timer_cancel(s->loop, &s->pause);
	if (s->dir != NULL)
		closedir(s->dir);
	free(s->killed);
	free(s);
}
