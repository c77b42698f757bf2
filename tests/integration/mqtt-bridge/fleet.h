/*
 * fleet: many bodies through one connection.
 */
#ifndef MQTT_BRIDGE_FLEET_H
#define MQTT_BRIDGE_FLEET_H

#include "body.h"

struct fleet {
	struct bed *b;
	struct body d;
	int n;
};

static inline void
fleet_open(struct fleet *f, struct bed *b, int n)
{
	f->b = b;
	f->n = n;
	body_init(&f->d, PREFIX, "fleet");
	body_connect(&f->d, b);
}

/* Publish retained for body i; the broker has it later (fleet_settle()). */
static inline void
fleet_say(struct fleet *f, int i, const char *leaf, const char *payload)
{
	char topic[128];

	snprintf(topic, sizeof(topic), PREFIX "/terminal/f%d/%s", i, leaf);
	ck_assert_int_eq(mosquitto_publish(f->d.mosq, NULL, topic,
			     (int)strlen(payload), payload, 1, true),
	    0);
}

/* What a body says on connecting, with that version. */
static inline void
fleet_announce(struct fleet *f, int i, int version)
{
	char payload[512];

	fleet_say(f, i, "online", "online");
	snprintf(payload, sizeof(payload),
	    "{\"terminal_id\":\"f%d\",\"skill_version\":%d,\"skills\":"
	    "[{\"name\":\"s_%d_%d\",\"description\":\"控制灯\"}]}",
	    i, version, i, version);
	fleet_say(f, i, "skills", payload);
	snprintf(payload, sizeof(payload),
	    "{\"terminal_id\":\"f%d\",\"catalog_version\":%d,"
	    "\"intent_catalog\":[{\"id\":\"i_%d_%d\",\"slots\":[{\"name\":"
	    "\"mode\",\"regex\":\"(开灯|关灯)\"}]}]}",
	    i, version, i, version);
	fleet_say(f, i, "intent_catalog", payload);
}

/* All the messages of k announcements of every body are with the broker. */
static inline void
fleet_settle(struct fleet *f, int k)
{
	body_wait(&f->d.acked, 3 * f->n * k);
}

/* Whether body i's record has the snapshots of that version. */
static inline bool
fleet_has(struct fleet *f, int i, int version)
{
	char id[16], skill[40], intent[40];
	struct terminal t;

	snprintf(id, sizeof(id), "f%d", i);
	snprintf(skill, sizeof(skill), "\"s_%d_%d\"", i, version);
	snprintf(intent, sizeof(intent), "\"i_%d_%d\"", i, version);
	t = bed_terminal(f->b, id);
	return t.skill_version == version && t.catalog_version == version &&
	    has(t.skills, skill) && has(t.catalog, intent);
}

struct fleet_wish {
	struct fleet *f;
	int version;
	int good; /* those before it are known to be so */
};

static inline bool
fleet_is(void *arg)
{
	struct fleet_wish *w = arg;

	while (w->good < w->f->n && fleet_has(w->f, w->good, w->version))
		w->good++;
	return w->good == w->f->n;
}

/* Wait until every snapshot of that version is in Redis. */
static inline void
fleet_expect(struct fleet *f, int version, int ms)
{
	struct fleet_wish w = { f, version, 0 };

	ck_assert_msg(tk_until(fleet_is, &w, ms), "f%d has not version %d",
	    w.good, version);
}

static inline void
fleet_free(struct fleet *f)
{
	body_leave(&f->d);
}

#endif /* !MQTT_BRIDGE_FLEET_H */
