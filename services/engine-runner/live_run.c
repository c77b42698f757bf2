/*
 * An attempt's fiber, and how its engine is started.
 */
#include "live_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "context.h"
#include "contract.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/metric.h"
#include "engine_set.h"
#include "handlers.h"
#include "proxy/proxy_path.h"
#include "run_abort.h"
#include "state/run_runner.h"
#include "svc/svc.h"
#include "workspace_diff.h"

#define EVENTS_FILE "events.jsonl"
#define PROMPT_MAX  (512UL * 1024)
#define PROMPT_FILE "prompt.md"
#define URL_MAX     (PROXY_PATH_MAX + 128)
/* Files of an engine may be as large as its workspace. */
#define DESCRIPTORS 4096

/* ---- stopping ---- */

void
live_run_stop(struct live_run *l, enum spool_stop why)
{
	if (l->stop == SPOOL_STOP_NONE)
		l->stop = why;
	if (l->shim != NULL)
		procsup_stop(l->shim, why);
}

void
live_run_fence(struct live_run *l)
{
	if (l->fenced)
		return;
	l->fenced = true;
	log_warn("run.fenced", LOG_V("run", l->rec.run_id),
	    LOG_I("epoch", l->rec.epoch));
	metric_add(l->runner->metrics.fenced, 1);
	live_run_stop(l, SPOOL_STOP_RUNNER);
	/* Its end is waited for. */
	if (l->shim != NULL && l->paused)
		procsup_pause(l->shim, false);
	live_run_wake(l);
}

void
live_run_wake(struct live_run *l)
{
	struct fiber *f = l->waits;

	l->waits = NULL;
	if (f != NULL)
		fiber_resume(f);
}

/* ---- what the attempt is ---- */

/* Of all its processes; the same after a restart of this one. */
static struct str
live_mark(const struct live_run *l)
{
	return arena_printf(
	    l->arena, "%.*s.%" PRId64, STR_ARG(l->rec.run_id), l->rec.attempt);
}

static bool
live_is_resumed(const struct live_run *l)
{
	return l->rec.handle.n > 0 &&
	    (l->rec.attempt > 1 || l->rec.resumes.n > 0);
}

static struct str
live_isolation_text(const struct live_run *l)
{
	struct buf b = BUF_INIT(1024);
	struct str s;

	sandbox_report_write(&l->runner->sandbox, &b);
	s = arena_str(l->arena, buf_str(&b));
	buf_free(&b);
	return s;
}

static void
live_fill_meta(struct live_run *l)
{
	const struct run_record *rec = &l->rec;

	l->meta = (struct spool_meta){ .run_id = rec->run_id,
		.engine = rec->engine,
		.attempt = rec->attempt,
		.mode = rec->mode,
		.title = rec->title,
		.engine_version = str_of(l->engine->version),
		.isolation = live_isolation_text(l),
		.started_ns = clock_wall().ms * 1000000,
		.rasp_seq = rec->rasp_last - rec->rasp,
		.fcmp_seq = rec->fcmp_last - rec->fcmp,
		.output_schema = l->request.output_schema,
		.attempts_max = l->request.limits.attempts_max };
	if (live_is_resumed(l))
		l->meta.handle = rec->handle;
	if (rec->attempt > 1) {
		l->meta.interaction_id = rec->replied_id;
		l->meta.reply = rec->reply;
		l->meta.auto_reply = l->request.auto_reply.n > 0 &&
		    str_eq(l->request.auto_reply, rec->reply);
	}
}

/* ---- folders: on a thread ---- */

struct live_prepared {
	struct live_run *run;
	enum rc rc;
	const struct attempt_abort *why;
	bool begun; /* the spool has a meta */
};

static void
live_read_meta(struct live_prepared *p)
{
	struct buf text = BUF_INIT(SPOOL_TEXT_MAX);
	struct live_run *l = p->run;
	struct spool_meta meta;

	if (workspace_read(l->paths.spool, SPOOL_META, &text) == RC_OK &&
	    spool_meta_read(buf_str(&text), l->arena, &meta) == RC_OK) {
		l->meta = meta;
		p->begun = true;
	}
	buf_free(&text);
}

/* The prompt of an engine that gets it as an argument, and is too long. */
static struct str
live_prompt_reference(const struct live_run *l)
{
	return arena_printf(l->arena,
	    "Read the file %s/" PROMPT_FILE " and do what it says.",
	    l->paths.home);
}

