#include "stdio_transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "environment.h"
#include "mcp_config.h"
#include "procsup/piped.h"

#define SPEC_ARENA_MAX (1024UL * 1024)
#define WHY_MAX        256

struct stdio_transport {
	struct transport base; /* first */
	struct loop *loop;
	struct piped *piped; /* NULL: it could not be started, or has ended */
	struct buf line;     /* what has come of one */
	bool skip;           /* the line is over the limit */
	struct buf log;
	struct loop_deferred begin;
	bool closing;
	char why[WHY_MAX];
};

static struct stdio_transport *
stdio_of(struct transport *t)
{
	return CONTAINER_OF(t, struct stdio_transport, base);
}

static void
stdio_free(struct transport *t)
{
	struct stdio_transport *s = stdio_of(t);

	loop_defer_cancel(s->loop, &s->begin);
	piped_free(s->piped);
	buf_free(&s->line);
	buf_free(&s->log);
	free(s);
}

static void
stdio_end(struct stdio_transport *s, const struct transport_end *e)
{
	s->base.h.on_closed(s->base.h.arg, e);
	stdio_free(&s->base);
}

/* ---- output of the server ---- */

static void
stdio_on_line(struct stdio_transport *s, struct str line)
{
	line = str_trim(line);
	if (line.n > 0 && !s->closing)
		s->base.h.on_message(s->base.h.arg, line);
}

static void
stdio_on_stdout(struct stdio_transport *s, struct str bytes)
{
	const char *end;
	struct str part;

	while (bytes.n > 0) {
		end = memchr(bytes.p, '\n', bytes.n);
		part = (struct str){ bytes.p,
			end != NULL ? (size_t)(end - bytes.p) : bytes.n };
		if (!s->skip)
			buf_put_str(&s->line, part);
		s->skip |= s->line.over;
		if (end == NULL)
			return;
		if (s->skip)
			/* It is no JSON, which is counted. */
			s->base.h.on_message(s->base.h.arg, STR(""));
		else
			stdio_on_line(s, buf_str(&s->line));
		buf_reset(&s->line);
		s->skip = false;
		bytes.p += part.n + 1;
		bytes.n -= part.n + 1;
	}
}

static void
stdio_on_stderr(struct stdio_transport *s, struct str bytes)
{
	if (s->log.n + bytes.n > 2 * TRANSPORT_STDERR_MAX)
		buf_drop(&s->log, s->log.n + bytes.n - TRANSPORT_STDERR_MAX);
	buf_put_str(&s->log, bytes);
}

static void
stdio_on_output(void *arg, enum spool_stream stream, struct str bytes)
{
	if (stream == SPOOL_OUT)
		stdio_on_stdout(arg, bytes);
	else
		stdio_on_stderr(arg, bytes);
}

static struct str
stdio_log(const struct stdio_transport *s)
{
	struct str log = buf_str(&s->log);

	if (log.n > TRANSPORT_STDERR_MAX) {
		log.p += log.n - TRANSPORT_STDERR_MAX;
		log.n = TRANSPORT_STDERR_MAX;
	}
	return log;
}

static void
stdio_on_end(void *arg, const struct spool_exit *e, const char *why)
{
	struct stdio_transport *s = arg;
	struct transport_end end = { .why = TRANSPORT_EXITED,
		.status = (int)e->code,
		.log = stdio_log(s),
		.may_have_run = true };

	s->piped = NULL;
	if (e->not_started) {
		end.why = TRANSPORT_UNREACHABLE;
		(void)snprintf(s->why, sizeof(s->why), "%s", why);
	} else if (e->signal != 0) {
		(void)snprintf(
		    s->why, sizeof(s->why), "signal %d", (int)e->signal);
	} else {
		(void)snprintf(
		    s->why, sizeof(s->why), "exit code %d", (int)e->code);
	}
	if (s->closing)
		end.why = TRANSPORT_CLOSED;
	end.text = str_of(s->why);
	stdio_end(s, &end);
}

/* ---- calls ---- */

static enum rc
stdio_send(struct transport *t, const struct transport_message *m)
{
	struct stdio_transport *s = stdio_of(t);
	struct buf line = BUF_INIT(TRANSPORT_OUTPUT_MAX);
	enum rc rc;

	if (s->piped == NULL || s->closing)
		return RC_DOWN;
	buf_put_str(&line, m->json);
	buf_putc(&line, '\n');
	rc = line.over ? RC_RETRY : piped_write(s->piped, buf_str(&line));
	buf_free(&line);
	return rc;
}

