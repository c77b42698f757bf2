/*
 * device: one simulated body on its broker: connect, announce, beat, answer,
 * and the faults that have to do with the connection.
 */
#ifndef BODY_SIM_DEVICE_H
#define BODY_SIM_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "body.h"
#include "core/loop.h"
#include "core/rc.h"
#include "core/str.h"
#include "mqtt/mqtt.h"
#include "requests.h"

struct sim;
struct sim_conf;

enum device_phase {
	DEVICE_DOWN,
	DEVICE_ANNOUNCING, /* until the broker has the last report */
	DEVICE_ONLINE,
	DEVICE_AWAY /* connected, but said that it is offline: a fault */
};

struct late; /* an answer that is held back: a fault */
TAILQ_HEAD(lates, late);

struct device {
	struct sim *sim;
	char *id;
	bool faulty;
	bool came; /* announced at least once */
	enum device_phase phase;
	struct body body;
	struct requests *requests; /* NULL: there were none yet */
	struct mqtt *mqtt;         /* NULL: not begun */
	struct loop_timer beat, ring, drop, flap;
	struct lates lates;
};

/*
 * device_named(conf, i):  Whether body i of conf can have its id and topics.
 * device_broker(conf):    What conf says of the broker; texts are conf's.
 */
bool device_named(const struct sim_conf *conf, size_t i);
struct mqtt_opts device_broker(const struct sim_conf *conf);

/* device_init(d, sim, i): Body i of sim.  RC_INVALID if its id is none. */
enum rc device_init(struct device *d, struct sim *sim, size_t i) RC_CHECK;

/* device_begin(d): Start connecting.  As mqtt_new(). */
enum rc device_begin(struct device *d) RC_CHECK;

/* device_free(d): Say that it is offline, disconnect, forget it all. */
void device_free(struct device *d);

/* device_online(d): Whether it is connected and has announced itself. */
bool device_online(const struct device *d);

/*
 * device_answer(d, request_id, payload):
 * Publish a result; with the fault, late.  It is lost with the connection.
 */
void device_answer(struct device *d, struct str request_id, struct str payload);

/* device_ring(d): Ring what is due and set the timer for the next alarm. */
void device_ring(struct device *d);

#endif /* !BODY_SIM_DEVICE_H */