static void
live_write_prompt(struct live_run *l, struct buf *b)
{
	const struct wire_run_start_request *q = &l->request;
	struct str mode = l->rec.mode;
	struct str text = q->prompt;

	if (l->rec.attempt > 1) {
		contract_reply(l->rec.reply, b);
		return;
	}
	if (q->skill.n > 0)
		text = arena_printf(l->arena,
		    "Carry out the skill in the folder skills/%.*s of your "
		    "working directory: begin with its file SKILL.md.%s%.*s",
		    STR_ARG(q->skill), q->inputs.n > 0 ? "\nIts inputs: " : "",
		    STR_ARG(q->inputs));
	contract_prompt(text, mode, q->output_schema, b);
}

static enum rc
live_write_home(struct live_run *l, const struct engine_start *s)
{
	const struct engine *e = l->engine->engine;
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; rc == RC_OK && i < e->n_files; i++) {
		struct str text = engine_file_text(&e->files[i], s, l->arena);

		rc = text.p == NULL
		    ? RC_TOOBIG
		    : workspace_write(l->paths.home, e->files[i].path, text);
	}
	return rc;
}

static void
live_prepare_new(struct live_prepared *p)
{
	struct live_run *l = p->run;
	struct buf meta = BUF_INIT(SPOOL_TEXT_MAX);
	bool continues = l->rec.attempt > 1 || l->rec.resumes.n > 0;

	if (continues && !workspace_has(l->paths.work)) {
		p->why = &run_abort_no_workspace;
		p->rc = RC_NOENT;
		return;
	}
	p->rc = workspace_make(&l->paths);
	if (p->rc == RC_OK && l->request.skill.n > 0 && l->rec.attempt == 1)
		p->rc = workspace_copy_skill(l->runner->conf->skills_dir,
		    l->request.skill, l->paths.work);
	if (p->rc == RC_OK)
		p->rc = workspace_snapshot(l->paths.work, l->paths.spool);
	if (p->rc == RC_OK) {
		spool_meta_write(&l->meta, &meta);
		p->rc = buf_rc(&meta);
	}
	if (p->rc == RC_OK)
		p->rc =
		    workspace_write(l->paths.spool, SPOOL_META, buf_str(&meta));
	buf_free(&meta);
}

