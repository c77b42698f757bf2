/*
 * Configuration table, start and stop.
 */
#include "context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/worker.h"
#include "engine_set.h"
#include "fcmp/fcmp_write.h"
#include "handlers.h"
#include "live_run.h"
#include "proxy/proxy_secret.h"
#include "state/run_runner.h"
#include "state/state.h"
#include "svc/svc.h"

#define DISK_THREADS 4
#define DISK_QUEUE   1024
/* Engines that did not work are probed after this. */
#define PROBE_MS 10000

#define RUNNER_OPT(env, kind, member, dflt, lo, hi, help)                   \
	{                                                                   \
		env, kind, CONF_AT(runner_conf, member), dflt, lo, hi, help \
	}

const struct conf_opt runner_opts[RUNNER_OPTS_N] = {
	RUNNER_OPT("REDIS_URL", CONF_URL, redis_url, "redis://127.0.0.1:6379",
	    0, 0, "Redis URL, including any password"),
	STATE_CONF_OPTS(runner_conf, redis),
	RUNNER_OPT("REDIS_TIMEOUT_MS", CONF_INT, redis_timeout_ms, "1000", 10,
	    10000, "timeout of a Redis command, ms"),
	RUNNER_OPT("RUNNER_ID", CONF_STR, runner_id, "", 0, 0,
	    "id of the runner, the same as long as its disk is; empty: the "
	    "host name"),
	RUNNER_OPT("RUNS_DIR", CONF_STR, runs_dir, "/var/lib/soul/runs", 0, 0,
	    "folder of the runs, shared by runner and proxy"),
	RUNNER_OPT(
	    "ENGINES", CONF_STR, engines, "", 0, 0, "JSON file of the engines"),
	RUNNER_OPT("SKILLS_DIR", CONF_STR, skills_dir, "", 0, 0,
	    "folder of the skills; empty: none"),
	RUNNER_OPT("ENGINE_PROXY_ADDR", CONF_STR, proxy_addr, "127.0.0.1:9081",
	    0, 0, "address and port of the model proxy, on loopback"),
	RUNNER_OPT("ENGINE_ISOLATION", CONF_STR, isolation, "auto", 0, 0,
	    "what keeps engines apart: auto, landlock, bwrap or none"),
	RUNNER_OPT("TASK_POLICY", CONF_STR, task_policy, "ask", 0, 0,
	    "whether souls ask their user before they give an engine a task: "
	    "ask or auto"),
	RUNNER_OPT("RUNS_MAX", CONF_INT, runs_max, "8", 1, 1000,
	    "attempts that run at a time"),
	RUNNER_OPT("RUNS_PER_USER", CONF_INT, runs_per_user, "2", 1, 1000,
	    "runs of a user that are queued or running"),
	RUNNER_OPT("QUEUE_MAX", CONF_INT, queue_max, "256", 0, 10000,
	    "runs that wait for a runner"),
	RUNNER_OPT("RUN_MAX_S", CONF_INT, run_max_s, "3600", 1, 86400,
	    "longest attempt, s"),
	RUNNER_OPT("ENGINE_IDLE_S", CONF_INT, idle_s, "600", 1, 86400,
	    "longest time in which an engine prints nothing, s"),
	RUNNER_OPT("RUN_OUTPUT_MAX", CONF_INT, output_max, "268435456", 1024,
	    1LL << 40, "largest output of an attempt, bytes"),
	RUNNER_OPT("WORKSPACE_MAX", CONF_INT, workspace_max, "2147483648", 1024,
	    1LL << 50, "largest workspace, bytes"),
	RUNNER_OPT("WORKSPACE_FILES", CONF_INT, workspace_files, "100000", 1,
	    10000000, "most files of a workspace"),
	RUNNER_OPT("ENGINE_PROCESSES", CONF_INT, processes_max, "4096", 16,
	    1000000, "processes of the runner's user together"),
	RUNNER_OPT("TOKENS_PER_RUN", CONF_INT, tokens_per_run, "10000000", 1,
	    1LL << 50, "tokens of the language model that a run may use"),
	RUNNER_OPT("REPLY_TIMEOUT_S", CONF_INT, reply_s, "1200", 1, 2592000,
	    "time to answer a question, s"),
	RUNNER_OPT("RUN_KEEP_S", CONF_INT, ttl_s, "604800", 1, 31536000,
	    "time for which a run is stored after its end, s"),
	RUNNER_OPT("RUN_LOST_AFTER_S", CONF_INT, lost_after_s, "120", 1, 86400,
	    "time after which the runs of a runner that died are lost, s"),
	RUNNER_OPT("STOP_GRACE_MS", CONF_INT, stop_grace_ms, "5000", 0, 60000,
	    "between SIGTERM and SIGKILL of an engine, ms"),
	RUNNER_OPT("RUNS_DRAIN_MS", CONF_INT, drain_ms, "570000", 0, 590000,
	    "time for which a drain waits before it stops running attempts, "
	    "ms; below DRAIN_TIMEOUT_MS"),
};

