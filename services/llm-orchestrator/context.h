/*
 * context: configuration and state of the process, shared by all turns.
 *
 * Owned by orchestrator.c; used on the loop thread only.
 */
#ifndef LLM_ORCHESTRATOR_CONTEXT_H
#define LLM_ORCHESTRATOR_CONTEXT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/conf.h"
#include "core/loop.h"
#include "llm/providers.h"
#include "otlp/otlp.h"
#include "state/state_conf.h"

struct arena;
struct bus;
struct commit_times;
struct llm;
struct metric;
struct provider_table;
struct reply_stream;
struct slot_release;
struct state;
struct state_pipe;
struct svc;
struct tool_cache;
struct turn_run;
struct user_zones;
struct worker_pool;
struct zone;

struct orch_conf {
	const char *redis_url;
	struct state_conf redis;
	struct llm_conf llm;
	const char *timezone;
	int64_t redis_timeout_ms;
	int64_t llm_timeout_ms, unasked_llm_timeout_ms;
	int64_t tool_timeout_s;
	int64_t max_rounds;
	int64_t history;
	int64_t context_tokens;
	int64_t long_messages, long_chars;
	int64_t idle_s;
	int64_t ttl_s;
	int64_t turns_max;
	int64_t detail_hours; /* 0: no details of turns */
	const char *providers;
	bool inner_voice; /* the model is to write one */
	struct otlp_conf otlp;
};

/* Options that fill struct orch_conf (orchestrator.c). */
#define ORCH_OPTS_N (17 + STATE_CONF_N + LLM_CONF_N + OTLP_CONF_ROWS_N)
extern const struct conf_opt orch_opts[ORCH_OPTS_N];

/* Size of an instance id, including the NUL. */
#define ORCH_INSTANCE_MAX 48

TAILQ_HEAD(turn_run_list, turn_run);
TAILQ_HEAD(slot_release_list, slot_release);
TAILQ_HEAD(reply_stream_list, reply_stream);

/* Memory limit of what one action reads and composes. */
#define ORCH_SCRATCH_MAX ((size_t)32 * 1024 * 1024)

struct orch_metrics {
	struct metric *running, *completed, *failed, *canceled, *repeated;
	struct metric *direct, *completions, *quotes, *invokes, *not_confirmed,
	    *recalls, *forgets, *tool_calls, *emotion_unsaved;
};

struct orch {
	const struct orch_conf *conf;
	struct svc *svc;
	struct bus *bus;
	struct worker_pool *workers;
	struct state *state;
	struct llm *llm;
	struct zone *zone;
	struct otlp *otlp; /* NULL: tracing is off */
	char instance[ORCH_INSTANCE_MAX];
	struct tool_cache *tool_cache;
	struct provider_table *providers;
	struct user_zones *zones;
	struct arena *scratch; /* valid during one callback */
	struct buf out;        /* for encoding one message */
	struct turn_run_list runs;
	size_t n_runs;
	struct slot_release_list
	    releases; /* queue slots still to be released */
	size_t n_releases, release_bytes;
	struct commit_times *commit_times;
	struct loop_timer tick, flush;
	struct reply_stream_list streams; /* with events to append */
	bool flushing;
	struct state_pipe *pipe;
	struct mono memory_skip_until;  /* memory-worker did not reply */
	struct mono memory_ready_until; /* it was ready a moment ago */
	struct orch_metrics metrics;
};

#endif /* !LLM_ORCHESTRATOR_CONTEXT_H */
