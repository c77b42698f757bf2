/*
 * procsup: the runner's side.  Whether a shim lives is known by the lock of its
 * file "shim", so that neither a restart of the runner nor another process with
 * the same number can confuse it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/queue.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "procsup/cgroup.h"
#include "procsup/procsup.h"
#include "procsup/shim_internal.h"
#include "procsup/shim_start.h"
#include "procsup/sweep.h"

#define ATTACH_MS    10   /* between two attempts to find a shim's pid */
#define REMOVALS_MAX 500  /* of a control group, each after ATTACH_MS */
#define OVERDUE_MS   5000 /* beyond the grace, until a shim is killed */

/* Behind the folder of this program. */
#define SHIM_PROGRAM "../lib/soul/engine-shim"

/* A sweep for a caller. */
struct requested_sweep {
	LIST_ENTRY(requested_sweep) link;
	struct procsup *procsup;
	struct sweep *sweep;
	struct sweep_handler h;
};

struct procsup {
	struct procsup_opts o;
	struct spool_watch *watch;
	LIST_HEAD(, shim) shims;
	LIST_HEAD(, requested_sweep) sweeps;
	size_t n, n_sweeps;
};

struct shim {
	struct procsup *procsup;
	LIST_ENTRY(shim) link;
	struct procsup_handler h;
	struct spool_tail *tail;
	struct sweep *sweep;
	int dir, lock;
	char mark[PROCSUP_MARK_MAX + 1];
	char *path; /* of dir */
	char cgroup[CGROUP_PATH_MAX];
	int removals; /* attempts */
	size_t killed;
	struct loop_fd life; /* pidfd; readable: it has ended */
	struct loop_timer attach, overdue;
	enum spool_stop why; /* it was stopped */
	bool dead, ended, damaged;
	struct spool_exit exit; /* once ended */
};

/* ---- the end ---- */

static void
shim_free(struct shim *s)
{
	struct loop *l = s->procsup->o.loop;

	loop_timer_cancel(l, &s->attach);
	loop_timer_cancel(l, &s->overdue);
	spool_tail_free(s->tail);
	sweep_free(s->sweep);
	if (s->life.fd != -1) {
		loop_fd_watch(l, &s->life, 0);
		close(s->life.fd);
	}
	if (s->lock != -1)
		close(s->lock);
	if (s->dir != -1)
		close(s->dir);
	LIST_REMOVE(s, link);
	s->procsup->n--;
	free(s->path);
	free(s);
}

static void
shim_finish(struct shim *s)
{
	if (!s->dead || !s->ended)
		return;
	s->h.on_end(s->h.arg, s->damaged ? NULL : &s->exit);
	shim_free(s);
}

static void
shim_send(const struct shim *s, int sig, int value)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = sig;
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_int = value;
	if (s->life.fd != -1)
		(void)pidfd_send_signal(s->life.fd, sig, &info, 0);
}

static void
shim_on_overdue(void *arg)
{
	struct shim *s = arg;

	log_warn("procsup.shim_killed", LOG_S("mark", s->mark));
	shim_send(s, SIGKILL, 0);
}

static void
shim_limit_end(struct shim *s)
{
	const struct procsup_opts *o = &s->procsup->o;

	loop_timer_set(o->loop, &s->overdue,
	    mono_add_ms(clock_mono(), o->stop_grace_ms + OVERDUE_MS),
	    shim_on_overdue, s);
}