/* ---- checks ---- */

static bool
runner_proxy_port(const char *addr, int *port)
{
	const char *colon = strrchr(addr, ':');
	int64_t n;

	if (colon == NULL ||
	    str_to_i64(str_of(colon + 1), 1, 65535, &n) != RC_OK)
		return false;
	*port = (int)n;
	return true;
}

static bool
runner_id(const struct runner_conf *c, char dst[ID_MAX + 1])
{
	if (c->runner_id[0] != '\0')
		str_copy(str_of(c->runner_id), dst, ID_MAX + 1);
	else if (gethostname(dst, ID_MAX) != 0)
		return false;
	dst[ID_MAX] = '\0';
	return id_valid(str_of(dst)) &&
	    (c->runner_id[0] == '\0' || strcmp(dst, c->runner_id) == 0);
}

void
runner_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct runner_conf *c = arg;
	const char *why = state_url_error(c->redis_url);
	struct engine_set *set = NULL;
	enum sandbox_mode mode;
	char id[ID_MAX + 1];
	int port;

	(void)known;
	if (why != NULL)
		buf_printf(errors, "REDIS_URL: %s\n", why);
	if (!runner_id(c, id))
		buf_puts(
		    errors, "RUNNER_ID: must be an id of 1 to 128 bytes\n");
	if (c->runs_dir[0] != '/' || strlen(c->runs_dir) > 256)
		buf_puts(errors,
		    "RUNS_DIR: must be a path from the root, of at most 256 "
		    "bytes\n");
	if (sandbox_mode_parse(str_of(c->isolation), &mode) != RC_OK)
		buf_puts(errors,
		    "ENGINE_ISOLATION: must be auto, landlock, bwrap or "
		    "none\n");
	if (strcmp(c->task_policy, "ask") != 0 &&
	    strcmp(c->task_policy, "auto") != 0)
		buf_puts(errors, "TASK_POLICY: must be ask or auto\n");
	if (!runner_proxy_port(c->proxy_addr, &port))
		buf_puts(errors,
		    "ENGINE_PROXY_ADDR: must be an address and a port, as "
		    "127.0.0.1:9081\n");
	if (c->engines[0] == '\0')
		buf_puts(errors,
		    "ENGINES: must be set to the JSON file of the engines\n");
	else if (engine_set_load(c->engines, &set, errors) == RC_OK)
		engine_set_free(set);
}

/* ---- parts ---- */

int64_t
runner_free_slots(const struct runner *r)
{
	int64_t used = (int64_t)map_len(r->live);

	if (r->draining || used >= r->conf->runs_max)
		return 0;
	return r->conf->runs_max - used;
}

static void
runner_make_metrics(struct runner *r)
{
	struct metric_set *set = svc_metrics(r->svc);
	static const char runs[] = "Runs of this runner.";

	r->metrics = (struct runner_metrics){
		.running =
		    metric_gauge(set, "soul_runs", runs, "state=\"running\""),
		.queued =
		    metric_gauge(set, "soul_runs", runs, "state=\"queued\""),
		.shims = metric_gauge(
		    set, "soul_shims", "Processes that own an engine.", NULL),
		.seconds = metric_histogram(
		    set, "soul_run_seconds", "Duration of attempts.", NULL),
		.unparsed =
		    metric_counter(set, "soul_engine_unparsed_bytes_total",
			"Of these: in lines that are no events.", NULL),
		.lag = metric_histogram(set, "soul_run_publish_lag_seconds",
		    "From the read of a byte to its event in the log.", NULL),
		.orphans = metric_counter(set, "soul_orphans_killed_total",
		    "Processes that had outlived their engine.", NULL),
		.fenced = metric_counter(set, "soul_runs_fenced_total",
		    "Runs that another process has taken over.", NULL),
	};
}

