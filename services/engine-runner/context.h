/*
 * context: configuration and state of the process, which all handlers share.
 *
 * Every run that this process is the writer of is a struct live_run with a
 * fiber of its own (live_run.h).  Other fibers claim runs (on_claim.c), and do
 * what is due for the runs of any runner (on_due.c).
 */
#ifndef ENGINE_RUNNER_CONTEXT_H
#define ENGINE_RUNNER_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/conf.h"
#include "core/id.h"
#include "core/loop.h"
#include "core/str.h"
#include "procsup/procsup.h"
#include "procsup/sandbox.h"
#include "proxy/proxy_path.h"
#include "state/state_conf.h"

struct buf;
struct bus;
struct claim;
struct due;
struct engine_set;
struct fiber;
struct map;
struct metric;
struct state;
struct svc;
struct tool_provider;
struct worker_pool;

struct runner_conf {
	const char *redis_url;
	struct state_conf redis;
	int64_t redis_timeout_ms;
	const char *runner_id;
	const char *runs_dir, *engines, *skills_dir;
	const char *proxy_addr;
	const char *isolation;
	const char *task_policy;
	int64_t runs_max, runs_per_user, queue_max;
	int64_t run_max_s, idle_s, output_max;
	int64_t workspace_max, workspace_files;
	int64_t processes_max;
	int64_t tokens_per_run;
	int64_t reply_s, ttl_s, lost_after_s;
	int64_t stop_grace_ms;
	int64_t drain_ms;
};

#define RUNNER_OPTS_N (24 + STATE_CONF_N)
extern const struct conf_opt runner_opts[RUNNER_OPTS_N];

struct runner_metrics {
	struct metric *running, *queued, *shims;
	struct metric *seconds;
	struct metric *unparsed;
	struct metric *lag;
	struct metric *orphans;
	struct metric *fenced; /* runs that another process has taken over */
};

/* A fiber that waits for a time or a worker. */
struct runner_wait;
LIST_HEAD(runner_wait_list, runner_wait);

struct runner {
	struct svc *svc;
	struct loop *loop;
	struct bus *bus;
	const struct runner_conf *conf;
	char id[ID_MAX + 1];
	char token[ID_TOKEN_MAX];
	struct worker_pool *workers; /* connecting */
	struct worker_pool *disk;
	struct state *state;
	struct procsup *procsup;
	char shim_program[512];
	struct sandbox_report sandbox;
	unsigned char secret[PROXY_SECRET_BYTES];
	int proxy_port;
	struct engine_set *engines;
	struct map *live; /* run id -> struct live_run */
	struct claim *claim;
	struct due *due;
	struct tool_provider *tools;
	size_t log_calls;    /* requests for output that are served */
	struct fiber *probe; /* waits for a probe's end; NULL: none */
	struct loop_timer renew, drain;
	struct runner_wait_list waits;
	struct runner_metrics metrics;
	bool renewing;
	struct mono renewed_since; /* without a failure; 0: the last failed */
	bool draining, stopping;
	bool left;          /* it renews itself no more */
	_Atomic bool ready; /* engines were probed */
};

/*
 * runner_check(conf, errors, known), runner_start(s, conf), runner_drain(r),
 * runner_stop(r): As struct svc_def has them.
 */
void runner_check(const void *conf, struct buf *errors, struct buf *known);
void *runner_start(struct svc *s, const void *conf);
void runner_drain(void *app);
void runner_stop(void *app);

/* runner_free_slots(r): Attempts that may be started. */
int64_t runner_free_slots(const struct runner *r);

/*
 * runner_count_bytes(r, engine, stream): The counter of what it prints there.
 * runner_count_warning(r, code): A doubt about an engine's output.
 */
struct metric *runner_count_bytes(
    const struct runner *r, struct str engine, const char *stream);
void runner_count_warning(const struct runner *r, struct str code);

/*
 * runner_observe_ns(m, from, to):
 * A time between two of the wall clock (ns), as seconds; 0 if the clock was set
 * back between them.
 */
void runner_observe_ns(struct metric *m, int64_t from, int64_t to);

/*
 * runner_on_idle(r): No attempt runs here.  One that drains does not live any
 * more, so that others take what waits for it.
 */
void runner_on_idle(struct runner *r);

/* ---- runner_wait.c: in fibers only ---- */

/*
 * runner_sleep(r, ms): Suspend for that long, or until the process stops.
 * runner_work(r, fn, arg): Run fn(arg) on a thread for the disk, and wait.
 * RC_RETRY: too many wait; RC_DOWN: the process stops.
 * runner_wake_all(r): End all sleeps.
 */
void runner_sleep(struct runner *r, int64_t ms);
enum rc runner_work(
    struct runner *r, void (*fn)(void *arg), void *arg) RC_CHECK;
void runner_wake_all(struct runner *r);

/* ---- runner_status.c ---- */

/* runner_on_renew(r): Renew what the runner offers, every second. */
void runner_on_renew(void *r);

#endif /* !ENGINE_RUNNER_CONTEXT_H */
