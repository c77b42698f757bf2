/*
 * Identities are read page by page, so that Redis can serve others in between;
 * the file is written when all have been read.
 */
#include "credentials/password_sync.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/str.h"
#include "core/worker.h"
#include "credentials/password_file.h"
#include "state/state.h"
#include "state/terminal.h"

/* ---- broker reload ---- */

#define STATUS_BYTES 16384
#define PID_BYTES    64

extern char **environ;

/* The signals that the process catches, as a mask; 0: no such process. */
static uint64_t
reload_caught_signals(int64_t pid)
{
	struct buf b = BUF_INIT(STATUS_BYTES);
	struct str rest, line;
	uint64_t mask = 0;
	const char *why;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%" PRId64 "/status", pid);
	if (password_file_read(path, &b, &why) == RC_OK) {
		rest = buf_str(&b);
		while (rest.p != NULL) {
			line = str_split(&rest, '\n');
			if (str_starts(line, STR("SigCgt:")))
				mask = strtoull(line.p + 7, NULL, 16);
		}
	}
	buf_free(&b);
	return mask;
}

/* SIGHUP would end a broker that is only starting. */
static enum rc
reload_send_sighup(int64_t pid, const char **why)
{
	*why = "the broker is not running, or does not handle SIGHUP yet";
	if ((reload_caught_signals(pid) & (UINT64_C(1) << (SIGHUP - 1))) == 0)
		return RC_RETRY;
	if (kill((pid_t)pid, SIGHUP) == 0)
		return RC_OK;
	*why = strerrordesc_np(errno);
	return RC_RETRY;
}

static enum rc
reload_read_pid(const char *path, int64_t *pid, const char **why)
{
	struct buf b = BUF_INIT(PID_BYTES);
	enum rc rc = password_file_read(path, &b, why);

	if (rc == RC_OK &&
	    str_to_i64(str_trim(buf_str(&b)), 1, INT32_MAX, pid) != RC_OK) {
		*why = "the pid file contains no number";
		rc = RC_INVALID;
	}
	buf_free(&b);
	return rc == RC_OK ? RC_OK : RC_RETRY;
}

static enum rc
reload_start_command(const char *command, const char **why)
{
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, NULL, NULL };
	pid_t pid;
	int err;

	/* Reap commands that have ended. */
	while (waitpid(-1, NULL, WNOHANG) > 0)
		continue;
	argv[2] = mem_strdup(command);
	err = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
	free(argv[2]);
	if (err == 0)
		return RC_OK;
	*why = strerrordesc_np(err);
	return RC_RETRY;
}

static enum rc
password_sync_reload(const struct broker_reload *r, const char **why)
{
	int64_t pid = r->pid;

	*why = "";
	if (r->command != NULL)
		return reload_start_command(r->command, why);
	if (r->pid_file != NULL &&
	    reload_read_pid(r->pid_file, &pid, why) != RC_OK)
		return RC_RETRY;
	return pid == 0 ? RC_OK : reload_send_sighup(pid, why);
}

/* ---- state ---- */

#define CHECK_MS    1000
#define RETRY_MS    50
#define SINGLE_MS   30000 /* --once gives up after this time */
#define PAGE        500
#define PAGE_BYTES  (1024UL * 1024)
#define REDIS_MS    2000
#define CURSOR_MAX  256
#define BASE_MAX    (1024UL * 1024)
#define LOG_EVERY_S 60
#define INBOX       64

/* No clean-up is needed: the file is replaced atomically. */
static void
password_sync_exit_done(int sig)
{
	(void)sig;
	_exit(0);
}

static void
password_sync_exit_failed(int sig)
{
	(void)sig;
	_exit(1);
}

static void
password_sync_on_signal(void (*handler)(int))
{
	const struct sigaction how = { .sa_handler = handler };

	(void)sigaction(SIGTERM, &how, NULL);
	(void)sigaction(SIGINT, &how, NULL);
}

struct password_sync {
	const struct password_sync_options *options;
	struct loop *loop;
	struct worker_pool *workers;
	struct state *state;
	struct loop_timer check;
	struct mono since;
	struct arena *page;
	struct buf written, base;   /* contents of the file and of --also */
	struct password_list *list; /* being built; NULL: none */
	int64_t version;      /* of the identities in the file; -1: not known */
	int64_t list_version; /* of the identities in list */
	size_t rejected;      /* identities without a line */
	bool notify;          /* the broker has to reload */
	struct mono notify_at;
	bool base_changed; /* since the file was written */
	bool busy;         /* a fiber waits for Redis */
	bool stopped;
	int code;
};

