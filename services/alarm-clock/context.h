/*
 * context: configuration and state of the process, which all handlers share.
 *
 * Every alarm or push that is being delivered has a fiber of its own
 * (delivery.h); another polls what is due (on_due.c).
 */
#ifndef ALARM_CLOCK_CONTEXT_H
#define ALARM_CLOCK_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/conf.h"
#include "core/id.h"
#include "core/loop.h"
#include "core/str.h"
#include "state/state_conf.h"

struct own_tools;
struct bucket_poll;
struct buf;
struct bus;
struct bus_sub;
struct delivery;
struct map;
struct metric;
struct state;
struct svc;
struct worker_pool;
struct zone;

struct clock_conf {
	const char *redis_url;
	struct state_conf redis;
	int64_t redis_timeout_ms;
	const char *zone;
	int64_t per_user;
	int64_t spoken_lag_s; /* from when on it says how much it lags */
	int64_t speak_per_day;
	int64_t deliveries_max;
};

#define CLOCK_OPTS_N (7 + STATE_CONF_N)
extern const struct conf_opt clock_opts[CLOCK_OPTS_N];

struct clock_metrics {
	struct metric *lag;
	struct metric *rung, *missed, *lost;
	struct metric *delivering;
};

LIST_HEAD(delivery_list, delivery);

struct alarm_clock {
	struct svc *svc;
	struct loop *loop;
	struct bus *bus;
	const struct clock_conf *conf;
	struct worker_pool *workers; /* connecting */
	struct state *state;
	struct bucket_poll *poll;
	struct bus_sub *hints;
	struct map *zones; /* name -> struct zone */
	struct zone *zone; /* the default */
	struct delivery_list deliveries;
	size_t n_deliveries;
	struct loop_timer extend, present;
	struct own_tools *tools;
	char instance[ID_HEX32_MAX];
	struct clock_metrics metrics;
	bool extending, draining, stopping;
};

/*
 * clock_check(conf, errors, known), clock_start(s, conf), clock_drain(c),
 * clock_stop(c): As struct svc_def has them.
 */
void clock_check(const void *conf, struct buf *errors, struct buf *known);
void *clock_start(struct svc *s, const void *conf);
void clock_drain(void *app);
void clock_stop(void *app);

/*
 * clock_zone(c, name): The zone of that name, which lives as long as c; NULL:
 * there is none.  name absent: the default.
 */
const struct zone *clock_zone(struct alarm_clock *c, struct str name);

/* clock_sleep(c, ms): Suspend the fiber for that long. */
void clock_sleep(struct alarm_clock *c, int64_t ms);

#endif /* !ALARM_CLOCK_CONTEXT_H */
