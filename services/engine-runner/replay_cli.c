/*
 * replay_cli: the command replay: the events of a spool or of captured streams,
 * one a line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attempt.h"
#include "core/arena.h"
#include "core/mem.h"
#include "events/translate.h"
#include "handlers.h"
#include "spool/replay.h"
#include "svc/svc.h"

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 64 };

/* Longest stream that is read. */
#define STREAM_MAX (1024UL * 1024 * 1024)
#define META_ARENA (2UL * 1024 * 1024)

const char replay_usage[] =
    "--engine E [--spool DIR | --stdout F --stderr F --pty F]\n"
    "[--exit N | --signal N] [--stopped-by-us] [--mode M]\n"
    "[--feed BYTES] [--fcmp | --rasp]";
const char replay_help[] =
    "The same events as were published while the engine ran, from its spool; "
    "or what\nwould be, from captured streams: then each line is a read of its "
    "own, at Unix\ntime 0.\n"
    "  --engine         codex, gemini, iflow or opencode; of a spool it may be "
    "left out\n"
    "  --pty            a capture of a terminal, used if stdout lacks the end\n"
    "  --exit, --signal how the engine ended; default: exit code 0, or as the "
    "spool has it\n"
    "  --stopped-by-us  it was canceled\n"
    "  --mode           interactive, auto, file-write\n"
    "  --feed           give so many bytes at a time; the events are the same\n"
    "  --fcmp, --rasp   which protocol's events; default: --fcmp\n"
    "Exit code: 0; 1 a file cannot be read; 64 wrong arguments.\n";

struct cli {
	const char *engine, *spool, *out, *err, *pty, *mode, *exit, *signal;
	const char *feed;
	bool stopped, fcmp, rasp;
	bool running; /* the engine of the spool has not ended */
	struct arena *arena;
	struct spool_meta meta;
	struct replay replay;
	struct translate translate;
	struct buf line;
};

/* ---- arguments ---- */

static bool
cli_option(struct cli *cli, const char *name, const char *value)
{
	const struct {
		const char *name;
		const char **to;
	} options[] = {
		{ "--engine", &cli->engine },
		{ "--spool", &cli->spool },
		{ "--stdout", &cli->out },
		{ "--stderr", &cli->err },
		{ "--pty", &cli->pty },
		{ "--mode", &cli->mode },
		{ "--exit", &cli->exit },
		{ "--signal", &cli->signal },
		{ "--feed", &cli->feed },
	};

	for (size_t i = 0; i < NELEM(options); i++) {
		if (strcmp(name, options[i].name) == 0 && value != NULL &&
		    *options[i].to == NULL) {
			*options[i].to = value;
			return true;
		}
	}
	return false;
}

static bool
cli_number(const char *text, int64_t max, int64_t *v)
{
	*v = 0;
	return text == NULL || str_to_i64(str_of(text), 0, max, v) == RC_OK;
}

static bool
cli_mode_valid(const char *mode)
{
	return mode == NULL || strcmp(mode, "interactive") == 0 ||
	    strcmp(mode, "auto") == 0 || strcmp(mode, "file-write") == 0;
}

static bool
cli_parse(struct cli *cli, const struct svc_run *r)
{
	int64_t code, signal, feed;
	int i;

	for (i = 1; i < r->argc; i++) {
		if (strcmp(r->argv[i], "--stopped-by-us") == 0)
			cli->stopped = true;
		else if (strcmp(r->argv[i], "--fcmp") == 0)
			cli->fcmp = true;
		else if (strcmp(r->argv[i], "--rasp") == 0)
			cli->rasp = true;
		else if (cli_option(cli, r->argv[i],
			     i + 1 < r->argc ? r->argv[i + 1] : NULL))
			i++;
		else
			return false;
	}
	if (!cli_number(cli->exit, 255, &code) ||
	    !cli_number(cli->signal, 64, &signal) ||
	    !cli_number(cli->feed, INT32_MAX, &feed) ||
	    !cli_mode_valid(cli->mode) || (cli->fcmp && cli->rasp))
		return false;
	if (cli->spool != NULL
		? cli->out != NULL || cli->err != NULL || cli->pty != NULL
		: cli->engine == NULL)
		return false;
	cli->replay.exit.code = (int)code;
	cli->replay.exit.signal = (int)signal;
	cli->replay.exit.stop =
	    cli->stopped ? SPOOL_STOP_CANCELED : SPOOL_STOP_NONE;
	cli->replay.feed = (size_t)feed;
	return true;
}

/* ---- files ---- */