struct metric *
runner_count_bytes(
    const struct runner *r, struct str engine, const char *stream)
{
	char labels[128];

	(void)snprintf(labels, sizeof(labels), "engine=\"%.*s\",stream=\"%s\"",
	    STR_ARG(engine), stream);
	return metric_counter(svc_metrics(r->svc), "soul_engine_bytes_total",
	    "Bytes that engines have printed.", labels);
}

void
runner_count_warning(const struct runner *r, struct str code)
{
	char labels[128];

	(void)snprintf(labels, sizeof(labels), "code=\"%.*s\"",
	    (int)(code.n <= FCMP_CODE_MAX ? code.n : 0), code.p);
	metric_add(
	    metric_counter(svc_metrics(r->svc), "soul_parse_warnings_total",
		"Doubts about an engine's output.", labels),
	    1);
}

void
runner_observe_ns(struct metric *m, int64_t from, int64_t to)
{
	metric_observe(m, to > from ? (double)(to - from) / 1e9 : 0);
}

static bool
runner_state_up(void *arg)
{
	return state_up(arg);
}

static bool
runner_engines_up(void *arg)
{
	struct runner *r = arg;

	return atomic_load(&r->ready);
}

static enum rc
runner_connect(struct runner *r)
{
	const struct state_opts o = { .loop = r->loop,
		.workers = r->workers,
		.url = r->conf->redis_url,
		.conf = &r->conf->redis,
		.name = "engine-runner",
		.deadline_ms = (int)r->conf->redis_timeout_ms,
		.on_format = svc_end_unusable,
		.arg = r->svc,
		.metrics = svc_metrics(r->svc) };
	enum rc rc = state_new(&o, &r->state);

	if (rc != RC_OK)
		return rc;
	svc_require(r->svc, "redis", runner_state_up, r->state);
	svc_require(r->svc, "engines", runner_engines_up, r);
	return RC_OK;
}

static enum rc
runner_isolate(struct runner *r)
{
	enum sandbox_mode mode;
	const char *why = "";
	enum rc rc = sandbox_mode_parse(str_of(r->conf->isolation), &mode);

	if (rc == RC_OK)
		rc = sandbox_probe(mode, &r->sandbox, &why);
	if (rc != RC_OK) {
		log_error("runner.isolation",
		    LOG_S("ENGINE_ISOLATION", r->conf->isolation),
		    LOG_S("why", why));
		return rc;
	}
	log_info("runner.isolation",
	    LOG_S("mode", sandbox_mode_name(r->sandbox.mode)),
	    LOG_I("landlock_abi", r->sandbox.landlock_abi));
	return RC_OK;
}

static enum rc
runner_load(struct runner *r)
{
	struct buf why = BUF_INIT(4096);
	enum rc rc;

	rc = proxy_secret_load(r->conf->runs_dir, r->secret);
	if (rc == RC_OK)
		rc = engine_set_load(r->conf->engines, &r->engines, &why);
	if (why.n > 0)
		log_error("runner.engines", LOG_V("why", buf_str(&why)));
	buf_free(&why);
	return rc;
}

/* ---- the life of the process ---- */

/* Engines are tried until they work; claims begin after the first round. */
static void
runner_main(void *arg)
{
	struct runner *r = arg;
	size_t i, works;

	while (!r->stopping) {
		works = 0;
		if (engine_probe_all(r))
			for (i = 0; i < r->engines->n; i++)
				works += r->engines->list[i].works;
		if (works > 0 && !atomic_exchange(&r->ready, true)) {
			runner_on_renew(r);
			claim_begin(r->claim);
			tool_provider_begin(r->tools);
		}
		if (works == r->engines->n)
			break;
		runner_sleep(r, PROBE_MS);
	}
}

