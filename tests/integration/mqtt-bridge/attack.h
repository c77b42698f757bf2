/*
 * attack: the secured broker as it is shipped, a bridge with the limits that
 * are shipped, the body t2 and a service that hears all reports.  The attacker
 * has the credential of the body t1.
 */
#ifndef MQTT_BRIDGE_ATTACK_H
#define MQTT_BRIDGE_ATTACK_H

#include "body.h"
#include "broker.h"

struct scene {
	struct broker k;
	struct bed b;
	struct body t2, watcher; /* the watcher is a service */
};

/* A client of any user, that has no will and hears nothing yet. */
static inline void
enter(struct body *d, struct scene *s, const char *user, int port)
{
	int was = s->b.mqtt.port;

	body_init(d, PREFIX, user);
	mosquitto_username_pw_set(d->mosq, user, BROKER_PW);
	s->b.mqtt.port = port;
	body_connect(d, &s->b);
	s->b.mqtt.port = was;
}

/* Its topics as they are, whosever they are. */
static inline void
on_any(struct mosquitto *mosq, void *arg, const struct mosquitto_message *m)
{
	struct body *d = arg;

	(void)mosq;
	pthread_mutex_lock(&d->lock);
	buf_printf(&d->got, "%s=%.*s%s\n", m->topic, m->payloadlen,
	    (const char *)m->payload, m->retain ? " kept" : "");
	pthread_mutex_unlock(&d->lock);
}

/* Subscribe; whether the broker agrees. */
static inline bool
may_hear(struct body *d, const char *filter)
{
	int before = atomic_load(&d->subscribed);
	int refused = atomic_load(&d->refused);

	mosquitto_message_callback_set(d->mosq, on_any);
	ck_assert_int_eq(mosquitto_subscribe(d->mosq, NULL, filter, 1), 0);
	body_wait(&d->subscribed, before + 1);
	return atomic_load(&d->refused) == refused;
}

static inline void
hear(struct body *d, const char *filter)
{
	ck_assert_msg(may_hear(d, filter), "%s", filter);
}

/* Of a broker with these switches of broker_make(). */
static inline void
open_scene_of(struct scene *s, unsigned how)
{
	memset(s, 0, sizeof(*s));
	broker_make(&s->k, how);
	broker_start(&s->k);
	broker_admit(&s->k, "t1");
	broker_admit(&s->k, "t2");
	broker_bed(&s->k, &s->b);
	s->b.strict = true;
	bridge_start_one(&s->b, 0);
	ck_assert(tk_until(bridge_leads, &s->b.bridge[0], BED_MS));
	enter(&s->t2, s, "t2", s->k.bodies);
	body_subscribe(&s->t2);
	body_report(&s->t2, "online", "online");
	bed_wait(&s->b, "t2", is_present, "present");
	enter(&s->watcher, s, "mqtt-bridge", s->k.services);
	hear(&s->watcher, "#");
}

static inline void
open_scene(struct scene *s)
{
	open_scene_of(s, 0);
}

static inline void
close_scene(struct scene *s)
{
	body_leave(&s->watcher);
	body_leave(&s->t2);
	bed_stop(&s->b);
	broker_end(&s->k);
}

static inline void
ck_never(struct body *d, const char *text)
{
	char *got = body_got(d);

	ck_assert_msg(strstr(got, text) == NULL, "%s got: %s", d->id, got);
	free(got);
}

/* A whole round, from the invoke to the result. */
static inline void
ck_t2_works(struct scene *s, const char *request)
{
	char subject[128], ask[256], leaf[64];
	natsSubscription *results;
	json_t *j;

	snprintf(subject, sizeof(subject), "soul.result.t2.%s", request);
	results = tk_nats_listen(s->b.nc, subject);
	snprintf(ask, sizeof(ask),
	    "{\"request_id\":\"%s\",\"skill\":\"nod\",\"arguments\":{}}",
	    request);
	ck_assert_str_eq(
	    bed_deliver(&s->b, "soul.body.main.t2.invoke", ask), "delivered");
	snprintf(leaf, sizeof(leaf), "invoke/%s=", request);
	body_expect(&s->t2, leaf);
	snprintf(
	    ask, sizeof(ask), "{\"request_id\":\"%s\",\"ok\":true}", request);
	body_answer(&s->t2, request, ask);
	j = tk_nats_next(results, BED_MS, NULL);
	ck_assert_ptr_nonnull(j);
	json_decref(j);
	natsSubscription_Destroy(results);
}

#endif /* !MQTT_BRIDGE_ATTACK_H */
