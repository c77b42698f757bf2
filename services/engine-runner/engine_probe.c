/*
 * Probes, as engines are started: of the sandbox, and of each engine's version.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "context.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "engine_set.h"
#include "fcmp/fcmp_write.h"
#include "handlers.h"
#include "workspace.h"

#define PROBE_MS   30000
#define OUTPUT_MAX 65536
#define ARENA_MAX  (1024UL * 1024)
/* Written by a probe that the sandbox does not stop. */
#define OUTSIDE "probe.outside"

struct probe {
	struct runner *runner;
	const char *name;
	const char *const *argv;
	const char *const *env;
	const char *const *folders; /* it may read; NULL: none */
	struct workspace_paths paths;
	enum rc rc; /* of its folders */
	struct shim *shim;
	struct fiber *waits;
	struct spool_exit exit;
	struct buf output;
};

/* Its folders, which no run's have the name of. */
static void
probe_name(struct probe *p)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "probe-%s", p->name);
	workspace_paths(&p->paths, p->runner->conf->runs_dir, str_of(name),
	    str_of(name), 1);
}

static void
probe_prepare(void *arg)
{
	struct probe *p = arg;

	p->rc = workspace_remove(p->paths.run);
	if (p->rc == RC_OK)
		p->rc = workspace_make(&p->paths);
}

static void
probe_on_chunk(void *arg, const struct spool_chunk *c)
{
	struct probe *p = arg;

	buf_put_str(&p->output, c->data);
}

static void
probe_on_end(void *arg, const struct spool_exit *e)
{
	struct probe *p = arg;

	p->shim = NULL;
	p->exit = (struct spool_exit){ .code = 1 };
	if (e != NULL)
		p->exit = *e;
	fiber_resume(p->waits);
}

static enum rc
probe_start(struct probe *p)
{
	const struct procsup_handler h = { probe_on_chunk, probe_on_end, p };
	struct procsup_spec spec = { .dir = p->paths.spool,
		.argv = p->argv,
		.env = p->env,
		.cwd = p->paths.work,
		.sandbox = { .mode = p->runner->sandbox.mode,
		    .write = { p->paths.work, p->paths.home, p->paths.tmp },
		    .processes = p->runner->conf->processes_max },
		.limits = { .run_ms = PROBE_MS, .output_bytes = OUTPUT_MAX } };
	char mark[PROCSUP_MARK_MAX + 1];
	size_t i;

	(void)snprintf(mark, sizeof(mark), "probe-%s.%d", p->name, getpid());
	spec.mark = mark;
	for (i = 0; p->folders != NULL && p->folders[i] != NULL; i++)
		spec.sandbox.read[i] = p->folders[i];
	return procsup_start(p->runner->procsup, &spec, &h, &p->shim);
}

/* Run it; RC_DOWN: it cannot be started, or the process stops. */
static enum rc
probe_run(struct probe *p)
{
	enum rc rc = runner_work(p->runner, probe_prepare, p);

	if (rc == RC_OK)
		rc = p->rc;
	if (rc == RC_OK)
		rc = probe_start(p);
	if (rc != RC_OK) {
		log_error("runner.probe", LOG_S("of", p->name), LOG_RC(rc));
		return rc;
	}
	p->waits = p->runner->probe = fiber_self();
	fiber_suspend();
	p->runner->probe = NULL;
	return p->runner->stopping ? RC_DOWN : RC_OK;
}

/* ---- the sandbox ---- */

static bool
probe_sandbox(struct runner *r)
{
	static const char *const env[] = { "PATH=/usr/bin:/bin", NULL };
	char outside[WORKSPACE_PATH_MAX];
	const char *const argv[] = { "/bin/sh", "-c", "cd / && echo x >\"$1\"",
		"sh", outside, NULL };
	struct probe p = { .runner = r,
		.name = "sandbox",
		.argv = argv,
		.env = env,
		.output = BUF_INIT(OUTPUT_MAX) };
	enum rc rc;
	bool hole;

	if (!sandbox_enforces(&r->sandbox, SANDBOX_FILES))
		return true;
	(void)snprintf(
	    outside, sizeof(outside), "%s/" OUTSIDE, r->conf->runs_dir);
	(void)unlink(outside);
	probe_name(&p);
	rc = probe_run(&p);
	buf_free(&p.output);
	hole = workspace_has(outside);
	(void)unlink(outside);
	if (hole || (rc == RC_OK && p.exit.not_started))
		log_error("runner.sandbox",
		    LOG_S("why",
			hole ? "it does not keep an engine from "
			       "writing outside of its folders"
			     : "nothing can be started in it"));
	return rc == RC_OK && !hole && !p.exit.not_started;
}

/* ---- engines ---- */

static void
probe_engine(struct runner *r, struct engine_entry *e)
{
	const char *argv[ENGINE_SET_COMMAND_MAX + 2];
	struct arena *a = arena_new(ARENA_MAX);
	struct probe p = { .runner = r,
		.name = e->engine->name.p,
		.argv = argv,
		.folders = e->folders,
		.output = BUF_INIT(OUTPUT_MAX) };
	struct engine_command command = { 0 };
	struct engine_start start = { .command = e->command[0],
		.prompt = STR(""),
		.url = STR("http://127.0.0.1:1"),
		.key = STR("none") };
	size_t i;
	enum rc rc;

	probe_name(&p);
	start.home = p.paths.home;
	start.work = p.paths.work;
	start.tmp = p.paths.tmp;
	for (i = 0; i < e->n_command; i++)
		argv[i] = e->command[i];
	argv[i++] = e->engine->probe;
	argv[i] = NULL;
	rc = engine_command(e->engine, &start, a, &command);
	p.env = command.env;
	if (rc == RC_OK)
		rc = probe_run(&p);
	engine_version_of(buf_str(&p.output), e->version);
	e->works = rc == RC_OK && p.exit.code == 0 && p.exit.signal == 0 &&
	    !p.exit.not_started && engine_version_suits(e, str_of(e->version));
	if (e->works)
		log_info("runner.engine", LOG_V("engine", e->engine->name),
		    LOG_S("version", e->version));
	else if (rc == RC_OK)
		log_warn("runner.engine_unusable",
		    LOG_V("engine", e->engine->name),
		    LOG_S("version", e->version), LOG_I("exit", p.exit.code),
		    LOG_V("printed", fcmp_truncate(buf_str(&p.output), 512)));
	buf_free(&p.output);
	arena_free(a);
}

bool
engine_probe_all(struct runner *r)
{
	size_t i;

	if (!probe_sandbox(r))
		return false;
	for (i = 0; i < r->engines->n && !r->stopping; i++)
		if (!r->engines->list[i].works)
			probe_engine(r, &r->engines->list[i]);
	return !r->stopping;
}