static void
live_prepare(void *arg)
{
	struct live_prepared *p = arg;
	struct live_run *l = p->run;
	const struct run_record *rec = &l->rec;

	/* Made before the claim: without it the disk is another one. */
	if (!workspace_has(l->paths.spool)) {
		p->rc = RC_NOENT;
		p->why = rec->attempt > 1 && rec->rasp == 0
		    ? &run_abort_no_workspace
		    : &run_abort_lost;
		return;
	}
	live_read_meta(p);
	if (!p->begun)
		live_prepare_new(p);
	if (p->rc == RC_OK)
		l->events_fd = open(
		    arena_printf(l->arena, "%s/" EVENTS_FILE, l->paths.spool).p,
		    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* ---- the engine ---- */

static enum rc
live_command(struct live_run *l, struct engine_start *s,
    struct engine_command *c, const char **argv)
{
	const struct engine_entry *e = l->engine;
	size_t i, n = 0;
	enum rc rc;

	rc = engine_command(e->engine, s, l->arena, c);
	for (i = 0; i < e->n_command; i++)
		argv[n++] = e->command[i];
	for (i = 1; c->argv[i] != NULL && rc == RC_OK; i++)
		argv[n++] = c->argv[i];
	argv[n] = NULL;
	return rc;
}

static int64_t
live_least(int64_t most, bool has, int64_t wanted)
{
	return has && wanted < most ? wanted : most;
}

static void
live_fill_spec(const struct live_run *l, struct procsup_spec *spec)
{
	const struct wire_run_start_request_limits *w = &l->request.limits;
	const struct runner_conf *c = l->runner->conf;
	struct sandbox_spec *box = &spec->sandbox;
	size_t i;

	spec->dir = l->paths.spool;
	spec->cwd = l->paths.work;
	spec->limits = (struct procsup_limits){
		.run_ms =
		    1000 * live_least(c->run_max_s, w->has_run_s, w->run_s),
		.idle_ms =
		    1000 * live_least(c->idle_s, w->has_idle_s, w->idle_s),
		.output_bytes = live_least(
		    c->output_max, w->has_output_bytes, w->output_bytes),
		.workspace = l->paths.base,
		.workspace_bytes = c->workspace_max,
		.workspace_files = c->workspace_files,
	};
	*box = (struct sandbox_spec){ .mode = l->runner->sandbox.mode,
		.tcp_port = l->runner->proxy_port,
		.file_bytes = c->workspace_max,
		.processes = c->processes_max,
		.descriptors = DESCRIPTORS };
	for (i = 0; l->engine->folders[i] != NULL; i++)
		box->read[i] = l->engine->folders[i];
	box->write[0] = l->paths.work;
	box->write[1] = l->paths.home;
	box->write[2] = l->paths.tmp;
}

/* The base URL of its model, which holds for this run alone. */
static struct str
live_url(const struct live_run *l)
{
	const struct wire_run_start_request_limits *w = &l->request.limits;
	const struct proxy_grant g = { .run = l->rec.run_id,
		.epoch = l->rec.epoch,
		.budget = live_least(l->runner->conf->tokens_per_run,
		    w->has_tokens, w->tokens) };
	char path[PROXY_PATH_MAX];

	if (proxy_path_write(l->runner->secret, &g, path) != RC_OK)
		return (struct str){ NULL, 0 };
	return arena_printf(
	    l->arena, "http://%s%s", l->runner->conf->proxy_addr, path);
}

struct live_start {
	struct live_run *run;
	struct engine_start start;
	struct buf prompt;
	enum rc rc;
};

static void
live_write_files(void *arg)
{
	struct live_start *s = arg;
	struct live_run *l = s->run;

	s->rc =
	    workspace_write(l->paths.spool, SPOOL_STDIN, buf_str(&s->prompt));
	if (s->rc == RC_OK && s->start.prompt.n > ENGINE_ARG_PROMPT_MAX &&
	    l->engine->engine->prompt == ENGINE_PROMPT_ARG) {
		s->rc = workspace_write(
		    l->paths.home, PROMPT_FILE, buf_str(&s->prompt));
		s->start.prompt = live_prompt_reference(l);
	}
	if (s->rc == RC_OK)
		s->rc = live_write_home(l, &s->start);
}

static enum rc
live_spawn(struct live_run *l, struct live_start *s)
{
	const struct procsup_handler h = { live_run_on_chunk, live_run_on_end,
		l };
	const char *argv[ENGINE_ARGS_MAX + ENGINE_SET_COMMAND_MAX + 1];
	struct engine_command command;
	struct procsup_spec spec = { 0 };
	enum rc rc = live_command(l, &s->start, &command, argv);

	if (rc != RC_OK)
		return rc;
	live_fill_spec(l, &spec);
	spec.argv = argv;
	spec.env = command.env;
	spec.mark = live_mark(l).p;
	if (l->engine->engine->prompt == ENGINE_PROMPT_STDIN)
		spec.stdin_path =
		    arena_printf(l->arena, "%s/" SPOOL_STDIN, l->paths.spool).p;
	return procsup_start(l->runner->procsup, &spec, &h, &l->shim);
}

static enum rc
live_start_engine(struct live_run *l)
{
	struct live_start s = { .run = l,
		.start = { .command = l->engine->command[0],
		    .handle = l->meta.handle,
		    .model = l->request.model,
		    .url = live_url(l),
		    .key = STR("none"),
		    .home = l->paths.home,
		    .work = l->paths.work,
		    .tmp = l->paths.tmp,
		    .own_sandbox = l->runner->sandbox.mode == SANDBOX_NONE } };
	enum rc rc;

	if (s.start.model.n == 0 && l->engine->n_models > 0)
		s.start.model = l->engine->models[0];
	buf_init(&s.prompt, PROMPT_MAX);
	live_write_prompt(l, &s.prompt);
	s.start.prompt = buf_str(&s.prompt);
	rc = buf_rc(&s.prompt);
	if (rc == RC_OK)
		rc = runner_work(l->runner, live_write_files, &s);
	if (rc == RC_OK)
		rc = s.rc;
	if (rc == RC_OK)
		rc = live_spawn(l, &s);
	buf_free(&s.prompt);
	return rc;
}

/* Its shim, if it has been started; then it may have ended. */
static enum rc
live_take_over(struct live_run *l)
{
	const struct procsup_handler h = { live_run_on_chunk, live_run_on_end,
		l };

	return procsup_take_over(
	    l->runner->procsup, l->paths.spool, live_mark(l).p, &h, &l->shim);
}

static enum rc
live_begin(struct live_run *l, bool begun)
{
	const struct attempt_opts o = { .engine = l->engine->engine,
		.meta = &l->meta,
		.event = live_run_on_event,
		.arg = l };
	enum rc rc = begun ? live_take_over(l) : RC_NOENT;

	if (rc == RC_NOENT)
		rc = live_start_engine(l);
	if (rc != RC_OK)
		return rc;
	l->translate = (struct translate){ l->rec.run_id, l->rec.engine,
		l->meta.fcmp_seq };
	run_outbox_init(&l->outbox, l->rec.fcmp, l->rec.rasp);
	l->bytes[SPOOL_OUT] =
	    runner_count_bytes(l->runner, l->rec.engine, "stdout");
	l->bytes[SPOOL_ERR] =
	    runner_count_bytes(l->runner, l->rec.engine, "stderr");
	l->attempt = attempt_new(&o);
	attempt_begin(l->attempt);
	log_info("run.attempt", LOG_V("run", l->rec.run_id),
	    LOG_I("attempt", l->rec.attempt), LOG_I("epoch", l->rec.epoch),
	    LOG_I("adopted", l->adopted));
	if (l->stop != SPOOL_STOP_NONE)
		live_run_stop(l, l->stop);
	return RC_OK;
}

/* ---- its fiber ---- */

static void
live_abort(struct live_run *l, const struct attempt_abort *why)
{
	enum rc rc = run_abort(l->runner, &l->rec, why);

	if (rc != RC_OK)
		log_warn("run.not_aborted", LOG_V("run", l->rec.run_id),
		    LOG_S("code", why->code), LOG_RC(rc));
}

static const struct attempt_abort live_no_engine = { "ENGINE_NOT_FOUND",
	"The runner has no such engine any more.", true, { NULL, 0 } };
static const struct attempt_abort live_no_skill = { "INVALID_INPUT",
	"The runner has no such skill.", false, { NULL, 0 } };
static const struct attempt_abort live_no_command = { "INVALID_INPUT",
	"The engine cannot be started with this prompt or session.", false,
	{ NULL, 0 } };

/* Why it cannot begin; NULL: it has begun, or the process stops. */
static const struct attempt_abort *
live_try(struct live_run *l)
{
	struct live_prepared p = { .run = l };
	enum rc rc;

	l->engine = engine_set_find(l->runner->engines, l->rec.engine);
	if (l->engine == NULL)
		return &live_no_engine;
	rc = wire_decode(&wire_run_start_request_desc, l->rec.spec, l->arena,
	    &l->request, NULL);
	if (rc != RC_OK)
		return &run_abort_disk;
	live_fill_meta(l);
	rc = runner_work(l->runner, live_prepare, &p);
	if (rc == RC_DOWN)
		return NULL;
	if (rc == RC_OK)
		rc = p.rc;
	if (rc == RC_OK)
		rc = live_begin(l, p.begun);
	if (rc == RC_OK || l->runner->stopping)
		return NULL;
	if (p.why != NULL)
		return p.why;
	if (p.rc == RC_NOENT)
		return &live_no_skill;
	return rc == RC_INVALID || rc == RC_TOOBIG ? &live_no_command
						   : &run_abort_disk;
}

static void
live_free(struct live_run *l)
{
	struct runner *r = l->runner;

	loop_timer_cancel(r->loop, &l->lingers);
	loop_defer_cancel(r->loop, &l->wake);
	if (map_get(r->live, l->rec.run_id) == l)
		map_del(r->live, l->rec.run_id);
	live_run_write_events(l);
	if (l->events_fd != -1)
		close(l->events_fd);
	run_outbox_free(&l->outbox);
	attempt_free(l->attempt);
	buf_free(&l->line);
	buf_free(&l->file);
	buf_free(&l->last_text);
	arena_free(l->arena);
	free(l);
	metric_set(r->metrics.running, (int64_t)map_len(r->live));
	runner_on_idle(r);
	svc_release(r->svc);
}

/* A fenced one is forgotten when its engine has ended. */
static void
live_await_end(struct live_run *l)
{
	while (l->shim != NULL && !l->runner->stopping) {
		l->waits = fiber_self();
		fiber_suspend();
	}
}

static void
live_main(void *arg)
{
	struct live_run *l = arg;
	struct runner *r = l->runner;
	const struct attempt_abort *why = live_try(l);

	if (why != NULL)
		live_abort(l, why);
	else if (l->attempt != NULL && live_run_publish(l))
		live_run_finish(l);
	live_await_end(l);
	live_free(l);
	claim_request(r, (struct str){ NULL, 0 });
}

void
live_run_start(struct runner *r, const struct run_record *rec, struct arena *a,
    bool adopted)
{
	struct live_run *l = mem_zalloc(sizeof(*l));

	l->runner = r;
	l->arena = a;
	l->rec = *rec;
	l->adopted = adopted;
	l->events_fd = -1;
	run_outbox_init(&l->outbox, 0, 0);
	buf_init(&l->line, RASP_EVENT_MAX);
	buf_init(&l->file, 4UL * RASP_EVENT_MAX);
	buf_init(&l->last_text, FCMP_MESSAGE_MAX);
	workspace_paths(&l->paths, r->conf->runs_dir, rec->run_id,
	    rec->workspace, rec->attempt);
	if (rec->cancel)
		l->stop = SPOOL_STOP_CANCELED;
	(void)map_put(r->live, rec->run_id, l);
	metric_set(r->metrics.running, (int64_t)map_len(r->live));
	svc_hold(r->svc);
	fiber_start(live_main, l);
}
