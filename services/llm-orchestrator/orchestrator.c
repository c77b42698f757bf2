/*
 * orchestrator: options, start and end of the process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "bus/bus.h"
#include "context.h"
#include "core/arena.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/worker.h"
#include "core/zone.h"
#include "handlers.h"
#include "llm/llm.h"
#include "llm/providers.h"
#include "peer/peer_request.h"
#include "peer/user_zone.h"
#include "reply/reply_stream.h"
#include "state/state.h"
#include "svc/svc.h"
#include "tools/provider_table.h"
#include "tools/tool_catalog.h"
#include "tools/tool_providers.h"
#include "turn/commit_times.h"
#include "turn/turn_fsm.h"
#include "turn/turn_steps.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* Concurrent calls of the model; the others wait. */
#define LLM_ACTIVE_MAX 4096
#define FILES_MAX      16384
/* Decoded skills of bodies. */
#define TOOL_CACHE_MAX ((size_t)64 * 1024 * 1024)
/* Lists of tools of providers. */
#define PROVIDER_CACHE_MAX ((size_t)32 * 1024 * 1024)
/* Longest wait for the span collector at the end. */
#define FLUSH_MS 1000

const struct conf_opt orch_opts[ORCH_OPTS_N] = {
	{ "REDIS_URL", CONF_URL, CONF_AT(orch_conf, redis_url),
	    "redis://127.0.0.1:6379", 0, 0,
	    "Redis URL, including any password" },
	STATE_CONF_OPTS(orch_conf, redis),
	{ "REDIS_TIMEOUT_MS", CONF_INT, CONF_AT(orch_conf, redis_timeout_ms),
	    "1000", 10, 10000, "timeout of a Redis command, ms" },
	LLM_CONF_OPTS(orch_conf, llm),
	{ "LLM_TIMEOUT_MS", CONF_INT, CONF_AT(orch_conf, llm_timeout_ms),
	    "60000", 100, 600000, "timeout of a model call, ms" },
	{ "UNASKED_LLM_TIMEOUT_MS", CONF_INT,
	    CONF_AT(orch_conf, unasked_llm_timeout_ms), "5000", 100, 60000,
	    "the same, of words that nobody has asked for, ms" },
	{ "TOOL_TIMEOUT_SECONDS", CONF_INT, CONF_AT(orch_conf, tool_timeout_s),
	    "8", 1, 120, "timeout of a skill's result, s" },
	{ "TOOL_MAX_ROUNDS", CONF_INT, CONF_AT(orch_conf, max_rounds), "4", 1,
	    TURN_ROUNDS_MAX, "completions with tool calls per turn" },
	{ "CHAT_HISTORY_LIMIT", CONF_INT, CONF_AT(orch_conf, history), "20", 0,
	    500, "earlier messages sent to the language model" },
	{ "LLM_CONTEXT_TOKENS", CONF_INT, CONF_AT(orch_conf, context_tokens),
	    "8000", 500, 2000000, "estimated tokens per model call" },
	{ "SESSION_COMPRESS_MSG_THRESHOLD", CONF_INT,
	    CONF_AT(orch_conf, long_messages), "80", 2, 2000,
	    "new messages after which a session is summarized" },
	{ "SESSION_COMPRESS_CHAR_THRESHOLD", CONF_INT,
	    CONF_AT(orch_conf, long_chars), "12000", 100, 10000000,
	    "characters of new messages after which a session is summarized" },
	{ "USER_IDLE_TIMEOUT_SECONDS", CONF_INT, CONF_AT(orch_conf, idle_s),
	    "180", 1, 86400, "inactivity after which a session is idle, s" },
	{ "SKILL_SNAPSHOT_TTL_SECONDS", CONF_INT, CONF_AT(orch_conf, ttl_s),
	    "60", 1, 86400,
	    "time without a heartbeat after which a body is offline, s" },
	{ "DEFAULT_TIMEZONE", CONF_STR, CONF_AT(orch_conf, timezone),
	    "Asia/Shanghai", 0, 0, "IANA time zone for times in prompts" },
	{ "TURNS_MAX", CONF_INT, CONF_AT(orch_conf, turns_max), "4096", 1,
	    65536, "concurrent turns, including queued ones" },
	{ "TURN_DETAIL_HOURS", CONF_INT, CONF_AT(orch_conf, detail_hours), "24",
	    0, 168,
	    "hours for which inputs and outputs of turns can be seen; 0: not" },
	{ "SOUL_INNER_VOICE", CONF_BOOL, CONF_AT(orch_conf, inner_voice), "off",
	    0, 0,
	    "the model also writes what the soul only thinks: for events and "
	    "the next turn" },
	{ "TOOL_PROVIDERS", CONF_STR, CONF_AT(orch_conf, providers),
	    "mcp-host,alarm-clock,engine-runner", 0, 0,
	    "services that provide tools, in order of preference; empty: "
	    "none" },
	OTLP_CONF_ROWS(orch_conf, otlp, "llm-orchestrator"),
};

