/*
 * sim_device: a simulated device on its broker: connecting, announcing,
 * heartbeats, commands, and failures of the connection.
 */
#ifndef BODY_SIM_SIM_DEVICE_H
#define BODY_SIM_SIM_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "body.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/worker.h"
#include "mqtt/mqtt.h"
#include "options.h"
#include "skills.h"

/* What the devices of a process share. */
struct device_env {
	const struct sim_conf *conf;
	struct loop *loop;
	struct worker_pool *workers;
	struct metric_set *metrics;
	struct documents *documents;
	struct skills *skills;
	struct failures failures;
	struct sources sources;

	/* Called when a device has announced itself for the first time. */
	void (*on_announced)(void *arg);
	void *arg;
	atomic_size_t online; /* devices */

	/* Scratch for the current message. */
	struct arena *arena;
	struct buf out;

	struct metric *m_invokes[2]; /* by ok */
	struct metric *m_actions;
	struct metric *m_updates[2]; /* by tick */
	struct metric *m_alarms;
	struct metric *m_ignored;
};

enum device_phase {
	DEVICE_DOWN,
	DEVICE_ANNOUNCING, /* until the broker acknowledged the last report */
	DEVICE_ONLINE,
	DEVICE_OFFLINE /* connected, but announced as offline: a failure */
};

struct delayed_result; /* held back: a failure */
TAILQ_HEAD(delayed_results, delayed_result);

struct device {
	struct device_env *env;
	size_t number; /* from 0 */
	char *id;
	bool failing;
	bool announced; /* at least one time */
	enum device_phase phase;
	struct body body;
	struct request_cache *requests; /* NULL: no request yet */
	struct mqtt *mqtt;              /* NULL: not started */
	struct loop_timer heartbeat, alarm, drop, flap;
	struct delayed_results delayed;
};

/*
 * device_id_valid(conf, i):  Whether device i has a valid id and topics.
 * device_mqtt_opts(conf):    The broker; the texts are those of conf.
 */
bool device_id_valid(const struct sim_conf *conf, size_t i);
struct mqtt_opts device_mqtt_opts(const struct sim_conf *conf);

/* device_init(d, env, i): Device i.  RC_INVALID if its id is invalid. */
enum rc device_init(
    struct device *d, struct device_env *env, size_t i) RC_CHECK;

/* device_connect(d): Start connecting.  As mqtt_new(). */
enum rc device_connect(struct device *d) RC_CHECK;

/* device_free(d): Publish offline, disconnect, and free what d holds. */
void device_free(struct device *d);

/* device_online(d): Whether it is connected and has announced itself. */
bool device_online(const struct device *d);

/*
 * device_send_result(d, request_id, payload):
 * Publish a result, delayed if that failure is set.  It is lost with the
 * connection.
 */
void device_send_result(
    struct device *d, struct str request_id, struct str payload);

/* device_check_alarms(d): Fire due alarms and set the timer for the next. */
void device_check_alarms(struct device *d);

/* ---- device_commands.c ---- */

/* device_handle(d, leaf, m): m arrived on the device's topic with that leaf. */
void device_handle(struct device *d, struct str leaf, const struct mqtt_msg *m);

/* Requests whose ids and results are cached, so that duplicates act once. */
#define REQUEST_CACHE_MAX 64

struct request_cache;

/* request_cache_new(), request_cache_free(r): NULL is allowed. */
struct request_cache *request_cache_new(void);
void request_cache_free(struct request_cache *r);

/*
 * request_cache_add(r, id):
 * Whether id is new; it then replaces the oldest.
 */
bool request_cache_add(struct request_cache *r, struct str id);

/* request_cache_set_result(r, id, result): Store a copy, if id is cached. */
void request_cache_set_result(
    struct request_cache *r, struct str id, struct str result);

/* request_cache_result(r, id): The result; absent if there is none. */
struct str request_cache_result(const struct request_cache *r, struct str id);

#endif /* !BODY_SIM_SIM_DEVICE_H */