static void
password_sync_stop(struct password_sync *s, int code)
{
	s->stopped = true;
	s->code = code;
	loop_stop(s->loop);
}

/* Something failed and will be retried. */
static void
password_sync_retry(struct password_sync *s, const char *what, const char *why)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("passwords.retry", LOG_S("what", what),
		    LOG_S("why", why), LOG_I("missed", missed));
	if (s->options->single &&
	    mono_diff_ms(clock_mono(), s->since) > SINGLE_MS)
		password_sync_stop(s, 1);
}

static void
password_sync_wipe(struct buf *b)
{
	if (b->p != NULL)
		explicit_bzero(b->p, b->cap);
	buf_reset(b);
}

/* ---- broker ---- */

static void
password_sync_notify(struct password_sync *s)
{
	struct mono now = clock_mono();
	const char *why;
	size_t lines = 0, i;

	if (!s->notify || mono_diff_ns(now, s->notify_at) < 0)
		return;
	if (password_sync_reload(&s->options->reload, &why) != RC_OK) {
		password_sync_retry(s, "the broker cannot be reloaded", why);
		return;
	}
	s->notify = false;
	for (i = 0; i < s->written.n; i++)
		lines += s->written.p[i] == '\n';
	s->notify_at =
	    mono_add_ms(now, lines > CHECK_MS ? (int64_t)lines : CHECK_MS);
}

/* With --once: stop if everything is done. */
static void
password_sync_stop_single(struct password_sync *s)
{
	if (s->options->single && s->version >= 0 && !s->notify &&
	    !s->stopped) {
		password_sync_on_signal(password_sync_exit_done);
		password_sync_stop(s, 0);
	}
}

/* ---- file ---- */

/*
 * A Redis that never had an identity is probably the wrong one: do not let it
 * empty a file that has some.
 */
static bool
password_sync_would_empty(const struct password_sync *s)
{
	return s->list_version == 0 && password_list_count(s->list) == 0 &&
	    password_list_lacks(s->list, buf_str(&s->written));
}

static void
password_sync_write(struct password_sync *s)
{
	const char *why = "the file would be too large";
	struct str text;

	if (password_sync_would_empty(s)) {
		password_sync_retry(s,
		    "Redis has no identities, but the file does",
		    "check REDIS_URL, or remove the file to start afresh");
		s->version = s->list_version;
		s->base_changed = false;
		if (s->options->single)
			password_sync_stop(s, 1);
		return;
	}
	if (password_list_text(s->list, &text) != RC_OK ||
	    (!str_eq(text, buf_str(&s->written)) &&
		password_file_write(s->options->file, text, &why) != RC_OK)) {
		password_sync_retry(s, "the file cannot be written", why);
		return;
	}
	if (!str_eq(text, buf_str(&s->written)) || s->version < 0) {
		s->notify = true;
		log_info("passwords.written",
		    LOG_I("bodies", password_list_count(s->list)),
		    LOG_I("rejected", s->rejected));
	}
	password_sync_wipe(&s->written);
	buf_put_str(&s->written, text);
	s->version = s->list_version;
	s->base_changed = false;
}

static void
password_sync_add_page(
    struct password_sync *s, const struct credential *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (v[i].revoked || v[i].hash.p == NULL)
			continue;
		if (password_list_add(s->list, v[i].terminal_id, v[i].hash))
			continue;
		if (s->rejected++ == 0)
			log_warn("passwords.rejected",
			    LOG_V("terminal", v[i].terminal_id),
			    LOG_S("why",
				"its id contains ':' or is a service's name"));
	}
}