static bool
orch_redis_up(void *arg)
{
	return state_up(arg);
}

static enum rc
orch_connect_state(struct orch *o)
{
	struct state_opts opts = { .loop = svc_loop(o->svc),
		.workers = o->workers,
		.url = o->conf->redis_url,
		.conf = &o->conf->redis,
		.name = "llm-orchestrator",
		.deadline_ms = (int)o->conf->redis_timeout_ms,
		.on_format = svc_end_unusable,
		.arg = o->svc,
		.metrics = svc_metrics(o->svc) };

	enum rc rc = state_new(&opts, &o->state);
	if (rc == RC_OK)
		svc_require(o->svc, "redis", orch_redis_up, o->state);
	return rc;
}

/* Reported by /readyz, but not required: much works without the model. */
static void
orch_llm_note(const void *arg, struct buf *out)
{
	llm_state(arg, out);
}

static enum rc
orch_connect_llm(struct orch *o)
{
	struct llm_opts opts = { .loop = svc_loop(o->svc),
		.active_max = LLM_ACTIVE_MAX,
		.first_byte_ms = o->conf->llm_timeout_ms,
		.metrics = svc_metrics(o->svc) };

	enum rc rc = llm_open(&o->conf->llm, &opts, &o->llm);
	if (rc == RC_OK)
		svc_ready_note(o->svc, orch_llm_note, o->llm);
	return rc;
}

static enum rc
orch_subscribe(struct orch *o)
{
	char subject[PEER_SUBJECT_MAX], hex[ID_HEX32_MAX];

	id_hex32(hex);
	snprintf(o->instance, sizeof(o->instance), "orch-%s", hex);
	enum rc rc = peer_subject(subject, WIRE_SUBJECT_FMT_TURN_WAKE,
	    str_of(o->instance), (struct str){ 0 });
	if (rc == RC_OK)
		rc = bus_subscribe(
		    o->bus, subject, NULL, queue_slot_on_wake, o, NULL);
	if (rc == RC_OK)
		rc = bus_subscribe(o->bus, WIRE_SUBJECT_ALL_TOOL_PRESENT, NULL,
		    tool_providers_on_present, o, NULL);
	return rc == RC_OK ? turn_subscribe_control(o) : rc;
}

static enum rc
orch_connect_otlp(struct orch *o)
{
	struct otlp_opts opts = { .loop = svc_loop(o->svc),
		.conf = &o->conf->otlp,
		.instance = o->instance,
		.metrics = svc_metrics(o->svc) };
	const char *why;

	return otlp_new(&opts, &o->otlp, &why);
}

static void
orch_make_metrics(struct orch *o)
{
	struct metric_set *set = svc_metrics(o->svc);
	static const char turns[] = "soul_turns_total";
	static const char help[] = "Ended turns by final state.";

	o->metrics = (struct orch_metrics){
		.running = metric_gauge(set, "soul_turns_running",
		    "Running turns, queued ones included.", NULL),
		.completed =
		    metric_counter(set, turns, help, "state=\"completed\""),
		.failed = metric_counter(set, turns, help, "state=\"failed\""),
		.canceled =
		    metric_counter(set, turns, help, "state=\"canceled\""),
		.repeated =
		    metric_counter(set, turns, help, "state=\"repeated\""),
		.direct = metric_counter(set, "soul_turn_direct_total",
		    "Direct actions sent to bodies.", NULL),
		.completions = metric_counter(set, "soul_turn_thoughts_total",
		    "Calls of the language model.", NULL),
		.quotes = metric_counter(set, "soul_turn_quotes_total",
		    "Replies cut where they quote what is not for the user.",
		    NULL),
		.invokes = metric_counter(set, "soul_turn_invokes_total",
		    "Skills invoked on bodies.", NULL),
		.not_confirmed =
		    metric_counter(set, "soul_turn_not_confirmed_total",
			"Skills and tools without a result in time.", NULL),
		.recalls = metric_counter(
		    set, "soul_turn_recalls_total", "Memory searches.", NULL),
		.forgets = metric_counter(set, "soul_turn_forgets_total",
		    "Requests to forget a memory.", NULL),
		.tool_calls = metric_counter(set, "soul_turn_tool_calls_total",
		    "Calls of providers' tools.", NULL),
		.emotion_unsaved = metric_counter(set,
		    "soul_turn_emotion_unsaved_total",
		    "Turns whose effect on the soul could not be saved.", NULL),
	};
}

