/*
 * piped: the supervisor's side.
 */
#include "procsup/piped.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "procsup/shim_internal.h"
#include "procsup/shim_start.h"
#include "procsup/sweep.h"

/* Beyond both graces, until the shim itself is killed. */
#define OVERDUE_MS 5000
/* Reads of a pipe in one iteration, for fairness; all at the end. */
#define READS_MAX 4

struct piped {
	struct procsup_opts o;
	struct piped_handler h;
	char mark[PROCSUP_MARK_MAX + 1];
	int64_t grace_ms; /* both */
	struct loop_fd in, out[SPOOL_STREAMS_N], life;
	int control;
	struct buf input; /* waits for stdin */
	struct sweep *sweep;
	struct loop_timer overdue;
	bool stopping;
	struct spool_exit exit;
};

static void
piped_close(struct piped *p, struct loop_fd *w)
{
	if (w->fd == -1)
		return;
	loop_fd_watch(p->o.loop, w, 0);
	close(w->fd);
	w->fd = -1;
}

void
piped_free(struct piped *p)
{
	if (p == NULL)
		return;
	piped_close(p, &p->in);
	for (int i = 0; i < SPOOL_STREAMS_N; i++)
		piped_close(p, &p->out[i]);
	piped_close(p, &p->life);
	if (p->control != -1)
		close(p->control);
	loop_timer_cancel(p->o.loop, &p->overdue);
	sweep_free(p->sweep);
	buf_free(&p->input);
	free(p);
}

/* ---- output ---- */

/* False: there is no more now. */
static bool
piped_read(struct piped *p, enum spool_stream stream)
{
	char bytes[PIPED_READ_MAX];
	ssize_t n = read(p->out[stream].fd, bytes, sizeof(bytes));

	if (n == -1 && errno == EINTR)
		return true;
	if (n == -1 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		piped_close(p, &p->out[stream]);
		return false;
	}
	p->h.on_output(p->h.arg, stream, (struct str){ bytes, (size_t)n });
	return true;
}

static void
piped_read_some(struct piped *p, enum spool_stream stream)
{
	for (int i = 0; i < READS_MAX; i++)
		if (!piped_read(p, stream))
			break;
}

static void
piped_on_out(void *arg, unsigned events)
{
	(void)events;
	piped_read_some(arg, SPOOL_OUT);
}

static void
piped_on_err(void *arg, unsigned events)
{
	(void)events;
	piped_read_some(arg, SPOOL_ERR);
}

/* ---- the end ---- */

static void
piped_finish(struct piped *p, const char *why)
{
	/* What inherited a pipe and escaped must not hold it up. */
	for (int s = 0; s < SPOOL_STREAMS_N; s++)
		while (
		    p->out[s].fd != -1 && piped_read(p, (enum spool_stream)s))
			;
	/* Its end may have come before the shim saw that it should. */
	if (p->stopping && p->exit.stop == SPOOL_STOP_NONE)
		p->exit.stop = SPOOL_STOP_RUNNER;
	p->h.on_end(p->h.arg, &p->exit, why);
	piped_free(p);
}

static bool
piped_is_marked(void *arg, struct str mark)
{
	const struct piped *p = arg;

	return str_eq(mark, str_of(p->mark));
}

static void
piped_on_swept(void *arg, size_t killed)
{
	struct piped *p = arg;

	p->sweep = NULL;
	p->exit = (struct spool_exit){ .signal = SIGKILL,
		.orphans = (int64_t)killed };
	piped_finish(p, "");
}

static void
piped_on_life(void *arg, unsigned events)
{
	struct piped *p = arg;
	struct shim_report r;
	siginfo_t info;
	const struct sweep_handler h = { piped_is_marked, piped_on_swept, p };

	(void)events;
	(void)waitid(P_PIDFD, (id_t)p->life.fd, &info, WEXITED | WNOHANG);
	piped_close(p, &p->life);
	piped_close(p, &p->in);
	loop_timer_cancel(p->o.loop, &p->overdue);
	if (recv(p->control, &r, sizeof(r), MSG_DONTWAIT) ==
	    (ssize_t)sizeof(r)) {
		r.why[sizeof(r.why) - 1] = '\0';
		p->exit = r.exit;
		piped_finish(p, r.why);
		return;
	}
	log_warn("procsup.shim_failed", LOG_S("mark", p->mark));
	p->sweep = sweep_new(p->o.loop, &h);
}

static void
piped_on_overdue(void *arg)
{
	const struct piped *p = arg;

	log_warn("procsup.shim_killed", LOG_S("mark", p->mark));
	(void)pidfd_send_signal(p->life.fd, SIGKILL, NULL, 0);
}

void
piped_stop(struct piped *p)
{
	if (p->stopping)
		return;
	p->stopping = true;
	piped_close(p, &p->in);
	if (p->life.fd == -1)
		return;
	(void)shutdown(p->control, SHUT_WR);
	loop_timer_set(p->o.loop, &p->overdue,
	    mono_add_ms(clock_mono(), p->grace_ms + OVERDUE_MS),
	    piped_on_overdue, p);
}