/* What a shim has written of itself; 0: nothing yet. */
static pid_t
shim_read_file(struct shim *s)
{
	char text[32 + CGROUP_PATH_MAX];
	int fd = openat(s->dir, SHIM_FILE, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd != -1 ? read(fd, text, sizeof(text)) : -1;
	struct str rest = { text, n > 0 ? (size_t)n : 0 }, line;
	int64_t pid;

	if (fd != -1)
		close(fd);
	if (!str_ends(rest, STR("\n")))
		return 0;
	line = str_split(&rest, '\n');
	if (str_to_i64(line, 1, INT32_MAX, &pid) != RC_OK)
		return 0;
	str_copy(str_split(&rest, '\n'), s->cgroup, sizeof(s->cgroup));
	if (!cgroup_is_of(s->cgroup, s->mark))
		s->cgroup[0] = '\0';
	return (pid_t)pid;
}

/* Write the end of one that could not. */
static void
shim_complete(void *arg)
{
	struct shim *s = arg;
	struct spool_exit e = {
		.signal = SIGKILL, .stop = s->why, .orphans = (int64_t)s->killed
	};
	struct spool_writer *w;

	/* What was killed may not have ended yet. */
	if (!cgroup_remove(s->cgroup) && s->removals++ < REMOVALS_MAX) {
		loop_timer_set(s->procsup->o.loop, &s->attach,
		    mono_add_ms(clock_mono(), ATTACH_MS), shim_complete, s);
		return;
	}
	if (spool_writer_open(s->path, &w) == RC_OK &&
	    spool_writer_end(w, &e) == RC_OK) {
		spool_tail_poll(s->tail);
		return;
	}
	log_error("procsup.spool_incomplete", LOG_S("mark", s->mark),
	    LOG_S("why", strerror(errno)));
	spool_tail_pause(s->tail, true);
	s->ended = s->damaged = true;
	shim_finish(s);
}

static void
shim_on_swept(void *arg, size_t killed)
{
	struct shim *s = arg;

	s->sweep = NULL;
	/* What the sweep could not find. */
	s->killed = killed + cgroup_kill(s->cgroup);
	shim_complete(s);
}

static bool
shim_is_marked(void *arg, struct str mark)
{
	const struct shim *s = arg;

	return str_eq(mark, str_of(s->mark));
}

static void
shim_on_death(struct shim *s)
{
	const struct sweep_handler h = { shim_is_marked, shim_on_swept, s };

	s->dead = true;
	loop_timer_cancel(s->procsup->o.loop, &s->overdue);
	if (s->ended)
		shim_finish(s);
	else if (faccessat(s->dir, SPOOL_EXIT, F_OK, 0) == 0)
		spool_tail_poll(s->tail);
	else {
		(void)shim_read_file(s);
		s->sweep = sweep_new(s->procsup->o.loop, &h);
	}
}

/* ---- its life ---- */

static void
shim_on_life(void *arg, unsigned events)
{
	struct shim *s = arg;
	siginfo_t info = { .si_code = 0 };

	(void)events;
	/* Fails for one that another process has started. */
	if (waitid(P_PIDFD, (id_t)s->life.fd, &info, WEXITED | WNOHANG) == 0 &&
	    (info.si_code != CLD_EXITED || info.si_status != 0))
		log_warn("procsup.shim_failed", LOG_S("mark", s->mark),
		    LOG_I("status", info.si_status));
	loop_fd_watch(s->procsup->o.loop, &s->life, 0);
	close(s->life.fd);
	s->life.fd = -1;
	shim_on_death(s);
}

static void
shim_watch_life(struct shim *s, int fd)
{
	s->life = (struct loop_fd){ .fd = fd, .fn = shim_on_life, .arg = s };
	loop_fd_watch(s->procsup->o.loop, &s->life, LOOP_READ);
	if (s->why != SPOOL_STOP_NONE)
		shim_send(s, SIGTERM, (int)s->why);
}

static bool
shim_is_locked(const struct shim *s)
{
	return flock(s->lock, LOCK_EX | LOCK_NB) == -1;
}

/* Find the process of a shim that another runner has started. */
static void
shim_attach(void *arg)
{
	struct shim *s = arg;
	int fd = -1;
	pid_t pid;

	if (!shim_is_locked(s)) {
		shim_on_death(s);
		return;
	}
	pid = shim_read_file(s);
	if (pid != 0)
		fd = pidfd_open(pid, 0);
	/* Locked all the while, so it is the shim's. */
	if (fd != -1 && shim_is_locked(s)) {
		shim_watch_life(s, fd);
		return;
	}
	if (fd != -1)
		close(fd);
	loop_timer_set(s->procsup->o.loop, &s->attach,
	    mono_add_ms(clock_mono(), ATTACH_MS), shim_attach, s);
}

/* ---- output ---- */

static void
shim_on_chunk(void *arg, const struct spool_chunk *c)
{
	const struct shim *s = arg;

	s->h.on_chunk(s->h.arg, c);
}

static void
shim_on_end(void *arg, const struct spool_exit *e)
{
	struct shim *s = arg;

	s->ended = true;
	s->damaged = e == NULL;
	if (e != NULL)
		s->exit = *e;
	if (s->dead) {
		shim_finish(s);
		return;
	}
	/* It has nothing left to do, but for a damaged spool. */
	if (s->damaged)
		procsup_stop(s, SPOOL_STOP_RUNNER);
	else
		shim_limit_end(s);
}

void
procsup_pause(struct shim *s, bool paused)
{
	spool_tail_pause(s->tail, paused);
}

void
procsup_stop(struct shim *s, enum spool_stop why)
{
	if (s->why != SPOOL_STOP_NONE || s->dead)
		return;
	s->why = why;
	shim_send(s, SIGTERM, (int)why);
	shim_limit_end(s);
}

/* ---- starting ---- */

static enum rc
shim_open_files(struct shim *s, int flags)
{
	static const char *const names[] = { SPOOL_STDOUT, SPOOL_STDERR,
		SPOOL_JOURNAL };

	s->dir = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir == -1)
		return errno == ENOENT ? RC_NOENT : RC_DOWN;
	s->lock = openat(s->dir, SHIM_FILE, O_RDWR | O_CLOEXEC | flags, 0600);
	if (s->lock == -1 && errno == EEXIST)
		return RC_CONFLICT;
	if (s->lock == -1)
		return errno == ENOENT ? RC_NOENT : RC_DOWN;
	/* Before its shim runs, so that a reader finds them. */
	for (size_t i = 0; i < NELEM(names); i++) {
		int fd = openat(
		    s->dir, names[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

		if (fd == -1)
			return RC_DOWN;
		close(fd);
	}
	return RC_OK;
}

static struct shim *
shim_new(struct procsup *p, const char *dir, const char *mark,
    const struct procsup_handler *h)
{
	struct shim *s = mem_zalloc(sizeof(*s));

	s->procsup = p;
	s->h = *h;
	s->path = mem_strdup(dir);
	str_copy(str_of(mark), s->mark, sizeof(s->mark));
	s->dir = s->lock = s->life.fd = -1;
	LIST_INSERT_HEAD(&p->shims, s, link);
	p->n++;
	return s;
}

static enum rc
shim_open_tail(struct shim *s)
{
	const struct spool_tail_handler h = { shim_on_chunk, shim_on_end, s };

	return spool_tail_open(s->procsup->watch, s->path, &h, &s->tail);
}

static enum rc
shim_start(struct shim *s, const struct procsup_spec *spec)
{
	const struct procsup_opts *o = &s->procsup->o;
	int fd, err;

	if (shim_is_locked(s))
		return RC_CONFLICT;
	fd = shim_spawn(
	    &(struct shim_program){ o->program, o->env, o->stop_grace_ms },
	    spec, &s->lock, 1);
	err = errno;
	/* The lock is the shim's alone from now on. */
	close(s->lock);
	s->lock = -1;
	if (fd == -1) {
		errno = err;
		return RC_DOWN;
	}
	shim_watch_life(s, fd);
	return RC_OK;
}

enum rc
procsup_start(struct procsup *p, const struct procsup_spec *spec,
    const struct procsup_handler *h, struct shim **out)
{
	struct shim *s;
	enum rc rc = procsup_spec_check(spec);

	*out = NULL;
	if (rc != RC_OK)
		return rc;
	if (spec->dir == NULL)
		return RC_INVALID;
	s = shim_new(p, spec->dir, spec->mark, h);
	rc = shim_open_files(s, O_CREAT | O_EXCL);
	if (rc == RC_OK)
		rc = shim_open_tail(s);
	if (rc == RC_OK)
		rc = shim_start(s, spec);
	if (rc == RC_OK) {
		*out = s;
		return RC_OK;
	}
	if (rc != RC_CONFLICT)
		log_error("procsup.cannot_start", LOG_S("mark", spec->mark),
		    LOG_S("why", strerror(errno)));
	shim_free(s);
	return rc == RC_CONFLICT ? RC_CONFLICT : RC_DOWN;
}

enum rc
procsup_take_over(struct procsup *p, const char *dir, const char *mark,
    const struct procsup_handler *h, struct shim **out)
{
	struct shim *s = shim_new(p, dir, mark, h);
	enum rc rc = shim_open_files(s, 0);

	if (rc == RC_OK)
		rc = shim_open_tail(s);
	if (rc == RC_OK) {
		/* Not now: h is not to be called before this returns. */
		loop_timer_set(
		    p->o.loop, &s->attach, clock_mono(), shim_attach, s);
	} else {
		shim_free(s);
		s = NULL;
	}
	*out = s;
	return rc;
}

/* ---- sweeps of a caller ---- */

static void
requested_sweep_free(struct requested_sweep *r)
{
	LIST_REMOVE(r, link);
	r->procsup->n_sweeps--;
	free(r);
}

static bool
requested_sweep_is_doomed(void *arg, struct str mark)
{
	const struct requested_sweep *r = arg;

	return r->h.is_doomed(r->h.arg, mark);
}

static void
requested_sweep_done(void *arg, size_t killed)
{
	struct requested_sweep *r = arg;
	const struct sweep_handler h = r->h;

	requested_sweep_free(r);
	h.done(h.arg, killed);
}

enum rc
procsup_sweep(struct procsup *p, bool (*is_doomed)(void *arg, struct str mark),
    void *arg, void (*done)(void *arg, size_t killed))
{
	struct requested_sweep *r;

	if (p->n_sweeps == SWEEPS_MAX)
		return RC_RETRY;
	r = mem_zalloc(sizeof(*r));
	r->procsup = p;
	r->h = (struct sweep_handler){ is_doomed, done, arg };
	LIST_INSERT_HEAD(&p->sweeps, r, link);
	p->n_sweeps++;
	r->sweep = sweep_new(p->o.loop,
	    &(struct sweep_handler){
		requested_sweep_is_doomed, requested_sweep_done, r });
	return RC_OK;
}

/* ---- all of them ---- */

bool
procsup_find_shim(char *dst, size_t size)
{
	ssize_t n =
	    readlink("/proc/self/exe", dst, size - sizeof(SHIM_PROGRAM));
	char *name;

	if (n <= 0)
		return false;
	dst[n] = '\0';
	name = strrchr(dst, '/');
	if (name == NULL)
		return false;
	memcpy(name + 1, SHIM_PROGRAM, sizeof(SHIM_PROGRAM));
	if (access(dst, X_OK) == 0)
		return true;
	log_info("procsup.no_shim", LOG_S("program", dst));
	return false;
}

enum rc
procsup_new(const struct procsup_opts *o, struct procsup **out)
{
	struct procsup *p = mem_zalloc(sizeof(*p));
	enum rc rc;

	p->o = *o;
	LIST_INIT(&p->shims);
	LIST_INIT(&p->sweeps);
	rc = spool_watch_new(o->loop, &p->watch);
	if (rc != RC_OK) {
		free(p);
		p = NULL;
	}
	*out = p;
	return rc;
}

void
procsup_free(struct procsup *p)
{
	struct requested_sweep *r;

	if (p == NULL)
		return;
	while (!LIST_EMPTY(&p->shims))
		shim_free(LIST_FIRST(&p->shims));
	while ((r = LIST_FIRST(&p->sweeps)) != NULL) {
		sweep_free(r->sweep);
		requested_sweep_free(r);
	}
	spool_watch_free(p->watch);
	free(p);
}

size_t
procsup_count(const struct procsup *p)
{
	return p->n;
}
