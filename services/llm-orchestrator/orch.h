/*
 * orch: the state of the process.
 */
#ifndef LLM_ORCHESTRATOR_ORCH_H
#define LLM_ORCHESTRATOR_ORCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/conf.h"
#include "core/loop.h"
#include "core/str.h"
#include "llm/providers.h"
#include "otlp/otlp.h"

struct arena;
struct bus;
struct leaving;
struct metric;
struct run;
struct state;
struct state_pipe;
struct svc;
struct toolbox;
struct worker_pool;
struct zone;

struct orch_conf {
	const char *redis_url;
	struct llm_conf llm;
	const char *timezone;
	int64_t redis_timeout_ms;
	int64_t llm_timeout_ms;
	int64_t tool_timeout_s;
	int64_t max_rounds;
	int64_t history;
	int64_t context_tokens;
	int64_t long_messages, long_chars;
	int64_t idle_s;
	int64_t ttl_s;
	int64_t turns_max;
	struct otlp_conf otlp;
};

/* The options that fill it. */
#define ORCH_OPTS_N (13 + LLM_CONF_N + OTLP_CONF_ROWS_N)
extern const struct conf_opt orch_opts[ORCH_OPTS_N];

/* Room for a process's id, NUL included. */
#define ORCH_INSTANCE_MAX 48

TAILQ_HEAD(run_list, run);
TAILQ_HEAD(leaving_list, leaving);

struct orch_metrics {
	struct metric *running, *completed, *failed, *canceled, *repeated;
	struct metric *direct, *thoughts, *invokes, *not_confirmed, *recalls,
	    *forgets;
};

struct orch {
	const struct orch_conf *conf;
	struct svc *svc;
	struct bus *bus, *bulk; /* the latter for what nobody waits for */
	struct worker_pool *workers;
	struct state *state;
	struct llm *llm;
	struct zone *zone;
	struct otlp *otlp; /* NULL: nobody wants spans */
	char instance[ORCH_INSTANCE_MAX];
	struct toolbox *toolbox;
	struct arena *scratch; /* of one callback */
	struct buf out;        /* a message on its way */
	struct run_list runs;
	size_t n_runs;
	struct leaving_list leaving; /* places that could not be given up */
	size_t n_leaving, leaving_bytes;
	struct loop_timer tick, flush;
	struct run_list telling; /* turns with something to tell */
	struct state_pipe *pipe;
	struct mono memory_silent; /* until then memory is not asked */
	struct orch_metrics metrics;
};

/* orch_check(conf, errors, known): As svc_def.check. */
void orch_check(const void *conf, struct buf *errors, struct buf *known);

/* orch_start(s, conf): As svc_def.start; conf is a struct orch_conf. */
void *orch_start(struct svc *s, const void *conf);

/* orch_stop(o): Free it. */
void orch_stop(void *o);

/*
 * orch_now(o, dst):   The time as messages have it.
 * orch_local(o, dst): The same in the configured zone.
 */
struct str orch_now(char dst[WALL_FORMAT_MAX]);
struct str orch_local(const struct orch *o, char dst[WALL_FORMAT_MAX]);

#endif /* !LLM_ORCHESTRATOR_ORCH_H */