/* False: it cannot be read, as stderr says.  Freed with free(). */
static bool
cli_read(const char *path, struct str *text)
{
	struct buf b = BUF_INIT(STREAM_MAX);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : 0;

	while (fd >= 0 && buf_reserve(&b, 65536)) {
		n = read(fd, b.p + b.n, 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		b.n += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	if (n != 0 || buf_rc(&b) != RC_OK) {
		fprintf(stderr, "engine-runner replay: %s: %s\n", path,
		    n < 0 ? strerror(errno) : "too long");
		buf_free(&b);
		return false;
	}
	*text = (struct str){ b.p, b.n };
	return true;
}

static bool
cli_read_any(const char *path, struct str *text)
{
	return path == NULL || cli_read(path, text);
}

/* A file of the spool, which may be missing. */
static bool
cli_read_spool(const struct cli *cli, const char *name, struct str *text)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", cli->spool, name);
	return stat(path, &st) != 0 || cli_read(path, text);
}

static bool
cli_spool_bad(const struct cli *cli, const char *name)
{
	fprintf(stderr, "engine-runner replay: %s/%s: not a file of a spool\n",
	    cli->spool, name);
	return false;
}

static bool
cli_load_spool(struct cli *cli)
{
	struct replay *r = &cli->replay;
	struct str meta = { NULL, 0 }, end = { NULL, 0 };
	bool ok;

	if (!cli_read_spool(cli, SPOOL_META, &meta) ||
	    !cli_read_spool(cli, SPOOL_STDOUT, &r->out) ||
	    !cli_read_spool(cli, SPOOL_STDERR, &r->err) ||
	    !cli_read_spool(cli, SPOOL_JOURNAL, &r->journal) ||
	    !cli_read_spool(cli, SPOOL_FILES, &r->files) ||
	    !cli_read_spool(cli, SPOOL_EXIT, &end))
		return false;
	/* A spool without a journal has no bytes that were read. */
	if (r->journal.p == NULL)
		r->journal = STR("");
	ok = spool_meta_read(meta, cli->arena, &cli->meta) == RC_OK ||
	    cli_spool_bad(cli, SPOOL_META);
	cli->running = end.n == 0 && cli->exit == NULL && cli->signal == NULL &&
	    !cli->stopped;
	if (ok && end.n > 0)
		ok = spool_exit_read(end, &r->exit) == RC_OK ||
		    cli_spool_bad(cli, SPOOL_EXIT);
	free((void *)(uintptr_t)meta.p);
	free((void *)(uintptr_t)end.p);
	return ok;
}

static bool
cli_load(struct cli *cli, struct str *pty)
{
	if (cli->spool != NULL && !cli_load_spool(cli))
		return false;
	if (cli->engine != NULL)
		cli->meta.engine = str_of(cli->engine);
	if (cli->mode != NULL)
		cli->meta.mode = str_of(cli->mode);
	if (cli->meta.attempt == 0)
		cli->meta.attempt = 1;
	if (cli->meta.run_id.n == 0)
		cli->meta.run_id = arena_printf(cli->arena,
		    "19700101T000000-%.*s-00000000", STR_ARG(cli->meta.engine));
	return cli_read_any(cli->out, &cli->replay.out) &&
	    cli_read_any(cli->err, &cli->replay.err) &&
	    cli_read_any(cli->pty, pty);
}

/* ---- events ---- */

static void
cli_on_event(void *arg, const struct rasp_event *e)
{
	struct cli *cli = arg;

	buf_reset(&cli->line);
	if (cli->rasp)
		rasp_write(cli->meta.run_id, cli->meta.engine, e, &cli->line);
	else if (!translate_event(&cli->translate, e, &cli->line))
		return;
	buf_putc(&cli->line, '\n');
	svc_out(buf_str(&cli->line));
}

static int
cli_print(struct cli *cli)
{
	struct attempt_opts o = {
		.meta = &cli->meta, .event = cli_on_event, .arg = cli
	};
	struct str pty = { NULL, 0 };
	struct attempt *a;

	if (!cli_load(cli, &pty))
		return CLI_FAILED;
	o.engine = engine_find(cli->meta.engine);
	if (o.engine == NULL) {
		fprintf(stderr,
		    "engine-runner replay: --engine: not one of codex, "
		    "gemini, iflow, opencode\n");
		return CLI_USAGE;
	}
	cli->translate = (struct translate){ cli->meta.run_id, cli->meta.engine,
		cli->meta.fcmp_seq };
	a = attempt_new(&o);
	if (replay_chooses_pty(&cli->replay, pty, &o)) {
		struct str out = cli->replay.out;

		cli->replay.out = pty;
		pty = out;
		cli->replay.pty = true;
	}
	if (cli->running)
		replay_begin(&cli->replay, a);
	else
		replay_run(&cli->replay, a);
	attempt_free(a);
	free((void *)(uintptr_t)pty.p);
	return CLI_DONE;
}

int
replay_command(const struct svc_run *r)
{
	struct cli cli = { .arena = arena_new(META_ARENA) };
	int code = CLI_USAGE;

	buf_init(&cli.line, RASP_EVENT_MAX);
	if (r->argc == 2 && strcmp(r->argv[1], "--help") == 0) {
		svc_out(STR("usage: engine-runner replay "));
		svc_out(str_of(replay_usage));
		svc_out(STR("\n\n"));
		svc_out(str_of(replay_help));
		code = CLI_DONE;
	} else if (cli_parse(&cli, r)) {
		code = cli_print(&cli);
	} else {
		fprintf(stderr,
		    "engine-runner replay: wrong arguments; see engine-runner "
		    "replay --help\n");
	}
	free((void *)(uintptr_t)cli.replay.out.p);
	free((void *)(uintptr_t)cli.replay.err.p);
	if (cli.replay.journal.n > 0)
		free((void *)(uintptr_t)cli.replay.journal.p);
	free((void *)(uintptr_t)cli.replay.files.p);
	buf_free(&cli.line);
	arena_free(cli.arena);
	return code;
}