/* ---- input ---- */

/* Write what waits; a server that reads no more has closed its stdin. */
static void
piped_flush(struct piped *p)
{
	ssize_t n;

	while (p->input.n > 0) {
		n = write(p->in.fd, p->input.p, p->input.n);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			break;
		if (n <= 0) {
			piped_close(p, &p->in);
			return;
		}
		buf_drop(&p->input, (size_t)n);
	}
	loop_fd_watch(p->o.loop, &p->in, p->input.n > 0 ? LOOP_WRITE : 0);
}

static void
piped_on_in(void *arg, unsigned events)
{
	(void)events;
	piped_flush(arg);
}

enum rc
piped_write(struct piped *p, struct str bytes)
{
	bool idle = p->input.n == 0;

	if (p->in.fd == -1 || p->stopping)
		return RC_DOWN;
	if (bytes.n > PIPED_INPUT_MAX || p->input.n + bytes.n > PIPED_INPUT_MAX)
		return RC_RETRY;
	buf_put_str(&p->input, bytes);
	if (idle)
		piped_flush(p);
	return RC_OK;
}

/* ---- starting ---- */

/* Ends: in[1], out[0], err[0] and control[0] are the supervisor's. */
struct piped_ends {
	int in[2], out[SPOOL_STREAMS_N][2], control[2];
};

static void
piped_close_ends(struct piped_ends *e)
{
	int *const all[] = { e->in, e->out[0], e->out[1], e->control };

	for (size_t i = 0; i < NELEM(all); i++)
		for (int k = 0; k < 2; k++)
			if (all[i][k] != -1)
				close(all[i][k]);
}

static bool
piped_open_ends(struct piped_ends *e)
{
	*e = (struct piped_ends){ { -1, -1 }, { { -1, -1 }, { -1, -1 } },
		{ -1, -1 } };
	return pipe2(e->in, O_CLOEXEC) == 0 &&
	    pipe2(e->out[SPOOL_OUT], O_CLOEXEC) == 0 &&
	    pipe2(e->out[SPOOL_ERR], O_CLOEXEC) == 0 &&
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, e->control) ==
	    0 &&
	    fcntl(e->in[1], F_SETFL, O_NONBLOCK) == 0 &&
	    fcntl(e->out[SPOOL_OUT][0], F_SETFL, O_NONBLOCK) == 0 &&
	    fcntl(e->out[SPOOL_ERR][0], F_SETFL, O_NONBLOCK) == 0;
}

static int
piped_take(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static void
piped_watch(struct piped *p, struct piped_ends *e, int life)
{
	p->in = (struct loop_fd){
		.fd = piped_take(&e->in[1]), .fn = piped_on_in, .arg = p
	};
	p->out[SPOOL_OUT] = (struct loop_fd){
		.fd = piped_take(&e->out[0][0]), .fn = piped_on_out, .arg = p
	};
	p->out[SPOOL_ERR] = (struct loop_fd){
		.fd = piped_take(&e->out[1][0]), .fn = piped_on_err, .arg = p
	};
	p->life = (struct loop_fd){ .fd = life, .fn = piped_on_life, .arg = p };
	p->control = piped_take(&e->control[0]);
	loop_fd_watch(p->o.loop, &p->out[SPOOL_OUT], LOOP_READ);
	loop_fd_watch(p->o.loop, &p->out[SPOOL_ERR], LOOP_READ);
	loop_fd_watch(p->o.loop, &p->life, LOOP_READ);
}

enum rc
piped_start(const struct procsup_opts *o, const struct procsup_spec *spec,
    const struct piped_handler *h, struct piped **out)
{
	const struct shim_program program = { o->program, o->env,
		o->stop_grace_ms };
	enum rc rc = procsup_spec_check(spec);
	struct piped_ends e;
	struct piped *p;
	int life = -1;

	*out = NULL;
	if (rc != RC_OK)
		return rc;
	if (spec->dir != NULL || spec->stdin_path != NULL)
		return RC_INVALID;
	if (piped_open_ends(&e))
		life = shim_spawn(&program, spec,
		    (const int[]){
			e.control[1], e.in[0], e.out[0][1], e.out[1][1] },
		    4);
	if (life == -1) {
		log_error("procsup.cannot_start", LOG_S("mark", spec->mark),
		    LOG_S("why", strerror(errno)));
		piped_close_ends(&e);
		return RC_DOWN;
	}
	p = mem_zalloc(sizeof(*p));
	p->o = *o;
	p->h = *h;
	p->grace_ms = spec->stdin_grace_ms + o->stop_grace_ms;
	str_copy(str_of(spec->mark), p->mark, sizeof(p->mark));
	buf_init(&p->input, PIPED_INPUT_MAX);
	piped_watch(p, &e, life);
	piped_close_ends(&e);
	*out = p;
	return RC_OK;
}
