/*
 * context: configuration and state of the process.
 */
#ifndef NAVIGATOR_CONTEXT_H
#define NAVIGATOR_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/conf.h"
#include "cycle.h"
#include "llm/providers.h"
#include "state/nav.h"
#include "state/state_conf.h"

struct bucket_poll;
struct buf;
struct bus;
struct cycle_run;
struct llm;
struct loop;
struct metric;
struct state;
struct svc;
struct worker_pool;

/* An idle soul that does not think, or has thought, is idle again after this.
 */
#define NAVIGATOR_IDLE_NEXT_MS 3600000

struct navigator_conf {
	const char *redis_url;
	struct state_conf redis;
	int64_t redis_timeout_ms;
	struct llm_conf llm;
	int64_t count, idle_s, gap_s, per_day, timeout_s, lease_s, max_cycles;
};

/* The options that fill it. */
#define NAVIGATOR_OPTS_N (9 + STATE_CONF_N + LLM_CONF_N)
extern const struct conf_opt navigator_opts[NAVIGATOR_OPTS_N];

struct navigator {
	const struct navigator_conf *conf;
	struct svc *svc;
	struct bus *bus;
	struct loop *loop;
	struct worker_pool *workers;
	struct state *state;
	struct llm *llm;
	struct bucket_poll *poll;
	LIST_HEAD(, cycle_run) cycles;
	size_t n_cycles;
	bool draining;
	struct metric *ended[NAV_TRIGGER_N][CYCLE_END_N];
	struct metric *seconds, *unreadable, *unknown_names, *not_admitted;
	struct metric *events, *events_invalid;
};

/*
 * navigator_check(conf, errors, known): As svc_def.check.
 * navigator_start(s, conf): As svc_def.start; conf is a struct navigator_conf.
 * navigator_drain(n), navigator_stop(n): As svc_def's.
 */
void navigator_check(const void *conf, struct buf *errors, struct buf *known);
void *navigator_start(struct svc *s, const void *conf);
void navigator_drain(void *n);
void navigator_stop(void *n);

/* ---- on_event.c ---- */

/* on_event_start(n): Join the consumers; false: it cannot be (logged). */
bool on_event_start(struct navigator *n);

/* ---- on_due.c ---- */

/*
 * on_due_start(n): Claim the cycles that are due, from now on.
 * on_due_drain(n): Claim nothing more.
 * on_due_hint(n, key, due): A cycle is due then: have its bucket polled, by
 *     whichever replica does, if that is soon.  Of a fiber, or not.
 */
bool on_due_start(struct navigator *n);
void on_due_drain(struct navigator *n);
void on_due_hint(
    struct navigator *n, const struct nav_key *key, struct wall due);

/* navigator_rule(n): That of all souls. */
struct nav_rule navigator_rule(const struct navigator *n);

#endif /* !NAVIGATOR_CONTEXT_H */
