/*
 * sim: the bodies of one process and what they share.
 */
#ifndef BODY_SIM_SIM_H
#define BODY_SIM_SIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/conf.h"
#include "core/loop.h"
#include "core/map.h"
#include "core/metric.h"
#include "core/worker.h"
#include "documents.h"
#include "faults.h"
#include "flags.h"
#include "skills.h"

struct device;
struct svc;

struct sim_conf {
	const char *terminal_id;
	int64_t count;
	const char *soul_hint;
	int64_t skill_version, catalog_version;
	double heartbeat_s;
	double action_max_age_s;
	const char *broker_url;
	const char *user, *password;
	const char *ca_file, *cert_file, *key_file;
	const char *prefix;
	const char *faults;
	double fault_share;
};

#define SIM_OPTS_N  16
#define SIM_FLAGS_N 6

/* The program's own options, and the flags that stand for some of them. */
extern const struct conf_opt sim_opts[SIM_OPTS_N];
extern const struct flag sim_flags[SIM_FLAGS_N];

struct sim {
	const struct sim_conf *conf;
	struct loop *loop;
	struct worker_pool *workers;
	struct metric_set *metrics;
	struct documents *documents;
	struct skills *skills;
	struct faults faults;

	struct device *devices;
	size_t n;          /* devices that can be freed */
	size_t begun;      /* have a client */
	size_t connecting; /* of those, never announced */
	struct map *by_id;
	struct loop_timer more;
	atomic_size_t announced; /* at least once */
	atomic_size_t online;    /* now */

	/* For the message in hand. */
	struct arena *arena;
	struct buf out;

	struct metric *m_invokes[2]; /* by ok */
	struct metric *m_actions;
	struct metric *m_updates[2]; /* by tick */
	struct metric *m_alarms;
	struct metric *m_ignored;
};

/* sim_check(), sim_start(s, conf), sim_stop(app): See struct svc_def. */
void sim_check(const void *conf, struct buf *errors, struct buf *known);
void *sim_start(struct svc *s, const void *conf);
void sim_stop(void *app);

/*
 * sim_came(sim): A body has announced itself for the first time: the next may
 *                connect.
 * sim_find(sim, id): The body called id, of an empty one the first; or NULL.
 */
void sim_came(struct sim *sim);
struct device *sim_find(struct sim *sim, struct str id);

#endif /* !BODY_SIM_SIM_H */