static enum rc
runner_make(struct runner *r)
{
	const struct procsup_opts p = { .loop = r->loop,
		.program =
		    procsup_find_shim(r->shim_program, sizeof(r->shim_program))
		    ? r->shim_program
		    : NULL,
		.stop_grace_ms = r->conf->stop_grace_ms };
	enum rc rc;

	if (!runner_id(r->conf, r->id) ||
	    id_token(str_of(r->id), r->token) != RC_OK ||
	    !runner_proxy_port(r->conf->proxy_addr, &r->proxy_port))
		return RC_INVALID;
	rc = runner_isolate(r);
	if (rc == RC_OK)
		rc = runner_load(r);
	if (rc == RC_OK)
		rc = procsup_new(&p, &r->procsup);
	if (rc == RC_OK)
		rc = runner_connect(r);
	if (rc == RC_OK)
		rc = logs_subscribe(r);
	if (rc != RC_OK)
		return rc;
	r->claim = claim_new(r);
	if (r->claim == NULL)
		return RC_DOWN;
	r->due = due_new(r);
	r->tools = tool_provider_new(r);
	return r->tools != NULL ? RC_OK : RC_DOWN;
}

void *
runner_start(struct svc *s, const void *conf)
{
	struct runner *r = mem_zalloc(sizeof(*r));

	r->conf = conf;
	r->svc = s;
	r->loop = svc_loop(s);
	r->bus = svc_bus(s);
	LIST_INIT(&r->waits);
	r->live = map_new();
	r->workers = worker_new(r->loop, 1, 16);
	r->disk = worker_new(r->loop, DISK_THREADS, DISK_QUEUE);
	runner_make_metrics(r);
	if (runner_make(r) != RC_OK) {
		runner_stop(r);
		return NULL;
	}
	fiber_start(runner_main, r);
	return r;
}

static void
runner_stop_runs(void *arg)
{
	struct runner *r = arg;
	struct live_run *l;
	size_t pos = 0;

	while ((l = map_next(r->live, &pos, NULL)) != NULL)
		live_run_stop(l, SPOOL_STOP_RUNNER);
}

static void
runner_drain_fiber(void *arg)
{
	struct runner *r = arg;

	due_leave(r->due);
	runner_on_idle(r);
	svc_release(r->svc);
}

static void
runner_leave_fiber(void *arg)
{
	struct runner *r = arg;
	enum rc rc = run_runner_end(r->state, str_of(r->id));

	if (rc != RC_OK)
		log_debug("runner.not_left", LOG_RC(rc));
	svc_release(r->svc);
}

void
runner_on_idle(struct runner *r)
{
	if (!r->draining || r->stopping || r->left || map_len(r->live) > 0)
		return;
	r->left = true;
	svc_hold(r->svc);
	fiber_start(runner_leave_fiber, r);
}

void
runner_drain(void *arg)
{
	struct runner *r = arg;

	r->draining = true;
	svc_hold(r->svc);
	fiber_start(runner_drain_fiber, r);
	loop_timer_set(r->loop, &r->drain,
	    mono_add_ms(clock_mono(), r->conf->drain_ms), runner_stop_runs, r);
}

/* Fibers that wait see that the process stops, and end. */
static void
runner_end_fibers(struct runner *r)
{
	struct live_run *l;
	struct fiber *probe = r->probe;
	size_t pos = 0;

	runner_wake_all(r);
	r->probe = NULL;
	if (probe != NULL)
		fiber_resume(probe);
	while ((l = map_next(r->live, &pos, NULL)) != NULL)
		live_run_wake(l);
}

void
runner_stop(void *arg)
{
	struct runner *r = arg;

	r->stopping = true;
	runner_end_fibers(r);
	state_stop(r->state);
	worker_free(r->disk);
	runner_end_fibers(r);
	loop_timer_cancel(r->loop, &r->renew);
	loop_timer_cancel(r->loop, &r->drain);
	claim_free(r->claim);
	due_free(r->due);
	tool_provider_free(r->tools);
	procsup_free(r->procsup);
	engine_set_free(r->engines);
	state_free(r->state);
	worker_free(r->workers);
	map_free(r->live);
	free(r);
}