static void
stdio_close(struct transport *t)
{
	struct stdio_transport *s = stdio_of(t);

	s->closing = true;
	if (s->piped != NULL)
		piped_stop(s->piped);
}

static const struct transport_ops stdio_ops = {
	.send = stdio_send,
	.close = stdio_close,
	.free = stdio_free,
};

/* ---- starting ---- */

static void
stdio_begin(void *arg)
{
	struct stdio_transport *s = arg;
	const struct transport_end e = {
		.why = s->closing ? TRANSPORT_CLOSED : TRANSPORT_UNREACHABLE,
		.text = str_of(s->why)
	};

	if (s->piped == NULL)
		stdio_end(s, &e);
	else if (!s->closing)
		s->base.h.on_open(s->base.h.arg);
}

/* False: its paths do not fit. */
static bool
stdio_sandbox(const struct stdio_host *h, const struct mcp_server *s,
    struct str user, struct sandbox_spec *box, struct arena *a)
{
	size_t i;

	*box = (struct sandbox_spec){ .mode = SANDBOX_NONE, .tcp_port = -1 };
	if (!s->sandbox.on)
		return true;
	box->mode = h->sandbox->mode;
	box->tcp_port = s->sandbox.net ? -1 : 0;
	for (i = 0; i < SANDBOX_PATHS_MAX - 1; i++) {
		const char *r = s->sandbox.read[i], *w = s->sandbox.write[i];

		if (r != NULL)
			box->read[i] = environment_expand(r, user, a);
		if (w != NULL)
			box->write[i] = environment_expand(w, user, a);
		/* Without one of them the box would be another. */
		if ((r != NULL && box->read[i] == NULL) ||
		    (w != NULL && box->write[i] == NULL))
			return false;
	}
	return true;
}

/* False: s->why says what is missing. */
static bool
stdio_spawn(struct stdio_transport *t, const struct stdio_host *h,
    const struct mcp_server *s, struct str user, const char *mark,
    struct arena *a)
{
	const struct piped_handler handler = { stdio_on_output, stdio_on_end,
		t };
	struct procsup_spec spec = { .mark = mark,
		.cwd = s->cwd != NULL ? s->cwd : h->home,
		.stdin_grace_ms = STDIO_STDIN_GRACE_MS };
	const char **argv = arena_alloc(a, (s->n_args + 2) * sizeof(*argv));
	const char **env;
	enum rc rc;

	str_copy(STR("its arguments or paths are too long"), t->why, WHY_MAX);
	if (s->sandbox.on && h->sandbox == NULL) {
		str_copy(STR("this machine has no sandbox"), t->why, WHY_MAX);
		return false;
	}
	if (argv == NULL || environment_of(s, user, a, &env) != RC_OK)
		return false;
	argv[0] = environment_program(s->command, (const char *const *)env, a);
	if (argv[0] == NULL) {
		(void)snprintf(t->why, sizeof(t->why), "there is no program %s",
		    s->command);
		return false;
	}
	for (size_t i = 0; i < s->n_args; i++) {
		argv[i + 1] = environment_expand(s->args[i], user, a);
		if (argv[i + 1] == NULL)
			return false;
	}
	spec.argv = argv;
	spec.env = env;
	if (!stdio_sandbox(h, s, user, &spec.sandbox, a))
		return false;
	rc = piped_start(h->procsup, &spec, &handler, &t->piped);
	if (rc == RC_OK)
		return true;
	(void)snprintf(
	    t->why, sizeof(t->why), "it cannot be started: %s", rc_name(rc));
	return false;
}

struct transport *
stdio_transport_new(const struct stdio_host *h, const struct mcp_server *s,
    struct str user, const char *mark, const struct transport_handler *handler)
{
	struct stdio_transport *t = mem_zalloc(sizeof(*t));
	struct arena *a = arena_new(SPEC_ARENA_MAX);

	t->base.ops = &stdio_ops;
	t->base.h = *handler;
	t->loop = h->loop;
	buf_init(&t->line, TRANSPORT_MESSAGE_MAX);
	buf_init(&t->log, 2 * TRANSPORT_STDERR_MAX);
	if (!stdio_spawn(t, h, s, user, mark, a))
		t->piped = NULL;
	loop_defer(t->loop, &t->begin, stdio_begin, t);
	arena_free(a);
	return &t->base;
}