void
orch_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct orch_conf *conf = arg;
	const char *why = state_url_error(conf->redis_url);
	struct zone *zone = NULL;

	if (why != NULL)
		buf_printf(errors, "REDIS_URL: %s\n", why);
	llm_conf_check(&conf->llm, errors, known);
	if (zone_load(conf->timezone, &zone) != RC_OK)
		buf_puts(errors,
		    "DEFAULT_TIMEZONE: it must be the IANA name of a time "
		    "zone, as Asia/Shanghai\n");
	zone_free(zone);
	why = provider_names_error(str_of(conf->providers));
	if (why != NULL)
		buf_printf(errors, "TOOL_PROVIDERS: %s\n", why);
	why = otlp_conf_error(&conf->otlp);
	if (why != NULL)
		buf_printf(errors,
		    "OTEL_EXPORTER_OTLP_ENDPOINT, "
		    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, "
		    "OTEL_EXPORTER_OTLP_HEADERS: %s\n",
		    why);
}

/* Every turn that waits for its model has a connection open. */
static void
orch_raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	if (limit.rlim_cur < FILES_MAX)
		limit.rlim_cur =
		    limit.rlim_max < FILES_MAX ? limit.rlim_max : FILES_MAX;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

void *
orch_start(struct svc *s, const void *conf)
{
	struct orch *o = mem_zalloc(sizeof(*o));

	o->conf = conf;
	o->svc = s;
	o->bus = svc_bus(s);
	o->scratch = arena_new(ORCH_SCRATCH_MAX);
	o->tool_cache = tool_cache_new(TOOL_CACHE_MAX, svc_metrics(s));
	o->providers =
	    provider_table_new(str_of(o->conf->providers), PROVIDER_CACHE_MAX);
	buf_init(&o->out, WIRE_MESSAGE_MAX);
	TAILQ_INIT(&o->runs);
	TAILQ_INIT(&o->releases);
	TAILQ_INIT(&o->streams);
	o->workers = worker_new(svc_loop(s), 1, 16);
	orch_make_metrics(o);
	orch_raise_file_limit();
	if (zone_load(o->conf->timezone, &o->zone) != RC_OK ||
	    orch_connect_state(o) != RC_OK || orch_connect_llm(o) != RC_OK ||
	    orch_subscribe(o) != RC_OK || orch_connect_otlp(o) != RC_OK) {
		orch_stop(o);
		return NULL;
	}
	o->pipe = state_pipe_new(o->state, REPLY_STREAM_BATCH);
	o->commit_times = commit_times_new(o->state);
	o->zones = user_zones_new(o->state);
	queue_slot_on_tick(o);
	return o;
}

void
orch_stop(void *arg)
{
	struct orch *o = arg;

	/* What waits for it ends before what it uses is freed. */
	state_stop(o->state);
	loop_timer_cancel(svc_loop(o->svc), &o->tick);
	loop_timer_cancel(svc_loop(o->svc), &o->flush);
	queue_slot_free_releases(o);
	llm_free(o->llm);
	state_pipe_free(o->pipe);
	commit_times_free(o->commit_times);
	user_zones_free(o->zones);
	state_free(o->state);
	worker_free(o->workers);
	otlp_flush(o->otlp, FLUSH_MS);
	otlp_free(o->otlp);
	zone_free(o->zone);
	tool_cache_free(o->tool_cache);
	provider_table_free(o->providers);
	arena_free(o->scratch);
	buf_free(&o->out);
	free(o);
}