/* Read all identities, and write the file. */
static void
password_sync_read(struct password_sync *s)
{
	struct str cursor = { NULL, 0 }, none = { NULL, 0 }, next;
	char at[CURSOR_MAX];
	struct credential *v;
	enum rc rc;
	size_t n;

	do {
		arena_reset(s->page);
		rc = credential_list(
		    s->state, none, cursor, PAGE, s->page, &v, &n, &next);
		if (rc != RC_OK) {
			password_sync_retry(
			    s, "the identities cannot be read", rc_name(rc));
			return;
		}
		password_sync_add_page(s, v, n);
		if (next.p != NULL)
			str_copy(next, at, sizeof(at));
		cursor = next.p != NULL ? str_of(at) : none;
	} while (cursor.p != NULL);
	password_sync_write(s);
	password_sync_notify(s);
	password_sync_stop_single(s);
}

/* ---- polling ---- */

/* False if --also cannot be read. */
static bool
password_sync_read_base(struct password_sync *s)
{
	struct buf b = BUF_INIT(BASE_MAX);
	const char *why;
	bool ok;

	if (s->options->also == NULL)
		return true;
	ok = password_file_read(s->options->also, &b, &why) == RC_OK;
	if (ok && !str_eq(buf_str(&b), buf_str(&s->base))) {
		s->base_changed = true;
		password_sync_wipe(&s->base);
		buf_put_str(&s->base, buf_str(&b));
	}
	if (!ok)
		password_sync_retry(s, s->options->also, why);
	password_sync_wipe(&b);
	buf_free(&b);
	return ok;
}

static void
password_sync_compare(struct password_sync *s)
{
	int64_t version;
	enum rc rc = credential_version(s->state, &version);

	if (rc != RC_OK) {
		/* Connecting takes a moment. */
		if (mono_diff_ms(clock_mono(), s->since) > CHECK_MS)
			password_sync_retry(s, "Redis", rc_name(rc));
		return;
	}
	if (version == s->version && !s->base_changed)
		return;
	s->list = password_list_new(buf_str(&s->base));
	s->list_version = version;
	s->rejected = 0;
	password_sync_read(s);
	password_list_free(s->list);
	s->list = NULL;
}

static void
password_sync_update(void *arg)
{
	struct password_sync *s = arg;

	s->busy = true;
	if (password_sync_read_base(s))
		password_sync_compare(s);
	s->busy = false;
}

static void
password_sync_check(void *arg)
{
	struct password_sync *s = arg;

	loop_timer_set(s->loop, &s->check,
	    mono_add_ms(clock_mono(), s->version < 0 ? RETRY_MS : CHECK_MS),
	    password_sync_check, s);
	password_sync_notify(s);
	password_sync_stop_single(s);
	if (!s->busy)
		fiber_start(password_sync_update, s);
}

/* ---- start and stop ---- */

#define EXIT_WRONG_CONFIG 78

/* What is wrong has been logged. */
static void
password_sync_on_format(void *arg)
{
	password_sync_stop(arg, EXIT_WRONG_CONFIG);
}

static bool
password_sync_start(struct password_sync *s)
{
	const struct state_opts o = { .loop = s->loop,
		.workers = s->workers,
		.url = s->options->redis_url,
		.conf = s->options->redis,
		.name = "mqtt-bridge passwords",
		.deadline_ms = REDIS_MS,
		.on_format = password_sync_on_format,
		.arg = s };
	const char *why;
	enum rc rc = password_file_read(s->options->file, &s->written, &why);

	if (rc != RC_OK && rc != RC_NOENT) {
		fprintf(stderr, "mqtt-bridge passwords: %s: %s\n",
		    s->options->file, why);
		return false;
	}
	return state_new(&o, &s->state) == RC_OK;
}

int
password_sync_run(const struct password_sync_options *options)
{
	struct password_sync s = {
		.options = options, .version = -1, .code = 1
	};

	password_sync_on_signal(options->single ? password_sync_exit_failed
						: password_sync_exit_done);
	s.loop = loop_new(INBOX);
	s.workers = worker_new(s.loop, 1, 4);
	s.page = arena_new(PAGE_BYTES);
	s.since = clock_mono();
	buf_init(&s.written, PASSWORD_LIST_MAX);
	buf_init(&s.base, BASE_MAX);
	if (password_sync_start(&s)) {
		password_sync_check(&s);
		loop_run(s.loop);
	}
	state_free(s.state);
	worker_free(s.workers);
	loop_free(s.loop);
	arena_free(s.page);
	password_sync_wipe(&s.written);
	password_sync_wipe(&s.base);
	buf_free(&s.written);
	buf_free(&s.base);
	return s.code;
}
